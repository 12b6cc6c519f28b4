/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one-time cost of a program, beyond one that does nothing: linked with the library;
 * with one region and no report; with one region and its report. In instructions of user
 * mode where costs are instructions, else the minimum CPU time of many runs, including
 * the kernel's. Also the maximum memory of the whole program.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define RUNS 50

static const struct start {
	const char *name, *program, *output;
} starts[] = {
	{"empty", "start_empty", "none"},
	{"start.linked", "start_linked", "none"},
	{"start.region", "start_region", "none"},
	{"start.report", "start_region", "stderr"},
};
#define STARTS (sizeof(starts) / sizeof(starts[0]))

static void check(int ok, const char *what)
{
	if (ok)
		return;
	bench_say("%s: %s", what, strerror(errno));
	exit(1);
}

/* Becomes the program when the parent writes to START_FD. */
static void child(const struct start *start, int start_fd)
{
	char path[4200], self[4096], byte;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int nowhere = open("/dev/null", O_WRONLY);

	if (length < 0 || nowhere < 0 || read(start_fd, &byte, 1) < 0)
		_exit(126);
	self[length] = '\0';
	snprintf(path, sizeof(path), "%s/%s", dirname(self), start->program);
	setenv("PERFMON_OUTPUT", start->output, 1);
	/* So that each run does the same. */
	personality(ADDR_NO_RANDOMIZE);
	dup2(nowhere, STDERR_FILENO);
	execl(path, path, (char *)NULL);
	_exit(127);
}

/* Returns the cost of one run, and its memory in *KIB. */
static double run(const struct start *start, long *kib)
{
	struct perf_event_attr attr = {
		.type = bench_counts_instructions() ? PERF_TYPE_HARDWARE
						    : PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = bench_counts_instructions() ? PERF_COUNT_HW_INSTRUCTIONS
						      : PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = bench_counts_instructions(),
		.exclude_hv = 1,
	};
	struct rusage usage;
	int pipe_fds[2], status, fd;
	uint64_t value;
	pid_t pid;

	check(!pipe(pipe_fds), "pipe");
	fflush(NULL);
	pid = fork();
	check(pid >= 0, "fork");
	if (!pid) {
		close(pipe_fds[1]);
		child(start, pipe_fds[0]);
	}
	close(pipe_fds[0]);
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	check(fd >= 0, "perf_event_open");
	close(pipe_fds[1]);
	check(wait4(pid, &status, 0, &usage) == pid, "wait4");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		bench_say("%s did not run", start->program);
		exit(1);
	}
	check(read(fd, &value, sizeof(value)) == sizeof(value), "read");
	close(fd);
	if (usage.ru_maxrss < *kib)
		*kib = usage.ru_maxrss;
	return (double)value;
}

int main(void)
{
	double least[STARTS];
	long kib[STARTS];

	/* Events by libpfm4's names, and a profile in a file, cost more. */
	unsetenv("PERFMON_EVENTS");
	unsetenv("PERFMON_PROFILE");
	for (size_t i = 0; i < STARTS; i++) {
		least[i] = INFINITY;
		kib[i] = INT32_MAX;
	}
	for (int n = bench_counts_instructions() ? 3 : RUNS; n--;)
		for (size_t i = 0; i < STARTS; i++)
			least[i] = fmin(least[i], run(&starts[i], &kib[i]));
	for (size_t i = 1; i < STARTS; i++)
		bench_print(starts[i].name, least[i] - least[0], bench_unit());
	bench_print("start.report.memory", (double)kib[STARTS - 1], "KiB");
	bench_say("an empty program: %.0f %s, %ld KiB", least[0], bench_unit(), kib[0]);
	return 0;
}
