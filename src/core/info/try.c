/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the capabilities of a core PMU, and its free counters, by trying. */
#include <errno.h>
#include <stdio.h>

#include "core/info/info.h"

#include "core/api/export.h"
#include "core/counters/counters.h"
#include "core/kernel/kernel.h"

/* The results of opening events. */
struct found {
	int error; /* negative errno of the event that counts anywhere */
	struct perf_event_attr filler;
	int fixed_count;
	struct perf_event_attr fixed[PM_INFO_FIXED];
	const char *fixed_names[PM_INFO_FIXED];
};

int pm_info_open(const struct perf_event_attr *from, int group, bool leads)
{
	struct perf_event_attr attr = *from;
	int fd;

	attr.size = sizeof(attr);
	attr.disabled = leads;
	do
		fd = pm_kernel_perf_event_open(&attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
	while (fd == -EINTR);
	return fd;
}

/* Opens the event NAME of PMU in user mode. Returns 0, with LIST to free, if it opens. */
static int find_event(const struct pm_sysfs_pmu *pmu, const char *name,
		      struct pm_event_list **list)
{
	char text[256];
	int fd;

	snprintf(text, sizeof(text), "%s/%s/", pmu->name, name);
	if (pm_events_parse(text, PM_EVENTS_USER_ONLY, list, NULL))
		return -ENOENT;
	fd = pm_info_open(&(*list)->events[0].attr, -1, true);
	if (fd >= 0) {
		pm_kernel_close(fd);
		return 0;
	}
	pm_events_free(*list);
	*list = NULL;
	return fd;
}

/*
 * A group that grows. A software event leads it, because drivers check a group by its
 * enabled members, and a leader waits disabled. No event of it ever runs.
 */
struct group {
	int fds[PM_INFO_COUNTERS + 4];
	int count; /* with the leader */
};

static bool group_begin(struct group *group)
{
	struct perf_event_attr dummy =
		pm_user_mode_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fd = pm_info_open(&dummy, -1, true);

	group->count = fd >= 0;
	group->fds[0] = fd;
	return fd >= 0;
}

/* Returns 1 if it joined, 0 if it does not fit, or another errno. */
static int group_join(struct group *group, const struct perf_event_attr *attr)
{
	int fd = pm_info_open(attr, group->fds[0], false);

	if (fd < 0)
		return fd == -EINVAL || fd == -ENOSPC ? 0 : fd;
	group->fds[group->count++] = fd;
	return 1;
}

/* Counts how many of FILLER fit, and how many events with possible counters of their own
 * fit beside them. */
static void count_counters(const struct pm_sysfs_pmu *pmu, struct perfmon_pmu_info *info,
			   struct found *found)
{
	static const char *const own[PM_INFO_FIXED] = {"cycles", "instructions",
						       "ref-cycles"};
	const struct perf_event_attr *filler = &found->filler;
	struct group group;
	int joined = 1;

	if (!group_begin(&group))
		return;
	while (joined > 0 && group.count <= PM_INFO_COUNTERS)
		joined = group_join(&group, filler);
	if (!joined) {
		info->programmable = group.count - 1;
		for (size_t i = 0; joined >= 0 && i < PM_INFO_FIXED; i++) {
			struct pm_event_list *list;

			if (find_event(pmu, own[i], &list))
				continue;
			joined = group_join(&group, &list->events[0].attr);
			if (joined > 0) {
				found->fixed_names[found->fixed_count] = own[i];
				found->fixed[found->fixed_count++] = list->events[0].attr;
			}
			pm_events_free(list);
		}
		if (joined >= 0)
			info->fixed = found->fixed_count;
	}
	while (group.count)
		pm_kernel_close(group.fds[--group.count]);
}

/* Returns the bits of config1 with which the term NAME of PMU requests something. */
static uint64_t term_bits(const struct pm_sysfs_pmu *pmu, const char *name)
{
	const struct pm_sysfs_term *term = pm_sysfs_term_find(pmu, pm_slice_of(name));

	return term && term->config == 1 ? term->mask : 0;
}

/*
 * Returns the width of an event's counter, or -1, and whether the page grants reads. With
 * some drivers (arm64) the event must request these, and all bits of the counter. They
 * refuse what the hardware cannot do.
 */
static int32_t width_of(const struct pm_sysfs_pmu *pmu,
			const struct perf_event_attr *from, bool *user_read)
{
	uint64_t user = term_bits(pmu, "rdpmc"), whole = term_bits(pmu, "long");
	const uint64_t asked[] = {user | (user ? whole : 0), user, 0};
	int32_t width = -1;

	for (size_t i = 0; width < 0 && i < sizeof(asked) / sizeof(asked[0]); i++) {
		struct perf_event_attr attr = *from;
		struct perf_event_mmap_page *page;
		void *memory;
		int fd;

		if (i && asked[i] == asked[i - 1])
			continue;
		attr.config1 |= asked[i];
		/* The event runs: riscv64 grants no reads and reports no width before. */
		fd = pm_info_open(&attr, -1, false);
		if (fd < 0)
			continue;
		if (!pm_kernel_mmap(&memory, pm_kernel_page_size(), PROT_READ, MAP_SHARED,
				    fd, 0)) {
			page = memory;
			if (page->pmc_width)
				width = page->pmc_width;
			*user_read |= page->cap_user_rdpmc && pm_instance_user_access();
			pm_kernel_munmap(memory, pm_kernel_page_size());
		}
		pm_kernel_close(fd);
	}
	return width;
}

static void try_overflow(const struct perf_event_attr *from,
			 struct perfmon_pmu_info *info)
{
	struct perf_event_attr attr = *from;
	int fd;

	attr.sample_period = 1000000000;
	fd = pm_info_open(&attr, -1, true);
	if (fd >= 0)
		info->capabilities |= PERFMON_PMU_CAPABILITY_OVERFLOW;
	if (fd >= 0 || fd == -EOPNOTSUPP || fd == -EINVAL)
		info->capabilities_known |= PERFMON_PMU_CAPABILITY_OVERFLOW;
	if (fd >= 0)
		pm_kernel_close(fd);
}

static void try_pmu(const struct pm_sysfs_pmu *pmu, struct perfmon_pmu_info *info,
		    struct found *found)
{
	/* The first that opens is used. Those at the front never have a counter of their
	 * own. The last ones show at least that an event opens. */
	static const char *const fillers[] = {"branch-misses",
					      "branch-instructions",
					      "cache-references",
					      "cache-misses",
					      "sw_incr",
					      "instructions",
					      "cycles"};
	struct pm_event_list *list = NULL, *cycles = NULL;
	bool user_read = false;
	int err = -ENOENT;

	*found = (struct found){0};
	info->programmable = info->fixed = -1;
	info->width_bits = info->fixed_width_bits = -1;
	for (size_t i = 0; err && i < sizeof(fillers) / sizeof(fillers[0]); i++)
		err = find_event(pmu, fillers[i], &list);
	info->capabilities_known |= PERFMON_PMU_CAPABILITY_OPENS;
	found->error = err;
	if (err)
		return;
	found->filler = list->events[0].attr;
	info->capabilities |= PERFMON_PMU_CAPABILITY_OPENS;
	if (!pm_event_mode_is_ignored(&list->events[0]))
		info->capabilities |= PERFMON_PMU_CAPABILITY_MODES;
	info->capabilities_known |=
		PERFMON_PMU_CAPABILITY_MODES | PERFMON_PMU_CAPABILITY_USER_READ;
	info->width_bits = width_of(pmu, &list->events[0].attr, &user_read);
	try_overflow(&list->events[0].attr, info);
	count_counters(pmu, info, found);
	if (info->fixed > 0 && !find_event(pmu, "cycles", &cycles)) {
		info->fixed_width_bits =
			width_of(pmu, &cycles->events[0].attr, &user_read);
		pm_events_free(cycles);
	}
	if (user_read)
		info->capabilities |= PERFMON_PMU_CAPABILITY_USER_READ;
	pm_events_free(list);
}

void pm_info_try(const struct pm_sysfs_pmu *pmu, struct perfmon_pmu_info *info)
{
	struct found found;

	try_pmu(pmu, info, &found);
}

/*
 * Each counter gets a pinned event, which counts at once or fails and is never multiplexed.
 * Multiplexed events give way to it. So a counter is only in use by pinned events of others
 * (an NMI watchdog), by the firmware, or by the host of a virtual machine.
 */
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
	attr.config1 |= term_bits(pmu, "rdpmc");
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

/* Returns whether one of the first COUNT probes counts on the counter NUMBER. */
static bool came_to(const struct probe *probes, int count, int32_t number)
{
	for (int i = 0; i < count; i++)
		if (probes[i].counts && probes[i].number == number)
			return true;
	return false;
}

/* Lists the counters of PMU: those that count any event by number if the pages have it, else
 * the number of counters in each state. If nothing came on the hardware, all are DISABLED.
 * Returns how many there are, or a negative errno. */
static int
list_counters(const struct pm_sysfs_pmu *pmu,
	      struct perfmon_info_counter list[PM_INFO_COUNTERS + PM_INFO_FIXED])
{
	struct perfmon_pmu_info info = {0};
	struct found found;
	struct probe probes[PM_INFO_COUNTERS + PM_INFO_FIXED];
	uint32_t taken = PERFMON_INFO_COUNTER_STATE_DISABLED;
	int count, all, counting = 0;
	bool unknown = false;

	try_pmu(pmu, &info, &found);
	if (info.programmable < 0)
		return found.error ? found.error : -ENODATA;
	count = info.programmable;
	all = count + found.fixed_count;
	for (int i = 0; i < all; i++)
		probe_open(&probes[i], pmu,
			   i < count ? &found.filler : &found.fixed[i - count]);
	for (int i = 0; i < all; i++) {
		probe_look(&probes[i]);
		if (!probes[i].counts)
			continue;
		taken = PERFMON_INFO_COUNTER_STATE_HELD;
		counting += i < count;
		unknown |=
			i < count && (probes[i].number < 0 || probes[i].number >= count);
	}
	for (int i = 0; i < all; i++) {
		bool fixed = i >= count;
		bool is_free = fixed	 ? probes[i].counts
			       : unknown ? i < counting
					 : came_to(probes, count, i);

		list[i] = (struct perfmon_info_counter){
			.size = sizeof(list[i]),
			.number = fixed	    ? probes[i].number
				  : unknown ? -1
					    : i,
			.state = is_free ? PERFMON_INFO_COUNTER_STATE_FREE : taken,
			.event = fixed ? found.fixed_names[i - count] : "",
		};
	}
	for (int i = all; i-- > 0;)
		if (probes[i].fd >= 0)
			pm_kernel_close(probes[i].fd);
	return all;
}

PM_EXPORT int perfmon_info_counters(
	const char *pmu,
	int (*visit)(const struct perfmon_info_counter *counter, void *argument),
	void *argument)
{
	struct perfmon_info_counter list[PM_INFO_COUNTERS + PM_INFO_FIXED];
	struct pm_sysfs_pmu *found;
	struct pm_sysfs *sysfs;
	int result, count = 0;

	if (!pmu || !visit)
		return -EINVAL;
	result = pm_sysfs_load(&sysfs);
	if (result)
		return result;
	found = pm_sysfs_by_name(sysfs, pmu);
	result = !found ? -ENOENT : found->core ? pm_sysfs_pmu_load(found) : -EOPNOTSUPP;
	if (!result)
		count = list_counters(found, list);
	if (count < 0)
		result = count;
	for (int i = 0; !result && i < count; i++)
		result = visit(&list[i], argument);
	pm_sysfs_free(sysfs);
	return result;
}
