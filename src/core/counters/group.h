/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the counters of an instance come together in kernel groups: the rules stand in
 * counters/instance.h. Allocates nothing. */
#ifndef PM_COUNTERS_GROUP_H
#define PM_COUNTERS_GROUP_H

#include "core/counters/instance.h"

#define PM_NO_GROUP UINT32_MAX

/* Opens counter I, after all before it, alone or in a group. 0 or a negative errno. */
int pm_group_open(struct pm_instance *instance, uint32_t i);

/*
 * Makes sure that every group fits the hardware, after the last counter was opened: takes
 * out what is too much, into further groups. PM_NO_GROUP, or the counter that could not
 * be kept (a member of an explicit group, which is not divided) with its errno in *ERR;
 * the counter is closed, and the call is to be repeated.
 */
uint32_t pm_group_settle(struct pm_instance *instance, int *err);

#endif
