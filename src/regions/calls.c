/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cold path of regions: first passes, closed gates, ENDs that do not match, and the
 * public calls. What a moved page needs is in reread.c.
 */
#include "regions/calls.h"

#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "regions/process.h"
#include "regions/thread.h"
#include "fastpath/fastpath.h"

/* Counts a visit that is lost. A handler may come in between and count one, too. */
static void count_lost(uint64_t *lost)
{
	__atomic_fetch_add(lost, 1, __ATOMIC_RELAXED);
}

static void call(void (**armed)(struct perfmon_region *), struct perfmon_region *region)
{
	void (*function)(struct perfmon_region *) =
		__atomic_load_n(armed, __ATOMIC_RELAXED);

	if (function)
		function(region);
}

/* The region's id in a region's key. */
static uint32_t region_id(uint64_t region_key)
{
	return (uint32_t)(region_key * PM_KEY_INVERSE);
}

void pm_region_record_name(const struct perfmon_region *region)
{
	size_t length = strlen(region->name);
	struct perfmon_profile_region *record;

	record = pm_profile_reserve(PERFMON_PROFILE_REGION, sizeof(*record) + length + 1);
	if (!record)
		return;
	record->id = region_id(region->key);
	record->length = (uint32_t)length;
	memcpy(record->name, region->name, length);
	pm_profile_publish();
}

struct perfmon_region *pm_region_of_name(const char *name)
{
	struct perfmon_region *region;
	struct pm_still still;

	if (!name)
		return NULL;
	region = pm_registry_find(name);
	if (region)
		return region;
	pm_kernel_still_begin(&still);
	if (pm_process_try_lock()) {
		region = pm_registry_find(name);
		if (!region) {
			region = pm_registry_add(name);
			if (region)
				pm_region_record_name(region);
		}
		pm_process_release();
	}
	pm_kernel_still_end(&still);
	return region;
}

/* REGION's key; 0 if its name is not registered. */
static uint64_t known_key(struct perfmon_region *region)
{
	uint64_t key = PM_GET(region->key);
	const struct perfmon_region *known;

	if (key || !region->name)
		return key;
	known = pm_registry_find(region->name);
	if (!known)
		return 0;
	__atomic_store_n(&region->key, known->key, __ATOMIC_RELAXED);
	return known->key;
}

/* --- visits below the deepest level -------------------------------------------------- */

static void overflow_push(struct pm_thread_block *block, uint64_t key)
{
	if (block->overflow < PM_OVERFLOW_KEYS)
		block->overflow_key[block->overflow] = key;
	block->overflow++;
	count_lost(block->thread->lost);
}

/* Closes the gate at FRAME until the visit that begins here has ended: it and all below it
 * are counted in *LOST. */
static void overflow(struct pm_thread_block *block, struct pm_frame *frame, uint64_t key,
		     uint64_t *lost)
{
	block->full_gate = frame;
	block->thread->lost = lost;
	overflow_push(block, key);
}

/*
 * Ends the innermost of these visits that has KEY, and those inside of it, whose ENDs were
 * jumped over. False if the visit that ends is open further out: then all of these are
 * over.
 */
static bool overflow_pop(struct pm_thread_block *block, uint64_t key)
{
	uint32_t i, open = block->overflow;
	struct pm_frame *frame = block->full_gate;

	for (i = open < PM_OVERFLOW_KEYS ? open : PM_OVERFLOW_KEYS; i--;) {
		if (block->overflow_key[i] == key) {
			/* Of those that are only counted, one ends: it cannot be told which. */
			block->overflow = open > PM_OVERFLOW_KEYS ? open - 1 : i;
			return true;
		}
	}
	while (frame != block->frames) {
		frame = pm_frame_at(frame, block->frame_size, -1);
		if (frame->region_key == key) {
			block->overflow = 0;
			return false;
		}
	}
	/* One that could not be named at its BEGIN may have been registered since. */
	if (open > PM_OVERFLOW_KEYS || !block->overflow_key[open - 1])
		block->overflow--;
	else
		PM_ADD(block->thread->record->unmatched_ends, 1);
	return true;
}

