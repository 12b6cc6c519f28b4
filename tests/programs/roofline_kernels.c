/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * roofline_kernels [VISITS [QUIRK]]: kernels whose operations, loads and stores can be counted by hand, for
 * the suite "roofline". Elements are volatile, so that each is loaded and stored as it is written here.
 * With OpenMP a team shares each. Prints a line for each: name, flops, bytes loaded, bytes stored, visits, and
 * flops a second by its own clock, read outside of the region and inside.
 *
 * QUIRK is what a run by translation does otherwise: "more" visits, "none" of triad, "fail", "crash".
 */
#include <perfmon/perfmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define N	100000 /* elements of a vector, rows of the sparse matrix */
#define ORDER	64     /* of the dense matrices */
#define GRID	400
#define PER_ROW 5

static volatile double a[N], b[N], c[N];
static volatile double left[ORDER * ORDER], right[ORDER * ORDER], product[ORDER * ORDER];
static volatile double grid[GRID][GRID], next[GRID][GRID];
static volatile double values[N * PER_ROW];
static volatile int columns[N * PER_ROW], rows[N + 1];

/* In nanoseconds: whole numbers need no floating-point operations. */
static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void triad(int i)
{
	a[i] = b[i] + 3.5 * c[i];
}

static void dgemm(int i)
{
	for (int j = 0; j < ORDER; j++) {
		double sum = 0;

		for (int k = 0; k < ORDER; k++)
			sum += left[i * ORDER + k] * right[k * ORDER + j];
		product[i * ORDER + j] = sum;
	}
}

static void stencil(int i)
{
	for (int j = 1; j < GRID - 1; j++)
		next[i + 1][j] = 0.25 * (grid[i][j] + grid[i + 2][j] +
					 grid[i + 1][j - 1] + grid[i + 1][j + 1]);
}

static void spmv(int i)
{
	int from = rows[i], to = rows[i + 1];
	double sum = 0;

	for (int k = from; k < to; k++)
		sum += values[k] * b[columns[k]];
	a[i] = sum;
}

/* The time of all threads, and their number. */
struct spent {
	long long outside; /* ns, around BEGIN and END, */
	long long inside;  /* and between them */
	int threads;
};

/* Visits the region NAME, in each thread of a team, for COUNT steps of KERNEL. */
#define RUN(name, kernel, count)                                                         \
	static void run_##kernel(struct spent *spent)                                    \
	{                                                                                \
		struct perfmon_token here;                                               \
		long long outside = 0, inside = 0;                                       \
		int team = 0;                                                            \
                                                                                         \
		perfmon_region_token(&here);                                             \
		_Pragma("omp parallel reduction(+ : outside, inside, team)")             \
		{                                                                        \
			long long times[4];                                              \
                                                                                         \
			PERFMON_TEAM_SCOPE(&here);                                       \
			times[0] = now();                                                \
			PERFMON_REGION_BEGIN(name);                                      \
			times[1] = now();                                                \
			_Pragma("omp for schedule(static) nowait") for (int i = 0;       \
									i < (count);     \
									i++) kernel(i);  \
			times[2] = now();                                                \
			PERFMON_REGION_END(name);                                        \
			times[3] = now();                                                \
			outside += times[3] - times[0];                                  \
			inside += times[2] - times[1];                                   \
			team++;                                                          \
		}                                                                        \
		spent->outside += outside;                                               \
		spent->inside += inside;                                                 \
		spent->threads = team;                                                   \
	}
RUN("triad", triad, N)
RUN("dgemm", dgemm, ORDER)
RUN("stencil", stencil, GRID - 2)
RUN("spmv", spmv, N)

static const struct {
	const char *name;
	void (*run)(struct spent *spent);
	double flops, loads, stores; /* of a visit of all threads */
} kernels[] = {
	{"triad", run_triad, 2. * N, 16. * N, 8. * N},
	{"dgemm", run_dgemm, 2. * ORDER *ORDER *ORDER, 16. * ORDER *ORDER *ORDER,
	 8. * ORDER *ORDER},
	{"stencil", run_stencil, 4. * (GRID - 2) * (GRID - 2),
	 32. * (GRID - 2) * (GRID - 2), 8. * (GRID - 2) * (GRID - 2)},
	{"spmv", run_spmv, 2. * N *PER_ROW, 20. * N *PER_ROW + 8. * N, 8. * N},
};

static void fill(void)
{
	for (int i = 0; i < N; i++) {
		b[i] = 1;
		c[i] = 2;
		rows[i + 1] = (i + 1) * PER_ROW;
		for (int k = 0; k < PER_ROW; k++) {
			values[i * PER_ROW + k] = 0.5;
			columns[i * PER_ROW + k] = (i + k * 7) % N;
		}
	}
}

/* Returns whether QUIRK was asked for, and this is the run by translation. */
static int is(const char *quirk, const char *name)
{
	return quirk && !strcmp(quirk, name) && getenv("VALGRIND_LIB");
}

int main(int argc, char **argv)
{
	int visits = argc > 1 ? atoi(argv[1]) : 10;
	const char *quirk = argc > 2 ? argv[2] : NULL;

	fill();
	visits += is(quirk, "more");
	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
		struct spent spent = {0, 0, 1};
		double flops = kernels[k].flops * visits;

		if (!k && is(quirk, "none"))
			continue;
		for (int v = 0; v < visits; v++)
			kernels[k].run(&spent);
		printf("%s %.0f %.0f %.0f %d %.6g %.6g\n", kernels[k].name, flops,
		       kernels[k].loads * visits, kernels[k].stores * visits,
		       visits * spent.threads,
		       1e9 * flops * spent.threads / (double)spent.outside,
		       1e9 * flops * spent.threads / (double)spent.inside);
	}
	if (is(quirk, "fail"))
		fprintf(stderr, "this is not for translation\n");
	if (is(quirk, "crash"))
		abort();
	return is(quirk, "fail") || (quirk && !strcmp(quirk, "three")) ? 3 : 0;
}
