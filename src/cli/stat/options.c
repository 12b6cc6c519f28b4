/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of perfmon stat. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/metrics/named.h"
#include "cli/stat/inside.h"
#include "core/text/grow.h"
#include "core/text/text.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon stat [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	"       perfmon stat [OPTION]... -p PID[,PID]... [[--] COMMAND [ARGUMENT]...]\n"
	"       perfmon stat [OPTION]... -t TID[,TID]... [[--] COMMAND [ARGUMENT]...]\n"
	"       perfmon stat [OPTION]... -C PLACE [[--] COMMAND [ARGUMENT]...]\n\n"
	"Runs COMMAND, counts its events and those of all threads and processes it creates,\n"
	"and reports when COMMAND has ended. With -t perfmon stat counts running threads, with\n"
	"-C everything that runs on some CPUs, until COMMAND ends, or without COMMAND until\n"
	"the threads end or Ctrl-C is pressed.\n\n"
	"  -e, --events EVENTS   what to count: names separated by ',', {} for groups, ';'\n"
	"                        between sets; auto (default: what the machine has), none\n"
	"                        (time only). Given twice, both count\n"
	"  -g, --group LIST      what answers a question, with its metrics: FLOPS, MEM, CACHE,\n"
	"                        BRANCH, TLB, TOPDOWN, ENERGY (perfmon list groups)\n"
	"  -M, --named-metrics LIST  values that perf calculates for this CPU, by name, or\n"
	"                        those of a file of the vendor: @FILE:NAME\n"
	"  -x, --exact           count exactly on any machine, 3 to 20 times slower: -e\n"
	"                        instructions (default), loads, stores, ... (perfmon-exact(7))\n"
	"  -r, --repeat N        run COMMAND N times; report means and their spread\n"
	"  -p, --pid PID,...     count these processes: all threads, and new children\n"
	"  -t, --tid TID,...     count these threads\n"
	"  -C, --cpus PLACE      count these CPUs: all, package:0, core:0-3, cpu:5,7...\n"
	"  -a, --all-cpus        the same as -C all\n"
	"      --per LEVEL       ... for each pu, core, l3, numa, die, package apart\n"
	"  -i, --no-inherit      only the first thread of COMMAND; no child processes\n"
	"                        of -p\n"
	"      --descendants     what it creates apart from the first thread, or\n"
	"                        from the processes of -p\n"
	"      --split           schedule every event by itself, not in groups\n"
	"  -I, --interval MS     report the counts of every MS milliseconds\n"
	"      --timeout MS      end after MS milliseconds (COMMAND by SIGTERM)\n"
	"  -o, --output FILE     report there, not to stderr; - is stdout\n"
	"      --append          ... at the end of FILE\n"
	"  -f, --format FORMAT   text (default), csv, json\n"
	"  -v, --verbose         say why each event was refused\n"
	"  -h, --help            this text\n\n"
	"Signals that are sent to perfmon stat are passed on to COMMAND. Exit status: that of\n"
	"COMMAND (of the first run that failed), 128 + n if signal n ended it; 127: there is\n"
	"no such command, 126: it cannot be run; 1: counting or reporting failed; 2: an\n"
	"option is wrong.\n";
/* clang-format on */

/* Parses an integer from 1 to MOST, which ends at one of ENDS. */
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

/* An option that is an integer from 1 to MOST. */
struct number {
	unsigned long value, most;
};

static int take_number(const char *command, const struct cli_option *option,
		       const char *text)
{
	struct number *number = option->to;
	const char *at = text;

	if (parse_number(&at, number->most, "", &number->value))
		return 0;
	return cli_fail(CLI_USAGE, command, "--%s '%s': expects a number from 1 to %lu",
			option->name, text, number->most);
}

static int take_events(const char *command, const struct cli_option *option,
		       const char *text)
{
	return pm_text_add(option->to, ",", text) ? cli_no_memory(command) : 0;
}

/* Parses a list of threads or processes. */
static int take_targets(const char *command, const struct cli_option *option,
			const char *text)
{
	struct stat_options *options = option->to;
	bool threads = !strcmp(option->name, "tid");
	const char *at = text;
	unsigned long tid;

	for (;;) {
		if (!parse_number(&at, INT_MAX, ",", &tid))
			return cli_fail(
				CLI_USAGE, command,
				"--%s '%s': expects a comma-separated list of %s IDs",
				option->name, text, threads ? "thread" : "process");
		if (!PM_GROW(options->targets, options->target_count))
			return cli_no_memory(command);
		options->targets[options->target_count++] = (struct perfmon_target){
			.kind = threads ? PERFMON_TARGET_KIND_THREAD
					: PERFMON_TARGET_KIND_PROCESS,
			.id = (int32_t)tid};
		if (!*at++)
			break;
	}
	*(threads ? &options->threads : &options->processes) = true;
	return 0;
}

/* Returns an option that --exact does not allow, or NULL. */
static const char *not_exact(const struct stat_options *options)
{
	return options->processes     ? "--pid"
	       : options->threads     ? "--tid"
	       : options->place	      ? "--cpus"
	       : options->level	      ? "--per"
	       : !options->inherit    ? "--no-inherit"
	       : options->descendants ? "--descendants"
	       : options->split	      ? "--split"
	       : options->interval_ns ? "--interval"
				      : NULL;
}

/* Checks for options that exclude each other. */
static int check_options(const struct stat_options *options)
{
	const char *why = NULL;

	if (options->exact && not_exact(options))
		return cli_fail(CLI_USAGE, "stat",
				"--exact counts a whole command with all that it "
				"creates: remove %s",
				not_exact(options));
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
		why = "--cpus counts all threads of the CPUs: remove --descendants and "
		      "--no-inherit";
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
	struct number runs = {1, 1000000}, interval_ms = {0, 86400000},
		      timeout_ms = {0, 31536000000};
	unsigned int format = STAT_TEXT;
	bool first_only = false;
	const struct cli_option table[] = {
		{"events", .take = take_events, .to = &options->events},
		{"group", .take = cli_named_take, .to = &options->groups},
		{"named-metrics", .take = cli_named_take, .to = &options->metrics},
		{"exact", .flag = &options->exact},
		{"repeat", .take = take_number, .to = &runs},
		{"pid", .take = take_targets, .to = options},
		{"tid", .take = take_targets, .to = options},
		{"cpus", .text = &options->place},
		{"all-cpus", "all", .text = &options->place},
		{"per", .take = cli_take_level, .to = &options->level},
		{"split", .flag = &options->split},
		{"no-inherit", .flag = &first_only},
		{"descendants", .flag = &options->descendants},
		{"interval", .take = take_number, .to = &interval_ms},
		{"timeout", .take = take_number, .to = &timeout_ms},
		{"output", .text = &options->output},
		{"append", .flag = &options->append},
		/* In the order of enum stat_format. */
		{"format", .choice = &format, .choices = "text, csv, json"},
		{"verbose", .flag = &options->verbose},
		{.name = NULL},
	};
	const struct cli_command command = {"stat", help, true, table};
	int status;

	*options = (struct stat_options){.runs = 0};
	status = cli_options_read(&command, argc, argv);
	if (status >= 0)
		return status;
	options->runs = (uint32_t)runs.value;
	options->interval_ns = (uint64_t)interval_ms.value * 1000000;
	options->timeout_ns = (uint64_t)timeout_ms.value * 1000000;
	options->format = (enum stat_format)format;
	options->inherit = !first_only;
	if (optind < argc)
		options->command = argv + optind;
	return check_options(options) ?: -1;
}
