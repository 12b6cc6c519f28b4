/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon run: sets the environment for a program that uses regions, and becomes it. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/run/run.h"
#include "events/events.h"
#include "os/os.h"
#include "topology/topology.h"

static const char help[] =
	"usage: perfmon run [OPTION]... [--] COMMAND [ARGUMENT]...\n\n"
	"Runs COMMAND, a program that uses regions (perfmon/region.h), and has it "
	"report\n"
	"when it exits. Exit status and signals are the command's own; 127: there is no\n"
	"such command, 126: it cannot be run, 2: an option is wrong.\n\n"
	"  -e, --events EVENTS   what to count: names with ',' between, {} for groups; "
	"auto\n"
	"                        (what the machine has), none (time only)\n"
	"  -r, --report WHERE    stderr (default), stdout, none, or a path, in which %p "
	"is\n"
	"                        the pid, %r the MPI rank, %h the host\n"
	"  -f, --format FORMAT   text (default), flat, json, csv\n"
	"  -t, --per-thread      keep threads apart and report each\n"
	"  -m, --metrics TEXT    more columns, by formulas: 'NAME = FORMULA; ...', "
	"@FILE; "
	"none:\n"
	"                        not even the built-in ones\n"
	"  -l, --level LEVEL     report the threads of each pu, core, l1, l2, l3, l4, "
	"group, numa,\n"
	"                        die or package, too\n"
	"  -o, --profile PATH    keep the profile in a file, %p %r %h as above, or with "
	"/\n"
	"                        at its end in a folder\n"
	"  -s, --stride STRIDE   N: of N visits measure one, at random; NAME=N: of this "
	"region\n"
	"  -b, --subtract-bias   report counts less what an empty region counts\n"
	"      --disarmed        count from perfmon_region_arm() on\n"
	"      --fence           complete earlier instructions before each read\n"
	"  -v, --verbose         say what was decided and why\n"
	"  -h, --help            this text\n";

static int events_check(const char *text)
{
	struct pm_event_list *list;
	struct pm_diag diag = {0};

	if (!strcasecmp(text, "auto") || !strcasecmp(text, "none"))
		return 0;
	if (pm_events_parse(text, PM_EVENTS_USER_ONLY, &list, &diag)) {
		cli_complain("run", "%s", diag.text);
		return CLI_USAGE;
	}
	pm_events_free(list);
	return 0;
}

/* The variables as the program will read them; what it would only note is an error here.
 */
static int environment_check(void)
{
	struct pm_options options;
	int status = 0;

	pm_options_read(&options, NULL);
	for (uint32_t i = 0; i < options.note_count; i++) {
		const char *note = options.notes[i], *rest = strstr(note, ": ");

		/* Without what the library would do instead. */
		for (const char *next = rest; next; next = strstr(next + 1, ": "))
			rest = next;
		cli_complain("run", "%.*s", rest ? (int)(rest - note) : (int)strlen(note),
			     note);
		status = CLI_USAGE;
	}
	pm_options_free(&options);
	return status;
}

static const struct option options[] = {
	{"events", required_argument, NULL, 'e'},
	{"report", required_argument, NULL, 'r'},
	{"format", required_argument, NULL, 'f'},
	{"per-thread", no_argument, NULL, 't'},
	{"metrics", required_argument, NULL, 'm'},
	{"level", required_argument, NULL, 'l'},
	{"profile", required_argument, NULL, 'o'},
	{"stride", required_argument, NULL, 's'},
	{"subtract-bias", no_argument, NULL, 'b'},
	{"disarmed", no_argument, NULL, 'D'},
	{"fence", no_argument, NULL, 'F'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

int cli_run(int argc, char **argv)
{
	const char *events = NULL, *level = NULL;
	int c, err, status = 0;

	argv[0] = (char *)(uintptr_t) "perfmon run";
	while ((c = getopt_long(argc, argv, "+e:r:f:tm:l:s:o:bvh", options, NULL)) >= 0) {
		const char *name = NULL, *value = "1";

		switch (c) {
		case 'e':
			name = "PERFMON_EVENTS";
			value = events = optarg;
			break;
		case 'r':
			name = "PERFMON_OUTPUT";
			value = optarg;
			break;
		case 'f':
			name = "PERFMON_FORMAT";
			value = optarg;
			break;
		case 't':
			name = "PERFMON_THREADS";
			value = "keep";
			break;
		case 'm':
			name = "PERFMON_METRICS";
			value = optarg;
			break;
		case 'l':
			name = "PERFMON_LEVEL";
			value = level = optarg;
			break;
		case 'o':
			name = "PERFMON_PROFILE";
			value = optarg;
			break;
		case 's':
			name = "PERFMON_STRIDE";
			value = optarg;
			break;
		case 'b':
			name = "PERFMON_BIAS";
			value = "subtract";
			break;
		case 'D':
			name = "PERFMON_ARM";
			value = "0";
			break;
		case 'F':
			name = "PERFMON_FENCE";
			break;
		case 'v':
			name = "PERFMON_DEBUG";
			break;
		case 'h':
			fputs(help, stdout);
			return cli_finish("run", 0);
		default:
			return CLI_USAGE; /* getopt has said why */
		}
		if (setenv(name, value, 1)) {
			cli_complain("run", "%s: %s", name, strerror(errno));
			return CLI_FAILED;
		}
	}
	if (optind == argc) {
		cli_complain("run", "no command is given; see perfmon run --help");
		return CLI_USAGE;
	}
	if (events)
		status = events_check(events);
	if (level && pm_level_find(pm_slice_of(level)) < 0) {
		cli_complain("run", "'%s' is no level of a machine: %s", level,
			     PM_LEVEL_NAMES);
		status = CLI_USAGE;
	}
	if (!status)
		status = environment_check();
	if (status)
		return status;
	execvp(argv[optind], argv + optind);
	err = errno;
	cli_complain("run", "'%s' cannot be run: %s", argv[optind], strerror(err));
	return err == ENOENT ? 127 : 126;
}
