/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a formula to steps in postfix order, and from these to a value. */
#include "core/report/model/formula.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/text/grow.h"

struct parser {
	const struct pm_metric_place *place;
	const char *at, *end; /* of what is left of the formula */
	unsigned int depth;   /* of parentheses, signs and branches */
	uint32_t stack;	      /* values that the steps so far leave */
	struct pm_metric *metric;
};

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

static int error_at(struct parser *p, int err, const char *at, const char *what)
{
	return pm_metric_error_at(p->place, err, at, what);
}

static char peek(struct parser *p)
{
	while (p->at < p->end && pm_char_is_blank(*p->at))
		p->at++;
	return p->at < p->end ? *p->at : '\0';
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

/* How many values a step takes from the stack; it leaves one. */
static uint32_t taken_by(enum pm_metric_what what)
{
	switch (what) {
	case PM_STEP_NUMBER:
	case PM_STEP_INPUT:
		return 0;
	case PM_STEP_NEGATE:
		return 1;
	case PM_STEP_CHOOSE:
		return 3;
	default:
		return 2;
	}
}

static int step(struct parser *p, struct pm_metric_step s)
{
	struct pm_metric *metric = p->metric;

	if (metric->step_count == PM_METRIC_STEPS)
		return error_at(p, -E2BIG, p->at, "the formula is too long");
	if (p->stack - taken_by(s.what) == PM_METRIC_STACK)
		return error_at(p, -E2BIG, p->at, "the formula is nested too deep");
	if (!PM_GROW(metric->steps, metric->step_count))
		return pm_diag_set(p->place->diag, -ENOMEM, "no memory for a metric");
	p->stack += 1 - taken_by(s.what);
	metric->steps[metric->step_count++] = s;
	return 0;
}

static int number(struct parser *p)
{
	const char *from = p->at;
	struct pm_metric_step s = {.what = PM_STEP_NUMBER};
	char text[64];
	size_t length;

	while (p->at < p->end && (pm_formula_word(*p->at) || *p->at == '.')) {
		bool exponent = pm_char_lower(*p->at) == 'e';

		p->at++;
		if (exponent && p->at < p->end && (*p->at == '-' || *p->at == '+'))
			p->at++;
	}
	length = (size_t)(p->at - from);
	if (length >= sizeof(text))
		return error_at(p, -EINVAL, from, "a number is too long");
	memcpy(text, from, length);
	text[length] = '\0';
	/* No hexadecimal number: its 'e' would be an exponent above. */
	if (strspn(text, "0123456789.eE+-") != length || pm_text_double(text, &s.number))
		return error_at(p, -EINVAL, from, "not a number");
	return step(p, s);
}

/* Where the terms of a PMU end that begin behind the '/' at FROM: at their '/', or NULL
 * if the '/' is a division. */
static const char *terms_end(const struct parser *p, const char *from)
{
	const char *c = from + 1;

	while (c < p->end && (pm_formula_word(*c) || (*c && strchr("=,.:-%@", *c))))
		c++;
	return c > from + 1 && c < p->end && *c == '/' ? c : NULL;
}

/* The end of the event's name at the parser's place. */
static const char *name_end(const struct parser *p)
{
	const char *c = p->at, *close;

	for (; c < p->end; c++) {
		if (pm_formula_word(*c) || *c == '.' || *c == ':' || *c == '=')
			continue;
		/* A minus between two words is part of a name. */
		if (*c == '-' && c + 1 < p->end && pm_formula_word(c[1]))
			continue;
		break;
	}
	if (c == p->end || *c != '/')
		return c;
	close = terms_end(p, c);
	if (!close)
		return c;
	for (c = close + 1; c < p->end && (pm_formula_letter(*c) || *c == ':'); c++)
		;
	return c;
}

static int input(struct parser *p, struct pm_slice name, bool quoted)
{
	static const char *const words[] = {
		[PM_METRIC_TIME] = "time_ns",
		[PM_METRIC_ON_CPU] = "on_cpu_ns",
		[PM_METRIC_VISITS] = "visits",
		[PM_METRIC_THREADS] = "threads",
	};
	struct pm_metric *metric = p->metric;
	struct pm_metric_step s = {.what = PM_STEP_INPUT};
	struct pm_metric_input *to;

	for (; s.input < metric->input_count; s.input++)
		if (pm_slice_is(name, metric->inputs[s.input].name))
			return step(p, s);
	if (metric->input_count == PM_METRIC_INPUTS)
		return error_at(p, -E2BIG, name.at, "the formula has too many inputs");
	if (!PM_GROW(metric->inputs, metric->input_count))
		return pm_diag_set(p->place->diag, -ENOMEM, "no memory for a metric");
	to = &metric->inputs[metric->input_count];
	to->kind = PM_METRIC_EVENT;
	for (int k = PM_METRIC_TIME; !quoted && k <= PM_METRIC_THREADS; k++)
		if (pm_slice_is(name, words[k]))
			to->kind = (enum pm_metric_kind)k;
	to->name = pm_slice_copy(name);
	if (!to->name)
		return pm_diag_set(p->place->diag, -ENOMEM, "no memory for a metric");
	metric->input_count++;
	return step(p, s);
}

static int choice(struct parser *p);

/* Reads by NEXT one level deeper than before. OPEN is where the level begins. */
static int deeper(struct parser *p, const char *open, int (*next)(struct parser *p))
{
	int err;

	if (p->depth == PM_METRIC_DEPTH)
		return error_at(p, -E2BIG, open, "the formula is nested too deep");
	p->depth++;
	err = next(p);
	p->depth--;
	return err;
}

static int close_bracket(struct parser *p, const char *open)
{
	if (peek(p) != ')')
		return error_at(p, -EINVAL, open, "'(' without its ')'");
	p->at++;
	return 0;
}

/* The two arguments of a function, whose name stands before the '(' at hand. */
static int arguments(struct parser *p, enum pm_metric_what what)
{
	const char *open = p->at++;
	int err = deeper(p, open, choice);

	if (!err && peek(p) != ',')
		err = error_at(p, -EINVAL, p->at,
			       "a ',' and the second argument are missing");
	if (err)
		return err;
	p->at++;
	return deeper(p, open, choice)
		       ?: close_bracket(p, open)
		       ?: step(p, (struct pm_metric_step){.what = what});
}

static int quoted(struct parser *p)
{
	const char *close = memchr(p->at + 1, '\'', (size_t)(p->end - p->at - 1));
	struct pm_slice name = {.at = p->at + 1};

	if (!close)
		return error_at(p, -EINVAL, p->at, "a quote is not closed");
	if (close == name.at)
		return error_at(p, -EINVAL, p->at, "an event's name is missing");
	name.length = (size_t)(close - name.at);
	p->at = close + 1;
	return input(p, name, true);
}

/* A function, an event, or another word. */
static int named(struct parser *p)
{
	static const struct {
		const char *name;
		enum pm_metric_what what;
	} functions[] = {
		{"min", PM_STEP_MIN}, {"max", PM_STEP_MAX}, {"d_ratio", PM_STEP_RATIO}};
	struct pm_slice name = {.at = p->at};

	p->at = name_end(p);
	name.length = (size_t)(p->at - name.at);
	if (peek(p) == '(')
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
			if (pm_slice_is(name, functions[i].name))
				return arguments(p, functions[i].what);
	return input(p, name, false);
}

static int operand(struct parser *p)
{
	char c = peek(p);
	const char *open = p->at;

	if (pm_char_is_digit(c) || c == '.')
		return number(p);
	if (c == '\'')
		return quoted(p);
	if (c == '(') {
		p->at++;
		return deeper(p, open, choice) ?: close_bracket(p, open);
	}
	if (c == '-') {
		p->at++;
		return deeper(p, open, operand)
			       ?: step(p,
				       (struct pm_metric_step){.what = PM_STEP_NEGATE});
	}
	if (!pm_formula_letter(c))
		return error_at(p, -EINVAL, p->at,
				"a number, an event or '(' is missing");
	return named(p);
}

const struct pm_metric_level pm_metric_levels[PM_METRIC_LEVELS] = {
	{"|", {PM_STEP_OR}},
	{"^", {PM_STEP_XOR}},
	{"&", {PM_STEP_AND}},
	{"<>", {PM_STEP_LESS, PM_STEP_GREATER}},
	{"+-", {PM_STEP_ADD, PM_STEP_SUBTRACT}},
	{"*/%", {PM_STEP_MULTIPLY, PM_STEP_DIVIDE, PM_STEP_MODULO}},
};

/* Reads operands with the operators of LEVEL, or of levels that bind more, between. */
static int chain(struct parser *p, size_t level)
{
	const char *found;
	char c;
	int err;

	if (level == PM_METRIC_LEVELS)
		return operand(p);
	err = chain(p, level + 1);
	while (!err && (c = peek(p)) &&
	       (found = strchr(pm_metric_levels[level].characters, c))) {
		struct pm_metric_step s = {
			.what = pm_metric_levels[level]
					.what[found -
					      pm_metric_levels[level].characters]};

		p->at++;
		err = chain(p, level + 1) ?: step(p, s);
	}
	return err;
}

/* Takes the word TEXT if it comes next. */
static bool take_word(struct parser *p, const char *text)
{
	struct pm_slice word = {.length = strlen(text)};

	peek(p);
	word.at = p->at;
	if ((size_t)(p->end - p->at) < word.length || !pm_slice_is(word, text) ||
	    (p->at + word.length < p->end && pm_formula_word(p->at[word.length])))
		return false;
	p->at += word.length;
	return true;
}

/* "A if CONDITION else B", or a formula without a condition. */
static int choice(struct parser *p)
{
	const char *from = p->at;
	int err = chain(p, 0);

	if (err || !take_word(p, "if"))
		return err;
	err = chain(p, 0);
	if (!err && !take_word(p, "else"))
		err = error_at(p, -EINVAL, p->at, "'else' is missing");
	return err
		       ?: deeper(p, from, choice)
		       ?: step(p, (struct pm_metric_step){.what = PM_STEP_CHOOSE});
}

int pm_formula_parse(const struct pm_metric_place *place, const char *from,
		     struct pm_metric *metric)
{
	struct parser p = {.place = place,
			   .at = from,
			   .end = place->item.at + place->item.length,
			   .metric = metric};
	int err = choice(&p);

	if (!err && peek(&p))
		err = error_at(&p, -EINVAL, p.at, "an operator is missing");
	return err;
}

/* The bits of a whole number; false if VALUE is none that has 64 bits. */
static bool bits_of(double value, long long *bits)
{
	if (!(value > -9223372036854775808.0 && value < 9223372036854775808.0))
		return false;
	*bits = (long long)value;
	return true;
}

/* Returns what WHAT makes of the whole parts of LEFT and RIGHT. */
static double of_integers(enum pm_metric_what what, double left, double right)
{
	long long a, b;

	if (!bits_of(left, &a) || !bits_of(right, &b))
		return NAN;
	switch (what) {
	case PM_STEP_OR:
		return (double)(a | b);
	case PM_STEP_XOR:
		return (double)(a ^ b);
	case PM_STEP_AND:
		return (double)(a & b);
	default:
		return b ? (double)(a % b) : NAN;
	}
}

/* Returns NAN where there is no value, also of a division by zero whose infinity would
 * vanish further on. An operand without a value is none that is larger or smaller. */
static double of_two(enum pm_metric_what what, double left, double right)
{
	if (isnan(left) || isnan(right))
		return NAN;
	switch (what) {
	case PM_STEP_ADD:
		return left + right;
	case PM_STEP_SUBTRACT:
		return left - right;
	case PM_STEP_MULTIPLY:
		return left * right;
	case PM_STEP_DIVIDE:
		return right == 0 ? NAN : left / right;
	case PM_STEP_RATIO:
		return right == 0 ? 0 : left / right;
	case PM_STEP_LESS:
		return left < right;
	case PM_STEP_GREATER:
		return left > right;
	case PM_STEP_MIN:
		return left < right ? left : right;
	case PM_STEP_MAX:
		return left > right ? left : right;
	default:
		return of_integers(what, left, right);
	}
}

double pm_metric_step_value(enum pm_metric_what what, const double *operands)
{
	switch (what) {
	case PM_STEP_NEGATE:
		return -operands[0];
	case PM_STEP_CHOOSE:
		return isnan(operands[1]) ? NAN : operands[operands[1] != 0 ? 0 : 2];
	default:
		return of_two(what, operands[0], operands[1]);
	}
}

bool pm_metric_value(const struct pm_metric *metric, const double *values, double *value)
{
	double stack[PM_METRIC_STACK], *top = stack; /* behind the last value */

	for (uint32_t i = 0; i < metric->step_count; i++) {
		const struct pm_metric_step *s = &metric->steps[i];

		top -= taken_by(s->what);
		if (s->what == PM_STEP_NUMBER)
			*top = s->number;
		else if (s->what == PM_STEP_INPUT)
			*top = values[s->input];
		else
			*top = pm_metric_step_value(s->what, top);
		top++;
	}
	if (!isfinite(stack[0]))
		return false;
	*value = stack[0];
	return true;
}
