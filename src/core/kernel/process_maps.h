/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mappings of a process: /proc/PID/maps. */
#ifndef PM_KERNEL_PROCESS_MAPS_H
#define PM_KERNEL_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct pm_process_map {
	uint64_t from, to;
	uint64_t offset; /* in the file */
	dev_t device;
	uint64_t inode;
	bool readable, writable, executable, shared;
	const char *path; /* "" if it has none */
};

/*
 * Returns whether MAP maps the file with STATUS. File systems without a device (btrfs,
 * overlayfs) may have returned another number to stat(2), so only the inode is compared
 * there.
 */
bool pm_process_map_is_of(const struct pm_process_map *map, const struct stat *status);

/*
 * Calls VISIT for each mapping of PID, until it returns true. Allocates nothing. Returns
 *
 *  - 1: VISIT returned true
 *  - 0: there are no more mappings
 *  - -EACCES: no right to look (ptrace(2), PTRACE_MODE_READ_FSCREDS)
 *  - -ENOENT: there is no such process
 *  - another error of open(2) or read(2)
 */
int pm_process_maps(pid_t pid,
		    bool (*visit)(const struct pm_process_map *map, void *argument),
		    void *argument);

#endif
