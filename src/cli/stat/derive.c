/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ratios of the counts of perfmon stat, and notes about them. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat/derive.h"
#include "core/counters/counters.h"

double stat_coverage(const struct stat_cell *cell)
{
	if (cell->running_ns >= cell->enabled_ns)
		return cell->count.runs ? 1 : 0;
	return (double)cell->running_ns / (double)cell->enabled_ns;
}

const char *stat_status_name(enum stat_status status)
{
	static const char *const names[] = {
		[STAT_COUNTED] = "counted",
		[STAT_MULTIPLEXED] = "multiplexed",
		[STAT_PARTIAL] = "partial",
		[STAT_NOT_COUNTED] = "not counted",
		[STAT_NOT_SUPPORTED] = "not supported",
	};

	return names[status];
}

bool stat_is_apart(const struct stat_result *result, const struct stat_cell *cell)
{
	return result->counting->apart && stat_is_known(cell) &&
	       cell->own.runs == cell->count.runs;
}

bool stat_children(const struct stat_result *result, const struct stat_cell *cell,
		   double *children)
{
	double rest = cell->count.mean - cell->own.mean;

	/*
	 * Two events that count one thread may differ by the work between their starts.
	 */
	*children = rest > 0 ? rest : 0;
	return stat_is_apart(result, cell) && !cell->mixed;
}

/* --- ratios ------------------------------------------------------------------------- */

static bool is_event(const struct stat_result *result, uint32_t i, uint32_t type,
		     uint64_t config)
{
	const struct perf_event_attr *attr =
		&result->counting->events.events[i].event->attr;

	/* On machines with several kinds of cores, the upper half names a core PMU. */
	return attr->type == type && (uint32_t)attr->config == config;
}

static const struct stat_cell *cell_of(const struct stat_result *result, uint32_t group,
				       uint32_t i)
{
	return &result->cells[(size_t)group * result->counting->events.count + i];
}

/* Returns whether both events counted the same: all of the time, or as one group, in the
 * same modes. */
static bool are_comparable(const struct stat_result *result, uint32_t group, uint32_t i,
			   uint32_t j)
{
	const struct stat_cell *a = cell_of(result, group, i);
	const struct stat_cell *b = cell_of(result, group, j);
	const struct perf_event_attr *x = &result->counting->events.events[i].event->attr;
	const struct perf_event_attr *y = &result->counting->events.events[j].event->attr;

	return a->status <= STAT_MULTIPLEXED && b->status <= STAT_MULTIPLEXED &&
	       a->count.runs == b->count.runs && b->count.mean > 0 &&
	       ((a->status == STAT_COUNTED && b->status == STAT_COUNTED) ||
		(a->enabled_ns == b->enabled_ns && a->running_ns == b->running_ns)) &&
	       x->exclude_user == y->exclude_user &&
	       x->exclude_kernel == y->exclude_kernel;
}

static bool find(const struct stat_result *result, uint32_t group, uint32_t i,
		 uint64_t config, uint32_t *found)
{
	for (uint32_t j = 0; j < result->counting->events.count; j++) {
		if (is_event(result, j, PERF_TYPE_HARDWARE, config) &&
		    are_comparable(result, group, i, j)) {
			*found = j;
			return true;
		}
	}
	return false;
}

/* The ratios of hardware events: mean of I times SCALE over mean of the other. */
static const struct {
	uint64_t config, of;
	double scale;
	struct stat_ratio ratio;
} ratios[] = {
	{PERF_COUNT_HW_INSTRUCTIONS,
	 PERF_COUNT_HW_CPU_CYCLES,
	 1,
	 {"instructions-per-cycle", "per cycle", 2, 0}},
	{PERF_COUNT_HW_BRANCH_MISSES,
	 PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	 100,
	 {"percent-of-branches", "% of branches", 2, 0}},
	{PERF_COUNT_HW_CACHE_MISSES,
	 PERF_COUNT_HW_CACHE_REFERENCES,
	 100,
	 {"percent-of-cache-references", "% of cache-references", 2, 0}},
};

