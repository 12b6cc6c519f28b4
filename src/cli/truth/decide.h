/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verdicts, and how an event gets one from its counts of blocks. No counter is read
 * here, so that tests can plant errors. */
#ifndef PM_CLI_TRUTH_DECIDE_H
#define PM_CLI_TRUTH_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum truth_verdict {
	TRUTH_EXACT,
	TRUTH_PLAUSIBLE,   /* within the bounds of what is not known to the instruction */
	TRUTH_SPECULATION, /* exact but for work that was begun and thrown away */
	TRUTH_OFF,	   /* wrong by the same part in all blocks */
	TRUTH_WRONG,
	TRUTH_NOTHING,	/* opens without an error and stays 0 */
	TRUTH_UNSTEADY, /* differs so much between repetitions that nothing is decided */
	TRUTH_UNJUDGED, /* nothing here is known about it, or a part could not be tried */
	TRUTH_ABSENT,
	TRUTH_VERDICTS
};

/* Returns the verdict's name in JSON. */
const char *truth_verdict_name(enum truth_verdict verdict);

/* Returns whether the verdict means that a number of the PMU is wrong. */
bool truth_is_bad(enum truth_verdict verdict);

/* The counts of a block's turn, over its repetitions. */
struct truth_row {
	const char *block;
	double least, most;	     /* the truth */
	double instructions;	     /* of a turn, as a measure of what is much */
	double lower, median, upper; /* quartiles of what was counted */
	bool misleads;
};

struct truth_judgement {
	enum truth_verdict verdict;
	double error;		       /* with TRUTH_OFF: 0.02 is 2 % too many */
	const struct truth_row *worst; /* the row that decided, or NULL */
};

void truth_sort(int64_t *numbers, size_t count);

/* Fills the quartiles of ROW from COUNT differences, of TURNS turns each. Sorts them. */
void truth_row_fill(struct truth_row *row, int64_t *differences, size_t count,
		    double turns);

/* Decides by COUNT rows. */
struct truth_judgement truth_decide(const struct truth_row *rows, size_t count);

/*
 * Decides on mispredicted branches, of which no number is known: few in blocks that a
 * predictor knows, and between a part of the random branches and all of them in the block
 * that misleads.
 */
struct truth_judgement truth_decide_mispredicted(const struct truth_row *rows,
						 size_t count);

#endif
