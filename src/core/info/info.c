/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of information: perfmon/info.h. */
#include "core/info/info.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/counters/counters.h"
#include "core/kernel/clock.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/settings/options.h"
#include "core/topology/topology.h"
#include "core/valgrind/exact.h"

uint32_t pm_info_paranoid_allows(int level)
{
	return (level <= 2 ? PERFMON_INFO_ALLOWS_USER : 0) |
	       (level <= 1 ? PERFMON_INFO_ALLOWS_KERNEL : 0) |
	       (level <= 0 ? PERFMON_INFO_ALLOWS_CPU : 0) |
	       (level <= -1 ? PERFMON_INFO_ALLOWS_RAW : 0);
}

static int32_t setting(const char *path)
{
	int64_t value;

	if (pm_file_number(path, &value) || value < 0 || value > INT32_MAX)
		return -1;
	return (int32_t)value;
}

static void limit(int resource, uint64_t *soft, uint64_t *hard)
{
	*soft = *hard = 0;
	pm_kernel_getrlimit(resource, soft, hard);
	if (*soft == RLIM_INFINITY)
		*soft = PERFMON_INFO_UNLIMITED;
	if (*hard == RLIM_INFINITY)
		*hard = PERFMON_INFO_UNLIMITED;
}

static void get_machine(struct perfmon_info *info)
{
	struct pm_machine machine;

	pm_machine_describe(&machine);
	memcpy(info->cpu_model, machine.cpu_model, sizeof(info->cpu_model));
	memcpy(info->architecture, machine.architecture, sizeof(info->architecture));
	memcpy(info->kernel, machine.kernel, sizeof(info->kernel));
	info->packages = machine.packages;
	info->cores = machine.cores;
	info->cpus = machine.cpus;
}

static void get_rights(struct perfmon_info *info)
{
	struct pm_permissions have;

	pm_permissions_get(&have);
	info->paranoid = have.paranoid;
	info->user_allows = pm_info_paranoid_allows(have.paranoid);
	info->allows =
		have.perfmon ? pm_info_paranoid_allows(INT_MIN) : info->user_allows;
	info->features |= have.perfmon ? PERFMON_INFO_FEATURE_PRIVILEGED : 0;
	info->features |= have.seccomp ? PERFMON_INFO_FEATURE_SECCOMP : 0;
	info->features |= pm_exact() ? PERFMON_INFO_FEATURE_EXACT : 0;
	info->features_known |= PERFMON_INFO_FEATURE_PRIVILEGED |
				PERFMON_INFO_FEATURE_SECCOMP | PERFMON_INFO_FEATURE_EXACT;
	info->max_stack = setting("/proc/sys/kernel/perf_event_max_stack");
	info->max_sample_rate = setting("/proc/sys/kernel/perf_event_max_sample_rate");
	info->mlock_kb = setting("/proc/sys/kernel/perf_event_mlock_kb");
	limit(RLIMIT_MEMLOCK, &info->memlock_soft, &info->memlock_hard);
	limit(RLIMIT_NOFILE, &info->files_soft, &info->files_hard);
}

static void get_time(struct perfmon_info *info)
{
	struct pm_instance *instance = NULL;
	struct pm_event_list *list = NULL;

	pm_clock_init();
	info->features |= pm_clock.monotonic ? 0 : PERFMON_INFO_FEATURE_TIMESTAMP;
	info->features_known |= PERFMON_INFO_FEATURE_TIMESTAMP;
	info->timestamp_hz = pm_clock.monotonic ? 0 : pm_clock.hz;
	/* All events have the same time conversion in their pages. */
	if (!pm_events_parse("task-clock", PM_EVENTS_USER_ONLY, &list, NULL) &&
	    pm_instance_new(&instance, list->events, 1, 0, -1,
			    PM_OPEN_USER_READ | PM_OPEN_TIME, NULL) >= 0) {
		info->features_known |= PERFMON_INFO_FEATURE_THREAD_TIME;
		if (instance->counters[0].page)
			info->features |= PERFMON_INFO_FEATURE_THREAD_TIME;
	}
	pm_instance_free(instance);
	pm_events_free(list);
}

/* Converts a PMU's capabilities to features of the machine. */
static uint32_t features_of(uint32_t bits)
{
	return (bits & PERFMON_PMU_CAPABILITY_OPENS ? PERFMON_INFO_FEATURE_HARDWARE : 0) |
	       (bits & PERFMON_PMU_CAPABILITY_USER_READ ? PERFMON_INFO_FEATURE_USER_READ
							: 0) |
	       (bits & PERFMON_PMU_CAPABILITY_OVERFLOW ? PERFMON_INFO_FEATURE_OVERFLOW
						       : 0);
}

/* Loads all PMUs of the machine. Returns 0 or a negative errno. */
static int load_all(struct pm_sysfs **out)
{
	int err = pm_sysfs_load(out);

	if (err)
		return err;
	err = pm_sysfs_complete(*out);
	if (err)
		pm_sysfs_free(*out);
	return err;
}

static void get_pmus(struct perfmon_info *info, struct pm_sysfs *sysfs)
{
	info->pmus = (uint32_t)sysfs->count;
	info->core_pmus = (uint32_t)sysfs->core_count;
	/* Without a core PMU there is no hardware event. */
	info->features_known |= PERFMON_INFO_FEATURE_HARDWARE;
	for (size_t i = 0; i < sysfs->count; i++) {
		struct perfmon_pmu_info pmu = {0};

		if (!sysfs->pmus[i].core || pm_sysfs_pmu_load(&sysfs->pmus[i]))
			continue;
		pm_info_try(&sysfs->pmus[i], &pmu);
		info->features |= features_of(pmu.capabilities);
		info->features_known |= features_of(pmu.capabilities_known);
	}
}

