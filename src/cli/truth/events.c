/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/truth/checks.h"
#include "cli/truth/counter.h"
#include "cli/truth/names.h"

/* The turns of a block, few and many, and how often both are run. A repetition takes some
 * 50 us on a CPU, far less than the time between two ticks. */
#define FEW	    10
#define MANY	    110
#define REPETITIONS 15
/* Repetitions that may fail because other events are multiplexed with this one. */
#define FAILURES 30

#define BLOCKS_MAX TRUTH_FIGURES

/* --- counts of blocks ----------------------------------------------------------------- */

static int measure_row(const struct truth_counter *counter,
		       const struct truth_block *block, struct truth_row *row)
{
	int64_t differences[REPETITIONS];
	size_t count = 0;
	int failures = 0, err = 0;
	uint64_t few, many;

	/* Loads what the block needs. */
	truth_block_run(block, FEW);
	while (count < REPETITIONS && failures < FAILURES) {
		err = truth_counter_measure(counter, block, FEW, &few);
		if (!err)
			err = truth_counter_measure(counter, block, MANY, &many);
		if (!err)
			differences[count++] = (int64_t)(many - few);
		else if (err == -EAGAIN)
			failures++;
		else
			return err;
	}
	if (count < REPETITIONS)
		return -EAGAIN;
	truth_row_fill(row, differences, count, MANY - FEW);
	return 0;
}

static bool is_of_interest(const struct truth_block *block, enum truth_work work,
			   struct truth_row *row)
{
	*row = (struct truth_row){.block = block->name,
				  .instructions = block->instructions,
				  .misleads = block->misleads};
	if (block->is_there && !block->is_there())
		return false;
	/* Each block has branches that are predicted, or not. */
	if (work == TRUTH_MISPREDICTED || work == TRUTH_UNKNOWN_WORK)
		return true;
	return truth_block_work(block, work, &row->least, &row->most);
}

/* Counts all blocks of which it is known how much WORK they do. Returns how many, or an
 * error. */
static int measure_rows(const struct truth_counter *counter, enum truth_work work,
			struct truth_row *rows)
{
	size_t count = 0;

	for (size_t b = 0; b < truth_block_count && count < BLOCKS_MAX; b++) {
		int err;

		if (!is_of_interest(&truth_blocks[b], work, &rows[count]))
			continue;
		err = measure_row(counter, &truth_blocks[b], &rows[count]);
		if (err)
			return err;
		count++;
	}
	return (int)count;
}

/* --- verdicts ------------------------------------------------------------------------- */

/* Says what was decided, and by which block. */
static void conclude(struct truth_finding *finding,
		     const struct truth_judgement *judgement, enum truth_work work)
{
	const struct truth_row *row = judgement->worst;

	truth_conclude(finding, judgement);
	if (judgement->verdict == TRUTH_NOTHING)
		return;
	if (judgement->verdict == TRUTH_UNSTEADY)
		truth_say(finding, TRUTH_UNSTEADY,
			  "%s: repetitions differ, from %.4g to %.4g a turn, where %.4g "
			  "are true: emulators and busy machines do that",
			  row->block, row->lower, row->upper, row->least);
	else if (judgement->verdict == TRUTH_UNJUDGED)
		truth_say(finding, TRUTH_UNJUDGED,
			  "no block here has a known number of this event");
	else if (row && work == TRUTH_MISPREDICTED)
		truth_say(finding, judgement->verdict,
			  "%s: %.4g a turn, which no predictor can have", row->block,
			  row->median);
	else if (row && row->least < row->most)
		truth_say(finding, judgement->verdict,
			  "%s: %.6g a turn, and %.6g to %.6g are true", row->block,
			  row->median, row->least, row->most);
	else if (row)
		truth_say(finding, judgement->verdict,
			  "%s: %.6g a turn, and %.6g are true", row->block, row->median,
			  row->least);
}

static void judge(struct truth_finding *finding, const struct truth_counter *counter,
		  enum truth_work work)
{
	struct truth_row rows[BLOCKS_MAX];
	struct truth_judgement judgement;
	int count = measure_rows(counter, work, rows);

