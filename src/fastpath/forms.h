/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BEGIN and END of a region in a thread that is set up, on a known path. Each has one
 * body, which is compiled for the frequent numbers of counters and once more for all
 * other settings, and all of this twice: as ordinary functions (region.c), and for the asm
 * statements of the macros (kept.c). A call that is not warm goes to the slow path, which
 * prepares what was missing and returns the region. Then the call is made again, by the
 * pointers, since the form may have changed.
 *
 * BEGIN reads the counters last and END reads them first. So they count as few of their
 * own instructions as possible, and always the same number.
 */
#ifndef PM_FASTPATH_FORMS_H
#define PM_FASTPATH_FORMS_H

#include "fastpath/region.h"

/* SLOW calls the slow path, with the vector registers kept. THEN also makes the call of BEGIN or
 * END again if the slow path has prepared it. */
#if PERFMON_ARCH_KEEPS && !defined(PM_SANITIZED)
#define SLOW(name) pm_kept_##name
#ifdef KEPT
#define THEN(part, name, ...) pm_kept_##name(__VA_ARGS__)
#else
#define THEN(part, name, ...) pm_ordinary_##name(__VA_ARGS__)
#endif
#else
#define SLOW(name)	      pm_region_##name
#define THEN(part, name, ...) part##_again(pm_region_##name(__VA_ARGS__))
#endif

/* If set, values are loaded late and stored early, to be in few registers. Other CPUs load and
 * store them in pairs. */
#if defined(__x86_64__)
#define FEW_REGISTERS 1
#else
#define FEW_REGISTERS 0
#endif

/* kept.c adds this to each form. */
#ifndef MONOTONIC
#define MONOTONIC() pm_region_monotonic()
#endif
#ifndef FORM
#define FORM static
#endif
#ifndef ENTRY
#define ENTRY(form)
#endif

#define ANY PERFMON_PROFILE_COUNTERS_MAX

INLINE uint64_t now(int general)
{
	if (general && pm_region_general.monotonic)
		return MONOTONIC();
	return perfmon_arch_timestamp();
}

#if !PERFMON_ARCH_KEEPS || defined(PM_SANITIZED)
INLINE void begin_again(struct perfmon_region *region)
{
	if (region)
		PM_GET(pm_region_ordinary.begin)(region);
}

INLINE void end_again(struct perfmon_region *region)
{
	if (region)
		PM_GET(pm_region_ordinary.end)(region);
}
#endif

/* Returns the entry of KEY behind ENTRY, which has another key; NULL if there is none. */
INLINE struct pm_path_entry *probe(const struct pm_thread_block *block,
				   struct pm_path_entry *entry, uint64_t key)
{
	uint64_t shift = block->entry_shift, mask;

	__asm__("" : "+r"(shift)); /* no part of this comes before the search */
	mask = ~UINT64_C(0) >> shift;
	while (PM_GET(entry->key)) {
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
		THEN(begin, begin_closed, region);
		return;
	}
	block->top = NULL;
	SIGNAL_FENCE();
	if (general) {
		counters = block->counters;
		if (unlikely(block->arm_generation !=
			     PM_GET(pm_region_general.generation)))
			frame = SLOW(resync)(block, frame);
	}
	size = pm_frame_size(counters);
	region_key = PM_GET(region->key);
	if (FEW_REGISTERS)
		PM_PUT(frame->region_key, region_key);
	key = pm_frame_at(frame, size, -1)->path_key + region_key;
	entry = block->entries + (key >> block->entry_shift);
	__asm__("" : "+r"(entry)); /* one address for all its fields */
	found = entry->key;
	if (!FEW_REGISTERS)
		node = entry->node;
	if (unlikely(found != key)) {
		entry = probe(block, entry, key);
		if (!entry) {
			THEN(begin, begin_missing, block, frame, region);
			return;
		}
		if (!FEW_REGISTERS)
			node = entry->node;
	}
	path_key = entry->path_key;
	if (FEW_REGISTERS)
		PM_PUT(frame->path_key, path_key);
	on_cpu = *(FEW_REGISTERS ? block->cpu : cpu);
	if (FEW_REGISTERS) {
		PM_PUT(frame->cpu, on_cpu);
		node = entry->node;
	}
	PM_ADD_64(node->entered, 1);
	if (!FEW_REGISTERS)
		frame->region_key = region_key;
	frame->start = now(general);
	if (!FEW_REGISTERS) {
		frame->cpu = on_cpu;
		frame->path_key = path_key;
	}
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
			SLOW(begin_stale)(block, frame, node);
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
		THEN(end, end_closed, region);
		return;
	}
	block->top = NULL;
	SIGNAL_FENCE();
	if (general) {
		counters = block->counters;
		if (unlikely(block->arm_generation !=
			     PM_GET(pm_region_general.generation)))
			frame = SLOW(resync)(block, frame);
		if (pm_region_general.fence)
			perfmon_arch_fence();
	}
	frame = pm_frame_at(frame, pm_frame_size(counters), -1);
	__asm__("" : "+r"(frame)); /* one address for all its fields */
	UNROLL
	for (i = 0; i < counters; i++) {
		if (perfmon_view_sample(&block->view[i], &raw[i]))
			goto stale;
		if (FEW_REGISTERS)
			__asm__("" : "+r"(raw[i])); /* not in two halves */
	}
	ticks = now(general);
	node = frame->node;
	if (unlikely(frame->region_key != PM_GET(region->key))) {
		THEN(end, end_other, block, frame, region);
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
	if (unlikely(frame->cpu != *(FEW_REGISTERS ? block->cpu : cpu)))
		goto stale_matched;
	PM_PUT(frame->node, NULL);
	sequence = pm_node_open(node);
	pm_node_add_time(node, ticks);
	UNROLL_WHOLE
	for (i = 0; i < counters; i++)
		PM_ADD_64(node->count[i].sum, difference[i]);
	if (strided)
		SLOW(stride_add)(block, node, ticks, difference);
	pm_node_close(node, sequence);
	if (strided && unlikely(pm_region_stride_is_due(block, node)))
		SLOW(stride_look)(block, node);
	SIGNAL_FENCE();
	block->top = frame;
	return;

stale:
	if (unlikely(frame->region_key != PM_GET(region->key))) {
		THEN(end, end_other, block, frame, region);
		return;
	}
stale_matched:
	SLOW(end_stale)(block, frame);
}

