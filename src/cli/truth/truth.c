/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon truth: whether the counters of this machine count right. */
#include "cli/truth/truth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/truth/checks.h"
#include "cli/truth/events.h"
#include "cli/truth/print.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon truth [OPTION]...\n\n"
	"Runs blocks of instructions whose counts are known, and compares them with the events of\n"
	"this machine. Tells for each event: exact, +2 %, counts speculation, wrong, counts nothing,\n"
	"or not there, and why. Also checks reads in user space, overflows, time slices, modes and\n"
	"software events, and shows what reads cost. Takes a few seconds.\n\n"
	"  -e, --events EVENTS   only these events, and no other checks\n"
	"  -f, --format FORMAT   text (default), json: to attach to a bug report\n"
	"  -o, --output FILE     write to a file\n"
	"  -h, --help            this text\n\n"
	"Exit status: 0 nothing is wrong, 1 something is wrong, or the output cannot be written,\n"
	"2 if an option is wrong.\n";
/* clang-format on */

enum { TEXT, JSON };

static int judge(struct truth_report *report, const struct pm_event_list *list)
{
	static int (*const checks[])(struct truth_report *) = {
		truth_reads, truth_modes, truth_multiplexing, truth_overflows,
		truth_costs};
	int err = truth_events(report, list);

	if (!err)
		err = truth_software(report, list);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !list && !err; i++)
		err = checks[i](report);
	return err;
}

static int print(const struct truth_report *report, const char *path, unsigned int format)
{
	struct cli_output output;
	struct pm_out out = {.sink = cli_output_print, .argument = &output};
	int err =
		cli_output_begin(&output, "truth", path, format == JSON ? "json" : "txt");

	if (err)
		return err;
	if (format == JSON) {
		err = truth_print_json(report, &out);
	} else {
		out.columns = path ? 0 : cli_columns();
		truth_print_text(report, &out);
	}
	return cli_output_end(&output, err ?: pm_out_end(&out));
}

/* Parses the events of -e. Returns 0, or an exit status after a message. */
static int parse(const char *text, struct pm_event_list **list)
{
	struct pm_diag diag = {0};
	int err = pm_events_parse(text, PM_EVENTS_USER_ONLY, list, &diag);

	if (!err)
		return 0;
	return cli_fail(err == -ENOMEM || err == -EACCES ? CLI_FAILED : CLI_USAGE,
			"truth", "%s", diag.text[0] ? diag.text : strerror(-err));
}

int cli_truth(int argc, char **argv)
{
	struct truth_report report = {.machine = {.size = sizeof(report.machine)}};
	struct pm_event_list *list = NULL;
	const char *events = NULL, *path = NULL;
	unsigned int format = TEXT;
	const struct cli_option options[] = {
		{.name = "events", .text = &events},
		{.name = "format", .choice = &format, .choices = "text, json"},
		{.name = "output", .text = &path},
		{.name = NULL},
	};
	const struct cli_command command = {"truth", help, false, options};
	int status = cli_options_read(&command, argc, argv);

	if (status >= 0)
		return status;
	if (optind < argc)
		return cli_fail(CLI_USAGE, "truth", "'%s': expects no arguments",
				argv[optind]);
	status = events ? parse(events, &list) : 0;
	if (status)
		return status;
	if (perfmon_info_get(&report.machine) || judge(&report, list)) {
		status = cli_fail(CLI_FAILED, "truth", "out of memory");
	} else {
		status = print(&report, path, format);
	}
	if (!status && truth_report_is_bad(&report))
		status = CLI_FAILED;
	truth_free(&report);
	pm_events_free(list);
	return cli_finish("truth", status);
}
