/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 31

static int instructions_fd = -1;

uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t counted(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value)) {
		bench_say("cannot read the instruction counter: %s", strerror(errno));
		exit(1);
	}
	return value;
}

static uint64_t user_instructions(void)
{
	return counted(instructions_fd);
}

__attribute__((noinline)) static void empty_loop(int n)
{
	for (int i = 0; i < n; i++)
		__asm__ volatile("" ::: "memory");
}

static int open_instructions(bool threads)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = threads,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Returns whether one instruction takes one nanosecond. */
static bool clock_counts_instructions(void)
{
	double best = INFINITY;
	cpu_set_t one;

	if (instructions_fd < 0)
		return false;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	for (int i = 0; i < 5; i++) {
		uint64_t time = bench_now_ns(), count = user_instructions();
		double off;

		empty_loop(500000);
		count = user_instructions() - count;
		time = bench_now_ns() - time;
		off = fabs((double)time / (double)count - 1);
		if (off < best)
			best = off;
	}
	return best < 0.02 && !sched_setaffinity(0, sizeof(one), &one);
}

bool bench_counts_instructions(void)
{
	static int known = -1;

	if (known < 0) {
		instructions_fd = open_instructions(false);
		known = clock_counts_instructions();
	}
	return known;
}

const char *bench_unit(void)
{
	return bench_counts_instructions() ? "instructions" : "ns";
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return count % 2 ? values[count / 2]
			 : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Returns the cost of N repetitions of WORK on the meter NOW. */
static double cost_of(uint64_t (*now)(void), bench_work *work, int n)
{
	uint64_t before = now();

	work(n);
	return (double)(now() - before);
}

/* Compares runs of 2 N and of N repetitions, so that constant costs cancel. */
static double cost(uint64_t (*now)(void), bench_work *work, bench_work *empty, int n)
{
	double of_work[SAMPLES], of_empty[SAMPLES];

	if (!empty)
		empty = empty_loop;
	work(n);
	for (int i = 0; i < SAMPLES; i++) {
		of_work[i] = cost_of(now, work, 2 * n) - cost_of(now, work, n);
		of_empty[i] = cost_of(now, empty, 2 * n) - cost_of(now, empty, n);
	}
	return (bench_median(of_work, SAMPLES) - bench_median(of_empty, SAMPLES)) / n;
}

uint64_t bench_user_now(void)
{
	return bench_counts_instructions() ? user_instructions() : bench_now_ns();
}

uint64_t bench_threads_now(void)
{
	static int fd = -1;

	if (!bench_counts_instructions())
		return bench_now_ns();
	if (fd < 0)
		fd = open_instructions(true);
	return counted(fd);
}

double bench_user(bench_work *work, bench_work *empty, int n)
{
	return cost(bench_counts_instructions() ? user_instructions : bench_now_ns, work,
		    empty, n);
}

double bench_all(bench_work *work, bench_work *empty, int n)
{
	bench_counts_instructions(); /* binds to a CPU */
	return cost(bench_now_ns, work, empty, n);
}

double bench_user_only(const char *name, bench_work *work, bench_work *empty, int n)
{
	double user = bench_user(work, empty, n);

	if (bench_counts_instructions()) {
		double all = bench_all(work, empty, n);

		if (fabs(all - user) > 2 + 0.005 * user)
			bench_say("%s: %.2f instructions in user mode, %.2f in all: it "
				  "enters the kernel",
				  name, user, all);
	}
	return user;
}

double bench_ratio(bench_work *a, bench_work *b, int n, double *a_ns, double *b_ns)
{
	double ratio[SAMPLES], of_a[SAMPLES], of_b[SAMPLES];

	a(n);
	b(n);
	for (int i = 0; i < SAMPLES; i++) {
		/* The minimum of a few short runs, since the machine may be shared. */
		of_a[i] = of_b[i] = INFINITY;
		for (int j = 0; j < 5; j++) {
			of_a[i] = fmin(of_a[i], cost_of(bench_now_ns, a, n) / n);
			of_b[i] = fmin(of_b[i], cost_of(bench_now_ns, b, n) / n);
		}
		ratio[i] = of_a[i] / of_b[i];
	}
	if (a_ns)
		*a_ns = bench_median(of_a, SAMPLES);
	if (b_ns)
		*b_ns = bench_median(of_b, SAMPLES);
	return bench_median(ratio, SAMPLES);
}

void bench_print(const char *name, double value, const char *unit)
{
	printf("BENCH %s %.*f %s\n", name, strcmp(unit, "ratio") ? 2 : 3, value, unit);
	fflush(stdout);
}

void bench_say(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int bench_again(const char *mode, const char *events)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (!child) {
		setenv("PERFMON_OUTPUT", "none", 1);
		setenv("PERFMON_EVENTS", events, 1);
		execl("/proc/self/exe", program_invocation_name, mode, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child) {
		bench_say("cannot run %s again: %s", mode, strerror(errno));
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const char *bench_events(int k)
{
	/* 008 and 011: arm64's numbers of instructions and cycles. */
	static const char *const events[] = {
		"none",
		"instructions",
		"instructions,cycles",
		"instructions,cycles,r008",
		"instructions,cycles,r008,r011",
	};

	return events[k];
}
