/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by load.c, which reads from hwloc, and cache.c, which keeps the result. */
#ifndef PM_TOPOLOGY_LOAD_H
#define PM_TOPOLOGY_LOAD_H

#include "core/topology/machine.h"

/* Loads hwloc's library, once, with no lock held. Returns NULL, or the message why it is
 * not available. */
const char *pm_topology_prepare(void);

/* Fills the sets and the levels' groups of the empty TO. Returns 0, -ENOMEM, or -ENODATA
 * if hwloc does not know them. On failure the caller frees the filled parts. */
int pm_topology_load(struct pm_topology *to);

/* Gives LEVEL of TO COUNT empty groups. Returns 0 or -ENOMEM. */
int pm_topology_level_new(struct pm_topology *to, enum pm_level level, uint32_t count);

#endif
