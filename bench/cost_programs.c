/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The programs of bench/cost_line: work of several kinds with short visits.
 *
 *     cost_programs KIND
 *
 * Each takes some 0.3 seconds without measuring.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/region.h>

#define ROUNDS(n) for (int round = 0; round < (n); round++)
#define CELLS	  256
#define WORDS	  (1u << 20)

static volatile double sum;
static double x[CELLS][8], y[CELLS][8], z[CELLS + 2];
static uint32_t *words;

/* Additions that wait for memory: a visit is executed beside them. */
static void adds(void)
{
	ROUNDS(10000000)
	{
		PERFMON_REGION_BEGIN("adds");
		for (int k = 0; k < 10; k++)
			sum += k;
		PERFMON_REGION_END("adds");
	}
}

/* Visits of a microsecond below one that takes all the time. */
static void steps(void)
{
	PERFMON_REGION_BEGIN("solve");
	ROUNDS(100000)
	{
		PERFMON_REGION_BEGIN("step");
		for (int k = 0; k < 1000; k++)
			sum += k;
		PERFMON_REGION_END("step");
	}
	PERFMON_REGION_END("solve");
}

static inline void derive(const double *a, const double *b, double *out)
{
	PERFMON_REGION_BEGIN("derive");
	for (int i = 0; i < 8; i++)
		out[i] = (a[i] - a[(i + 1) % 8]) * (b[(i + 2) % 8] - b[(i + 3) % 8]);
	PERFMON_REGION_END("derive");
}

static inline double norm(const double *a)
{
	double squares = 0;

	PERFMON_REGION_BEGIN("norm");
	for (int i = 0; i < 8; i++)
		squares += a[i] * a[i];
	PERFMON_REGION_END("norm");
	return squares;
}

/* Leaf functions, inlined. */
static void leaves(void)
{
	ROUNDS(100000)
	for (int i = 0; i < CELLS; i++) {
		double out[8];

		derive(x[i], y[i], out);
		z[i] += norm(out);
	}
}

/* The same below a region. */
static void inner(void)
{
	PERFMON_REGION_BEGIN("all");
	leaves();
	PERFMON_REGION_END("all");
}

/* Rows of a stencil. */
static void rows(void)
{
	PERFMON_REGION_BEGIN("sweeps");
	ROUNDS(4000000)
	{
		PERFMON_REGION_BEGIN("row");
		for (int i = 1; i <= CELLS; i++)
			x[i - 1][7] = z[i - 1] - 2 * z[i] + z[i + 1];
		PERFMON_REGION_END("row");
	}
	PERFMON_REGION_END("sweeps");
}

/* Blocks of 16 elements. */
static void blocks(void)
{
	double *a = &x[0][0], *b = &y[0][0];

	ROUNDS(1000000)
	for (int i = 0; i < 8 * CELLS; i += 64) {
		double squares = 0;

		PERFMON_REGION_BEGIN("block");
		for (int k = i; k < i + 16; k++) {
			b[k] = 0.5 * a[k] + 0.5 * b[k];
			squares += b[k] * b[k];
		}
		PERFMON_REGION_END("block");
		z[i / 8] += squares;
	}
}

/* Loads that miss the first caches, each of which needs the last one's value. */
static void chase(void)
{
	uint32_t at = 0;

	PERFMON_REGION_BEGIN("list");
	ROUNDS(20000000)
	{
		PERFMON_REGION_BEGIN("load");
		for (int k = 0; k < 4; k++)
			at = words[at];
		PERFMON_REGION_END("load");
	}
	PERFMON_REGION_END("list");
	sum += at;
}

/* Branches that no CPU predicts. */
static void guess(void)
{
	uint64_t number = 1, odd = 0;

	ROUNDS(12000000)
	{
		PERFMON_REGION_BEGIN("guess");
		for (int k = 0; k < 4; k++) {
			number = number * 6364136223846793005u + 1442695040888963407u;
			if (number >> 63)
				__asm__ volatile("" : "+r"(odd));
			else
				odd += number >> 40 & 3;
			if (number >> 62 & 1)
				sum += 1;
		}
		PERFMON_REGION_END("guess");
	}
	sum += (double)odd;
}

/* Independent integer operations, which leave a CPU no room for others. */
static void wide(void)
{
	uint32_t a = 1, b = 2, c = 3, d = 4;

	ROUNDS(30000000)
	{
		PERFMON_REGION_BEGIN("wide");
		for (int k = 0; k < 12; k++) {
			a += 3, b ^= a << 1, c -= 5, d ^= c >> 1;
			__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		}
		PERFMON_REGION_END("wide");
	}
	sum += a + b + c + d;
}

/* Three levels, of which the innermost does the work. */
static void levels(void)
{
	ROUNDS(5000000)
	{
		PERFMON_REGION_BEGIN("one");
		PERFMON_REGION_BEGIN("two");
		PERFMON_REGION_BEGIN("three");
		for (int k = 0; k < 20; k++)
			sum += k;
		PERFMON_REGION_END("three");
		PERFMON_REGION_END("two");
		PERFMON_REGION_END("one");
	}
}

/* Calls of the C library. */
static void library(void)
{
	ROUNDS(20000000)
	{
		PERFMON_REGION_BEGIN("library");
		sum += sin(round * 0.001) * exp(round * -1e-6);
		PERFMON_REGION_END("library");
	}
}

/* Copies, beside visits that are longer. */
static void copies(void)
{
	char *bytes = (char *)words;

	ROUNDS(15000)
	{
		PERFMON_REGION_BEGIN("clear");
		memset(bytes, round & 127, 1 << 18);
		PERFMON_REGION_END("clear");
		for (int k = 0; k < 1 << 18; k += 512) {
			PERFMON_REGION_BEGIN("copy");
			memcpy(bytes + (1 << 20) + k, bytes + k, 512);
			PERFMON_REGION_END("copy");
		}
	}
}

static const struct kind {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{"adds", adds}, {"steps", steps},   {"leaves", leaves},	  {"inner", inner},
	{"rows", rows}, {"blocks", blocks}, {"chase", chase},	  {"guess", guess},
	{"wide", wide}, {"levels", levels}, {"library", library}, {"copies", copies},
};

int main(int argc, char **argv)
{
	words = malloc(WORDS * sizeof(*words));
	if (!words || argc != 2)
		return 2;
	/* One cycle through the first 256 KiB. */
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = (i * 5 + 4099) % (1u << 16);
	for (int i = 0; i < CELLS; i++)
		for (int k = 0; k < 8; k++) {
			x[i][k] = i + k;
			y[i][k] = i - k;
		}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1])) {
			kinds[i].run();
			free(words);
			return 0;
		}
	fprintf(stderr, "cost_programs: no kind '%s'\n", argv[1]);
	return 2;
}
