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
	struct metric_tree *tree;
	const struct metric_meaning *meaning;
	const char *text, *at;
};

uint32_t metric_operands(enum pm_metric_what what)
{
	if (what == PM_STEP_NUMBER || what == PM_STEP_INPUT)
		return 0;
	return what == PM_STEP_NEGATE ? 1 : what == PM_STEP_CHOOSE ? 3 : 2;
}

/* --- trees -------------------------------------------------------------------------- */

/* Makes NODE a number if its operands are. */
static void fold(const struct metric_tree *tree, struct metric_node *node)
{
	double values[3];
	uint32_t count = metric_operands(node->what);

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
	if (metric_operands(node.what))
		fold(tree, &node);
	*number = tree->count;
	tree->nodes[tree->count++] = node;
	return 0;
}

/* --- text --------------------------------------------------------------------------- */

static int error_at(const struct parser *p, const char *at, const char *what)
{
	if (!*at)
		return pm_diag_set(p->meaning->diag, -EINVAL, "%s at the end of '%s'",
				   what, pm_slice_quote(pm_slice_of(p->text)).text);
	return pm_diag_set(p->meaning->diag, -EINVAL, "%s at character %zu of '%s'", what,
			   (size_t)(at - p->text) + 1,
			   pm_slice_quote(pm_slice_of(p->text)).text);
}

static int add(struct parser *p, struct metric_node node, uint32_t *number)
{
	int err = metric_tree_add(p->tree, node, number);

	if (!err)
		return 0;
	return pm_diag_set(p->meaning->diag, err, "%s for a metric's expression",
			   err == -E2BIG ? "too many operations" : "no memory");
}

static char peek(struct parser *p)
{
	while (*p->at && pm_char_is_blank(*p->at))
		p->at++;
	return *p->at;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || pm_char_is_digit(c) ||
	       c == '_';
}

static bool is_symbol(char c)
{
	return is_word(c) || (c && strchr(".:@?", c));
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
	size_t length = (size_t)(end - p->at);

	if (length >= sizeof(text))
		return error_at(p, p->at, "a number is too long");
	memcpy(text, p->at, length);
	text[length] = '\0';
	if (pm_text_double(text, &n.number))
		return error_at(p, p->at, "not a number");
	p->at = end;
	return add(p, n, node);
}

/* Takes the name at hand as perf understands it. */
static int take_name(struct parser *p, char name[NAME_MOST])
{
	const char *end = symbol_end(p->at);
	size_t used = 0;

	if (end == p->at)
		return error_at(p, p->at, "a number, an event or '(' is missing");
	if ((size_t)(end - p->at) >= NAME_MOST)
		return error_at(p, p->at, "a name is too long");
	for (const char *c = p->at; c < end; c++) {
		bool escaped = *c == '\\';

		c += escaped;
		name[used++] = *c == '@' && !escaped ? '/' : *c;
	}
	name[used] = '\0';
	p->at = end;
	return 0;
}

static int choice(struct parser *p, uint32_t *node);
static int operand(struct parser *p, uint32_t *node);

/* Reads by NEXT one level deeper. */
static int deeper(struct parser *p, int (*next)(struct parser *p, uint32_t *node),
		  uint32_t *node)
{
	int err;

	if (p->tree->depth == DEPTH_MOST)
		return error_at(p, p->at, "the expression is nested too deep");
	p->tree->depth++;
	err = next(p, node);
	p->tree->depth--;
	return err;
}

static int expect(struct parser *p, char c, const char *what)
{
	if (peek(p) != c)
		return error_at(p, p->at, what);
	p->at++;
	return 0;
}

/* The two operands of a function, behind its '('. */
static int arguments(struct parser *p, enum pm_metric_what what, uint32_t *node)
{
	struct metric_node n = {.what = what};
	int err = deeper(p, choice, &n.operand[0]);

	err = err ?: expect(p, ',', "a ',' and the second argument are missing");
	err = err ?: deeper(p, choice, &n.operand[1]);
	err = err ?: expect(p, ')', "a ')' is missing");
	return err ?: add(p, n, node);
}

