/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory of the own profile: one mapping, reserved once and backed by memory as it
 * grows. So records never move, and an offset is as good as a pointer. The memory is a
 * file's or a memfd's, or private where neither can be had.
 */
#ifndef PM_PROFILE_MEMORY_H
#define PM_PROFILE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/kernel/owned.h"
#include "perfmon/profile_layout.h"
#include "core/profile/place.h"

/* The memory grows in steps of this size, so that few threads pay for a system call. */
#define PM_MEMORY_STEP (UINT64_C(128) << 10)

/* The memory of the own profile. PM_LOCK_REGIONS guards it, except for the fields that
 * pm_profile_exists() and functions like it read. */
struct pm_profile_memory {
	char *base;
	uint64_t space;		       /* bytes mapped */
	uint64_t backed;	       /* bytes that may be touched */
	uint64_t reserved;	       /* bytes handed out */
	struct pm_owned file;	       /* none: private memory */
	struct pm_profile_place place; /* of the file, while there is one */
	char news[200]; /* a note that waits until the record being written is complete */
};
extern struct pm_profile_memory pm_profile_memory;

/* Any thread may call it; no lock is needed. */
bool pm_profile_exists(void);

struct perfmon_profile_header *pm_profile_header(void);
uint64_t pm_profile_offset(const void *record);
void *pm_profile_at(uint64_t offset);

/* Creates a file without a name, for a profile that needs no file. It cannot shrink, so
 * that other processes can map it safely. */
int pm_memory_make_file(void);

/* Maps FD (-1: private memory). Only the ALLOCATED bytes that FD already has may be
 * touched yet. */
int pm_memory_map(int fd, uint64_t allocated);

/* Allocates bytes AT to SIZE of the file FD. Fails above RLIMIT_FSIZE, where the kernel
 * would send SIGXFSZ, which ends the program. */
int pm_memory_allocate(int fd, uint64_t at, uint64_t size);

/* Makes the profile usable up to END. Pages are allocated before they are touched: a
 * store to a page for which there is no memory raises SIGBUS. */
int pm_memory_back(uint64_t end);

/* Forgets the profile, which is no longer mapped, and closes its file. */
void pm_memory_leave(void);

#endif
