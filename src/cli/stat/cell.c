/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of perfmon stat and their modes, and the sums of their readings. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/stat/inside.h"

/* --- events ------------------------------------------------------------------------- */

/* The default events, as far as they exist. */
#define AS_WELL                                                                          \
	",context-switches,cpu-migrations,page-faults,"                                  \
	"cycles,instructions,branches,branch-misses"
static const char of_threads[] = "task-clock" AS_WELL, of_cpus[] = "cpu-clock" AS_WELL;

int stat_events_learn(struct stat_events *events, const char *text, bool cpus,
		      bool user_only, struct pm_diag *diag)
{
	int err;

	*events = (struct stat_events){.text = cpus ? of_cpus : of_threads,
				       .chosen = text != NULL,
				       .user_only = user_only};
	if (text)
		events->text = text;
	if (!strcasecmp(events->text, "none"))
		return 0;
	err = pm_events_parse(events->text, user_only ? PM_EVENTS_USER_ONLY : 0,
			      &events->list, diag);
	if (!err) {
		events->count = (uint32_t)events->list->logical_count;
		events->events = calloc(events->count + 1, sizeof(events->events[0]));
		if (!events->events)
			err = pm_diag_set(diag, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; !err && i < events->count; i++) {
		const struct pm_event *first = events->list->events;

		while (first->logical != i)
			first++;
		events->events[i].event = first;
		events->events[i].label = first->label;
	}
	if (err)
		stat_events_forget(events);
	return err;
}

void stat_events_forget(struct stat_events *events)
{
	for (uint32_t i = 0; events->events && i < events->count; i++)
		free(events->events[i].why);
	free(events->events);
	pm_events_free(events->list);
	events->events = NULL;
	events->list = NULL;
	events->count = 0;
}

/* --- samples ------------------------------------------------------------------------ */

double stat_sum_spread(const struct pm_sum *sum)
{
	if (sum->runs < 2 || sum->mean == 0)
		return 0;
	return 100 * sqrt(pm_sum_variance(sum) / (double)sum->runs) / fabs(sum->mean);
}

/* --- cells -------------------------------------------------------------------------- */

const char *stat_status_name(enum stat_status status)
{
	static const char *const names[] = {
		[STAT_COUNTED] = "counted",	      [STAT_MULTIPLEXED] = "multiplexed",
		[STAT_PARTIAL] = "partial",	      [STAT_NOT_COUNTED] = "not counted",
		[STAT_NEVER_OPENED] = "never opened",
	};

	return names[status];
}

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
	cell->refused += event->partly;
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

double stat_cell_coverage(const struct stat_cell *cell)
{
	if (cell->running_ns < cell->enabled_ns)
		return (double)cell->running_ns / (double)cell->enabled_ns;
	return cell->count.runs ? 1 : 0;
}

void stat_cell_end_run(struct stat_cell *cell)
{
	cell->last = cell->good ? cell->now : NAN;
	if (cell->good)
		pm_sum_add(&cell->count, cell->now);
	if (cell->good && cell->own_good == cell->good)
		pm_sum_add(&cell->own, cell->own_now);
	if (!cell->count.runs)
		cell->status = cell->starved ? STAT_NOT_COUNTED : STAT_NEVER_OPENED;
	else if (cell->refused || (cell->good && cell->starved))
		cell->status = STAT_PARTIAL;
	else if (cell->status != STAT_PARTIAL)
		cell->status = cell->running_ns < cell->enabled_ns ? STAT_MULTIPLEXED
								   : STAT_COUNTED;
	cell->good = cell->own_good = cell->starved = cell->refused = 0;
	cell->now = cell->own_now = 0;
}
