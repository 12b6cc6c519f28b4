/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variables that leave visits out of what regions measure, or have some kept by steps. */
#ifndef PM_SETTINGS_OPTIONS_FILTERS_H
#define PM_SETTINGS_OPTIONS_FILTERS_H

#include "core/settings/options.h"

/* Fills in what OPTIONS say of PERFMON_ONLY, _SKIP, _DEPTH, _MIN_MEAN and _STEPS, after
 * PERFMON_STRIDE. *ERR becomes -ENOMEM if a value had to be dropped. */
void pm_options_read_filters(struct pm_options *options, int *err);

#endif
