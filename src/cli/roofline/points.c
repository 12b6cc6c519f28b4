/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points: the times of one profile, the flops and bytes of another, and the lowest ceiling. */
#include "cli/roofline/data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/common.h"

/* The columns of what is counted: SP, DP, loads, stores. */
#define COLUMNS 4
/* A rate may be so much above a ceiling that was measured at another time. */
#define TOLERANCE 1.1
/* A visit contains about this part of what BEGIN and END take: one of their two reads of the clock. In an
 * empty loop the CPU does this beside other work, so the least that was measured may be next to nothing. */
#define PAIR_INSIDE (1.0 / 3)
#define SHORT	    0.1
/* So many numbers of threads get ceilings of their own: each takes seconds to measure. */
#define SETS 4

const struct roof_problem_words roof_problems[ROOF_PROBLEMS] = {
	[ROOF_GOOD] = {"", ""},
	[ROOF_NO_VISITS] = {"no-visits", "no visit has ended"},
	[ROOF_OVERLAPS] = {"overlaps",
			   "its visits overlap others, so that no time is its own"},
	[ROOF_ABSENT] = {"absent", "the run that counted did not enter it"},
	[ROOF_DIFFERS] = {"differs",
			  "the run that counted was not like the timed one in it"},
	[ROOF_NOT_COUNTED] = {"not-counted", "its flops or bytes are not known"},
	[ROOF_SHORT] = {"short", "measuring is over 10 % of its time: do more work in a "
				 "visit"},
	[ROOF_NO_FLOPS] = {"no-flops", "no floating-point operations: its bytes a second "
				       "are compared"},
};

const char *roof_bound_name(const struct roof_point *point)
{
	return point->bound == CLI_CEILING_DP ? "flops" : cli_ceiling_name(point->bound);
}

void roof_free(struct roof *roof)
{
	for (uint32_t i = 0; i < roof->note_count; i++)
		free(roof->notes[i]);
	free(roof->notes);
	free(roof->points);
}

/* --- values ----------------------------------------------------------------------------- */

/* Finds the columns of flops and bytes. Returns false if one of them is not there. */
static bool columns_find(const struct roof *roof, uint32_t columns[COLUMNS])
{
	static const char *const names[2][COLUMNS] = {
		[ROOF_EXACT] = {"exact::sp-flops", "exact::dp-flops", "exact::load-bytes",
				"exact::store-bytes"},
		[ROOF_QUANTITIES] = {NULL, "flops", "bytes", NULL},
	};
	const struct pm_report_model *model = &roof->profile->model;
	bool all = true;

	for (int c = 0; c < COLUMNS; c++) {
		const char *name = names[roof->source][c];

		columns[c] = PM_NO_EVENT;
		for (uint32_t e = 0; name && e < model->event_count; e++)
			if (!strcmp(model->events[e].name, name) &&
			    !model->events[e].quantity == (roof->source == ROOF_EXACT))
				columns[c] = e;
		all &= !name || columns[c] != PM_NO_EVENT;
	}
	return all;
}

bool roof_has_source(const struct roof *roof)
{
	uint32_t columns[COLUMNS];

	return columns_find(roof, columns);
}

#define UNSURE                                                                           \
	(PM_MARK_TORN | PM_MARK_MISMATCHED | PM_MARK_DROPPED | PM_MARK_DEFECT |          \
	 PM_MARK_THREADS | PM_MARK_SAMPLED | PM_MARK_LEFT_OUT | PM_MARK_PART |           \
	 PM_MARK_MULTIPLEXED)

