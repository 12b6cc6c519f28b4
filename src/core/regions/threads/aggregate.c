/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "core/kernel/clock.h"
#include "core/kernel/kernel.h"
#include "core/profile/profile.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/recycle.h"
#include "core/regions/threads/state.h"

#define ENTRIES_FIRST_LOG2 7

/* The paths of a thread that needs no malloc, whose first use in a thread costs more than all that
 * this does. */
#define FEW_PATHS 64

/* The limit of aggregates. Threads beyond it share one of them. */
#define AGGREGATES_MOST 256

/* The sum of the ended threads that might run on the same CPUs and had the same
 * counters. */
struct pm_aggregate {
	struct pm_aggregate *next;
	/* the record of the sum, as if one thread had written it */
	struct pm_thread thread;
	struct pm_path_entry entries[1 << ENTRIES_FIRST_LOG2];
	struct pm_thread_block block; /* without views */
};

/* PM_LOCK_REGIONS guards the list. */
static struct pm_aggregate *aggregates;

static struct pm_aggregate *make_aggregate(uint32_t counters)
{
	struct perfmon_profile_thread *record;
	struct pm_aggregate *aggregate;
	void *memory;

	if (pm_kernel_map(&memory, sizeof(*aggregate)))
		return NULL;
	aggregate = memory;
	record = pm_profile_reserve(PERFMON_PROFILE_TYPE_THREAD, sizeof(*record));
	if (!record) {
		pm_kernel_munmap(aggregate, sizeof(*aggregate));
		return NULL;
	}
	aggregate->thread.block = &aggregate->block;
	aggregate->thread.record = record;
	aggregate->block.counters = counters;
	aggregate->block.entries = aggregate->entries;
	aggregate->block.entry_shift = 64 - ENTRIES_FIRST_LOG2;
	record->generation = 1;
	record->counters = counters;
	record->flags = pm_thread_flags();
	PM_PUT(record->state, PERFMON_PROFILE_THREAD_STATE_AGGREGATE);
	pm_profile_publish();
	if (!pm_thread_add_path(&aggregate->thread, 0, 0, 0)) {
		pm_recycle_thread(record);
		pm_kernel_munmap(aggregate, sizeof(*aggregate));
		return NULL;
	}
	aggregate->next = aggregates;
	aggregates = aggregate;
	return aggregate;
}

/* Returns whether both have the same counters open. A sum over different counters has no
 * meaning. */
static bool same_counters(const struct perfmon_profile_thread *a,
			  const struct perfmon_profile_thread *b)
{
	for (uint32_t i = 0; i < b->counters; i++)
		if ((a->status[i] < 0) != (b->status[i] < 0))
			return false;
	return true;
}

/* Returns the aggregate of SOURCE, which is created if needed. */
static struct pm_aggregate *get_aggregate(const struct perfmon_profile_thread *source)
{
	struct pm_aggregate *aggregate;
	unsigned int count = 0;

	for (aggregate = aggregates; aggregate; aggregate = aggregate->next) {
		const struct perfmon_profile_thread *sum = aggregate->thread.record;

		if ((!memcmp(sum->cpus, source->cpus, sizeof(source->cpus)) &&
		     same_counters(sum, source)) ||
		    ++count == AGGREGATES_MOST)
			return aggregate;
	}
	return make_aggregate(source->counters);
}

/* Stores in TARGETS, by number, the numbers in AGGREGATE of all paths of SOURCE, and adds
 * new paths. It sums nothing yet, so that an error leaves both unchanged. */
static int find_paths(struct pm_aggregate *aggregate,
		      const struct perfmon_profile_thread *source, uint32_t *targets)
{
	uint32_t number;

	targets[1] = 1;
	for (number = 2; number <= source->node_count; number++) {
		const struct perfmon_profile_node *node = pm_thread_node(source, number);
		uint32_t parent = targets[node->parent];
		uint32_t region = node->region | pm_node_region_bits(node->flags);
		const struct pm_path_entry *entry =
			pm_thread_add_path(&aggregate->thread, parent, region, 1);

		if (!entry)
			return -1;
		targets[number] = entry->number;
	}
	return 0;
}

