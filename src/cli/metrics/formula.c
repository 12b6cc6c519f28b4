/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the tree of an expression to a formula of this project's reports. */
#include "cli/metrics/formula.h"

#include <errno.h>
#include <math.h>

#include "core/report/output/escape.h"

struct writer {
	struct pm_out *out;
	const struct metric_tree *tree;
	const char *(*name)(void *argument, uint32_t input);
	void *argument;
};

/* How an operation is written, and how much it binds. A function binds its operands by
 * itself. */
static const struct {
	const char *sign;
	int binds;
} operations[] = {
	[PM_STEP_NUMBER] = {"", 8},	  [PM_STEP_INPUT] = {"", 8},
	[PM_STEP_NEGATE] = {"-", 7},	  [PM_STEP_MULTIPLY] = {" * ", 6},
	[PM_STEP_DIVIDE] = {" / ", 6},	  [PM_STEP_MODULO] = {" % ", 6},
	[PM_STEP_ADD] = {" + ", 5},	  [PM_STEP_SUBTRACT] = {" - ", 5},
	[PM_STEP_LESS] = {" < ", 4},	  [PM_STEP_GREATER] = {" > ", 4},
	[PM_STEP_AND] = {" & ", 3},	  [PM_STEP_XOR] = {" ^ ", 2},
	[PM_STEP_OR] = {" | ", 1},	  [PM_STEP_CHOOSE] = {" if ", 0},
	[PM_STEP_MIN] = {"min", 8},	  [PM_STEP_MAX] = {"max", 8},
	[PM_STEP_RATIO] = {"d_ratio", 8},
};

static int put(struct writer *w, uint32_t node, int binds);

static int put_function(struct writer *w, const struct metric_node *node)
{
	int err;

	pm_out_text(w->out, operations[node->what].sign);
	pm_out_text(w->out, "(");
	err = put(w, node->operand[0], 0);
	pm_out_text(w->out, ", ");
	err = err ?: put(w, node->operand[1], 0);
	pm_out_text(w->out, ")");
	return err;
}

static int put_choice(struct writer *w, const struct metric_node *node)
{
	int err = put(w, node->operand[0], 1);

	pm_out_text(w->out, " if ");
	err = err ?: put(w, node->operand[1], 1);
	pm_out_text(w->out, " else ");
	return err ?: put(w, node->operand[2], 0);
}

static int put_operation(struct writer *w, const struct metric_node *node)
{
	int binds = operations[node->what].binds, err;

	switch (node->what) {
	case PM_STEP_MIN:
	case PM_STEP_MAX:
	case PM_STEP_RATIO:
		return put_function(w, node);
	case PM_STEP_CHOOSE:
		return put_choice(w, node);
	case PM_STEP_NEGATE:
		pm_out_text(w->out, "-");
		return put(w, node->operand[0], binds);
	default:
		err = put(w, node->operand[0], binds);
		pm_out_text(w->out, operations[node->what].sign);
		return err ?: put(w, node->operand[1], binds + 1);
	}
}

static int put_number(struct writer *w, double number)
{
	if (!isfinite(number))
		return -EDOM;
	/* A sign needs brackets behind another operator. */
	pm_out_text(w->out, number < 0 ? "(" : "");
	pm_out_double(w->out, number);
	pm_out_text(w->out, number < 0 ? ")" : "");
	return 0;
}

/* Writes NODE for a place whose operator binds as much as BINDS. */
static int put(struct writer *w, uint32_t number, int binds)
{
	const struct metric_node *node = &w->tree->nodes[number];
	bool brackets = operations[node->what].binds < binds;
	int err;

	if (w->out->error)
		return w->out->error;
	if (node->what == PM_STEP_NUMBER)
		return put_number(w, node->number);
	if (node->what == PM_STEP_INPUT) {
		pm_out_plain(w->out, w->name(w->argument, node->input), 0);
		return 0;
	}
	if (brackets)
		pm_out_text(w->out, "(");
	err = put_operation(w, node);
	if (brackets)
		pm_out_text(w->out, ")");
	return err;
}

int metric_formula_put(struct pm_out *out, const struct metric_tree *tree, uint32_t root,
		       const char *(*name)(void *argument, uint32_t input),
		       void *argument)
{
	struct writer w = {.out = out, .tree = tree, .name = name, .argument = argument};

	return put(&w, root, 0);
}
