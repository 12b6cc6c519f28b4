/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/model/value.h"

#include <math.h>
#include <string.h>

#include "core/packages/packages.h"
#include "core/report/model/tree_build.h"

/* The times of a counter on the hardware and of its thread on the CPU come from two clocks. A
 * share of less than what these may be apart is none. */
#define CLOCKS_APART 1e-3

static uint32_t node_marks(const struct pm_report_node *node)
{
	const struct pm_path_visits *v = &node->path.visits;

	return (v->entered != v->ended ? PM_MARK_IN_FLIGHT : 0) |
	       (v->torn ? PM_MARK_TORN : 0) | (v->left_out ? PM_MARK_LEFT_OUT : 0) |
	       (v->mismatched_ends || node->inside_mismatch ? PM_MARK_MISMATCHED : 0) |
	       (v->unmeasured ? PM_MARK_DROPPED : 0);
}

struct pm_value pm_report_time(const struct pm_report_tree *tree, uint32_t node,
			       bool exclusive)
{
	const struct pm_report_node *n = &tree->nodes[node];
	struct pm_value v = {.state = PM_COUNTED, .coverage = 1};

	v.marks = node_marks(n);
	v.sum = exclusive ? pm_path_exclusive(tree, node) : n->path.times.inclusive;
	v.value = (double)v.sum;
	v.error = sqrt(exclusive ? n->own_error : n->time_error);
	if (v.error > 0)
		v.marks |= PM_MARK_SAMPLED;
	if (pm_report_is_mostly_cost(tree, node, exclusive))
		v.marks |= PM_MARK_SHORT;
	if (!pm_path_has_values(tree, node))
		v.state = PM_NOT_COUNTED;
	return v;
}

/* Adds to V, a topdown metric, how far its fractions may be off. */
static void add_fraction_error(const struct pm_report_tree *tree, uint32_t node,
			       uint32_t event, bool exclusive, struct pm_value *v)
{
	double error = pm_report_fraction_error(tree, node, event, exclusive);

	if (v->marks & PM_MARK_MULTIPLEXED)
		error /= v->coverage;
	v->error += error;
	v->marks |= PM_MARK_FRACTION;
	if (isfinite(error) && v->value <= error)
		v->marks |= PM_MARK_BELOW;
}

/* Returns the marks of PATH's counts by its visits, in THREADS of which EVENT was open. */
static uint32_t visit_marks(const struct pm_report_tree *tree, const struct pm_path *path,
			    const struct pm_report_event *event, uint64_t threads)
{
	const struct pm_path_visits *v = &path->visits;

	return (threads < path->threads.count ? PM_MARK_THREADS : 0) |
	       (v->retries ? PM_MARK_RETRIED : 0) |
	       (v->fallback_reads && event->user_read ? PM_MARK_FALLBACK : 0) |
	       (v->dropped_counts ? PM_MARK_DROPPED : 0) |
	       (v->defects ? PM_MARK_DEFECT : 0) |
	       (v->migrations && !tree->model->exact ? PM_MARK_MIGRATED : 0);
}

/* These marks say how threads read their own counters. */
#define OF_THREADS                                                                       \
	(PM_MARK_RETRIED | PM_MARK_FALLBACK | PM_MARK_DEFECT | PM_MARK_MIGRATED)

/* From so many steps of the counter on, what lies between two of them is a small part. */
#define STEPS 10

/* Returns whether NODE's visits are so short that the counter's steps show in their sum. */
static bool is_coarse(const struct pm_report_tree *tree, uint32_t node)
{
	const struct pm_path_visits *v = &pm_path(tree, node)->visits;
	double mean = v->measured ? (double)v->ticks / (double)v->measured : 0;

	return pm_snapshot_ns(tree->model->snapshot, mean) <
	       (double)STEPS * PM_PACKAGES_ENERGY_NS;
}

/*
 * The value V of EVENT, which counts for packages. That of a part of the threads is not known, as
 * that of a step, and where several threads ran, what lies in a node alone is not either: the nodes below it may have
 * been open at once.
 */