/* For pm_adopted_sum(). */
static struct perfmon_profile_node *node_at(const void *record, uint32_t number)
{
	return pm_thread_node(record, number);
}

static void add_nodes(struct pm_aggregate *aggregate,
		      const struct perfmon_profile_thread *source,
		      const uint32_t *targets)
{
	struct pm_node_part part = {.columns = source->counters, .ratio = 1};

	pm_adopted_sum(node_at, source, source->node_count, source->counters,
		       pm_region_general.stride);
	for (uint32_t number = 1; number <= source->node_count; number++) {
		part.node = pm_thread_node(source, number);
		if (pm_region_general.stride)
			part.stride = pm_node_stride(part.node, part.columns);
		pm_node_add_shared(
			pm_thread_node(aggregate->thread.record, targets[number]), &part);
	}
}

static void add_record(struct perfmon_profile_thread *to,
		       const struct perfmon_profile_thread *from)
{
	uint32_t i;

	PM_ADD(to->lost_in_handler, from->lost_in_handler);
	PM_ADD(to->lost_too_deep, from->lost_too_deep);
	PM_ADD(to->lost_no_memory, from->lost_no_memory);
	PM_ADD(to->lost_unnamed, from->lost_unnamed);
	PM_ADD(to->lost_other, from->lost_other);
	PM_ADD(to->unmatched_ends, from->unmatched_ends);
	for (i = 0; i < PERFMON_PROFILE_LEFT_OUT_KINDS; i++)
		PM_ADD(to->left_out[i], from->left_out[i]);
	if (!to->aggregated || from->begin_ticks < to->begin_ticks)
		PM_PUT(to->begin_ticks, from->begin_ticks);
	if (from->end_ticks > to->end_ticks)
		PM_PUT(to->end_ticks, from->end_ticks);
	/* Keeps the worst status of the threads: an error, then read(2), then user
	 * reads. */
	for (i = 0; i < from->counters; i++) {
		int32_t had = to->aggregated ? to->status[i] : from->status[i];
		int32_t has = from->status[i];

		if (had < 0 || (has > 0 && had == PERFMON_PROFILE_COUNTER_STATUS_SYSCALL))
			has = had;
		PM_PUT(to->status[i], has);
	}
	for (i = 0; i < PM_AFFINITY_WORDS; i++)
		PM_PUT(to->cpus[i], to->cpus[i] | from->cpus[i]);
	PM_COUNT32(to->aggregated, 1);
}

void pm_aggregate_thread(struct pm_thread *thread, bool may_have_moved)
{
	struct perfmon_profile_thread *source = thread->record;
	uint32_t few[FEW_PATHS], *targets;
	struct pm_aggregate *aggregate = NULL;

	if (pm_regions.options.keep_threads)
		targets = NULL;
	else if (source->node_count < FEW_PATHS)
		targets = few;
	else
		targets = malloc(((size_t)source->node_count + 1) * sizeof(*targets));
	pm_regions_acquire();
	PM_PUT(source->end_ticks, pm_clock_ticks());
	pm_recycle_sequence_open();
	if (may_have_moved)
		pm_affinity_add(source->cpus, 0);
	if (targets)
		aggregate = get_aggregate(source);
	if (!aggregate || find_paths(aggregate, source, targets)) {
		PM_PUT(source->state, PERFMON_PROFILE_THREAD_STATE_ENDED);
	} else {
		add_nodes(aggregate, source, targets);
		add_record(aggregate->thread.record, source);
		PM_PUT(source->state, PERFMON_PROFILE_THREAD_STATE_UNUSED);
	}
	pm_recycle_sequence_close();
	pm_profile_clock_renew();
	pm_regions_release();
	if (targets != few)
		free(targets);
}

void pm_aggregate_forget(void)
{
	struct pm_aggregate *aggregate, *next;

	for (aggregate = aggregates; aggregate; aggregate = next) {
		next = aggregate->next;
		pm_thread_free_entries(&aggregate->thread);
		pm_kernel_munmap(aggregate, sizeof(*aggregate));
	}
	aggregates = NULL;
}
