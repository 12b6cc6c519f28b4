/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cost of counting by the Valgrind tool, and the cost of a pair of BEGIN and END in
 * instructions, which the tool counts. Prints nothing without the tool or Valgrind.
 *
 *   exact.over.none         CPU time of a program like LULESH under the tool, over that
 *   under Valgrind's tool that does nothing
 *   exact.memory.over.none  the same with loads and stores
 *   exact.over.cachegrind   over that under cachegrind without its simulation
 *   region.exact.pair.K     a pair with K counters
 *
 * The tools alternate, and the minimum of each is used.
 */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perfmon/perfmon.h"

#define ROUNDS 3

static char self[4096], tools[4200];

/*
 * --- the programs under the tools ----------------------------------------------------
 */

/* Elements gather from their nodes, compute, and scatter; nodes move. */
#define EDGE  24
#define NODES (EDGE * EDGE * EDGE)
#define STEPS 400

static int work(void)
{
	static double at[NODES], force[NODES];
	static int corner[NODES][8];
	int elements = 0;

	for (int i = 0; i < NODES; i++) {
		int x = i / (EDGE * EDGE), y = i / EDGE % EDGE, z = i % EDGE;

		at[i] = x * 0.1 + y * 0.2 + z * 0.3;
		if (x == EDGE - 1 || y == EDGE - 1 || z == EDGE - 1)
			continue;
		for (int c = 0; c < 8; c++)
			corner[elements][c] =
				((x + (c & 1)) * EDGE + y + (c >> 1 & 1)) * EDGE + z +
				(c >> 2);
		elements++;
	}
	for (int step = 0; step < STEPS; step++) {
		for (int e = 0; e < elements; e++) {
			double sum = 0, pressure;

			for (int c = 0; c < 8; c++)
				sum += at[corner[e][c]];
			pressure = sqrt(fabs(sum)) + 1e-3;
			if (pressure > 3)
				pressure = 3 / pressure;
			for (int c = 0; c < 8; c++)
				force[corner[e][c]] += pressure * at[corner[e][c]] * 1e-3;
		}
		for (int i = 0; i < NODES; i++) {
			at[i] += force[i] * 1e-3;
			force[i] *= 0.5;
		}
	}
	return at[100] > 1e9;
}

#define PAIRS 1000

/* Reads the instructions of this thread, as the first hardware counter is read. */
static uint64_t instructions(void)
{
	uint64_t value = 0;

#if defined(__x86_64__)
	uint64_t high;

	__asm__ __volatile__("rdpmc" : "=a"(value), "=d"(high) : "c"(0) : "memory");
	value |= high << 32;
#elif defined(__aarch64__)
	__asm__ __volatile__("mrs %0, pmevcntr0_el0" : "=r"(value) : : "memory");
#endif
	return value;
}

static __attribute__((noinline)) uint64_t pairs(void)
{
	uint64_t before = instructions();

	for (int i = 0; i < PAIRS; i++) {
		PERFMON_REGION_BEGIN("pair");
		PERFMON_REGION_END("pair");
	}
	return instructions() - before;
}

static __attribute__((noinline)) uint64_t nothing(void)
{
	uint64_t before = instructions();

	for (int i = 0; i < PAIRS; i++)
		__asm__ __volatile__("" : : : "memory");
	return instructions() - before;
}

static int pair(const char *counters)
{
	uint64_t all;

	/* The first visits register the region. */
	pairs();
	all = pairs() - nothing();
	printf("BENCH region.exact.pair.%s %.1f instructions\n", counters,
	       (double)all / PAIRS);
	return 0;
}

/* --- running them ---------------------------------------------------------------------- */

/* Runs this program's MODE under Valgrind's TOOL with OPTION. Returns the CPU time in
 * seconds, or -1. */
static double run(const char *tool, const char *option, const char *mode,
		  const char *argument)
{
	struct rusage used;
	int status;
	pid_t child = fork();

	if (!child) {
		if (!strcmp(tool, "--tool=perfmon"))
			setenv("VALGRIND_LIB", tools, 1);
		setenv("PERFMON_OUTPUT", "none", 1);
		unsetenv("PERFMON_EVENTS");
		execlp("valgrind", "valgrind", "-q", tool, "--sigill-diagnostics=no",
		       "--cachegrind:cachegrind-out-file=/dev/null", option, self, mode,
		       argument, NULL);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) != child || status)
		return -1;
	return (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
	       1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void compare(void)
{
	static const char *const kinds[][2] = {
		{"--tool=none", "-q"},
		{"--tool=perfmon", "--events=instructions"},
		{"--tool=perfmon", "--events=instructions,loads,stores"},
		{"--tool=cachegrind", "--cache-sim=no"},
	};
	double least[4] = {0};

	for (int round = 0; round < ROUNDS; round++) {
		for (int k = 0; k < 4; k++) {
			double took = run(kinds[k][0], kinds[k][1], "work", NULL);

			if (took < 0)
				return;
			if (!round || took < least[k])
				least[k] = took;
		}
	}
	printf("BENCH exact.over.none %.3f ratio\n", least[1] / least[0]);
	printf("BENCH exact.memory.over.none %.3f ratio\n", least[2] / least[0]);
	printf("BENCH exact.over.cachegrind %.3f ratio\n", least[1] / least[3]);
}

int main(int argc, char **argv)
{
	static const char *const events[] = {"--events=instructions",
					     "--events=instructions,loads",
					     "--events=instructions,loads,stores",
					     "--events=instructions,loads,stores,calls"};
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *end = length > 0 ? strrchr(self, '/') : NULL;

	if (argc > 1 && !strcmp(argv[1], "work"))
		return work();
	if (argc > 2 && !strcmp(argv[1], "pair"))
		return pair(argv[2]);
	if (argc > 1) /* started to check that it runs */
		return 0;
	if (!end)
		return 1;
	snprintf(tools, sizeof(tools), "%.*s/../exact/valgrind", (int)(end - self), self);
	if (access(tools, F_OK) || run("--tool=none", "-q", "nothing", NULL) < 0)
		return 0;
	for (int k = 0; k < 4; k++) {
		char counters[2] = {(char)('1' + k), '\0'};

		if (run("--tool=perfmon", events[k], "pair", counters) < 0)
			return 1;
	}
	compare();
	return 0;
}
