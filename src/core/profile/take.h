/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes a snapshot of a profile while its threads run. */
#ifndef PM_PROFILE_TAKE_H
#define PM_PROFILE_TAKE_H

#include "core/profile/snapshot.h"

/*
 * Copies the profile at BASE (aligned to 8 bytes), of which SIZE bytes can be read, while
 * its threads write. The contents are not trusted: offsets, sizes, counts and names are
 * checked, and each word is read once. If a check fails, DIAG gets a sentence, and the
 * result is -EINVAL (not a profile, or a newer version) or a partial snapshot.
 *
 * A snapshot guarantees:
 *
 * - Each node is complete or marked PM_SNAPSHOT_TORN.
 * - No thread is counted twice (itself and in an aggregate), unless the snapshot is
 *   partial.
 * - A node's parent has a lower number, and its region has a name.
 * - SIZE bounds every number of nodes, counters and regions. Memory is at most
 *   proportional to SIZE.
 *
 * Returns 0, -EINVAL, -ENODATA (see pm_snapshot_check()) or -ENOMEM; *OUT is untouched on
 * failure. Free the snapshot with pm_snapshot_free(). Allocates; takes no lock; any
 * thread.
 */
int pm_snapshot_take(const void *base, size_t size, struct pm_snapshot **out,
		     struct pm_diag *diag);

/* Does the same from the copy at BASE of the file FD, which is still being written. A copy is
 * not made of whole words at one time, so nodes are read again, each until it is unchanged. */
int pm_snapshot_take_file(void *base, size_t size, int fd, struct pm_snapshot **out,
			  struct pm_diag *diag);

/* Does the same from memory that FLAGS (PM_SNAPSHOT_) describe. Without flags it is this
 * process's. */
int pm_snapshot_take_as(const void *base, size_t size, unsigned int flags,
			struct pm_snapshot **out, struct pm_diag *diag);
void pm_snapshot_free(struct pm_snapshot *snapshot); /* NULL is accepted */

/* Checks that the SIZE bytes at BASE begin as a profile does. The header is readable if
 * SIZE includes it. Returns 0, -ENODATA for an empty profile, or -EINVAL. */
int pm_snapshot_check(const void *base, size_t size, struct pm_diag *diag);

#endif
