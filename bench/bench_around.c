/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a region costs the code around it. The macros call a function where regions are armed.
 * So a compiler keeps no value in a caller-saved register across them, and across a BEGIN or
 * END it joins no vector code, whether regions are armed or not. Each kernel is compiled with
 * regions and without, and runs disarmed: the difference is the pairs and what they disturb.
 *
 *	leaf	a leaf function of some 50 floating-point operations, inlined, two regions
 *	part	forces on a particle from its neighbours, a region in each interaction
 *	row	a row of a stencil, one region around it
 *	block	a vector of doubles in blocks of 16, a region around each block
 */
#include <stdio.h>

#include "bench.h"

#define CELLS 256
#define NEAR  16
#define BLOCK 16

static double x[CELLS][8], y[CELLS][8], z[CELLS + 2];
static double from[CELLS], to[CELLS];

#define NONE(name) ((void)0)

#define KERNELS(suffix, BEGIN, END)                                                      \
	static inline void cross_##suffix(const double *a, const double *b, double *out) \
	{                                                                                \
		double f0 = a[0] - a[1], f1 = a[2] - a[3], f2 = a[4] - a[5];             \
		double g0 = b[0] - b[1], g1 = b[2] - b[3], g2 = b[4] - b[5];             \
                                                                                         \
		BEGIN("cross");                                                          \
		out[0] = f0 * g1 - f1 * g0;                                              \
		out[1] = f1 * g2 - f2 * g1;                                              \
		out[2] = f2 * g0 - f0 * g2;                                              \
		out[3] = f0 * g2;                                                        \
		END("cross");                                                            \
	}                                                                                \
	static inline double norm_##suffix(const double *a)                              \
	{                                                                                \
		double sum = 0;                                                          \
                                                                                         \
		BEGIN("norm");                                                           \
		for (int i = 0; i < 4; i++)                                              \
			sum += a[i] * a[i];                                              \
		END("norm");                                                             \
		return sum;                                                              \
	}                                                                                \
	__attribute__((noinline)) static void leaf_##suffix(int n)                       \
	{                                                                                \
		for (int round = 0; round < n; round++)                                  \
			for (int i = 0; i < CELLS; i++) {                                \
				double out[4];                                           \
                                                                                         \
				cross_##suffix(x[i], y[i], out);                         \
				z[i] += norm_##suffix(out);                              \
			}                                                                \
	}                                                                                \
	__attribute__((noinline)) static void part_##suffix(int n)                       \
	{                                                                                \
		for (int round = 0; round < n; round++)                                  \
			for (int i = 0; i < CELLS; i++) {                                \
				double force = 0, energy = 0, at = x[i][0];              \
                                                                                         \
				for (int k = 0; k < NEAR; k++) {                         \
					double d = at - y[(i + k) % CELLS][0] + 1.5;     \
                                                                                         \
					BEGIN("pair");                                   \
					force += d * d * at;                             \
					energy += d + force;                             \
					END("pair");                                     \
				}                                                        \
				z[i] += force - energy;                                  \
			}                                                                \
	}                                                                                \
	__attribute__((noinline)) static void row_##suffix(int n)                        \
	{                                                                                \
		for (int round = 0; round < n; round++) {                                \
			BEGIN("row");                                                    \
			for (int i = 1; i <= CELLS; i++)                                 \
				x[i - 1][7] = z[i - 1] - 2 * z[i] + z[i + 1];            \
			END("row");                                                      \
		}                                                                        \
	}                                                                                \
	__attribute__((noinline)) static void block_##suffix(int n)                      \
	{                                                                                \
		for (int round = 0; round < n; round++)                                  \
			for (int i = 0; i < CELLS; i += BLOCK) {                         \
				double sum = 0;                                          \
                                                                                         \
				BEGIN("block");                                          \
				for (int k = i; k < i + BLOCK; k++) {                    \
					to[k] = 0.5 * from[k] + 0.5 * to[k];             \
					sum += to[k] * to[k];                            \
				}                                                        \
				END("block");                                            \
				z[i] += sum;                                             \
			}                                                                \
	}
KERNELS(without, NONE, NONE)
KERNELS(with, PERFMON_REGION_BEGIN, PERFMON_REGION_END)

/* Prints the instructions of an element without regions, and what disarmed regions add. */
static void print(const char *name, bench_work *without, bench_work *with,
		  double elements)
{
	double plain = bench_user(without, NULL, 4) / elements;
	double added = bench_user(with, without, 4) / elements;
	char text[40];

	snprintf(text, sizeof(text), "around.%s.without", name);
	bench_print(text, plain, bench_unit());
	snprintf(text, sizeof(text), "around.%s.added", name);
	bench_print(text, added, bench_unit());
}

int main(void)
{
	perfmon_region_disarm();
	for (int i = 0; i < CELLS; i++) {
		from[i] = i;
		for (int k = 0; k < 8; k++) {
			x[i][k] = i + k;
			y[i][k] = i - k;
		}
	}
	print("leaf", leaf_without, leaf_with, CELLS);
	print("part", part_without, part_with, CELLS);
	print("row", row_without, row_with, 1);
	print("block", block_without, block_with, CELLS / BLOCK);
	return 0;
}
