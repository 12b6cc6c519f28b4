/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Taking a snapshot of a profile whose threads run on. */
#ifndef PM_PROFILE_TAKE_H
#define PM_PROFILE_TAKE_H

#include "core/profile/snapshot.h"

/*
 * Copies the profile that stands at BASE (8-byte aligned), SIZE bytes of it readable,
 * while its threads write. The contents are not trusted: offsets, sizes, counts and names
 * are checked, each word is read once, and what does not hold gives a clear sentence in
 * DIAG and either -EINVAL (not a profile, or a newer version) or a partial snapshot.
 *
 * What is promised of a snapshot: each node is whole or marked PM_SNAPSHOT_TORN; no
 * thread is there twice (as itself and in an aggregate) unless partial; a node's parent
 * has a lower number and its region a name; every number of nodes, counters and regions
 * is bounded by SIZE. Memory is proportional to SIZE at most.
 *
 * 0, -EINVAL, -ENODATA (as pm_snapshot_check()) or -ENOMEM; free with pm_snapshot_free().
 * Allocates; takes no lock; any thread. *OUT is untouched on failure.
 */
int pm_snapshot_take(const void *base, size_t size, struct pm_snapshot **out,
		     struct pm_diag *diag);

/* As pm_snapshot_take(), of the copy at BASE of FILE, which is made anew if need be. */
int pm_snapshot_take_file(void *base, size_t size, const struct pm_snapshot_file *file,
			  struct pm_snapshot **out, struct pm_diag *diag);

/* The same of memory of which FLAGS (PM_SNAPSHOT_) tell; without them it is the own
 * process's. */
int pm_snapshot_take_as(const void *base, size_t size, unsigned int flags,
			struct pm_snapshot **out, struct pm_diag *diag);
void pm_snapshot_free(struct pm_snapshot *snapshot); /* NULL is accepted */

/* Whether the SIZE bytes at BASE, of which the header's are readable if SIZE covers them,
 * begin as a profile does: 0, -ENODATA for one that holds nothing yet, or -EINVAL. */
int pm_snapshot_check(const void *base, size_t size, struct pm_diag *diag);

#endif
