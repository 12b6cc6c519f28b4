/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon list prints the names of events: a table for people, lines for programs. */
#include <errno.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/list/list.h"
#include "core/events/events.h"
#include "core/text/diag.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon list [OPTION]... [PATTERN]\n\n"
	"Lists the events that can be named in PERFMON_EVENTS and perfmon run -e. PATTERN is a\n"
	"part of the name, or with * ? [ a glob over all of it; 'tracepoint' or one with a ':'\n"
	"lists tracepoints. To a terminal a table, paged by $PAGER, else lines of name, PMU, source, alias,\n"
	"unit and description with tabs between.\n\n"
	"  -A, --all      PMUs that this machine does not have, too\n"
	"  -u, --umasks   each unit mask of libpfm4's events\n"
	"  -h, --help     this text\n\n"
	"Exit status: 0, 1 if nothing matches, 2 if an option is wrong.\n";
/* clang-format on */

struct list {
	struct libscols_table *table; /* NULL: lines */
	unsigned long count;
	int error;
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

static int show_line(const struct perfmon_event_info *info, struct list *list)
{
	printf("%s\t%s%s\t%s\t%s\t%s\t%s\n", info->name, info->pmu,
	       info->is_present ? "" : " (absent)", source_name(info->source),
	       info->alias, info->unit, info->description);
	list->error = ferror(stdout) ? -EIO : 0;
	return list->error;
}

static int show_row(const struct perfmon_event_info *info, struct list *list)
{
	struct libscols_line *line = scols_table_new_line(list->table, NULL);
	char pmu[64];

	snprintf(pmu, sizeof(pmu), "%s%s", info->pmu,
		 info->is_present ? "" : " (absent)");
	if (!line || scols_line_set_data(line, 0, info->name) ||
	    scols_line_set_data(line, 1, pmu) ||
	    scols_line_set_data(line, 2, source_name(info->source)) ||
	    scols_line_set_data(line, 3, info->description))
		list->error = -ENOMEM;
	return list->error;
}

static int show(const struct perfmon_event_info *info, void *argument)
{
	struct list *list = argument;

	list->count++;
	return list->table ? show_row(info, list) : show_line(info, list);
}

static struct libscols_table *table_new(void)
{
	static const char *const names[] = {"EVENT", "PMU", "SOURCE", "DESCRIPTION"};
	struct libscols_table *table = scols_new_table();
	int err = !table;

	/* Standard output may be a pager, so use the terminal behind it. */
	err = err || scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS) ||
	      scols_table_set_termwidth(table, cli_columns()) ||
	      scols_table_enable_colors(table, cli_has_colours());
	for (size_t i = 0; !err && i < sizeof(names) / sizeof(names[0]); i++) {
		struct libscols_column *column = scols_table_new_column(
			table, names[i], 0, i == 3 ? SCOLS_FL_TRUNC : 0);

		err = !column ||
		      scols_cell_set_color(scols_column_get_header(column), "bold");
	}
	if (!err)
		return table;
	scols_unref_table(table);
	return NULL;
}

int cli_list(int argc, char **argv)
{
	struct list list = {NULL, 0, 0};
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
	if (argc - optind > 1) {
		cli_complain("list", "'%s': one pattern at a time", argv[optind + 1]);
		return CLI_USAGE;
	}
	pattern = optind < argc ? argv[optind] : NULL;
	if (cli_is_terminal()) {
		scols_init_debug(0);
		list.table = table_new();
		if (!list.table) {
			cli_complain("list", "%s", strerror(ENOMEM));
			return CLI_FAILED;
		}
	}
	err = pm_events_list(pattern,
			     (all ? PERFMON_EVENT_ALL_PMUS : 0) |
				     (umasks ? PERFMON_EVENT_UMASKS : 0),
			     show, &list, &diag);
	if (list.table && !err && list.count) {
		cli_pager_begin();
		scols_print_table(list.table);
	}
	scols_unref_table(list.table);
	if (err) {
		cli_complain("list", "%s", diag.text[0] ? diag.text : strerror(-err));
		return err == -EINVAL || err == -E2BIG ? CLI_USAGE : CLI_FAILED;
	}
	if (diag.text[0])
		cli_complain("list", "%s", diag.text);
	if (!list.count) {
		cli_complain("list", "no event matches '%s'", pattern ? pattern : "");
		return cli_finish("list", CLI_FAILED);
	}
	return cli_finish("list", 0);
}
