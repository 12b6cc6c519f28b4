/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/exclude.h"

#define MOST PERFMON_PROFILE_COUNTERS_MAX

static bool on;
static struct {
	uint64_t own[MOST], outer[MOST];
} around[PM_EXCLUDED_KINDS];
static uint64_t last[MOST]; /* of the learning thread, which is alone then */

void pm_exclude_enable(bool exact)
{
	on = exact;
}

bool pm_exclude_is_on(void)
{
	return on;
}

static __attribute__((noinline)) bool sample(const struct pm_thread_block *block,
					     uint64_t *raw)
{
	bool moved = false;

	for (uint32_t i = 0; i < block->counters; i++)
		moved |= perfmon_view_sample(&block->view[i], &raw[i]);
	return !moved;
}

void pm_exclude_begin(const struct pm_thread_block *block, struct pm_exclude *exclude)
{
	if (!on)
		return;
	exclude->steps = 0;
	exclude->known = sample(block, exclude->raw);
}

void pm_exclude_end(const struct pm_thread_block *block, const struct pm_exclude *exclude,
		    enum pm_excluded kind, struct pm_frame *frame)
{
	uint64_t now[MOST];
	struct pm_frame *each = block->frames;
	uint32_t i, depth;

	if (!on || !exclude->known || !sample(block, now))
		return;
	for (i = 0; i < block->counters; i++) {
		last[i] = now[i] - exclude->raw[i];
		now[i] = last[i] + around[kind].outer[i] +
			 exclude->steps * around[PM_EXCLUDED_STEP].outer[i];
		frame->counter[i].raw += around[kind].own[i] - around[kind].outer[i];
	}
	/* Visits all frames, open or not, so that the work is always the same. */
	for (depth = 0; depth <= PERFMON_PROFILE_DEPTH_MAX; depth++) {
		each = pm_frame_at(each, block->frame_size, 1);
		for (i = 0; i < block->counters; i++)
			each->counter[i].raw += now[i];
	}
}

uint64_t pm_exclude_last(uint32_t i)
{
	return last[i];
}

void pm_exclude_learn(enum pm_excluded kind, uint32_t i, uint64_t own, uint64_t outer)
{
	around[kind].own[i] = own;
	around[kind].outer[i] = outer;
}
