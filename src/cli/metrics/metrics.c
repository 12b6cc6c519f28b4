/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics by name (-M). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common/common.h"
#include "cli/metrics/definition.h"
#include "cli/metrics/event.h"
#include "cli/metrics/expression.h"
#include "cli/metrics/formula.h"
#include "cli/metrics/machine.h"
#include "cli/metrics/named.h"
#include "core/named/named.h"
#include "core/report/output/escape.h"
#include "core/text/bytes.h"
#include "core/text/grow.h"
#include "core/text/text.h"

/* An input of expressions. It is only looked for if a formula needs it. */
struct input {
	char *perf_name;
	char *name; /* in formulas; NULL: not looked for yet */
};

struct work {
	bool cpus;
	struct metric_definitions perf, *from; /* FROM: of the metric at hand */
	bool perf_is_read, encodings_are_read;
	struct metric_tree tree;
	struct input *inputs;
	size_t input_count;
	char *events;
	struct pm_bytes formulas; /* text */
	struct pm_diag diag;
};

static int no_memory(struct work *work)
{
	return pm_diag_set(&work->diag, -ENOMEM, "no memory for metrics");
}

/* --- texts -------------------------------------------------------------------------- */

static int text_sink(void *argument, const char *from, size_t size)
{
	struct pm_bytes *to = argument;

	if (to->used + size > PM_METRIC_TEXT_MAX)
		return -E2BIG;
	pm_bytes_add(to, from, size);
	return to->failed ? -ENOMEM : 0;
}

/* --- what words mean ---------------------------------------------------------------- */

static int metric_root(struct work *work, struct metric_definition *metric,
		       uint32_t *root);

static int input_node(struct work *work, const char *name, uint32_t *node)
{
	struct metric_node n = {.what = PM_STEP_INPUT};

	while (n.input < work->input_count &&
	       strcasecmp(work->inputs[n.input].perf_name, name) != 0)
		n.input++;
	if (n.input == work->input_count) {
		char *copy = strdup(name);

		if (!copy || !PM_GROW(work->inputs, work->input_count)) {
			free(copy);
			return no_memory(work);
		}
		work->inputs[work->input_count++] = (struct input){.perf_name = copy};
	}
	return metric_tree_add(&work->tree, n, node) ? no_memory(work) : 0;
}

/* perf counts duration_time in seconds. */
static int duration_node(struct work *work, uint32_t *node)
{
	struct metric_node second = {.what = PM_STEP_NUMBER, .number = 1e9};
	struct metric_node quotient = {.what = PM_STEP_DIVIDE};
	int err = input_node(work, "duration_time", &quotient.operand[0]);

	err = err ?: metric_tree_add(&work->tree, second, &quotient.operand[1]);
	err = err ?: metric_tree_add(&work->tree, quotient, node);
	return err ? no_memory(work) : 0;
}

static int mean_name(void *argument, const char *name, uint32_t *node)
{
	struct work *work = argument;
	struct metric_definition *metric = metric_definition_find(work->from, name);

	if (metric)
		return metric_root(work, metric, node);
	return strcasecmp(name, "duration_time") ? input_node(work, name, node)
						 : duration_node(work, node);
}

static int mean_literal(void *argument, const char *name, double *value)
{
	struct work *work = argument;

	return metric_literal(name, work->cpus, value, &work->diag);
}

/* Finds an event. What perf calls it is asked once. */
static int event_find(struct work *work, const char *name, struct metric_event *event)
{
	if (!work->encodings_are_read) {
		struct pm_diag ignored = {0};

		/* Without perf an event may have a name that libpfm4 knows. */
		metric_perf_read(&work->perf, true, &ignored);
		work->encodings_are_read = true;
	}
	return metric_event_find(&work->perf, name, event, &work->diag);
}

static int mean_function(void *argument, const char *function, const char *name,
			 double *value)
{
	struct work *work = argument;
	struct metric_event event = {.text = NULL};
	bool counts_units = !strcmp(function, "source_count");
	int err;

	if (!strcmp(function, "strcmp_cpuid_str")) {
		*value = metric_cpu_is(name);
		return 0;
	}
	err = event_find(work, name, &event);
	free(event.text);
	free(event.name);
	if (err == -ENOMEM)
		return err;
	/* A branch that is not taken may ask for the units of an event that is not here. */
	*value = counts_units ? event.units : !err;
	return 0;
}

/* Finds the tree of METRIC, of the source at hand. */
static int metric_root(struct work *work, struct metric_definition *metric,
		       uint32_t *root)
{
	const struct metric_meaning meaning = {.argument = work,
					       .diag = &work->diag,
					       .name = mean_name,
					       .literal = mean_literal,
					       .function = mean_function};
	int err;

	if (metric->is == METRIC_READING)
		return pm_diag_set(&work->diag, -ELOOP,
				   "the expression of '%s' leads back to itself",
				   metric->name);
	if (metric->is == METRIC_UNREAD) {
		metric->is = METRIC_READING;
		err = metric_expression_parse(&work->tree, metric->expression, &meaning,
					      &metric->root);
		if (err)
			return err;
		metric->is = METRIC_READ;
	}
	*root = metric->root;
	return 0;
}