/* A function of the name of an event or a CPU, behind its '('. */
static int of_name(struct parser *p, const char *function, uint32_t *node)
{
	struct metric_node n = {.what = PM_STEP_NUMBER};
	char name[NAME_MOST];
	int err;

	peek(p);
	err = take_name(p, name) ?: expect(p, ')', "a ')' is missing");
	err = err
		      ?: p->meaning->function(p->meaning->argument, function, name,
					      &n.number);
	return err ?: add(p, n, node);
}

static int named(struct parser *p, uint32_t *node)
{
	static const struct {
		const char *name;
		enum pm_metric_what what;
	} functions[] = {
		{"min", PM_STEP_MIN}, {"max", PM_STEP_MAX}, {"d_ratio", PM_STEP_RATIO}};
	const char *from = p->at;
	char name[NAME_MOST];
	int err = take_name(p, name);

	if (err)
		return err;
	if (!strcmp(name, "if") || !strcmp(name, "else"))
		return error_at(p, from, "a number, an event or '(' is missing");
	if (peek(p) != '(')
		return p->meaning->name(p->meaning->argument, name, node);
	p->at++;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(name, functions[i].name))
			return arguments(p, functions[i].what, node);
	if (!strcmp(name, "has_event") || !strcmp(name, "source_count") ||
	    !strcmp(name, "strcmp_cpuid_str"))
		return of_name(p, name, node);
	return error_at(p, from, "an unknown function");
}

static int literal(struct parser *p, uint32_t *node)
{
	struct metric_node n = {.what = PM_STEP_NUMBER};
	char name[NAME_MOST] = "#";
	size_t length = 1;
	int err;

	while (is_word(p->at[length]) && length < sizeof(name) - 1) {
		name[length] = p->at[length];
		length++;
	}
	name[length] = '\0';
	err = p->meaning->literal(p->meaning->argument, name, &n.number);
	if (err)
		return err;
	p->at += length;
	return add(p, n, node);
}

static int brackets(struct parser *p, uint32_t *node)
{
	return deeper(p, choice, node) ?: expect(p, ')', "a ')' is missing");
}

static int operand(struct parser *p, uint32_t *node)
{
	struct metric_node n = {.what = PM_STEP_NEGATE};
	char c = peek(p);
	const char *end;

	if (c == '(' || c == '-') {
		p->at++;
		return c == '(' ? brackets(p, node)
				: deeper(p, operand, &n.operand[0]) ?: add(p, n, node);
	}
	if (c == '#')
		return literal(p, node);
	/* As in perf the longer one counts: 128B is a name. */
	end = metric_number_end(p->at);
	if (end > p->at && end >= symbol_end(p->at))
		return number(p, end, node);
	return named(p, node);
}

static int chain(struct parser *p, size_t level, uint32_t *node)
{
	const char *found;
	char c;
	int err;

	if (level == PM_METRIC_LEVELS)
		return operand(p, node);
	err = chain(p, level + 1, node);
	while (!err && (c = peek(p)) &&
	       (found = strchr(pm_metric_levels[level].characters, c))) {
		struct metric_node n = {
			.what = pm_metric_levels[level]
					.what[found - pm_metric_levels[level].characters],
			.operand = {*node}};

		p->at++;
		err = chain(p, level + 1, &n.operand[1]) ?: add(p, n, node);
	}
	return err;
}

/* Takes the word TEXT if it comes next. */
static bool take_word(struct parser *p, const char *text)
{
	size_t length = strlen(text);

	peek(p);
	if (strncmp(p->at, text, length) != 0 || is_symbol(p->at[length]))
		return false;
	p->at += length;
	return true;
}

static int choice(struct parser *p, uint32_t *node)
{
	struct metric_node n = {.what = PM_STEP_CHOOSE};
	int err = chain(p, 0, node);

	if (err || !take_word(p, "if"))
		return err;
	n.operand[0] = *node;
	err = chain(p, 0, &n.operand[1]);
	if (!err && !take_word(p, "else"))
		err = error_at(p, p->at, "'else' is missing");
	return err ?: deeper(p, choice, &n.operand[2]) ?: add(p, n, node);
}

int metric_expression_parse(struct metric_tree *tree, const char *text,
			    const struct metric_meaning *meaning, uint32_t *root)
{
	struct parser p = {.tree = tree, .meaning = meaning, .text = text, .at = text};
	int err = deeper(&p, choice, root);

	if (!err && peek(&p))
		err = error_at(&p, p.at, "an operator is missing");
	return err;
}
