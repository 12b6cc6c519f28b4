/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BEGIN and END of a region in a thread that is set up, on a known path. Each has one
 * body, which is compiled for the frequent numbers of counters and once more for all
 * other settings. A call that is not warm leaves by a tail call.
 *
 * BEGIN reads the counters last and END reads them first. So they count as few of their
 * own instructions as possible, and always the same number.
 */
#include "fastpath/region.h"

#include <time.h>

#define INLINE	    static inline __attribute__((always_inline))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ANY	    PERFMON_PROFILE_COUNTERS_MAX

/* Unrolls the loops over a constant number of counters. clang peels the first
 * iteration off loops without an early exit, and would keep the other iterations of
 * four as a loop. */
#ifdef __clang__
/* With -Os, and with sanitizers, it keeps loops. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define UNROLL	     _Pragma("clang loop unroll_count(8)")
#define UNROLL_WHOLE _Pragma("clang loop unroll(enable)")
#else
#define UNROLL	     _Pragma("GCC unroll 8")
#define UNROLL_WHOLE UNROLL
#endif

/* Only the thread itself and its signal handlers use the stack: compiler order
 * suffices. */
#define SIGNAL_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

struct pm_region_general pm_region_general;

/* The calls before the first region has shown how many counters there are. They lead to
 * the slow path, as with a thread that is not set up. */
__attribute__((visibility("default"))) void (*perfmon_region_begin_armed)(
	struct perfmon_region *) = pm_region_begin_closed;
__attribute__((visibility("default"))) void (*perfmon_region_end_armed)(
	struct perfmon_region *) = pm_region_end_closed;

INLINE uint64_t now(int general)
{
	struct timespec t;

	if (!general || !pm_region_general.monotonic)
		return perfmon_arch_timestamp();
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the entry of KEY behind ENTRY, which has another key; NULL if there is none. */
INLINE struct pm_path_entry *probe(const struct pm_thread_block *block,
				   struct pm_path_entry *entry, uint64_t key)
{
	size_t mask = ~UINT64_C(0) >> block->entry_shift;

	while (entry->key) {
		entry = block->entries + ((size_t)(entry - block->entries + 1) & mask);
		if (entry->key == key)
			return entry;
	}
	return NULL;
}

/* BEGIN with COUNTERS counters. COUNTERS is a constant in all instances except the
 * general ones. */
INLINE void begin(struct perfmon_region *region, uint32_t counters, int general,
		  int strided)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *frame = block->top;
	const uint32_t *cpu = block->cpu;
	struct perfmon_profile_node *node;
	uint64_t region_key, path_key, on_cpu, key, found;
	struct pm_path_entry *entry;
	size_t size;
	uint32_t i;

	if (unlikely(!frame)) {
		pm_region_begin_closed(region);
		return;
	}
	block->top = NULL;
	SIGNAL_FENCE();
	if (general) {
		counters = block->counters;
		if (unlikely(block->arm_generation !=
			     PM_GET(pm_region_general.generation)))
			frame = pm_region_resync(block, frame);
	}
	size = pm_frame_size(counters);
	region_key = PM_GET(region->key);
	key = pm_frame_at(frame, size, -1)->path_key + region_key;
	entry = block->entries + (key >> block->entry_shift);
	__asm__("" : "+r"(entry)); /* one address for all its fields */
	found = entry->key;
	node = entry->node;
	if (unlikely(found != key)) {
		entry = probe(block, entry, key);
		if (!entry) {
			pm_region_begin_missing(block, frame, region);
			return;
		}
		node = entry->node;
	}
	path_key = entry->path_key;
	on_cpu = *cpu;
	PM_ADD_64(node->entered, 1);
	frame->region_key = region_key;
	frame->start = now(general);
	frame->cpu = on_cpu;
	frame->path_key = path_key;
	if (counters)
		frame->epoch = block->epoch;
	/* The visit of a signal handler may have come before and drawn already. */
	if (strided && !pm_node_stride(node, block->columns)->gap)
		pm_stride_draw(pm_node_stride(node, block->columns));
	if (general && pm_region_general.fence)
		perfmon_arch_fence();
	UNROLL
	for (i = 0; i < counters; i++) {
		if (perfmon_view_sample(&block->view[i], &frame->counter[i].raw)) {
			pm_region_begin_stale(block, frame, node);
			return;
		}
	}
	SIGNAL_FENCE();
	PM_PUT(frame->node, node);
	block->top = pm_frame_at(frame, size, 1);
}

