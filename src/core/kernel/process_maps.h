/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a process has mapped: /proc/PID/maps. */
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
	bool writable;
	bool shared;
	const char *path; /* "" if it has none */
};

/*
 * Whether the file with STATUS is the one that MAP maps. An inode is its file system's, and
 * those without a device (btrfs, overlayfs) may have told stat(2) another number.
 */
bool pm_process_map_is_of(const struct pm_process_map *map, const struct stat *status);

/*
 * Calls VISIT for each mapping of PID, until it returns true. 1 if it did, 0 if there are
 * no more, or what open(2) and read(2) gave: -EACCES without the right to look
 * (ptrace(2), PTRACE_MODE_READ_FSCREDS), -ENOENT without such a process. Allocates
 * nothing.
 */
int pm_process_maps(pid_t pid,
		    bool (*visit)(const struct pm_process_map *map, void *argument),
		    void *argument);

#endif