bool stat_derive(const struct stat_result *result, uint32_t group, uint32_t i,
		 struct stat_ratio *ratio)
{
	const struct stat_cell *cell = cell_of(result, group, i);
	const struct perf_event_attr *attr =
		&result->counting->events.events[i].event->attr;
	uint32_t j;

	if (cell->status > STAT_MULTIPLEXED || !cell->enabled_ns)
		return false;
	if (is_event(result, i, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK)) {
		if (!result->wall_ns.runs || result->wall_ns.mean <= 0)
			return false;
		*ratio = (struct stat_ratio){"cpus-used", "CPUs used", 3,
					     cell->count.mean / result->wall_ns.mean};
		return true;
	}
	/* A thread's event is enabled while the thread runs; a CPU's is also enabled
	 * while the CPU is idle, and a user-mode event while the kernel works. */
	if (is_event(result, i, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) &&
	    !result->counting->place && !attr->exclude_kernel && !attr->exclude_user &&
	    cell->running_ns) {
		*ratio = (struct stat_ratio){"gigahertz", "GHz", 3,
					     (double)cell->value /
						     (double)cell->running_ns};
		return true;
	}
	for (size_t k = 0; k < sizeof(ratios) / sizeof(ratios[0]); k++) {
		if (is_event(result, i, PERF_TYPE_HARDWARE, ratios[k].config) &&
		    find(result, group, i, ratios[k].of, &j)) {
			*ratio = ratios[k].ratio;
			ratio->value = ratios[k].scale * cell->count.mean /
				       cell_of(result, group, j)->count.mean;
			return true;
		}
	}
	return false;
}

bool stat_row(const struct stat_result *result, uint32_t group, uint32_t i,
	      struct stat_row *row)
{
	const struct stat_counting *counting = result->counting;

	*row = (struct stat_row){.event = &counting->events.events[i],
				 .cell = cell_of(result, group, i),
				 .group = group,
				 .index = i};
	if (row->event->hidden || row->cell->absent)
		return false;
	if (counting->place)
		stat_place_group_name(counting->place, group, row->group_name);
	return true;
}

/* --- notes -------------------------------------------------------------------------- */

/* Returns whether a default event is missing that the hardware does not replace. */
static bool is_missed(const struct stat_counting *counting,
		      const struct stat_event *event)
{
	if (!event->hidden)
		return true;
	if (!event->error)
		return false;
	for (uint32_t i = 0; i < counting->events.count; i++)
		if (counting->events.events[i].event->hardware &&
		    !counting->events.events[i].error)
			return false;
	return true;
}

/* Returns whether an event before I could not be opened for the same reason. */
static bool was_reported(const struct stat_counting *counting, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (counting->events.events[j].why &&
		    counting->events.events[j].error == counting->events.events[i].error)
			return true;
	return false;
}

/* The time that the command used but the counters did not see, if it is much. Counters
 * also see children that nobody waited for, so they may have seen more. */
#define LOST_NS 20000000

static bool was_let_go(const struct stat_result *result)
{
	double spent = (result->user_ns.mean + result->system_ns.mean) *
		       (double)result->user_ns.runs;
	double seen = 0;
	bool counted = false;

	if (result->options->targets || result->options->place ||
	    !result->options->inherit || result->time_ns)
		return false;
	for (uint32_t i = 0; i < result->counting->events.count; i++) {
		const struct stat_cell *cell = &result->cells[i];

		if (!stat_is_known(cell))
			continue;
		counted = true;
		if ((double)cell->enabled_ns > seen)
			seen = (double)cell->enabled_ns;
	}
	return counted && seen < spent / 2 && spent - seen > LOST_NS;
}

