/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The changes of a tree since an earlier one: a copy, less the earlier values. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/model/tree_build.h"

/* Subtracts B from *A, not below 0. Returns whether it would have been below. */
static bool take(uint64_t *a, uint64_t b)
{
	bool negative = *a < b;

	*a = pm_less(*a, b);
	return negative;
}

/* Adds the squares of errors, whose correlation is unknown. */
static void errors_add(double *a, double b)
{
	double sum = sqrt(*a) + sqrt(b);

	*a = sum * sum;
}

static void node_subtract(struct pm_report_node *a, const struct pm_report_node *b)
{
	uint64_t *sums = (uint64_t *)&a->path.visits;
	const uint64_t *less = (const uint64_t *)&b->path.visits;
	bool sampled = a->path.visits.ended != a->path.visits.measured,
	     negative = a->path.visits.ended < b->path.visits.ended;
	uint64_t torn = pm_plus(a->path.visits.torn, b->path.visits.torn),
		 left_out = a->path.visits.left_out;

	for (size_t i = 0; i < PM_PATH_VISIT_SUMS; i++)
		take(&sums[i], less[i]);
	negative |= take(&a->path.times.inclusive, b->path.times.inclusive) && !sampled;
	errors_add(&a->time_error, b->time_error);
	errors_add(&a->own_error, b->own_error);
	take(&a->all_ticks, b->all_ticks);
	a->path.times.spent = fmax(0, a->path.times.spent - b->path.times.spent);
	a->passed_ticks = fmax(0, a->passed_ticks - b->passed_ticks);
	a->path.times.added = fmax(0, a->path.times.added - b->path.times.added);
	a->outer_ticks = fmax(0, a->outer_ticks - b->outer_ticks);
	a->path.times.children_added =
		fmax(0, a->path.times.children_added - b->path.times.children_added);
	take(&a->path.times.children, b->path.times.children);
	take(&a->path.times.off_cpu_ns, b->path.times.off_cpu_ns);
	take(&a->children_off_cpu_ns, b->children_off_cpu_ns);
	a->time_squares = fmax(0, a->time_squares - b->time_squares);
	/* A node that was torn at either look may be off by one visit. */
	a->path.visits.torn = torn;
	a->path.visits.left_out = left_out;
	pm_add(&a->path.visits.defects, negative);
}

static bool count_subtract(struct pm_report_count *a, const struct pm_report_count *b)
{
	struct pm_report_count d = pm_count_less(a, b);
	bool negative = !a->largest && a->sum < b->sum && a->error == 0;

	d.error = a->error;
	errors_add(&d.error, b->error);
	take(&d.sampled, b->sampled);
	take(&d.measured, b->measured);
	d.outer = fmax(0, a->outer - b->outer);
	d.squares = fmax(0, a->squares - b->squares);
	*a = d;
	return negative;
}

int pm_report_tree_subtract(struct pm_report_tree *change,
			    const struct pm_report_tree *before, const uint32_t *regions,
			    const uint32_t *events)
{
	size_t count = change->model->column_count;
	struct pm_pairs paths = {0};
	uint32_t *at = malloc(change->node_count * sizeof(*at)), number;
	int err = at ? 0 : -ENOMEM;

	for (uint32_t n = 1; !err && n < before->node_count; n++)
		err = pm_pairs_get(&paths, before->nodes[n].path.parent,
				   before->nodes[n].path.region, n, &number);
	if (!err)
		at[0] = 0;
	/* Parents come before their children. */
	for (uint32_t n = 1; !err && n < change->node_count; n++) {
		struct pm_report_node *node = &change->nodes[n];
		uint32_t parent = at[node->path.parent],
			 region = regions[node->path.region];

		at[n] = parent == PM_NO_EVENT || region == PM_NO_EVENT
				? PM_NO_EVENT
				: pm_pairs_find(&paths, parent, region, PM_NO_EVENT);
		if (at[n] == PM_NO_EVENT)
			continue;
		node_subtract(node, &before->nodes[at[n]]);
		for (size_t e = 0; e < count; e++) {
			size_t to = n * count + e;
			size_t from =
				(size_t)at[n] * before->model->column_count + events[e];

			if (events[e] == PM_NO_EVENT)
				continue;
			node->path.visits.defects += count_subtract(
				&change->counts[to], &before->counts[from]);
			count_subtract(&change->children[to], &before->children[from]);
		}
	}
	pm_pairs_free(&paths);
	free(at);
	return err;
}

/* Reduces the children's SUM by the amount by which CHANGE's children exceed the node
 * itself. */
static void reduce(uint64_t *sum, uint64_t *children, uint64_t own)
{
	uint64_t more = pm_less(*children, own);

	*sum = pm_less(*sum, more);
	*children -= more;
}

static void reduce_double(double *sum, double *children, double own)
{
	double more = fmax(0, *children - own);

	*sum = fmax(0, *sum - more);
	*children -= more;
}

void pm_report_tree_reduce(struct pm_report_tree *change, struct pm_report_tree *sums)
{
	size_t events = change->model->column_count;

	change->total_ticks = 0;
	for (uint32_t n = 1; n < change->node_count; n++) {
		struct pm_report_node *c = &change->nodes[n], *s = &sums->nodes[n];
		uint64_t open = pm_less(s->path.visits.entered, s->path.visits.ended);
		uint64_t open_before =
			pm_less(s->path.visits.entered - c->path.visits.entered,
				s->path.visits.ended - c->path.visits.ended);

		c->path.visits.entered =
			pm_plus(c->path.visits.ended, pm_plus(open, open_before));
		reduce(&s->path.times.children, &c->path.times.children,
		       c->path.times.inclusive);
		reduce(&s->children_off_cpu_ns, &c->children_off_cpu_ns,
		       c->path.times.off_cpu_ns);
		pm_add(&change->total_ticks,
		       c->path.times.inclusive - c->path.times.children);
		for (size_t i = n * events; i < (n + 1) * events; i++) {
			struct pm_report_count *own = &change->counts[i];
			struct pm_report_count *below = &change->children[i];
			struct pm_report_count *sum = &sums->children[i];

			reduce(&sum->sum, &below->sum, own->sum);
			reduce(&sum->lost_ns, &below->lost_ns, own->lost_ns);
			reduce(&sum->windows, &below->windows, own->windows);
			reduce_double(&sum->time_ns, &below->time_ns, own->time_ns);
			reduce_double(&sum->on_cpu_ns, &below->on_cpu_ns, own->on_cpu_ns);
			reduce_double(&sum->running_ns, &below->running_ns,
				      own->running_ns);
		}
	}
}

int pm_report_tree_copy(struct pm_report_tree *to, const struct pm_report_tree *from)
{
	size_t counts = (size_t)from->node_count * from->model->column_count;

	*to = *from;
	to->nodes = malloc(from->node_count * sizeof(*to->nodes));
	to->counts = malloc(counts * sizeof(*to->counts) + 1);
	to->children = malloc(counts * sizeof(*to->children) + 1);
	if (!to->nodes || !to->counts || !to->children) {
		pm_report_tree_free(to);
		return -ENOMEM;
	}
	memcpy(to->nodes, from->nodes, from->node_count * sizeof(*to->nodes));
	memcpy(to->counts, from->counts, counts * sizeof(*to->counts));
	memcpy(to->children, from->children, counts * sizeof(*to->children));
	return 0;
}
