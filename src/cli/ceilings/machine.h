/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPUs and the caches that are measured. */
#ifndef PM_CLI_CEILINGS_MACHINE_H
#define PM_CLI_CEILINGS_MACHINE_H

#include "cli/ceilings/ceilings.h"
#include "core/topology/topology.h"

/* Stores the CPUs of SET in ORDER, one of each core before a second one of any. */
void ceilings_order(const struct pm_cpus *set, unsigned int *order);

/* Finds the caches of CPU: bytes and sharing, and in SHARED, if not NULL, the CPUs that share
 * each level. */
void ceilings_caches(struct cli_ceilings *ceilings, unsigned int cpu,
		     struct pm_cpus shared[CLI_CEILING_MEMORY]);

/* Returns the bytes of memory that programs can still get, or 0. */
uint64_t ceilings_memory_free(void);

#endif
