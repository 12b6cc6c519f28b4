/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The blocks of riscv64 with double precision. addi and bnez, two instructions, close each
 * loop. */
#ifndef PM_CLI_TRUTH_BLOCKS_RISCV64_H
#define PM_CLI_TRUTH_BLOCKS_RISCV64_H

#define BEFORE	  "li t0, 0\n\tli t1, 0\n\tfmv.d.x ft0, zero\n\tfmv.d.x ft1, zero\n\t"
#define CLOBBERED "t0", "t1", "t2", "ft0", "ft1", "memory"
/* N is a number, for .rept. */
#define BLOCK(name, n, instruction, after)                                               \
	static void name(uint64_t turns, void *memory)                                   \
	{                                                                                \
		__asm__ __volatile__(BEFORE "\n1:\n\t" REPEAT(                           \
					     n, instruction) "addi %0, %0, -1\n\tbnez "  \
							     "%0, 1b\n3:\n\t" after      \
				     : "+r"(turns)                                       \
				     : "r"(memory)                                       \
				     : CLOBBERED);                                       \
	}

BLOCK(add, 1000, "add t0, t0, t1", ENDS)
BLOCK(load, 100, "ld t0, 0(%1)", "")
BLOCK(store, 100, "sd t0, 0(%1)", "")
BLOCK(jump, 100, "j 2f\n2:", "")
/* t1 is 0. */
BLOCK(pass, 100, "bnez t1, 3f", "")
BLOCK(scalar_sp, 100, "fadd.s ft0, ft0, ft1", "")
BLOCK(scalar_dp, 100, "fadd.d ft0, ft0, ft1", "")
BLOCK(fma_scalar, 100, "fmadd.d ft0, ft1, ft1, ft0", "")

/* 4 loads, 2 stores, 2 additions and a jump: 9 instructions. */
#define WAY                                                                              \
	REPEAT(4, "ld t0, 0(%1)")                                                        \
	REPEAT(2, "sd t0, 8(%1)") REPEAT(2, "fadd.d ft0, ft0, ft1") "j 3f\n\t"
#define SHIFT(to, by) to " t2, t1, " by "\n\txor t1, t1, t2\n\t"

/* A bit of a xorshift generator chooses the way. */
static void mislead(uint64_t turns, void *memory)
{
	__asm__ __volatile__(
		BEFORE "li t1, 0x7f4a7c15\n1:\n\t" SHIFT("slli", "13") SHIFT("srli", "7")
			SHIFT("slli", "17") "andi t2, t1, 1\n\tbnez t2, 2f\n\t" WAY
					    "2:\n\t" WAY
					    "3:\n\taddi %0, %0, -1\n\tbnez %0, 1b"
		: "+r"(turns)
		: "r"(memory)
		: CLOBBERED);
}

const struct truth_block truth_blocks[] = {
	SIMPLE,
	{"branches not taken", pass, .instructions = 102, .branches = 101, .taken = 1,
	 .not_taken = 100},
	{"scalar SP", scalar_sp, FP(32, 0)},
	{"scalar DP", scalar_dp, FP(64, 0)},
	{"scalar FMA DP", fma_scalar, FP(64, 0), .multiplies_and_adds = true},
	{"mispredicted branches", mislead, .instructions = 19, .branches = 3, .jumps = 1,
	 .loads = 4, .stores = 2, .fp = 2, .fp_bits = 64, .misleads = true},
};
#endif