	if (count == -EAGAIN)
		truth_say(finding, TRUTH_UNJUDGED,
			  "other events take the counter away: perf, or the NMI watchdog "
			  "(kernel.nmi_watchdog); try again without them");
	if (count < 0 && count != -EAGAIN)
		truth_say(finding, TRUTH_UNJUDGED, "reading the event failed: %s",
			  strerror(-count));
	if (count < 0)
		return;
	for (int i = 0; i < count; i++)
		truth_figure_row(finding, &rows[i],
				 work != TRUTH_MISPREDICTED &&
					 work != TRUTH_UNKNOWN_WORK);
	judgement = work == TRUTH_MISPREDICTED
			    ? truth_decide_mispredicted(rows, (size_t)count)
			    : truth_decide(rows, (size_t)count);
	if (work == TRUTH_UNKNOWN_WORK)
		judgement = (struct truth_judgement){.verdict = TRUTH_UNJUDGED};
	conclude(finding, &judgement, work);
}

/* --- which events are there ----------------------------------------------------------- */

/* The codes of PMUv3 that a PMU says it has, or not: PMCEID. sysfs lists those it has. */
static bool is_listed_code(uint64_t code)
{
	return code < 0x40 || (code >= 0x4000 && code < 0x4040);
}

/* Returns whether the PMU itself says that it does not have EVENT, which opens all the
 * same. */
static bool is_denied(const struct pm_event *event)
{
	struct pm_sysfs_pmu *pmu;
	struct pm_sysfs *sysfs;
	bool has = false, any = false;

	if (strncmp(event->pmu, "armv8", 5) ||
	    (event->attr.type < PERF_TYPE_MAX && event->attr.type != PERF_TYPE_RAW) ||
	    !is_listed_code(event->attr.config) || pm_sysfs_load(&sysfs))
		return false;
	pmu = pm_sysfs_by_name(sysfs, event->pmu);
	for (size_t i = 0; pmu && !pm_sysfs_pmu_load(pmu) && i < pmu->alias_count && !has;
	     i++) {
		struct pm_sysfs_alias alias;
		unsigned long long code;

		if (pm_sysfs_alias_read(pmu, pmu->aliases[i], &alias, NULL))
			continue;
		any = true;
		has = sscanf(alias.terms, "event=%llx", &code) == 1 &&
		      code == event->attr.config;
		free(alias.terms);
	}
	pm_sysfs_free(sysfs);
	return any && !has;
}

/* Judges COUNT events that stand for one. */
static int judge_event(struct truth_report *report, struct pm_event *events,
		       uint32_t count)
{
	enum truth_work work = truth_work_of(events);
	struct truth_finding *finding = truth_add(report, TRUTH_EVENT, events->label);
	struct truth_counter counter;
	struct pm_diag diag = {0};

	if (!finding)
		return -ENOMEM;
	if (is_denied(events)) {
		truth_say(finding, TRUTH_ABSENT,
			  "the PMU says that it does not count this event: "
			  "/sys/bus/event_source/devices/%s/events lacks it",
			  events->pmu);
		return 0;
	}
	if (pm_event_mode_is_ignored(events))
		for (uint32_t i = 0; i < count; i++)
			events[i].attr.exclude_kernel = events[i].attr.exclude_hv = 0;
	if (truth_counter_open(&counter, events, count, 0, &diag)) {
		truth_say_absent(finding, diag.text);
		return 0;
	}
	judge(finding, &counter, work);
	truth_counter_close(&counter);
	return 0;
}

static int judge_list(struct truth_report *report, const struct pm_event_list *list)
{
	uint32_t count = 1;
	int err = 0;

	for (size_t i = 0; i < list->count && !err; i += count) {
		struct pm_event *events = &list->events[i];

		for (count = 1;
		     i + count < list->count && events[count].logical == events->logical;)
			count++;
		if (events->hardware || events->exact)
			err = judge_event(report, events, count);
	}
	return err;
}

static int judge_name(struct truth_report *report, const struct truth_name *name)
{
	struct pm_event_list *list;
	struct pm_diag diag = {0};
	struct truth_finding *finding;
	int err = pm_events_parse(name->name, PM_EVENTS_USER_ONLY, &list, &diag);

	if (!err) {
		err = judge_list(report, list);
		pm_events_free(list);
		return err;
	}
	if (err == -ENOMEM || !name->generic)
		return err == -ENOMEM ? err : 0;
	finding = truth_add(report, TRUTH_EVENT, name->name);
	if (!finding)
		return -ENOMEM;
	truth_say_absent(finding, diag.text);
	return 0;
}

int truth_events(struct truth_report *report, const struct pm_event_list *list)
{
	int err = 0;

	if (list)
		return judge_list(report, list);
	for (size_t i = 0; i < truth_name_count && !err; i++)
		err = judge_name(report, &truth_names[i]);
	return err;
}
