/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins the counters of an instance into kernel groups, by the rules in
 * counters/instance.h. Allocates nothing. */
#ifndef PM_COUNTERS_GROUP_H
#define PM_COUNTERS_GROUP_H

#include "core/counters/instance.h"

#define PM_NO_GROUP UINT32_MAX

/* Returns whether COUNTER is open in the group of LEADER. */
static inline bool pm_group_has(uint32_t leader, const struct pm_counter *counter)
{
	return counter->fd >= 0 && counter->leader == leader;
}

/* Opens counter I, after all before it, alone or in a group. Returns 0 or a negative
 * errno. */
int pm_group_open(struct pm_instance *instance, uint32_t i);

/*
 * Makes every group fit the hardware, after the last counter was opened: moves members
 * into further groups. Returns PM_NO_GROUP, or the counter that could not be kept, with
 * its errno in *ERR. That counter, a member of an explicit group, which is not divided,
 * is closed, and the caller repeats the call.
 */
uint32_t pm_groups_fit(struct pm_instance *instance, int *err);

#endif
