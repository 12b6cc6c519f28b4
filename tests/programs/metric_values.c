/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints the value of each metric that perf knows for a CPU (PERF_CPUID), or of a file,
 * with counts that are made of the events' names: "NAME VALUE", or "NAME -" where it has
 * none. tests/metric_values.py calculates the same from the same expressions by itself.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/metrics/definition.h"
#include "cli/metrics/expression.h"
#include "cli/metrics/formula.h"
#include "core/report/model/metric.h"
#include "core/text/grow.h"

struct names {
	const struct metric_definitions *all;
	struct metric_tree tree;
	char **texts; /* in quotes, as a formula has them */
	uint32_t count;
	unsigned int depth;
	struct pm_diag diag;
};

/* A count for the event NAME, 0 for some. */
static double count_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)(*name |
					       ('A' <= *name && *name <= 'Z' ? 32 : 0))) *
		       16777619u;
	return hash % 23 ? hash % 100003 : 0;
}

static int mean_name(void *argument, const char *name, uint32_t *node);

static int mean_literal(void *argument, const char *name, double *value)
{
	(void)argument;
	*value = (double)(strlen(name) % 3);
	return 0;
}

static int mean_function(void *argument, const char *function, const char *name,
			 double *value)
{
	(void)argument;
	*value = (double)(strlen(function) + strlen(name) % 2);
	return 0;
}

static int parse(struct names *names, const char *text, uint32_t *root)
{
	const struct metric_meaning meaning = {names, &names->diag, mean_name,
					       mean_literal, mean_function};

	return metric_expression_parse(&names->tree, text, &meaning, root);
}

static int mean_name(void *argument, const char *name, uint32_t *node)
{
	struct names *names = argument;
	const struct metric_definition *metric = metric_definition_find(names->all, name);
	struct metric_node n = {.what = PM_STEP_INPUT, .input = names->count};
	int err;

	if (metric && names->depth == 100)
		return pm_diag_set(&names->diag, -ELOOP, "too deep");
	if (metric) {
		names->depth++;
		err = parse(names, metric->expression, node);
		names->depth--;
		return err;
	}
	if (!PM_GROW(names->texts, names->count) ||
	    asprintf(&names->texts[names->count], "'%s'", name) < 0)
		return -ENOMEM;
	names->count++;
	return metric_tree_add(&names->tree, n, node);
}

static const char *name_of(void *argument, uint32_t input)
{
	const struct names *names = argument;

	return names->texts[input];
}

static int sink(void *argument, const char *text, size_t size)
{
	return fwrite(text, 1, size, argument) == size ? 0 : -EIO;
}

/* Calculates the formula TEXT as reports do. */
static void print_value(const char *name, const char *text)
{
	struct pm_metrics *metrics;
	struct pm_diag diag = {0};
	double values[PM_METRIC_INPUTS], value;
	const struct pm_metric *metric;

	if (pm_metrics_parse(text, &metrics, &diag)) {
		printf("%s error: %s\n", name, diag.text);
		return;
	}
	metric = &metrics->metrics[0];
	for (uint32_t i = 0; i < metric->input_count; i++)
		values[i] = count_of(metric->inputs[i].name);
	if (pm_metric_value(metric, values, &value))
		printf("%s %.17g\n", name, value);
	else
		printf("%s -\n", name);
	if (getenv("METRIC_SIZES"))
		fprintf(stderr, "%u inputs, %u steps, %zu characters: %s\n",
			metric->input_count, metric->step_count, strlen(text), name);
	pm_metrics_free(metrics);
}

static void print_metric(const struct metric_definitions *all,
			 const struct metric_definition *metric)
{
	struct names names = {.all = all};
	struct pm_out out = {.sink = sink};
	char *text = NULL;
	size_t size;
	uint32_t root;
	int err = parse(&names, metric->expression, &root);

	if (err) {
		printf("%s error: %s\n", metric->name, names.diag.text);
	} else {
		out.argument = open_memstream(&text, &size);
		pm_out_text(&out, "none; m = ");
		err = metric_formula_put(&out, &names.tree, root, name_of, &names);
		pm_out_end(&out);
		fclose(out.argument);
		if (err)
			printf("%s -\n", metric->name);
		else
			print_value(metric->name, text);
		free(text);
	}
	for (uint32_t i = 0; i < names.count; i++)
		free(names.texts[i]);
	free(names.texts);
	free(names.tree.nodes);
}

/* Parses EXPRESSION with some of its bytes changed, added or left out. */
static void mutate(const struct metric_definitions *all, const char *expression,
		   uint64_t *seed)
{
	static const char bytes[] = "()+-*/%|&^<>,#@\\:.?0aif else min(d_ratio(e9 ";
	struct names names = {.all = all};
	size_t length = strlen(expression);
	char *text = malloc(2 * length + 2), *to = text;
	uint32_t root;

	for (size_t i = 0; i < length; i++) {
		*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		if ((*seed >> 33) % 40 > 1)
			*to++ = expression[i];
		if (!((*seed >> 33) % 40))
			*to++ = bytes[(*seed >> 40) % (sizeof(bytes) - 1)];
	}
	*to = '\0';
	if (parse(&names, text, &root) && !names.diag.text[0])
		printf("no message: %s\n", text);
	for (uint32_t i = 0; i < names.count; i++)
		free(names.texts[i]);
	free(names.texts);
	free(names.tree.nodes);
	free(text);
}

/* Returns how many broken expressions have been parsed. */
static unsigned int mutate_all(const struct metric_definitions *all, unsigned int rounds)
{
	uint64_t seed = 1;
	unsigned int count = 0;

	for (; rounds; rounds--)
		for (size_t i = 0; i < all->count; i++, count++)
			mutate(all, all->metrics[i].expression, &seed);
	return count;
}

int main(int argc, char **argv)
{
	struct metric_definitions all = {.metrics = NULL};
	struct pm_diag diag = {0};
	bool broken = argc > 1 && !strcmp(argv[1], "--mutate");
	int err = argc > 1 && !broken ? metric_file_read(&all, argv[1], &diag)
				      : metric_perf_read(&all, false, &diag);

	if (!err && broken) {
		printf("%u broken expressions\n",
		       mutate_all(&all, argc > 2 ? (unsigned int)atoi(argv[2]) : 1));
	}
	for (size_t i = 0; !err && !broken && i < all.count; i++)
		print_metric(&all, &all.metrics[i]);
	metric_definitions_free(&all);
	if (err)
		fprintf(stderr, "%s\n", diag.text);
	return err ? 1 : 0;
}
