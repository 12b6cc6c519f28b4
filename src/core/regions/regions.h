/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions: the process, its threads, their call paths, and the slow path.
 *
 * The fast path calls upward to the slow path here: fastpath/region.h declares the
 * functions. Only registry.c includes liburcu.
 *
 * Must hold: data that several threads write is written under the process lock; a warm
 * region never comes here; a signal handler never waits for code that it may have
 * interrupted.
 */
#ifndef PM_REGIONS_REGIONS_H
#define PM_REGIONS_REGIONS_H

#include "core/regions/exit.h"
#include "core/regions/paths.h"
#include "core/regions/registry.h"
#include "core/regions/state.h"
#include "core/regions/thread.h"

#endif
