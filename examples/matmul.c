/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A matrix product in three ways -- naive, with one factor transposed, and in blocks --
 * by four threads, with nested regions. The report shows what the same work costs in each
 * way.
 *
 *   cc -O2 -pthread matmul.c -o matmul $(pkg-config --cflags --libs perfmon)
 *   ./matmul [order]
 */
#include <perfmon/region.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define BLOCK	32

static size_t order = 320;
static double *left, *right, *turned, *product[3];
static pthread_barrier_t barrier;

static void naive(size_t from, size_t to, double *out)
{
	size_t i, j, k;

	PERFMON_REGION_SCOPE("naive");
	for (i = from; i < to; i++)
		for (j = 0; j < order; j++) {
			double sum = 0;

			for (k = 0; k < order; k++)
				sum += left[i * order + k] * right[k * order + j];
			out[i * order + j] = sum;
		}
}

static void transposed(size_t from, size_t to, double *out)
{
	size_t i, j, k;

	PERFMON_REGION_SCOPE("transposed");
	PERFMON_REGION_BEGIN("transpose");
	for (i = from; i < to; i++)
		for (j = 0; j < order; j++)
			turned[i * order + j] = right[j * order + i];
	PERFMON_REGION_END("transpose");
	pthread_barrier_wait(&barrier);
	PERFMON_REGION_BEGIN("multiply");
	for (i = from; i < to; i++)
		for (j = 0; j < order; j++) {
			double sum = 0;

			for (k = 0; k < order; k++)
				sum += left[i * order + k] * turned[j * order + k];
			out[i * order + j] = sum;
		}
	PERFMON_REGION_END("multiply");
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void blocked(size_t from, size_t to, double *out)
{
	size_t i, j, k, jj, kk;

	PERFMON_REGION_SCOPE("blocked");
	memset(out + from * order, 0, (to - from) * order * sizeof(*out));
	for (kk = 0; kk < order; kk += BLOCK)
		for (jj = 0; jj < order; jj += BLOCK) {
			PERFMON_REGION_BEGIN("block");
			for (i = from; i < to; i++)
				for (k = kk; k < least(kk + BLOCK, order); k++)
					for (j = jj; j < least(jj + BLOCK, order); j++)
						out[i * order + j] +=
							left[i * order + k] *
							right[k * order + j];
			PERFMON_REGION_END("block");
		}
}

static void *work(void *argument)
{
	size_t n = (uintptr_t)argument;
	size_t from = order * n / THREADS, to = order * (n + 1) / THREADS;

	PERFMON_REGION_BEGIN("matmul");
	naive(from, to, product[0]);
	transposed(from, to, product[1]);
	blocked(from, to, product[2]);
	PERFMON_REGION_END("matmul");
	return NULL;
}

/* The factors are small integers, so that every way gives exactly the same product. */
static int differ(void)
{
	return memcmp(product[0], product[1], order * order * sizeof(double)) ||
	       memcmp(product[0], product[2], order * order * sizeof(double));
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	double **all[] = {&left, &right, &turned, &product[0], &product[1], &product[2]};
	size_t i;
	int bad;

	if (argc > 1)
		order = strtoul(argv[1], NULL, 10);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		*all[i] = calloc(order * order, sizeof(double));
		if (!order || !*all[i]) {
			fprintf(stderr, "usage: matmul [order]\n");
			return 2;
		}
	}
	for (i = 0; i < order * order; i++) {
		left[i] = (double)(i % 7);
		right[i] = (double)(i % 5);
	}
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 1; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i)) {
			perror("pthread_create");
			return 1;
		}
	work(NULL);
	for (i = 1; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	bad = differ();
	printf("matmul: order %zu, %d threads: %s\n", order, THREADS,
	       bad ? "WRONG" : "right");
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(*all[i]);
	return bad;
}
