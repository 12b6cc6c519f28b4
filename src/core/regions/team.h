/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths that threads adopt: the parts of perfmon/team.h that a fork needs. */
#ifndef PM_REGIONS_TEAM_H
#define PM_REGIONS_TEAM_H

#include <stdint.h>

/* Lets the calling thread continue below path NUMBER of core/regions/handed.h. Returns 0 or a
 * negative errno. */
int pm_team_adopt(uint64_t number);

/* Refuses all tokens, in a forked child. */
void pm_team_forget(void);

#endif
