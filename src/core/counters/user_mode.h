/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_COUNTERS_USER_MODE_H
#define PM_COUNTERS_USER_MODE_H

#include <stdbool.h>

#include "core/events/events.h"

/*
 * Whether EVENT, which opens, excludes the kernel on a machine that cannot do so: its value is
 * then no count of user mode. On riscv64 the firmware programs the counters, and nobody
 * tells the kernel that a machine ignores the mode (it counts the kernel too, or nothing).
 * The first call for such an event looks, by a few system calls. Any thread may call.
 */
bool pm_event_mode_is_ignored(const struct pm_event *event);

#endif
