/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of perfmon stat for programs: CSV (RFC 4180) and JSON (a line for each
 * interval). */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "cli/stat/inside.h"
#include "core/report/output/escape.h"
#include "core/report/output/json.h"

/* Counts are integers, as far as doubles allow. */
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
	pm_out_text(out, "time_s,place,event,unit,count,status,coverage,runs,spread_"
			 "percent,min,max,own,children,ratio,ratio_of,why\r\n");
}

static void csv_number(struct pm_out *out, bool known, double value)
{
	pm_out_text(out, ",");
	if (known)
		put_number(out, value);
}

static void csv_text(struct pm_out *out, const char *text)
{
	pm_out_text(out, ",");
	pm_out_csv(out, text);
}

static void csv_sum(struct pm_out *out, const struct pm_sum *sum)
{
	pm_out_format(out, ",%llu", (unsigned long long)sum->runs);
	csv_number(out, sum->runs > 1, stat_sum_spread(sum));
	csv_number(out, sum->runs, sum->min);
	csv_number(out, sum->runs, sum->max);
}

static void csv_event(const struct stat_result *result, const struct stat_row *row,
		      struct pm_out *out)
{
	const struct stat_cell *cell = row->cell;

	if (result->time_ns)
		pm_out_double(out, (double)result->time_ns / 1e9);
	csv_text(out, row->group_name);
	csv_text(out, row->event->label);
	csv_text(out, row->event->event->unit);
	csv_number(out, row->known, cell->count.mean);
	csv_text(out, row->status);
	csv_number(out, row->known, row->coverage);
	csv_sum(out, &cell->count);
	csv_number(out, row->apart, cell->own.mean);
	csv_number(out, row->has_children, row->children);
	csv_number(out, row->ratio.key, row->ratio.value);
	csv_text(out, row->ratio.key ?: "");
	csv_text(out, row->event->why ?: "");
	pm_out_text(out, "\r\n");
}

/* So has a metric, and no samples of its own. */
static void csv_metrics(const struct stat_result *result, struct pm_out *out)
{
	struct stat_metric metric = {.next = 0};

	while (stat_metric_next(result, &metric)) {
		if (result->time_ns)
			pm_out_double(out, (double)result->time_ns / 1e9);
		csv_text(out, metric.group_name);
		csv_text(out, metric.name);
		csv_text(out, metric.unit);
		csv_number(out, metric.known, metric.value);
		csv_text(out, metric.status_name);
		csv_number(out, metric.known, metric.coverage);
		pm_out_text(out, ",,,,,,,,,\r\n");
	}
}

/* A time has the same fields as an event. */
static void csv_time(struct pm_out *out, const char *name, const struct pm_sum *time)
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
	struct stat_row row = {.next = 0};

	while ((result->time_ns || !result->options->interval_ns) &&
	       stat_row_next(result, &row))
		csv_event(result, &row, out);
	if (result->time_ns || !result->options->interval_ns)
		csv_metrics(result, out);
	if (result->time_ns)
		return;
	csv_time(out, "elapsed", &result->wall_ns);
	csv_time(out, "user", &result->user_ns);
	csv_time(out, "system", &result->system_ns);
}

/* --- JSON --------------------------------------------------------------------------- */

static void json_number(struct pm_json *j, const char *name, double value, bool known)
{
	if (!known) {
		pm_json_null(j, name);
		return;
	}
	pm_json_key(j, name);
	put_number(j->out, value);
}

static void json_sum(struct pm_json *j, const struct pm_sum *sum)
{
	pm_json_number(j, "runs", sum->runs);
	json_number(j, "spread_percent", stat_sum_spread(sum), sum->runs > 1);
	json_number(j, "min", sum->min, sum->runs);
	json_number(j, "max", sum->max, sum->runs);
}

/* Writes sample I of each run. */
static void json_samples(struct pm_json *j, const struct stat_result *result, size_t i)
{
	size_t count = stat_counting_cells(result->counting) + 1;

	pm_json_begin(j, "samples", "[");
	for (uint32_t r = 0; r < result->runs; r++) {
		double sample = result->samples[r * count + i];

		json_number(j, NULL, sample, !isnan(sample));
	}
	pm_json_close(j, "]");
}

