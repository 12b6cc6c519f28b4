/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Estimates of what counters would have counted if their set had been active all the time.
 *
 * A set's time slices are a sample of the session's time. With x_i counted in slice i of
 * duration d_i, the rate is R = sum x / sum d, and R * T estimates the count over the time
 * T. Its error comes from how far the slices lie from that rate: s^2 = sum (x_i - R d_i)^2
 * / (n - 1), for n of the N = n T / D slices that the whole time would hold:
 *
 *	variance = N^2 (1 - n / N) s^2 / n
 *
 * (the ratio estimator: W. G. Cochran, Sampling Techniques, chapter 6). Student's t
 * stands in for the normal quantile, as slices may be few.
 *
 * The time between two slices is no sample: what switches the sets interrupts the work at
 * both ends of a slice and not there, so the rate there is another one. The error has
 * what the mean rate would count in that time on top.
 *
 * A switch costs the thread time in the kernel, which its clock has and in which an event of user
 * mode counts nothing. So a slice of duration d has R (d - o), and a set whose slices are shorter
 * than those of others would be estimated too low. Where slices differ in length, the regression of
 * x on d tells o. It is the same for all sets: each tells it with the weight of its precision.
 */
#include <float.h>
#include <math.h>

#include "core/session/sets/sets.h"
#include "core/text/statistics.h"

/* The least relative variance of slices from whose lengths something can be told. */
#define SPREAD_LEAST 1e-4
/* So much of what a slice loses differs from one to the next at least. Slices that are nearly of
 * the same length tell less: they differ by what interrupts them, which takes a part of its own. */
#define LOST_PART	0.25
#define LOST_PART_ALIKE 0.5
/* An estimate leaves this part out: the start and the stop are in no slice. */
#define MODEL_PART 0.0005

void pm_slice_end(struct perfmon_session *session, struct pm_target *target, uint32_t s)
{
	const struct pm_plan_set *set = &session->plan->sets[s];
	struct pm_part *part = &target->parts[s];

	for (uint32_t i = 0; i < session->count && target->role & PM_ROLE_ALL; i++) {
		struct pm_register *reg = &session->registers[i];
		struct pm_reading now, before;
		double x, d;

		reg->slices.all++;
		if (reg->set != s)
			continue;
		now = pm_register_on(session->plan, target, reg, part->readings);
		before = pm_register_on(session->plan, target, reg, part->before);
		x = (double)(now.value - before.value);
		d = (double)now.running_ns - (double)before.running_ns;
		if (d <= 0)
			continue;
		reg->slices.n++;
		reg->slices.x += x;
		reg->slices.d += d;
		reg->slices.xx += x * x;
		reg->slices.xd += x * d;
		reg->slices.dd += d * d;
	}
	for (uint32_t i = 0; i < set->count; i++)
		part->before[i] = part->readings[i];
}

uint64_t pm_slice_ns(const struct perfmon_session *session,
		     const struct pm_target *target, uint32_t s)
{
	const struct pm_part *part = &target->parts[s];
	uint32_t c = pm_set_clock(session->plan, target, s);

	return part->readings[c].enabled_ns - part->before[c].enabled_ns;
}

void pm_slice_gap(struct perfmon_session *session, const struct pm_target *target,
		  double ns)
{
	for (uint32_t i = 0; i < session->count && target->role & PM_ROLE_ALL; i++)
		session->registers[i].slices.gap_ns += ns;
}

/* Each event of a breakpoint is a trap: the work is slower while it is counted, and does
 * more in the same time while it is not. */
static bool slows_the_work(const struct pm_register *reg)
{
	return pm_register_event(reg, 0)->attr.type == PERF_TYPE_BREAKPOINT;
}

/* Returns whether REG counts nothing while its thread is in the kernel. */
static bool is_of_user_mode(const struct pm_register *reg)
{
	return pm_register_event(reg, 0)->attr.exclude_kernel;
}

/* Returns whether slices differ in length by as much as one takes. */
static bool differ_much(const struct pm_slices *s)
{
	return s->dd * (double)s->n > 2 * s->d * s->d;
}

