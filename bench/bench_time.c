/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pairs that measure only time, compared with the two timestamp reads that they need, and
 * one thread compared with two at the same time. */
#include <errno.h>
#include <perfmon/inline.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ROUNDS 15
#define CHUNKS 40
#define CHUNK  2000 /* pairs: about 50 us, so that few are interrupted */

__attribute__((noinline)) static void pairs(int n)
{
	for (int i = 0; i < n; i++) {
		PERFMON_REGION_BEGIN("pair");
		PERFMON_REGION_END("pair");
	}
}

__attribute__((noinline)) static void timestamps(int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t a = perfmon_arch_timestamp(), b;

		__asm__ volatile("" ::"r"(a) : "memory");
		b = perfmon_arch_timestamp();
		__asm__ volatile("" ::"r"(b) : "memory");
	}
}

/* --- two threads -------------------------------------------------------------------- */

struct runner {
	bench_work *work;
	int cpu;
	pthread_barrier_t *start;
	double ns; /* of a repetition: the lower quartile of the chunks */
};

static void *run(void *argument)
{
	struct runner *runner = argument;
	double chunk[CHUNKS];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)runner->cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	runner->work(CHUNK);
	pthread_barrier_wait(runner->start);
	for (int i = 0; i < CHUNKS; i++) {
		uint64_t before = bench_now_ns();

		runner->work(CHUNK);
		chunk[i] = (double)(bench_now_ns() - before) / CHUNK;
	}
	/* Keep the other thread company until it has finished, too. */
	pthread_barrier_wait(runner->start);
	bench_median(chunk, CHUNKS); /* sorts */
	runner->ns = chunk[CHUNKS / 4];
	return NULL;
}

/* Returns the mean cost of a repetition with COUNT threads at the same time. */
static double together(bench_work *work, const int *cpus, int count)
{
	struct runner runners[2];
	pthread_barrier_t start;
	pthread_t threads[2];
	double sum = 0;
	int i;

	pthread_barrier_init(&start, NULL, (unsigned int)count);
	for (i = 0; i < count; i++) {
		runners[i] = (struct runner){work, cpus[i], &start, 0};
		if (pthread_create(&threads[i], NULL, run, &runners[i])) {
			bench_say("no thread");
			exit(1);
		}
	}
	for (i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum += runners[i].ns;
	}
	pthread_barrier_destroy(&start);
	return sum / count;
}

static double scaling(bench_work *work, const int *cpus)
{
	double ratio[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double alone =
			(together(work, cpus, 1) + together(work, cpus + 1, 1)) / 2;

		ratio[i] = together(work, cpus, 2) / alone;
	}
	return bench_median(ratio, ROUNDS);
}

static void print_scaling(void)
{
	cpu_set_t allowed;
	int cpus[2], count = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++) {
		if (CPU_ISSET((size_t)cpu, &allowed))
			cpus[count++] = cpu;
	}
	if (count < 2) {
		bench_say("region.scaling needs two CPUs");
		return;
	}
	bench_print("region.scaling", scaling(pairs, cpus), "ratio");
	/* The machine's own effect on two threads that share nothing. */
	bench_print("timestamp.scaling", scaling(timestamps, cpus), "ratio");
}

int main(int argc, char **argv)
{
	double pair, timestamp, ratio;

	(void)argv;
	if (argc == 1)
		return bench_again("time", "none");
	if (bench_counts_instructions()) {
		/* The guest emulates its CPUs one at a time: two threads show nothing. */
		bench_print("timestamp.pair", bench_user(timestamps, NULL, 5000),
			    bench_unit());
		return 0;
	}
	ratio = bench_ratio(pairs, timestamps, CHUNK, &pair, &timestamp);
	bench_print("region.pair.0.over.timestamp.pair", ratio, "ratio");
	bench_print("timestamp.pair", timestamp, "ns");
	print_scaling();
	return 0;
}
