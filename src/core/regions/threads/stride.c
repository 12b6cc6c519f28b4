/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses strides. At first all visits of a path are measured, so that a path that is visited
 * seldom has its values. A stride that was requested begins after as many visits as it is
 * long, or after LOOK.
 *
 * With automatic strides, after LOOK visits and after each further LOOK measured ones, the
 * cost of the path's visits is compared with the elapsed time. If the path exceeds its limit, its stride becomes the one that would have
 * kept it. Paths with a raised stride share the limit of the thread, so that all of them
 * together keep it; the others do not matter. A stride never decreases.
 */
#include "core/kernel/clock.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/registry.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/thread.h"

/* Regions with fewer visits are measured completely. */
#define LOOK 1000
/* If skipping a visit costs more than the path's limit, measuring takes this part of that
 * cost. */
#define PART	    0.1
#define STRIDE_MOST (1u << 24)
/* In `looked`: no time, but the stride that was requested. */
#define REQUESTED (UINT64_C(1) << 63)

void pm_stride_begin(struct perfmon_profile_stride *stride, uint32_t id)
{
	uint64_t seed = pm_clock_ticks() ^ (uint64_t)(uintptr_t)stride, first;
	const char *name = "";
	uint32_t visits;

	for (uint32_t i = 0; i < pm_regions.options.stride_count && !*name; i++)
		if (pm_regions.options.strides[i].name)
			name = pm_registry_name(id);
	visits = pm_options_stride(&pm_regions.options, name);
	first = visits && visits < LOOK ? visits : LOOK;
	PM_PUT(stride->stride, 1);
	PM_PUT(stride->worth, 1);
	PM_PUT(stride->until, visits == 1 ? UINT64_MAX : first);
	PM_PUT(stride->looked, visits ? REQUESTED | visits : pm_clock_ticks());
	/* Close seeds must not give similar numbers, and xorshift cannot leave 0. */
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	PM_PUT(stride->random, (seed ^ seed >> 31) | 1);
	pm_stride_draw(stride);
}

/* Begins the runs of a STRIDE after a measured visit. */
static void stride_set(struct perfmon_profile_stride *s, uint64_t stride)
{
	if (s->stride == 1)
		PM_PUT(s->whole, s->weight);
	PM_PUT(s->stride, stride);
	PM_PUT(s->worth, stride);
	PM_PUT(s->left, 0);
	pm_stride_draw(s);
}

/* Returns the ticks of a measured visit of this path, by its way of reading; 0: not
 * known. */
static double pair_ticks(const struct perfmon_profile_node *node)
{
	const struct perfmon_profile_cost *cost = &pm_regions.plan.time;
	/* Pairs with the release store in another thread that has measured it. */
	uint32_t known = __atomic_load_n(&cost->known, __ATOMIC_ACQUIRE);

	if (known & PERFMON_PROFILE_COST_CALL &&
	    (node->fallback_reads > LOOK / 2 || !(known & PERFMON_PROFILE_COST_USER)))
		return PM_GET(cost->call_pair);
	return known & PERFMON_PROFILE_COST_USER ? PM_GET(cost->pair) : 0;
}

/* Returns the stride for VISITS in TICKS, of which measuring may take LIMIT. */
static uint64_t stride_for(double visits, double ticks, double limit, double pair,
			   double skipped)
{
	/* The allowed cost of a visit beyond the cost of skipping it. */
	double room = limit * ticks / visits - skipped;

	if (room < PART * skipped)
		room = PART * skipped;
	if (!(pair > skipped) || !(room > 0))
		return 1;
	return (pair - skipped) / room < STRIDE_MOST
		       ? (uint64_t)((pair - skipped) / room) + 1
		       : STRIDE_MOST;
}

void pm_region_stride_look(struct pm_thread_block *block,
			   const struct perfmon_profile_node *node)
{
	struct perfmon_profile_stride *s = pm_node_stride(node, block->columns);
	struct pm_thread *thread = block->thread;
	uint64_t now = pm_clock_ticks(), last = s->looked, stride;
	double ticks = (double)(now - last), visits = (double)(LOOK * s->stride);
	double pair = pair_ticks(node), skipped = PM_GET(pm_regions.plan.time.skipped);
	double share = pm_regions.options.stride_auto;
	double spent = LOOK * pair + (visits - LOOK) * skipped;

	if (last & REQUESTED) {
		PM_PUT(s->until, UINT64_MAX);
		stride_set(s, last & ~REQUESTED);
		return;
	}
	PM_PUT(s->until, LOOK);
	PM_PUT(s->looked, now);
	if (spent <= share * ticks / (thread->strided ? thread->strided : 1))
		return;
	if (s->stride == 1)
		thread->strided++;
	stride = stride_for(visits, ticks, share / thread->strided, pair, skipped);
	if (stride > s->stride)
		stride_set(s, stride);
}
