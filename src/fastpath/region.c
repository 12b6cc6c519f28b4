/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BEGIN and END as ordinary functions, and which functions programs call. */
#include "fastpath/forms.h"

#include <time.h>

#include "perfmon/quantity.h"
#include "perfmon/task.h"

/* A block whose stack never opens, for threads before set-up and after their end. */
struct pm_thread_block pm_thread_block_none;
__thread struct pm_thread_block *pm_thread_block
	__attribute__((tls_model("initial-exec"))) = &pm_thread_block_none;

PM_REGION_EXPORT extern __thread struct perfmon_quantity_thread
	*perfmon_quantity_thread_one
	__attribute__((tls_model("initial-exec"), alias("pm_thread_block")));
PM_REGION_EXPORT extern __thread void *perfmon_task_thread
	__attribute__((tls_model("initial-exec"), alias("pm_thread_block")));

struct pm_region_general pm_region_general;

uint64_t pm_region_step_due[PERFMON_PROFILE_STEPS_MAX + 1] = {UINT64_MAX};

struct pm_region_calls pm_region_ordinary = {begin_first, end_first};

PM_REGION_EXPORT void (*perfmon_region_begin_armed)(struct perfmon_region *) =
	begin_first;
PM_REGION_EXPORT void (*perfmon_region_end_armed)(struct perfmon_region *) = end_first;

#if PERFMON_ARCH_KEEPS
void pm_region_begin_ordinary(struct perfmon_region *region)
{
	PM_GET(pm_region_ordinary.begin)(region);
}

void pm_region_end_ordinary(struct perfmon_region *region)
{
	PM_GET(pm_region_ordinary.end)(region);
}
#endif

int pm_region_is_surrounded;
static struct pm_region_calls surround, *surrounded;

void pm_region_calls_surround(void (*begins)(struct perfmon_region *),
			      void (*ends)(struct perfmon_region *),
			      struct pm_region_calls *form)
{
	surround.begin = begins;
	surround.end = ends;
	surrounded = form;
	pm_region_is_surrounded = 1;
}

void pm_region_calls_arm(uint32_t counters, int plain, int stride)
{
	uint32_t specialised = plain && counters < FORM_general ? counters : FORM_general;
	uint32_t form = stride ? FORM_strided : specialised;
	struct pm_region_calls calls = form_for(form);

	if (pm_region_is_surrounded) {
		PM_PUT(surrounded->begin, calls.begin);
		PM_PUT(surrounded->end, calls.end);
		calls = surround;
	}
	PM_PUT(pm_region_ordinary.begin, calls.begin);
	PM_PUT(pm_region_ordinary.end, calls.end);
	/* Sites load these relaxed, so that no acquire pairs with this. A thread that is not set up
	 * acquires the phase of regions (pm_regions_phase()) before it uses what others wrote. */
	__atomic_store_n(&perfmon_region_begin_armed, calls.begin, __ATOMIC_RELEASE);
	__atomic_store_n(&perfmon_region_end_armed, calls.end, __ATOMIC_RELEASE);
#if PERFMON_ARCH_KEEPS
	pm_region_kept_arm(form);
#endif
}

void pm_region_calls_disarm(void)
{
	/* No acquire pairs with this: a site that still finds the code of before may use it. */
	__atomic_store_n(&perfmon_region_begin_armed, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&perfmon_region_end_armed, NULL, __ATOMIC_RELEASE);
#if PERFMON_ARCH_KEEPS
	pm_region_kept_disarm();
#endif
}

int pm_region_calls_are_armed(void)
{
	return __atomic_load_n(&perfmon_region_begin_armed, __ATOMIC_RELAXED) != NULL;
}

uint64_t pm_region_monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void pm_region_stride_add(const struct pm_thread_block *block,
			  struct perfmon_profile_node *node, uint64_t ticks,
			  const int64_t *difference)
{
	struct perfmon_profile_stride *stride = pm_node_stride(node, block->columns);

	pm_stride_add_time(node, stride, ticks);
	for (uint32_t i = 0; i < block->counters; i++)
		pm_stride_add_count(node, stride, i, difference[i]);
}
