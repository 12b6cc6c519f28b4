/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two variables that are paths. */
#ifndef PM_SETTINGS_OPTIONS_PATHS_H
#define PM_SETTINGS_OPTIONS_PATHS_H

#include "core/settings/options.h"

/* Fill in what OPTIONS say of PERFMON_PROFILE, and of PERFMON_OUTPUT, for which rank and
 * format must be known. *ERR becomes -ENOMEM if a value had to be dropped. */
void pm_options_read_profile(struct pm_options *options, int *err);
void pm_options_read_output(struct pm_options *options, int *err);

#endif