/* --- a closed gate ------------------------------------------------------------------- */

/* BEGINs that the calling thread has dropped since it is not set up: their ENDs have had
 * a BEGIN. */
static __thread uint64_t dropped;

/* The first region of a thread. True if the thread is set up now. */
static bool first_use(void)
{
	static bool bias_measured;
	struct pm_still still;
	bool set_up;
	int err = -EDEADLK;

	if (pm_process_phase() == PM_PROCESS_READY && !pm_process_is_ours()) {
		pm_process_make_inert();
		return false;
	}
	dropped++;
	if (!pm_thread_may_set_up())
		return false;
	pm_kernel_still_begin(&still);
	/* The process's own set-up calls libraries that allocate, a thread's does not. */
	if (!pm_thread_busy && !(pm_process_phase() == PM_PROCESS_READY
					 ? pm_may_be_in_signal_handler(&still.mask)
					 : pm_in_signal_handler())) {
		pm_thread_busy++;
		err = pm_process_init();
		if (!err &&
		    __atomic_load_n(&perfmon_region_begin_armed, __ATOMIC_RELAXED)) {
			err = pm_thread_setup();
			if (err && err != -EDEADLK)
				__atomic_fetch_add(&pm_profile_header()->lost_threads, 1,
						   __ATOMIC_RELAXED);
			else if (!err && !__atomic_exchange_n(&bias_measured, true,
							      __ATOMIC_RELAXED))
				pm_region_measure_bias();
		}
		pm_thread_busy--;
	}
	if (err == -EDEADLK && pm_profile_exists())
		__atomic_fetch_add(&pm_profile_header()->lost_first_in_handler, 1,
				   __ATOMIC_RELAXED);
	set_up = pm_thread_block != &pm_thread_block_none;
	dropped -= set_up;
	pm_kernel_still_end(&still);
	return set_up;
}

/* An END in a thread that is not set up: its BEGIN was dropped, or ran in another thread.
 */
static void end_without_thread(void)
{
	if (dropped)
		dropped--;
	else if (pm_process_phase() == PM_PROCESS_READY && pm_process_is_ours())
		count_lost(&pm_profile_header()->unmatched_ends);
}

/* Whether BLOCK was wiped: the process is a child that no fork handler prepared. */
static bool wiped(struct pm_thread_block *block)
{
	if (block->alive)
		return false;
	pm_thread_block = &pm_thread_block_none;
	pm_process_make_inert();
	return true;
}

/*
 * Opens the gate of BLOCK again, and returns true, if the call that closed it never will:
 * a signal handler has left it by siglongjmp(3). It is where the first frame without a
 * node is. The visit of that call is lost; an END may have left its node half written.
 */
