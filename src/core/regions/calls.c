/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public calls of perfmon/region.h. */
#include <errno.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/api/message.h"
#include "core/kernel/clock.h"
#include "core/kernel/kernel.h"
#include "core/regions/task.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/registry.h"
#include "core/regions/slow/setup.h"
#include "core/regions/slow/slow.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/thread.h"
#include "core/settings/variables.h"
#include "fastpath/fastpath.h"

/* Visits without a name are counted as lost. */
static struct perfmon_region nameless = PERFMON_REGION_INIT(NULL);

PM_EXPORT void perfmon_region_begin(struct perfmon_region *region)
{
	if (unlikely(!region))
		region = &nameless;
	pm_region_call(&perfmon_region_begin_armed, region);
}

PM_EXPORT void perfmon_region_end(struct perfmon_region *region)
{
	if (unlikely(!region))
		region = &nameless;
	pm_region_call(&perfmon_region_end_armed, region);
}

/* Adds MORE to the number of disarms and returns it, or -EPERM. */
static int disarmed(int more)
{
	struct pm_still still;
	int count;

	pm_kernel_still_begin(&still);
	pm_thread_busy++;
	count = pm_regions_init();
	if (!count) {
		pm_regions_acquire();
		count = pm_regions_disarmed(more);
		pm_task_calls_choose();
		pm_regions_release();
	}
	pm_thread_busy--;
	pm_kernel_still_end(&still);
	return count;
}

PM_EXPORT void perfmon_region_arm(void)
{
	disarmed(-1);
}

PM_EXPORT void perfmon_region_disarm(void)
{
	disarmed(1);
}

PM_EXPORT int perfmon_region_disarmed(void)
{
	return disarmed(0);
}

/* Finds NAME in the thread's cache, by a hash of at most 16 bytes. A hit is verified by
 * comparing the whole name. */
static struct perfmon_region *cached(const char *name)
{
	struct pm_thread_block *block = pm_thread_block;
	struct perfmon_region **entry, *region;
	struct pm_frame *top;
	uint32_t hash = 2166136261u;
	int i;

