/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/roofline/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/exact/exact.h"

#define EVENTS "sp-flops,dp-flops,load-bytes,store-bytes"
/* So much of the end of what the second run printed is shown. */
#define SHOWN 1200

/* --- the folder ------------------------------------------------------------------------- */

int roof_runs_begin(struct roof_runs *runs)
{
	*runs = (struct roof_runs){.input = lseek(STDIN_FILENO, 0, SEEK_CUR)};
	runs->folder = cli_folder_make("roofline", "profiles");
	if (!runs->folder)
		return CLI_FAILED;
	snprintf(runs->timed, sizeof(runs->timed), "%s/timed", runs->folder);
	snprintf(runs->counts, sizeof(runs->counts), "%s/counts", runs->folder);
	if (!mkdir(runs->timed, 0700) && !mkdir(runs->counts, 0700))
		return 0;
	return cli_fail(CLI_FAILED, "roofline", "'%s': %s", runs->folder,
			strerror(errno));
}

void roof_runs_end(struct roof_runs *runs)
{
	cli_folder_remove(runs->folder);
	free(runs->folder);
	runs->folder = NULL;
}

/* --- a run ------------------------------------------------------------------------------ */

/* A run does not see these variables: they would have it measure other visits than the other run, or
 * more than flops and bytes. The run for times may take some of the visits. */
static const struct {
	const char *name;
	bool timed_sees;
} hidden[] = {
	{"PERFMON_GROUP", false},
	{"PERFMON_MIN_MEAN", false},
	{"PERFMON_STEPS", false},
	{"PERFMON_STRIDE", true},
};

/* Sets the variables of a run whose profiles go to FOLDER. */
static int set_environment(const char *folder, const char *events, bool timed)
{
	char *profile = cli_profile_in(folder, "");
	int err;

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (!timed || !hidden[i].timed_sees)
			unsetenv(hidden[i].name);
	err = !profile || setenv("PERFMON_PROFILE", profile, 1) ||
	      setenv("PERFMON_OUTPUT", "none", 1) || setenv("PERFMON_EVENTS", events, 1);
	free(profile);
	return err ? cli_no_memory("roofline") : 0;
}

/* The signal ends this process when the folder is removed. */
static int interrupted(const char *when)
{
	return cli_fail(CLI_FAILED, "roofline", "no roofline: %s came %s",
			strsignal(cli_child_interrupt()), when);
}

int roof_run_timed(struct roof_runs *runs, char **command)
{
	int status = set_environment(runs->timed, "none", true);
	int err = status ? 0 : cli_child_run(command, NULL, &runs->status);

	if (status)
		return status;
	if (err)
		return cli_child_cannot_run("roofline", command[0], err);
	if (cli_child_interrupt() && !WIFSIGNALED(runs->status))
		return interrupted("in the run for times");
	/* Its signal says what happened. */
	if (WIFSIGNALED(runs->status) || !cli_folder_is_empty(runs->timed))
		return 0;
	return cli_fail(WEXITSTATUS(runs->status) ?: CLI_FAILED, "roofline",
			"no profile was written: '%s' entered no region, or does not use "
			"the library",
			command[0]);
}

/* Opens the standard input of the second run: the same file from its beginning, or, where it can be
 * read only once, a line whose reading would show. Returns -1 for the same file, or -errno. */
static int open_input(const struct roof_runs *runs)
{
	char path[PATH_MAX];
	int fd;

	if (lseek(STDIN_FILENO, runs->input, SEEK_SET) >= 0)
		return -1;
	snprintf(path, sizeof(path), "%s/input", runs->folder);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && (write(fd, "\n", 1) != 1 || lseek(fd, 0, SEEK_SET)))
		cli_complain("roofline", "'%s': %s", path, strerror(errno));
	return fd;
}

/* Says how STATUS says that a run ended: "status 3", "signal 4 (Illegal instruction)". */
static const char *ended(int status, char text[64])
{
	if (WIFSIGNALED(status))
		snprintf(text, 64, "signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, 64, "status %d", WEXITSTATUS(status));
	return text;
}

/* Prints the end of what the run wrote to ERRORS. */
static void show_errors(int errors)
{
	char text[SHOWN + 1];
	off_t size = lseek(errors, 0, SEEK_END);
	ssize_t n = pread(errors, text, SHOWN, size > SHOWN ? size - SHOWN : 0);
	struct pm_out out = {.sink = cli_print, .argument = stderr};
	char *at = text, *end;

	if (n <= 0)
		return;
	text[n] = '\0';
	/* From the beginning of a line on. */
	if (size > SHOWN && strchr(text, '\n'))
		at = strchr(text, '\n') + 1;
	pm_out_text(&out, "the end of what it wrote to standard error:\n");
	for (; *at; at = end) {
		end = strchrnul(at, '\n');
		if (*end)
			*end++ = '\0';
		pm_out_text(&out, "  ");
		pm_out_plain(&out, at, 0);
		pm_out_text(&out, "\n");
	}
	pm_out_end(&out);
}

static int compare_ends(const struct roof_runs *runs, const char *name, int errors)
{
	char first[64], second[64];

	if (runs->counts_status == runs->status && !cli_folder_is_empty(runs->counts))
		return 0;
	if (runs->counts_status != runs->status)
		cli_complain("roofline",
			     "the run of '%s' that counts by translation ended with %s, "
			     "the first one with %s",
			     name, ended(runs->counts_status, second),
			     ended(runs->status, first));
	else
		cli_complain("roofline",
			     "the run of '%s' that counts by translation left no profile",
			     name);
	show_errors(errors);
	return CLI_FAILED;
}

static int input_was_read(const char *name)
{
	return cli_fail(
		CLI_FAILED, "roofline",
		"'%s' reads its standard input, which is a pipe or a terminal, and the "
		"second run would need the same: let it read from a file (< FILE)",
		name);
}

int roof_run_counted(struct roof_runs *runs, char **command)
{
	static const struct cli_exact_files no_files;
	char path[PATH_MAX];
	struct cli_exact_events events;
	char **line = NULL, *names = NULL;
	int streams[3] = {-1, -1, -1}, status, err;

	status = cli_exact_parse("roofline", EVENTS, &events);
	names = status ? NULL : cli_exact_list(&events, cli_exact_label);
	if (!status)
		status = names ? set_environment(runs->counts, names, false) : CLI_FAILED;
	free(names);
	if (!status)
		status = cli_exact_start("roofline", &events, &no_files, command, &line);
	if (status)
		return status;
	streams[0] = open_input(runs);
	snprintf(path, sizeof(path), "%s/errors", runs->folder);
	streams[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	streams[2] = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	err = cli_child_run(line ?: command, streams, &runs->counts_status);
	if (cli_child_interrupt())
		status = interrupted("in the run that counts by translation");
	else if (err)
		status = cli_child_cannot_run("roofline", command[0], err);
	else if (streams[0] >= 0 && lseek(streams[0], 0, SEEK_CUR) > 0)
		status = input_was_read(command[0]);
	else
		status = compare_ends(runs, command[0], streams[2]);
	for (int i = 0; i < 3; i++)
		if (streams[i] >= 0)
			close(streams[i]);
	free(line);
	return status;
}
