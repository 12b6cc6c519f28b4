/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates, keeps and replaces the pictures of the machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/kernel/locks.h"
#include "core/topology/load.h"

#define CPU_DIR "/sys/devices/system/cpu/"

/* PM_LOCK_TOPOLOGY guards taking a reference to the current picture, and making the
 * next. */
static struct pm_topology *current;
static uint64_t loads; /* only a count: relaxed */

/* Frees what the levels and sets hold, and empties them. */
static void topology_clear(struct pm_topology *topology)
{
	for (int i = 0; i < PM_LEVELS; i++) {
		for (uint32_t k = 0; k < topology->levels[i].count; k++)
			pm_cpus_free(&topology->levels[i].groups[k].cpus);
		free(topology->levels[i].groups);
		free(topology->levels[i].group_of);
	}
	pm_cpus_free(&topology->online);
	pm_cpus_free(&topology->allowed);
	pm_cpus_free(&topology->present);
	memset(topology->levels, 0, sizeof(topology->levels));
}

static void topology_free(struct pm_topology *topology)
{
	topology_clear(topology);
	free(topology);
}

void pm_topology_put(struct pm_topology *topology)
{
	/* Pairs with itself: the last owner sees the writes of the others before it
	 * frees. */
	if (topology && !__atomic_sub_fetch(&topology->references, 1, __ATOMIC_ACQ_REL))
		topology_free(topology);
}

/* Fills the picture without hwloc, from two files of sysfs. */
static int load_plain(struct pm_topology *to, const char *why_plain, struct pm_diag *diag)
{
	int err = pm_cpus_online(&to->online), n = 0;

	if (err || pm_cpus_next(&to->online, 0) < 0)
		return pm_diag_set(
			diag, err ? err : -ENODATA,
			"cannot list this machine's CPUs from hwloc or " CPU_DIR
			"online");
	to->plain = true;
	to->why_plain = why_plain;
	err = pm_cpus_read(&to->present, CPU_DIR "present");
	if (err != -ENOMEM)
		err = pm_cpus_or(&to->present, &to->online);
	if (!err)
		err = pm_cpus_copy(&to->allowed, &to->online);
	if (!err)
		err = pm_topology_level_new(to, PM_LEVEL_MACHINE, 1);
	if (!err) {
		to->levels[PM_LEVEL_MACHINE].groups[0].os_index = 0;
		err = pm_cpus_copy(&to->levels[PM_LEVEL_MACHINE].groups[0].cpus,
				   &to->online);
	}
	if (!err)
		err = pm_topology_level_new(to, PM_LEVEL_PU, pm_cpus_count(&to->online));
	if (!err)
		pm_cpus_each (cpu, &to->online) {
			struct pm_group *group = &to->levels[PM_LEVEL_PU].groups[n++];

			group->os_index = cpu;
			err = err ? err : pm_cpus_add(&group->cpus, cpu);
		}
	return err;
}

/* Indexes the group of each CPU. If several memories have the same CPUs, the first
 * counts. */
static int index_level(struct pm_topology *to, enum pm_level level)
{
	uint32_t *group_of = malloc(to->cpu_end * sizeof(*group_of));

	if (!group_of)
		return -ENOMEM;
	memset(group_of, 0xff, to->cpu_end * sizeof(*group_of));
	for (uint32_t i = 0; i < to->levels[level].count; i++)
		pm_cpus_each (cpu, &to->levels[level].groups[i].cpus)
			if (cpu < to->cpu_end && group_of[cpu] == PM_GROUP_NONE)
				group_of[cpu] = i;
	to->levels[level].group_of = group_of;
	return 0;
}

static void online_text(char *text, size_t size)
{
	if (pm_file_text(CPU_DIR "online", text, size) < 0)
		text[0] = '\0';
}

/* Fills the empty picture. */
static int topology_load(struct pm_topology *to, const char *why_plain,
			 struct pm_diag *diag)
{
	int err;

	__atomic_add_fetch(&loads, 1, __ATOMIC_RELAXED);
	to->references = 1;
	/* This comes first: a change during the load is found by the next call. */
	online_text(to->online_text, sizeof(to->online_text));
	err = pm_topology_load(to);
	if (err == -ENODATA) {
		topology_clear(to);
		err = load_plain(to, why_plain, diag);
	}
	if (!err)
		pm_cpus_each (cpu, &to->online)
			to->cpu_end = cpu + 1;
	for (int i = 0; !err && i < PM_LEVELS; i++)
		err = index_level(to, i);
	return err;
}

/* Replaces the current picture. *OLD gets the one before, for pm_topology_put(). */
static int replace(struct pm_topology **old, const char *why_plain, struct pm_diag *diag)
{
	struct pm_topology *made = calloc(1, sizeof(*made));
	int err = made ? topology_load(made, why_plain, diag) : -ENOMEM;

	if (!err) {
		*old = current;
		current = made;
		return 0;
	}
	if (made)
		topology_free(made);
	return err != -ENOMEM
		       ? err
		       : pm_diag_set(diag, err, "no memory for the CPUs' topology");
}

/* Replaces the current picture if CPUs came or went since, or ANYWAY. Takes a reference to it if OUT
 * is not NULL. Returns 1 if its CPUs are not those of the one before, else 0, or a negative errno. */
static int update(bool anyway, struct pm_topology **out, struct pm_diag *diag)
{
	char now[sizeof(current->online_text)];
	struct pm_topology *old = NULL;
	struct pm_quiet quiet;
	const char *why_plain;
	int err = 0;

	/* A thread that is cancelled here would keep the lock. */
	pm_kernel_quiet_begin(&quiet);
	why_plain = pm_topology_prepare();
	pm_locks_take(PM_LOCK_TOPOLOGY);
	online_text(now, sizeof(now));
	if (anyway || !current || strcmp(now, current->online_text))
		err = replace(&old, why_plain, diag);
	if (!err && out) {
		__atomic_add_fetch(&current->references, 1, __ATOMIC_RELAXED);
		*out = current;
	}
	if (!err)
		err = old && !(pm_cpus_equal(&old->online, &current->online) &&
			       pm_cpus_equal(&old->allowed, &current->allowed));
	pm_locks_release(PM_LOCK_TOPOLOGY);
	pm_topology_put(old);
	pm_kernel_quiet_end(&quiet);
	return err;
}

int pm_topology_get(struct pm_topology **out, struct pm_diag *diag)
{
	int err = update(false, out, diag);

	return err < 0 ? err : 0;
}

int pm_topology_refresh(struct pm_diag *diag)
{
	return update(true, NULL, diag);
}

uint64_t pm_topology_loads(void)
{
	return __atomic_load_n(&loads, __ATOMIC_RELAXED);
}
