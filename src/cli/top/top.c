/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon top watches the regions of a running program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/top/top.h"
#include "core/kernel/files.h"
#include "core/profile/profile.h"
#include "core/text/text.h"

/* clang-format off */
static const char help[] =
	"usage: perfmon top [OPTION]... [[-p] PID|FILE]\n\n"
	"Watches the regions of a running program (perfmon/region.h): of the process PID, or of\n"
	"the one that keeps its profile in FILE. Watching costs the program nothing. Without an\n"
	"argument: lists your processes that can be watched. On a terminal h explains the keys;\n"
	"elsewhere lines are printed, with tabs between.\n\n"
	"  -p, --pid PID         watch this process\n"
	"  -d, --delay SECONDS   between two looks (1)\n"
	"  -n, --count N         leave after N tables\n"
	"      --once            print one table and leave\n"
	"  -k, --sort COLUMN     by name, open, visits, time, cpu, self (the default), mean, an event\n"
	"                        or a metric\n"
	"      --reverse         the lowest first\n"
	"      --filter TEXT     only regions with TEXT in their names, and regions above and\n"
	"                        below them\n"
	"  -T, --per-thread      each thread by itself, too\n"
	"      --flat            by region, not by path\n"
	"  -m, --metrics TEXT    more columns: 'NAME = FORMULA; ...', @FILE, none\n"
	"  -h, --help            this text\n\n"
	"Exit status: 0, 1 if the process cannot be watched, 2 if an option is wrong.\n";
/* clang-format on */

/* --- the list --------------------------------------------------------------------- */

/* Lists the processes of this user that have a profile. */
static int list(void)
{
	uint32_t found = 0;
	size_t count = 0;
	char **names;
	int err = pm_dir_list("/proc", &names, &count);

	if (err)
		return cli_fail(CLI_FAILED, "top", "/proc: %s", strerror(-err));
	for (size_t i = 0; i < count; i++) {
		pid_t pid = (pid_t)strtol(names[i], NULL, 10);
		struct pm_out out = {0};
		struct pm_profile_file *file;
		struct stat st;
		char path[32];

		snprintf(path, sizeof(path), "/proc/%.16s", names[i]);
		if (pid <= 0 || stat(path, &st) || st.st_uid != geteuid() ||
		    pm_profile_file_open_pid(pid, &file, NULL))
			continue;
		pm_out_plain(&out, pm_profile_file_header(file)->program, 0);
		if (!found++ && cli_is_terminal())
			printf("%8s  %s\n", "PID", "PROGRAM");
		printf(cli_is_terminal() ? "%8d  %.*s\n" : "%d\t%.*s\n", (int)pid,
		       (int)out.used, out.buffer);
		pm_profile_file_close(file);
	}
	free(names);
	if (found)
		return 0;
	return cli_fail(CLI_FAILED, "top",
			"none of your processes uses regions of libperfmon");
}

/* --- lines and tables ------------------------------------------------------------- */

static int table_print(const struct top_watch *watch, const struct top_options *options,
		       bool text, bool head)
{
	struct pm_diag diag = {0};
	struct top_table table;
	int err = top_table_make(&table, watch->look, options, &diag);

	if (err)
		cli_complain("top", "%s", diag.text);
	else if (text)
		top_text_print(watch, &table);
	else
		top_lines_print(&table, head);
	if (!err && !table.row_count && *options->filter)
		cli_complain("top", "no region has '%s' in its name", options->filter);
	top_table_free(&table);
	return err == -EINVAL ? CLI_USAGE : err ? CLI_FAILED : 0;
}

