/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A snapshot as the bytes of a profile, to be sent to where they are read. */
#ifndef PM_PROFILE_PACK_H
#define PM_PROFILE_PACK_H

#include "core/profile/snapshot.h"

/*
 * pm_snapshot_pack() - a profile (perfmon/profile_layout.h) with what S has: pm_snapshot_take()
 * makes the same of it, its problem included, but for what became of the writer. *OUT is of
 * *SIZE bytes, to be freed with free(). 0 or -ENOMEM.
 */
int pm_snapshot_pack(const struct pm_snapshot *s, void **out, size_t *size);

#endif
