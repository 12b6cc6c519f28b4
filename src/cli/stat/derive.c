/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of perfmon stat with ratios of their counts, and notes about them. */
#include <math.h>
#include <stdio.h>

#include "cli/stat/inside.h"
#include "core/counters/counters.h"

/* --- ratios ------------------------------------------------------------------------- */

static bool is_event(const struct pm_event *event, uint32_t type, uint64_t config)
{
	/* On machines with several kinds of cores, the upper half names a core PMU. */
	return event->attr.type == type && (uint32_t)event->attr.config == config;
}

/* Returns whether both events counted the same: all of the time, or as one group, in the
 * same modes. */
static bool are_comparable(const struct stat_cell *a, const struct perf_event_attr *x,
			   const struct stat_cell *b, const struct perf_event_attr *y)
{
	return a->status <= STAT_MULTIPLEXED && b->status <= STAT_MULTIPLEXED &&
	       a->count.runs == b->count.runs &&
	       ((a->status == STAT_COUNTED && b->status == STAT_COUNTED) ||
		(a->enabled_ns == b->enabled_ns && a->running_ns == b->running_ns)) &&
	       x->exclude_user == y->exclude_user &&
	       x->exclude_kernel == y->exclude_kernel;
}

/* The codes of slots and of the first of topdown's metrics, whose level 1 divides all slots. */
#define TOPDOWN_SLOTS  0x400
#define TOPDOWN_FIRST  0x8000
#define TOPDOWN_STEP   0x100
#define TOPDOWN_LEVEL1 4

/* Returns whether EVENT is of topdown. A sum over kinds of cores, of which one has slots, is not. */
static bool is_topdown(const struct stat_counting *counting, const struct pm_event *event)
{
	const struct pm_event_list *list = counting->events.list;

	return event->topdown && !(list && event + 1 < list->events + list->count &&
				   event[1].logical == event->logical);
}

/* Returns the cell of topdown's event CODE, or of the hardware event CODE that happened, that is
 * comparable to ROW's, or NULL. */
