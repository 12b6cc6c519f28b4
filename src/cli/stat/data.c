/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What perfmon stat tells programs: CSV (RFC 4180) and JSON (a line for each
 * interval). */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "cli/stat/formats.h"

/* Counts are whole, as far as doubles are. */
static void put_number(struct pm_out *out, double value)
{
	char text[32];

	if (value == floor(value) && fabs(value) < 9007199254740992.0) {
		snprintf(text, sizeof(text), "%.0f", value);
		pm_out_text(out, text);
	} else {
		pm_out_double(out, value);
	}
}

/* --- CSV ---------------------------------------------------------------------------- */

void stat_csv_begin(const struct stat_result *result, struct pm_out *out)
{
	(void)result;
	pm_out_text(
		out,
		"time_s,place,event,unit,count,status,coverage,runs,spread_percent,min,"
		"max,own,children,ratio,ratio_of,why\r\n");
}

static void csv_number(struct pm_out *out, bool known, double value)
{
	pm_out_text(out, ",");
	if (known)
		put_number(out, value);
}

static void csv_sum(struct pm_out *out, const struct stat_sum *sum)
{
	pm_out_format(out, ",%llu", (unsigned long long)sum->runs);
	csv_number(out, sum->runs > 1, stat_sum_spread(sum));
	csv_number(out, sum->runs, sum->min);
	csv_number(out, sum->runs, sum->max);
}

static void csv_event(const struct stat_result *result, const struct stat_row *row,
		      struct pm_out *out)
{
	const struct stat_event *event = row->event;
	const struct stat_cell *cell = row->cell;
	bool known = stat_is_known(cell);
	bool apart = stat_is_apart(result, cell);
	double children;
	bool told = stat_children(result, cell, &children);
	struct stat_ratio ratio;

	if (result->time_ns)
		pm_out_double(out, (double)result->time_ns / 1e9);
	pm_out_format(out, ",%s,", row->group_name);
	pm_out_csv(out, event->label);
	pm_out_text(out, ",");
	pm_out_csv(out, event->event->unit);
	csv_number(out, known, cell->count.mean);
	pm_out_format(out, ",%s", stat_status_name(cell->status));
	csv_number(out, known, stat_coverage(cell));
	csv_sum(out, &cell->count);
	csv_number(out, apart, cell->own.mean);
	csv_number(out, told, children);
	if (stat_derive(result, row->group, row->index, &ratio)) {
		csv_number(out, true, ratio.value);
		pm_out_format(out, ",%s,", ratio.key);
	} else {
		pm_out_text(out, ",,,");
	}
	if (event->why)
		pm_out_csv(out, event->why);
	pm_out_text(out, "\r\n");
}

/* A time looks like an event. */
static void csv_time(struct pm_out *out, const char *name, const struct stat_sum *time)
{
	if (!time->runs)
		return;
	pm_out_format(out, ",,%s,ns", name);
	csv_number(out, true, time->mean);
	pm_out_text(out, ",counted,1");
	csv_sum(out, time);
	pm_out_text(out, ",,,,,\r\n");
}

void stat_csv_rows(const struct stat_result *result, struct pm_out *out)
{
	const struct stat_counting *counting = result->counting;
	struct stat_row row;

	if (result->time_ns || !result->options->interval_ns) {
		for (uint32_t g = 0; g < stat_counting_groups(counting); g++)
			for (uint32_t i = 0; i < counting->events.count; i++)
				if (stat_row(result, g, i, &row))
					csv_event(result, &row, out);
	}
	if (result->time_ns)
		return;
	csv_time(out, "elapsed", &result->wall_ns);
	csv_time(out, "user", &result->user_ns);
	csv_time(out, "system", &result->system_ns);
}

/* --- JSON --------------------------------------------------------------------------- */

static void json_key(struct pm_out *out, const char *key)
{
	pm_out_format(out, ",\"%s\":", key);
}

static void json_number(struct pm_out *out, const char *key, bool known, double value)
{
	json_key(out, key);
	if (known)
		put_number(out, value);
	else
		pm_out_text(out, "null");
}

static void json_integer(struct pm_out *out, const char *key, uint64_t value)
{
	json_key(out, key);
	pm_out_format(out, "%llu", (unsigned long long)value);
}

static void json_sum(struct pm_out *out, const struct stat_sum *sum)
{
	json_integer(out, "runs", sum->runs);
	json_number(out, "spread_percent", sum->runs > 1, stat_sum_spread(sum));
	json_number(out, "min", sum->runs, sum->min);
	json_number(out, "max", sum->runs, sum->max);
}

