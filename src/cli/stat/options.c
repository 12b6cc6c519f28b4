/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of perfmon stat. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common/common.h"
#include "cli/stat/stat.h"

static const char help[] =
	"usage: perfmon stat [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"       perfmon stat [OPTION]... -p PID[,PID]... [[--] COMMAND [ARGUMENT]...]\n"
	"       perfmon stat [OPTION]... -t TID[,TID]... [[--] COMMAND [ARGUMENT]...]\n"
	"       perfmon stat [OPTION]... -C PLACE [[--] COMMAND [ARGUMENT]...]\n\n"
	"Runs COMMAND, counts what it and all that it creates does from its first\n"
	"instruction on, and reports when it has ended. With -t it counts threads that "
	"run\n"
	"already, with -C whatever runs on some CPUs, as long as COMMAND takes, or "
	"until\n"
	"the threads end or Ctrl-C is pressed.\n\n"
	"  -e, --events EVENTS   what to count: names with ',' between, {} for groups, "
	"';'\n"
	"                        between sets; auto (default: what the machine has), "
	"none\n"
	"                        (time only). Given twice, both count\n"
	"  -r, --repeat N        run COMMAND N times; report means and their spread\n"
	"  -p, --pid PID,...     count these processes: all threads, and what they "
	"create\n"
	"  -t, --tid TID,...     count these threads\n"
	"  -C, --cpus PLACE      count these CPUs: all, package:0, core:0-3, cpu:5,7...\n"
	"  -a, --all-cpus        the same as -C all\n"
	"      --per LEVEL       ... for each pu, core, l3, numa, die, package apart\n"
	"  -i, --no-inherit      only the first thread of COMMAND; no child "
	"processes\n"
	"                        of -p\n"
	"      --descendants     what it creates apart from the first thread, or\n"
	"                        from the processes of -p\n"
	"      --split           schedule every event by itself, not in groups\n"
	"  -I, --interval MS     report every MS milliseconds what was counted in them\n"
	"      --timeout MS      end after MS milliseconds (COMMAND by SIGTERM)\n"
	"  -o, --output FILE     report there, not to stderr; - is stdout\n"
	"      --append          ... behind what is in FILE\n"
	"  -f, --format FORMAT   text (default), csv, json\n"
	"  -v, --verbose         say of each event why it was refused\n"
	"  -h, --help            this text\n\n"
	"Signals that are sent to perfmon stat are passed on to COMMAND. Exit status: "
	"that "
	"of\n"
	"COMMAND (of the first run that failed), 128 + n if signal n ended it; 127: "
	"there "
	"is\n"
	"no such command, 126: it cannot be run; 1: counting or reporting failed; 2: an\n"
	"option is wrong.\n";

enum {
	OPTION_APPEND = 256,
	OPTION_DESCENDANTS,
	OPTION_PER,
	OPTION_SPLIT,
	OPTION_TIMEOUT
};

static const struct option long_options[] = {
	{"events", required_argument, NULL, 'e'},
	{"repeat", required_argument, NULL, 'r'},
	{"pid", required_argument, NULL, 'p'},
	{"tid", required_argument, NULL, 't'},
	{"cpus", required_argument, NULL, 'C'},
	{"all-cpus", no_argument, NULL, 'a'},
	{"per", required_argument, NULL, OPTION_PER},
	{"split", no_argument, NULL, OPTION_SPLIT},
	{"no-inherit", no_argument, NULL, 'i'},
	{"descendants", no_argument, NULL, OPTION_DESCENDANTS},
	{"interval", required_argument, NULL, 'I'},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"output", required_argument, NULL, 'o'},
	{"append", no_argument, NULL, OPTION_APPEND},
	{"format", required_argument, NULL, 'f'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* A whole number of 1 to MOST, which ends at one of ENDS. */
static bool parse_number(const char **text, unsigned long most, const char *ends,
			 unsigned long *number)
{
	const char *at = *text;
	char *end;

	if (*at < '0' || *at > '9')
		return false;
	errno = 0;
	*number = strtoul(at, &end, 10);
	if (errno || !*number || *number > most || !strchr(ends, *end))
		return false;
	*text = end;
	return true;
}

static int take_number(const char *option, const char *text, unsigned long most,
		       unsigned long *number)
{
	const char *at = text;

	if (parse_number(&at, most, "", number))
		return 0;
	cli_complain("stat", "%s '%s': a number from 1 to %lu is wanted", option, text,
		     most);
	return CLI_USAGE;
}

static int add_events(struct stat_options *options, const char *text)
{
	size_t had = options->events ? strlen(options->events) + 1 : 0;
	char *events = realloc(options->events, had + strlen(text) + 1);

	if (!events) {
		cli_complain("stat", "%s", strerror(ENOMEM));
		return CLI_FAILED;
	}
	if (had)
		events[had - 1] = ',';
	strcpy(events + had, text);
	options->events = events;
	return 0;
}

/* Threads or processes. */
static int add_targets(struct stat_options *options, const char *option, const char *text)
{
	const char *at = text;
	unsigned long tid;

	for (;;) {
		struct perfmon_target *targets;

		if (!parse_number(&at, INT_MAX, ",", &tid)) {
			cli_complain("stat",
				     "%s '%s': numbers with ',' between are wanted",
				     option, text);
			return CLI_USAGE;
		}
		targets = realloc(options->targets,
				  (options->target_count + 1) * sizeof(targets[0]));
		if (!targets) {
			cli_complain("stat", "%s", strerror(ENOMEM));
			return CLI_FAILED;
		}
		targets[options->target_count++] = (struct perfmon_target){
			.kind = PERFMON_TARGET_THREAD, .id = (int32_t)tid};
		options->targets = targets;
		if (!*at++)
			return 0;
	}
}

static int take_format(struct stat_options *options, const char *text)
{
	static const char *const names[] = {
		[STAT_TEXT] = "text", [STAT_CSV] = "csv", [STAT_JSON] = "json"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcasecmp(text, names[i])) {
			options->format = (enum stat_format)i;
			return 0;
		}
	}
	cli_complain("stat", "--format '%s': text, csv or json is wanted", text);
	return CLI_USAGE;
}

