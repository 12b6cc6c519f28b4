/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Twenty regions in two threads, as a solver has them: gathers, sums, moves, with their work in
 * nested steps. exact_regions [REGION [STEPS]]: this one does one element in a thousand more.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "perfmon/region.h"

#define ELEMENTS 2000

static int more = -1, steps = 10;

struct mesh {
	double node[ELEMENTS], force[ELEMENTS];
	int corner[ELEMENTS];
};

static __attribute__((noinline)) void kernel(struct mesh *mesh, int region)
{
	int elements = ELEMENTS - 200 + 10 * region;

	if (region == more)
		elements += (elements + 999) / 1000;
	for (int e = 0; e < elements; e++) {
		double x = mesh->node[mesh->corner[e]];

		switch (region % 3) {
		case 0:
			mesh->force[e] += sqrt(fabs(x)) * 1e-3;
			break;
		case 1:
			mesh->force[mesh->corner[e]] -= x * 1e-4;
			break;
		default:
			mesh->node[e] += mesh->force[e] * 1e-3;
		}
	}
}

#define KERNEL(r)                                                                        \
	PERFMON_REGION_BEGIN("kernel " #r);                                              \
	kernel(mesh, r);                                                                 \
	PERFMON_REGION_END("kernel " #r);
/* clang-format off */
#define EACH(X)                                                                          \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)                                \
	X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19)
/* clang-format on */

static void *solve(void *unused)
{
	struct mesh *mesh = calloc(1, sizeof(*mesh));

	if (!mesh)
		abort();
	for (int i = 0; i < ELEMENTS; i++) {
		mesh->node[i] = i * 0.1;
		mesh->corner[i] = (int)((unsigned int)i * 7919u % ELEMENTS);
	}
	for (int step = 0; step < steps; step++) {
		PERFMON_REGION_BEGIN("step");
		EACH(KERNEL)
		PERFMON_REGION_END("step");
	}
	free(mesh);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1)
		more = atoi(argv[1]);
	if (argc > 2)
		steps = atoi(argv[2]);
	if (pthread_create(&thread, NULL, solve, NULL))
		return 1;
	solve(NULL);
	pthread_join(thread, NULL);
	return 0;
}
