/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the text of metrics to their names, units and formulas. */
#include "core/report/model/metric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/kernel/files.h"
#include "core/report/model/formula.h"
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
	struct pm_metric_place place;
	struct pm_metric *metric;
};

static void metric_clear(struct pm_metric *metric)
{
	for (uint32_t i = 0; i < metric->input_count; i++)
		free(metric->inputs[i].name);
	free(metric->inputs);
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

/* Cuts "REGION:" off *TEXT. What a region's name has behind its last ':' is no name of a metric. */
static int head_region(struct parser *p, struct pm_slice *text)
{
	const char *colon = memrchr(text->at, ':', text->length);
	struct pm_slice region;

	if (!colon)
		return 0;
	region = pm_slice_trim((struct pm_slice){text->at, (size_t)(colon - text->at)});
	if (!region.length)
		return pm_metric_error_at(&p->place, -EINVAL, text->at,
					  "a region is missing before ':'");
	p->metric->region = pm_slice_copy(region);
	if (!p->metric->region)
		return pm_diag_set(p->place.diag, -ENOMEM, "no memory for a metric");
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
			return pm_metric_error_at(&p->place, -EINVAL, open,
						  "'[' without its ']'");
		unit.at = open + 1;
		unit.length = (size_t)(text.at + text.length - 1 - unit.at);
		unit = pm_slice_trim(unit);
		/* A cell of a table has room for this. */
		if (!unit.length || unit.length > 10)
			return pm_metric_error_at(&p->place, -EINVAL, open,
						  "expects a unit of 1 to 10 characters");
	}
	if (!name.length || !pm_formula_letter(name.at[0]))
		return pm_metric_error_at(&p->place, -EINVAL, text.at,
					  "a metric's name is missing");
	for (size_t i = 0; i < name.length; i++)
		if (!pm_formula_word(name.at[i]) && !strchr(".-%/", name.at[i]))
			return pm_metric_error_at(
				&p->place, -EINVAL, name.at + i,
				"a character not allowed in metric names");
	p->metric->name = pm_slice_copy(name);
	p->metric->unit = pm_slice_copy(unit);
	if (!p->metric->name || !p->metric->unit)
		return pm_diag_set(p->place.diag, -ENOMEM, "no memory for a metric");
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

static int definition(struct parser *p)
{
	struct pm_metric metric = {0};
	struct pm_slice formula, name = pm_slice_cut(p->place.item, '=', &formula);
	int err;

	if (p->metrics->count == PM_METRICS_MAX)
		return pm_metric_error_at(&p->place, -E2BIG, p->place.item.at,
					  "one metric too many");
	p->metric = &metric;
	metric.formula = pm_slice_copy(pm_slice_trim(formula));
	err = head(p, pm_slice_trim(name));
	if (!err && !metric.formula)
		err = pm_diag_set(p->place.diag, -ENOMEM, "no memory for a metric");
	if (!err)
		err = pm_formula_parse(&p->place, formula.at, &metric);
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
	struct parser inner = {.metrics = p->metrics,
			       .place = {.diag = p->place.diag, .line = 1}};
	struct pm_slice name = pm_slice_trim(
		(struct pm_slice){p->place.item.at + 1, p->place.item.length - 1});
	char *path, *text;
	int err;

	if (p->place.file)
		return pm_metric_error_at(&p->place, -EINVAL, p->place.item.at,
					  "a file names another file");
	path = pm_slice_copy(name);
	if (!path)
		return pm_diag_set(p->place.diag, -ENOMEM, "no memory for a file's name");
	err = (int)pm_file_read(path, &text);
	if (err < 0) {
		err = pm_diag_set(p->place.diag, err, "cannot read the file '%s' (%s)",
				  pm_slice_quote(name).text,
				  err == -ENOTSUP ? "not a regular file"
						  : strerror(-err));
	} else {
		inner.place.file = path;
		err = items(&inner, text);
		free(text);
	}
	free(path);
	return err;
}

static int item(struct parser *p)
{
	int err;

	if (p->place.item.at[0] == '@')
		return file(p);
	if (memchr(p->place.item.at, '=', p->place.item.length)) {
		err = definition(p);
		if (!err)
			replace(p->metrics);
		return err;
	}
	if (!pm_slice_is(p->place.item, "none"))
		return pm_metric_error_at(&p->place, -EINVAL,
					  p->place.item.at + p->place.item.length,
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
		return pm_diag_set(p->place.diag, -E2BIG,
				   "more than %d characters of metrics%s%s",
				   PM_METRIC_TEXT_MAX, p->place.file ? " in " : "",
				   p->place.file ? p->place.file : "");
	for (p->place.line = 1; !err && rest.at; p->place.line++) {
		line = pm_slice_cut(pm_slice_cut(rest, '\n', &rest), '#', NULL);
		while (!err && line.at) {
			p->place.item = pm_slice_trim(pm_slice_cut(line, ';', &line));
			if (p->place.item.length)
				err = item(p);
		}
	}
	return err;
}

int pm_metrics_parse(const char *text, struct pm_metrics **out, struct pm_diag *diag)
{
	struct parser p = {.place.diag = diag};
	int err = 0;

	p.metrics = calloc(1, sizeof(*p.metrics) +
				      PM_METRICS_MAX * sizeof(p.metrics->metrics[0]));
	if (!p.metrics)
		return pm_diag_set(diag, -ENOMEM, "no memory for metrics");
	for (size_t i = 0; !err && i < BUILT_IN; i++) {
		p.place.item = pm_slice_of(built_in[i].definition);
		err = definition(&p);
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
