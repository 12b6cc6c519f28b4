/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The four kernels of the STREAM benchmark (copy, scale, add, triad) on all CPUs that
 * this process may use. Each is a region. The program needs only the two macros:
 *
 *   cc -O2 -pthread stream.c -o stream $(pkg-config --cflags --libs perfmon)
 *   ./stream [elements [repetitions]]
 *
 * The arrays are checked at the end.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <perfmon/region.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static double *a, *b, *c;
static size_t elements = 2000000;
static int repetitions = 10;
static const double scalar = 3.0;
static pthread_barrier_t barrier;

struct part {
	pthread_t thread;
	size_t from, to;
};

/* Runs one kernel over a thread's part. The barrier keeps all threads in step. It is
 * outside of the region, which contains only the work. */
#define KERNEL(name, statement)                                                          \
	do {                                                                             \
		PERFMON_REGION_BEGIN(name);                                              \
		for (i = part->from; i < part->to; i++)                                  \
			statement;                                                       \
		PERFMON_REGION_END(name);                                                \
		pthread_barrier_wait(&barrier);                                          \
	} while (0)

static void *work(void *argument)
{
	struct part *part = argument;
	size_t i;
	int n;

	PERFMON_REGION_BEGIN("stream");
	for (i = part->from; i < part->to; i++) {
		a[i] = 1.0;
		b[i] = 2.0;
		c[i] = 0.0;
	}
	pthread_barrier_wait(&barrier);
	for (n = 0; n < repetitions; n++) {
		KERNEL("copy", c[i] = a[i]);
		KERNEL("scale", b[i] = scalar * c[i]);
		KERNEL("add", c[i] = a[i] + b[i]);
		KERNEL("triad", a[i] = b[i] + scalar * c[i]);
	}
	PERFMON_REGION_END("stream");
	return NULL;
}

/* Repeats the kernels for one element and compares all others with it. */
static int wrong(void)
{
	double x = 1.0, y = 2.0, z = 0.0;
	size_t i;
	int n;

	for (n = 0; n < repetitions; n++) {
		z = x;
		y = scalar * z;
		z = x + y;
		x = y + scalar * z;
	}
	for (i = 0; i < elements; i++)
		if (fabs(a[i] - x) > 1e-9 * fabs(x) || fabs(b[i] - y) > 1e-9 * fabs(y) ||
		    fabs(c[i] - z) > 1e-9 * fabs(z))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct part *parts;
	int threads, i;
	cpu_set_t cpus;

	if (argc > 1)
		elements = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		repetitions = atoi(argv[2]);
	threads = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
	a = calloc(elements, sizeof(*a));
	b = calloc(elements, sizeof(*b));
	c = calloc(elements, sizeof(*c));
	parts = calloc((size_t)threads, sizeof(*parts));
	if (!elements || repetitions < 1 || !a || !b || !c || !parts) {
		fprintf(stderr, "usage: stream [elements [repetitions]]\n");
		return 2;
	}
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
	for (i = 0; i < threads; i++) {
		parts[i].from = elements * (size_t)i / (size_t)threads;
		parts[i].to = elements * (size_t)(i + 1) / (size_t)threads;
		if (i && pthread_create(&parts[i].thread, NULL, work, &parts[i])) {
			perror("pthread_create");
			return 1;
		}
	}
	work(&parts[0]);
	for (i = 1; i < threads; i++)
		pthread_join(parts[i].thread, NULL);
	i = wrong();
	printf("stream: %zu elements, %d repetitions, %d threads: %s\n", elements,
	       repetitions, threads, i ? "WRONG" : "right");
	free(a);
	free(b);
	free(c);
	free(parts);
	return i;
}