PM_EXPORT int perfmon_info_get(struct perfmon_info *info)
{
	struct perfmon_info found = {0};
	struct pm_sysfs *sysfs;
	int err = PM_STRUCT_CHECK(info, perfmon_info, 344);

	err = err ?: load_all(&sysfs);
	if (err)
		return err;
	get_machine(&found);
	get_rights(&found);
	get_time(&found);
	get_pmus(&found, sysfs);
	pm_sysfs_free(sysfs);
	pm_struct_fill(info, &found, sizeof(found));
	return 0;
}

PM_EXPORT int perfmon_info_pmus(int (*visit)(const struct perfmon_pmu_info *pmu,
					     void *argument),
				void *argument)
{
	struct pm_sysfs *sysfs;
	int result;

	if (!visit)
		return -EINVAL;
	result = load_all(&sysfs);
	if (result)
		return result;
	for (size_t i = 0; !result && i < sysfs->count; i++) {
		struct pm_sysfs_pmu *pmu = &sysfs->pmus[i];
		struct perfmon_pmu_info info = {
			.size = sizeof(info),
			.name = pmu->name,
			.cpus = pmu->cpus,
			.type = pmu->type,
			.kind = pmu->core     ? PERFMON_PMU_KIND_CORE
				: pmu->uncore ? PERFMON_PMU_KIND_UNCORE
					      : PERFMON_PMU_KIND_OTHER,
			.programmable = -1,
			.fixed = -1,
			.width_bits = -1,
			.fixed_width_bits = -1,
		};

		result = pm_sysfs_pmu_load(pmu);
		if (result)
			break;
		info.named_events = (uint32_t)pmu->alias_count;
		info.max_precise = pmu->max_precise;
		if (pmu->core)
			pm_info_try(pmu, &info);
		result = visit(&info, argument);
	}
	pm_sysfs_free(sysfs);
	return result;
}

/* Stores the CPUs on which PMU (NULL: any) opens events, or those that it cannot
 * count. */
static int cpus_of_pmu(uint32_t set, const char *name, void *mask, size_t *size)
{
	char any[] = "";
	struct pm_event event = {.name = any, .pmu = any, .cpus = any};
	struct perfmon_placement *all;
	struct pm_targets targets = {0};
	struct pm_sysfs *sysfs = NULL;
	int result = pm_placement_parse("all", &all, NULL);

	if (result)
		return result;
	if (name) {
		const struct pm_sysfs_pmu *pmu;

		result = pm_sysfs_load(&sysfs);
		if (result)
			goto out;
		pmu = pm_sysfs_by_name(sysfs, name);
		result = -ENOENT;
		if (!pmu)
			goto out;
		event.pmu = pmu->name;
		event.cpus = pmu->cpus;
		event.uncore = pmu->uncore;
	}
	result = pm_placement_targets(all, &event, &targets, NULL);
	if (result >= 0)
		result = pm_cpus_or(&targets.forbidden, &all->dropped);
	if (!result)
		result = pm_cpus_export(set == PERFMON_INFO_CPU_SET_PMU
						? &targets.open
						: &targets.forbidden,
					mask, size);
	pm_targets_free(&targets);
out:
	pm_sysfs_free(sysfs);
	pm_placement_free(all);
	return result;
}

PM_EXPORT int perfmon_info_get_cpus(uint32_t set, const char *pmu, void *mask,
				    size_t *size)
{
	struct pm_topology *topology;
	int result;

	if (!size || set > PERFMON_INFO_CPU_SET_FORBIDDEN)
		return -EINVAL;
	if (set == PERFMON_INFO_CPU_SET_PMU || set == PERFMON_INFO_CPU_SET_FORBIDDEN)
		return cpus_of_pmu(set, pmu, mask, size);
	result = pm_topology_get(&topology, NULL);
	if (result)
		return result;
	result = pm_cpus_export(set == PERFMON_INFO_CPU_SET_ONLINE ? &topology->online
								   : &topology->allowed,
				mask, size);
	pm_topology_put(topology);
	return result;
}

PM_EXPORT int perfmon_info_get_statistics(struct perfmon_statistics *statistics)
{
	struct perfmon_statistics found = {0};
	int err = PM_STRUCT_CHECK(statistics, perfmon_statistics, 48);

	if (err)
		return err;
	found.events_opened = pm_kernel_made(PM_CALL_PERF_EVENT_OPEN);
	found.events_refused = pm_kernel_refused(PM_CALL_PERF_EVENT_OPEN);
	found.mappings_made = pm_kernel_made(PM_CALL_MMAP);
	found.mappings_refused = pm_kernel_refused(PM_CALL_MMAP);
	found.topology_loads = pm_topology_loads();
	pm_struct_fill(statistics, &found, sizeof(found));
	return 0;
}

PM_EXPORT int perfmon_info_environment(int (*visit)(const char *sentence, void *argument),
				       void *argument)
{
	struct pm_options options;
	int result;

	if (!visit)
		return -EINVAL;
	result = pm_options_read(&options, NULL);
	for (uint32_t i = 0; !result && i < options.note_count; i++)
		result = visit(options.notes[i], argument);
	pm_options_free(&options);
	return result;
}
