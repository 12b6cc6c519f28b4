/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPUs, their kinds, and placements with the level names of hwloc. Only load.c includes
 * hwloc.
 *
 * Must hold: hwloc is loaded only when a place or a level is requested, and binds
 * nothing.
 */
#ifndef PM_TOPOLOGY_TOPOLOGY_H
#define PM_TOPOLOGY_TOPOLOGY_H

#include "core/topology/cpu_kind.h"
#include "core/topology/cpus.h"
#include "core/topology/machine.h"
#include "core/topology/placement.h"

#endif
