/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of an event's readings. */
#include <math.h>

#include "cli/stat/cell.h"

/* --- samples ------------------------------------------------------------------------ */

void stat_sum_add(struct stat_sum *sum, double value)
{
	double off = value - sum->mean;

	sum->runs++;
	sum->mean += off / (double)sum->runs;
	sum->squares += off * (value - sum->mean);
	if (sum->runs == 1 || value < sum->min)
		sum->min = value;
	if (sum->runs == 1 || value > sum->max)
		sum->max = value;
}

double stat_sum_spread(const struct stat_sum *sum)
{
	double n = (double)sum->runs;

	if (sum->runs < 2 || sum->mean == 0)
		return 0;
	return 100 * sqrt(sum->squares / (n - 1) / n) / fabs(sum->mean);
}

/* --- cells -------------------------------------------------------------------------- */

/* Returns the count over the enabled time, in the event's unit. */
static double estimate(const struct stat_event *event, const struct perfmon_value *value)
{
	double scaled = (double)value->value * event->event->scale;

	if (value->running_ns >= value->enabled_ns)
		return scaled;
	return scaled * ((double)value->enabled_ns / (double)value->running_ns);
}

void stat_cell_take(struct stat_cell *cell, const struct stat_event *event,
		    const struct perfmon_value *value, const struct perfmon_value *own)
{
	if (value->status & PERFMON_VALUE_NEVER_OPENED) {
		cell->refused++;
		return;
	}
	cell->enabled_ns += value->enabled_ns;
	cell->running_ns += value->running_ns;
	/* Never enabled is different: the target did not run, so nothing happened. */
	if (value->enabled_ns && !value->running_ns) {
		cell->starved++;
		return;
	}
	cell->good++;
	cell->refused += event->partly && !(value->status & PERFMON_VALUE_NEVER_OPENED);
	cell->value += value->value;
	cell->now += estimate(event, value);
	/* There may have been a free counter for other threads, but not for the first
	 * one. */
	if (own->status & PERFMON_VALUE_NEVER_OPENED ||
	    (own->enabled_ns && !own->running_ns))
		return;
	cell->own_good++;
	cell->own_now += estimate(event, own);
	cell->mixed |= value->running_ns < value->enabled_ns ||
		       own->running_ns < own->enabled_ns;
}

void stat_cell_end_run(struct stat_cell *cell)
{
	cell->last = cell->good ? cell->now : NAN;
	if (cell->good)
		stat_sum_add(&cell->count, cell->now);
	if (cell->good && cell->own_good == cell->good)
		stat_sum_add(&cell->own, cell->own_now);
	if (!cell->count.runs)
		cell->status = cell->starved ? STAT_NOT_COUNTED : STAT_NOT_SUPPORTED;
	else if (cell->refused || (cell->good && cell->starved))
		cell->status = STAT_PARTIAL;
	else if (cell->status != STAT_PARTIAL)
		cell->status = cell->running_ns < cell->enabled_ns ? STAT_MULTIPLEXED
								   : STAT_COUNTED;
	cell->good = cell->own_good = cell->starved = cell->refused = 0;
	cell->now = cell->own_now = 0;
}

void stat_cell_add(struct stat_cell *cell, const struct stat_event *event,
		   const struct pm_cpuwide_sum *sum, const struct pm_reading *before)
{
	const struct perfmon_value value = {
		.status = sum->counted ? 0 : PERFMON_VALUE_NEVER_OPENED,
		.value = sum->reading.value - before->value,
		.enabled_ns = sum->reading.enabled_ns - before->enabled_ns,
		.running_ns = sum->reading.running_ns - before->running_ns,
	};
	const struct perfmon_value own = {.value = 0};

	stat_cell_take(cell, event, &value, &own);
	if (sum->counted && (sum->refused || sum->gone || sum->missing))
		cell->refused++;
}
