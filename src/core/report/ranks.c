/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of a text report of many processes: how the time and each event of a path
 * differ between them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/output/escape.h"

enum column { PRESENT, SUM, MEAN, LEAST, LEAST_AT, MOST, MOST_AT, IMBALANCE, COLUMNS };

/* The ranges that fill a table. */
struct ranges {
	const struct pm_merge *merge;
	const struct pm_report_tree *tree;
	const uint32_t *paths;
	const struct pm_report_event *event; /* NULL: it is a time */
	bool some_unknown;
	struct pm_legend *legend;
};

struct pm_range pm_report_range(const struct pm_merge *merge, bool flat, uint32_t path,
				const struct pm_report_event *event)
{
	struct pm_range range =
		pm_merge_range(merge, flat, path, pm_merge_quantity(merge, flat, event));

	/* Known of the machine, which is all of theirs. */
	if (range.counted && event && event->erratum)
		range.marks |= PM_MARK_ERRATUM;
	return range;
}

/* A process with the value of RANGE in FIELD. */
static void field_process(const struct ranges *ranges, const struct pm_range *range,
			  uint32_t process, struct pm_field *field)
{
	*field = (struct pm_field){0};
	if (range->counted)
		pm_merge_label(ranges->merge, process, field->text);
}

static bool fill(void *argument, uint32_t n, struct pm_field *fields)
{
	struct ranges *ranges = argument;
	bool flat = ranges->tree->flat;
	double scale = ranges->event ? ranges->event->first->scale : 1;
	uint32_t path = ranges->paths[n], states = 0;
	struct pm_range range = pm_report_range(ranges->merge, flat, path, ranges->event);
	/* One value, as far off and as little counted as any of them. */
	struct pm_value marked = {
		.state = PM_COUNTED,
		.value = 1,
		.error = range.error,
		.coverage = range.coverage,
		.marks = range.marks,
	};
	const struct {
		enum column column;
		double value;
	} values[] = {{SUM, range.sum},
		      {MEAN, range.mean},
		      {LEAST, range.min},
		      {MOST, range.max}};
	struct pm_cell cell;

	fields[PRESENT] = (struct pm_field){0};
	snprintf(fields[PRESENT].text, sizeof(fields[PRESENT].text), "%u%s",
		 range.counted, range.counted < range.present ? "?" : "");
	ranges->some_unknown |= range.counted < range.present;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		fields[values[i].column] =
			(struct pm_field){.known = range.counted,
					  .value = scale * values[i].value,
					  .text = "-"};
	field_process(ranges, &range, range.min_process, &fields[LEAST_AT]);
	field_process(ranges, &range, range.max_process, &fields[MOST_AT]);
	fields[IMBALANCE] = (struct pm_field){
		.known = range.counted && range.imbalance >= 0,
		.value = range.imbalance,
		.text = "-",
	};
	/* Behind the row stand the marks of any of its values. */
	pm_cell_value(&cell, &marked, &ranges->legend->marks, &states);
	memcpy(fields[IMBALANCE].marks, cell.marks, sizeof(cell.marks));
	return true;
}

static int table_write(struct ranges *ranges, struct pm_out *out)
{
	uint32_t quantity =
		pm_merge_quantity(ranges->merge, ranges->tree->flat, ranges->event);
	uint32_t of = pm_merge_open_count(ranges->merge, quantity);
	uint32_t all = pm_merge_process_count(ranges->merge);
	bool ranks = pm_merge_has_ranks(ranges->merge);
	enum pm_column_kind kind = ranges->event ? PM_COLUMN_EVENT : PM_COLUMN_TIME;
	const char *unit = ranges->event ? ranges->event->first->unit : NULL;
	struct pm_column columns[COLUMNS] = {
		[PRESENT] = {.title = ranks ? "ranks" : "processes",
			     .kind = PM_COLUMN_LABEL,
			     .begins = true},
		[SUM] = {.title = "sum", .kind = kind, .unit = unit},
		[MEAN] = {.title = "mean", .kind = kind, .unit = unit},
		[LEAST] = {.title = "least", .kind = kind, .unit = unit},
		[LEAST_AT] = {.title = ranks ? "rank" : "pid", .kind = PM_COLUMN_LABEL},
		[MOST] = {.title = "most", .kind = kind, .unit = unit},
		[MOST_AT] = {.title = ranks ? "rank" : "pid", .kind = PM_COLUMN_LABEL},
		[IMBALANCE] = {.title = "imbalance", .kind = PM_COLUMN_SHARE},
	};
	struct pm_table table = {
		.tree = ranges->tree,
		.columns = columns,
		.count = COLUMNS,
		.fill = fill,
		.argument = ranges,
	};

	if (!of)
		return 0;
	columns[MEAN].like = columns[LEAST].like = &columns[MOST];
	pm_out_text(out, "\n");
	pm_out_plain(out, ranges->event ? ranges->event->name : "time", 0);
	pm_out_format(out, " over %u", of);
	if (of < all)
		pm_out_format(out, " of %u", all);
	pm_out_format(out, " %s%s, %s:\n", ranks ? "rank" : "process",
		      all == 1 ? ""
		      : ranks  ? "s"
			       : "es",
		      ranges->tree->flat ? "exclusive" : "inclusive");
	return pm_table_write(&table, out);
}

int pm_report_ranks(const struct pm_report *report, const struct pm_report_tree *tree,
		    struct pm_out *out, struct pm_legend *legend)
{
	const struct pm_merge *merge = report->options->merge;
	struct ranges ranges = {.merge = merge, .tree = tree, .legend = legend};
	uint32_t *paths = pm_merge_paths(merge, tree);
	int err;

	if (!paths)
		return -ENOMEM;
	ranges.paths = paths;
	err = tree->model->exact ? 0 : table_write(&ranges, out);
	for (uint32_t e = 0; !err && e < tree->model->event_count; e++) {
		ranges.event = &tree->model->events[e];
		err = table_write(&ranges, out);
	}
	pm_out_fold(out, out->columns, 8);
	if (ranges.some_unknown)
		pm_out_format(out, "\n  N?    others entered the region, too: their "
				   "values are unknown, and are in no sum\n");
	pm_out_fold_end(out);
	free(paths);
	return err;
}
