/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine's shape, as hwloc sees it. topology.c alone includes hwloc. */
#ifndef PM_CORE_TOPOLOGY_H
#define PM_CORE_TOPOLOGY_H

#include <stdint.h>

struct pm_machine {
	char cpu_model[128];   /* "" if the machine does not tell */
	char architecture[32]; /* what this library was built for */
	char kernel[80];       /* release */
	uint32_t packages;     /* 0: not known */
	uint32_t cores;
	uint32_t cpus; /* that this process may see, online */
};

/*
 * pm_machine_describe() - fills MACHINE; what is not known stays empty. Loads a topology
 * for the moment of the call: milliseconds, files of /sys and /proc, memory; for reports
 * and `perfmon info`, not for set-up. Never binds a thread: the component of hwloc that
 * would (x86's CPUID) is left out.
 */
void pm_machine_describe(struct pm_machine *machine);

#endif