/* --- formulas ----------------------------------------------------------------------- */

/* Returns whether NAME stands in EXPRESSION with a '-' and another word at its side, as the parts of
 * "l1d-loads" do, which the user may have meant as one name. */
static bool is_part_of_difference(const char *expression, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(expression, name); at; at = strstr(at + 1, name)) {
		if (at[length] == '-' && isalnum((unsigned char)at[length + 1]))
			return true;
		if (at - expression > 1 && at[-1] == '-' &&
		    isalnum((unsigned char)at[-2]))
			return true;
	}
	return false;
}

/* Finds the event of an input, and adds it to the events. */
static int input_resolve(struct work *work, struct input *input,
			 const struct metric_definition *metric)
{
	struct metric_event event = {.text = NULL};
	struct pm_diag why;
	int err;

	if (!strcmp(input->perf_name, "duration_time")) {
		input->name = strdup("time_ns");
		return input->name ? 0 : no_memory(work);
	}
	err = event_find(work, input->perf_name, &event);
	if (!err)
		err = metric_event_try(&event, &work->diag);
	if (!err) {
		input->name = malloc(strlen(event.name) + 3);
		if (input->name)
			strcat(strcat(strcpy(input->name, "'"), event.name), "'");
		err = input->name ? pm_named_add_events(&work->events, event.text)
				  : -ENOMEM;
		if (err)
			no_memory(work);
	} else {
		why = work->diag;
		err = err == -ENOMEM ? err : -ENOENT;
		pm_diag_set(&work->diag, err, "no metric '%s' here, which needs '%s': %s",
			    metric->name, input->perf_name, why.text);
		if (is_part_of_difference(metric->expression, input->perf_name))
			pm_diag_add(&work->diag, "; in an expression '-' subtracts: "
						 "write '\\-' for a '-' in a name");
		if (!work->perf.encoding_count)
			pm_diag_add(&work->diag, "; perf prints codes of events only "
						 "where it finds counters of the CPU");
	}
	free(event.text);
	free(event.name);
	return err;
}

/* Resolves the inputs of the tree at ROOT. */
static int inputs_resolve(struct work *work, uint32_t root,
			  const struct metric_definition *metric)
{
	bool *used = calloc(root + 1, sizeof(*used));
	int err = used ? 0 : no_memory(work);

	if (used)
		used[root] = true;
	/* Operands stand before what has them. */
	for (uint32_t i = root + 1; !err && i-- > 0;) {
		const struct metric_node *node = &work->tree.nodes[i];

		if (!used[i])
			continue;
		for (uint32_t k = 0; k < pm_metric_operands(node->what); k++)
			used[node->operand[k]] = true;
		if (node->what == PM_STEP_INPUT && !work->inputs[node->input].name)
			err = input_resolve(work, &work->inputs[node->input], metric);
	}
	free(used);
	return err;
}

static const char *input_name(void *argument, uint32_t input)
{
	const struct work *work = argument;

	return work->inputs[input].name;
}

/* Multiplies the tree at ROOT by the number in front of SCALE_UNIT. Returns its unit. */
static const char *scale(struct work *work, const char *scale_unit, uint32_t *root,
			 int *err)
{
	struct metric_node product = {.what = PM_STEP_MULTIPLY, .operand = {*root}};
	struct metric_node factor = {.what = PM_STEP_NUMBER};
	char digits[32];
	size_t length;

	*err = 0;
	if (!scale_unit)
		return "";
	length = (size_t)(metric_number_end(scale_unit) - scale_unit);
	if (!length || length >= sizeof(digits))
		return scale_unit;
	memcpy(digits, scale_unit, length);
	digits[length] = '\0';
	if (pm_text_double(digits, &factor.number))
		return scale_unit;
	if (factor.number != 1) {
		*err = metric_tree_add(&work->tree, factor, &product.operand[1]);
		*err = *err ?: metric_tree_add(&work->tree, product, root);
	}
	return scale_unit + length;
}

/* A name of this project's metrics has fewer characters. */
static void put_name(struct pm_out *out, const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-%/";

	char copy[128];
	size_t used = 0;

	for (; *name && used < sizeof(copy) - 1; name++)
		copy[used++] = strchr(allowed, *name) ? *name : '_';
	copy[used] = '\0';
	if (pm_char_is_digit(copy[0]) || strchr(".-%/", copy[0]))
		pm_out_text(out, "m_");
	pm_out_plain(out, copy, 0);
}

static void put_unit(struct pm_out *out, const char *unit)
{
	pm_out_text(out, " [");
	pm_out_plain(out, unit, 0);
	pm_out_text(out, "]");
}

