/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPUs, their kinds, and places on the machine named as hwloc names them.
 *
 * Uses os/ and events/ (on which CPUs an event counts). load.c alone includes hwloc.
 *
 * Must hold: hwloc is loaded when a place or a level is asked for, and binds nothing.
 */
#ifndef PM_TOPOLOGY_TOPOLOGY_H
#define PM_TOPOLOGY_TOPOLOGY_H

#include "core/topology/cpu_kind.h"
#include "core/topology/cpus.h"
#include "core/topology/machine.h"
#include "core/topology/placement.h"

#endif
