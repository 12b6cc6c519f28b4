/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the text of metrics to formulas in postfix order, and from these to values. */
#include "core/report/model/metric.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/kernel/files.h"
#include "core/text/grow.h"
#include "core/text/text.h"

/* The metrics that every report shows if their events are counted. Names and formulas are those
 * of perf and of the PMUs' sysfs folders. */
static const struct {
	const char *definition, *heading, *meaning;
} built_in[] = {
	{"ipc = instructions / cycles", "IPC", "instructions per cycle"},
	{"ghz = cycles / on_cpu_ns", "GHz", "cycles per nanosecond on the CPU"},
	{"branch_miss_percent [%] = 100 * branch-misses / branches", "br-miss%",
	 "branch misses per 100 branches"},
	{"cache_miss_percent [%] = 100 * cache-misses / cache-references", "cache-miss%",
	 "cache misses per 100 cache references"},
	{"l1d_miss_percent [%] = 100 * L1-dcache-load-misses / L1-dcache-loads",
	 "l1d-miss%", "misses per 100 loads from the first-level data cache"},
	{"l1d_miss_percent [%] = 100 * l1d_cache_refill / l1d_cache", "l1d-miss%",
	 "refills per 100 accesses of the first-level data cache"},
	{"dtlb_miss_percent [%] = 100 * dTLB-load-misses / dTLB-loads", "dtlb-miss%",
	 "misses per 100 loads through the data TLB"},
	{"frontend_stall_percent [%] = 100 * stalled-cycles-frontend / cycles",
	 "fe-stall%", "cycles waiting for instructions, per 100 cycles"},
	{"frontend_stall_percent [%] = 100 * stall_frontend / cycles", "fe-stall%",
	 "cycles waiting for instructions, per 100 cycles"},
	{"backend_stall_percent [%] = 100 * stalled-cycles-backend / cycles", "be-stall%",
	 "cycles waiting for units or data, per 100 cycles"},
	{"backend_stall_percent [%] = 100 * stall_backend / cycles", "be-stall%",
	 "cycles waiting for units or data, per 100 cycles"},
	{"retiring_percent [%] = 100 * topdown-retiring / slots", "retiring%",
	 "slots of operations that retired, per 100 slots"},
	{"bad_spec_percent [%] = 100 * topdown-bad-spec / slots", "bad-spec%",
	 "slots of operations that were dropped, and of recovery from that, per 100 "
	 "slots"},
	{"fe_bound_percent [%] = 100 * topdown-fe-bound / slots", "fe-bound%",
	 "slots without an operation from the front end, per 100 slots"},
	{"be_bound_percent [%] = 100 * topdown-be-bound / slots", "be-bound%",
	 "slots that waited for the back end, per 100 slots"},
	{"heavy_ops_percent [%] = 100 * topdown-heavy-ops / slots", "heavy-ops%",
	 "of those that retired, slots of instructions of several operations, per 100 "
	 "slots"},
	{"br_mispredict_percent [%] = 100 * topdown-br-mispredict / slots", "br-mispred%",
	 "of those that were dropped, slots behind a mispredicted branch, per 100 slots"},
	{"fetch_lat_percent [%] = 100 * topdown-fetch-lat / slots", "fetch-lat%",
	 "of those without an operation, slots of cycles without any, per 100 slots"},
	{"mem_bound_percent [%] = 100 * topdown-mem-bound / slots", "mem-bound%",
	 "of those that waited, slots that waited for memory, per 100 slots"},
	{"watts [W] = 1000000000 * power/energy-pkg/ / time_ns", "W",
	 "Joules of the packages per second in which the region was open"},
	{"gb_per_s [GB/s] = bytes / time_ns", "GB/s",
	 "bytes that the program said, per nanosecond of a thread"},
	{"gflop_per_s [GFLOP/s] = flops / time_ns", "GFLOP/s",
	 "operations that the program said, per nanosecond of a thread"},
	{"intensity [FLOP/B] = flops / bytes", "FLOP/B",
	 "operations for each byte, as the program said"},
};
#define BUILT_IN (sizeof(built_in) / sizeof(built_in[0]))

struct parser {
	struct pm_metrics *metrics;
	struct pm_diag *diag;
	struct pm_slice item; /* the definition at hand */
	const char *at, *end; /* of what is left of it */
	const char *file;     /* where it stands; NULL: in the text itself */
	unsigned int line;
	unsigned int depth;
	struct pm_metric *metric;
};

static void metric_clear(struct pm_metric *metric)
{
	for (uint32_t i = 0; i < metric->input_count; i++)
		free(metric->inputs[i].name);
	free(metric->steps);
	free(metric->region);
	free(metric->name);
	free(metric->unit);
	free(metric->formula);
}