static int print_tables(struct top_watch *watch, const struct top_options *options)
{
	uint64_t count = options->once ? 1 : options->count, printed = 0, next_ns;
	bool text = cli_is_terminal();
	struct pm_diag diag = {0};
	char problem[700];
	int status = 0;

	if ((options->threads && top_watch_threads(watch, &diag)) ||
	    top_watch_look(watch, false, &diag))
		goto failed;
	top_notes_print(watch);
	/* An ended program does not change: print its one table. */
	if (!watch->alive)
		status = table_print(watch, options, text, true);
	next_ns = cli_now_ns();
	while (!status && watch->alive && (!count || printed < count)) {
		next_ns += (uint64_t)(options->delay * 1e9);
		while (top_wait(watch, -1, next_ns) == TOP_NOTHING)
			;
		if (top_watch_look(watch, false, &diag))
			goto failed;
		if (text && printed)
			putchar('\n');
		status = table_print(watch, options, text, !printed++);
		if (ferror(stdout))
			break;
	}
	top_text_problem(watch, problem, sizeof(problem));
	if (*problem && !text)
		cli_complain("top", "%s: %s", watch->what, problem);
	return status;
failed:
	return cli_fail(CLI_FAILED, "top", "%s", diag.text);
}

/* --- options ---------------------------------------------------------------------- */

static int take_delay(const char *command, const struct cli_option *option,
		      const char *text)
{
	double *delay = option->to;

	if (!pm_text_double(text, delay) && *delay >= 0.01 && *delay <= 86400)
		return 0;
	return cli_fail(CLI_USAGE, command, "'%s': expects seconds from 0.01 to 86400",
			text);
}

static int take_count(const char *command, const struct cli_option *option,
		      const char *text)
{
	uint64_t *count = option->to;

	if (!pm_slice_number(pm_slice_of(text), count) && *count)
		return 0;
	return cli_fail(CLI_USAGE, command, "'%s': expects a number of tables", text);
}

/* TO is a buffer, since the screen changes the text. */
static int take_text(const char *command, const struct cli_option *option,
		     const char *text)
{
	if (snprintf(option->to, TOP_TEXT, "%s", text) < TOP_TEXT)
		return 0;
	return cli_fail(CLI_USAGE, command, "'%.40s...' is longer than %d bytes", text,
			TOP_TEXT - 1);
}

/* Returns -1 to continue, or the exit status. */
static int options_read(struct top_options *to, const char **pid, int argc, char **argv)
{
	const struct cli_option options[] = {
		{"pid", .text = pid},
		{"delay", .take = take_delay, .to = &to->delay},
		{"count", .take = take_count, .to = &to->count},
		{"once", .flag = &to->once},
		{"sort", .take = take_text, .to = to->sort},
		{"reverse", .flag = &to->reverse},
		{"filter", .take = take_text, .to = to->filter},
		{"per-thread", .flag = &to->threads},
		{"flat", .flag = &to->flat},
		{"metrics", .take = cli_take_metrics, .to = &to->metrics},
		{.name = NULL},
	};
	const struct cli_command command = {"top", help, false, options};
	int status = cli_options_read(&command, argc, argv);

	if (status < 0 && argc - optind > !*pid)
		return cli_fail(CLI_USAGE, "top", "'%s': watch one process at a time",
				argv[optind + !*pid]);
	return status;
}

/* Watches NAME. A number is a PID. A file with such a name can be given as ./N. */
static int watch_named(const char *name, bool is_pid, struct top_options *options)
{
	struct top_watch watch;
	struct pm_diag diag = {0};
	int status;
	char *end;
	long pid;

	errno = 0;
	pid = strtol(name, &end, 10);
	if (is_pid || (*name >= '0' && *name <= '9' && !*end)) {
		if (errno || *end || pid <= 0 || pid > INT32_MAX)
			return cli_fail(CLI_USAGE, "top", "'%s' is not a process ID",
					name);
		name = NULL;
	}
	if (top_watch_open(&watch, (pid_t)pid, name, &diag))
		return cli_fail(CLI_FAILED, "top", "%s", diag.text);
	watch.metrics = options->metrics;
	if (!options->once && cli_is_terminal() && isatty(STDIN_FILENO))
		status = top_screen_run(&watch, options);
	else
		status = print_tables(&watch, options);
	top_watch_close(&watch);
	return status;
}

int cli_top(int argc, char **argv)
{
	struct top_options options = {.delay = 1, .sort = "self"};
	const char *pid = NULL;
	int status = options_read(&options, &pid, argc, argv);

	if (status < 0 && !pid && optind == argc)
		status = list();
	else if (status < 0)
		status = watch_named(pid ? pid : argv[optind], pid, &options);
	pm_metrics_free(options.metrics);
	return cli_finish("top", status);
}
