/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between load.c, which asks hwloc, and cache.c, which keeps the answer. */
#ifndef PM_TOPOLOGY_LOAD_H
#define PM_TOPOLOGY_LOAD_H

#include "core/topology/machine.h"

/* Loads hwloc's library unless that is done, with no lock held: NULL, or the sentence why it
 * is not here. */
const char *pm_topology_prepare(void);

/* Fills the sets and the levels' groups of TO, which is empty. 0, -ENOMEM, or -ENODATA:
 * hwloc cannot tell. What was filled stays for the caller to free. */
int pm_topology_load(struct pm_topology *to);

/* Gives LEVEL of TO COUNT empty groups: 0 or -ENOMEM. */
int pm_topology_level_new(struct pm_topology *to, enum pm_level level, uint32_t count);

#endif
