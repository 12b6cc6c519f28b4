/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of x86-64: scalar and SSE2, which all CPUs have, AVX, and AVX-512. */
#if defined(__x86_64__)
#include "cli/ceilings/kernels.h"

/* Accumulators are multiplied by the first of each pair, and the second is added to them. */
static const double dp[2][8] __attribute__((aligned(64))) = {
	{1, 1, 1, 1, 1, 1, 1, 1}, {1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9}};
static const float sp[2][16] __attribute__((aligned(64))) = {
	{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	{1e-9f, 1e-9f, 1e-9f, 1e-9f, 1e-9f, 1e-9f, 1e-9f, 1e-9f, 1e-9f, 1e-9f, 1e-9f,
	 1e-9f, 1e-9f, 1e-9f, 1e-9f, 1e-9f}};

#define VECTORS                                                                          \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",  \
		"xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

/*
 * --- operations -----------------------------------------------------------------------
 *
 * Twelve chains: two units with a latency of at most six cycles, or four with three, are busy
 * all the time. Register 12 is the factor, and 13 what is added.
 */
#define CHAINS 12
#define EVEN   "0,2,4,6,8,10"
#define ODD    "1,3,5,7,9,11"

#define ROUNDS(name, kind, move, even, odd, constants, after)                            \
	static void name(uint64_t rounds)                                                \
	{                                                                                \
		__asm__ volatile(                                                        \
			EACH(EVEN "," ODD ",12", move " (%[from]), %%" kind "\\n") move  \
			" 64(%[from]), %%" kind "13\n\t"                                 \
			".p2align 5\n1:\n\t" EACH(EVEN, even) EACH(ODD, odd) EACH(EVEN,  \
										  even)  \
				EACH(ODD, odd) "dec %[rounds]\n\tjnz 1b\n\t" after       \
			: [rounds] "+r"(rounds)                                          \
			: [from] "r"(constants)                                          \
			: VECTORS, "cc", "memory");                                      \
	}

#define FMA(kind, suffix) "vfmadd231" suffix " %%" kind "13, %%" kind "12, %%" kind "\\n"
#define AVX(op, from, kind, suffix)                                                      \
	op suffix " %%" kind from ", %%" kind "\\n, %%" kind "\\n"

#define SSE_FLOPS(name, suffix, constants)                                               \
	ROUNDS(name##_fma, "xmm", "vmovaps", FMA("xmm", suffix), FMA("xmm", suffix),     \
	       constants, "")                                                            \
	ROUNDS(name##_add_mul, "xmm", "movaps", "add" suffix " %%xmm13, %%xmm\\n",       \
	       "mul" suffix " %%xmm12, %%xmm\\n", constants, "")
#define AVX_FLOPS(name, kind, suffix, constants)                                         \
	ROUNDS(name##_fma, kind, "vmovups", FMA(kind, suffix), FMA(kind, suffix),        \
	       constants, "vzeroupper")                                                  \
	ROUNDS(name##_add_mul, kind, "vmovups", AVX("vadd", "13", kind, suffix),         \
	       AVX("vmul", "12", kind, suffix), constants, "vzeroupper")

SSE_FLOPS(scalar_dp, "sd", dp)
SSE_FLOPS(scalar_sp, "ss", sp)
SSE_FLOPS(sse_dp, "pd", dp)
SSE_FLOPS(sse_sp, "ps", sp)
AVX_FLOPS(avx_dp, "ymm", "pd", dp)
AVX_FLOPS(avx_sp, "ymm", "ps", sp)
AVX_FLOPS(avx512_dp, "zmm", "pd", dp)
AVX_FLOPS(avx512_sp, "zmm", "ps", sp)

/*
 * --- memory ---------------------------------------------------------------------------
 *
 * Four or eight vectors in a round. Addresses are a register and a distance: stores with an
 * index cannot use all units of some CPUs.
 */
#define PASS(name, before, body, step_a, step_b, step_c, after)                          \
	static void name(double *a, const double *b, const double *c, size_t bytes)      \
	{                                                                                \
		static const double scale[2] __attribute__((aligned(16))) = {3, 3};      \
                                                                                         \
		__asm__ volatile(                                                        \
			before ".p2align 5\n1:\n\t" body "add $" step_a                  \
			       ", %[a]\n\tadd $" step_b ", %[b]\n\tadd $" step_c         \
			       ", %[c]\n\tsub $" step_a ", %[bytes]\n\tjnz 1b\n\t" after \
			: [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [bytes] "+r"(bytes)     \
			: [scale] "r"(scale)                                             \
			: VECTORS, "cc", "memory");                                      \
	}

/* Vector N of an array. */
#define AT(array, size) " \\n*" size "(%[" array "])"

#define PASSES(name, move, kind, size, four, eight, triad, before, after)                \
	PASS(name##_load, "",                                                            \
	     EACH("0,1,2,3,4,5,6,7", move AT("a", size) ", %%" kind "\\n"), eight, "0",  \
	     "0", after)                                                                 \
	PASS(name##_copy, "",                                                            \
	     EACH("0,1,2,3", move AT("b", size) ", %%" kind "\\n\n\t" move " %%" kind    \
						"\\n," AT("a", size)),                   \
	     four, four, "0", after)                                                     \
	PASS(name##_triad, before,                                                       \
	     EACH("0,1,2,3", triad "\n\t" move " %%" kind "\\n," AT("a", size)), four,   \
	     four, four, after)

#define SSE_TRIAD(move, suffix, size)                                                    \
	move AT("c", size) ", %%xmm\\n\n\tmul" suffix                                    \
			   " %%xmm15, %%xmm\\n\n\tadd" suffix AT("b", size) ", %%xmm\\n"
#define AVX_TRIAD(kind, size)                                                            \
	"vmulpd" AT("c", size) ", %%" kind "15, %%" kind                                 \
			       "\\n\n\tvaddpd" AT("b", size) ", %%" kind "\\n, %%" kind  \
							     "\\n"

PASSES(scalar, "movsd", "xmm", "8", "32", "64", SSE_TRIAD("movsd", "sd", "8"),
       "movapd (%[scale]), %%xmm15\n\t", "")
PASSES(sse, "movapd", "xmm", "16", "64", "128", SSE_TRIAD("movapd", "pd", "16"),
       "movapd (%[scale]), %%xmm15\n\t", "")
PASSES(avx, "vmovapd", "ymm", "32", "128", "256", AVX_TRIAD("ymm", "32"),
       "vbroadcastsd (%[scale]), %%ymm15\n\t", "vzeroupper")
PASSES(avx512, "vmovapd", "zmm", "64", "256", "512", AVX_TRIAD("zmm", "64"),
       "vbroadcastsd (%[scale]), %%zmm15\n\t", "vzeroupper")

/* --- what this CPU has, and the kernel keeps -------------------------------------------- */

static bool has_fma(void)
{
	return __builtin_cpu_supports("fma");
}

static bool has_avx(void)
{
	return __builtin_cpu_supports("avx");
}

static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

const struct kernels kernels[] = {
	{64, NULL, has_fma, FLOPS(scalar_dp, 1), FLOPS(scalar_sp, 1), scalar_load,
	 scalar_copy, scalar_triad},
	{128, NULL, has_fma, FLOPS(sse_dp, 2), FLOPS(sse_sp, 4), sse_load, sse_copy,
	 sse_triad},
	{256, has_avx, has_fma, FLOPS(avx_dp, 4), FLOPS(avx_sp, 8), avx_load, avx_copy,
	 avx_triad},
	{512, has_avx512, NULL, FLOPS(avx512_dp, 8), FLOPS(avx512_sp, 16), avx512_load,
	 avx512_copy, avx512_triad},
};
const uint32_t kernels_count = sizeof(kernels) / sizeof(kernels[0]);
#else
typedef int kernels_are_elsewhere; /* ISO C wants a declaration in each file. */
#endif
