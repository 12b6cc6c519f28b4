/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program pays once, beyond what one pays that does nothing: linked with the library;
 * with one region and no report; with one region and its report. In instructions of user
 * mode where costs are exact, else the least CPU time of many runs, the kernel's included.
 * And how much memory the whole program has at most.
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

/* Becomes the program once the parent lets go. */
static void child(const struct start *start, int gate)
{
	char path[4200], self[4096], byte;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int nowhere = open("/dev/null", O_WRONLY);

	if (length < 0 || nowhere < 0 || read(gate, &byte, 1) < 0)
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

/* The cost of one run; its memory goes to *KIB. */
static double run(const struct start *start, long *kib)
{
	struct perf_event_attr attr = {
		.type = bench_exact() ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = bench_exact() ? PERF_COUNT_HW_INSTRUCTIONS
					: PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = bench_exact(),
		.exclude_hv = 1,
	};
	struct rusage usage;
	int gate[2], status, fd;
	uint64_t value;
	pid_t pid;

	check(!pipe(gate), "pipe");
	fflush(NULL);
	pid = fork();
	check(pid >= 0, "fork");
	if (!pid) {
		close(gate[1]);
		child(start, gate[0]);
	}
	close(gate[0]);
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	check(fd >= 0, "perf_event_open");
	close(gate[1]);
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

	/* Events by libpfm4's names and a profile in a file cost more. */
	unsetenv("PERFMON_EVENTS");
	unsetenv("PERFMON_PROFILE");
	for (size_t i = 0; i < STARTS; i++) {
		least[i] = INFINITY;
		kib[i] = INT32_MAX;
	}
	for (int n = bench_exact() ? 3 : RUNS; n--;)
		for (size_t i = 0; i < STARTS; i++)
			least[i] = fmin(least[i], run(&starts[i], &kib[i]));
	for (size_t i = 1; i < STARTS; i++)
		bench_print(starts[i].name, least[i] - least[0], bench_unit());
	bench_print("start.report.memory", (double)kib[STARTS - 1], "KiB");
	bench_say("an empty program: %.0f %s, %ld KiB", least[0], bench_unit(), kib[0]);
	return 0;
}