static struct pm_value package_value(const struct pm_report_tree *tree, uint32_t node,
				     uint32_t event, bool exclusive, struct pm_value v)
{
	const struct pm_report_event *e = &tree->model->events[event];
	const struct pm_report_node *n = &tree->nodes[node];
	struct pm_report_count c = pm_report_sums(tree, node, event, exclusive);
	struct pm_report_count all = pm_report_sums(tree, node, event, false);

	v.marks = (e->joined ? c.marks & ~OF_THREADS
			     : node_marks(n) |
				       (n->path.visits.dropped_counts ? PM_MARK_DROPPED
								      : 0)) |
		  (e->is_energy && is_coarse(tree, node) ? PM_MARK_COARSE : 0) |
		  (all.at_most ? PM_MARK_AT_MOST : 0);
	v.coverage = c.time_ns > 0 ? fmin(1, c.running_ns / c.time_ns) : 1;
	if (tree->is_part || n->path.is_overlapping ||
	    (exclusive && tree->threads > 1 && c.time_ns < all.time_ns)) {
		v.state = PM_NOT_SAID;
	} else if (all.time_ns <= 0 || (!c.sum && e->is_energy) ||
		   v.coverage < CLOCKS_APART) {
		v.state = PM_NOT_COUNTED;
	} else if (v.coverage < 1 - CLOCKS_APART) {
		v.marks |= PM_MARK_MULTIPLEXED;
		v.value /= v.coverage;
	}
	return v;
}

struct pm_value pm_report_count(const struct pm_report_tree *tree, uint32_t node,
				uint32_t event, bool exclusive)
{
	const struct pm_report_event *e = &tree->model->events[event];
	const struct pm_report_node *n = &tree->nodes[node];
	struct pm_report_count c = pm_report_sums(tree, node, event, exclusive);
	struct pm_value v = {.state = PM_COUNTED};
	struct pm_short against;

	v.sum = c.sum;
	v.value = (double)c.sum;
	v.error = sqrt(c.error);
	if (!c.threads) {
		v.state = e->quantity ? PM_NOT_SAID : PM_NEVER_OPENED;
		return v;
	}
	if (e->package)
		return package_value(tree, node, event, exclusive, v);
	v.marks = e->joined ? c.marks & ~PM_MARK_FALLBACK : node_marks(n);
	if (e->quantity) {
		v.coverage = 1;
		return v;
	}
	v.coverage = c.on_cpu_ns > 0 ? fmin(1, c.running_ns / c.on_cpu_ns) : 1;
	if ((!c.measured &&
	     !(c.sum && (e->joined ? c.time_ns > 0 : n->path.times.inclusive > 0))) ||
	    (!c.sum && (e->kernel_only || v.coverage < CLOCKS_APART))) {
		v.state = PM_NOT_COUNTED;
		return v;
	}
	if (e->parts > 1) {
		/* Each part counts while the thread is on its kind of core; together they
		 * cover the whole, and where they do not nothing is known to scale by. */
		if (v.coverage < 0.999)
			v.marks |= PM_MARK_PART;
	} else if (v.coverage <= 0) {
		/* By no part of the time that is told can it be scaled. */
		v.marks |= PM_MARK_PART;
	} else if (c.lost_ns && v.coverage < 1) {
		v.marks |= PM_MARK_MULTIPLEXED;
		v.value /= v.coverage;
		v.error /= v.coverage;
	}
	if (v.error > 0)
		v.marks |= PM_MARK_SAMPLED;
	if (tree->model->subtract_bias)
		v.value = fmax(0, v.value - c.added);
	if (e->fraction)
		add_fraction_error(tree, node, event, exclusive, &v);
	if (!e->joined)
		v.marks |= visit_marks(tree, &n->path, e, c.threads);
	else if (e->user_read)
		v.marks |= c.marks & PM_MARK_FALLBACK;
	v.marks |= (e->erratum ? PM_MARK_ERRATUM : 0) |
		   (pm_report_is_short(tree, node, event, exclusive, &against)
			    ? PM_MARK_SHORT
			    : 0);
	return v;
}

/* Time and visits: those of the event's counts, so that both have the same threads and
 * visits; without an event those of the node. */
static double plain_input(const struct pm_report_tree *tree, uint32_t node, uint32_t base,
			  enum pm_metric_kind kind, bool exclusive)
{
	const struct pm_report_node *n = &tree->nodes[node];
	struct pm_report_count c;
	double time, off_cpu;

