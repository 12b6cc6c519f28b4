/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of x86-64. sub and jnz, two instructions, close each loop. */
#ifndef PM_CLI_TRUTH_BLOCKS_X86_64_H
#define PM_CLI_TRUTH_BLOCKS_X86_64_H

/* N is a number, for .rept. */
#define BLOCK(name, n, before, instruction, after)                                       \
	static void name(uint64_t turns, void *memory)                                   \
	{                                                                                \
		__asm__ __volatile__(                                                    \
			before "\n1:\n\t" REPEAT(                                        \
				n, instruction) "sub $1, %0\n\tjnz 1b\n3:\n\t" after     \
			: "+r"(turns)                                                    \
			: "r"(memory)                                                    \
			: "rcx", "rdx", "xmm0", "xmm1", "cc", "memory");                 \
	}
#define NUMBERS	 "xorps %%xmm0, %%xmm0\n\txorps %%xmm1, %%xmm1\n\txor %%ecx, %%ecx\n\t"
#define INTEGERS "xor %%ecx, %%ecx\n\txor %%edx, %%edx\n\t"
#define UPPER	 "vzeroupper\n\t"

/* Registers alone: CPUs execute additions of constants ahead of time. */
BLOCK(add, 1000, INTEGERS, "add %%rcx, %%rdx", ENDS)
BLOCK(load, 100, INTEGERS, "mov (%1), %%rdx", "")
BLOCK(store, 100, INTEGERS, "mov %%rdx, (%1)", "")
BLOCK(jump, 100, INTEGERS, "jmp 2f\n2:", "")
/* rcx is 0. */
BLOCK(pass, 50, INTEGERS, "test %%ecx, %%ecx\n\tjnz 3f", "")
BLOCK(scalar_sp, 100, NUMBERS, "addss %%xmm1, %%xmm0", "")
BLOCK(scalar_dp, 100, NUMBERS, "addsd %%xmm1, %%xmm0", "")
BLOCK(sse_sp, 100, NUMBERS, "mulps %%xmm1, %%xmm0", "")
BLOCK(sse_dp, 100, NUMBERS, "mulpd %%xmm1, %%xmm0", "")
BLOCK(avx_sp, 100, NUMBERS UPPER, "vaddps %%ymm1, %%ymm0, %%ymm0", UPPER)
BLOCK(avx_dp, 100, NUMBERS UPPER, "vaddpd %%ymm1, %%ymm0, %%ymm0", UPPER)
BLOCK(fma_scalar, 100, NUMBERS UPPER, "vfmadd231sd %%xmm1, %%xmm1, %%xmm0", UPPER)
BLOCK(fma_vector, 100, NUMBERS UPPER, "vfmadd231ps %%ymm1, %%ymm1, %%ymm0", UPPER)

/* 4 loads, 2 stores, 2 additions and a jump: 9 instructions. */
#define WAY                                                                              \
	REPEAT(4, "mov (%1), %%rdx")                                                     \
	REPEAT(2, "mov %%rdx, 8(%1)") REPEAT(2, "addsd %%xmm1, %%xmm0") "jmp 3f\n\t"
#define SHIFT(to, by) "mov %%rcx, %%rdx\n\t" to " $" by ", %%rdx\n\txor %%rdx, %%rcx\n\t"

/* A bit of a xorshift generator chooses the way. */
static void mislead(uint64_t turns, void *memory)
{
	__asm__ __volatile__(NUMBERS "movabs $0x9e3779b97f4a7c15, %%rcx\n1:\n\t" SHIFT(
				     "shl", "13") SHIFT("shr", "7")
				     SHIFT("shl", "17") "test $1, %%cl\n\tjnz 2f\n\t" WAY
							"2:\n\t" WAY
							"3:\n\tsub $1, %0\n\tjnz 1b\n\t"
			     : "+r"(turns)
			     : "r"(memory)
			     : "rcx", "rdx", "xmm0", "xmm1", "cc", "memory");
}

static bool has_avx(void)
{
	return __builtin_cpu_supports("avx");
}

static bool has_fma(void)
{
	return has_avx() && __builtin_cpu_supports("fma");
}

#define FMA .multiplies_and_adds = true, .is_there = has_fma

const struct truth_block truth_blocks[] = {
	SIMPLE,
	{"branches not taken", pass, .instructions = 102, .branches = 51, .taken = 1,
	 .not_taken = 50},
	{"scalar SP", scalar_sp, FP(32, 0)},
	{"scalar DP", scalar_dp, FP(64, 0)},
	{"128-bit SP", sse_sp, FP(32, 128)},
	{"128-bit DP", sse_dp, FP(64, 128)},
	{"256-bit SP", avx_sp, FP(32, 256), .is_there = has_avx},
	{"256-bit DP", avx_dp, FP(64, 256), .is_there = has_avx},
	{"scalar FMA DP", fma_scalar, FP(64, 0), FMA},
	{"256-bit FMA SP", fma_vector, FP(32, 256), FMA},
	{"mispredicted branches", mislead, .instructions = 22, .branches = 3, .jumps = 1,
	 .loads = 4, .stores = 2, .fp = 2, .fp_bits = 64, .misleads = true},
};
#endif
