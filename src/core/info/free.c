/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the free counters of a core PMU on the caller's CPU. Each counter gets a pinned
 * event, which counts at once or fails and is never multiplexed. Multiplexed events give
 * way to it. So a counter is only in use by pinned events of others (an NMI watchdog), by
 * the firmware, or by the host of a virtual machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/info/info.h"
#include "core/kernel/kernel.h"

struct probe {
	int fd;
	bool counts;
	int32_t number; /* of its counter, -1: not known */
};

static void probe_open(struct probe *probe, const struct pm_sysfs_pmu *pmu,
		       const struct perf_event_attr *from)
{
	struct perf_event_attr attr = *from;

	attr.pinned = 1;
	/* Some drivers report the number only if user reads are requested. */
	attr.config1 |= pm_info_term_bits(pmu, "rdpmc");
	*probe = (struct probe){.fd = pm_info_open(&attr, -1, false), .number = -1};
	if (probe->fd == -EINVAL || probe->fd == -EOPNOTSUPP) {
		attr.config1 = from->config1;
		probe->fd = pm_info_open(&attr, -1, false);
	}
}

static void probe_look(struct probe *probe)
{
	const struct perf_event_mmap_page *page;
	void *memory;
	uint64_t value;

	if (probe->fd < 0)
		return;
	/* A read of 0 bytes means that a pinned event did not fit. */
	probe->counts = pm_kernel_read(probe->fd, &value, sizeof(value)) > 0;
	if (!probe->counts || pm_kernel_mmap(&memory, pm_kernel_page_size(), PROT_READ,
					     MAP_SHARED, probe->fd, 0))
		return;
	page = memory;
	probe->number = (int32_t)page->index - 1;
	pm_kernel_munmap(memory, pm_kernel_page_size());
}

struct walk {
	int (*visit)(const struct perfmon_info_counter *counter, void *argument);
	void *argument;
};

static int show(const struct walk *walk, int32_t number, const char *event,
		uint32_t state)
{
	const struct perfmon_info_counter counter = {.size = sizeof(counter),
						     .number = number,
						     .state = state,
						     .event = event};

	return walk->visit(&counter, walk->argument);
}

static const struct probe *find(const struct probe *probes, int count, int32_t number)
{
	for (int i = 0; i < count; i++)
		if (probes[i].counts && probes[i].number == number)
			return &probes[i];
	return NULL;
}

/* Shows the counters that count any event: by number if the pages have it, else the
 * number of counters in each state. If nothing came on the hardware, all are DISABLED. */
static int show_programmable(const struct walk *walk, const struct probe *probes,
			     int count, uint32_t taken)
{
	int unknown = 0, result = 0;

	for (int i = 0; i < count; i++)
		unknown += probes[i].counts &&
			   (probes[i].number < 0 || probes[i].number >= count);
	for (int i = 0, free = 0; !result && i < count; i++) {
		if (!unknown) {
			result = show(walk, i, "",
				      find(probes, count, i)
					      ? PERFMON_INFO_COUNTER_STATE_FREE
					      : taken);
			continue;
		}
		for (; free < count && !probes[free].counts; free++)
			;
		result = show(walk, -1, "",
			      free++ < count ? PERFMON_INFO_COUNTER_STATE_FREE : taken);
	}
	return result;
}

static int try_counters(const struct pm_sysfs_pmu *pmu, const struct walk *walk)
{
	struct perfmon_pmu_info info = {0};
	struct pm_info_found found;
	struct probe probes[PM_INFO_COUNTERS + PM_INFO_FIXED];
	uint32_t taken = PERFMON_INFO_COUNTER_STATE_DISABLED;
	int count = 0, all, result;

	pm_info_try(pmu, &info, &found);
	if (info.programmable < 0)
		return found.error ? found.error : -ENODATA;
	for (; count < info.programmable; count++)
		probe_open(&probes[count], pmu, &found.filler);
	for (all = count; all - count < found.fixed_count; all++)
		probe_open(&probes[all], pmu, &found.fixed[all - count]);
	for (int i = 0; i < all; i++) {
		probe_look(&probes[i]);
		if (probes[i].counts)
			taken = PERFMON_INFO_COUNTER_STATE_HELD;
	}
	result = show_programmable(walk, probes, count, taken);
	for (int i = count; !result && i < all; i++)
		result = show(walk, probes[i].number, found.fixed_names[i - count],
			      probes[i].counts ? PERFMON_INFO_COUNTER_STATE_FREE : taken);
	for (int i = all; i-- > 0;)
		if (probes[i].fd >= 0)
			pm_kernel_close(probes[i].fd);
	return result;
}

PM_EXPORT int perfmon_info_counters(
	const char *pmu,
	int (*visit)(const struct perfmon_info_counter *counter, void *argument),
	void *argument)
{
	const struct walk walk = {visit, argument};
	struct pm_sysfs_pmu *found;
	struct pm_sysfs *sysfs;
	int result;

	if (!pmu || !visit)
		return -EINVAL;
	result = pm_sysfs_load(&sysfs);
	if (result)
		return result;
	found = pm_sysfs_by_name(sysfs, pmu);
	result = !found ? -ENOENT : found->core ? pm_sysfs_pmu_load(found) : -EOPNOTSUPP;
	if (!result)
		result = try_counters(found, &walk);
	pm_sysfs_free(sysfs);
	return result;
}
