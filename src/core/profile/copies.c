/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/copies.h"

#include <fcntl.h>
#include <string.h>

#include "core/kernel/kernel.h"
#include "core/kernel/process_maps.h"
#include "core/profile/writer.h"

struct search {
	struct pm_copies *copies;
	int memory; /* /proc/self/mem: an unreadable page is an error, not a signal */
};

static bool look(const struct pm_process_map *map, void *argument)
{
	const struct perfmon_profile_header *own = pm_profile_header();
	struct search *search = argument;
	struct perfmon_profile_header other;

	/* A read of a device's memory may change the device. */
	if (!map->shared || !map->writable || map->offset || map->path[0] != '/' ||
	    (!strncmp(map->path, "/dev/", 5) && strncmp(map->path, "/dev/shm/", 9)) ||
	    map->from == (uintptr_t)own)
		return false;
	if (pm_kernel_pread(search->memory, &other, sizeof(other), map->from) !=
		    sizeof(other) ||
	    other.magic != PERFMON_PROFILE_MAGIC || other.pid != own->pid ||
	    other.start_time != own->start_time)
		return false;
	search->copies->others++;
	if (other.begin_ns < own->begin_ns ||
	    (other.begin_ns == own->begin_ns && map->from < (uintptr_t)own))
		search->copies->before++;
	return false;
}

void pm_copies_find(struct pm_copies *copies)
{
	struct search search = {.copies = copies};

	memset(copies, 0, sizeof(*copies));
	if (!pm_profile_exists())
		return;
	search.memory = pm_kernel_open("/proc/self/mem", O_RDONLY, 0);
	if (search.memory < 0)
		return;
	pm_process_maps(pm_kernel_getpid(), look, &search);
	pm_kernel_close(search.memory);
}
