/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BEGIN and END when the hot path could not read every counter from its view: a page has
 * moved (the thread was switched, a counter overflowed or rotated), a counter has no
 * readable page, or it could not be opened at all.
 */
#include "regions/calls.h"

#include <string.h>

#include "os/os.h"
#include "regions/process.h"
#include "regions/thread.h"
#include "fastpath/fastpath.h"

#define MOST PERFMON_PROFILE_COUNTERS
/* How often a BEGIN tries to get one undisturbed set of samples before it settles for
 * whole values. */
#define TRIES 3

/* All counters of the calling thread, read whole. */
struct whole {
	uint64_t value[MOST];
	uint64_t lost_ns[MOST];
	uint64_t enabled_ns[MOST]; /* UINT64_MAX: not known */
	uint32_t known;		   /* bit i: counter i could be read */
	bool by_call;		   /* some by read(2) */
	bool moved;		   /* some page had moved */
};

/* The same of one counter. */
struct one {
	uint64_t value;
	uint64_t lost_ns;
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
			frame->counter[i].enabled_ns = block->view[i].enabled_base_ns;
		}
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
	return all;
}

/* How long a counter has been enabled at TICKS by its page, whose enabled_base_ns is
 * BASE_NS; UINT64_MAX if pages do not tell the time. */
