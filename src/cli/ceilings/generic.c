/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of a CPU family without a file of its own: C, as the compiler makes it. */
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <math.h>

#include "cli/ceilings/kernels.h"

#define CHAINS 8

/* The loops leave their results here, so that no compiler removes them. */
static volatile double sink;

/* Eight chains of OP, which gets the accumulator. X and Y come from memory that might change. */
#define ROUNDS(name, type, even, odd)                                                    \
	static void name(uint64_t rounds)                                                \
	{                                                                                \
		static volatile type one = 1, small = (type)1e-9;                        \
		const type y = one, x = small;                                           \
		type s0 = y, s1 = y, s2 = y, s3 = y, s4 = y, s5 = y, s6 = y, s7 = y;     \
                                                                                         \
		do {                                                                     \
			s0 = even(s0);                                                   \
			s1 = odd(s1);                                                    \
			s2 = even(s2);                                                   \
			s3 = odd(s3);                                                    \
			s4 = even(s4);                                                   \
			s5 = odd(s5);                                                    \
			s6 = even(s6);                                                   \
			s7 = odd(s7);                                                    \
		} while (--rounds);                                                      \
		(void)x;                                                                 \
		sink = (double)(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7);                  \
	}
#define ADD(s)	  ((s) + x)
#define MUL(s)	  ((s)*y)
#define FMA(s)	  fma(x, y, s)
#define FMA_SP(s) fmaf(x, y, s)

ROUNDS(dp_add_mul, double, ADD, MUL)
ROUNDS(sp_add_mul, float, ADD, MUL)
#ifdef FP_FAST_FMA
ROUNDS(dp_fma, double, FMA, FMA)
#define DP_FMA                                                                           \
	{                                                                                \
		dp_fma, 2 * CHAINS                                                       \
	}
#else
#define DP_FMA                                                                           \
	{                                                                                \
		NULL, 0                                                                  \
	}
#endif
#ifdef FP_FAST_FMAF
ROUNDS(sp_fma, float, FMA_SP, FMA_SP)
#define SP_FMA                                                                           \
	{                                                                                \
		sp_fma, 2 * CHAINS                                                       \
	}
#else
#define SP_FMA                                                                           \
	{                                                                                \
		NULL, 0                                                                  \
	}
#endif

static void load(double *a, const double *b, const double *c, size_t bytes)
{
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0;

	(void)b;
	(void)c;
	for (size_t i = 0; i < bytes / sizeof(*a); i += 8) {
		s0 += a[i] + a[i + 1];
		s1 += a[i + 2] + a[i + 3];
		s2 += a[i + 4] + a[i + 5];
		s3 += a[i + 6] + a[i + 7];
	}
	sink = s0 + s1 + s2 + s3;
}

static void copy(double *restrict a, const double *restrict b, const double *c,
		 size_t bytes)
{
	(void)c;
	for (size_t i = 0; i < bytes / sizeof(*a); i++)
		a[i] = b[i];
	__asm__ volatile("" : : "r"(a) : "memory");
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c,
		  size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*a); i++)
		a[i] = b[i] + 3 * c[i];
	__asm__ volatile("" : : "r"(a) : "memory");
}

const struct kernels kernels[] = {
	{64,
	 NULL,
	 NULL,
	 DP_FMA,
	 {dp_add_mul, CHAINS},
	 SP_FMA,
	 {sp_add_mul, CHAINS},
	 load,
	 copy,
	 triad},
};
const uint32_t kernels_count = sizeof(kernels) / sizeof(kernels[0]);
#else
typedef int kernels_are_elsewhere; /* ISO C wants a declaration in each file. */
#endif