static bool reopen(struct pm_thread_block *block)
{
	struct pm_frame *frame = pm_frame_at(block->frames, block->frame_size, 1);
	const struct pm_frame *parent;
	struct pm_slot *slot;

	if (pm_thread_busy || !pm_outside_signal_handlers())
		return false;
	PM_ADD(block->thread->record->lost_other, 1);
	if (!block->overflow) {
		while (frame->node)
			frame = pm_frame_at(frame, block->frame_size, 1);
		parent = pm_frame_at(frame, block->frame_size, -1);
		slot = pm_thread_slot(block, parent->path_key + frame->region_key);
		if (slot && slot->node->sequence & 1) {
			PM_COUNT32(slot->node->dropped_counts, 1);
			pm_node_close(slot->node, slot->node->sequence - 1);
		}
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
	if (!block->overflow)
		block->gate = frame;
	return true;
}

void pm_region_begin_closed(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;

	if (block == &pm_thread_block_none) {
		if (first_use())
			call(&perfmon_region_begin_armed, region);
		return;
	}
	if (wiped(block))
		return;
	if (block->in_cold || !block->overflow) {
		if (reopen(block))
			call(&perfmon_region_begin_armed, region);
		else
			count_lost(&block->thread->record->lost_in_handler);
		return;
	}
	if (block->arm_generation != PM_GET(pm_region_general.generation)) {
		/* The ENDs that were to open the gate fell into a disarmed time. */
		block->overflow = 0;
		block->gate = pm_region_resync(block, block->full_gate);
		call(&perfmon_region_begin_armed, region);
		return;
	}
	block->in_cold = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	overflow_push(block, known_key(region));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
}

void pm_region_end_closed(struct perfmon_region *region)
{
	struct pm_thread_block *block = pm_thread_block;
	bool further_out;

	if (block == &pm_thread_block_none) {
		end_without_thread();
		return;
	}
	if (wiped(block))
		return;
	if (block->in_cold || !block->overflow) {
		if (reopen(block))
			call(&perfmon_region_end_armed, region);
		return;
	}
	block->in_cold = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	further_out = !overflow_pop(block, known_key(region));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
	if (block->overflow)
		return;
	block->gate = block->full_gate;
	if (further_out)
		call(&perfmon_region_end_armed, region);
}

/* --- a new path ---------------------------------------------------------------------- */

static uint32_t frame_depth(const struct pm_thread_block *block,
			    const struct pm_frame *frame)
{
	return (uint32_t)(((const char *)frame - (const char *)block->frames) /
			  block->frame_size);
}

/* The node's number in a path key. */
static uint32_t path_number(uint64_t path_key)
{
	return (uint32_t)(path_key * PM_KEY_INVERSE >> 32);
}

static struct {
	uint32_t id;
	const char *name;
} named; /* under pm_process_lock */

static void find_name(const struct perfmon_region *region)
{
	if (region_id(region->key) == named.id)
		named.name = region->name;
}

/* The stride of a new path to the region with ID, and where its first run begins. Under
 * pm_process_lock. */
static void stride_begin(struct perfmon_profile_stride *stride, uint32_t id)
{
	uint64_t seed = pm_clock_ticks() ^ (uint64_t)(uintptr_t)stride;

	named.id = id;
	named.name = "";
	for (uint32_t i = 0; i < pm_process.options.stride_count; i++) {
		if (!pm_process.options.strides[i].name)
			continue;
		pm_registry_each_region(find_name);
		break;
	}
	PM_PUT(stride->stride, pm_options_stride(&pm_process.options, named.name));
	/* Close seeds must not give like numbers; and xorshift has no way out of 0. */
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	PM_PUT(stride->random, (seed ^ seed >> 31) | 1);
	pm_stride_draw(stride);
}

/* A new path of the calling thread below PARENT, at DEPTH; where it is counted as lost if
 * that cannot be, else NULL. The lock is needed for more room, and for a new stride. */
static uint64_t *add_path(struct pm_thread_block *block, const struct pm_frame *parent,
			  uint64_t region_key, uint32_t depth)
{
	struct pm_thread *thread = block->thread;
	bool shared = pm_region_general.stride || pm_thread_grows(thread);
	struct pm_slot *slot = NULL;
	struct pm_still still;
	bool free = true;

	if (shared) {
		pm_kernel_still_begin(&still);
		free = pm_process_try_lock();
	}
	if (free)
		slot = pm_thread_add_path(thread, path_number(parent->path_key),
					  region_id(region_key),
					  parent->path_key + region_key, depth);
	if (slot && pm_region_general.stride)
		stride_begin(pm_node_stride(slot->node, block->columns),
			     region_id(region_key));
	if (shared) {
		if (free)
			pm_process_release();
		pm_kernel_still_end(&still);
	}
	if (!free)
		return &thread->record->lost_in_handler;
	return slot ? NULL : &thread->record->lost_no_memory;
}

void pm_region_begin_missing(struct pm_thread_block *block, struct pm_frame *frame,
			     struct perfmon_region *region)
{
	struct perfmon_profile_thread *record = block->thread->record;
	const struct pm_frame *parent = pm_frame_at(frame, block->frame_size, -1);
	uint32_t depth = frame_depth(block, frame);
	uint64_t region_key = PM_GET(region->key), key;

	block->in_cold = 1;
	if (!region_key) {
		struct perfmon_region *known = pm_region_of_name(region->name);

		if (known) {
			region_key = known->key;
			__atomic_store_n(&region->key, region_key, __ATOMIC_RELAXED);
		}
	}
	if (!region_key || depth > PERFMON_PROFILE_DEPTH) {
		overflow(block, frame, region_key,
			 region_key ? &record->lost_too_deep : &record->lost_unnamed);
		goto out;
	}
	/* A handler inside of set-up, which is counting what an empty region counts. */
	if (pm_thread_busy) {
		overflow(block, frame, region_key, &record->lost_in_handler);
		goto out;
	}
	key = parent->path_key + region_key;
	if (!pm_thread_slot(block, key)) {
		uint64_t *lost = add_path(block, parent, region_key, depth);

		if (lost) {
			overflow(block, frame, region_key, lost);
			goto out;
		}
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
	block->gate = frame;
	call(&perfmon_region_begin_armed, region);
	return;
out:
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
}

/* --- ENDs that do not match ---------------------------------------------------------- */

void pm_region_end_mismatched(struct pm_thread_block *block, struct pm_frame *frame,
			      struct perfmon_region *region)
{
	uint64_t region_key = PM_GET(region->key);
	struct pm_frame *found = frame;

	block->in_cold = 1;
	if (!region_key) /* its own first pass is an END: it may be open from elsewhere */
		region_key = known_key(region);
	while (found != block->frames && found->region_key != region_key)
		found = pm_frame_at(found, block->frame_size, -1);
	if (found == block->frames) {
		PM_ADD(block->thread->record->unmatched_ends, 1);
		block->in_cold = 0;
		block->gate = pm_frame_at(frame, block->frame_size, 1);
		return;
	}
	for (; frame != found; frame = pm_frame_at(frame, block->frame_size, -1)) {
		PM_COUNT32(frame->node->mismatched_ends, 1);
		PM_PUT(frame->node, NULL);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
	block->gate = pm_frame_at(found, block->frame_size, 1);
	call(&perfmon_region_end_armed, region);
}

struct pm_frame *pm_region_resync(struct pm_thread_block *block, struct pm_frame *frame)
{
	struct pm_frame *first = pm_frame_at(block->frames, block->frame_size, 1);

	PM_ADD(block->thread->record->lost_other, frame_depth(block, frame) - 1);
	while (frame != first) {
		frame = pm_frame_at(frame, block->frame_size, -1);
		PM_PUT(frame->node, NULL);
	}
	block->arm_generation = PM_GET(pm_region_general.generation);
	return first;
}

/* --- the public calls ---------------------------------------------------------------- */

PM_EXPORT void perfmon_region_begin(struct perfmon_region *region)
{
	call(&perfmon_region_begin_armed, region);
}

PM_EXPORT void perfmon_region_end(struct perfmon_region *region)
{
	call(&perfmon_region_end_armed, region);
}

static void set_armed(bool on)
{
	struct pm_still still;

	pm_kernel_still_begin(&still);
	pm_thread_busy++;
	if (!pm_process_init()) {
		pm_process_acquire();
		pm_process_arm(on);
		pm_process_release();
	}
	pm_thread_busy--;
	pm_kernel_still_end(&still);
}

PM_EXPORT void perfmon_region_arm(void)
{
	set_armed(true);
}

PM_EXPORT void perfmon_region_disarm(void)
{
	set_armed(false);
}

/* The thread's cache of names, by a hash of at most 16 bytes: a hit is proven by a
 * comparison of the whole name. */
static struct perfmon_region *cached(const char *name)
{
	struct pm_thread_block *block = pm_thread_block;
	struct perfmon_region **entry, *region;
	struct pm_frame *gate = block->gate;
	uint32_t hash = 2166136261u;
	int i;

	for (i = 0; i < 16 && name[i]; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	entry = &block->name_cache[(hash ^ hash >> 16) % PM_NAME_CACHE];
	region = *entry;
	if (region && !strncmp(region->name, name, PM_REGION_NAME_MAX))
		return region;
	if (!gate && (block->in_cold || !block->overflow)) {
		if (!reopen(block))
			return NULL;
		gate = block->gate;
	}
	/* A handler that comes in between must not ask for the lock that we may hold. */
	block->gate = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	region = pm_region_of_name(name);
	if (region)
		*entry = region;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->in_cold = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	block->gate = gate;
	return region;
}

PM_EXPORT void perfmon_region_begin_name(const char *name)
{
	static struct perfmon_region nameless = PERFMON_REGION_INIT(NULL);
	struct perfmon_region *region = &nameless;

	if (!__atomic_load_n(&perfmon_region_begin_armed, __ATOMIC_RELAXED))
		return;
	if (pm_thread_block == &pm_thread_block_none && !first_use())
		return;
	if (wiped(pm_thread_block))
		return;
	if (name)
		region = cached(name);
	call(&perfmon_region_begin_armed, region ? region : &nameless);
}

PM_EXPORT void perfmon_region_end_name(const char *name)
{
	static struct perfmon_region nameless = PERFMON_REGION_INIT(NULL);
	struct perfmon_region *region = &nameless;

	if (!__atomic_load_n(&perfmon_region_end_armed, __ATOMIC_RELAXED))
		return;
	if (pm_thread_block == &pm_thread_block_none) {
		end_without_thread();
		return;
	}
	if (wiped(pm_thread_block))
		return;
	if (name)
		region = cached(name);
	call(&perfmon_region_end_armed, region ? region : &nameless);
}

PM_EXPORT const char *perfmon_region_counter(uint32_t i)
{
	if (pm_process_phase() != PM_PROCESS_READY || i >= pm_process.plan.count)
		return NULL;
	return pm_process.plan.list->events[i].name;
}

/* Whether an ancestor of NODE visits the same region: its values hold NODE's already. */
static bool inside_itself(const struct perfmon_profile_thread *record,
			  const struct perfmon_profile_node *node)
{
	uint32_t region = node->region;

	while (node->parent > 1) {
		node = pm_thread_node(record, node->parent);
		if (node->region == region)
			return true;
	}
	return false;
}

PM_EXPORT int perfmon_region_read(const char *name, struct perfmon_region_values *values)
{
	struct pm_thread_block *block = pm_thread_block;
	struct perfmon_region_values sum = {.size = sizeof(sum)};
	struct perfmon_profile_thread *record;
	const struct perfmon_region *region;
	uint32_t id, number, i;
	int err = PM_STRUCT_CHECK(values, perfmon_region_values, sum);
	bool found = false;
	double ticks = 0;

	if (!name || err)
		return err ?: -EINVAL;
	if (!block->alive)
		return -ENOENT;
	if ((block->in_cold || (!block->gate && !block->overflow)) && !reopen(block))
		return -EBUSY;
	region = pm_registry_find(name);
	if (!region)
		return -ENOENT;
	id = region_id(region->key);
	record = block->thread->record;
	sum.counters = block->columns;
	for (i = 0; i < sum.counters; i++)
		if (PM_GET(record->status[i]) > 0)
			sum.counted |= 1u << i;
	for (number = 2; number <= record->node_count; number++) {
		const struct perfmon_profile_node *node = pm_thread_node(record, number);

		if (node->region != id)
			continue;
		found = true;
		sum.visits += node->sequence / 2;
		sum.entered += node->entered;
		if (inside_itself(record, node))
			continue;
		ticks += (double)node->time_ticks;
		for (i = 0; i < sum.counters; i++) {
			sum.sum[i] += node->count[i].sum;
			if (node->count[i].lost_ns || node->dropped_counts ||
			    node->defects)
				sum.counted &= ~(1u << i);
		}
	}
	if (!found)
		return -ENOENT;
	sum.time_ns = pm_clock_ticks_ns(ticks);
	pm_struct_fill(values, &sum, sizeof(sum));
	return 0;
}
