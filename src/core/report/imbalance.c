/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list below the tables of threads or ranks: what imbalance has cost, path by path, and who
 * had the most and the least. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/output/escape.h"

/* So many paths are listed; the rest is counted. */
#define LISTED 8
/* A most that is less than so much above the mean, in per cent, is no imbalance. */
#define LEAST_PERCENT 1.0

/* A path loses as much as the most is above the mean. */
struct loss {
	double lost;
	uint32_t node;
};

/* The paths of a tree that have lost something, and where their numbers are from. */
struct losses {
	const struct pm_report_tree *tree;
	const struct pm_merge *merge; /* NULL: of threads */
	uint32_t *paths;	      /* of the merge's ranges, by node */
	struct loss *at;
	uint32_t count;
	bool some_ended; /* a thread that is not known has the most or the least */
};

static int by_loss(const void *a, const void *b)
{
	const struct loss *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost > y->lost ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Adds node N if its MOST is far enough above its MEAN. */
static void loss_add(struct losses *losses, uint32_t n, double most, double mean)
{
	if (mean > 0 && 100 * (most / mean - 1) >= LEAST_PERCENT)
		losses->at[losses->count++] = (struct loss){most - mean, n};
}

/* The quantity of ranges that the tree's shares are of. */
static struct pm_range range_of(const struct losses *losses, uint32_t n)
{
	const struct pm_report_tree *tree = losses->tree;

	return pm_report_range(losses->merge, tree->flat, losses->paths[n],
			       tree->model->exact ? tree->model->events : NULL);
}

/* A time in ns, or in an exact profile a count of the first event. */
static void value_write(const struct losses *losses, double value, struct pm_out *out)
{
	const struct pm_report_model *model = losses->tree->model;
	const struct pm_value counted = {.state = PM_COUNTED, .value = value};
	struct pm_cell cell;

	if (model->exact)
		pm_cell_event(&cell, &counted, model->events[0].first);
	else
		pm_cell_time(cell.text, value);
	pm_out_format(out, "    %-9s  ", cell.text);
}

/* Thread number AT of the snapshot and 1. */
static void thread_write(const struct losses *losses, uint32_t at, struct pm_out *out)
{
	const struct pm_snapshot *s = losses->tree->model->snapshot;

	if (at)
		pm_report_thread_write(&s->threads[at - 1].record, out);
	else
		pm_out_text(out, "a thread that has ended");
}

static void threads_write(struct losses *losses, uint32_t n, struct pm_out *out)
{
	const struct pm_path_threads *threads = &pm_path(losses->tree, n)->threads;
	uint32_t most = threads->max_at, least = threads->min_at;

	losses->some_ended |= !most || !least;
	if (!most && !least)
		return;
	pm_out_text(out, ": the most in ");
	thread_write(losses, most, out);
	pm_out_text(out, ", the least in ");
	thread_write(losses, least, out);
}

static void ranks_write(const struct losses *losses, uint32_t n, struct pm_out *out)
{
	const struct pm_merge *merge = losses->merge;
	const char *noun = pm_merge_has_ranks(merge) ? "rank" : "process";
	struct pm_range range = range_of(losses, n);
	char label[PM_MERGE_LABEL];

	pm_out_format(out, ": the most in %s ", noun);
	pm_out_plain(out, pm_merge_label(merge, range.max_process, label), 0);
	pm_out_format(out, ", the least in %s ", noun);
	pm_out_plain(out, pm_merge_label(merge, range.min_process, label), 0);
}

static void losses_write(struct losses *losses, struct pm_out *out)
{
	if (!losses->count)
		return;
	qsort(losses->at, losses->count, sizeof(*losses->at), by_loss);
	pm_out_text(out, "\n  lost to imbalance (the most less the mean):\n");
	for (uint32_t i = 0; i < losses->count && i < LISTED; i++) {
		pm_out_fold(out, out->columns, strlen("    123.456 ms  "));
		value_write(losses, losses->at[i].lost, out);
		pm_report_path_write(losses->tree, losses->at[i].node, out);
		if (losses->merge)
			ranks_write(losses, losses->at[i].node, out);
		else
			threads_write(losses, losses->at[i].node, out);
		pm_out_text(out, "\n");
		pm_out_fold_end(out);
	}
	if (losses->count > LISTED)
		pm_out_format(out, "    and %u more\n", losses->count - LISTED);
	if (losses->some_ended)
		pm_out_text(out,
			    "    PERFMON_THREADS=keep names threads that have ended\n");
}

static void threads_find(struct losses *losses)
{
	const struct pm_report_tree *tree = losses->tree;
	const struct pm_snapshot *s = tree->model->snapshot;
	bool exact = tree->model->exact;

	for (uint32_t n = 0; (n = pm_path_next(tree, n));) {
		const struct pm_path_threads *threads = &pm_path(tree, n)->threads;
		const struct pm_path_times *times = &pm_path(tree, n)->times;
		double most = (double)threads->max, mean;

		/* A difference of waits is lost in the work that they wait for. */
		if (threads->count < 2 || !pm_path_has_spread(tree, n) ||
		    pm_name_is_wait(pm_path_name(tree, n)))
			continue;
		mean = (double)pm_less(times->inclusive, times->waits) /
		       (double)threads->count;
		loss_add(losses, n, exact ? most : pm_snapshot_ns(s, most),
			 exact ? mean : pm_snapshot_ns(s, mean));
	}
}

static int ranks_find(struct losses *losses)
{
	const struct pm_report_tree *tree = losses->tree;

	losses->paths = pm_merge_paths(losses->merge, tree);
	if (!losses->paths)
		return -ENOMEM;
	for (uint32_t n = 0; (n = pm_path_next(tree, n));) {
		struct pm_range range = range_of(losses, n);

		/* Overlapping visits are no work that waits for others. */
		if (range.counted && !pm_path(tree, n)->is_overlapping)
			loss_add(losses, n, range.max, range.mean);
	}
	return 0;
}

int pm_report_imbalance(const struct pm_report *report, const struct pm_report_tree *tree,
			struct pm_out *out)
{
	struct losses losses = {.tree = tree, .merge = report->options->merge};
	int err = 0;

	losses.at = calloc(tree->node_count, sizeof(*losses.at));
	if (!losses.at)
		return -ENOMEM;
	if (losses.merge)
		err = ranks_find(&losses);
	/* A flat tree does not know which threads had which of a region's paths. */
	else if (!tree->flat)
		threads_find(&losses);
	if (!err)
		losses_write(&losses, out);
	free(losses.paths);
	free(losses.at);
	return err;
}
