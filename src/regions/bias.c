/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/bias.h"

#include <string.h>

#include "fastpath/fastpath.h"
#include "os/os.h"
#include "regions/state.h"
#include "regions/thread.h"

#define MOST PERFMON_PROFILE_COUNTERS_MAX

#define PAIRS	   32 /* as the counters are read */
#define PAIRS_CALL 8  /* by read(2), where that is not what they are */
/* Longer than events that share the hardware wait for their time slice: the kernel's are of 4 ms. */
#define SLICES_NS 20000000

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

/* PAIRS empty visits to NODE. One whose page changed is no measure, and none of a counter
 * that was not on the hardware. */
static void measure(const struct pm_thread_block *block,
		    struct perfmon_profile_node *node, int pairs, struct least *least)
{
	struct perfmon_profile_count before[MOST];

	while (pairs--) {
		uint32_t i, by_call = node->fallback_reads, retries = node->retries;

		for (i = 0; i < block->counters; i++)
			before[i] = node->count[i];
		visit_empty();
		if (node->retries != retries)
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
			&pm_regions.plan.record->counter[i];
		uint64_t call = least->count[1][i];
		uint32_t known = 0;

		if (least->known[0] >> i & 1) {
			known |= PERFMON_PROFILE_BIAS_USER;
			PM_PUT(counter->bias, least->count[0][i]);
		}
		if (least->known[1] >> i & 1) {
			known |= PERFMON_PROFILE_BIAS_CALL;
			PM_PUT(counter->call_bias,
			       call < UINT32_MAX ? (uint32_t)call : UINT32_MAX);
		}
		PM_PUT(counter->bias_known, known);
	}
}

void pm_bias_measure(void)
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
	       pm_clock_ticks_ns((double)(pm_clock_ticks() - begin)) < SLICES_NS);
	if (!least.known[1]) {
		uint32_t time_view = block->time_view;

		hide_pages(block);
		measure(block, &scratch.node, PAIRS_CALL, &least);
		show_pages(block, time_view);
	}
	slot->key = 0;
	record_bias(block, &least);
}
