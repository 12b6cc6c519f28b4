/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BEGIN and END when the hot path could not read every counter from its view: a page has
 * moved (the thread was switched, a counter overflowed or rotated), a counter has no
 * readable page, or it could not be opened at all.
 */
#include "core/regions.h"

#include <string.h>

#include "core/clock.h"
#include "core/process.h"
#include "core/thread.h"
#include "fastpath/region.h"
#include "fastpath/view.h"

#define MOST  PERFMON_PROFILE_COUNTERS
/* How often a BEGIN tries to get one undisturbed set of samples before it settles for
 * whole values. */
#define TRIES 3

/* All counters of the calling thread, read whole. */
struct whole {
	uint64_t value[MOST];
	uint64_t lost_ns[MOST];
	uint32_t known;	    /* bit i: counter i could be read */
	bool by_call;	    /* some by read(2) */
	bool moved;	    /* some page had moved */
	bool enabled_known; /* enabled_ns holds */
	uint64_t enabled_ns;
};

/*
 * Copies what END will need of the views into the frames up to TOP that were begun under
 * the present epoch, and moves the epoch on. Must come before any view is refreshed.
 */
static void freeze(struct pm_thread_block *block, struct pm_frame *top)
{
	struct pm_frame *frame = top;
	uint32_t i;

	while (frame->epoch == block->epoch) {
		for (i = 0; i < block->counters; i++) {
			frame->counter[i].offset = block->view[i].offset;
			frame->counter[i].lost_ns = block->view[i].lost_ns;
		}
		frame->enabled_base_ns = block->enabled_base_ns;
		frame->exact = 0;
		frame->unknown = 0;
		frame = pm_frame_at(frame, block->frame_size, -1);
	}
	block->epoch++;
}

/* Refreshes the views whose pages have moved; true if every counter can be sampled now.
 * All frames must be frozen. */
static bool refresh(struct pm_thread_block *block, struct whole *whole)
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
			whole->moved = true;
	}
	if (block->time_view < block->counters)
		block->enabled_base_ns = block->view[block->time_view].enabled_base_ns;
	return all;
}

static uint64_t enabled_at(const struct pm_thread_block *block, uint64_t base_ns,
			   uint64_t ticks)
{
	return base_ns + pm_view_clock_ns(block->view[block->time_view].page, ticks);
}

/* Reads every counter: from its page where that works, else all the rest by read(2). */
static void read_whole(struct pm_thread_block *block, uint64_t ticks, struct whole *whole)
{
	const struct pm_instance *instance = block->thread->instance;
	struct pm_reading readings[MOST];
	uint32_t i, by_call = 0;

	refresh(block, whole);
	for (i = 0; i < block->counters; i++) {
		if (!pm_view_read(&block->view[i], &whole->value[i])) {
			whole->lost_ns[i] = block->view[i].lost_ns;
			whole->known |= 1u << i;
		} else if (instance->counters[i].fd >= 0) {
			by_call |= 1u << i;
			/* No counter was enabled for ever: still so after the call, it was
			 * not read. */
			readings[i].enabled_ns = UINT64_MAX;
		}
	}
	if (block->time_view < block->counters && whole->known >> block->time_view & 1) {
		whole->enabled_ns = enabled_at(block, block->enabled_base_ns, ticks);
		whole->enabled_known = true;
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
		whole->known |= 1u << i;
		if (!whole->enabled_known) {
			whole->enabled_ns = readings[i].enabled_ns;
			whole->enabled_known = true;
		}
	}
}

/* Samples every counter under its view; false if a page moves. */
static bool sample_all(const struct pm_thread_block *block, struct pm_frame *frame)
{
	uint32_t i;

	for (i = 0; i < block->counters; i++)
		if (perfmon_view_sample(&block->view[i], &frame->counter[i].raw))
			return false;
	return true;
}

