/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_COUNTERS_USER_MODE_H
#define PM_COUNTERS_USER_MODE_H

#include <stdbool.h>

#include "core/events/events.h"

/*
 * Returns whether EVENT, which opens, excludes the kernel on a machine that cannot do so.
 * Then its value is not a count of user mode. On riscv64 the firmware programs the
 * counters, and the kernel cannot know that a machine ignores the mode (it counts the
 * kernel, too, or nothing). The first call for such an event tests it, by a few system
 * calls. Any thread may call.
 */
bool pm_event_mode_is_ignored(const struct pm_event *event);

#endif
