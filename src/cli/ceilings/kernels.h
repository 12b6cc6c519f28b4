/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loops that are timed, by width of the vectors. Each CPU family has a file of its own; the
 * loops of a family are instructions, so that no compiler removes or changes them. generic.c has
 * loops in C for the others.
 */
#ifndef PM_CLI_CEILINGS_KERNELS_H
#define PM_CLI_CEILINGS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arrays have a multiple of so many bytes, and begin at one. */
#define KERNEL_BLOCK 512

struct kernel_flops {
	/* Executes OPERATIONS floating-point operations in each of ROUNDS rounds, 1 or more, in
	 * chains that do not wait for each other. NULL: this CPU cannot. */
	void (*run)(uint64_t rounds);
	uint32_t operations;
};

struct kernels {
	uint32_t bits;
	bool (*is_there)(void); /* this CPU has the vectors; NULL: all do */
	bool (*has_fma)(void);	/* NULL: if it has the vectors */
	struct kernel_flops dp_fma, dp_add_mul, sp_fma, sp_add_mul;
	/* Go once over the arrays of BYTES bytes: read A; write to A what is in B; write to A
	 * the sum of B and of C times a constant. */
	void (*load)(double *a, const double *b, const double *c, size_t bytes);
	void (*copy)(double *a, const double *b, const double *c, size_t bytes);
	void (*triad)(double *a, const double *b, const double *c, size_t bytes);
};

/* For files of instructions: repeats INSTRUCTIONS for the registers or vectors of LIST, each of which is
 * \\n there. */
#define EACH(list, instructions) ".irp n," list "\n\t" instructions "\n\t.endr\n\t"

/* Two `struct kernel_flops`: WIDE elements in a vector, in two groups of CHAINS each round. */
#define FLOPS(name, wide)                                                                \
	{name##_fma, 4 * CHAINS * (wide)},                                               \
	{                                                                                \
		name##_add_mul, 2 * CHAINS *(wide)                                       \
	}

/* From the narrowest to the widest. */
extern const struct kernels kernels[];
extern const uint32_t kernels_count;

#endif
