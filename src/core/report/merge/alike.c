/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares two runs by path: the visits and, if there is one, a reference event. */
#include "core/report/merge/alike.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/model/value.h"

static int paths_number(struct pm_pairs *pairs, const struct pm_report_tree *tree)
{
	uint32_t number;
	int err = 0;

	for (uint32_t n = 1; !err && n < tree->node_count; n++)
		err = pm_pairs_get(pairs, pm_path_parent(tree, n),
				   pm_path_region(tree, n), n, &number);
	return err;
}

static uint32_t event_named(const struct pm_report_model *model, const char *name)
{
	for (uint32_t e = 0; name && e < model->event_count; e++)
		if (!model->events[e].quantity && !strcmp(model->events[e].name, name))
			return e;
	return PM_NO_EVENT;
}

/* Compares the reference event in node N with that of its partner. */
static void reference_compare(struct pm_alike *alike, uint32_t n,
			      const uint32_t references[2])
{
	struct pm_alike_path *path = &alike->paths[n];
	struct pm_value a, b;
	double apart, windows;

	if (references[0] == PM_NO_EVENT || references[1] == PM_NO_EVENT)
		return;
	a = pm_report_count(&alike->first, path->partner, references[0], false);
	b = pm_report_count(&alike->tree, n, references[1], false);
	if (a.state != PM_COUNTED || b.state != PM_COUNTED)
		return;
	apart = fabs(a.value - b.value);
	/* The counts of measuring itself depend on what else is read. */
	windows =
		(double)pm_report_sums(&alike->first, path->partner, references[0], false)
			.windows;
	path->change = a.value > 0 ? (b.value - a.value) / a.value : 0;
	path->reference = apart > alike->run->tolerance * fmax(a.value, b.value) &&
			  apart > alike->run->allowance * fmax(windows, 1);
}

static void threads_compare(struct pm_alike *alike, uint32_t n)
{
	for (uint32_t e = 0; e < alike->model.event_count; e++) {
		struct pm_value value = pm_report_count(&alike->tree, n, e, false);

		alike->paths[n].fewer_threads |=
			value.state == PM_COUNTED && value.marks & PM_MARK_THREADS;
	}
}

bool pm_alike_is_in_both(const struct pm_alike *alike, uint32_t n)
{
	uint32_t partner = alike->paths[n].partner;

	/* Another run may have added a path that the first has not visited. */
	return partner && pm_path_threads(&alike->first, partner)->count;
}

static void paths_compare(struct pm_alike *alike, uint32_t base)
{
	const uint32_t references[2] = {
		event_named(&alike->first_model, alike->run->reference),
		event_named(&alike->model, alike->run->reference),
	};

	/* Parents have lower numbers. */
	for (uint32_t n = 1; n < alike->tree.node_count; n++) {
		struct pm_alike_path *path = &alike->paths[n];
		uint32_t parent = alike->paths[pm_path_parent(&alike->tree, n)].partner;
		uint32_t region =
			alike->first_model
				.region_of[base + pm_path_region(&alike->tree, n)];

		if (!pm_path_parent(&alike->tree, n) || parent)
			path->partner =
				pm_pairs_find(&alike->first_paths, parent, region, 0);
		threads_compare(alike, n);
		if (!pm_alike_is_in_both(alike, n))
			continue;
		alike->visited[path->partner] = true;
		path->visits = pm_path_visits(&alike->tree, n)->ended !=
			       pm_path_visits(&alike->first, path->partner)->ended;
		reference_compare(alike, n, references);
	}
}

/* A path's values include those of the paths inside of it. */
static void inside_spread(struct pm_alike *alike)
{
	/* Parents have lower numbers. */
	for (uint32_t n = alike->tree.node_count - 1; n > 0; n--) {
		const struct pm_alike_path *path = &alike->paths[n];

		if (!pm_alike_is_in_both(alike, n) || path->visits || path->reference ||
		    path->inside)
			alike->paths[pm_path_parent(&alike->tree, n)].inside = true;
		if (path->partner && path->inside)
			alike->inside[path->partner] = true;
	}
	for (uint32_t n = alike->first.node_count - 1; n > 0; n--) {
		bool here =
			pm_path_threads(&alike->first, n)->count && !alike->visited[n];

		if (here || alike->inside[n])
			alike->inside[pm_path_parent(&alike->first, n)] = true;
	}
	/* Both have the root. */
	for (uint32_t n = 0; n < alike->tree.node_count; n++)
		alike->paths[n].inside |= alike->inside[alike->paths[n].partner] &&
					  (!n || alike->paths[n].partner);
}

int pm_alike_begin(struct pm_alike *alike, const struct pm_snapshot *timed,
		   const struct pm_snapshot *counts, uint32_t base)
{
	int err;

	alike->before = *timed;
	err = pm_report_model_make(&alike->first_model, &alike->before, true, NULL)
		      ?: pm_report_model_make(&alike->model, counts, true, NULL)
		      ?: pm_report_tree_make(&alike->first, &alike->first_model, -1)
		      ?: pm_report_tree_make(&alike->tree, &alike->model, -1)
		      ?: paths_number(&alike->first_paths, &alike->first)
		      ?: paths_number(&alike->numbers, &alike->tree);
	if (err)
		return err;
	alike->paths = calloc(alike->tree.node_count, sizeof(*alike->paths));
	alike->visited = calloc(alike->first.node_count, sizeof(*alike->visited));
	alike->inside = calloc(alike->first.node_count, sizeof(*alike->inside));
	if (!alike->paths || !alike->visited || !alike->inside)
		return -ENOMEM;
	paths_compare(alike, base);
	inside_spread(alike);
	return 0;
}

int pm_alike_mark(const struct pm_alike *alike, const struct pm_snapshot_thread *from,
		  struct pm_snapshot_thread *to)
{
	uint32_t *number = calloc((size_t)from->node_count + 1, sizeof(*number));

	if (!number)
		return -ENOMEM;
	if (from->node_count && alike->paths[0].inside)
		pm_snapshot_node(to, 1)->flags |= PERFMON_PROFILE_NODE_UNALIKE;
	for (uint32_t n = 2; n <= from->node_count; n++) {
		const struct perfmon_profile_node *node = pm_snapshot_node(from, n);
		const struct pm_alike_path *path;

		if (pm_node_is_quantity(node))
			continue;
		number[n] = pm_pairs_find(&alike->numbers, number[node->parent],
					  alike->model.region_of[node->region], 0);
		path = &alike->paths[number[n]];
		if (path->visits || path->reference || path->inside)
			pm_snapshot_node(to, n)->flags |= PERFMON_PROFILE_NODE_UNALIKE;
		if (path->fewer_threads)
			pm_snapshot_node(to, n)->flags |=
				PERFMON_PROFILE_NODE_FEWER_THREADS;
	}
	free(number);
	return 0;
}

void pm_alike_end(struct pm_alike *alike)
{
	free(alike->paths);
	free(alike->visited);
	free(alike->inside);
	pm_pairs_free(&alike->first_paths);
	pm_pairs_free(&alike->numbers);
	pm_report_tree_free(&alike->first);
	pm_report_tree_free(&alike->tree);
	pm_report_model_free(&alike->first_model);
	pm_report_model_free(&alike->model);
}
