/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strides that keep measuring below a share of the time (PERFMON_STRIDE=auto). */
#ifndef PM_REGIONS_STRIDE_H
#define PM_REGIONS_STRIDE_H

#include <stdint.h>

#include "perfmon/profile_layout.h"

/* Sets the STRIDE of a new path: one of VISITS visits is measured. With 0 every visit is
 * measured at first, and pm_region_stride_look() adjusts the stride. */
void pm_stride_begin(struct perfmon_profile_stride *stride, uint32_t visits);

#endif
