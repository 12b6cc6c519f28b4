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

/* The checks of the hardware. */
static const struct check {
	const char *name, *event; /* NULL: any */
	void (*run)(struct truth_finding *finding, const struct pm_event *event);
} checks[] = {
	{"reads in user space", NULL, truth_reads},
	{"user and kernel mode", NULL, truth_modes},
	{"time slices of event sets", NULL, truth_slices},
	{"more events than counters", NULL, truth_multiplexing},
	{"overflows of instructions", "instructions", truth_overflows},
	{"overflows of cycles", "cycles", truth_overflows},
	{"skid", "branches", truth_skid},
};

static int run_check(struct truth_report *report, const struct check *check)
{
	struct truth_finding *finding = truth_add(report, TRUTH_CHECK, check->name);
	struct pm_event_list *list;
	struct pm_diag diag = {0};

	if (!finding)
		return -ENOMEM;
	if (truth_pick(check->event, &list, &diag)) {
		truth_say_absent(finding, diag.text);
		return 0;
	}
	check->run(finding, list->events);
	pm_events_free(list);
	return 0;
}

static int judge(struct truth_report *report, const struct pm_event_list *list)
{
	int err = truth_events(report, list) ?: truth_software(report, list);

	if (list)
		return err;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && !err; i++)
		err = run_check(report, &checks[i]);
	return err ?: truth_costs(report);
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
