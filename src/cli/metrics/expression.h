/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf's expressions as trees: numbers, events, "#literals", other metrics, + - * / % | &
 * ^ < >, min, max, d_ratio, "A if CONDITION else B". What is constant is calculated when
 * it is read, so that a branch that this machine never takes needs no event.
 */
#ifndef PM_CLI_METRICS_EXPRESSION_H
#define PM_CLI_METRICS_EXPRESSION_H

#include <stdint.h>

#include "core/report/model/formula.h"
#include "core/text/diag.h"
#include "core/text/text.h"

/* A number, an input or an operation. Operands come before the nodes that have them. */
struct metric_node {
	enum pm_metric_what what;
	double number;	/* NAN: it divides by zero */
	uint32_t input; /* whatever number the name was given */
	uint32_t operand[3];
};

struct metric_tree {
	struct metric_node *nodes;
	uint32_t count;
	/* Counts how deep the reader is: it reads the expressions of metrics inside of others. */
	unsigned int depth;
};

/* These functions say what the words of an expression mean. Each returns 0, or a negative errno
 * with a message in DIAG. */
struct metric_meaning {
	void *argument;
	struct pm_diag *diag;
	/* Adds the tree of the event or metric NAME, in which "/" stands for "@". */
	int (*name)(void *argument, const char *name, uint32_t *node);
	/* Stores the value of a "#literal". */
	int (*literal)(void *argument, const char *name, double *value);
	/* Stores what FUNCTION, such as has_event, says of the event or CPU NAME. */
	int (*function)(void *argument, const char *function, const char *name,
			double *value);
};

/* Adds a node, or a number if its operands are numbers. Returns 0, -E2BIG or -ENOMEM. */
int metric_tree_add(struct metric_tree *tree, struct metric_node node, uint32_t *number);

/* Adds the tree of TEXT. *ROOT gets its number. Returns 0, or a negative errno with a
 * message. */
int metric_expression_parse(struct metric_tree *tree, const char *text,
			    const struct metric_meaning *meaning, uint32_t *root);

/* Returns the end of the number at AT, or AT: "1", ".5", "1e-9". */
const char *metric_number_end(const char *at);

#endif
