/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of arm64: scalar and Advanced SIMD (NEON), which all CPUs have. */
#if defined(__aarch64__)
#include "cli/ceilings/kernels.h"

/* Accumulators are multiplied by the first of each pair, and the second is added to them. */
static const double dp[2][2] __attribute__((aligned(16))) = {{1, 1}, {1e-9, 1e-9}};
static const float sp[2][4]
	__attribute__((aligned(16))) = {{1, 1, 1, 1}, {1e-9f, 1e-9f, 1e-9f, 1e-9f}};

#define VECTORS                                                                          \
	"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", \
		"v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22",    \
		"v23", "v30", "v31"

/*
 * --- operations -----------------------------------------------------------------------
 *
 * Twenty-four chains: four units with a latency of at most six cycles are busy all the time.
 * Register 30 is the factor, and 31 what is added.
 */
#define CHAINS 24
#define EVEN   "0,2,4,6,8,10,12,14,16,18,20,22"
#define ODD    "1,3,5,7,9,11,13,15,17,19,21,23"

#define ROUNDS(name, even, odd, constants)                                               \
	static void name(uint64_t rounds)                                                \
	{                                                                                \
		__asm__ volatile(                                                        \
			EACH(EVEN "," ODD ",30",                                         \
			     "ldr q\\n, [%[from]]") "ldr q31, [%[from], "                \
						    "#16]\n\t.p2align "                  \
						    "5\n1:\n\t" EACH(EVEN, even) EACH(   \
							    ODD, odd) EACH(EVEN, even)   \
							    EACH(ODD, odd) "subs "       \
									   "%[rounds],"  \
									   " %[rounds]"  \
									   ", "          \
									   "#1\n\tb."    \
									   "ne 1b\n\t"   \
			: [rounds] "+r"(rounds)                                          \
			: [from] "r"(constants)                                          \
			: VECTORS, "cc", "memory");                                      \
	}

#define VECTOR_FMA(of) "fmla v\\n\\()" of ", v30" of ", v31" of
#define VECTOR_FLOPS(name, of, constants)                                                \
	ROUNDS(name##_fma, VECTOR_FMA(of), VECTOR_FMA(of), constants)                    \
	ROUNDS(name##_add_mul, "fadd v\\n\\()" of ", v\\n\\()" of ", v31" of,            \
	       "fmul v\\n\\()" of ", v\\n\\()" of ", v30" of, constants)
#define SCALAR_FMA(r) "fmadd " r "\\n, " r "30, " r "31, " r "\\n"
#define SCALAR_FLOPS(name, r, constants)                                                 \
	ROUNDS(name##_fma, SCALAR_FMA(r), SCALAR_FMA(r), constants)                      \
	ROUNDS(name##_add_mul, "fadd " r "\\n, " r "\\n, " r "31",                       \
	       "fmul " r "\\n, " r "\\n, " r "30", constants)

SCALAR_FLOPS(scalar_dp, "d", dp)
SCALAR_FLOPS(scalar_sp, "s", sp)
VECTOR_FLOPS(neon_dp, ".2d", dp)
VECTOR_FLOPS(neon_sp, ".4s", sp)

/* --- memory: pairs of vectors, as compilers make them -------------------------------- */

#define PASS(name, body, step_a, step_b, step_c)                                         \
	static void name(double *a, const double *b, const double *c, size_t bytes)      \
	{                                                                                \
		__asm__ volatile(                                                        \
			"fmov v31.2d, #3.0\n\t.p2align 5\n1:\n\t" body                   \
			"add %[a], %[a], #" step_a "\n\t"                                \
			"add %[b], %[b], #" step_b "\n\t"                                \
			"add %[c], %[c], #" step_c "\n\t"                                \
			"subs %[bytes], %[bytes], #" step_a "\n\tb.ne 1b\n\t"            \
			: [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [bytes] "+r"(bytes)     \
			:                                                                \
			: VECTORS, "cc", "memory");                                      \
	}

/* Vectors N and N + 1, which registers N and M have. */
#define PAIR(what, r, n, m, array, size)                                                 \
	what " " r n ", " r m ", [%[" array "], #" n "*" size "]\n\t"
#define TRIAD_PAIR(r, n, m, cn, cm, size, fma)                                           \
	PAIR("ldp", r, n, m, "b", size)                                                  \
	"ldp " r cn ", " r cm ", [%[c], #" n "*" size "]\n\t" fma(n, cn) fma(m, cm)      \
		PAIR("stp", r, n, m, "a", size)
#define VECTOR_TRIAD(to, from) "fmla v" to ".2d, v" from ".2d, v31.2d\n\t"
#define SCALAR_TRIAD(to, from) "fmadd d" to ", d" from ", d31, d" to "\n\t"

#define PASSES(name, r, size, four, eight, fma)                                          \
	PASS(name##_load,                                                                \
	     PAIR("ldp", r, "0", "1", "a", size) PAIR("ldp", r, "2", "3", "a", size)     \
		     PAIR("ldp", r, "4", "5", "a", size)                                 \
			     PAIR("ldp", r, "6", "7", "a", size),                        \
	     eight, "0", "0")                                                            \
	PASS(name##_copy,                                                                \
	     PAIR("ldp", r, "0", "1", "b", size) PAIR("ldp", r, "2", "3", "b", size)     \
		     PAIR("stp", r, "0", "1", "a", size)                                 \
			     PAIR("stp", r, "2", "3", "a", size),                        \
	     four, four, "0")                                                            \
	PASS(name##_triad,                                                               \
	     TRIAD_PAIR(r, "0", "1", "4", "5", size, fma)                                \
		     TRIAD_PAIR(r, "2", "3", "6", "7", size, fma),                       \
	     four, four, four)

PASSES(scalar, "d", "8", "32", "64", SCALAR_TRIAD)
PASSES(neon, "q", "16", "64", "128", VECTOR_TRIAD)

const struct kernels kernels[] = {
	{64, NULL, NULL, FLOPS(scalar_dp, 1), FLOPS(scalar_sp, 1), scalar_load,
	 scalar_copy, scalar_triad},
	{128, NULL, NULL, FLOPS(neon_dp, 2), FLOPS(neon_sp, 4), neon_load, neon_copy,
	 neon_triad},
};
const uint32_t kernels_count = sizeof(kernels) / sizeof(kernels[0]);
#else
typedef int kernels_are_elsewhere; /* ISO C wants a declaration in each file. */
#endif
