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
 */
#include <float.h>
#include <math.h>

#include "core/session/sets/sets.h"
#include "core/text/statistics.h"

void pm_slice_end(struct perfmon_session *session, struct pm_target *target, uint32_t s)
{
	const struct pm_plan_set *set = &session->plan->sets[s];
	struct pm_part *part = &target->parts[s];
	uint32_t i, e;

	for (i = 0; i < session->count && target->role & PM_ROLE_ALL; i++) {
		struct pm_register *reg = &session->registers[i];
		double x = 0, d = 0;

		if (reg->set != s)
			continue;
		for (e = 0; e < reg->count; e++) {
			uint32_t c = reg->planned + e;

			x += (double)(part->readings[c].value - part->before[c].value);
			d += (double)(part->readings[c].running_ns -
				      part->before[c].running_ns);
		}
		if (d <= 0)
			continue;
		reg->slices.n++;
		reg->slices.xx += x * x;
		reg->slices.xd += x * d;
		reg->slices.dd += d * d;
	}
	for (i = 0; i < set->count; i++)
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
	uint32_t i;

	for (i = 0; i < session->count && target->role & PM_ROLE_ALL; i++)
		session->registers[i].slices.gap_ns += ns;
}

/* Each event of a breakpoint is a trap: the work is slower while it is counted, and does
 * more in the same time while it is not. */
static bool slows_the_work(const struct pm_register *reg)
{
	return pm_register_event(reg, 0)->attr.type == PERF_TYPE_BREAKPOINT;
}

void pm_estimate(const struct pm_register *reg, struct perfmon_estimate *out)
{
	const struct perfmon_value *found = &reg->found;
	const struct pm_slices *slices = &reg->slices;
	double enabled = (double)found->enabled_ns, running = (double)found->running_ns;
	double rate, n = (double)slices->n, square, whole;

	*out = (struct perfmon_estimate){
		.index = out->index, .runs = slices->n, .error = INFINITY};
	if (!(found->status & (PERFMON_VALUE_COUNTED | PERFMON_VALUE_MULTIPLEXED))) {
		out->flags = PERFMON_ESTIMATE_NONE;
		return;
	}
	out->coverage = running / enabled;
	out->value = (double)found->value * enabled / running;
	if (found->running_ns >= found->enabled_ns) {
		out->flags = PERFMON_ESTIMATE_EXACT;
		out->error = 0;
		return;
	}
	if (slices->n < 3 || slows_the_work(reg)) {
		out->flags = PERFMON_ESTIMATE_UNKNOWN;
		return;
	}
	rate = (double)found->value / running;
	square =
		(slices->xx - 2 * rate * slices->xd + rate * rate * slices->dd) / (n - 1);
	whole = n * enabled / running;
	/* Turns that are all alike do not tell how far the time in between may be from
	 * them: so it is with strides. The sums are rounded with each turn. */
	out->error = square > slices->xx * DBL_EPSILON
			     ? pm_student_99(n - 1) * whole *
				       sqrt(fmax(0, (1 - n / whole) * square / n))
			     : pm_unseen_99((double)found->value, n, whole);
	out->error += rate * fmax(0, slices->gap_ns);
	if (isinf(out->error))
		out->flags = PERFMON_ESTIMATE_UNKNOWN;
}