/* One option; 0, or the exit status to end with. */
static int take_option(struct stat_options *options, int c)
{
	unsigned long number = 0;
	int status = 0;

	switch (c) {
	case 'e':
		return add_events(options, optarg);
	case 't':
		options->threads = true;
		return add_targets(options, "--tid", optarg);
	case 'p':
		options->processes = true;
		return add_targets(options, "--pid", optarg);
	case 'f':
		return take_format(options, optarg);
	case 'r':
		status = take_number("--repeat", optarg, 1000000, &number);
		options->runs = (uint32_t)number;
		return status;
	case 'I':
		status = take_number("--interval", optarg, 86400000, &number);
		options->interval_ns = (uint64_t)number * 1000000;
		return status;
	case OPTION_TIMEOUT:
		status = take_number("--timeout", optarg, 31536000000, &number);
		options->timeout_ns = (uint64_t)number * 1000000;
		return status;
	case 'C':
		options->place = optarg;
		return 0;
	case 'a':
		options->place = "all";
		return 0;
	case OPTION_PER:
		options->level = optarg;
		return 0;
	case OPTION_SPLIT:
		options->split = true;
		return 0;
	case 'i':
		options->inherit = false;
		return 0;
	case OPTION_DESCENDANTS:
		options->descendants = true;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	case OPTION_APPEND:
		options->append = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	default:
		return CLI_USAGE; /* getopt has said why */
	}
}

/* What does not go together. */
static int check_options(const struct stat_options *options)
{
	const char *why = NULL;

	if (!options->command && !options->targets && !options->place)
		why = "no command is given; see perfmon stat --help";
	else if (options->descendants && !options->inherit)
		why = "--descendants and --no-inherit exclude each other";
	else if ((options->targets && options->place) ||
		 (options->threads && options->processes))
		why = "--tid, --pid and --cpus exclude each other";
	else if (options->level && !options->place)
		why = "--per needs --cpus";
	else if (options->place && (options->descendants || !options->inherit))
		why = "--cpus counts whatever runs there: --descendants and --no-inherit "
		      "have no meaning";
	else if (options->runs > 1 && options->interval_ns)
		why = "--repeat and --interval exclude each other";
	else if (options->runs > 1 && !options->command)
		why = "--repeat needs a command";
	else if (options->append && !options->output)
		why = "--append needs --output";
	if (why)
		cli_complain("stat", "%s", why);
	return why ? CLI_USAGE : 0;
}

int stat_options_parse(struct stat_options *options, int argc, char **argv)
{
	int c, status = 0;

	*options = (struct stat_options){.runs = 1, .inherit = true};
	argv[0] = (char *)(uintptr_t) "perfmon stat";
	while (!status && (c = getopt_long(argc, argv, "+e:r:p:t:C:aiI:o:f:vh",
					   long_options, NULL)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return cli_finish("stat", 0);
		}
		status = take_option(options, c);
	}
	if (status)
		return status;
	if (optind < argc)
		options->command = argv + optind;
	return check_options(options) ?: -1;
}
