/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions: the process, its threads, their call paths, and the slow path.
 *
 * Uses profile/, report/ (at exit), counters/, events/, os/ and the fast path, which calls
 * upward to the slow path here: fastpath/region.h names the functions. registry.c alone
 * includes liburcu.
 *
 * Must hold: what several threads write is written under the process lock; a warm region
 * never comes here; in a signal handler nothing waits for what it may have interrupted.
 */
#ifndef PM_REGIONS_REGIONS_H
#define PM_REGIONS_REGIONS_H

#include "core/regions/exit.h"
#include "core/regions/paths.h"
#include "core/regions/registry.h"
#include "core/regions/state.h"
#include "core/regions/thread.h"

#endif
