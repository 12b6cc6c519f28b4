/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The slow half of the fast read: the refresh of a view, and the retry loop. */
#ifndef PM_FASTPATH_VIEW_H
#define PM_FASTPATH_VIEW_H

#include <errno.h>

#include "fastpath/read.h"

/* Initialises a view without a counter. Every sample asks for a refresh, and every
 * refresh returns -EAGAIN (not on the hardware: use read(2)). */
void pm_view_init_none(struct perfmon_counter_view *view);

/*
 * Initialises a view of PAGE, which adds BASE to its values. The page is mapped, and the
 * caller has checked cap_user_rdpmc. The view is stale until its first refresh.
 */
void pm_view_init(struct perfmon_counter_view *view,
		  const struct perf_event_mmap_page *page, uint64_t base);

/* Sets the BASE that VIEW adds to its values from now on. Any thread, at any time. */
void pm_view_rebase(struct perfmon_counter_view *view, uint64_t base);

/*
 * Copies the page to VIEW. It makes no system call. Only the thread that opened the
 * counter may call it. Returns
 *
 *  - 0: the view is valid
 *  - -EAGAIN: the counter is not on the hardware now (index 0)
 *  - -EOPNOTSUPP: its index has no accessor on this CPU
 *  - -EBUSY: the page kept changing, or the caller has interrupted a refresh of the view
 */
int pm_view_refresh(struct perfmon_counter_view *view);

/* The only retry loop: stores VIEW's value in *VALUE, or returns the error of
 * pm_view_refresh(). */
static inline int pm_view_read(struct perfmon_counter_view *view, uint64_t *value)
{
	while (__builtin_expect(perfmon_view_value(view, value), 0)) {
		int err = pm_view_refresh(view);

		if (err)
			return err;
	}
	return 0;
}

/*
 * Reads the value and its times. -EOPNOTSUPP if the page has no clock (cap_user_time):
 * use read(2).
 */
int pm_view_read_times(struct perfmon_counter_view *view, uint64_t *value,
		       uint64_t *enabled_ns, uint64_t *running_ns);

/* Returns how long the event of PAGE, which is enabled, has been enabled. -EOPNOTSUPP
 * without a clock, -EBUSY if the page kept changing. Only on the event's own thread. */
int pm_view_page_enabled(const struct perf_event_mmap_page *page, uint64_t *enabled_ns);

/*
 * Reports that a counter read has faulted: all threads have lost user access. From now on
 * no existing view can be refreshed (-EAGAIN). Views of pages mapped later work again.
 * Async-signal-safe.
 */
void pm_view_revoke_all(void);

/* Converts TIMESTAMP (perfmon_arch_timestamp()) to nanoseconds of PAGE's clock, the unit
 * of a view's enabled base. Valid if cap_user_time is set. */
uint64_t pm_view_clock_ns(const struct perf_event_mmap_page *page, uint64_t timestamp);

#endif