	for (i = 0; i < 16 && name[i]; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	entry = &block->name_cache[(hash ^ hash >> 16) % PM_NAME_CACHE];
	region = *entry;
	if (region && !strncmp(region->name, name, PM_REGION_NAME_MAX))
		return region;
	if (!pm_slow_reopen(block))
		return NULL;
	top = block->top;
	/* A signal handler that interrupts this must not wait for the lock that we may
	 * hold. */
	block->top = NULL;
	SIGNAL_FENCE();
	block->in_slow = 1;
	SIGNAL_FENCE();
	region = pm_region_of_name(name, true);
	if (region)
		*entry = region;
	pm_slow_open(block, top);
	return region;
}

INLINE void begin_name(const char *name, unsigned int use)
{
	struct perfmon_region *region = &nameless;

	if (!__atomic_load_n(&perfmon_region_begin_armed, __ATOMIC_RELAXED))
		return;
	if (!pm_slow_begins())
		return;
	if (name) {
		pm_regions_note_use(use);
		region = cached(name);
	}
	pm_region_call(&perfmon_region_begin_armed, region ? region : &nameless);
}

PM_EXPORT void perfmon_region_begin_name(const char *name)
{
	begin_name(name, PM_REGIONS_REPORTED);
}

PM_EXPORT void perfmon_region_begin_name_quiet(const char *name)
{
	begin_name(name, PM_REGIONS_QUIET);
}

PM_EXPORT void perfmon_region_end_name(const char *name)
{
	struct perfmon_region *region = &nameless;

	if (!__atomic_load_n(&perfmon_region_end_armed, __ATOMIC_RELAXED))
		return;
	if (!pm_slow_ends(name))
		return;
	if (name)
		region = cached(name);
	pm_region_call(&perfmon_region_end_armed, region ? region : &nameless);
}

PM_EXPORT const char *perfmon_region_counter(uint32_t i)
{
	if (pm_regions_phase() != PM_REGIONS_READY || i >= pm_regions.plan.count)
		return NULL;
	return pm_regions.plan.list->events[i].name;
}

/* Returns whether an ancestor of NODE visits the same region: its values include
 * NODE's. */
static bool inside_itself(const struct perfmon_profile_thread *record,
			  const struct perfmon_profile_node *node)
{
	uint32_t region = node->region;

	while (node->parent > 1) {
		node = pm_thread_node(record, node->parent);
		/* An adopted one has no values of this thread. */
		if (node->region == region && !pm_node_is_adopted(node))
			return true;
	}
	return false;
}

/* Returns the ended visits of NODE, or those for which its measured visits stand. */
static uint64_t worth(const struct pm_thread_block *block,
		      const struct perfmon_profile_node *node)
{
	return pm_region_general.stride ? pm_node_stride(node, block->columns)->weight
					: node->sequence / 2;
}

/* The status of a count without visits, of a counter that stands as OPENED says. */
static uint32_t status_of(int32_t opened)
{
	if (opened <= 0)
		return PERFMON_VALUE_NEVER_OPENED;
	return PERFMON_VALUE_COUNTED |
	       (opened == PERFMON_PROFILE_COUNTER_STATUS_SYSCALL ? PERFMON_VALUE_SYSCALL
								 : 0);
}

/* STATUS of counter I when the visits of NODE are added. */
static uint32_t status_with(uint32_t status, const struct perfmon_profile_node *node,
			    uint32_t i)
{
	if (status & PERFMON_VALUE_NEVER_OPENED)
		return status;
	if (node->count[i].lost_ns)
		status = (status & ~PERFMON_VALUE_COUNTED) | PERFMON_VALUE_MULTIPLEXED;
	if (node->dropped_counts || node->defects)
		status |= PERFMON_VALUE_PARTIAL;
	return status | (node->fallback_reads ? PERFMON_VALUE_SYSCALL : 0);
}

PM_EXPORT int perfmon_region_read(const char *name,
				  struct perfmon_region_summary *summary,
				  struct perfmon_region_count *counts, size_t count,
				  size_t element_size, uint32_t flags)
{
	struct pm_thread_block *block = pm_thread_block;
	struct perfmon_region_count sums[PERFMON_PROFILE_COUNTERS_MAX] = {0};
	struct perfmon_region_summary sum = {.size = sizeof(sum)};
	struct perfmon_profile_thread *record;
	const struct perfmon_region *region;
	uint32_t id, number, i;
	int err = PM_STRUCT_CHECK(summary, perfmon_region_summary, 40);
	bool found = false;
	double ticks = 0;

	if (!err && (counts || count))
		err = PM_VECTOR_CHECK(counts, count, element_size, PM_VECTOR_IN_OUT,
				      perfmon_region_count, 16);
	if (!name || err || flags)
		return err ?: -EINVAL;
	if (!block->alive)
		return -ENOENT;
	if (!pm_slow_reopen(block))
		return -EBUSY;
	region = pm_registry_find(name);
	if (!region)
		return -ENOENT;
	id = pm_region_id(region->key);
	record = block->thread->record;
	sum.counters = block->columns;
	/* Counts of packages are no thread's. */
	for (i = 0; i < sum.counters; i++)
		sums[i].status =
			status_of(i < block->counters ? PM_GET(record->status[i]) : 0);
	for (number = 2; number <= record->node_count; number++) {
		const struct perfmon_profile_node *node = pm_thread_node(record, number);

		if (node->region != id || pm_node_region_bits(node->flags))
			continue;
		found = true;
		sum.visits += worth(block, node);
		sum.entered += node->entered;
		if (inside_itself(record, node))
			continue;
		ticks += (double)node->time_ticks;
		for (i = 0; i < block->counters; i++) {
			sums[i].value += node->count[i].sum;
			sums[i].status = status_with(sums[i].status, node, i);
		}
	}
	if (!found)
		return -ENOENT;
	sum.time_ns = (uint64_t)(pm_clock_ticks_ns(ticks) + 0.5);
	pm_struct_fill(summary, &sum, sizeof(sum));
	for (i = 0; i < sum.counters && i < count; i++)
		pm_vector_fill(counts, i, element_size, &sums[i], sizeof(sums[i]));
	return 0;
}

/* --- where the code of a region is ------------------------------------------------------ */

static bool code_is_good(const struct pm_registry_code *code)
{
	size_t path = strnlen(code->path, PERFMON_PROFILE_PATH_MAX + 1);
	size_t build = strnlen(code->build_id, PERFMON_PROFILE_BUILD_ID_MAX + 1);

	return path && path <= PERFMON_PROFILE_PATH_MAX &&
	       build <= PERFMON_PROFILE_BUILD_ID_MAX &&
	       strspn(code->build_id, "0123456789abcdef") == build;
}

static bool is_same_code(const struct pm_registry_code *a,
			 const struct pm_registry_code *b)
{
	return a->offset == b->offset && !strcmp(a->path, b->path) &&
	       !strcmp(a->build_id, b->build_id);
}

/* Under PM_LOCK_REGIONS. */
static int set_code(uint32_t id, const struct pm_registry_code *code)
{
	const struct pm_registry_code *old = pm_registry_code(id);
	struct pm_registry_code made = *code;
	int err;

	if (old && (!*old->path || is_same_code(old, code)))
		return 0;
	if (old)
		made = (struct pm_registry_code){.path = "", .build_id = ""};
	/* The profile may not have it: then it is asked for again, which does no harm. */
	err = pm_region_record_code(id, &made);
	if (!err && !pm_registry_set_code(id, &made))
		err = -ENOMEM;
	return err;
}

static int say_code(const char *name, const struct pm_registry_code *code)
{
	const struct perfmon_region *region;
	int err = pm_regions_init();

	if (err)
		return err;
	if (!pm_regions_is_ours())
		return -EPERM;
	region = pm_region_of_name(name, true);
	if (!region)
		return -ENOMEM;
	if (region->key == PM_KEY_LEFT_OUT)
		return 0;
	pm_regions_acquire();
	err = set_code(pm_region_id(region->key), code);
	pm_regions_release();
	return err;
}

PM_EXPORT int perfmon_region_code(struct perfmon_region *region, const char *path,
				  const char *build_id, uint64_t offset)
{
	const struct pm_registry_code code = {offset, build_id ?: "", path ?: ""};
	const char *name = region ? pm_region_name(region) : NULL;
	struct pm_still still;
	int err;

	if (!name || !code_is_good(&code))
		return -EINVAL;
	pm_kernel_still_begin(&still);
	pm_thread_busy++;
	err = say_code(name, &code);
	pm_thread_busy--;
	pm_kernel_still_end(&still);
	return err;
}

/* --- what the environment sets, from the program ---------------------------------------- */

/* Under PM_LOCK_REGIONS. The options of a forked child are its parent's. */
static int set_option(int number, const char *value, struct pm_diag *diag)
{
	if (pm_regions.phase != PM_REGIONS_NEW || pm_regions.options.sample_pages)
		return pm_diag_set(diag, -EBUSY,
				   "a region has been used; configure regions before the "
				   "first one");
	return pm_setting_set(number, value) ? pm_diag_set(diag, -ENOMEM, "out of memory")
					     : 0;
}

PM_EXPORT int perfmon_region_configure(const char *name, const char *value,
				       uint32_t flags, char *message, size_t message_size)
{
	struct pm_diag diag = {0};
	struct pm_still still;
	int result;

	if (!value)
		value = "";
	if (!name)
		result = pm_diag_set(&diag, -EINVAL, "the name is NULL");
	else if (flags)
		result = pm_diag_set(&diag, -EINVAL, "unknown flags 0x%x", flags);
	else
		result = pm_setting_check(name, value, &diag);
	if (result >= 0) {
		pm_kernel_still_begin(&still);
		pm_thread_busy++;
		pm_regions_acquire();
		result = set_option(result, value, &diag);
		pm_regions_release();
		pm_thread_busy--;
		pm_kernel_still_end(&still);
	}
	return pm_message_end(result, diag.text, message, message_size);
}
