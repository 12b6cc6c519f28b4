/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of load.c where the library is built without hwloc. */
#include "core/topology/load.h"

#include <errno.h>

const char *pm_topology_prepare(void)
{
	return "libperfmon was built without hwloc";
}

int pm_topology_load(struct pm_topology *to)
{
	(void)to;
	return -ENODATA;
}