static void json_event(struct pm_json *j, const struct stat_result *result,
		       const struct stat_row *row)
{
	const struct stat_event *event = row->event;
	const struct stat_cell *cell = row->cell;

	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "event", event->label);
	if (row->group_name[0])
		pm_json_string(j, "place", row->group_name);
	pm_json_string(j, "unit", event->event->unit);
	pm_json_string(j, "status", row->status);
	json_number(j, "count", cell->count.mean, row->known);
	pm_json_number(j, "value", cell->value);
	pm_json_number(j, "enabled_ns", cell->enabled_ns);
	pm_json_number(j, "running_ns", cell->running_ns);
	json_number(j, "coverage", row->coverage, row->known);
	pm_json_bool(j, "estimated", row->known && row->coverage < 1);
	json_sum(j, &cell->count);
	if (!result->time_ns)
		json_samples(j, result, row->next);
	if (result->counting->apart) {
		json_number(j, "own", cell->own.mean, row->apart);
		json_number(j, "children", row->children, row->has_children);
	}
	if (row->ratio.key) {
		json_number(j, "ratio", row->ratio.value, true);
		pm_json_string(j, "ratio_of", row->ratio.key);
	}
	if (event->why)
		pm_json_string(j, "why", event->why);
	pm_json_close(j, "}");
}

static void json_events(struct pm_json *j, const struct stat_result *result)
{
	struct stat_row row = {.next = 0};

	pm_json_begin(j, "events", "[");
	while (stat_row_next(result, &row))
		json_event(j, result, &row);
	pm_json_close(j, "]");
}

static void json_metrics(struct pm_json *j, const struct stat_result *result)
{
	struct stat_metric metric = {.next = 0};

	if (!result->formulas)
		return;
	pm_json_begin(j, "metrics", "[");
	while (stat_metric_next(result, &metric)) {
		pm_json_begin(j, NULL, "{");
		pm_json_string(j, "metric", metric.name);
		if (metric.group_name[0])
			pm_json_string(j, "place", metric.group_name);
		pm_json_string(j, "unit", metric.unit);
		pm_json_real(j, "value", metric.value, metric.known);
		pm_json_string(j, "status", metric.status_name);
		pm_json_real(j, "coverage", metric.coverage, metric.known);
		pm_json_string(j, "formula", metric.formula);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
}

void stat_json_interval(const struct stat_result *result, struct pm_out *out)
{
	struct pm_json j = {.out = out, .first = true};

	pm_json_begin(&j, NULL, "{");
	pm_json_number(&j, "format", 1);
	pm_json_real(&j, "time_s", (double)result->time_ns / 1e9, true);
	json_events(&j, result);
	json_metrics(&j, result);
	pm_json_close(&j, "}");
	pm_out_text(out, "\n");
}

/* SAMPLES, if not NULL, has the time of each run. */
static void json_time(struct pm_json *j, const char *name, const struct pm_sum *time,
		      const struct stat_result *samples)
{
	if (!time->runs)
		return;
	pm_json_begin(j, name, "{");
	json_number(j, "mean", time->mean, true);
	json_sum(j, time);
	if (samples)
		json_samples(j, samples, 0);
	pm_json_close(j, "}");
}

static void json_note(void *argument, const char *note)
{
	pm_json_string(argument, NULL, note);
}

void stat_json_end(const struct stat_result *result, struct pm_out *out)
{
	const struct stat_options *options = result->options;
	struct pm_json j = {.out = out, .first = true};
	const struct cli_notes notes = {json_note, &j};

	pm_json_begin(&j, NULL, "{");
	pm_json_number(&j, "format", 1);
	pm_json_string(&j, "perfmon", PACKAGE_VERSION);
	pm_json_begin(&j, "command", "[");
	for (char **word = options->command; word && *word; word++)
		pm_json_string(&j, NULL, *word);
	pm_json_close(&j, "]");
	pm_json_begin(&j, options->processes ? "processes" : "threads", "[");
	for (uint32_t i = 0; i < options->target_count; i++)
		pm_json_signed(&j, NULL, options->targets[i].id);
	pm_json_close(&j, "]");
	pm_json_text(&j, "cpus", options->place, options->place);
	json_number(&j, "exit_status", result->exit_status, result->exit_status >= 0);
	json_number(&j, "signal", result->signal, result->signal);
	pm_json_string(&j, "modes", result->counting->events.user_only ? "user" : "all");
	pm_json_bool(&j, "exact", result->exact);
	pm_json_number(&j, "began_realtime_ns", result->began_realtime_ns);
	json_time(&j, "elapsed_ns", &result->wall_ns, result);
	json_time(&j, "user_ns", &result->user_ns, NULL);
	json_time(&j, "system_ns", &result->system_ns, NULL);
	json_events(&j, result);
	json_metrics(&j, result);
	pm_json_begin(&j, "notes", "[");
	stat_notes(result, &notes);
	pm_json_close(&j, "]");
	pm_json_close(&j, "}");
	pm_out_text(out, "\n");
}
