/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of instructions whose counts are known to the instruction. Each CPU family has a
 * file of its own; a family without one has no blocks. A block is a loop. What stands
 * around the loop is the same for each number of turns.
 */
#ifndef PM_CLI_TRUTH_BLOCKS_H
#define PM_CLI_TRUTH_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Events count one of these. */
enum truth_work {
	TRUTH_INSTRUCTIONS,
	TRUTH_CYCLES,
	TRUTH_BRANCHES,
	TRUTH_TAKEN,
	TRUTH_NOT_TAKEN,
	TRUTH_CONDITIONAL,
	TRUTH_MISPREDICTED, /* not known to the instruction */
	TRUTH_LOADS,
	TRUTH_STORES,
	TRUTH_LOADS_STORES,
	/* Floating-point instructions; one that multiplies and adds counts twice. */
	TRUTH_SCALAR_SP,
	TRUTH_SCALAR_DP,
	TRUTH_128_SP,
	TRUTH_128_DP,
	TRUTH_256_SP,
	TRUTH_256_DP,
	/* Floating-point instructions, each once. */
	TRUTH_FP_SCALAR,
	TRUTH_FP_VECTOR,
	/* Operations: of each element, and two to multiply and add. */
	TRUTH_FLOPS,
	TRUTH_SP_FLOPS,
	TRUTH_DP_FLOPS,
	TRUTH_UNKNOWN_WORK
};

struct truth_block {
	const char *name;
	void (*run)(uint64_t turns, void *memory);
	bool (*is_there)(void); /* NULL: on all CPUs of the family */
	/* In each turn: */
	uint32_t instructions, branches, taken, not_taken, loads, stores;
	uint32_t jumps;	      /* of the branches, those that are not conditional */
	uint32_t fp;	      /* floating-point instructions, of FP_BITS, 32 or 64 each */
	uint32_t vector_bits; /* of their registers; 0: scalars */
	uint32_t fp_bits;
	bool multiplies_and_adds;
	/* Instructions of a chain in which each needs the one before. It takes a cycle for
	 * each of them, or more; 0: nothing is known of the cycles. */
	uint32_t chain;
	const uintptr_t *chain_ends; /* the addresses of its first instruction, and behind
					the loop */
	/* Half of the turns go another way, at random, with the same counts. What happened
	 * on the way that was not taken is speculation. */
	bool misleads;
};

extern const struct truth_block truth_blocks[];
extern const size_t truth_block_count;

/* Runs BLOCK. Does nothing on a family without blocks. */
void truth_block_run(const struct truth_block *block, uint64_t turns);

/* Stores the least and the most WORK of a turn of BLOCK. Returns false if it is unknown. */
bool truth_block_work(const struct truth_block *block, enum truth_work work,
		      double *least, double *most);

#endif