/* Sets the counts of POINT to those of NODE. */
static enum roof_problem counts_take(const struct roof *roof, struct roof_point *point,
				     uint32_t node, const uint32_t columns[COLUMNS])
{
	const struct pm_report_tree *tree = &roof->profile->tree;
	double *to[COLUMNS] = {&point->sp, &point->dp, &point->loads, &point->stores};

	for (int c = 0; c < COLUMNS; c++) {
		struct pm_value value;

		if (columns[c] == PM_NO_EVENT)
			continue;
		value = pm_report_count(tree, node, columns[c], false);
		if (value.marks & PM_MARK_RUNS)
			return ROOF_DIFFERS;
		if (value.state != PM_COUNTED)
			return roof->source == ROOF_EXACT ? ROOF_ABSENT
							  : ROOF_NOT_COUNTED;
		if (value.marks & UNSURE)
			return ROOF_NOT_COUNTED;
		*to[c] = value.value * tree->model->events[columns[c]].first->scale;
	}
	return ROOF_GOOD;
}

/* Sets the time of POINT: the wall time of its team, or what its threads took on average. */
static bool time_take(const struct roof *roof, struct roof_point *point, uint32_t n)
{
	const struct pm_report_tree *tree = &roof->profile->tree;
	const struct pm_path *path = pm_path(tree, n);
	struct pm_value time = pm_report_time(tree, n, false);
	double wall = pm_path_mean(tree, n) * (double)path->visits.ended;
	double threads = (double)path->threads.count;

	point->threads = path->threads.count;
	if (time.state != PM_COUNTED || !point->threads || !(time.value > 0))
		return false;
	point->wall =
		point->threads == 1 || (path->is_team && wall > 0 &&
					(double)path->times.inclusive <= wall * threads);
	if (point->threads == 1 || !point->wall)
		wall = time.value / threads;
	point->time_ns = pm_snapshot_ns(tree->model->snapshot, wall);
	return point->time_ns > 0;
}

static enum roof_problem problem_of(const struct roof *roof, struct roof_point *point,
				    uint32_t n, const uint32_t columns[COLUMNS])
{
	const struct pm_path *path = pm_path(&roof->profile->tree, n);
	enum roof_problem problem;

	/* Measuring may have taken all of the time. */
	if (!time_take(roof, point, n))
		return path->visits.ended ? ROOF_SHORT : ROOF_NO_VISITS;
	if (path->is_overlapping)
		return ROOF_OVERLAPS;
	problem = counts_take(roof, point, n, columns);
	if (problem != ROOF_GOOD)
		return problem;
	point->rated = true;
	if (pm_report_is_mostly_cost(&roof->profile->tree, n, false) ||
	    path->times.spent * PAIR_INSIDE > SHORT * (double)path->times.inclusive)
		return ROOF_SHORT;
	return point->sp + point->dp > 0 ? ROOF_GOOD : ROOF_NO_FLOPS;
}

static void rates_compute(struct roof_point *point)
{
	double flops = point->sp + point->dp, bytes = point->loads + point->stores;

	point->flops_per_s = flops / point->time_ns * 1e9;
	point->bytes_per_s = bytes / point->time_ns * 1e9;
	point->intensity = bytes > 0 ? flops / bytes : INFINITY;
	point->placed = point->problem == ROOF_GOOD && bytes > 0;
}

uint32_t roof_threads(const struct roof *roof, uint32_t after)
{
	uint32_t next = 0;

	for (uint32_t n = 1; roof->profile && n < roof->profile->tree.node_count; n++) {
		uint32_t threads = roof->points[n].ceiling_threads;

		if (threads > after && (!next || threads < next))
			next = threads;
	}
	return next;
}

/* Has regions of several threads share the ceilings of MOST threads if there are too many numbers of
 * threads. */
static void sets_limit(struct roof *roof, uint32_t most)
{
	uint32_t sets = 0;

	for (uint32_t t = 0; (t = roof_threads(roof, t));)
		sets++;
	if (sets <= SETS)
		return;
	for (uint32_t n = 1; n < roof->profile->tree.node_count; n++)
		if (roof->points[n].ceiling_threads > 1)
			roof->points[n].ceiling_threads = most;
	PM_NOTE(roof,
		"regions had %u different numbers of threads: those of more than one are "
		"compared with the ceilings of all %u CPUs",
		sets, most);
}

