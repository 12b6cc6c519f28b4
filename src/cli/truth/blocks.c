/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/truth/blocks.h"

/* The header of a family defines BLOCK(name, n, ..., instruction, after), and with it the blocks of
 * SIMPLE and its own. Two instructions close each loop. */
#define TEXT_(n)	       #n
#define TEXT(n)		       TEXT_(n)
#define REPEAT(n, instruction) ".rept " TEXT(n) "\n\t" instruction "\n\t.endr\n\t"

/* Stores the addresses of the loop's ends. */
#define ENDS                                                                             \
	".pushsection .data\n\t.balign 8\ntruth_chain_ends:\n\t.8byte 1b, 3b\n\t"        \
	".popsection\n\t"
extern const uintptr_t truth_chain_ends[2] __attribute__((visibility("hidden")));

#define LOOP	 .branches = 1, .taken = 1
#define FP(n, v) LOOP, .instructions = 102, .fp = 100, .fp_bits = (n), .vector_bits = (v)
/* clang-format off */
#define SIMPLE                                                                           \
	{"additions", add, LOOP, .instructions = 1002, .chain = 1000,                    \
	 .chain_ends = truth_chain_ends},                                                \
	{"loads", load, LOOP, .instructions = 102, .loads = 100},                        \
	{"stores", store, LOOP, .instructions = 102, .stores = 100},                     \
	{"branches taken", jump, .instructions = 102, .branches = 101, .taken = 101,     \
	 .jumps = 100}
/* clang-format on */

#if defined(__x86_64__)
#include "cli/truth/blocks_x86_64.h"
#elif defined(__aarch64__)
#include "cli/truth/blocks_aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_flen) &&                 \
	__riscv_flen >= 64
#include "cli/truth/blocks_riscv64.h"
#else
#include "cli/truth/blocks_generic.h"
#endif

#ifndef BLOCKS
#define BLOCKS (sizeof(truth_blocks) / sizeof(truth_blocks[0]))
#endif
const size_t truth_block_count = BLOCKS;

void truth_block_run(const struct truth_block *block, uint64_t turns)
{
	/* The blocks load from it and store to it. */
	static unsigned char memory[64] __attribute__((aligned(64)));

	if (block->run)
		block->run(turns, memory);
}

static bool work_of_fp(const struct truth_block *block, enum truth_work work,
		       double *count)
{
	static const struct {
		uint32_t vector_bits, fp_bits;
	} kinds[] = {{0, 32}, {0, 64}, {128, 32}, {128, 64}, {256, 32}, {256, 64}};
	uint32_t times = block->multiplies_and_adds ? 2 : 1;

	*count = 0;
	if (work == TRUTH_FLOPS || (work == TRUTH_SP_FLOPS && block->fp_bits == 32) ||
	    (work == TRUTH_DP_FLOPS && block->fp_bits == 64)) {
		uint32_t lanes = block->vector_bits && block->fp
					 ? block->vector_bits / block->fp_bits
					 : 1;

		*count = (double)block->fp * times * lanes;
	} else if (work == TRUTH_FP_SCALAR || work == TRUTH_FP_VECTOR) {
		if (!block->vector_bits == (work == TRUTH_FP_SCALAR))
			*count = block->fp;
	} else if (work >= TRUTH_SCALAR_SP && work <= TRUTH_256_DP) {
		if (block->vector_bits == kinds[work - TRUTH_SCALAR_SP].vector_bits &&
		    block->fp_bits == kinds[work - TRUTH_SCALAR_SP].fp_bits)
			*count = (double)block->fp * times;
	}
	return work > TRUTH_LOADS_STORES && work < TRUTH_UNKNOWN_WORK;
}

bool truth_block_work(const struct truth_block *block, enum truth_work work,
		      double *least, double *most)
{
	bool known = true;

	switch (work) {
	case TRUTH_INSTRUCTIONS:
		*least = block->instructions;
		break;
	case TRUTH_CYCLES:
		*least = block->chain;
		*most = block->instructions;
		return block->chain;
	case TRUTH_BRANCHES:
		*least = block->branches;
		break;
	case TRUTH_TAKEN:
		*least = block->taken;
		known = !block->misleads;
		break;
	case TRUTH_NOT_TAKEN:
		*least = block->not_taken;
		known = !block->misleads;
		break;
	case TRUTH_CONDITIONAL:
		*least = block->branches - block->jumps;
		break;
	case TRUTH_LOADS:
		*least = block->loads;
		break;
	case TRUTH_STORES:
		*least = block->stores;
		break;
	case TRUTH_LOADS_STORES:
		*least = block->loads + block->stores;
		break;
	default:
		known = work_of_fp(block, work, least);
	}
	*most = *least;
	return known;
}
