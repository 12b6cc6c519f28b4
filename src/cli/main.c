/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perfmon command: finds the subcommand. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/common.h"
#include "report/report.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"diff", cli_diff, "compare profiles: what changed, and is it more than noise"},
	{"export", cli_export, "write profiles for other programs that show them"},
	{"info", cli_info, "what can be counted on this machine, and why not more"},
	{"list", cli_list, "the events that have a name here"},
	{"report", cli_report, "report what programs have counted in their regions"},
	{"run", cli_run, "run a program that uses regions, and report"},
	{"stat", cli_stat, "run a command, or watch threads, and say what they did"},
	{"top", cli_top, "watch the regions of a running program"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int to_stderr(void *unused, const char *text, size_t size)
{
	(void)unused;
	return fwrite(text, 1, size, stderr) == size ? 0 : -EIO;
}

void cli_complain(const char *command, const char *format, ...)
{
	struct pm_out out = {.sink = to_stderr};
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	pm_out_format(&out, "perfmon%s%s: ", command ? " " : "", command ? command : "");
	/* What is complained about has a name that somebody gave it. */
	pm_out_plain(&out, text ? text : format, 0);
	pm_out_text(&out, "\n");
	pm_out_end(&out);
	free(text);
}

int cli_finish(const char *command, int status)
{
	if (cli_pager_end())
		return status;
	if (fflush(stdout) || ferror(stdout)) {
		cli_complain(command, "standard output: %s", strerror(errno));
		return status ? status : CLI_FAILED;
	}
	return status;
}

static void usage(FILE *to)
{
	fputs("usage: perfmon COMMAND [OPTION]... [ARGUMENT]...\n"
	      "       perfmon COMMAND --help\n"
	      "       perfmon --version\n\n",
	      to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-6s %s\n", commands[i].name, commands[i].summary);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		usage(stderr);
		return CLI_USAGE;
	}
	if (!strcmp(name, "-h") || !strcmp(name, "--help") || !strcmp(name, "help")) {
		usage(stdout);
		return cli_finish(NULL, 0);
	}
	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		puts("perfmon " PACKAGE_VERSION);
		return cli_finish(NULL, 0);
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	cli_complain(NULL, "'%s' is no %s; see perfmon --help", name,
		     *name == '-' ? "option" : "command");
	return CLI_USAGE;
}
