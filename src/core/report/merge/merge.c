/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/merge/merge.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/merge/parts.h"
#include "core/report/model/times.h"

int pm_merge_create(struct pm_merge **out, bool subtract_bias)
{
	struct pm_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return -ENOMEM;
	merge->subtract_bias = subtract_bias;
	merge->sum = calloc(1, sizeof(*merge->sum));
	if (merge->sum)
		merge->sum->regions = calloc(1, sizeof(*merge->sum->regions));
	if (merge->sum && merge->sum->regions)
		merge->sum->regions[0] = strdup("");
	if (!merge->sum || !merge->sum->regions || !merge->sum->regions[0]) {
		pm_merge_free(merge);
		return -ENOMEM;
	}
	merge->region_room = 1;
	*out = merge;
	return 0;
}

static void ranges_free(struct pm_merge_ranges *ranges)
{
	pm_pairs_free(&ranges->numbers);
	free(ranges->path);
	free(ranges->cells);
}

void pm_merge_free(struct pm_merge *merge)
{
	if (!merge)
		return;
	pm_snapshot_free(merge->sum);
	free(merge->node_room);
	tdestroy(merge->names, free);
	ranges_free(&merge->paths);
	ranges_free(&merge->regions);
	for (uint32_t i = 0; i < merge->event_count; i++)
		free(merge->events[i].open.at);
	free(merge->events);
	free(merge->everyone.at);
	free(merge->processes);
	for (uint32_t i = 0; i < merge->host_count; i++)
		free(merge->hosts[i]);
	free(merge->hosts);
	free(merge->boots);
	for (uint32_t i = 0; i < merge->note_count; i++)
		free(merge->notes[i].text);
	free(merge->notes);
	free(merge);
}

/* --- names -------------------------------------------------------------------------- */

/* A region of the sum. A tree that stays balanced has no worst case that a profile could choose. */
struct name {
	uint32_t id;
	const char *text; /* in the sum's regions */
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static int name_get(struct pm_merge *merge, const char *text, uint32_t *id)
{
	struct name key = {.text = text}, *name, **found;
	struct pm_snapshot *sum = merge->sum;

	found = tfind(&key, &merge->names, by_text);
	if (found) {
		*id = (*found)->id;
		return 0;
	}
	if (sum->region_count + 1 == merge->region_room) {
		uint32_t room = 2 * merge->region_room;
		char **regions = realloc(sum->regions, room * sizeof(*regions));

		if (!regions)
			return -ENOMEM;
		sum->regions = regions;
		merge->region_room = room;
	}
	name = malloc(sizeof(*name));
	sum->regions[sum->region_count + 1] = strdup(text);
	if (name)
		*name = (struct name){sum->region_count + 1,
				      sum->regions[sum->region_count + 1]};
	if (!name || !name->text || !tsearch(name, &merge->names, by_text)) {
		free(sum->regions[sum->region_count + 1]);
		free(name);
		return -ENOMEM;
	}
	*id = ++sum->region_count;
	return 0;
}

/* The sum's ids of SNAPSHOT's regions, in MAP (region_count + 1). */
static int regions_add(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		       uint32_t *map)
{
	int err = 0;

	map[0] = 0;
	for (uint32_t id = 1; !err && id <= snapshot->region_count; id++)
		err = name_get(merge, snapshot->regions[id], &map[id]);
	return err;
}

/* --- what the processes have in common ---------------------------------------------- */

/* The boot on which the process of HEADER ran, or NULL: the clock is the same then. */
static struct pm_merge_boot *boot_find(const struct pm_merge *merge,
				       const struct perfmon_profile_header *header)
{
	for (uint32_t b = 0; header->boot_id[0] && b < merge->boot_count; b++)
		if (merge->boots[b].clock == header->clock &&
		    !strcmp(merge->boots[b].id, header->boot_id))
			return &merge->boots[b];
	return NULL;
}

/* Notes what the clock of S is; NULL: no memory. */
static struct pm_merge_boot *boot_get(struct pm_merge *merge, const struct pm_snapshot *s)
{
	struct pm_merge_boot *boot = boot_find(merge, &s->header), *boots;

