/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of arm64. subs and b.ne, two instructions, close each loop. */
#ifndef PM_CLI_TRUTH_BLOCKS_AARCH64_H
#define PM_CLI_TRUTH_BLOCKS_AARCH64_H

#define BEFORE	  "mov x9, #0\n\tmov x10, #0\n\tmovi v0.2d, #0\n\tmovi v1.2d, #0\n\t"
#define CLOBBERED "x9", "x10", "v0", "v1", "cc", "memory"
/* N is a number, for .rept. */
#define BLOCK(name, n, instruction, after)                                               \
	static void name(uint64_t turns, void *memory)                                   \
	{                                                                                \
		__asm__ __volatile__(                                                    \
			BEFORE "\n1:\n\t" REPEAT(                                        \
				n,                                                       \
				instruction) "subs %0, %0, #1\n\tb.ne 1b\n3:\n\t" after  \
			: "+r"(turns)                                                    \
			: "r"(memory)                                                    \
			: CLOBBERED);                                                    \
	}

BLOCK(add, 1000, "add x9, x9, x10", ENDS)
BLOCK(load, 100, "ldr x9, [%1]", "")
BLOCK(store, 100, "str x9, [%1]", "")
BLOCK(jump, 100, "b 2f\n2:", "")
/* x10 is 0. */
BLOCK(pass, 100, "cbnz x10, 3f", "")
BLOCK(scalar_sp, 100, "fadd s0, s0, s1", "")
BLOCK(scalar_dp, 100, "fadd d0, d0, d1", "")
BLOCK(vector_sp, 100, "fmul v0.4s, v0.4s, v1.4s", "")
BLOCK(vector_dp, 100, "fmul v0.2d, v0.2d, v1.2d", "")
BLOCK(fma_scalar, 100, "fmadd d0, d1, d1, d0", "")
BLOCK(fma_vector, 100, "fmla v0.4s, v1.4s, v1.4s", "")

/* 4 loads, 2 stores, 2 additions and a branch: 9 instructions. */
#define WAY                                                                              \
	REPEAT(4, "ldr x9, [%1]")                                                        \
	REPEAT(2, "str x9, [%1, #8]") REPEAT(2, "fadd d0, d0, d1") "b 3f\n\t"

/* A bit of a xorshift generator chooses the way. */
static void mislead(uint64_t turns, void *memory)
{
	__asm__ __volatile__(BEFORE "mov x10, #0x7c15\n\tmovk x10, #0x9e37, lsl #32\n"
				    "1:\n\teor x10, x10, x10, lsl #13\n\t"
				    "eor x10, x10, x10, lsr #7\n\t"
				    "eor x10, x10, x10, lsl #17\n\t"
				    "tbnz x10, #0, 2f\n\t" WAY "2:\n\t" WAY
				    "3:\n\tsubs %0, %0, #1\n\tb.ne 1b"
			     : "+r"(turns)
			     : "r"(memory)
			     : CLOBBERED);
}

#define FMA .multiplies_and_adds = true

const struct truth_block truth_blocks[] = {
	SIMPLE,
	{"branches not taken", pass, .instructions = 102, .branches = 101, .taken = 1,
	 .not_taken = 100},
	{"scalar SP", scalar_sp, FP(32, 0)},
	{"scalar DP", scalar_dp, FP(64, 0)},
	{"128-bit SP", vector_sp, FP(32, 128)},
	{"128-bit DP", vector_dp, FP(64, 128)},
	{"scalar FMA DP", fma_scalar, FP(64, 0), FMA},
	{"128-bit FMA SP", fma_vector, FP(32, 128), FMA},
	{"mispredicted branches", mislead, .instructions = 15, .branches = 3, .jumps = 1,
	 .loads = 4, .stores = 2, .fp = 2, .fp_bits = 64, .misleads = true},
};
#endif
