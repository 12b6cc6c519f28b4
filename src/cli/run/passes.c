/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/run/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/join/join.h"
#include "core/report/merge/join.h"
#include "core/report/report.h"
#include "core/settings/options.h"

/* Instructions in user mode repeat, but for what interrupts add. */
#define TOLERANCE	0.01
#define ALLOWANCE	20
#define TOLERANCE_CLOCK 0.2

struct passes {
	struct run_plan plan;
	char **command;
	char folder[PATH_MAX];	   /* has a folder of profiles for each pass */
	struct pm_options options; /* of the report */
	const char *profile;	   /* NULL: none is kept */
	bool input_is_pipe;
	int status; /* of the first pass */
	/* The first pass: one process, or the sum of several. */
	struct pm_snapshot *one;
	struct pm_merge *several;
};

static int failed(int err)
{
	return cli_fail(CLI_FAILED, "run", "%s", strerror(err < 0 ? -err : err));
}

/* --- the folder ----------------------------------------------------------------------- */

/* Makes a folder that the processes of all passes can reach: on the hosts of an MPI program that is where
 * the profile is to stand. */
static int folder_make(struct passes *p)
{
	const char *slash = p->profile ? strrchr(p->profile, '/') : NULL;
	int n;

	if (p->profile)
		n = snprintf(p->folder, sizeof(p->folder), "%.*s",
			     slash ? (int)(slash - p->profile + 1) : 0, p->profile);
	else
		n = snprintf(p->folder, sizeof(p->folder), "%s/",
			     cli_variable("TMPDIR") ?: "/tmp");
	if (n < 0 || (size_t)n + 64 > sizeof(p->folder))
		return failed(ENAMETOOLONG);
	strcat(p->folder, ".perfmon-passes-XXXXXX");
	if (mkdtemp(p->folder))
		return 0;
	cli_complain("run", "--passes: cannot make the folder '%s' for the profiles: %s",
		     p->folder, strerror(errno));
	p->folder[0] = '\0';
	return CLI_FAILED;
}

static void folder_of(const struct passes *p, size_t pass, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.*s/%zu", PATH_MAX - 32, p->folder, pass + 1);
}

/* --- runs ----------------------------------------------------------------------------- */

/* Sets what the program of a pass finds in its environment. */
static int environment_set(const struct passes *p, size_t pass)
{
	char folder[PATH_MAX], *here, *template;
	int err;

	folder_of(p, pass, folder);
	if (mkdir(folder, 0700))
		return failed(errno);
	/* The command may change its directory. */
	here = realpath(folder, NULL);
	template = here ? cli_profile_in(here, "") : NULL;
	err = !template || setenv("PERFMON_EVENTS", p->plan.events[pass], 1) ||
	      setenv("PERFMON_PROFILE", template, 1) ||
	      setenv("PERFMON_OUTPUT", "none", 1);
	free(here);
	free(template);
	return err ? failed(errno) : 0;
}

