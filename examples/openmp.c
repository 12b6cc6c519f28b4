/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heat on a ring, with OpenMP. The threads' pool exists before the first region. Each
 * thread is counted from its own first region on, without preparation.
 *
 *   cc -O2 -fopenmp openmp.c -o openmp $(pkg-config --cflags --libs perfmon)
 *   ./openmp [pages [steps]]
 *
 * Each thread visits the regions inside of a parallel construct once; the initial thread
 * visits those outside, and hands its path on to the team, so that "smooth" stands below "solve"
 * in all threads. The total heat is checked at the end.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <omp.h>
#include <perfmon/region.h>
#include <perfmon/team.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 512 /* elements of a page: no two threads share one */

static double *map(size_t pages)
{
	size_t size = pages * PAGE * sizeof(double);
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		return NULL;
	/* So that "first touch" counts a fault for each page of this size. */
	madvise(at, size, MADV_NOHUGEPAGE);
	return at;
}

/*
 * Each thread first touches the pages on which it will work, which places them near it.
 */
static void first_touch(double *now, double *next, size_t pages)
{
	struct perfmon_token here;

	perfmon_region_token(&here);
#pragma omp parallel
	{
		PERFMON_TEAM_SCOPE(&here);
		PERFMON_REGION_SCOPE("first touch");
#pragma omp for schedule(static) nowait
		for (size_t p = 0; p < pages; p++)
			for (size_t i = p * PAGE; i < (p + 1) * PAGE; i++) {
				now[i] = p ? 1.0 : 2.0;
				next[i] = 0;
			}
	}
}

static void smooth(const double *now, double *next, size_t pages)
{
	size_t count = pages * PAGE;
	struct perfmon_token here;

	perfmon_region_token(&here);
	/*
	 * The region ends before the construct's barrier, so it contains only the work.
	 */
#pragma omp parallel
	{
		PERFMON_TEAM_SCOPE(&here);
		PERFMON_REGION_SCOPE("smooth");
#pragma omp for schedule(static) nowait
		for (size_t p = 0; p < pages; p++)
			for (size_t i = p * PAGE; i < (p + 1) * PAGE; i++)
				next[i] = 0.5 * now[i] +
					  0.25 * now[i ? i - 1 : count - 1] +
					  0.25 * now[i + 1 < count ? i + 1 : 0];
	}
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;
	int steps = argc > 2 ? atoi(argv[2]) : 50;
	double *now = pages ? map(pages) : NULL, *next = pages ? map(pages) : NULL;
	int threads = 0, wrong;
	double sum = 0;

	if (!now || !next || steps < 1) {
		fprintf(stderr, "usage: openmp [pages [steps]]\n");
		return 2;
	}
	/* The pool starts here. */
#pragma omp parallel reduction(+ : threads)
	threads += 1;

	first_touch(now, next, pages);
	PERFMON_REGION_BEGIN("solve");
	for (int n = 0; n < steps; n++) {
		double *old = now;

		smooth(now, next, pages);
		now = next;
		next = old;
	}
	PERFMON_REGION_END("solve");
	for (size_t i = 0; i < pages * PAGE; i++)
		sum += now[i];
	wrong = fabs(sum - (double)(pages + 1) * PAGE) > 1e-6 * sum;
	printf("openmp: %zu pages, %d steps, %d threads: %s\n", pages, steps, threads,
	       wrong ? "WRONG" : "right");
	munmap(now, pages * PAGE * sizeof(*now));
	munmap(next, pages * PAGE * sizeof(*next));
	return wrong;
}
