/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/common.h"
#include "cli/diff/data.h"
#include "core/text/grow.h"
#include "core/text/text.h"

static void take_text(struct cli_json *j, char **to)
{
	free(*to);
	*to = cli_json_word(j, "null") ? NULL : cli_json_string(j);
}

static void take_samples(struct cli_json *j, double **samples, uint32_t *count)
{
	*count = 0;
	cli_json_begin(j, '[');
	while (cli_json_next(j, ']')) {
		if (!PM_GROW(*samples, *count)) {
			cli_json_no_memory(j);
			return;
		}
		(*samples)[*count] = cli_json_number(j);
		if ((*samples)[(*count)++] < 0)
			cli_json_fail(j);
	}
}

static void take_event(struct cli_json *j, struct diff_stat *stat)
{
	struct diff_stat_event *event;
	const char *name;

	if (!PM_GROW(stat->events, stat->event_count)) {
		cli_json_no_memory(j);
		return;
	}
	event = &stat->events[stat->event_count++];
	memset(event, 0, sizeof(*event));
	cli_json_begin(j, '{');
	while ((name = cli_json_member(j))) {
		if (!strcmp(name, "event"))
			take_text(j, &event->name);
		else if (!strcmp(name, "place"))
			take_text(j, &event->place);
		else if (!strcmp(name, "unit"))
			take_text(j, &event->unit);
		else if (!strcmp(name, "status"))
			take_text(j, &event->status);
		else if (!strcmp(name, "coverage"))
			event->coverage = cli_json_number(j);
		else if (!strcmp(name, "samples"))
			take_samples(j, &event->samples, &event->sample_count);
		else
			cli_json_skip(j);
	}
	if (!event->name || !event->unit || !event->status)
		cli_json_fail(j);
}

static void take_elapsed(struct cli_json *j, struct diff_stat *stat)
{
	const char *name;

	cli_json_begin(j, '{');
	while ((name = cli_json_member(j))) {
		if (!strcmp(name, "samples"))
			take_samples(j, &stat->times, &stat->run_count);
		else
			cli_json_skip(j);
	}
}

/* Takes the words of the command, with spaces between. */
static void take_command(struct cli_json *j, struct diff_stat *stat)
{
	cli_json_begin(j, '[');
	while (cli_json_next(j, ']')) {
		char *word = cli_json_string(j);

		if (word && pm_text_add(&stat->command, " ", word))
			cli_json_no_memory(j);
		free(word);
	}
}

static void take_member(struct cli_json *j, struct diff_stat *stat, const char *name,
			bool *interval)
{
	if (!strcmp(name, "command")) {
		take_command(j, stat);
	} else if (!strcmp(name, "modes")) {
		take_text(j, &stat->modes);
	} else if (!strcmp(name, "exact")) {
		stat->exact = cli_json_bool(j);
	} else if (!strcmp(name, "exit_status") || !strcmp(name, "signal")) {
		double number = cli_json_number(j);

		stat->failed |= number != 0 && !isnan(number);
	} else if (!strcmp(name, "began_realtime_ns")) {
		double number = cli_json_number(j);

		if (number >= 0 && number < 1e19)
			stat->began_realtime_ns = (uint64_t)number;
	} else if (!strcmp(name, "elapsed_ns")) {
		take_elapsed(j, stat);
	} else if (!strcmp(name, "events")) {
		cli_json_begin(j, '[');
		while (cli_json_next(j, ']'))
			take_event(j, stat);
	} else {
		*interval |= !strcmp(name, "time_s");
		cli_json_skip(j);
	}
}

static void free_stat(struct diff_stat *stat)
{
	for (uint32_t i = 0; i < stat->event_count; i++) {
		free(stat->events[i].name);
		free(stat->events[i].place);
		free(stat->events[i].unit);
		free(stat->events[i].status);
		free(stat->events[i].samples);
	}
	free(stat->events);
	free(stat->times);
	free(stat->command);
	free(stat->modes);
}

void diff_stats_free(struct diff_stat *stats, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free_stat(&stats[i]);
	free(stats);
}

/* Returns whether all parts of STAT have the same runs. */
static bool is_whole(const struct diff_stat *stat)
{
	for (uint32_t i = 0; i < stat->event_count; i++)
		if (stat->events[i].sample_count &&
		    stat->events[i].sample_count != stat->run_count)
			return false;
	return stat->run_count && stat->modes;
}

/* Takes the next report, behind those of its intervals. */
static void take_report(struct cli_json *j, struct diff_stat **stats, uint32_t *count)
{
	struct diff_stat stat = {.command = NULL};
	bool interval = false;
	const char *name;

	cli_json_begin(j, '{');
	while ((name = cli_json_member(j)))
		take_member(j, &stat, name, &interval);
	if (!j->bad && !interval && !is_whole(&stat))
		cli_json_fail(j);
	if (!j->bad && !interval && !PM_GROW(*stats, *count))
		cli_json_no_memory(j);
	if (j->bad || interval)
		free_stat(&stat);
	else
		(*stats)[(*count)++] = stat;
}

bool diff_stat_is_json(const char *path)
{
	char text[65] = "";
	struct stat st;
	FILE *file;

	/* Reading a FIFO would consume its data. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text[strspn(text, " \t\r\n")] == '{';
}

int diff_stats_read(const char *path, struct diff_stat **stats, uint32_t *count,
		    struct pm_diag *diag)
{
	struct cli_json j = {.bad = false};
	char *text;
	int err = cli_json_file(path, &text);

	*stats = NULL;
	*count = 0;
	if (err) {
		free(text);
		return pm_diag_set(diag, err, "'%s': %s", path, strerror(-err));
	}
	j.at = text;
	do
		take_report(&j, stats, count);
	while (cli_json_more(&j));
	free(text);
	if (j.no_memory)
		return pm_diag_set(diag, -ENOMEM, "%s: no memory", path);
	if (j.bad || !*count)
		return pm_diag_set(diag, -EINVAL,
				   "'%s' is JSON, but not what perfmon stat -f json of "
				   "this version writes of a command: count it anew",
				   path);
	return 0;
}
