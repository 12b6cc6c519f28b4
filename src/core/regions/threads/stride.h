/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strides (PERFMON_STRIDE). */
#ifndef PM_REGIONS_STRIDE_H
#define PM_REGIONS_STRIDE_H

#include <stdint.h>

#include "perfmon/profile_layout.h"

/* Sets the STRIDE of a new path: its first visits are measured, then one of VISITS visits.
 * With 0 pm_region_stride_look() chooses the stride. */
void pm_stride_begin(struct perfmon_profile_stride *stride, uint32_t visits);

#endif
