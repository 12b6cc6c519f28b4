/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/model/formula.h"

#include <errno.h>
#include <string.h>

int pm_metric_error_at(const struct pm_metric_place *p, int err, const char *at,
		       const char *what)
{
	if (at < p->item.at + p->item.length)
		pm_diag_set(p->diag, err, "%s at character %zu of '%s'", what,
			    (size_t)(at - p->item.at) + 1, pm_slice_quote(p->item).text);
	else
		pm_diag_set(p->diag, err, "%s at the end of '%s'", what,
			    pm_slice_quote(p->item).text);
	if (p->file)
		pm_diag_add(p->diag, ", line %u of '%s'", p->line,
			    pm_slice_quote(pm_slice_of(p->file)).text);
	return err;
}

bool pm_formula_letter(char c)
{
	c = pm_char_lower(c);
	return (c >= 'a' && c <= 'z') || c == '_';
}

bool pm_formula_word(char c)
{
	return pm_formula_letter(c) || pm_char_is_digit(c);
}

/* The operators, those that bind least first. */
static const struct {
	const char *characters;
	enum pm_metric_what what[3];
} levels[] = {
	{"|", {PM_STEP_OR}},
	{"^", {PM_STEP_XOR}},
	{"&", {PM_STEP_AND}},
	{"<>", {PM_STEP_LESS, PM_STEP_GREATER}},
	{"+-", {PM_STEP_ADD, PM_STEP_SUBTRACT}},
	{"*/%", {PM_STEP_MULTIPLY, PM_STEP_DIVIDE, PM_STEP_MODULO}},
};

char pm_grammar_peek(struct pm_grammar *g)
{
	while (g->at < g->end && pm_char_is_blank(*g->at))
		g->at++;
	return g->at < g->end ? *g->at : '\0';
}

int pm_grammar_close(struct pm_grammar *g, const char *open)
{
	if (pm_grammar_peek(g) != ')')
		return pm_metric_error_at(g->place, -EINVAL, open, "'(' without its ')'");
	g->at++;
	return 0;
}

/* Reads by NEXT one level deeper than before. OPEN is where the level begins. */
static int deeper(struct pm_grammar *g, const char *open,
		  int (*next)(struct pm_grammar *g, uint32_t *node), uint32_t *node)
{
	int err;

	if (*g->depth == g->depth_most)
		return pm_metric_error_at(g->place, -E2BIG, open,
					  "the formula is nested too deep");
	++*g->depth;
	err = next(g, node);
	--*g->depth;
	return err;
}

static int choice(struct pm_grammar *g, uint32_t *node);

bool pm_grammar_is_function(struct pm_slice name, enum pm_metric_what *what)
{
	static const struct {
		const char *name;
		enum pm_metric_what what;
	} functions[] = {
		{"min", PM_STEP_MIN}, {"max", PM_STEP_MAX}, {"d_ratio", PM_STEP_RATIO}};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*what = functions[i].what;
		if (pm_slice_is(name, functions[i].name))
			return true;
	}
	return false;
}

int pm_grammar_arguments(struct pm_grammar *g, enum pm_metric_what what, uint32_t *node)
{
	const char *open = g->at++;
	uint32_t of[3] = {0};
	int err = deeper(g, open, choice, &of[0]);

	if (!err && pm_grammar_peek(g) != ',')
		err = pm_metric_error_at(g->place, -EINVAL, g->at,
					 "a ',' and the second argument are missing");
	if (err)
		return err;
	g->at++;
	return deeper(g, open, choice, &of[1])
		       ?: pm_grammar_close(g, open)
		       ?: g->operation(g, what, of, node);
}

static int operand(struct pm_grammar *g, uint32_t *node)
{
	char c = pm_grammar_peek(g);
	const char *open = g->at;
	uint32_t of[3] = {0};

	if (c != '(' && c != '-')
		return g->operand(g, node);
	g->at++;
	if (c == '(')
		return deeper(g, open, choice, node) ?: pm_grammar_close(g, open);
	return deeper(g, open, operand, &of[0])
		       ?: g->operation(g, PM_STEP_NEGATE, of, node);
}

/* Reads operands with the operators of LEVEL, or of levels that bind more, between. */
static int chain(struct pm_grammar *g, size_t level, uint32_t *node)
{
	const char *characters, *found;
	char c;
	int err;

	if (level == sizeof(levels) / sizeof(levels[0]))
		return operand(g, node);
	characters = levels[level].characters;
	err = chain(g, level + 1, node);
	while (!err && (c = pm_grammar_peek(g)) && (found = strchr(characters, c))) {
		uint32_t of[3] = {*node};

		g->at++;
		err = chain(g, level + 1, &of[1])
			      ?: g->operation(g, levels[level].what[found - characters],
					      of, node);
	}
	return err;
}

/* Takes the word TEXT if it comes next. */
static bool take_word(struct pm_grammar *g, const char *text)
{
	struct pm_slice word = {.length = strlen(text)};

	pm_grammar_peek(g);
	word.at = g->at;
	if ((size_t)(g->end - g->at) < word.length || !pm_slice_is(word, text) ||
	    (g->at + word.length < g->end && g->is_word(g->at[word.length])))
		return false;
	g->at += word.length;
	return true;
}

/* "A if CONDITION else B", or a formula without a condition. */
static int choice(struct pm_grammar *g, uint32_t *node)
{
	const char *from = g->at;
	uint32_t of[3];
	int err = chain(g, 0, node);

	if (err || !take_word(g, "if"))
		return err;
	of[0] = *node;
	err = chain(g, 0, &of[1]);
	if (!err && !take_word(g, "else"))
		err = pm_metric_error_at(g->place, -EINVAL, g->at, "'else' is missing");
	return err
		       ?: deeper(g, from, choice, &of[2])
		       ?: g->operation(g, PM_STEP_CHOOSE, of, node);
}

int pm_grammar_read(struct pm_grammar *g, uint32_t *node)
{
	int err = deeper(g, g->at, choice, node);

	if (!err && pm_grammar_peek(g))
		err = pm_metric_error_at(g->place, -EINVAL, g->at,
					 "an operator is missing");
	return err;
}