	/* The clock of a boot is one: what tells it best holds for those that come. */
	if (boot && s->tick_ns > 0 && s->tick_error < boot->tick_error) {
		boot->tick_ns = s->tick_ns;
		boot->tick_error = s->tick_error;
	}
	if (boot)
		return boot;
	boots = realloc(merge->boots, (merge->boot_count + 1) * sizeof(*boots));
	if (!boots)
		return NULL;
	merge->boots = boots;
	boot = &boots[merge->boot_count++];
	memcpy(boot->id, s->header.boot_id, sizeof(boot->id));
	boot->clock = s->header.clock;
	boot->tick_ns = s->tick_ns;
	boot->tick_error = s->tick_error;
	return boot;
}

/* VALUE, of an untrusted profile, as a whole number. */
static uint64_t whole(double value)
{
	return value >= 1 ? value < 1.8e19 ? (uint64_t)value : UINT64_MAX : 0;
}

/* Returns the least certain of the states A and B of two processes. */
static enum pm_snapshot_writer writer_of_both(enum pm_snapshot_writer a,
					      enum pm_snapshot_writer b)
{
	static const enum pm_snapshot_writer order[] = {PM_WRITER_RUNS, PM_WRITER_UNKNOWN,
							PM_WRITER_GONE, PM_WRITER_PACKED,
							PM_WRITER_ENDED};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a;
}

/* Without memory they are not shown. */
static void arguments_copy(struct pm_snapshot *to, const struct pm_snapshot *from)
{
	to->arguments = from->arguments ? malloc(from->arguments_length + 1) : NULL;
	if (!to->arguments)
		return;
	memcpy(to->arguments, from->arguments, from->arguments_length + 1);
	to->arguments_length = from->arguments_length;
	to->arguments_cut = from->arguments_cut;
}

/* Without memory they are not shown. */
static void run_notes_copy(struct pm_snapshot *to, const struct pm_snapshot *from)
{
	to->run_notes = calloc(1, sizeof(*to->run_notes));
	if (to->run_notes && from->run_notes)
		*to->run_notes = *from->run_notes;
}

static void run_notes_join(struct pm_snapshot *to, const struct pm_snapshot *from)
{
	if (to->run_notes)
		pm_run_notes_join(to->run_notes, from->run_notes);
}

static bool same_arguments(const struct pm_snapshot *a, const struct pm_snapshot *b)
{
	return a->arguments && b->arguments &&
	       a->arguments_length == b->arguments_length &&
	       a->arguments_cut == b->arguments_cut &&
	       !memcmp(a->arguments, b->arguments, a->arguments_length);
}

/* Keeps in the sum's header what all processes so far have in common. */
static void header_add(struct pm_merge *merge, const struct pm_snapshot *s)
{
	struct perfmon_profile_header *to = &merge->sum->header;
	const struct perfmon_profile_header *from = &s->header;
	uint64_t end_ns = pm_plus(from->begin_realtime_ns, whole(pm_report_duration(s)));

	if (end_ns > merge->end_realtime_ns)
		merge->end_realtime_ns = end_ns;
	if (!merge->process_count) {
		*to = *from;
		to->pid = to->parent_pid = 0;
		to->start_time = to->parent_start_time = 0;
		to->rank = -1;
		merge->sum->writer = s->writer;
		merge->sum->tick_ns = s->tick_ns;
		merge->sum->kinds = s->kinds;
		arguments_copy(merge->sum, s);
		run_notes_copy(merge->sum, s);
		return;
	}
	run_notes_join(merge->sum, s);
	if (!same_arguments(merge->sum, s)) {
		free(merge->sum->arguments);
		merge->sum->arguments = NULL;
	}
	pm_cpu_kinds_join(&merge->sum->kinds, &s->kinds);
	merge->sum->writer = writer_of_both(merge->sum->writer, s->writer);
	if (strcmp(to->program, from->program) != 0)
		merge->programs_differ = true;
	if (strcmp(to->host, from->host) != 0)
		to->host[0] = '\0';
	if (strcmp(to->job, from->job) != 0)
		to->job[0] = '\0';
	if (strcmp(to->boot_id, from->boot_id) != 0)
		to->boot_id[0] = '\0';
	if (from->ranks > to->ranks)
		to->ranks = from->ranks;
	if (from->begin_realtime_ns < to->begin_realtime_ns)
		to->begin_realtime_ns = from->begin_realtime_ns;
	to->unmatched_ends = pm_plus(to->unmatched_ends, from->unmatched_ends);
	to->lost_first_in_handler =
		pm_plus(to->lost_first_in_handler, from->lost_first_in_handler);
	to->lost_threads = pm_plus(to->lost_threads, from->lost_threads);
	/* Processes of one program leave the same regions out. */
	if (from->left_out_regions > to->left_out_regions)
		to->left_out_regions = from->left_out_regions;
}

/* Returns true if the sum's events are those of SNAPSHOT's newest plan, in their order. */
static bool same_events(const struct pm_snapshot *sum, const struct pm_snapshot *snapshot)
{
	const struct pm_snapshot_plan *plan = &sum->plans[0];

	if (!sum->plan_count || plan->counter_count != snapshot->counter_count)
		return false;
	for (uint32_t c = 0; c < plan->counter_count; c++)
		if (strcmp(plan->counters[c].name, snapshot->counters[c].name) != 0)
			return false;
	return true;
}

/* The sum has totals as long as each process has some, of the same events. */
static void totals_add(struct pm_merge *merge, const struct pm_snapshot *snapshot)
{
	struct pm_snapshot *sum = merge->sum;
	bool known = snapshot->has_totals && same_events(sum, snapshot);

	sum->has_totals = known && (!merge->process_count || sum->has_totals);
	for (uint32_t c = 0; sum->has_totals && c < snapshot->counter_count; c++)
		sum->totals[c] = pm_plus(merge->process_count ? sum->totals[c] : 0,
					 snapshot->totals[c]);
}

int pm_merge_add(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		 struct pm_diag *diag)
{
	const struct pm_merge_boot *boot = boot_find(merge, &snapshot->header);
	bool by_boot = boot && (snapshot->tick_ns <= 0 ||
				boot->tick_error <= snapshot->tick_error);
	double tick_ns = by_boot ? boot->tick_ns : snapshot->tick_ns;
	uint32_t process = merge->process_count, *regions;
	int err = -ENOMEM;

	if (merge->any_threads && snapshot->thread_count &&
	    pm_report_is_exact(snapshot) != merge->exact)
		return pm_diag_set(diag, -EINVAL,
				   pm_report_is_exact(snapshot)
					   ? "counted exactly by translation, and the "
					     "profiles before it by the machine's "
					     "counters: they are not summed"
					   : "counted by the machine's counters, and the "
					     "profiles before it exactly by translation: "
					     "they are not summed");
	if (tick_ns <= 0)
		return pm_diag_set(diag, -EINVAL,
				   "the profile has no tick rate, and no other profile "
				   "of that machine has one");
	regions = malloc(((size_t)snapshot->region_count + 1) * sizeof(*regions));
	if (!regions || !boot_get(merge, snapshot))
		goto out;
	header_add(merge, snapshot);
	if (snapshot->thread_count) {
		merge->any_threads = true;
		merge->exact = pm_report_is_exact(snapshot);
	}
	err = regions_add(merge, snapshot, regions);
	if (!err)
		err = pm_merge_nodes(merge, snapshot, regions,
				     tick_ns / merge->sum->tick_ns);
	if (!err)
		err = pm_merge_values(merge, snapshot, regions, process, tick_ns);
	if (!err)
		err = pm_merge_notes(merge, snapshot, process);
	if (!err)
		totals_add(merge, snapshot);
	if (!err)
		err = pm_merge_process_add(merge, snapshot);
out:
	free(regions);
	return err ? pm_diag_set(diag, err,
				 "no memory to merge the profiles, or too much data for "
				 "one report: merge fewer profiles")
		   : 0;
}

int pm_merge_end(struct pm_merge *merge)
{
	struct pm_snapshot *sum = merge->sum;
	struct perfmon_profile_header *header = &sum->header;
	uint64_t duration_ns = pm_less(merge->end_realtime_ns, header->begin_realtime_ns);
	int err = pm_merge_nodes_end(merge);

	if (!err)
		err = pm_merge_notes_end(merge);
	/* By the first plan, which all of them have. */
	if (sum->has_totals) {
		sum->generation = sum->plans[0].generation;
		sum->counter_count = sum->plans[0].counter_count;
		sum->counters = sum->plans[0].counters;
	}
	header->begin_ticks = header->begin_ns = 0;
	header->end_ns = duration_ns;
	if (sum->tick_ns > 0)
		header->end_ticks = whole((double)duration_ns / sum->tick_ns);
	sum->taken_ticks = header->end_ticks;
	return err;
}

const struct pm_snapshot *pm_merge_sum(const struct pm_merge *merge)
{
	return merge->sum;
}