void pm_metrics_free(struct pm_metrics *metrics)
{
	for (uint32_t i = 0; metrics && i < metrics->count; i++)
		metric_clear(&metrics->metrics[i]);
	free(metrics);
}

/* WHAT is wrong at P; ERR is returned. */
static int error_at(struct parser *p, int err, const char *at, const char *what)
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

static void skip_blanks(struct parser *p)
{
	while (p->at < p->end && pm_char_is_blank(*p->at))
		p->at++;
}

static char peek(struct parser *p)
{
	skip_blanks(p);
	return p->at < p->end ? *p->at : '\0';
}

static bool is_letter(char c)
{
	c = pm_char_lower(c);
	return (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_word(char c)
{
	return is_letter(c) || pm_char_is_digit(c);
}

static int step(struct parser *p, struct pm_metric_step s)
{
	struct pm_metric *metric = p->metric;

	if (metric->step_count == PM_METRIC_STEPS)
		return error_at(p, -E2BIG, p->at, "the formula is too long");
	if (!PM_GROW(metric->steps, metric->step_count))
		return pm_diag_set(p->diag, -ENOMEM, "no memory for a metric");
	metric->steps[metric->step_count++] = s;
	return 0;
}

static int number(struct parser *p)
{
	const char *from = p->at;
	struct pm_metric_step s = {.what = PM_STEP_NUMBER};
	char text[64];
	size_t length;

	while (p->at < p->end && (is_word(*p->at) || *p->at == '.')) {
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

	while (c < p->end && (is_word(*c) || (*c && strchr("=,.:-%@", *c))))
		c++;
	return c > from + 1 && c < p->end && *c == '/' ? c : NULL;
}

/* The end of the event's name at the parser's place. */
static const char *name_end(const struct parser *p)
{
	const char *c = p->at, *close;

	for (; c < p->end; c++) {
		if (is_word(*c) || *c == '.' || *c == ':' || *c == '=')
			continue;
		/* A minus between two words is part of a name. */
		if (*c == '-' && c + 1 < p->end && is_word(c[1]))
			continue;
		break;
	}
	if (c == p->end || *c != '/')
		return c;
	close = terms_end(p, c);
	if (!close)
		return c;
	for (c = close + 1; c < p->end && (is_letter(*c) || *c == ':'); c++)
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
	to = &metric->inputs[metric->input_count];
	to->kind = PM_METRIC_EVENT;
	for (int k = PM_METRIC_TIME; !quoted && k <= PM_METRIC_THREADS; k++)
		if (pm_slice_is(name, words[k]))
			to->kind = (enum pm_metric_kind)k;
	to->name = pm_slice_copy(name);
	if (!to->name)
		return pm_diag_set(p->diag, -ENOMEM, "no memory for a metric");
	metric->input_count++;
	return step(p, s);
}

static int sum(struct parser *p);

static int operand(struct parser *p)
{
	struct pm_slice name;
	char c = peek(p);
	int err;

	if (pm_char_is_digit(c) || c == '.')
		return number(p);
	if (c == '(' || c == '-') {
		const char *open = p->at++;

		if (p->depth == PM_METRIC_DEPTH)
			return error_at(p, -E2BIG, open,
					"the formula is nested too deep");
		p->depth++;
		err = c == '(' ? sum(p) : operand(p);
		p->depth--;
		if (err)
			return err;
		if (c == '-')
			return step(p, (struct pm_metric_step){.what = PM_STEP_NEGATE});
		if (peek(p) != ')')
			return error_at(p, -EINVAL, open, "'(' without its ')'");
		p->at++;
		return 0;
	}
	name.at = p->at;
	if (c == '\'') {
		const char *close = memchr(p->at + 1, '\'', (size_t)(p->end - p->at - 1));

		if (!close)
			return error_at(p, -EINVAL, p->at, "a quote is not closed");
		if (close == p->at + 1)
			return error_at(p, -EINVAL, p->at, "an event's name is missing");
		name.at++;
		name.length = (size_t)(close - name.at);
		p->at = close + 1;
		return input(p, name, true);
	}
	if (!is_letter(c))
		return error_at(p, -EINVAL, p->at,
				"a number, an event or '(' is missing");
	p->at = name_end(p);
	name.length = (size_t)(p->at - name.at);
	return input(p, name, false);
}

/* Reads operands by NEXT, with the operators FIRST and SECOND between. */
static int chain(struct parser *p, int (*next)(struct parser *p), char first,
		 int first_step, char second, int second_step)
{
	int err = next(p);

	while (!err && (peek(p) == first || peek(p) == second)) {
		struct pm_metric_step s = {.what = *p->at++ == first ? first_step
								     : second_step};

		err = next(p) ?: step(p, s);
	}
	return err;
}

static int product(struct parser *p)
{
	return chain(p, operand, '*', PM_STEP_MULTIPLY, '/', PM_STEP_DIVIDE);
}

static int sum(struct parser *p)
{
	return chain(p, product, '+', PM_STEP_ADD, '-', PM_STEP_SUBTRACT);
}

/* Cuts "REGION:" off *TEXT. What a region's name has behind its last ':' is no name of a metric. */
static int head_region(struct parser *p, struct pm_slice *text)
{
	const char *colon = memrchr(text->at, ':', text->length);
	struct pm_slice region;

	if (!colon)
		return 0;
	region = pm_slice_trim((struct pm_slice){text->at, (size_t)(colon - text->at)});
	if (!region.length)
		return error_at(p, -EINVAL, text->at, "a region is missing before ':'");
	p->metric->region = pm_slice_copy(region);
	if (!p->metric->region)
		return pm_diag_set(p->diag, -ENOMEM, "no memory for a metric");
	text->length -= (size_t)(colon + 1 - text->at);
	text->at = colon + 1;
	*text = pm_slice_trim(*text);
	return 0;
}

/* "NAME", "NAME [UNIT]" or one of these behind "REGION:": what stands before the '='. */
static int head(struct parser *p, struct pm_slice text)
{
	struct pm_slice unit = {"", 0}, name;
	const char *open;
	int err = head_region(p, &text);

	if (err)
		return err;
	open = memchr(text.at, '[', text.length);
	name = text;
	if (open) {
		name = pm_slice_trim(
			(struct pm_slice){text.at, (size_t)(open - text.at)});
		if (text.at[text.length - 1] != ']')
			return error_at(p, -EINVAL, open, "'[' without its ']'");
		unit.at = open + 1;
		unit.length = (size_t)(text.at + text.length - 1 - unit.at);
		unit = pm_slice_trim(unit);
		/* A cell of a table has room for this. */
		if (!unit.length || unit.length > 10)
			return error_at(p, -EINVAL, open,
					"expects a unit of 1 to 10 characters");
	}
	if (!name.length || !is_letter(name.at[0]))
		return error_at(p, -EINVAL, text.at, "a metric's name is missing");
	for (size_t i = 0; i < name.length; i++)
		if (!is_word(name.at[i]) && !strchr(".-%/", name.at[i]))
			return error_at(p, -EINVAL, name.at + i,
					"a character not allowed in metric names");
	p->metric->name = pm_slice_copy(name);
	p->metric->unit = pm_slice_copy(unit);
	if (!p->metric->name || !p->metric->unit)
		return pm_diag_set(p->diag, -ENOMEM, "no memory for a metric");
	return 0;
}

static bool is_called(const struct pm_metric *metric, const char *name)
{
	return !strcasecmp(metric->name, name) ||
	       (metric->heading && !strcasecmp(metric->heading, name));
}

bool pm_metric_is_same(const struct pm_metric *a, const struct pm_metric *b)
{
	return is_called(a, b->name) || is_called(b, a->name);
}

static bool same_region(const struct pm_metric *a, const struct pm_metric *b)
{
	return a->region && b->region ? !strcmp(a->region, b->region)
				      : a->region == b->region;
}

/* Drops the metrics of the last one's name and region before it: the new one stands for them. */
static void replace(struct pm_metrics *metrics)
{
	const struct pm_metric *last = &metrics->metrics[metrics->count - 1];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < metrics->count; i++) {
		struct pm_metric *metric = &metrics->metrics[i];

		if (metric != last && same_region(metric, last) &&
		    pm_metric_is_same(metric, last))
			metric_clear(metric);
		else
			metrics->metrics[kept++] = *metric;
	}
	metrics->count = kept;
}

static int definition(struct parser *p, const char *equals)
{
	struct pm_metric metric = {0};
	struct pm_slice name = {p->item.at, (size_t)(equals - p->item.at)}, formula;
	int err;

	if (p->metrics->count == PM_METRICS_MAX)
		return error_at(p, -E2BIG, p->item.at, "one metric too many");
	p->metric = &metric;
	p->at = equals + 1;
	p->end = p->item.at + p->item.length;
	p->depth = 0;
	formula = pm_slice_trim((struct pm_slice){p->at, (size_t)(p->end - p->at)});
	metric.formula = pm_slice_copy(formula);
	err = head(p, pm_slice_trim(name));
	if (!err && !metric.formula)
		err = pm_diag_set(p->diag, -ENOMEM, "no memory for a metric");
	if (!err)
		err = sum(p);
	if (!err && peek(p))
		err = error_at(p, -EINVAL, p->at, "an operator is missing");
	if (err) {
		metric_clear(&metric);
		return err;
	}
	p->metrics->metrics[p->metrics->count++] = metric;
	return 0;
}

static int items(struct parser *p, const char *text);

static int file(struct parser *p)
{
	struct parser inner = {.metrics = p->metrics, .diag = p->diag, .line = 1};
	struct pm_slice name =
		pm_slice_trim((struct pm_slice){p->item.at + 1, p->item.length - 1});
	char *path, *text;
	int err;

	if (p->file)
		return error_at(p, -EINVAL, p->item.at, "a file names another file");
	path = pm_slice_copy(name);
	if (!path)
		return pm_diag_set(p->diag, -ENOMEM, "no memory for a file's name");
	err = (int)pm_file_read(path, &text);
	if (err < 0) {
		err = pm_diag_set(p->diag, err, "cannot read the file '%s' (%s)",
				  pm_slice_quote(name).text,
				  err == -ENOTSUP ? "not a regular file"
						  : strerror(-err));
	} else {
		inner.file = path;
		err = items(&inner, text);
		free(text);
	}
	free(path);
	return err;
}

static int item(struct parser *p)
{
	const char *equals = memchr(p->item.at, '=', p->item.length);
	int err;

	if (p->item.at[0] == '@')
		return file(p);
	if (equals) {
		err = definition(p, equals);
		if (!err)
			replace(p->metrics);
		return err;
	}
	if (!pm_slice_is(p->item, "none"))
		return error_at(p, -EINVAL, p->item.at + p->item.length,
				"'=' and a formula are missing");
	while (p->metrics->count)
		metric_clear(&p->metrics->metrics[--p->metrics->count]);
	return 0;
}

/* Items with ';' or the end of a line between; '#' begins a comment. */
static int items(struct parser *p, const char *text)
{
	struct pm_slice rest = pm_slice_of(text), line;
	int err = 0;

	if (rest.length > PM_METRIC_TEXT_MAX)
		return pm_diag_set(p->diag, -E2BIG,
				   "more than %d characters of metrics%s%s",
				   PM_METRIC_TEXT_MAX, p->file ? " in " : "",
				   p->file ? p->file : "");
	for (p->line = 1; !err && rest.at; p->line++) {
		line = pm_slice_cut(pm_slice_cut(rest, '\n', &rest), '#', NULL);
		while (!err && line.at) {
			p->item = pm_slice_trim(pm_slice_cut(line, ';', &line));
			if (p->item.length)
				err = item(p);
		}
	}
	return err;
}

int pm_metrics_parse(const char *text, struct pm_metrics **out, struct pm_diag *diag)
{
	struct parser p = {.diag = diag};
	int err = 0;

	p.metrics = calloc(1, sizeof(*p.metrics) +
				      PM_METRICS_MAX * sizeof(p.metrics->metrics[0]));
	if (!p.metrics)
		return pm_diag_set(diag, -ENOMEM, "no memory for metrics");
	for (size_t i = 0; !err && i < BUILT_IN; i++) {
		p.item = pm_slice_of(built_in[i].definition);
		err = definition(&p, strchr(built_in[i].definition, '='));
		if (err)
			break;
		p.metrics->metrics[i].heading = built_in[i].heading;
		p.metrics->metrics[i].meaning = built_in[i].meaning;
	}
	if (!err && text)
		err = items(&p, text);
	if (err) {
		pm_metrics_free(p.metrics);
		return err;
	}
	*out = p.metrics;
	return 0;
}

struct pm_metrics *pm_metrics_of(struct pm_options *options)
{
	struct pm_metrics *metrics = NULL;
	struct pm_diag diag = {0};

	if (options->metrics && pm_metrics_parse(options->metrics, &metrics, &diag))
		pm_options_note(options,
				"PERFMON_METRICS: %s: using the built-in metrics",
				diag.text);
	return metrics;
}

bool pm_metric_value(const struct pm_metric *metric, const double *values, double *value)
{
	double stack[PM_METRIC_STEPS + 1];
	uint32_t used = 0;

	for (uint32_t i = 0; i < metric->step_count; i++) {
		const struct pm_metric_step *s = &metric->steps[i];
		double right;

		switch (s->what) {
		case PM_STEP_NUMBER:
			stack[used++] = s->number;
			continue;
		case PM_STEP_INPUT:
			stack[used++] = values[s->input];
			continue;
		case PM_STEP_NEGATE:
			stack[used - 1] = -stack[used - 1];
			continue;
		default:
			right = stack[--used];
		}
		if (s->what == PM_STEP_ADD)
			stack[used - 1] += right;
		else if (s->what == PM_STEP_SUBTRACT)
			stack[used - 1] -= right;
		else if (s->what == PM_STEP_MULTIPLY)
			stack[used - 1] *= right;
		/* Also where the infinity would vanish further on. */
		else if (right == 0)
			return false;
		else
			stack[used - 1] /= right;
	}
	if (!isfinite(stack[0]))
		return false;
	*value = stack[0];
	return true;
}
