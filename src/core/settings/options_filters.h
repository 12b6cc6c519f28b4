/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variables that leave visits out of what regions measure. */
#ifndef PM_SETTINGS_OPTIONS_FILTERS_H
#define PM_SETTINGS_OPTIONS_FILTERS_H

#include "core/settings/options.h"

/* Fills in what OPTIONS say of PERFMON_ONLY, _SKIP, _DEPTH and _MIN_MEAN. *ERR becomes -ENOMEM if a
 * value had to be dropped. */
void pm_options_read_filters(struct pm_options *options, int *err);

#endif