	if (kind == PM_METRIC_THREADS)
		return (double)(base != PM_NO_EVENT
					? pm_report_sums(tree, node, base, exclusive)
						  .threads
					: n->path.threads.count);
	if (base != PM_NO_EVENT) {
		c = pm_report_sums(tree, node, base, exclusive);
		return kind == PM_METRIC_TIME	  ? c.time_ns
		       : kind == PM_METRIC_ON_CPU ? c.on_cpu_ns
						  : (double)c.measured;
	}
	if (kind == PM_METRIC_VISITS)
		return (double)n->path.visits.ended;
	time = pm_snapshot_ns(tree->model->snapshot,
			      pm_report_time(tree, node, exclusive).value);
	off_cpu = (double)(exclusive ? pm_less(n->path.times.off_cpu_ns,
					       n->children_off_cpu_ns)
				     : n->path.times.off_cpu_ns);
	return kind == PM_METRIC_TIME ? time : fmax(0, time - off_cpu);
}

struct pm_value pm_report_metric_inputs(const struct pm_report_tree *tree, uint32_t node,
					const struct pm_report_metric *m, bool exclusive,
					double *values)
{
	struct pm_value v = pm_report_time(tree, node, exclusive);

	/* The error of a quotient is unknown. */
	v.error = v.marks & PM_MARK_SAMPLED ? INFINITY : 0;
	v.sum = 0;
	v.value = 0;
	for (uint32_t i = 0; i < m->metric->input_count; i++) {
		const struct pm_report_event *event;
		struct pm_value in;

		if (m->events[i] == PM_NO_EVENT) {
			values[i] = plain_input(tree, node, m->base,
						m->metric->inputs[i].kind, exclusive);
			continue;
		}
		event = &tree->model->events[m->events[i]];
		in = pm_report_count(tree, node, m->events[i], exclusive);
		values[i] = in.value * event->first->scale;
		if (in.state > v.state)
			v.state = in.state;
		v.marks |= in.marks & ~PM_MARK_BELOW;
		v.coverage = fmin(v.coverage, in.coverage);
	}
	return v;
}

/* Adds to V, a metric with topdown metrics among its inputs VALUES, how far it may be off by them: it
 * moves as far as each of these moves it. */
static void add_metric_error(const struct pm_report_tree *tree, uint32_t node,
			     const struct pm_report_metric *m, bool exclusive,
			     double *values, struct pm_value *v)
{
	for (uint32_t i = 0; i < m->metric->input_count; i++) {
		double was = values[i], error, moved, furthest = 0;

		if (m->events[i] == PM_NO_EVENT ||
		    !tree->model->events[m->events[i]].fraction)
			continue;
		error = pm_report_count(tree, node, m->events[i], exclusive).error;
		for (int sign = -1; sign <= 1; sign += 2) {
			values[i] = was + sign * error;
			if (!isfinite(error) ||
			    !pm_metric_value(m->metric, values, &moved))
				moved = INFINITY;
			furthest = fmax(furthest, fabs(moved - v->value));
		}
		values[i] = was;
		v->error += furthest;
	}
	if (isfinite(v->error) && fabs(v->value) <= v->error)
		v->marks |= PM_MARK_BELOW;
}

struct pm_value pm_report_metric(const struct pm_report_tree *tree, uint32_t node,
				 uint32_t metric, bool exclusive)
{
	const struct pm_report_metric *m =
		pm_report_metric_of(tree->model, metric, pm_path_name(tree, node));
	double values[PM_METRIC_INPUTS], limit;
	struct pm_value v = {.state = PM_NOT_SAID};

	if (!m)
		return v;
	v = pm_report_metric_inputs(tree, node, m, exclusive, values);
	limit = pm_report_metric_limit(tree->model, m);
	if (v.state == PM_COUNTED && !pm_metric_value(m->metric, values, &v.value))
		v.state = PM_NOT_COUNTED;
	v.percent = !strcmp(m->metric->unit, "%");
	if (v.state == PM_COUNTED && v.marks & PM_MARK_FRACTION)
		add_metric_error(tree, node, m, exclusive, values, &v);
	/* A quotient of parts that are not scaled may be anything. */
	if (v.state == PM_COUNTED && !(v.marks & PM_MARK_PART) && limit > 0 &&
	    v.value > limit)
		v.marks |= PM_MARK_IMPLAUSIBLE;
	return v;
}
