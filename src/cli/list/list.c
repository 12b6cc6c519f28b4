/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon list prints the names of events: a table for people, lines for programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/list/list.h"
#include "core/events/events.h"
#include "core/report/output/escape.h"
#include "core/text/diag.h"
#include "core/text/grow.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon list [OPTION]... [PATTERN]\n"
	"       perfmon list groups\n\n"
	"Lists the events that can be named in PERFMON_EVENTS and perfmon run -e. PATTERN is a\n"
	"part of the name, or with * ? [ a glob over all of it; 'tracepoint' or one with a ':'\n"
	"lists tracepoints. To a terminal a table, paged by $PAGER, else lines of name, PMU, source, alias,\n"
	"unit and description with tabs between. 'groups' lists the groups of events for -g of\n"
	"perfmon run and stat: what each needs, and whether it can be counted here.\n\n"
	"  -A, --all      PMUs that this machine does not have, too\n"
	"  -u, --umasks   each unit mask of libpfm4's events\n"
	"  -h, --help     this text\n\n"
	"Exit status: 0, 1 if nothing matches, 2 if an option is wrong.\n";
/* clang-format on */

enum { EVENT, PMU, SOURCE, DESCRIPTION, COLUMNS };

struct list {
	bool is_table;
	char *(*rows)[COLUMNS]; /* of the table */
	size_t widths[COLUMNS];
	size_t count;
};

static const char *source_name(uint32_t source)
{
	static const char *const names[] = {
		[PERFMON_EVENT_SOURCE_GENERIC] = "perf",
		[PERFMON_EVENT_SOURCE_SOFTWARE] = "software",
		[PERFMON_EVENT_SOURCE_SYSFS] = "sysfs",
		[PERFMON_EVENT_SOURCE_LIBPFM] = "libpfm4",
		[PERFMON_EVENT_SOURCE_TRACEPOINT] = "tracepoint",
		[PERFMON_EVENT_SOURCE_EXACT] = "exact",
	};

	return source < sizeof(names) / sizeof(names[0]) ? names[source] : "";
}

static int show_line(const struct perfmon_event_info *info)
{
	int n = printf("%s\t%s%s\t%s\t%s\t%s\t%s\n", info->name, info->pmu,
		       info->is_present ? "" : " (absent)", source_name(info->source),
		       info->alias, info->unit, info->description);

	return n < 0 ? -errno : 0;
}

static int add_row(const struct perfmon_event_info *info, struct list *list)
{
	char pmu[64];
	const char *texts[COLUMNS] = {info->name, pmu, source_name(info->source),
				      info->description};

	snprintf(pmu, sizeof(pmu), "%s%s", info->pmu,
		 info->is_present ? "" : " (absent)");
	if (!PM_GROW(list->rows, list->count))
		return -ENOMEM;
	for (int c = 0; c < COLUMNS; c++) {
		list->rows[list->count][c] = strdup(texts[c]);
		if (!list->rows[list->count][c])
			return -ENOMEM;
		pm_row_measure(&list->widths[c], texts[c], 0);
	}
	list->count++;
	return 0;
}

static int show(const struct perfmon_event_info *info, void *argument)
{
	struct list *list = argument;

	if (list->is_table)
		return add_row(info, list);
	list->count++;
	return show_line(info);
}

/* Prints a row; its description takes what the others leave of the terminal. */
static void print_row(struct pm_row *row, const struct list *list,
		      char *const texts[COLUMNS])
{
	size_t columns = cli_columns(), used = COLUMNS - 1;

	for (int c = 0; c < DESCRIPTION; c++) {
		used += list->widths[c];
		pm_row_left(row, texts[c], 0, list->widths[c] + 1);
	}
	if (used < columns)
		pm_row_left(row, texts[DESCRIPTION], columns - used,
			    pm_out_plain(NULL, texts[DESCRIPTION], columns - used));
	pm_row_end(row);
}

static void print_table(struct list *list)
{
	char *const names[COLUMNS] = {"EVENT", "PMU", "SOURCE", "DESCRIPTION"};
	struct pm_out out = {.sink = cli_print, .argument = stdout};
	struct pm_row row = {.out = &out};

	for (int c = 0; c < COLUMNS; c++)
		pm_row_measure(&list->widths[c], names[c], 0);
	cli_style_row(&row, CLI_STRONG);
	print_row(&row, list, names);
	cli_style_row(&row, CLI_PLAIN);
	for (size_t i = 0; i < list->count; i++)
		print_row(&row, list, list->rows[i]);
	pm_out_end(&out);
}

int cli_list(int argc, char **argv)
{
	struct list list = {.is_table = cli_is_terminal()};
	struct pm_diag diag = {0};
	bool all = false, umasks = false;
	const struct cli_option options[] = {
		{.name = "all", .flag = &all},
		{.name = "umasks", .flag = &umasks},
		{.name = NULL},
	};
	const struct cli_command command = {"list", help, false, options};
	const char *pattern;
	int err = cli_options_read(&command, argc, argv);

	if (err >= 0)
		return err;
	if (argc - optind > 1)
		return cli_fail(CLI_USAGE, "list", "'%s': one pattern at a time",
				argv[optind + 1]);
	pattern = optind < argc ? argv[optind] : NULL;
	if (pattern && !strcmp(pattern, "groups"))
		return cli_list_groups();
	err = pm_events_list(pattern,
			     (all ? PERFMON_EVENT_ALL_PMUS : 0) |
				     (umasks ? PERFMON_EVENT_UMASKS : 0),
			     show, &list, &diag);
	if (list.is_table && !err && list.count) {
		cli_pager_begin();
		print_table(&list);
	}
	for (size_t i = 0; list.is_table && i < list.count; i++)
		for (int c = 0; c < COLUMNS; c++)
			free(list.rows[i][c]);
	free(list.rows);
	if (err && ferror(stdout))
		return cli_fail(CLI_FAILED, "list", "standard output: %s",
				strerror(-err));
	if (err) {
		cli_complain("list", "%s", diag.text[0] ? diag.text : strerror(-err));
		return err == -EINVAL || err == -E2BIG ? CLI_USAGE : CLI_FAILED;
	}
	if (diag.text[0])
		cli_complain("list", "%s", diag.text);
	return cli_finish("list", list.count ? 0
					     : cli_fail(CLI_FAILED, "list",
							"no event matches '%s'",
							pattern ? pattern : ""));
}
