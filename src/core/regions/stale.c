/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The slow path for stale views: BEGIN and END if the hot path could not read every
 * counter from its view. A page has changed (the thread was switched, a counter
 * overflowed, or events were multiplexed), a counter has no readable page, or it is not
 * open.
 */
#include "core/regions/stale.h"

#include "core/kernel/clock.h"
#include "core/regions/state.h"
#include "core/regions/thread.h"
#include "fastpath/fastpath.h"

#define MOST PERFMON_PROFILE_COUNTERS_MAX
/* The number of attempts of a BEGIN to get one undisturbed set of samples. After them it
 * reads whole values. */
#define TRIES 3

/* The same values of one counter. */
struct one {
	uint64_t value;
	uint64_t lost_ns;
	uint64_t enabled_ns;
};

void pm_stale_save(struct pm_thread_block *block, struct pm_frame *top)
{
	struct pm_frame *frame = top;
	uint32_t i;

	while (frame->epoch == block->epoch) {
		for (i = 0; i < block->counters; i++) {
			frame->counter[i].offset = block->view[i].offset;
			frame->counter[i].lost_ns = block->view[i].lost_ns;
			frame->counter[i].enabled_ns = block->view[i].enabled_base_ns;
		}
		frame->whole = 0;
		frame->unknown = 0;
		frame = pm_frame_at(frame, block->frame_size, -1);
	}
	block->epoch++;
}

/* Refreshes the views whose pages have changed. Returns true if every counter can be
 * sampled now. All frames must have their views saved. */
static bool refresh(struct pm_thread_block *block, struct pm_whole *whole)
{
	bool all = true;
	uint32_t i;

	for (i = 0; i < block->counters; i++) {
		struct perfmon_counter_view *view = &block->view[i];

		if (perfmon_view_lock_index(view->page) == view->lock_index)
			continue;
		if (pm_view_refresh(view))
			all = false;
		else
			whole->changed = true;
	}
	return all;
}

/* Returns how long a counter has been enabled at TICKS, by its page, whose
 * enabled_base_ns is BASE_NS. UINT64_MAX if pages have no clock. */
static uint64_t enabled_at(const struct pm_thread_block *block, uint64_t base_ns,
			   uint64_t ticks)
{
	if (block->time_view >= block->counters)
		return UINT64_MAX;
	return base_ns + pm_view_clock_ns(block->view[block->time_view].page, ticks);
}

void pm_stale_read(struct pm_thread_block *block, uint64_t ticks, struct pm_whole *whole)
{
	const struct pm_instance *instance = block->thread->instance;
	struct pm_reading readings[MOST];
	uint32_t i, by_call = 0;

	refresh(block, whole);
	for (i = 0; i < block->counters; i++) {
		const struct perfmon_counter_view *view = &block->view[i];

		if (!pm_view_read(&block->view[i], &whole->value[i])) {
			whole->lost_ns[i] = view->lost_ns;
			whole->enabled_ns[i] =
				enabled_at(block, view->enabled_base_ns, ticks);
			whole->known |= 1u << i;
		} else if (pm_counter_is_open(&instance->counters[i])) {
			by_call |= 1u << i;
			/* This value is never read. If it is still here after the call,
			 * the read failed. */
			readings[i].enabled_ns = UINT64_MAX;
		}
	}
	if (!by_call)
		return;
	whole->by_call = true;
	pm_instance_read(instance, readings);
	for (i = 0; i < block->counters; i++) {
		if (!(by_call >> i & 1) || readings[i].enabled_ns == UINT64_MAX)
			continue;
		whole->value[i] = readings[i].value;
		whole->lost_ns[i] = readings[i].enabled_ns - readings[i].running_ns;
		whole->enabled_ns[i] = readings[i].enabled_ns;
		whole->known |= 1u << i;
	}
}

/* Samples every counter by its view. Returns false if a page changes. */
static bool sample_all(const struct pm_thread_block *block, struct pm_frame *frame)
{
	uint32_t i;

	for (i = 0; i < block->counters; i++)
		if (perfmon_view_sample(&block->view[i], &frame->counter[i].raw))
			return false;
	return true;
}

void pm_region_begin_stale(struct pm_thread_block *block, struct pm_frame *frame,
			   struct perfmon_profile_node *node)
{
	struct pm_whole whole = {.known = 0};
	uint32_t i, all = block->counters < 32 ? (1u << block->counters) - 1 : UINT32_MAX;
	int tries;

