/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packs a snapshot as the bytes of a profile, to be sent to another process. */
#ifndef PM_PROFILE_PACK_H
#define PM_PROFILE_PACK_H

#include "core/profile/snapshot.h"

/*
 * pm_snapshot_pack() - writes S as a profile (perfmon/profile_layout.h). From this,
 * pm_snapshot_take() makes the same snapshot, its problem included, except for the state
 * of the writer and the steps. The caller frees the *SIZE bytes at *OUT with free(). Returns 0 or
 * -ENOMEM.
 */
int pm_snapshot_pack(const struct pm_snapshot *s, void **out, size_t *size);

/* Stores all of KINDS at TO. */
void pm_pack_kinds(struct perfmon_profile_kind *to, const struct pm_cpu_kinds *kinds);

#endif