void pm_region_begin_moved(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct whole whole = {.known = 0};
	uint32_t i, all = block->counters < 32 ? (1u << block->counters) - 1 : UINT32_MAX;
	int tries;

	block->in_cold = 1;
	frame->epoch = 0;
	freeze(block, pm_frame_at(frame, block->frame_size, -1));
	for (tries = 0; tries < TRIES && refresh(block, &whole); tries++) {
		frame->start = pm_clock_ticks();
		if (sample_all(block, frame)) {
			frame->epoch = block->epoch;
			goto out;
		}
	}
	read_whole(block, pm_clock_ticks(), &whole);
	for (i = 0; i < block->counters; i++) {
		frame->counter[i].raw = whole.value[i];
		frame->counter[i].lost_ns = whole.lost_ns[i];
	}
	frame->exact = 1;
	frame->unknown = all & ~whole.known;
	frame->enabled_ns = whole.enabled_known ? whole.enabled_ns : UINT64_MAX;
	/* The plan's generation, and an epoch that no block has. */
	frame->epoch = PM_EPOCH(PM_EPOCH_GENERATION(block->epoch));
	frame->start = pm_clock_ticks();
out:
	if (whole.moved)
		PM_ADD(frame->node->retries, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
	block->gate = pm_frame_at(frame, block->frame_size, 1);
}

/* What FRAME's BEGIN read, in the form of what END has read. */
static void whole_at_begin(const struct pm_thread_block *block, const struct pm_frame *frame,
			   struct whole *begin)
{
	uint32_t i, all = block->counters < 32 ? (1u << block->counters) - 1 : UINT32_MAX;

	begin->known = all & ~frame->unknown;
	for (i = 0; i < block->counters; i++) {
		uint64_t raw = frame->counter[i].raw;

		begin->lost_ns[i] = frame->counter[i].lost_ns;
		begin->value[i] = frame->exact
					  ? raw
					  : (uint64_t)(frame->counter[i].offset +
						       perfmon_view_extend(&block->view[i], raw));
	}
	if (frame->exact) {
		begin->enabled_known = frame->enabled_ns != UINT64_MAX;
		begin->enabled_ns = frame->enabled_ns;
	} else if (block->time_view < block->counters) {
		begin->enabled_known = true;
		begin->enabled_ns = enabled_at(block, frame->enabled_base_ns, frame->start);
	}
}

void pm_region_end_moved(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct perfmon_profile_node *node = frame->node;
	struct whole begin = {.known = 0}, end = {.known = 0};
	/* Without counters a frame has no epoch. */
	bool same_plan = !block->counters || PM_EPOCH_GENERATION(frame->epoch) ==
						     PM_EPOCH_GENERATION(block->epoch);
	struct perfmon_profile_stride *stride =
		pm_region_general.stride ? pm_node_stride(node, block->counters) : NULL;
	uint64_t ticks, wall_ns, enabled_ns, sequence;
	uint32_t i;

	block->in_cold = 1;
	ticks = pm_clock_ticks();
	freeze(block, frame);
	read_whole(block, ticks, &end);
	whole_at_begin(block, frame, &begin);
	/* A clock that differs between CPUs may have gone back. */
	ticks = (int64_t)(ticks - frame->start) < 0 ? 0 : ticks - frame->start;
	wall_ns = (uint64_t)pm_clock_ticks_ns((double)ticks);
	enabled_ns = wall_ns;
	if (begin.enabled_known && end.enabled_known &&
	    end.enabled_ns - begin.enabled_ns < wall_ns)
		enabled_ns = end.enabled_ns - begin.enabled_ns;

	sequence = pm_node_open(node);
	pm_node_add_time(node, ticks);
	if (stride)
		pm_stride_add_time(stride, ticks);
	PM_ADD(node->off_cpu_ns, wall_ns - enabled_ns);
	if (end.moved)
		PM_ADD(node->retries, 1);
	if (end.by_call || frame->exact)
		PM_ADD(node->fallback_reads, 1);
	if (frame->cpu != *block->cpu)
		PM_ADD(node->migrations, 1);
	if (!same_plan)
		PM_ADD(node->dropped_counts, 1);
	for (i = 0; i < block->counters; i++) {
		struct perfmon_profile_count *count = &node->count[i];
		bool known = same_plan && (begin.known & end.known) >> i & 1;
		int64_t difference = (int64_t)(end.value[i] - begin.value[i]);

		if (known && difference < 0) {
			PM_ADD(node->defects, 1);
			known = false;
		}
		if (!known) {
			PM_ADD(count->lost_ns, enabled_ns);
			continue;
		}
		PM_ADD(count->sum, (uint64_t)difference);
		if (stride)
			pm_stride_add_count(node, stride, i, difference);
		if (end.lost_ns[i] > begin.lost_ns[i])
			PM_ADD(count->lost_ns, end.lost_ns[i] - begin.lost_ns[i]);
	}
	pm_node_close(node, sequence);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
	block->gate = frame;
}

/* --- what an empty region counts ----------------------------------------------------- */

#define PAIRS 32

/* An id that no region gets. */
static struct perfmon_region empty = {.key = PM_REGION_KEY(UINT32_MAX), .name = NULL};

/* As the macros do it, since what lies between the two reads is counted: finding the call,
 * and the test (another thread may be disarming), included. */
#define CALL(armed)                                                                        \
	do {                                                                               \
		void (*call_)(struct perfmon_region *) =                                   \
			__atomic_load_n(&(armed), __ATOMIC_RELAXED);                       \
		if (__builtin_expect(call_ != NULL, 1))                                    \
			call_(&empty);                                                     \
	} while (0)

/* A function of its own, so that no loop around it keeps addresses in registers. */
static __attribute__((noinline)) void visit_empty(void)
{
	CALL(perfmon_region_begin_armed);
	CALL(perfmon_region_end_armed);
	__asm__ __volatile__(""); /* the END is no tail call */
}

void pm_region_measure_bias(void)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_plan *plan = &pm_process.plan;
	uint64_t least[MOST], before[MOST];
	/* A node that is in no profile. */
	union {
		struct perfmon_profile_node node;
		char room[sizeof(struct perfmon_profile_node) +
			  MOST * (sizeof(struct perfmon_profile_count) + sizeof(double)) +
			  sizeof(struct perfmon_profile_stride)];
	} scratch;
	uint64_t key = PM_PATH_KEY(1) + empty.key;
	struct pm_slot *slot = &block->slots[key >> block->slot_shift];
	uint32_t i, pair;

	if (!block->counters || slot->key)
		return;
	memset(&scratch, 0, sizeof(scratch));
	scratch.node.time_min = UINT64_MAX;
	if (pm_region_general.stride)
		pm_node_stride(&scratch.node, block->counters)->stride = 1;
	for (i = 0; i < block->counters; i++)
		least[i] = UINT64_MAX;
	slot->node = &scratch.node;
	slot->path_key = PM_PATH_KEY_BARREN;
	slot->key = key;
	for (pair = 0; pair < PAIRS; pair++) {
		uint32_t moved = scratch.node.retries + scratch.node.fallback_reads;

		for (i = 0; i < block->counters; i++)
			before[i] = scratch.node.count[i].sum;
		visit_empty();
		if (scratch.node.retries + scratch.node.fallback_reads != moved)
			continue;
		for (i = 0; i < block->counters; i++)
			if (scratch.node.count[i].sum - before[i] < least[i])
				least[i] = scratch.node.count[i].sum - before[i];
	}
	slot->key = 0;
	for (i = 0; i < block->counters; i++) {
		if (least[i] == UINT64_MAX)
			continue;
		plan->bias[i] = least[i];
		plan->bias_known |= 1u << i;
		PM_PUT(plan->record->counter[i].bias, least[i]);
		PM_PUT(plan->record->counter[i].bias_known, 1);
	}
}