/*
 * BEGIN and END with strides. They skip most visits: only the visit's place in the tree
 * is kept. All other visits continue in the measured form. That form is a function of its
 * own, so that a skipped visit does not save its registers.
 */
FORM void begin_measured(struct perfmon_region *region);
FORM void end_measured(struct perfmon_region *region);

FORM void begin_strided(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *frame = block->top;
	struct perfmon_profile_stride *stride;
	struct perfmon_profile_node *node;
	uint64_t region_key, key;
	struct pm_path_entry *entry;

	if (unlikely(!frame)) {
		THEN(begin, begin_closed, region);
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

FORM void end_strided(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *top = block->top, *frame;
	struct perfmon_profile_node *node;

	if (unlikely(!top)) {
		THEN(end, end_closed, region);
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

/*
 * BEGIN and END where filters leave visits out, or visits have steps. A region that is left out by its name has the key
 * PM_KEY_LEFT_OUT, and the visit around it counts its open visits. A path that is left out has no
 * node: its visit, and what begins in that, is kept as visits below the deepest level are, with the
 * stack closed. All other visits go on in the form that they would have without filters.
 */
static struct pm_region_calls unfiltered;

INLINE int in_left_out(const struct pm_thread_block *block)
{
	return block->overflow && block->left_out && !block->in_slow &&
	       block->arm_generation == PM_GET(pm_region_general.generation);
}

/* Begins a visit inside of one that is left out. The count comes first: a signal handler then
 * writes behind this key. */
INLINE void left_out_push(struct pm_thread_block *block, uint64_t region_key)
{
	uint32_t open = block->overflow;

	block->overflow = open + 1;
	SIGNAL_FENCE();
	if (open < PM_OVERFLOW_KEYS)
		block->overflow_key[open] = region_key;
	PM_ADD_64(*block->left_out, 1);
}

/* Ends the innermost of these visits if it has REGION_KEY. */
INLINE int left_out_pop(struct pm_thread_block *block, uint64_t region_key)
{
	uint32_t open = block->overflow;
	uint32_t known = open < PM_OVERFLOW_KEYS ? open : PM_OVERFLOW_KEYS;

	if (unlikely(block->overflow_key[known - 1] != region_key))
		return 0;
	block->overflow = open - 1;
	SIGNAL_FENCE();
	if (open == 1)
		block->top = block->full_top;
	return 1;
}

/* Begins a visit of ENTRY's path, which is left out, at FRAME. The stack is closed. */
INLINE void left_out_begin(struct pm_thread_block *block, struct pm_frame *frame,
			   const struct pm_path_entry *entry, uint64_t region_key)
{
	block->full_top = frame;
	block->left_out = &block->left_outs[entry->number];
	block->overflow_key[0] = region_key;
	PM_ADD_64(*block->left_out, 1);
	SIGNAL_FENCE();
	block->overflow = 1;
}

/*
 * Rare work stands in functions of its own, so that a visit that is left out saves no registers.
 * This one drops visits that are open since before regions were disarmed.
 */
static void begin_filtered(struct perfmon_region *region);
FORM NOINLINE void begin_resynced(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *frame = block->top;

	block->top = NULL;
	SIGNAL_FENCE();
	frame = SLOW(resync)(block, frame);
	SIGNAL_FENCE();
	block->top = frame;
	begin_filtered(region);
}

/* Looks at the visits of ENTRY's path. The stack is closed, at FRAME. */
FORM NOINLINE void begin_looked(struct perfmon_region *region, struct pm_frame *frame,
				struct pm_path_entry *entry)
{
	const struct perfmon_profile_node *node;

	SLOW(path_look)(entry, frame);
	node = entry->node;
	SIGNAL_FENCE();
	pm_thread_block->top = frame;
	if (node)
		PM_GET(unfiltered.begin)(region);
	else
		begin_filtered(region);
}

FORM void begin_filtered(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *frame = block->top, *outer;
	uint64_t region_key = PM_GET(region->key), key;
	struct pm_path_entry *entry;

	if (unlikely(!frame)) {
		if (in_left_out(block) && pm_key_is_settled(region_key)) {
			left_out_push(block, region_key);
			return;
		}
		THEN(begin, begin_closed, region);
		return;
	}
	if (unlikely(block->arm_generation != PM_GET(pm_region_general.generation))) {
		begin_resynced(region);
		return;
	}
	block->top = NULL;
	SIGNAL_FENCE();
	outer = pm_frame_at(frame, block->frame_size, -1);
	if (region_key == PM_KEY_LEFT_OUT) {
		outer->left_out++;
		PM_ADD_64(block->left_outs[PERFMON_PROFILE_LEFT_OUT_NAME], 1);
		SIGNAL_FENCE();
		block->top = frame;
		return;
	}
	frame->left_out = 0;
	key = outer->path_key + region_key;
	entry = block->entries + (key >> block->entry_shift);
	if (unlikely(entry->key != key))
		entry = probe(block, entry, key);
	if (entry && !entry->node) {
		left_out_begin(block, frame, entry, region_key);
		return;
	}
	if (entry &&
	    unlikely(pm_region_step_is_due(entry) || pm_region_filter_is_due(entry))) {
		begin_looked(region, frame, entry);
		return;
	}
	SIGNAL_FENCE();
	block->top = frame;
	PM_GET(unfiltered.begin)(region);
}

FORM void end_filtered(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_frame *top = block->top, *outer;
	uint64_t region_key = PM_GET(region->key);

	if (unlikely(!top)) {
		if (in_left_out(block) && left_out_pop(block, region_key))
			return;
		THEN(end, end_closed, region);
		return;
	}
	outer = pm_frame_at(top, block->frame_size, -1);
	block->top = NULL;
	SIGNAL_FENCE();
	if (region_key != PM_KEY_LEFT_OUT)
		outer->left_out = 0;
	else if (outer->left_out)
		outer->left_out--;
	SIGNAL_FENCE();
	block->top = top;
	if (region_key != PM_KEY_LEFT_OUT)
		PM_GET(unfiltered.end)(region);
}

/* The calls before the first region has shown how many counters there are. They lead to
 * the slow path, as with a thread that is not set up. */
FORM void begin_first(struct perfmon_region *region)
{
	THEN(begin, begin_closed, region);
}

FORM void end_first(struct perfmon_region *region)
{
	THEN(end, end_closed, region);
}

ENTRY(begin_first)
ENTRY(end_first)
ENTRY(begin_strided)
ENTRY(end_strided)
ENTRY(begin_filtered)
ENTRY(end_filtered)

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
	FORM void begin_##name(struct perfmon_region *region)                            \
	{                                                                                \
		begin(region, counters, is_general, is_strided);                         \
	}                                                                                \
	FORM void end_##name(struct perfmon_region *region)                              \
	{                                                                                \
		end(region, counters, is_general, is_strided);                           \
	}                                                                                \
	ENTRY(begin_##name)                                                              \
	ENTRY(end_##name)
FORMS(DEFINE)

#define FORM_ROW(name, counters, is_general, is_strided) {begin_##name, end_##name},

/* All forms that can be chosen, and one more. */
#define ALL_FORMS(X) FORMS(X) X(strided, ANY, 1, 1) X(filtered, ANY, 1, 0)

#define FORM_NUMBER(name, counters, is_general, is_strided) FORM_##name,
enum { ALL_FORMS(FORM_NUMBER) };

/* Returns what is called for FORM, a number of the above: plain ones have that of their counters. */
static inline struct pm_region_calls form_for(uint32_t form)
{
	static const struct pm_region_calls rows[] = {ALL_FORMS(FORM_ROW)};

	if (!pm_region_general.filters)
		return rows[form];
	PM_PUT(unfiltered.begin, rows[form].begin);
	PM_PUT(unfiltered.end, rows[form].end);
	return rows[FORM_filtered];
}

#endif
