/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the time of a tree is: how it is spread over threads, and its hottest path. */
#include <errno.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/output/escape.h"

/* The last two are of teams. */
enum spread { THREADS, LEAST, MEAN, MOST, IMBALANCE, WALL, EFFICIENCY, COLUMNS };

/* TICKS as they are shown: a time, or in an exact profile counts of the first event. */
static double weight(const struct pm_report_model *model, double ticks)
{
	return model->exact ? ticks * model->events[0].first->scale
			    : pm_snapshot_ns(model->snapshot, ticks);
}

/* Returns the ticks of all threads below path N, without their waits. */
static double work(const struct pm_report_tree *tree, uint32_t n)
{
	const struct pm_path_times *times = &pm_path(tree, n)->times;

	return (double)pm_less(times->inclusive, times->waits);
}

/* A team: how long the visits lasted, and how much of the team's time in them was work in its regions. */
static void fill_team(const struct pm_report_tree *tree, uint32_t n,
		      struct pm_field *fields)
{
	const struct pm_path *path = pm_path(tree, n);
	double wall = pm_path_mean(tree, n) * (double)path->visits.ended;
	double all = wall * (double)path->threads.count;
	double ticks = work(tree, n);

	/* A team may work on when the visit has ended. */
	if (!path->is_team || wall <= 0 || ticks > all)
		return;
	fields[WALL] = (struct pm_field){
		true, .value = pm_snapshot_ns(tree->model->snapshot, wall)};
	fields[EFFICIENCY] = (struct pm_field){true, .value = 100 * ticks / all};
}

/* A visit that is open in a thread is not in these times. What threads took that measured
 * none of their visits is not known. */
static bool fill(void *argument, uint32_t n, struct pm_field *fields)
{
	const struct pm_table *table = argument;
	const struct pm_report_tree *tree = table->tree;
	const struct pm_path *node = pm_path(tree, n);
	const struct pm_report_model *model = tree->model;
	bool known = node->visits.ended && !node->visits.unmeasured;
	bool ends_known = pm_path_has_spread(tree, n);
	double mean = work(tree, n) / (double)node->threads.count;
	double most = (double)node->threads.max;

	if (node->threads.count < 2)
		return false;
	memset(fields, 0, table->count * sizeof(*fields));
	fields[THREADS] = (struct pm_field){true, .value = (double)node->threads.count};
	if (table->count == COLUMNS)
		fill_team(tree, n, fields);
	/* The mean of counts is known when nothing else is. */
	if (!known || (!ends_known && !model->exact)) {
		strcpy(fields[MEAN].text, "-");
		return true;
	}
	fields[MEAN] = (struct pm_field){true, .value = weight(model, mean)};
	if (!ends_known)
		return true;
	fields[LEAST] = (struct pm_field){
		true, .value = weight(model, (double)node->threads.min)};
	fields[MOST] = (struct pm_field){true, .value = weight(model, most)};
	fields[IMBALANCE] = (struct pm_field){mean > 0, .value = 100 * (most / mean - 1)};
	return true;
}

int pm_report_spread(const struct pm_report_tree *tree, struct pm_out *out)
{
	bool exact = tree->model->exact;
	enum pm_column_kind kind = exact ? PM_COLUMN_EVENT : PM_COLUMN_TIME;
	const char *unit = exact ? tree->model->events[0].first->unit : NULL;
	struct pm_column columns[COLUMNS] = {
		[THREADS] = {.title = "threads", .kind = PM_COLUMN_EXACT, .begins = true},
		[LEAST] = {.title = "least", .kind = kind, .unit = unit},
		[MEAN] = {.title = "mean", .kind = kind, .unit = unit},
		[MOST] = {.title = "most", .kind = kind, .unit = unit},
		[IMBALANCE] = {.title = "imbalance", .kind = PM_COLUMN_SHARE},
		[WALL] = {.title = "wall", .kind = PM_COLUMN_TIME, .begins = true},
		[EFFICIENCY] = {.title = "efficiency", .kind = PM_COLUMN_SHARE},
	};
	struct pm_table table = {
		.tree = tree,
		.columns = columns,
		.count = COLUMNS,
		.fill = fill,
		.argument = &table,
	};
	bool any = false, teams = false, waits = false;

	/* A flat tree does not know which threads had which of a region's paths. */
	for (uint32_t n = 1; n < tree->node_count && !tree->flat; n++) {
		const struct pm_path *path = pm_path(tree, n);

		any |= path->threads.count > 1 && !path->is_overlapping;
		teams |= path->is_team;
		waits |= path->times.waits > 0;
	}
	if (!any)
		return 0;
	columns[LEAST].like = columns[MEAN].like = &columns[MOST];
	table.count = teams && !exact ? COLUMNS : WALL;
	pm_out_text(out, "\ninclusive ");
	pm_out_plain(out, exact ? tree->model->events[0].name : "time", 0);
	pm_out_text(out, waits ? " of a thread less its waits\n" : " of a thread ");
	pm_out_text(out, "(imbalance: how far the most is above the mean");
	if (table.count == COLUMNS)
		pm_out_text(out, ";\nefficiency: a team's time in regions over wall time "
				 "x threads");
	pm_out_text(out, "):\n");
	return pm_table_write(&table, out);
}

void pm_report_path_write(const struct pm_report_tree *tree, uint32_t n,
			  struct pm_out *out)
{
	uint32_t line[PM_PATH_NODES];
	uint32_t count = pm_report_path(tree, n, PM_PATH_BYTES, line);

	for (uint32_t i = 0; i < count; i++) {
		pm_out_text(out, i ? " > " : "");
		if (line[i])
			pm_out_name(out, pm_path_name(tree, line[i]),
				    out->columns ? 40 : 0, false);
		else
			pm_out_text(out, PM_PATH_LEFT);
	}
}

void pm_report_thread_write(const struct perfmon_profile_thread *record,
			    struct pm_out *out)
{
	pm_out_format(out, "thread %u", record->tid);
	if (record->name[0]) {
		pm_out_text(out, " (");
		pm_out_plain(out, record->name, 0);
		pm_out_text(out, ")");
	}
}

void pm_report_hottest_write(const struct pm_report_tree *tree, struct pm_out *out)
{
	uint32_t last = pm_report_hottest(tree);
	uint64_t own = pm_path_exclusive(tree, last);
	char share[PM_CELL];

	/* By region there are no paths, and of one path nothing is the hottest. */
	if (!last || tree->flat || tree->node_count < 3)
		return;
	pm_out_fold(out, out->columns, strlen("  hottest  "));
	pm_out_text(out, "\n  hottest  ");
	pm_report_path_write(tree, last, out);
	pm_cell_fixed(share, 100 * (double)own / (double)pm_path(tree, 0)->times.least,
		      1);
	pm_out_format(out, ", with %s %% of ", share);
	pm_out_plain(out, pm_report_weight_name(tree->model), 0);
	pm_out_text(out, " in itself\n");
	pm_out_fold_end(out);
}