static int metric_put(struct work *work, struct metric_definition *metric)
{
	struct pm_out out = {.sink = text_sink, .argument = &work->formulas};
	uint32_t root = 0;
	const char *unit;
	int err = metric_root(work, metric, &root);

	if (err) {
		struct pm_diag why = work->diag;

		return pm_diag_set(&work->diag, err, "metric '%s': %s", metric->name,
				   why.text);
	}
	unit = scale(work, metric->scale_unit, &root, &err);
	err = err ? no_memory(work) : inputs_resolve(work, root, metric);
	if (err)
		return err;
	pm_out_text(&out, work->formulas.used ? "; " : "");
	put_name(&out, metric->name);
	/* A cell has room for so many. */
	if (*unit && strlen(unit) <= 10 && !strpbrk(unit, "[]=;#"))
		put_unit(&out, unit);
	pm_out_text(&out, " = ");
	err = metric_formula_put(&out, &work->tree, root, input_name, work);
	err = err ?: pm_out_end(&out);
	if (err == -EDOM)
		return pm_diag_set(&work->diag, err,
				   "no metric '%s' here: it divides by zero",
				   metric->name);
	return err ? pm_diag_set(&work->diag, err, "the formulas of '%s' are too long",
				 metric->name)
		   : 0;
}

/* --- names -------------------------------------------------------------------------- */

static int unknown(struct work *work, struct pm_slice name, const char *file)
{
	struct pm_suggestion like = {.wanted = name};

	for (size_t i = 0; i < work->from->count; i++)
		pm_suggestion_offer(&like, work->from->metrics[i].name, NULL);
	pm_diag_set(&work->diag, -EINVAL, "'%s' is not a metric of %s%s%s",
		    pm_slice_quote(name).text, file ? "'" : "this CPU that perf knows",
		    file ? pm_slice_quote(pm_slice_of(file)).text : "", file ? "'" : "");
	if (*like.best)
		pm_diag_add(&work->diag, ": did you mean '%s'?", like.best);
	else if (!file)
		pm_diag_add(&work->diag, ": 'perf list metric' prints them");
	return -EINVAL;
}

/* Adds the metric NAME of ALL. FILE: where they come from; NULL: perf. */
static int find_in(struct work *work, struct metric_definitions *all,
		   struct pm_slice name, const char *file)
{
	char *copy = pm_slice_copy(name);
	struct metric_definition *metric;
	int err;

	if (!copy)
		return no_memory(work);
	work->from = all;
	metric = metric_definition_find(all, copy);
	err = metric ? metric_put(work, metric) : unknown(work, name, file);
	free(copy);
	return err;
}

/* "@FILE:NAME" */
static int find_in_file(struct work *work, struct pm_slice item)
{
	const char *colon = memrchr(item.at, ':', item.length);
	struct pm_slice name = {NULL, 0};
	struct metric_definitions all = {.metrics = NULL};
	char *path;
	int err;

	if (!colon)
		return pm_diag_set(&work->diag, -EINVAL,
				   "'%s' names no metric: expects @FILE:NAME",
				   pm_slice_quote(item).text);
	name.at = colon + 1;
	name.length = item.length - (size_t)(name.at - item.at);
	path = pm_slice_copy(
		(struct pm_slice){item.at + 1, (size_t)(colon - item.at - 1)});
	err = path ? metric_file_read(&all, path, &work->diag) : no_memory(work);
	if (!err)
		err = find_in(work, &all, name, path);
	free(path);
	metric_definitions_free(&all);
	return err;
}

static int find_in_perf(struct work *work, struct pm_slice name)
{
	int err = 0;

	if (!work->perf_is_read)
		err = metric_perf_read(&work->perf, false, &work->diag);
	work->perf_is_read = true;
	return err ?: find_in(work, &work->perf, name, NULL);
}

static int find_all(struct work *work, const char *names)
{
	struct pm_slice rest = pm_slice_of(names);
	int err = 0;

	while (!err && rest.at) {
		struct pm_slice item = pm_slice_trim(pm_slice_cut(rest, ',', &rest));

		if (!item.length)
			err = pm_diag_set(&work->diag, -EINVAL,
					  "a metric's name is missing in '%s'",
					  pm_slice_quote(pm_slice_of(names)).text);
		else if (item.at[0] == '@')
			err = find_in_file(work, item);
		else
			err = find_in_perf(work, item);
	}
	return err;
}

int cli_metrics_find(const char *subcommand, const char *names, bool cpus,
		     struct cli_named *metrics)
{
	struct work work = {.cpus = cpus};
	int err = find_all(&work, names);

	pm_bytes_add(&work.formulas, "", 1);
	*metrics = (struct cli_named){work.events, (char *)work.formulas.data};
	if (!err && work.formulas.failed)
		err = no_memory(&work);
	for (size_t i = 0; i < work.input_count; i++) {
		free(work.inputs[i].perf_name);
		free(work.inputs[i].name);
	}
	free(work.inputs);
	free(work.tree.nodes);
	metric_definitions_free(&work.perf);
	if (!err)
		return 0;
	err = err == -EINVAL || err == -E2BIG || err == -ELOOP || err == -EDOM
		      ? CLI_USAGE
		      : CLI_FAILED;
	return cli_fail(err, subcommand, "%s", work.diag.text);
}
