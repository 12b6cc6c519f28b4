/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The formula of a metric, which metric.c cuts out of a text of metrics, and the grammar that it
 * shares with perf's lists of metrics: operators, brackets, min(), max(), d_ratio(), and "A if
 * CONDITION else B". Numbers and names are their readers'.
 */
#ifndef PM_REPORT_FORMULA_H
#define PM_REPORT_FORMULA_H

#include "core/report/model/metric.h"
#include "core/text/text.h"

/* Where a definition stands, for a message about a mistake in it. */
struct pm_metric_place {
	struct pm_diag *diag;
	struct pm_slice item; /* the definition */
	const char *file;     /* its file; NULL: none */
	unsigned int line;    /* in that file */
};

/* Says that WHAT is wrong at the character AT. Returns ERR. */
int pm_metric_error_at(const struct pm_metric_place *place, int err, const char *at,
		       const char *what);

bool pm_formula_letter(char c); /* may begin a name */
bool pm_formula_word(char c);	/* may continue it */

/* A reader has this first. Functions that return int return 0, or a negative errno with a message;
 * *NODE is what the reader makes of a value. */
struct pm_grammar {
	const struct pm_metric_place *place;
	const char *at, *end; /* of what is left */
	unsigned int *depth;  /* of brackets, signs and branches */
	unsigned int depth_most;
	/* Reads a number or a name, whose first character is at hand. */
	int (*operand)(struct pm_grammar *grammar, uint32_t *node);
	/* Makes the operation WHAT of the values that were read before. */
	int (*operation)(struct pm_grammar *grammar, enum pm_metric_what what,
			 const uint32_t operands[3], uint32_t *node);
	bool (*is_word)(char c); /* continues a name */
};

/* Reads all that is left. */
int pm_grammar_read(struct pm_grammar *grammar, uint32_t *node);

/* Returns the next character that is not blank, at hand then, or '\0' at the end. */
char pm_grammar_peek(struct pm_grammar *grammar);

/* Takes the bracket at hand that closes the one at OPEN. */
int pm_grammar_close(struct pm_grammar *grammar, const char *open);

/* Returns whether NAME is a function, whose operation *WHAT gets, */
bool pm_grammar_is_function(struct pm_slice name, enum pm_metric_what *what);
/* and reads its arguments, whose '(' is at hand. */
int pm_grammar_arguments(struct pm_grammar *grammar, enum pm_metric_what what,
			 uint32_t *node);

/* Reads the formula from FROM to the end of the definition into METRIC's inputs and steps,
 * also in part. Returns 0, or -EINVAL, -E2BIG or -ENOMEM with a message. */
int pm_formula_parse(const struct pm_metric_place *place, const char *from,
		     struct pm_metric *metric);

#endif