static const struct stat_cell *find(const struct stat_result *result,
				    const struct stat_row *row, bool topdown,
				    uint64_t code)
{
	const struct stat_events *events = &result->counting->events;
	const struct stat_cell *group = row->cell - (row->event - events->events);

	for (uint32_t j = 0; j < events->count; j++) {
		const struct pm_event *other = events->events[j].event;
		bool is_it = topdown ? is_topdown(result->counting, other) &&
					       other->attr.config == code
				     : is_event(other, PERF_TYPE_HARDWARE, code) &&
					       group[j].count.mean > 0;

		if (is_it && are_comparable(row->cell, &row->event->event->attr,
					    &group[j], &other->attr))
			return &group[j];
	}
	return NULL;
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

/* Returns the ratio of ROW, with a NULL key if there is none. */
static struct stat_ratio ratio_of(const struct stat_result *result,
				  const struct stat_row *row)
{
	const struct stat_cell *cell = row->cell, *other;
	const struct pm_event *event = row->event->event;
	struct stat_ratio ratio = {.key = NULL};

	if (cell->status > STAT_MULTIPLEXED || !cell->enabled_ns)
		return ratio;
	if (is_event(event, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK)) {
		if (result->wall_ns.runs && result->wall_ns.mean > 0)
			ratio = (struct stat_ratio){"cpus-used", "CPUs used", 3,
						    cell->count.mean /
							    result->wall_ns.mean};
		return ratio;
	}
	/* A thread's event is enabled while the thread runs; a CPU's is also enabled
	 * while the CPU is idle, and a user-mode event while the kernel works. */
	if (is_event(event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) &&
	    !result->counting->placement && !event->attr.exclude_kernel &&
	    !event->attr.exclude_user && cell->running_ns)
		return (struct stat_ratio){"gigahertz", "GHz", 3,
					   (double)cell->value /
						   (double)cell->running_ns};
	if (event->topdown == PM_TOPDOWN_METRIC && is_topdown(result->counting, event)) {
		other = find(result, row, true, TOPDOWN_SLOTS);
		if (other && other->count.mean > 0 && cell->count.mean > 0)
			ratio = (struct stat_ratio){"percent-of-slots", "% of slots", 2,
						    100 * cell->count.mean /
							    other->count.mean};
		return ratio;
	}
	for (size_t k = 0; k < sizeof(ratios) / sizeof(ratios[0]) && !ratio.key; k++) {
		if (!is_event(event, PERF_TYPE_HARDWARE, ratios[k].config))
			continue;
		other = find(result, row, false, ratios[k].of);
		if (other) {
			ratio = ratios[k].ratio;
			ratio.value =
				ratios[k].scale * cell->count.mean / other->count.mean;
		}
	}
	return ratio;
}

/* --- rows --------------------------------------------------------------------------- */

/* Sets the numbers of ROW, which has its event and its cell. */
static void fill_row(const struct stat_result *result, struct stat_row *row)
{
	const struct stat_cell *cell = row->cell;
	double rest = cell->count.mean - cell->own.mean;

	row->status = stat_status_name(cell->status);
	row->known = cell->status < STAT_NOT_COUNTED;
	row->coverage = stat_cell_coverage(cell);
	row->apart = result->counting->apart && row->known &&
		     cell->own.runs == cell->count.runs;
	row->has_children = row->apart && !cell->mixed;
	/* Two events that count one thread may differ by the work between their starts. */
	row->children = rest > 0 ? rest : 0;
	row->ratio = ratio_of(result, row);
}

bool stat_row_next(const struct stat_result *result, struct stat_row *row)
{
	const struct stat_counting *counting = result->counting;
	size_t c = row->next, cells = stat_counting_cells(counting);
	uint32_t count = counting->events.count;

	while (c < cells &&
	       (counting->events.events[c % count].hidden || result->cells[c].absent))
		c++;
	if (c == cells)
		return false;
	row->next = c + 1;
	row->event = &counting->events.events[c % count];
	row->cell = &result->cells[c];
	stat_counting_group_name(counting, (uint32_t)(c / count), row->group_name);
	fill_row(result, row);
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

/* Returns the CPU time of the command in all runs, in ns. */
static double spent_of(const struct stat_result *result)
{
	return (result->user_ns.mean + result->system_ns.mean) *
	       (double)result->user_ns.runs;
}

/* The time that the command used but the counters did not see, if it is much. Counters
 * also see children that nobody waited for, so they may have seen more. */
#define LOST_NS 20000000

static bool was_let_go(const struct stat_result *result)
{
	double spent = spent_of(result), seen = 0;
	bool counted = false;

	if (result->options->targets || result->options->place ||
	    !result->options->inherit || result->time_ns)
		return false;
	for (uint32_t i = 0; i < result->counting->events.count; i++) {
		const struct stat_cell *cell = &result->cells[i];

		if (cell->status >= STAT_NOT_COUNTED)
			continue;
		counted = true;
		if ((double)cell->enabled_ns > seen)
			seen = (double)cell->enabled_ns;
	}
	return counted && seen < spent / 2 && spent - seen > LOST_NS;
}

/* Makes the notes of --exact. */
static void add_exact(const struct stat_result *result, const struct cli_notes *to)
{
	const struct stat_events *events = &result->counting->events;
	const char *unequal = NULL;
	double difference = 0;

	cli_note(to, "counted exactly by translation, 3 to 20 times slower; times are "
		     "not those of the machine");
	if (result->exact->lost_runs)
		cli_note(to,
			 "%u of %u runs left no counts: a process that is killed by "
			 "SIGKILL, or that Valgrind cannot run, has none",
			 result->exact->lost_runs, result->runs);
	if (result->exact->unknown)
		cli_note(to, "Valgrind does not know an instruction of the program, "
			     "which ended there: the counts are those before it");
	if (result->runs - result->exact->lost_runs < 2)
		return;
	for (uint32_t i = 0; i < events->count && !unequal; i++) {
		const struct pm_sum *count = &result->cells[i].count;

		difference = count->max - count->min;
		if (count->runs && difference > 0)
			unequal = events->events[i].label;
	}
	if (unequal)
		cli_note(to,
			 "the runs differ, '%s' by %.0f: perfmon-exact(7) says why a "
			 "program may do something else in each run",
			 unequal, difference);
	else
		cli_note(to, "the runs agree in every count");
}

/* Makes the notes about events that could not be opened: without --verbose one for each
 * reason, and none about a default event that is not missed. */
static void add_refused(const struct stat_result *result, const struct cli_notes *to)
{
	const struct stat_counting *counting = result->counting;
	const struct stat_event *events = counting->events.events;
	bool verbose = result->options->verbose;

	for (uint32_t i = 0; i < counting->events.count; i++) {
		uint32_t others = 0;

		if (!events[i].why || (!verbose && (was_reported(counting, i) ||
						    !is_missed(counting, &events[i]))))
			continue;
		for (uint32_t j = i + 1; j < counting->events.count && !verbose; j++)
			others += events[j].why && events[j].error == events[i].error;
		if (others)
			cli_note(to, "%s (and %u more events)", events[i].why, others);
		else
			cli_note(to, "%s", events[i].why);
	}
}

/* Returns by how much of SLOTS the metrics counted with them may be off, in %: 1/255, and what the four of
 * level 1 exceed slots by; INFINITY: not all four are there. Switches of threads make counts too large. */
static double topdown_error(const struct stat_result *result,
			    const struct stat_row *slots)
{
	double sum = 0, all = slots->cell->count.mean;

	for (int k = 0; k < TOPDOWN_LEVEL1; k++) {
		const struct stat_cell *cell = find(
			result, slots, true, TOPDOWN_FIRST + (uint64_t)k * TOPDOWN_STEP);

		if (!cell)
			return INFINITY;
		sum += cell->count.mean;
	}
	return 100 / 255.0 + (sum > all ? 100 * (sum - all) / all : 0);
}

/* Makes the note about topdown metrics: the largest error of all groups of CPUs. */
static void add_topdown(const struct stat_result *result, const struct cli_notes *to)
{
	struct stat_row row = {.next = 0};
	double most = 0;
	bool counted = false;

	while (stat_row_next(result, &row)) {
		enum pm_topdown topdown = row.event->event->topdown;

		counted |= row.known && topdown == PM_TOPDOWN_METRIC;
		if (row.known && topdown == PM_TOPDOWN_SLOTS && row.cell->count.mean > 0)
			most = fmax(most, topdown_error(result, &row));
	}
	if (!counted || !(most > 0))
		return;
	if (isfinite(most))
		cli_note(to,
			 "topdown metrics are 8-bit fractions of slots: each count is "
			 "off by at most %.1f %% of slots",
			 most);
	else
		cli_note(to, "topdown metrics are 8-bit fractions of slots: each count "
			     "is off by 0.4 %% of slots, or by more, which only all four "
			     "of level 1 in one group would show");
}

void stat_notes(const struct stat_result *result, const struct cli_notes *to)
{
	const struct stat_counting *counting = result->counting;
	struct stat_row row = {.next = 0};
	struct pm_diag diag = {0};

	if (result->input_lost)
		cli_note(to, "standard input is a pipe: what one run reads, the next "
			     "does not find; take it from a file (<FILE)");
	if (result->exact) {
		add_exact(result, to);
		return;
	}
	if (counting->events.user_only) {
		pm_diagnosis_user_mode(&diag, "counting user mode only");
		cli_note(to, "%s", diag.text);
	}
	if (was_let_go(result))
		cli_note(to, "counting ended before the command: the kernel removes the "
			     "counters when a command executes a set-user-ID program");
	while (!counting->split && stat_row_next(result, &row)) {
		if (row.cell->status != STAT_NOT_COUNTED || row.event->event->uncore)
			continue;
		pm_diagnosis_starved(&diag, row.event->label);
		cli_note(to, "%s; --split schedules each event by itself", diag.text);
		break;
	}
	if (counting->uncertain)
		cli_note(to, "%s",
			 counting->why_uncertain.text[0]
				 ? counting->why_uncertain.text
				 : "some threads may be missing or counted twice");
	add_topdown(result, to);
	stat_packages_note(&counting->packages, &counting->events,
			   (uint64_t)spent_of(result), to);
	add_refused(result, to);
}