static uint64_t enabled_at(const struct pm_thread_block *block, uint64_t base_ns,
			   uint64_t ticks)
{
	if (block->time_view >= block->counters)
		return UINT64_MAX;
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
		const struct perfmon_counter_view *view = &block->view[i];

		if (!pm_view_read(&block->view[i], &whole->value[i])) {
			whole->lost_ns[i] = view->lost_ns;
			whole->enabled_ns[i] =
				enabled_at(block, view->enabled_base_ns, ticks);
			whole->known |= 1u << i;
		} else if (instance->counters[i].fd >= 0) {
			by_call |= 1u << i;
			/* No counter was enabled for ever: still so after the call, it was
			 * not read. */
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

/* Samples every counter under its view; false if a page moves. */
static bool sample_all(const struct pm_thread_block *block, struct pm_frame *frame)
{
	uint32_t i;

	for (i = 0; i < block->counters; i++)
		if (perfmon_view_sample(&block->view[i], &frame->counter[i].raw))
			return false;
	return true;
}

void pm_region_begin_moved(struct pm_thread_block *block, struct pm_frame *frame,
			   struct perfmon_profile_node *node)
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
		frame->counter[i].enabled_ns = whole.enabled_ns[i];
	}
	frame->exact = 1;
	frame->unknown = all & ~whole.known;
	/* The plan's generation, and an epoch that no block has. */
	frame->epoch = PM_EPOCH(PM_EPOCH_GENERATION(block->epoch));
	frame->start = pm_clock_ticks();
out:
	if (whole.moved)
		PM_COUNT32(node->retries, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	PM_PUT(frame->node, node);
	block->in_cold = 0;
	block->gate = pm_frame_at(frame, block->frame_size, 1);
}

/* What FRAME's BEGIN read of counter I. */
static struct one at_begin(const struct pm_thread_block *block,
			   const struct pm_frame *frame, uint32_t i)
{
	const struct pm_frame_counter *counter = &frame->counter[i];

	if (frame->exact)
		return (struct one){counter->raw, counter->lost_ns, counter->enabled_ns};
	return (struct one){
		(uint64_t)(counter->offset +
			   perfmon_view_extend(&block->view[i], counter->raw)),
		counter->lost_ns, enabled_at(block, counter->enabled_ns, frame->start)};
}

/* How long counter I was enabled from BEGIN's read of it to END's; UINT64_MAX if that is
 * not known. */
static uint64_t enabled_between(const struct one *begin, const struct whole *end,
				uint32_t i)
{
	if (begin->enabled_ns == UINT64_MAX || end->enabled_ns[i] == UINT64_MAX ||
	    end->enabled_ns[i] < begin->enabled_ns)
		return UINT64_MAX;
	return end->enabled_ns[i] - begin->enabled_ns;
}

/* The time on the CPU in a visit of WALL_NS. A counter is enabled while its thread is on
 * the CPU, and what lies between its two reads holds the visit: the least of all is
 * nearest. */
static uint64_t on_cpu(const struct pm_thread_block *block, const struct pm_frame *frame,
		       const struct whole *end, uint32_t known, uint64_t wall_ns)
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
 * Of ON_CPU_NS in a visit, what counter I missed. It is told between the two reads of the
 * counter, and these are further apart than the visit is long where other counters are
 * read by calls: so the share is taken, not the time.
 */
static uint64_t missed(const struct one *begin, const struct whole *end, uint32_t i,
		       uint64_t on_cpu_ns)
{
	uint64_t lost =
		end->lost_ns[i] > begin->lost_ns ? end->lost_ns[i] - begin->lost_ns : 0;
	uint64_t between = enabled_between(begin, end, i);

	if (between != UINT64_MAX && lost < between)
		return (uint64_t)((double)on_cpu_ns * (double)lost / (double)between);
	return lost < on_cpu_ns ? lost : on_cpu_ns;
}

void pm_region_end_moved(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct perfmon_profile_node *node = frame->node;
	struct whole end = {.known = 0};
	/* Without counters a frame has no epoch. */
	bool same_plan = !block->counters || PM_EPOCH_GENERATION(frame->epoch) ==
						     PM_EPOCH_GENERATION(block->epoch);
	struct perfmon_profile_stride *stride =
		pm_region_general.stride ? pm_node_stride(node, block->columns) : NULL;
	bool frozen = block->counters && frame->epoch != block->epoch;
	uint64_t ticks, wall_ns, enabled_ns, sequence;
	uint32_t i, known;

	block->in_cold = 1;
	ticks = pm_clock_ticks();
	freeze(block, frame);
	read_whole(block, ticks, &end);
	known = same_plan ? end.known & ~frame->unknown : 0;
	/* A clock that differs between CPUs may have gone back. */
	ticks = (int64_t)(ticks - frame->start) < 0 ? 0 : ticks - frame->start;
	wall_ns = (uint64_t)pm_clock_ticks_ns((double)ticks);
	enabled_ns = on_cpu(block, frame, &end, known, wall_ns);

	PM_PUT(frame->node, NULL);
	sequence = pm_node_open(node);
	pm_node_add_time(node, ticks);
	if (stride)
		pm_stride_add_time(stride, ticks);
	PM_ADD(node->off_cpu_ns, wall_ns - enabled_ns);
	/* Of a frozen frame a page moved further in, where what that took was counted. */
	if (end.moved || (frozen && !frame->exact))
		PM_COUNT32(node->retries, 1);
	if (end.by_call || frame->exact)
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
			PM_ADD(count->lost_ns, enabled_ns);
			continue;
		}
		PM_ADD(count->sum, (uint64_t)difference);
		if (stride)
			pm_stride_add_count(node, stride, i, difference);
		PM_ADD(count->lost_ns, missed(&begin, &end, i, enabled_ns));
	}
	pm_node_close(node, sequence);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
	block->gate = frame;
}

/* --- what an empty region counts ----------------------------------------------------- */

#define PAIRS	   32 /* as the counters are read */
#define PAIRS_CALL 8  /* by read(2), where that is not what they are */
/* Longer than events that take turns wait for theirs: the kernel's are of 4 ms. */
#define TURNS_NS 20000000

/* An id that no region gets. */
static struct perfmon_region empty = {.key = PM_REGION_KEY(UINT32_MAX), .name = NULL};

/* As the macros do it, since what lies between the two reads is counted: finding the call,
 * and the test (another thread may be disarming), included. */
#define CALL(armed)                                                                      \
	do {                                                                             \
		void (*call_)(struct perfmon_region *) =                                 \
			__atomic_load_n(&(armed), __ATOMIC_RELAXED);                     \
		if (__builtin_expect(call_ != NULL, 1))                                  \
			call_(&empty);                                                   \
	} while (0)

/* A function of its own, so that no loop around it keeps addresses in registers. */
static __attribute__((noinline)) void visit_empty(void)
{
	CALL(perfmon_region_begin_armed);
	CALL(perfmon_region_end_armed);
	__asm__ __volatile__(""); /* the END is no tail call */
}

/* The least that an empty visit counts: read in user space, and by read(2). */
struct least {
	uint64_t count[2][MOST];
	uint32_t known[2]; /* bit i: of counter i */
};