	block->in_slow = 1;
	frame->epoch = 0;
	pm_stale_save(block, pm_frame_at(frame, block->frame_size, -1));
	for (tries = 0; tries < TRIES && refresh(block, &whole); tries++) {
		frame->start = pm_clock_ticks();
		if (sample_all(block, frame)) {
			frame->epoch = block->epoch;
			goto out;
		}
	}
	pm_stale_read(block, pm_clock_ticks(), &whole);
	for (i = 0; i < block->counters; i++) {
		frame->counter[i].raw = whole.value[i];
		frame->counter[i].lost_ns = whole.lost_ns[i];
		frame->counter[i].enabled_ns = whole.enabled_ns[i];
	}
	frame->whole = 1;
	frame->unknown = all & ~whole.known;
	/* Stores the plan's generation in an epoch that no block has. */
	frame->epoch = PM_EPOCH(PM_EPOCH_GENERATION(block->epoch));
	frame->start = pm_clock_ticks();
out:
	if (whole.changed)
		PM_COUNT32(node->retries, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	PM_PUT(frame->node, node);
	block->in_slow = 0;
	block->top = pm_frame_at(frame, block->frame_size, 1);
}

/* Returns the values of counter I that FRAME's BEGIN read. */
static struct one at_begin(const struct pm_thread_block *block,
			   const struct pm_frame *frame, uint32_t i)
{
	const struct pm_frame_counter *counter = &frame->counter[i];

	if (frame->whole)
		return (struct one){counter->raw, counter->lost_ns, counter->enabled_ns};
	return (struct one){
		(uint64_t)(counter->offset +
			   perfmon_view_extend(&block->view[i], counter->raw)),
		counter->lost_ns, enabled_at(block, counter->enabled_ns, frame->start)};
}

/* Returns how long counter I was enabled between its reads at BEGIN and END. UINT64_MAX
 * if that is not known. */
static uint64_t enabled_between(const struct one *begin, const struct pm_whole *end,
				uint32_t i)
{
	if (begin->enabled_ns == UINT64_MAX || end->enabled_ns[i] == UINT64_MAX ||
	    end->enabled_ns[i] < begin->enabled_ns)
		return UINT64_MAX;
	return end->enabled_ns[i] - begin->enabled_ns;
}

/* Returns the time on the CPU in a visit of WALL_NS. A counter is enabled while its
 * thread is on the CPU, and the interval between its two reads contains the visit. So the
 * smallest of all enabled times is the best estimate. */
static uint64_t on_cpu(const struct pm_thread_block *block, const struct pm_frame *frame,
		       const struct pm_whole *end, uint32_t known, uint64_t wall_ns)
{
	uint64_t least = wall_ns;
	uint32_t i;

	for (i = 0; i < block->counters; i++) {
		struct one begin = at_begin(block, frame, i);
		uint64_t between =
			known >> i & 1 ? enabled_between(&begin, end, i) : UINT64_MAX;

		if (between < least)
			least = between;
	}
	return least;
}

/*
 * Returns how much of ON_CPU_NS counter I was off the hardware. It is known between the
 * two reads of the counter. If other counters are read by calls, this interval is longer
 * than the visit, so the share is used, not the time.
 */
static uint64_t missed(const struct one *begin, const struct pm_whole *end, uint32_t i,
		       uint64_t on_cpu_ns)
{
	uint64_t lost =
		end->lost_ns[i] > begin->lost_ns ? end->lost_ns[i] - begin->lost_ns : 0;
	uint64_t between = enabled_between(begin, end, i);

	if (between != UINT64_MAX && lost < between)
		return (uint64_t)((double)on_cpu_ns * (double)lost / (double)between);
	return lost < on_cpu_ns ? lost : on_cpu_ns;
}

void pm_region_end_stale(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct perfmon_profile_node *node = frame->node;
	struct pm_whole end = {.known = 0};
	/* Without counters a frame has no epoch. */
	bool same_plan = !block->counters || PM_EPOCH_GENERATION(frame->epoch) ==
						     PM_EPOCH_GENERATION(block->epoch);
	struct perfmon_profile_stride *stride =
		pm_region_general.stride ? pm_node_stride(node, block->columns) : NULL;
	bool saved = block->counters && frame->epoch != block->epoch;
	uint64_t ticks, wall_ns, enabled_ns, sequence, worth;
	uint32_t i, known;

	block->in_slow = 1;
	ticks = pm_clock_ticks();
	pm_stale_save(block, frame);
	pm_stale_read(block, ticks, &end);
	known = same_plan ? end.known & ~frame->unknown : 0;
	/* A clock that differs between CPUs may have gone backwards. */
	ticks = (int64_t)(ticks - frame->start) < 0 ? 0 : ticks - frame->start;
	wall_ns = (uint64_t)pm_clock_ticks_ns((double)ticks);
	enabled_ns = on_cpu(block, frame, &end, known, wall_ns);

	PM_PUT(frame->node, NULL);
	sequence = pm_node_open(node);
	pm_node_add_time(node, ticks);
	if (stride)
		pm_stride_add_time(node, stride, ticks);
	worth = stride ? stride->worth : 1;
	PM_ADD(node->off_cpu_ns, (wall_ns - enabled_ns) * worth);
	/* In a saved frame a page changed during an inner visit, which counted the cost
	 * of that. */
	if (end.changed || (saved && !frame->whole))
		PM_COUNT32(node->retries, 1);
	if (end.by_call || frame->whole)
		PM_COUNT32(node->fallback_reads, 1);
	if (frame->cpu != *block->cpu)
		PM_COUNT32(node->migrations, 1);
	if (!same_plan)
		PM_COUNT32(node->dropped_counts, 1);
	for (i = 0; i < block->counters; i++) {
		struct perfmon_profile_count *count = &node->count[i];
		struct one begin = at_begin(block, frame, i);
		int64_t difference = (int64_t)(end.value[i] - begin.value);

		if (known >> i & 1 && difference < 0) {
			PM_COUNT32(node->defects, 1);
			known &= ~(1u << i);
		}
		if (!(known >> i & 1)) {
			PM_ADD(count->lost_ns, enabled_ns * worth);
			continue;
		}
		PM_ADD(count->sum, (uint64_t)difference);
		if (stride)
			pm_stride_add_count(node, stride, i, difference);
		PM_ADD(count->lost_ns, missed(&begin, &end, i, enabled_ns) * worth);
	}
	pm_node_close(node, sequence);
	if (stride && pm_region_stride_is_due(block, node))
		pm_region_stride_look(block, node);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_slow = 0;
	block->top = frame;
}
