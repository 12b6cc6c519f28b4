/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/metrics/expression.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/grow.h"

#define DEPTH_MOST 400
#define NODES_MOST 100000
#define NAME_MOST  256

struct parser {
	struct pm_grammar grammar;
	struct metric_tree *tree;
	const struct metric_meaning *meaning;
};

/* --- trees -------------------------------------------------------------------------- */

/* Makes NODE a number if its operands are. */
static void fold(const struct metric_tree *tree, struct metric_node *node)
{
	double values[3];
	uint32_t count = pm_metric_operands(node->what);

	for (uint32_t i = 0; i < count; i++) {
		const struct metric_node *of = &tree->nodes[node->operand[i]];

		if (of->what != PM_STEP_NUMBER)
			return;
		values[i] = of->number;
	}
	node->number = pm_metric_step_value(node->what, values);
	node->what = PM_STEP_NUMBER;
}

int metric_tree_add(struct metric_tree *tree, struct metric_node node, uint32_t *number)
{
	if (node.what == PM_STEP_CHOOSE &&
	    tree->nodes[node.operand[1]].what == PM_STEP_NUMBER &&
	    !isnan(tree->nodes[node.operand[1]].number)) {
		*number = node.operand[tree->nodes[node.operand[1]].number != 0 ? 0 : 2];
		return 0;
	}
	if (tree->count == NODES_MOST)
		return -E2BIG;
	if (!PM_GROW(tree->nodes, tree->count))
		return -ENOMEM;
	if (pm_metric_operands(node.what))
		fold(tree, &node);
	*number = tree->count;
	tree->nodes[tree->count++] = node;
	return 0;
}

/* --- text --------------------------------------------------------------------------- */

static int add(struct parser *p, struct metric_node node, uint32_t *number)
{
	int err = metric_tree_add(p->tree, node, number);

	if (!err)
		return 0;
	return pm_diag_set(p->meaning->diag, err, "%s for a metric's expression",
			   err == -E2BIG ? "too many operations" : "no memory");
}

static bool is_symbol(char c)
{
	return pm_formula_word(c) || (c && strchr(".:@?", c));
}

/* Returns the end of the name at AT. A backslash keeps the character behind it. */
static const char *symbol_end(const char *at)
{
	while (is_symbol(*at) || (*at == '\\' && at[1] > ' '))
		at += *at == '\\' ? 2 : 1;
	return at;
}

const char *metric_number_end(const char *at)
{
	const char *end = at + strspn(at, "0123456789"), *exponent;
	bool digits = end > at;

	if (*end == '.') {
		digits |= pm_char_is_digit(end[1]);
		end += 1 + strspn(end + 1, "0123456789");
	}
	if (!digits)
		return at;
	exponent = end + 1 + (*end && (end[1] == '-' || end[1] == '+'));
	if ((*end == 'e' || *end == 'E') && pm_char_is_digit(*exponent))
		end = exponent + strspn(exponent, "0123456789");
	return end;
}

static int number(struct parser *p, const char *end, uint32_t *node)
{
	struct metric_node n = {.what = PM_STEP_NUMBER};
	char text[64];
	size_t length = (size_t)(end - p->grammar.at);

	if (length >= sizeof(text))
		return pm_metric_error_at(p->grammar.place, -EINVAL, p->grammar.at,
					  "a number is too long");
	memcpy(text, p->grammar.at, length);
	text[length] = '\0';
	if (pm_text_double(text, &n.number))
		return pm_metric_error_at(p->grammar.place, -EINVAL, p->grammar.at,
					  "not a number");
	p->grammar.at = end;
	return add(p, n, node);
}