/* Finds what a slice loses to the switch, and the variance of that. Interrupts and bursts of the
 * work vary with the length of a slice: the variance is that of a slice as long as the longest may
 * be. And few slices tell it badly. Returns false if the slices do not tell. */
static bool fit_lost(const struct pm_slices *s, double *lost, double *variance)
{
	double n = (double)s->n, mean = s->d / n, slope, left, few;
	double dd = s->dd - s->d * mean, xd = s->xd - s->x * mean,
	       xx = s->xx - s->x * s->x / n;

	if (s->n < 3 || dd < n * mean * mean * SPREAD_LEAST || xd <= 0)
		return false;
	slope = xd / dd;
	left = fmax(0, xx - slope * xd) / (n - 2) / (slope * slope);
	left *= 1 + sqrt(dd) / mean;
	few = pm_student_99(n - 2) / PM_NORMAL_99;
	*lost = mean - s->x / n / slope;
	*variance = few * few * left * (1 / n + (mean - *lost) * (mean - *lost) / dd) + 1;
	return true;
}

struct pm_slice_lost pm_slice_lost(const struct perfmon_session *session)
{
	double weights = 0, good = 0, sum = 0, lost, variance, part, most = INFINITY;

	for (uint32_t i = 0; i < session->count; i++) {
		const struct pm_register *reg = &session->registers[i];
		const struct pm_slices *s = &reg->slices;

		if (!s->n || !is_of_user_mode(reg))
			continue;
		most = fmin(most, s->d / (double)s->n);
		if (!fit_lost(s, &lost, &variance))
			continue;
		weights += 1 / variance;
		sum += lost / variance;
		if (differ_much(s))
			good += 1 / variance;
	}
	if (weights <= 0)
		return (struct pm_slice_lost){0, 0};
	lost = fmin(fmax(0, sum / weights), most / 2);
	part = good > weights / 2 ? LOST_PART : LOST_PART_ALIKE;
	return (struct pm_slice_lost){lost,
				      fmax(PM_NORMAL_99 / sqrt(weights), part * lost)};
}

void pm_estimate(const struct pm_register *reg, struct pm_slice_lost lost,
		 struct perfmon_estimate *out)
{
	const struct perfmon_value *found = &reg->found;
	const struct pm_slices *s = &reg->slices;
	double enabled = (double)found->enabled_ns, running = (double)found->running_ns;
	double rate, n = (double)s->n, square, whole, own, all;

	*out = (struct perfmon_estimate){
		.index = out->index, .runs = s->n, .error = INFINITY};
	if (!(found->status & (PERFMON_VALUE_COUNTED | PERFMON_VALUE_MULTIPLEXED))) {
		out->flags = PERFMON_ESTIMATE_NONE;
		return;
	}
	if (!is_of_user_mode(reg) || lost.ns * n > running / 2)
		lost = (struct pm_slice_lost){0, 0};
	own = running - lost.ns * n;
	all = fmax(enabled - lost.ns * (double)s->all, own);
	rate = (double)found->value / own;
	out->coverage = running / enabled;
	out->value = rate * all;
	if (found->running_ns >= found->enabled_ns) {
		out->flags = PERFMON_ESTIMATE_EXACT;
		out->value = (double)found->value;
		out->error = 0;
		return;
	}
	if (s->n < 3 || slows_the_work(reg)) {
		out->flags = PERFMON_ESTIMATE_UNKNOWN;
		return;
	}
	square = (s->xx - 2 * rate * (s->xd - lost.ns * s->x) +
		  rate * rate * (s->dd - 2 * lost.ns * s->d + n * lost.ns * lost.ns)) /
		 (n - 1);
	whole = n * all / own;
	/* Turns that are all alike do not tell how far the time in between may be from
	 * them: so it is with strides. The sums are rounded with each turn. */
	out->error = square > s->xx * DBL_EPSILON
			     ? pm_student_99(n - 1) * whole *
				       sqrt(fmax(0, (1 - n / whole) * square / n))
			     : pm_unseen_99((double)found->value, n, whole);
	out->error += MODEL_PART * out->value + rate * fmax(0, s->gap_ns) +
		      rate * lost.error * fabs(whole - (double)s->all);
	if (isinf(out->error))
		out->flags = PERFMON_ESTIMATE_UNKNOWN;
}
