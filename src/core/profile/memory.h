/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory of the own profile: one mapping, reserved once and backed as it grows, so
 * that records never move and an offset is a pointer. It is a file's, a memfd's, or
 * private where both are refused.
 */
#ifndef PM_PROFILE_MEMORY_H
#define PM_PROFILE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perfmon/profile_layout.h"
#include "core/profile/place.h"

/* Memory is asked for in steps of this, so that few threads pay for a system call. */
#define PM_MEMORY_STEP (UINT64_C(128) << 10)

/* The memory of the own profile. Under PM_LOCK_REGIONS, but for what pm_profile_exists() and
 * its like read. */
struct pm_profile_memory {
	char *base;
	uint64_t space;	   /* bytes mapped */
	uint64_t backed;   /* bytes that may be touched */
	uint64_t reserved; /* bytes handed out */
	int fd;		   /* -1: private memory */
	dev_t device;	   /* of fd: programs close descriptors that are not theirs */
	ino_t inode;
	struct pm_profile_place place; /* of the file, while there is one */
	char news[200]; /* a note that waits until the record under way is whole */
};
extern struct pm_profile_memory pm_profile_memory;

/* Whether there is a profile. */
bool pm_profile_exists(void);

struct perfmon_profile_header *pm_profile_header(void);
uint64_t pm_profile_offset(const void *record);
void *pm_profile_at(uint64_t offset);

/* A file without a name, for a profile that no file is wanted for. Who watches a process
 * maps its profile, and must be sure that it does not shrink. */
int pm_memory_make_file(void);

/* Maps FD (-1: private memory), of which no more may be touched yet than the bytes that it has
 * ALLOCATED. */
int pm_memory_map(int fd, uint64_t allocated);

/* Room in the file FD, which has AT bytes, up to SIZE. A size above RLIMIT_FSIZE would be
 * answered with a signal that ends the program. */
int pm_memory_allocate(int fd, uint64_t at, uint64_t size);

/* Makes the profile usable up to END. Pages are allocated before they are touched: a
 * store to a page for which there is no room is SIGBUS. */
int pm_memory_back(uint64_t end);

/* There is no profile: none yet, or none any more. */
void pm_memory_leave(void);

#endif