/* Finds the first event for which no counter was ever free. */
static const struct stat_event *find_starved(const struct stat_result *result)
{
	struct stat_row row;

	for (uint32_t g = 0; g < stat_counting_groups(result->counting); g++) {
		for (uint32_t i = 0; i < result->counting->events.count; i++) {
			if (stat_row(result, g, i, &row) &&
			    row.cell->status == STAT_NOT_COUNTED)
				return row.event;
		}
	}
	return NULL;
}

/* Finds the first event whose counts differ between runs, or NULL. */
static const struct stat_event *find_unequal(const struct stat_result *result,
					     double *difference)
{
	for (uint32_t i = 0; i < result->counting->events.count; i++) {
		const struct stat_sum *count = &result->cells[i].count;

		*difference = count->max - count->min;
		if (count->runs && *difference > 0)
			return &result->counting->events.events[i];
	}
	return NULL;
}

/* Makes the notes of --exact. */
static bool exact_note(const struct stat_result *result, uint32_t number,
		       struct pm_diag *note)
{
	const struct stat_event *unequal;
	double difference;

	if (!number--) {
		pm_diag_set(note, 0,
			    "counted exactly by translation, 3 to 20 times slower; times "
			    "are not those of the machine");
		return true;
	}
	if (result->exact->lost_runs && !number--) {
		pm_diag_set(note, 0,
			    "%u of %u runs left no counts: a process that is killed by "
			    "SIGKILL, or that Valgrind cannot run, has none",
			    result->exact->lost_runs, result->options->runs);
		return true;
	}
	if (result->exact->unknown && !number--) {
		pm_diag_set(note, 0,
			    "Valgrind does not know an instruction of the program, which "
			    "ended there: the counts are those before it");
		return true;
	}
	if (number || result->options->runs - result->exact->lost_runs < 2)
		return false;
	unequal = find_unequal(result, &difference);
	if (unequal)
		pm_diag_set(note, 0,
			    "the runs differ, '%s' by %.0f: perfmon-exact(7) says why a "
			    "program may do something else in each run",
			    unequal->label, difference);
	else
		pm_diag_set(note, 0, "the runs agree in every count");
	return true;
}

bool stat_note(const struct stat_result *result, uint32_t number, struct pm_diag *note)
{
	const struct stat_counting *counting = result->counting;
	uint32_t i, others = 0;

	pm_diag_clear(note);
	if (result->input_lost && !number--) {
		pm_diag_set(note, 0,
			    "standard input is a pipe: what one run reads, the next does "
			    "not find; take it from a file (<FILE)");
		return true;
	}
	if (result->exact)
		return exact_note(result, number, note);
	if (counting->events.user_only && !number--) {
		pm_diagnosis_user_mode(note, "counting user mode only");
		return true;
	}
	if (was_let_go(result) && !number--) {
		pm_diag_set(note, 0,
			    "counting ended before the command: the kernel removes the "
			    "counters when a command executes a set-user-ID program");
		return true;
	}
	if (!counting->split && find_starved(result) && !number--) {
		pm_diagnosis_starved(note, find_starved(result)->label);
		pm_diag_add(note, "; --split schedules each event by itself");
		return true;
	}
	if (counting->uncertain && !number--) {
		pm_diag_set(note, 0, "%s",
			    counting->why_uncertain.text[0]
				    ? counting->why_uncertain.text
				    : "some threads may be missing or counted twice");
		return true;
	}
	for (i = 0; i < counting->events.count; i++) {
		const struct stat_event *event = &counting->events.events[i];

		if (!event->why ||
		    (!result->options->verbose &&
		     (was_reported(counting, i) || !is_missed(counting, event))))
			continue;
		if (!number--)
			break;
	}
	if (i == counting->events.count)
		return false;
	for (uint32_t j = i + 1; j < counting->events.count && !result->options->verbose;
	     j++)
		others += counting->events.events[j].why &&
			  counting->events.events[j].error ==
				  counting->events.events[i].error;
	pm_diag_set(note, 0, "%s", counting->events.events[i].why);
	if (others)
		pm_diag_add(note, " (and %u more events)", others);
	return true;
}
