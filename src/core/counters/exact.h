/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counters of events that are counted by translation: each has a page of the library's own
 * memory, written by the kernel's protocol, so that everything that reads pages reads
 * these. No descriptor, no group: all events are always counted. The counts are those of
 * the thread that reads, so that no other thread can read or start a counter.
 */
#ifndef PM_COUNTERS_EXACT_H
#define PM_COUNTERS_EXACT_H

#include "core/counters/instance.h"

/* Whether any event of INSTANCE is exact. */
bool pm_exact_wanted(const struct pm_instance *instance);

/* Opens all counters, stopped: 0, or a negative errno with a sentence in DIAG (may be NULL)
 * and nothing open. */
int pm_exact_open(struct pm_instance *instance, struct pm_diag *diag);

/* 0, or -EOPNOTSUPP on another thread. */
int pm_exact_enable(struct pm_instance *instance);
int pm_exact_disable(struct pm_instance *instance);

/* Counter I, which is open. -EOPNOTSUPP while it counts, on another thread. */
int pm_exact_read(const struct pm_instance *instance, uint32_t i,
		  struct pm_reading *reading);

/* Any thread; also in a forked child. */
void pm_exact_close(struct pm_instance *instance);

#endif
