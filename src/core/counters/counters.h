/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events open on one target: groups, their pages and reads, and why an event was refused.
 *
 * Must hold: a descriptor is known by the kernel's identifier before it is used, and a
 * count that may be wrong is an error, never a number.
 */
#ifndef PM_COUNTERS_COUNTERS_H
#define PM_COUNTERS_COUNTERS_H

#include "core/counters/diagnosis.h"
#include "core/counters/instance.h"
#include "core/counters/user_mode.h"

#endif
