/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/exclude.h"

#include "core/kernel/clock.h"
#include "core/regions/threads/state.h"

#define MOST PERFMON_PROFILE_COUNTERS_MAX

/* Written while the first thread is set up. Another thread may read some of it before. */
static struct {
	uint64_t own[MOST], outer[MOST];
} around[PM_EXCLUDED_KINDS];
/* Read by the learning thread alone, after its own call. */
static uint64_t last[MOST];
/* Likewise: the counters of each kind that have been confirmed, and whether one has not. */
static uint32_t confirmed[PM_EXCLUDED_KINDS];
static bool missed;

/* The frames that are moved without exact counts, at least: so many are moved whether they are
 * open or not, so that the work is the same. */
#define DEPTH_SAME 4

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
	exclude->steps = 0;
	exclude->ticks = pm_regions.exact ? 0 : pm_clock_ticks();
	exclude->known = sample(block, exclude->raw);
}

void pm_exclude_end(const struct pm_thread_block *block, const struct pm_exclude *exclude,
		    enum pm_excluded kind, struct pm_frame *frame)
{
	uint64_t now[MOST], ticks, outer;
	struct pm_frame *end, *each = block->frames;
	uint32_t i;

	if (!exclude->known || !sample(block, now))
		return;
	ticks = pm_regions.exact ? 0 : pm_clock_ticks() - exclude->ticks;
	for (i = 0; i < block->counters; i++) {
		now[i] -= exclude->raw[i];
		PM_PUT(last[i], now[i]);
		outer = PM_GET(around[kind].outer[i]);
		now[i] += outer + exclude->steps * around[PM_EXCLUDED_STEP].outer[i];
		frame->counter[i].raw += PM_GET(around[kind].own[i]) - outer;
	}
	end = pm_frame_at(block->frames, block->frame_size,
			  pm_regions.exact ? PERFMON_PROFILE_DEPTH_MAX + 1 : DEPTH_SAME);
	if (end < frame)
		end = frame;
	while (each != end) {
		each = pm_frame_at(each, block->frame_size, 1);
		each->start += ticks;
		for (i = 0; i < block->counters; i++)
			each->counter[i].raw += now[i];
	}
}

uint64_t pm_exclude_last(uint32_t i)
{
	return last[i];
}

static bool is_confirmed(enum pm_excluded kind, uint32_t i)
{
	return confirmed[kind] >> i & 1;
}

static void set(enum pm_excluded kind, uint32_t i, uint64_t own, uint64_t outer)
{
	PM_PUT(around[kind].own[i], own);
	PM_PUT(around[kind].outer[i], outer);
}

void pm_exclude_learn(enum pm_excluded kind, uint32_t i, uint64_t own, uint64_t outer)
{
	if (!is_confirmed(kind, i))
		set(kind, i, own, outer);
}

void pm_exclude_confirm(enum pm_excluded kind, uint32_t i, uint64_t own, uint64_t outer)
{
	if (is_confirmed(kind, i))
		return;
	if (!own && around[kind].outer[i] == outer) {
		confirmed[kind] |= UINT32_C(1) << i;
		return;
	}
	set(kind, i, 0, 0);
	missed = true;
}

bool pm_exclude_missed(void)
{
	bool was = missed;

	missed = false;
	return was;
}

void pm_exclude_drop(void)
{
	for (int kind = 0; kind < PM_EXCLUDED_KINDS; kind++)
		for (uint32_t i = 0; i < MOST; i++)
			if (!is_confirmed(kind, i))
				set(kind, i, 0, 0);
}