/* Takes the name at hand as perf understands it. */
static int take_name(struct parser *p, char name[NAME_MOST])
{
	const char *end = symbol_end(p->grammar.at);
	size_t used = 0;

	if (end == p->grammar.at)
		return pm_metric_error_at(p->grammar.place, -EINVAL, p->grammar.at,
					  "a number, an event or '(' is missing");
	if ((size_t)(end - p->grammar.at) >= NAME_MOST)
		return pm_metric_error_at(p->grammar.place, -EINVAL, p->grammar.at,
					  "a name is too long");
	for (const char *c = p->grammar.at; c < end; c++) {
		bool escaped = *c == '\\';

		c += escaped;
		name[used++] = *c == '@' && !escaped ? '/' : *c;
	}
	name[used] = '\0';
	p->grammar.at = end;
	return 0;
}

/* A function of the name of an event or a CPU, whose '(' is at hand. */
static int of_name(struct parser *p, const char *function, uint32_t *node)
{
	const char *open = p->grammar.at++;
	struct metric_node n = {.what = PM_STEP_NUMBER};
	char name[NAME_MOST];
	int err;

	pm_grammar_peek(&p->grammar);
	err = take_name(p, name) ?: pm_grammar_close(&p->grammar, open);
	err = err
		      ?: p->meaning->function(p->meaning->argument, function, name,
					      &n.number);
	return err ?: add(p, n, node);
}

static int named(struct parser *p, uint32_t *node)
{
	const char *from = p->grammar.at;
	enum pm_metric_what what;
	char name[NAME_MOST];
	int err = take_name(p, name);

	if (err)
		return err;
	if (!strcmp(name, "if") || !strcmp(name, "else"))
		return pm_metric_error_at(p->grammar.place, -EINVAL, from,
					  "a number, an event or '(' is missing");
	if (pm_grammar_peek(&p->grammar) != '(')
		return p->meaning->name(p->meaning->argument, name, node);
	if (pm_grammar_is_function(pm_slice_of(name), &what))
		return pm_grammar_arguments(&p->grammar, what, node);
	if (!strcmp(name, "has_event") || !strcmp(name, "source_count") ||
	    !strcmp(name, "strcmp_cpuid_str"))
		return of_name(p, name, node);
	return pm_metric_error_at(p->grammar.place, -EINVAL, from, "an unknown function");
}

static int literal(struct parser *p, uint32_t *node)
{
	struct metric_node n = {.what = PM_STEP_NUMBER};
	char name[NAME_MOST] = "#";
	size_t length = 1;
	int err;

	while (pm_formula_word(p->grammar.at[length]) && length < sizeof(name) - 1) {
		name[length] = p->grammar.at[length];
		length++;
	}
	name[length] = '\0';
	err = p->meaning->literal(p->meaning->argument, name, &n.number);
	if (err)
		return err;
	p->grammar.at += length;
	return add(p, n, node);
}

static int operand(struct pm_grammar *g, uint32_t *node)
{
	struct parser *p = (struct parser *)g;
	const char *end = metric_number_end(g->at);

	if (*g->at == '#')
		return literal(p, node);
	/* As in perf the longer one counts: 128B is a name. */
	if (end > g->at && end >= symbol_end(g->at))
		return number(p, end, node);
	return named(p, node);
}

static int operation(struct pm_grammar *g, enum pm_metric_what what,
		     const uint32_t operands[3], uint32_t *node)
{
	struct metric_node n = {.what = what};

	memcpy(n.operand, operands, pm_metric_operands(what) * sizeof(*operands));
	return add((struct parser *)g, n, node);
}

int metric_expression_parse(struct metric_tree *tree, const char *text,
			    const struct metric_meaning *meaning, uint32_t *root)
{
	const struct pm_metric_place place = {.diag = meaning->diag,
					      .item = pm_slice_of(text)};
	struct parser p = {
		.grammar = {.place = &place,
			    .at = text,
			    .end = text + strlen(text),
			    .depth = &tree->depth,
			    .depth_most = DEPTH_MOST,
			    .operand = operand,
			    .operation = operation,
			    .is_word = is_symbol},
		.tree = tree,
		.meaning = meaning,
	};

	return pm_grammar_read(&p.grammar, root);
}