/* PAIRS empty visits to NODE. One whose page moved is no measure, and none of a counter
 * that was not on the hardware. */
static void measure(const struct pm_thread_block *block,
		    struct perfmon_profile_node *node, int pairs, struct least *least)
{
	struct perfmon_profile_count before[MOST];

	while (pairs--) {
		uint32_t i, by_call = node->fallback_reads, moved = node->retries;

		for (i = 0; i < block->counters; i++)
			before[i] = node->count[i];
		visit_empty();
		if (node->retries != moved)
			continue;
		by_call = node->fallback_reads - by_call;
		for (i = 0; i < block->counters; i++) {
			uint64_t count = node->count[i].sum - before[i].sum;

			if (node->count[i].lost_ns != before[i].lost_ns)
				continue;
			if (!(least->known[by_call] >> i & 1) ||
			    count < least->count[by_call][i])
				least->count[by_call][i] = count;
			least->known[by_call] |= 1u << i;
		}
	}
}

/* Lets no counter be read in user space, nor a page tell the time. */
static void hide_pages(struct pm_thread_block *block)
{
	uint32_t i;

	for (i = 0; i < block->counters; i++)
		pm_view_init_none(&block->view[i]);
	block->time_view = block->counters;
	block->epoch++;
}

static void show_pages(struct pm_thread_block *block, uint32_t time_view)
{
	uint32_t i;

	for (i = 0; i < block->counters; i++) {
		pm_instance_view(block->thread->instance, i, 0, &block->view[i]);
		pm_view_refresh(&block->view[i]);
	}
	block->time_view = time_view;
	block->epoch++;
}

static void record_bias(const struct pm_thread_block *block, const struct least *least)
{
	uint32_t i;

	for (i = 0; i < block->counters; i++) {
		struct perfmon_profile_counter *counter =
			&pm_process.plan.record->counter[i];
		uint64_t call = least->count[1][i];
		uint32_t known = 0;

		if (least->known[0] >> i & 1) {
			known |= PERFMON_BIAS_USER;
			PM_PUT(counter->bias, least->count[0][i]);
		}
		if (least->known[1] >> i & 1) {
			known |= PERFMON_BIAS_CALL;
			PM_PUT(counter->call_bias,
			       call < UINT32_MAX ? (uint32_t)call : UINT32_MAX);
		}
		PM_PUT(counter->bias_known, known);
	}
}

void pm_region_measure_bias(void)
{
	struct pm_thread_block *block = pm_thread_block;
	const struct pm_instance *instance;
	struct least least = {.known = {0}};
	uint32_t i, open = 0;
	uint64_t begin;
	/* A node that is in no profile. */
	union {
		struct perfmon_profile_node node;
		char room[sizeof(struct perfmon_profile_node) +
			  MOST * (sizeof(struct perfmon_profile_count) + sizeof(double)) +
			  sizeof(struct perfmon_profile_stride)];
	} scratch;
	uint64_t key = PM_PATH_KEY(1) + empty.key;
	struct pm_slot *slot = &block->slots[key >> block->slot_shift];

	if (!block->counters || slot->key)
		return;
	memset(&scratch, 0, sizeof(scratch));
	scratch.node.time_min = UINT64_MAX;
	if (pm_region_general.stride)
		pm_node_stride(&scratch.node, block->columns)->stride = 1;
	slot->node = &scratch.node;
	slot->path_key = PM_PATH_KEY_BARREN;
	slot->key = key;
	instance = block->thread->instance;
	for (i = 0; i < block->counters; i++)
		open |= (uint32_t)(instance->counters[i].fd >= 0) << i;
	begin = pm_clock_ticks();
	do
		measure(block, &scratch.node, PAIRS, &least);
	while (open & ~(least.known[0] | least.known[1]) &&
	       pm_clock_ticks_ns((double)(pm_clock_ticks() - begin)) < TURNS_NS);
	if (!least.known[1]) {
		uint32_t time_view = block->time_view;

		hide_pages(block);
		measure(block, &scratch.node, PAIRS_CALL, &least);
		show_pages(block, time_view);
	}
	slot->key = 0;
	record_bias(block, &least);
}