INLINE void end(struct perfmon_region *region, uint32_t counters, int general,
		int strided)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *frame = block->top;
	const uint32_t *cpu = block->cpu;
	struct perfmon_profile_node *node;
	uint64_t raw[ANY], sequence, ticks;
	int64_t difference[ANY], negative = 0;
	uint32_t i;

	if (unlikely(!frame)) {
		pm_region_end_closed(region);
		return;
	}
	block->top = NULL;
	SIGNAL_FENCE();
	if (general) {
		counters = block->counters;
		if (unlikely(block->arm_generation !=
			     PM_GET(pm_region_general.generation)))
			frame = pm_region_resync(block, frame);
		if (pm_region_general.fence)
			perfmon_arch_fence();
	}
	frame = pm_frame_at(frame, pm_frame_size(counters), -1);
	__asm__("" : "+r"(frame)); /* one address for all its fields */
	UNROLL
	for (i = 0; i < counters; i++)
		if (perfmon_view_sample(&block->view[i], &raw[i]))
			goto stale;
	ticks = now(general);
	node = frame->node;
	if (unlikely(frame->region_key != PM_GET(region->key))) {
		pm_region_end_other(block, frame, region);
		return;
	}
	ticks -= frame->start;
	UNROLL_WHOLE
	for (i = 0; i < counters; i++) {
		difference[i] = perfmon_view_difference(&block->view[i], raw[i],
							frame->counter[i].raw);
		negative |= difference[i];
	}
	if (counters &&
	    (unlikely(frame->epoch != block->epoch) || unlikely(negative < 0)))
		goto stale_matched;
	/* Also where the clocks of CPUs differ, so that the time would go backwards. */
	if (unlikely(frame->cpu != *cpu))
		goto stale_matched;
	PM_PUT(frame->node, NULL);
	sequence = pm_node_open(node);
	pm_node_add_time(node, ticks);
	UNROLL_WHOLE
	for (i = 0; i < counters; i++)
		PM_ADD_64(node->count[i].sum, difference[i]);
	if (strided) {
		struct perfmon_profile_stride *stride =
			pm_node_stride(node, block->columns);

		pm_stride_add_time(node, stride, ticks);
		for (i = 0; i < counters; i++)
			pm_stride_add_count(node, stride, i, difference[i]);
	}
	pm_node_close(node, sequence);
	if (strided)
		pm_region_stride_step(block, node);
	SIGNAL_FENCE();
	block->top = frame;
	return;

stale:
	if (unlikely(frame->region_key != PM_GET(region->key))) {
		pm_region_end_other(block, frame, region);
		return;
	}
stale_matched:
	pm_region_end_stale(block, frame);
}

/*
 * BEGIN and END with strides. They skip most visits: only the visit's place in the tree
 * is kept. All other visits continue in the measured form. That form is a function of its
 * own, so that a skipped visit does not save its registers.
 */
static void begin_measured(struct perfmon_region *region);
static void end_measured(struct perfmon_region *region);

static void begin_strided(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *frame = block->top;
	struct perfmon_profile_stride *stride;
	struct perfmon_profile_node *node;
	uint64_t region_key, key;
	struct pm_path_entry *entry;

	if (unlikely(!frame)) {
		pm_region_begin_closed(region);
		return;
	}
	block->top = NULL;
	SIGNAL_FENCE();
	if (unlikely(block->arm_generation != PM_GET(pm_region_general.generation)))
		goto measured;
	region_key = PM_GET(region->key);
	key = pm_frame_at(frame, block->frame_size, -1)->path_key + region_key;
	entry = block->entries + (key >> block->entry_shift);
	if (unlikely(entry->key != key)) {
		entry = probe(block, entry, key);
		if (!entry)
			goto measured;
	}
	node = entry->node;
	stride = pm_node_stride(node, block->columns);
	if (unlikely(!stride->gap))
		goto measured;
	PM_ADD(stride->gap, UINT64_C(-1));
	PM_ADD_64(node->entered, 1);
	frame->region_key = region_key;
	frame->cpu = PM_FRAME_SKIPPED;
	frame->path_key = entry->path_key;
	/* Frames below may need their views saved, and that search ends at another
	 * epoch. */
	frame->epoch = block->epoch;
	SIGNAL_FENCE();
	PM_PUT(frame->node, node);
	block->top = pm_frame_at(frame, block->frame_size, 1);
	return;
measured:
	block->top = frame;
	SIGNAL_FENCE();
	begin_measured(region);
}

static void end_strided(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *top = block->top, *frame;
	struct perfmon_profile_node *node;

	if (unlikely(!top)) {
		pm_region_end_closed(region);
		return;
	}
	frame = pm_frame_at(top, block->frame_size, -1);
	if (unlikely(frame->cpu != PM_FRAME_SKIPPED ||
		     frame->region_key != PM_GET(region->key) ||
		     block->arm_generation != PM_GET(pm_region_general.generation))) {
		end_measured(region);
		return;
	}
	block->top = NULL;
	SIGNAL_FENCE();
	node = frame->node;
	PM_PUT(frame->node, NULL);
	PM_ADD(pm_node_stride(node, block->columns)->skipped, 1);
	SIGNAL_FENCE();
	block->top = frame;
}

/* The specialised forms: name, number of counters, general, strided. */
#define FORMS(X)                                                                         \
	X(plain_0, 0, 0, 0)                                                              \
	X(plain_1, 1, 0, 0)                                                              \
	X(plain_2, 2, 0, 0)                                                              \
	X(plain_3, 3, 0, 0)                                                              \
	X(plain_4, 4, 0, 0)                                                              \
	X(plain_5, 5, 0, 0)                                                              \
	X(plain_6, 6, 0, 0)                                                              \
	X(general, ANY, 1, 0)                                                            \
	X(measured, ANY, 1, 1)

#define DEFINE(name, counters, is_general, is_strided)                                   \
	static void begin_##name(struct perfmon_region *region)                          \
	{                                                                                \
		begin(region, counters, is_general, is_strided);                         \
	}                                                                                \
	static void end_##name(struct perfmon_region *region)                            \
	{                                                                                \
		end(region, counters, is_general, is_strided);                           \
	}
FORMS(DEFINE)

#define ROW(name, counters, is_general, is_strided) {begin_##name, end_##name},
static const struct pm_region_calls forms[] = {FORMS(ROW)};
static const struct pm_region_calls strided = {begin_strided, end_strided};

struct pm_region_calls pm_region_calls_for(uint32_t counters, int plain, int stride)
{
	uint32_t general = sizeof(forms) / sizeof(forms[0]) - 2;

	if (stride)
		return strided;
	return forms[plain && counters < general ? counters : general];
}
