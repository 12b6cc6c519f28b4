/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perfmon command: finds the subcommand. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/diff/diff.h"
#include "cli/export/export.h"
#include "cli/info/info.h"
#include "cli/list/list.h"
#include "cli/report/report.h"
#include "cli/roofline/roofline.h"
#include "cli/run/run.h"
#include "cli/stat/stat.h"
#include "cli/top/top.h"
#include "cli/truth/truth.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"diff", cli_diff, "compare profiles: which changes exceed the noise"},
	{"export", cli_export, "write profiles for other programs that show them"},
	{"info", cli_info, "show the events that this machine can count, and the limits"},
	{"list", cli_list, "the events that have a name here"},
	{"report", cli_report, "report the counts of a program's regions"},
	{"roofline", cli_roofline,
	 "show how near regions come to what the machine can do"},
	{"run", cli_run, "run a program that uses regions, and report"},
	{"stat", cli_stat, "run a command, or watch threads, and count events"},
	{"top", cli_top, "watch the regions of a running program"},
	{"truth", cli_truth, "whether the counters of this machine count right"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *to)
{
	fputs("usage: perfmon COMMAND [OPTION]... [ARGUMENT]...\n"
	      "       perfmon help COMMAND\n"
	      "       perfmon --version\n\n",
	      to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
}

/* Runs the subcommand in ARGV[0]. */
static int run(int argc, char **argv)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[0], commands[i].name))
			return commands[i].run(argc, argv);
	return cli_fail(CLI_USAGE, NULL, "'%s' is not %s; see perfmon --help", argv[0],
			*argv[0] == '-' ? "an option" : "a command");
}

/* Runs `perfmon NAME --help`. */
static int help(char *name)
{
	char option[] = "--help", *argv[] = {name, option, NULL};

	return run(2, argv);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		usage(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help")) {
		if (argc > 2)
			return help(argv[2]);
		usage(stdout);
		return cli_finish(NULL, 0);
	}
	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		puts("perfmon " PACKAGE_VERSION);
		return cli_finish(NULL, 0);
	}
	return run(argc - 1, argv + 1);
}
