/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a formula to steps in postfix order, and from these to a value. */
#include "core/report/model/formula.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/text/grow.h"

struct parser {
	struct pm_grammar grammar;
	uint32_t stack; /* values that the steps so far leave */
	struct pm_metric *metric;
};

uint32_t pm_metric_operands(enum pm_metric_what what)
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
		return pm_metric_error_at(p->grammar.place, -E2BIG, p->grammar.at,
					  "the formula is too long");
	if (p->stack - pm_metric_operands(s.what) == PM_METRIC_STACK)
		return pm_metric_error_at(p->grammar.place, -E2BIG, p->grammar.at,
					  "the formula is nested too deep");
	if (!PM_GROW(metric->steps, metric->step_count))
		return pm_diag_set(p->grammar.place->diag, -ENOMEM,
				   "no memory for a metric");
	p->stack += 1 - pm_metric_operands(s.what);
	metric->steps[metric->step_count++] = s;
	return 0;
}

static int number(struct parser *p)
{
	const char *from = p->grammar.at;
	struct pm_metric_step s = {.what = PM_STEP_NUMBER};
	char text[64];
	size_t length;

	while (p->grammar.at < p->grammar.end &&
	       (pm_formula_word(*p->grammar.at) || *p->grammar.at == '.')) {
		bool exponent = pm_char_lower(*p->grammar.at) == 'e';

		p->grammar.at++;
		if (exponent && p->grammar.at < p->grammar.end &&
		    (*p->grammar.at == '-' || *p->grammar.at == '+'))
			p->grammar.at++;
	}
	length = (size_t)(p->grammar.at - from);
	if (length >= sizeof(text))
		return pm_metric_error_at(p->grammar.place, -EINVAL, from,
					  "a number is too long");
	memcpy(text, from, length);
	text[length] = '\0';
	/* No hexadecimal number: its 'e' would be an exponent above. */
	if (strspn(text, "0123456789.eE+-") != length || pm_text_double(text, &s.number))
		return pm_metric_error_at(p->grammar.place, -EINVAL, from,
					  "not a number");
	return step(p, s);
}

/* Where the terms of a PMU end that begin behind the '/' at FROM: at their '/', or NULL
 * if the '/' is a division. */
static const char *terms_end(const struct parser *p, const char *from)
{
	const char *c = from + 1;

	while (c < p->grammar.end &&
	       (pm_formula_word(*c) || (*c && strchr("=,.:-%@", *c))))
		c++;
	return c > from + 1 && c < p->grammar.end && *c == '/' ? c : NULL;
}

/* The end of the event's name at the parser's place. */
static const char *name_end(const struct parser *p)
{
	const char *c = p->grammar.at, *close;

	for (; c < p->grammar.end; c++) {
		if (pm_formula_word(*c) || *c == '.' || *c == ':' || *c == '=')
			continue;
		/* A minus between two words is part of a name. */
		if (*c == '-' && c + 1 < p->grammar.end && pm_formula_word(c[1]))
			continue;
		break;
	}
	if (c == p->grammar.end || *c != '/')
		return c;
	close = terms_end(p, c);
	if (!close)
		return c;
	for (c = close + 1; c < p->grammar.end && (pm_formula_letter(*c) || *c == ':');
	     c++)
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
		return pm_metric_error_at(p->grammar.place, -E2BIG, name.at,
					  "the formula has too many inputs");
	if (!PM_GROW(metric->inputs, metric->input_count))
		return pm_diag_set(p->grammar.place->diag, -ENOMEM,
				   "no memory for a metric");
	to = &metric->inputs[metric->input_count];
	to->kind = PM_METRIC_EVENT;
	for (int k = PM_METRIC_TIME; !quoted && k <= PM_METRIC_THREADS; k++)
		if (pm_slice_is(name, words[k]))
			to->kind = (enum pm_metric_kind)k;
	to->name = pm_slice_copy(name);
	if (!to->name)
		return pm_diag_set(p->grammar.place->diag, -ENOMEM,
				   "no memory for a metric");
	metric->input_count++;
	return step(p, s);
}

static int quoted(struct parser *p)
{
	const char *close = memchr(p->grammar.at + 1, '\'',
				   (size_t)(p->grammar.end - p->grammar.at - 1));
	struct pm_slice name = {.at = p->grammar.at + 1};

	if (!close)
		return pm_metric_error_at(p->grammar.place, -EINVAL, p->grammar.at,
					  "a quote is not closed");
	if (close == name.at)
		return pm_metric_error_at(p->grammar.place, -EINVAL, p->grammar.at,
					  "an event's name is missing");
	name.length = (size_t)(close - name.at);
	p->grammar.at = close + 1;
	return input(p, name, true);
}

/* A function, an event, or another word. */
static int named(struct parser *p)
{
	struct pm_slice name = {.at = p->grammar.at};
	enum pm_metric_what what;

	p->grammar.at = name_end(p);
	name.length = (size_t)(p->grammar.at - name.at);
	if (pm_grammar_peek(&p->grammar) == '(' && pm_grammar_is_function(name, &what))
		return pm_grammar_arguments(&p->grammar, what, &(uint32_t){0});
	return input(p, name, false);
}

static int operand(struct pm_grammar *g, uint32_t *node)
{
	struct parser *p = (struct parser *)g;
	char c = g->at < g->end ? *g->at : '\0';

	(void)node;
	if (pm_char_is_digit(c) || c == '.')
		return number(p);
	if (c == '\'')
		return quoted(p);
	if (!pm_formula_letter(c))
		return pm_metric_error_at(g->place, -EINVAL, g->at,
					  "a number, an event or '(' is missing");
	return named(p);
}

static int operation(struct pm_grammar *g, enum pm_metric_what what,
		     const uint32_t operands[3], uint32_t *node)
{
	(void)operands;
	(void)node;
	return step((struct parser *)g, (struct pm_metric_step){.what = what});
}

int pm_formula_parse(const struct pm_metric_place *place, const char *from,
		     struct pm_metric *metric)
{
	unsigned int depth = 0;
	struct parser p = {
		.grammar = {.place = place,
			    .at = from,
			    .end = place->item.at + place->item.length,
			    .depth = &depth,
			    .depth_most = PM_METRIC_DEPTH + 1,
			    .operand = operand,
			    .operation = operation,
			    .is_word = pm_formula_word},
		.metric = metric,
	};

	return pm_grammar_read(&p.grammar, &(uint32_t){0});
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

		top -= pm_metric_operands(s->what);
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
