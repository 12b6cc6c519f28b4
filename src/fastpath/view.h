/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rare half of the fast read: taking a view anew, and the loop around a sample. */
#ifndef PM_FASTPATH_VIEW_H
#define PM_FASTPATH_VIEW_H

#include <errno.h>

#include "fastpath/read.h"

/* A view of no counter: every sample asks for a refresh, and every refresh gives
 * -EAGAIN ("not on the hardware: use read(2)"). */
void pm_view_init_none(struct perfmon_counter_view *view);

/*
 * Starts a view of PAGE (mapped, cap_user_rdpmc already checked by the caller) whose
 * values have BASE added. It is stale until its first refresh.
 */
void pm_view_init(struct perfmon_counter_view *view,
		  const struct perf_event_mmap_page *page, uint64_t base);

/* Has BASE added to VIEW's values from now on. Any thread, at any time. */
void pm_view_rebase(struct perfmon_counter_view *view, uint64_t base);

/*
 * Takes VIEW anew from its page. 0, -EAGAIN if the counter is not on the hardware now
 * (index 0), -EOPNOTSUPP if its index has no accessor on this CPU, -EBUSY if the page
 * did not hold still, or if the caller has interrupted a refresh of the same view. Only
 * on the thread that opened the counter. No system call.
 */
int pm_view_refresh(struct perfmon_counter_view *view);

/* The one retry loop: VIEW's value in *VALUE, or what pm_view_refresh() refused with. */
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
 * The same with the times that belong to the value. -EOPNOTSUPP where the page has no
 * clock (cap_user_time): take them from read(2).
 */
int pm_view_read_times(struct perfmon_counter_view *view, uint64_t *value,
		       uint64_t *enabled_ns, uint64_t *running_ns);

/* How long the event of PAGE has been enabled, now, while it is; -EOPNOTSUPP without a
 * clock, -EBUSY if the page did not hold still. On the event's own thread only. */
int pm_view_page_enabled(const struct perf_event_mmap_page *page, uint64_t *enabled_ns);

/*
 * Says that a counter read has faulted: user access was taken away, from all threads at
 * once. Every view of this moment refuses to be refreshed from now on (-EAGAIN); those
 * of pages mapped later begin anew. Async-signal-safe.
 */
void pm_view_revoke_all(void);

/* TIMESTAMP (perfmon_arch_timestamp()) in the nanoseconds of PAGE's clock: what the
 * enabled base of a view is counted in. Meaningful where cap_user_time is set. */
uint64_t pm_view_clock_ns(const struct perf_event_mmap_page *page, uint64_t timestamp);

#endif
