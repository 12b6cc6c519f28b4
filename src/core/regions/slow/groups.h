/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_REGIONS_GROUPS_H
#define PM_REGIONS_GROUPS_H

#include "core/settings/options.h"

/* Adds the events and metrics of the groups that OPTIONS name to OPTIONS, and a note for
 * each that is missing. */
void pm_regions_groups(struct pm_options *options);

#endif
