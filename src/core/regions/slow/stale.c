/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The slow path for stale views: BEGIN and END if the hot path could not read every
 * counter from its view. A page has changed (the thread was switched, a counter
 * overflowed, or events were multiplexed), a counter has no readable page, or it is not
 * open.
 */
#include "core/regions/slow/stale.h"

#include "core/kernel/clock.h"
#include "core/regions/slow/slow.h"
#include "core/regions/threads/thread.h"

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

/*
 * Saves the values of the views that END will need into the frames up to FRAME that began
 * in the current epoch, and advances the epoch. This must come before any view is
 * refreshed.
 */
static void save(struct pm_thread_block *block, struct pm_frame *frame)
{
	while (frame->epoch == block->epoch) {
		for (uint32_t i = 0; i < block->counters; i++) {
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

/* Reads every counter at TICKS. All frames have their views saved. */
static void read_all(struct pm_thread_block *block, uint64_t ticks,
		     struct pm_whole *whole)
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

uint64_t pm_stale_read(struct pm_thread_block *block, struct pm_frame *last,
		       struct pm_whole *whole)
{
	uint64_t now = pm_clock_ticks();

	*whole = (struct pm_whole){.known = 0};
	save(block, last);
	read_all(block, now, whole);
	return now;
}

void pm_stale_keep(const struct pm_thread_block *block, struct pm_frame *frame,
		   const struct pm_whole *whole)
{
	for (uint32_t i = 0; i < block->counters; i++) {
		frame->counter[i].raw = whole->value[i];
		frame->counter[i].lost_ns = whole->lost_ns[i];
		frame->counter[i].enabled_ns = whole->enabled_ns[i];
	}
	frame->whole = 1;
	frame->unknown = ~whole->known;
	/* Stores the plan's generation in an epoch that no block has. */
	frame->epoch = PM_EPOCH(PM_EPOCH_GENERATION(block->epoch));
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

bool pm_stale_begin(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct pm_whole whole = {.known = 0};
	int tries;

	frame->epoch = 0;
	save(block, pm_frame_at(frame, block->frame_size, -1));
	for (tries = 0; tries < TRIES && refresh(block, &whole); tries++) {
		frame->start = pm_clock_ticks();
		if (sample_all(block, frame)) {
			frame->epoch = block->epoch;
			return whole.changed;
		}
	}
	read_all(block, pm_clock_ticks(), &whole);
	pm_stale_keep(block, frame, &whole);
	frame->start = pm_clock_ticks();
	return whole.changed;
}

void pm_region_begin_stale(struct pm_thread_block *block, struct pm_frame *frame,
			   struct perfmon_profile_node *node)
{
	block->in_slow = 1;
	if (pm_stale_begin(block, frame))
		PM_COUNT32(node->retries, 1);
	SIGNAL_FENCE();
	PM_PUT(frame->node, node);
	pm_slow_open(block, pm_frame_at(frame, block->frame_size, 1));
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

/* Describes the part of a visit that ends now: all of it, or less. */
struct end {
	const struct pm_whole *whole;
	uint64_t ticks; /* since its BEGIN, or since it was resumed */
	uint64_t enabled_ns;
	uint32_t known;
	bool same_plan;
};

static struct end end_of(const struct pm_thread_block *block,
			 const struct pm_frame *frame, uint64_t now,
			 const struct pm_whole *whole)
{
	struct end end = {.whole = whole, .ticks = now - frame->start};
	uint64_t wall_ns;

	/* Without counters a frame has no epoch. */
	end.same_plan = !block->counters || PM_EPOCH_GENERATION(frame->epoch) ==
						    PM_EPOCH_GENERATION(block->epoch);
	end.known = end.same_plan ? whole->known & ~frame->unknown : 0;
	/* A clock that differs between CPUs may have gone backwards. */
	if ((int64_t)end.ticks < 0)
		end.ticks = 0;
	wall_ns = (uint64_t)pm_clock_ticks_ns((double)end.ticks);
	end.enabled_ns = on_cpu(block, frame, whole, end.known, wall_ns);
	return end;
}

/* Adds all but the time to the open NODE of the visit at FRAME. */
static void add_counts(const struct pm_thread_block *block, const struct pm_frame *frame,
		       struct perfmon_profile_node *node, const struct end *end,
		       struct perfmon_profile_stride *stride)
{
	uint64_t wall_ns = (uint64_t)pm_clock_ticks_ns((double)end->ticks);
	uint64_t worth = stride ? stride->worth : 1;
	uint32_t known = end->known;

	PM_ADD(node->off_cpu_ns, (wall_ns - end->enabled_ns) * worth);
	if (!end->same_plan)
		PM_COUNT32(node->dropped_counts, 1);
	for (uint32_t i = 0; i < block->counters; i++) {
		struct perfmon_profile_count *count = &node->count[i];
		struct one begin = at_begin(block, frame, i);
		int64_t difference = (int64_t)(end->whole->value[i] - begin.value);

		if (known >> i & 1 && difference < 0) {
			PM_COUNT32(node->defects, 1);
			known &= ~(1u << i);
		}
		if (!(known >> i & 1)) {
			PM_ADD(count->lost_ns, end->enabled_ns * worth);
			continue;
		}
		PM_ADD(count->sum, (uint64_t)difference);
		if (stride)
			pm_stride_add_count(node, stride, i, difference);
		PM_ADD(count->lost_ns,
		       missed(&begin, end->whole, i, end->enabled_ns) * worth);
	}
}

static struct perfmon_profile_stride *stride_of(const struct pm_thread_block *block,
						const struct perfmon_profile_node *node)
{
	return pm_region_general.stride ? pm_node_stride(node, block->columns) : NULL;
}

void pm_region_end_stale(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct perfmon_profile_node *node = frame->node;
	struct pm_whole whole;
	struct perfmon_profile_stride *stride = stride_of(block, node);
	bool saved = block->counters && frame->epoch != block->epoch;
	uint64_t now, sequence, earlier = pm_frame_earlier(frame);
	struct end end;

	block->in_slow = 1;
	now = pm_stale_read(block, frame, &whole);
	end = end_of(block, frame, now, &whole);

	PM_PUT(frame->node, NULL);
	sequence = pm_node_open(node);
	pm_node_add_time(node, end.ticks + earlier);
	if (stride)
		pm_stride_add_time(node, stride, end.ticks + earlier);
	/* Its earlier parts are in the sums of the threads that they ran on. */
	if (earlier)
		PM_ADD(node->time_ticks, -(earlier * (stride ? stride->worth : 1)));
	/* In a saved frame a page changed during an inner visit, which counted the cost
	 * of that. */
	if (whole.changed || (saved && !frame->whole))
		PM_COUNT32(node->retries, 1);
	if (whole.by_call || frame->whole)
		PM_COUNT32(node->fallback_reads, 1);
	if (!pm_frame_is_resumed(frame) && frame->cpu != *block->cpu)
		PM_COUNT32(node->migrations, 1);
	add_counts(block, frame, node, &end, stride);
	pm_node_close(node, sequence);
	if (stride && pm_region_stride_is_due(block, node))
		pm_region_stride_look(block, node);
	pm_slow_open(block, frame);
}

uint64_t pm_stale_part(struct pm_thread_block *block, const struct pm_frame *frame,
		       uint64_t now, const struct pm_whole *whole)
{
	struct perfmon_profile_node *node = frame->node;
	struct perfmon_profile_stride *stride = stride_of(block, node);
	struct end end = end_of(block, frame, now, whole);
	uint64_t sequence = pm_node_open(node);

	PM_ADD_64(node->time_ticks, end.ticks * (stride ? stride->worth : 1));
	/* Sums of squares of parts do not tell how far off the whole may be. */
	if (stride)
		PM_PUT(node->flags, node->flags | PERFMON_PROFILE_NODE_UNMEASURED);
	add_counts(block, frame, node, &end, stride);
	pm_node_close_part(node, sequence);
	return end.ticks;
}