/* Opens standard input, output and error of a later pass. */
static void standard_open(const struct passes *p, int standard[3])
{
	standard[0] = p->input_is_pipe ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
	standard[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	standard[2] = memfd_create("stderr", MFD_CLOEXEC);
	cli_input_again();
}

/* Closes them. SHOW: what the program wrote to standard error. */
static void standard_close(const int standard[3], bool show)
{
	char text[4096];
	ssize_t n;

	if (show && standard[2] >= 0) {
		lseek(standard[2], 0, SEEK_SET);
		while ((n = read(standard[2], text, sizeof(text))) > 0)
			if (write(STDERR_FILENO, text, (size_t)n) < 0)
				break;
	}
	for (int i = 0; i < 3; i++)
		if (standard[i] >= 0)
			close(standard[i]);
}

/* Says that a pass did not end well. */
static void tell_failure(const struct passes *p, size_t pass, int status)
{
	if (WIFSIGNALED(status))
		cli_complain("run",
			     "--passes: no report: pass %zu of %zu (%s) ended by signal "
			     "%d (%s)",
			     pass + 1, p->plan.count, p->plan.events[pass],
			     WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		cli_complain("run",
			     "--passes: no report: pass %zu of %zu (%s) ended with exit "
			     "status %d, and expects 0",
			     pass + 1, p->plan.count, p->plan.events[pass],
			     WEXITSTATUS(status));
}

/* Returns the exit status, unless the command has one: its STATUS. */
static int interrupted(const struct passes *p, size_t pass, int status)
{
	cli_complain("run", "--passes: no report: %s came in pass %zu of %zu",
		     strsignal(cli_child_interrupt()), pass + 1, p->plan.count);
	return status ? 0 : 128 + cli_child_interrupt();
}

/* Runs one pass. Returns 0, or -1 with the exit status in *EXIT and the command's in *STATUS. */
static int pass_run(struct passes *p, size_t pass, int *status, int *exit)
{
	int standard[3] = {-1, -1, -1}, err;

	*status = 0;
	*exit = environment_set(p, pass);
	if (*exit)
		return -1;
	if (pass)
		standard_open(p, standard);
	err = cli_child_run(p->command, standard, status);
	standard_close(standard, *status != 0);
	if (cli_child_interrupt()) {
		*exit = interrupted(p, pass, *status);
		return -1;
	}
	if (err) {
		*exit = cli_child_cannot_run("run", p->command[0], err);
		return -1;
	}
	if (*status)
		tell_failure(p, pass, *status);
	return *status ? -1 : 0;
}

/* --- profiles ------------------------------------------------------------------------- */

/* Reads the profiles of the first pass. */
static int first_read(struct passes *p, const char *folder)
{
	struct cli_sources sources = {.command = "run"};
	struct pm_diag diag = {0};
	int status = cli_sources_add_path(&sources, folder);

	if (!status && sources.count == 1 &&
	    cli_source_read(&sources.at[0], &p->one, &diag))
		status = cli_fail(CLI_FAILED, "run", "%s", diag.text);
	else if (!status && sources.count > 1)
		status = cli_join_read("run", folder, &p->several);
	cli_sources_free(&sources);
	return status;
}

static struct pm_snapshot *timed_of(struct passes *p)
{
	return p->one ? p->one : pm_merge_sum(p->several);
}

/* Joins the profiles of a later pass to those of the first. */
static int pass_join(struct passes *p, const char *folder, size_t pass)
{
	char name[40];
	const struct pm_join_run run = {
		.name = name,
		.is_told = true,
		.reference = p->plan.reference,
		.tolerance = p->plan.is_clock ? TOLERANCE_CLOCK : TOLERANCE,
		.allowance = p->plan.is_clock ? 0 : ALLOWANCE,
	};

	snprintf(name, sizeof(name), "pass %zu", pass + 1);
	return cli_join_add("run", folder, &run, timed_of(p));
}

static int pass_read(struct passes *p, size_t pass)
{
	char folder[PATH_MAX];

	folder_of(p, pass, folder);
	if (!cli_folder_is_empty(folder))
		return pass ? pass_join(p, folder, pass) : first_read(p, folder);
	return cli_fail(CLI_FAILED, "run",
			"--passes: no profile was written to '%s': '%s' entered no "
			"region, or does not use the library, or ran on a host without "
			"this folder (-P FILE puts it beside FILE)",
			folder, p->command[0]);
}

/* --- the report ----------------------------------------------------------------------- */

/* Lists the events of the passes in TEXT, as far as they fit. */
static void passes_list(const struct passes *p, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t pass = 0; pass < p->plan.count; pass++) {
		const char *events = p->plan.events[pass];

		if (used + strlen(events) + 16 > size) {
			strcpy(text + used, pass ? "; ..." : "...");
			return;
		}
		used += (size_t)sprintf(text + used, "%s%s", pass ? "; " : "", events);
	}
}

static int notes_add(struct passes *p)
{
	struct pm_snapshot *timed = timed_of(p);
	char passes[700], alike[200];
	int err;

	if (p->plan.count < 2)
		return 0;
	passes_list(p, passes, sizeof(passes));
	if (p->plan.reference)
		snprintf(alike, sizeof(alike),
			 "regions in which %.*s differs by more than %g %% from the "
			 "first pass are marked",
			 pm_text_cut(p->plan.reference, 100), p->plan.reference,
			 100 * (p->plan.is_clock ? TOLERANCE_CLOCK : TOLERANCE));
	else
		snprintf(alike, sizeof(alike),
			 "visits alone tell whether they were alike: neither "
			 "instructions nor task-clock leave a counter for other events");
	err = PM_NOTE(timed,
		      "counted in %zu passes, runs of the same command, of which the "
		      "first has the visits and times; %s: %s",
		      p->plan.count, alike, passes);
	if (!err && p->input_is_pipe)
		err = PM_NOTE(timed, "standard input was a pipe, which the first pass "
				     "alone could read");
	return err;
}

static int report_write(struct passes *p)
{
	struct pm_metrics *metrics = pm_metrics_of(&p->options);
	struct pm_diag diag = {0};
	int err = notes_add(p), status = 0;

	if (!err && p->profile)
		status = cli_join_write("run", timed_of(p), p->profile);
	if (!err)
		err = p->one ? pm_report_at_exit(p->one, &p->options, metrics, false,
						 &diag)
			     : pm_report_merge(p->several, &p->options, metrics);
	pm_metrics_free(metrics);
	if (err && diag.text[0])
		cli_complain("run", "%s", diag.text);
	return err ? diag.text[0] ? CLI_FAILED : failed(err) : status;
}

/* --- all of it ------------------------------------------------------------------------ */

static int check(const struct passes *p)
{
	if (p->profile && strchr(p->profile, '%'))
		return cli_fail(CLI_USAGE, "run",
				"--passes: -P '%s': the joined profile is one file: "
				"expects a path without %%",
				p->profile);
	if (p->options.rank >= 0 && p->options.ranks > 1)
		return cli_fail(CLI_USAGE, "run",
				"--passes: a launcher has started this as one of %d "
				"ranks, which cannot be run again alone: put it behind "
				"perfmon: perfmon run --passes -e EVENTS -- mpirun ...",
				p->options.ranks);
	return 0;
}

int run_passes(const char *events, const char *profile, char **command)
{
	struct passes p = {.command = command, .profile = profile};
	int exit = 0, status = 0;

	pm_options_read(&p.options, NULL);
	exit = check(&p) ?: run_plan_make(&p.plan, events) ?: folder_make(&p);
	p.input_is_pipe = !cli_input_begin();
	for (size_t pass = 0; !exit && !status && pass < p.plan.count; pass++) {
		cli_progress(pass, p.plan.count, "passes");
		if (!pass_run(&p, pass, &status, &exit))
			exit = pass_read(&p, pass);
	}
	cli_progress_end();
	if (!exit && !status)
		exit = report_write(&p);
	cli_folder_remove(p.folder);
	pm_snapshot_free(p.one);
	pm_merge_free(p.several);
	run_plan_free(&p.plan);
	pm_options_free(&p.options);
	if (!exit && status)
		return cli_child_end_as(status);
	return exit;
}
