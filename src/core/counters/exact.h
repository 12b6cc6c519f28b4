/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counters of exact events, which the tool of exact/ counts. Each counter has a page in
 * the library's own memory, written by the kernel's protocol, so that all readers of
 * pages can read it. It has no descriptor and no group, and is never multiplexed. The
 * counts are those of the reading thread, so that no other thread can read or start a
 * counter.
 */
#ifndef PM_COUNTERS_EXACT_H
#define PM_COUNTERS_EXACT_H

#include "core/counters/instance.h"

/* Returns whether INSTANCE has an exact event. */
bool pm_exact_wanted(const struct pm_instance *instance);

/* Opens all counters, stopped. Returns 0, or a negative errno with a message in DIAG (may
 * be NULL) and nothing open. */
int pm_exact_open(struct pm_instance *instance, struct pm_diag *diag);

/* Return 0, or -EOPNOTSUPP on another thread. */
int pm_exact_enable(struct pm_instance *instance);
int pm_exact_disable(struct pm_instance *instance);

/* Reads counter I, which is open. -EOPNOTSUPP while it counts, on another thread. */
int pm_exact_read(const struct pm_instance *instance, uint32_t i,
		  struct pm_reading *reading);

/* Closes all counters. Any thread; also in a forked child. */
void pm_exact_close(struct pm_instance *instance);

#endif