int roof_points_make(struct roof *roof)
{
	const struct pm_report_tree *tree = &roof->profile->tree;
	uint32_t most = cli_ceilings_threads(), columns[COLUMNS];
	char letter = 'a';

	if (!columns_find(roof, columns))
		return cli_fail(
			CLI_FAILED, "roofline",
			roof->source == ROOF_EXACT
				? "the profile of counts has no flops or no bytes: "
				  "count it with perfmon run --exact -e "
				  "sp-flops,dp-flops,load-bytes,store-bytes -P FILE"
				: "the profile has no quantities 'flops' and 'bytes', "
				  "which programs say by PERFMON_REGION_ADD(\"bytes\", "
				  "\"B\", n): leave out --quantities, or name a profile "
				  "of counts (--counts)");
	roof->points = calloc(tree->node_count, sizeof(*roof->points));
	if (!roof->points)
		return cli_no_memory("roofline");
	for (uint32_t n = pm_path_next(tree, 0); n; n = pm_path_next(tree, n)) {
		struct roof_point *point = &roof->points[n];

		point->problem = problem_of(roof, point, n, columns);
		if (!point->rated)
			continue;
		rates_compute(point);
		point->ceiling_threads =
			point->threads < most ? (uint32_t)point->threads : most;
		if (point->placed && letter) {
			point->letter = letter;
			letter = letter == 'z' ? 'A' : letter == 'Z' ? '\0' : letter + 1;
		}
	}
	sets_limit(roof, most);
	return 0;
}

/* --- ceilings --------------------------------------------------------------------------- */

static double rate_of(const struct roof *roof, enum cli_ceiling_of of,
		      const struct roof_point *point)
{
	return cli_ceiling_rate(roof->ceilings, of, point->ceiling_threads);
}

/* Returns the flops a second that operations as in POINT's mix of precisions can reach. */
static double peak_of(const struct roof *roof, const struct roof_point *point)
{
	double sp = rate_of(roof, CLI_CEILING_SP, point);
	double dp = rate_of(roof, CLI_CEILING_DP, point);

	if (!(sp > 0) || !(dp > 0))
		return 0;
	return (point->sp + point->dp) / (point->sp / sp + point->dp / dp);
}

/* Returns the level that POINT's bytes are compared with. Loads and stores all go to L1. What a
 * program says is taken for traffic of memory, unless that is slower: then a cache had the data. */
static enum cli_ceiling_of level_of(const struct roof *roof,
				    const struct roof_point *point)
{
	int level = roof->source == ROOF_EXACT ? CLI_CEILING_L1 : CLI_CEILING_MEMORY;

	while (level > CLI_CEILING_L1 &&
	       rate_of(roof, (enum cli_ceiling_of)level, point) * TOLERANCE <
		       point->bytes_per_s)
		level--;
	return (enum cli_ceiling_of)level;
}

void roof_points_bound(struct roof *roof)
{
	for (uint32_t n = 1; n < roof->profile->tree.node_count; n++) {
		struct roof_point *point = &roof->points[n];
		bool flops = point->sp + point->dp > 0;
		double slope, peak;

		if (!point->rated)
			continue;
		point->bound = level_of(roof, point);
		slope = rate_of(roof, point->bound, point);
		peak = flops ? peak_of(roof, point) : 0;
		point->roof = slope;
		if (flops && peak <= slope * point->intensity) {
			point->bound = CLI_CEILING_DP;
			point->roof = peak;
		} else if (flops) {
			point->roof = slope * point->intensity;
		}
		slope = rate_of(roof, CLI_CEILING_MEMORY, point);
		if (slope > 0)
			point->of_memory = point->bytes_per_s / slope * 100;
		if (point->roof > 0)
			point->percent =
				(flops ? point->flops_per_s : point->bytes_per_s) /
				point->roof * 100;
	}
}
