/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strides that keep measuring below a share of the time (PERFMON_STRIDE=auto). */
#ifndef PM_REGIONS_STRIDE_H
#define PM_REGIONS_STRIDE_H

#include <stdint.h>

#include "perfmon/profile_layout.h"

/* The STRIDE of a new path: so many visits of which one is measured, or 0 for one that
 * begins with each visit and is looked at (pm_region_stride_look()). */
void pm_stride_begin(struct perfmon_profile_stride *stride, uint32_t visits);

#endif