static void json_event(const struct stat_result *result, const struct stat_row *row,
		       struct pm_out *out)
{
	const struct stat_event *event = row->event;
	const struct stat_cell *cell = row->cell;
	bool known = stat_is_known(cell);
	bool apart = stat_is_apart(result, cell);
	double children;
	bool told = stat_children(result, cell, &children);
	struct stat_ratio ratio;

	pm_out_text(out, "{\"event\":");
	pm_out_json(out, event->label);
	if (row->group_name[0]) {
		json_key(out, "place");
		pm_out_json(out, row->group_name);
	}
	json_key(out, "unit");
	pm_out_json(out, event->event->unit);
	json_key(out, "status");
	pm_out_json(out, stat_status_name(cell->status));
	json_number(out, "count", known, cell->count.mean);
	json_integer(out, "value", cell->value);
	json_integer(out, "enabled_ns", cell->enabled_ns);
	json_integer(out, "running_ns", cell->running_ns);
	json_number(out, "coverage", known, stat_coverage(cell));
	json_sum(out, &cell->count);
	if (result->counting->apart) {
		json_number(out, "own", apart, cell->own.mean);
		json_number(out, "children", told, children);
	}
	if (stat_derive(result, row->group, row->index, &ratio)) {
		json_key(out, "ratio");
		put_number(out, ratio.value);
		json_key(out, "ratio_of");
		pm_out_json(out, ratio.key);
	}
	if (event->why) {
		json_key(out, "why");
		pm_out_json(out, event->why);
	}
	pm_out_text(out, "}");
}

static void json_events(const struct stat_result *result, struct pm_out *out)
{
	const struct stat_counting *counting = result->counting;
	struct stat_row row;
	bool first = true;

	pm_out_text(out, ",\"events\":[");
	for (uint32_t g = 0; g < stat_counting_groups(counting); g++) {
		for (uint32_t i = 0; i < counting->events.count; i++) {
			if (!stat_row(result, g, i, &row))
				continue;
			if (!first)
				pm_out_text(out, ",");
			first = false;
			json_event(result, &row, out);
		}
	}
	pm_out_text(out, "]");
}

void stat_json_interval(const struct stat_result *result, struct pm_out *out)
{
	pm_out_text(out, "{\"format\":1,\"time_s\":");
	pm_out_double(out, (double)result->time_ns / 1e9);
	json_events(result, out);
	pm_out_text(out, "}\n");
}

static void json_time(struct pm_out *out, const char *key, const struct stat_sum *time)
{
	if (!time->runs)
		return;
	json_key(out, key);
	pm_out_text(out, "{\"mean\":");
	put_number(out, time->mean);
	json_sum(out, time);
	pm_out_text(out, "}");
}

void stat_json_end(const struct stat_result *result, struct pm_out *out)
{
	const struct stat_options *options = result->options;
	struct pm_diag note;

	pm_out_text(out,
		    "{\"format\":1,\"perfmon\":\"" PACKAGE_VERSION "\",\"command\":[");
	for (char **word = options->command; word && *word; word++) {
		if (word != options->command)
			pm_out_text(out, ",");
		pm_out_json(out, *word);
	}
	pm_out_format(out, "],\"%s\":[", options->processes ? "processes" : "threads");
	for (uint32_t i = 0; i < options->target_count; i++)
		pm_out_format(out, "%s%d", i ? "," : "", options->targets[i].id);
	pm_out_text(out, "],\"cpus\":");
	if (options->place)
		pm_out_json(out, options->place);
	else
		pm_out_text(out, "null");
	json_number(out, "exit_status", result->exit_status >= 0, result->exit_status);
	json_number(out, "signal", result->signal, result->signal);
	json_key(out, "modes");
	pm_out_json(out, result->counting->events.user_only ? "user" : "all");
	json_time(out, "elapsed_ns", &result->wall_ns);
	json_time(out, "user_ns", &result->user_ns);
	json_time(out, "system_ns", &result->system_ns);
	json_events(result, out);
	pm_out_text(out, ",\"notes\":[");
	for (uint32_t i = 0; stat_note(result, i, &note); i++) {
		if (i)
			pm_out_text(out, ",");
		pm_out_json(out, note.text);
	}
	pm_out_text(out, "]}\n");
}
