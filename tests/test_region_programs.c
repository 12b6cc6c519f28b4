/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whole programs that use regions (tests/programs): how they end, what they load, in C++.
 * What they counted is read from the file that PERFMON_PROFILE names.
 */
#include "bounds.h"
#include "helpers.h"
#include "region_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static char folder[64];

static void set_up(void)
{
	probe_quiet();
	make_folder(folder, sizeof(folder));
}

static void tear_down(void)
{
	remove_folder(folder);
}

TestSuite(region_programs, .init = set_up, .fini = tear_down, .timeout = 120);

/* Where the programs are: beside this one. */
static const char *program(const char *name)
{
	static char path[4200];
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	cr_assert_gt(length, 0);
	self[length] = '\0';
	snprintf(path, sizeof(path), "%s/programs/%s", dirname(self), name);
	return path;
}

static pid_t last_pid;

/* Runs it with its profile in folder/profile.PID and its report in folder/report.PID; its
 * exit status, or 1000 + the signal. */
static int run(const char *name, const char *argument)
{
	const char *path = program(name);
	char profile[128], report[128];
	int status;

	fflush(NULL);
	last_pid = fork();
	if (last_pid == 0) {
		snprintf(profile, sizeof(profile), "%s/profile.%%p", folder);
		snprintf(report, sizeof(report), "%s/report.%%p", folder);
		setenv("PERFMON_PROFILE", profile, 1);
		setenv("PERFMON_OUTPUT", report, 1);
		execl(path, path, argument, (char *)NULL);
		_exit(127);
	}
	cr_assert_eq(waitpid(last_pid, &status, 0), last_pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static struct pm_snapshot *profile_of(const char *suffix)
{
	struct pm_snapshot *s = NULL;
	struct pm_diag diag = {0};
	char path[128];
	struct stat st;
	void *bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/profile.%d%s", folder, (int)last_pid, suffix);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	cr_assert_eq(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	cr_assert_eq(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	cr_assert_eq(pm_snapshot_take(bytes, (size_t)st.st_size, &s, &diag), 0, "%s",
		     diag.text);
	free(bytes);
	return s;
}

static bool reported(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/report.%d", folder, (int)last_pid);
	return access(path, F_OK) == 0;
}

static void check_ending(const char *way, int status, bool ends_well, bool atexit_ran)
{
	struct pm_snapshot *s;

	cr_assert_eq(run("region_ends", way), status, "%s", way);
	s = profile_of("");
	cr_assert_eq(probe_visits(s, "constructor"), 1);
	cr_assert_eq(probe_visits(s, "outer/work"), 3);
	cr_assert_eq(probe_entered(s, "outer"), 1);
	cr_assert_eq(probe_visits(s, "outer/atexit") + probe_visits(s, "atexit"),
		     atexit_ran);
	cr_assert_eq(s->header.state, ends_well ? PERFMON_PROFILE_STATE_ENDED
						: PERFMON_PROFILE_STATE_RUNNING);
	cr_assert_eq(reported(), ends_well, "%s", way);
	pm_snapshot_free(s);
}

/* Row: DC-02 */
Test(region_programs, a_return_from_main_reports)
{
	struct pm_snapshot *s;

	check_ending("return", 0, true, true);
	s = profile_of("");
	cr_assert_eq(probe_visits(s, "outer"), 1);
	cr_assert_eq(probe_visits(s, "destructor"), 1);
	pm_snapshot_free(s);
}

Test(region_programs, exit_with_an_open_region_reports)
{
	check_ending("exit", 0, true, true);
}

/* No handler runs: no report; what was counted stands in the profile's file. */
Test(region_programs, ends_without_exit_handlers_keep_the_profile)
{
	check_ending("_exit", 0, false, false);
	check_ending("quick_exit", 0, false, false);
	check_ending("abort", 1000 + SIGABRT, false, false);
	check_ending("kill", 1000 + SIGKILL, false, false);
}

/* The old image's numbers stay in its file; the new image counts from zero in its own. */
Test(region_programs, exec_starts_anew)
{
	struct pm_snapshot *old, *new;
	char suffix[32];

	cr_assert_eq(run("region_ends", "exec"), 0);
	snprintf(suffix, sizeof(suffix), ".%d", (int)last_pid);
	old = profile_of("");
	new = profile_of(suffix);
	cr_assert_eq(probe_visits(old, "outer/work"), 3);
	cr_assert_eq(probe_visits(old, "outer"), 0);
	cr_assert_eq(old->header.state, PERFMON_PROFILE_STATE_RUNNING);
	cr_assert_eq(probe_visits(new, "outer/work"), 3);
	cr_assert_eq(probe_visits(new, "outer"), 1);
	cr_assert_eq(new->header.state, PERFMON_PROFILE_STATE_ENDED);
	cr_assert(reported());
	pm_snapshot_free(old);
	pm_snapshot_free(new);
}

/* exit() from a handler that may have interrupted a region call. */
Test(region_programs, exit_in_a_signal_handler)
{
	for (int i = 0; i < 20; i++) {
		struct pm_snapshot *s;

		cr_assert_eq(run("region_ends", "handler"), 0);
		s = profile_of("");
		cr_assert_eq(probe_visits(s, "outer/work"), 3);
		cr_assert_eq(s->header.state, PERFMON_PROFILE_STATE_ENDED);
		cr_assert(reported());
		pm_snapshot_free(s);
	}
}

static const char *plugin_of(const char *name)
{
	static char plugin[4300];
	char path[64];

	/* Where make leaves it, or installed beside the programs. */
	snprintf(path, sizeof(path), ".libs/%s", name);
	snprintf(plugin, sizeof(plugin), "%s", program(path));
	if (access(plugin, R_OK))
		snprintf(plugin, sizeof(plugin), "%s", program(name));
	return plugin;
}

static void load_and_unload(const char *name)
{
	struct pm_snapshot *s;

	cr_assert_eq(run("region_loads", plugin_of(name)), 0);
	s = profile_of("");
	cr_assert_eq(probe_visits(s, "plugin"), 10);
	cr_assert_eq(probe_visits(s, "plugin/plugin's inner"), 20);
	/* Five times, or once, where the plugin cannot be unloaded. */
	cr_assert_eq(probe_visits(s, "unload"), strstr(name, "own") ? 1 : 5);
	cr_assert_eq(s->region_count, 3, "each time the same regions");
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	cr_assert_eq(s->header.state, PERFMON_PROFILE_STATE_ENDED);
	cr_assert(reported());
	pm_snapshot_free(s);
}

Test(region_programs, a_library_is_loaded_and_unloaded)
{
	load_and_unload("region_plugin.so");
}

Test(region_programs, a_plugin_with_the_archive_in_it_stays)
{
	load_and_unload("region_plugin_own.so");
}

/* The report with SUFFIX at its name. */
static const char *report_of(const char *suffix)
{
	static char text[16384];
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/report.%d%s", folder, (int)last_pid, suffix);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	cr_assert_geq(n, 0);
	text[n] = '\0';
	return text;
}

Test(region_programs, each_copy_of_the_library_reports)
{
	static const char *const suffixes[] = {"", ".2", ".3"};
	int status;

#ifdef TESTS_SANITIZED
	cr_skip_test("a sanitizer cannot be loaded more than once");
#endif
	status = run("region_copies", plugin_of("region_plugin.so"));
	if (status == 77)
		cr_skip_test("dlmopen() makes no namespace for the library");
	cr_assert_eq(status, 0);
	for (int i = 0; i < 3; i++) {
		const char *text = report_of(suffixes[i]);

		cr_expect(strstr(text, "plugin's inner"), "%s", text);
		cr_expect(strstr(text, "this process has 3 copies of libperfmon"), "%s",
			  text);
	}
}

/* Of a region that sleeps for 100 ms, in a process that takes each second for ten. */
Test(region_programs, what_is_preloaded_may_fake_the_time)
{
	uint64_t from;
	struct pm_snapshot *s;
	double elapsed, ns;

#ifdef TESTS_SANITIZED
	cr_skip_test("a sanitizer has wrappers of its own for these calls");
#endif
	from = now_ns(CLOCK_MONOTONIC);
	cr_assert_eq(run("region_faked", NULL), 0);
	elapsed = (double)(now_ns(CLOCK_MONOTONIC) - from);
	cr_assert(reported());
	s = profile_of("");
	ns = pm_snapshot_ns(s,
			    (double)probe_node(s, &s->threads[0], "sleep")->time_ticks);
	cr_expect_geq(ns, 99e6);
	if (s->header.clock == PERFMON_PROFILE_CLOCK_MONOTONIC)
		cr_expect(probe_note(s, "replaces clock_gettime()"));
	else
		cr_expect_leq(ns, elapsed);
	cr_expect_gt(s->header.lost_first_in_handler, 0, "the set-up calls madvise()");
	pm_snapshot_free(s);
	cr_expect_eq(run("region_faked", "in memory"), 0);
}

Test(region_programs, exceptions_and_destructors_in_cxx)
{
	struct pm_snapshot *s;

	cr_assert_eq(run("region_cxx", NULL), 0);
	s = profile_of("");
	probe_expect(s, {"work", 15}, {"work/throws/throws/throws/throws/throws", 15},
		     {"work/noexcept", 15});
	cr_assert_eq(probe_entered(s, "work/left open"), 15);
	cr_assert_eq(probe_visits(s, "work/left open"), 0, "closed by the END of work");
	cr_assert_eq(probe_visits(s, "deep"), 5);
	cr_assert_eq(probe_visits(s, "after"), 5);
	/* The static one, and the five threads' own. */
	cr_assert_eq(probe_visits(s, "constructor"), 6);
	cr_assert_eq(probe_visits(s, "destructor"), 6);
	/* throws(400) is 401 deep, below "deep": 146 of them do not fit. */
	cr_assert_eq(probe_sum(s, lost_too_deep), 5 * (402 - PERFMON_PROFILE_DEPTH_MAX));
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	pm_snapshot_free(s);
}
