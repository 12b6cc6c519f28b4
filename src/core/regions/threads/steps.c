/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/steps.h"

#include <string.h>

#include "core/kernel/clock.h"
#include "core/profile/profile.h"
#include "core/regions/threads/exclude.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/registry.h"
#include "core/regions/threads/state.h"

/* Marks of a part, but for the one that is left for the thread's end. */
#define MARKS 100
_Static_assert(MARKS < PERFMON_PROFILE_MARKS_MAX, "readers take all marks of a part");

/* The paths that have steps, by pm_path_entry.steps less 1. They are written under PM_LOCK_REGIONS, but
 * for THREAD: a thread finds its own without the lock. */
static struct series {
	const struct pm_thread *thread; /* NULL: it has ended */
	const struct perfmon_profile_node *node;
	struct perfmon_profile_steps *part; /* the newest */
} series[PERFMON_PROFILE_STEPS_MAX];
static uint32_t series_count;

static size_t size_of_head(uint32_t depth)
{
	return sizeof(struct perfmon_profile_steps) +
	       ((size_t)depth * sizeof(uint32_t) + 7) / 8 * 8;
}

static struct perfmon_profile_mark *mark_at(struct perfmon_profile_steps *part,
					    uint32_t number)
{
	return (struct perfmon_profile_mark *)(void *)((char *)part +
						       size_of_head(part->depth) +
						       (size_t)number * part->mark_size);
}

/* Adds part NUMBER of the path that HEAD has. Returns NULL without memory. */
static struct perfmon_profile_steps *part_add(const struct perfmon_profile_steps *head,
					      uint32_t number)
{
	size_t lead = sizeof(head->record), size = size_of_head(head->depth);
	struct perfmon_profile_steps *part =
		pm_profile_reserve(PERFMON_PROFILE_TYPE_STEPS,
				   size + (size_t)head->capacity * head->mark_size);

	if (!part)
		return NULL;
	memcpy((char *)part + lead, (const char *)head + lead, size - lead);
	part->count = 0;
	part->part = number;
	pm_profile_publish();
	return part;
}

/* Fills in the lead of a first part for the path of node NUMBER. */
static void head_fill(struct perfmon_profile_steps *head, const struct pm_thread *thread,
		      uint32_t number)
{
	const struct perfmon_profile_thread *record = thread->record;
	uint32_t at = number, *to;

	memset(head, 0, sizeof(*head));
	head->thread = pm_profile_offset(record);
	head->node = number;
	head->capacity = MARKS + 1;
	head->counters = record->counters;
	head->mark_size =
		(uint32_t)(sizeof(struct perfmon_profile_mark) +
			   record->counters *
				   sizeof(((struct perfmon_profile_mark *)0)->count[0]));
	head->generation = record->generation;
	head->tid = record->tid;
	memcpy(head->name, record->name, sizeof(head->name));
	memcpy(head->status, record->status, sizeof(head->status));
	for (; at > 1; at = pm_thread_node(record, at)->parent)
		head->depth++;
	to = head->region + head->depth;
	memset(to, 0, sizeof(*to));
	for (at = number; at > 1; at = pm_thread_node(record, at)->parent)
		*--to = pm_thread_node(record, at)->region;
}

/* Returns true if a thread has the steps of HEAD's path already. */
static bool is_known(const struct perfmon_profile_steps *head)
{
	for (uint32_t i = 0; i < series_count; i++) {
		const struct perfmon_profile_steps *other = series[i].part;

		if (other->depth == head->depth &&
		    !memcmp(other->region, head->region,
			    head->depth * sizeof(head->region[0])))
			return true;
	}
	return false;
}

void pm_steps_add(struct pm_thread *thread, struct pm_path_entry *entry)
{
	static union {
		struct perfmon_profile_steps head;
		char room[sizeof(struct perfmon_profile_steps) +
			  (PERFMON_PROFILE_DEPTH_MAX + 1) * sizeof(uint32_t)];
	} lead;
	struct perfmon_profile_steps *part;

	if (!pm_options_has_steps(&pm_regions.options,
				  pm_registry_name(entry->node->region)))
		return;
	head_fill(&lead.head, thread, entry->number);
	if (is_known(&lead.head))
		return;
	if (series_count == PERFMON_PROFILE_STEPS_MAX) {
		pm_profile_note("PERFMON_STEPS: more than 256 paths match: the steps of "
				"the first 256 are kept");
		return;
	}
	lead.head.series = series_count + 1;
	part = part_add(&lead.head, 0);
	if (!part)
		return;
	series[series_count].node = entry->node;
	series[series_count].part = part;
	PM_PUT(series[series_count].thread, thread);
	entry->steps = series_count + 1;
	__atomic_store_n(&series_count, entry->steps, __ATOMIC_RELAXED);
	pm_region_step_due[entry->steps] = 0;
}

static void mark_add(const struct series *at)
{
	struct perfmon_profile_steps *part = at->part;
	struct perfmon_profile_mark *mark = mark_at(part, part->count);

	mark->ticks = pm_clock_ticks();
	PM_MARK_COPY(mark, at->node, part->counters);
	/* Orders the mark before the count that includes it. Pairs with the reader's acquire load of
	 * steps.count. */
	__atomic_store_n(&part->count, part->count + 1, __ATOMIC_RELEASE);
}

/* Begins another part of AT, whose visits FRAME has. Returns false if this cannot be done now. It may enter
 * the kernel, unlike a mark, and is excluded from the visits around. */
static bool part_next(struct series *at, struct pm_frame *frame)
{
	const struct pm_thread_block *block = pm_thread_block;
	struct perfmon_profile_steps *part = NULL;
	struct pm_exclude exclude;
	struct pm_still still;

	pm_exclude_begin(block, &exclude);
	if (pm_regions_try_lock(&still)) {
		part = part_add(at->part, at->part->part + 1);
		if (part)
			at->part = part;
		pm_regions_unlock(&still);
	}
	pm_exclude_end(block, &exclude, PM_EXCLUDED_QUANTITY, frame);
	return part != NULL;
}

/* Where there is no room for a mark it is tried again at the next visit: a wider step is as true. */
void pm_steps_mark(struct pm_path_entry *entry, struct pm_frame *frame)
{
	struct series *at = &series[entry->steps - 1];

	if (at->part->count >= MARKS && !part_next(at, frame))
		return;
	mark_add(at);
	pm_region_step_due[entry->steps] =
		entry->node->entered + (UINT64_C(1) << at->part->part);
}

void pm_steps_end(const struct pm_thread *thread)
{
	uint32_t count = __atomic_load_n(&series_count, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < count; i++) {
		struct perfmon_profile_steps *part;

		if (PM_GET(series[i].thread) != thread)
			continue;
		part = series[i].part;
		mark_add(&series[i]);
		PM_PUT(series[i].thread, NULL);
		/* Orders the last mark before the flag. Pairs with the reader's acquire load of
		 * steps.flags. */
		__atomic_store_n(&part->flags, PERFMON_PROFILE_STEPS_ENDED,
				 __ATOMIC_RELEASE);
	}
}

void pm_steps_forget(void)
{
	series_count = 0;
}
