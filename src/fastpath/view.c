/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fastpath/view.h"

/* Far more often than any page is rewritten between two instructions of one thread; a
 * page that moves this often is not a counter's page. */
#define TRIES 1000

/* lock 0, index 0: a counter that is never on the hardware. */
static const struct perf_event_mmap_page none;

void pm_view_init_none(struct perfmon_counter_view *view)
{
	pm_view_init(view, &none, 0);
}

void pm_view_init(struct perfmon_counter_view *view,
		  const struct perf_event_mmap_page *page, int64_t base)
{
	*view = (struct perfmon_counter_view){
		.page = page,
		.lock_index = PERFMON_VIEW_STALE,
		.handle = PERFMON_ARCH_NO_HANDLE,
		.base = base,
	};
}

int pm_view_refresh(struct perfmon_counter_view *view)
{
	const volatile struct perf_event_mmap_page *page = view->page;
	int tries;

	view->lock_index = PERFMON_VIEW_STALE;
	for (tries = 0; tries < TRIES; tries++) {
		uint64_t taken = perfmon_view_lock_index(view->page);
		uint32_t index = (uint32_t)(taken >> 32);
		uint64_t enabled, running, time_offset;
		uint64_t handle;
		uint32_t width;
		int64_t offset;

		view->retries += tries != 0;
		if (taken & 1)
			continue;
		PERFMON_READ_BARRIER();
		PERFMON_READ_HOOK(PERFMON_READ_LOCKED, view);
		offset = page->offset;
		width = page->pmc_width;
		enabled = page->time_enabled;
		running = page->time_running;
		time_offset = page->time_offset;
		PERFMON_READ_HOOK(PERFMON_READ_COPIED, view);
		PERFMON_READ_BARRIER();
		if (perfmon_view_lock_index(view->page) != taken)
			continue;
		if (!index)
			return -EAGAIN;
		handle = perfmon_arch_counter_handle(index);
		if (handle == PERFMON_ARCH_NO_HANDLE || !width || width > 64)
			return -EOPNOTSUPP;
		view->handle = handle;
		view->offset = (int64_t)((uint64_t)offset + (uint64_t)view->base);
		view->shift = 64 - width;
		view->lost_ns = enabled - running;
		view->enabled_base_ns = enabled + time_offset;
		view->lock_index = taken;
		return 0;
	}
	return -EBUSY;
}

uint64_t pm_view_clock_ns(const struct perf_event_mmap_page *page, uint64_t timestamp)
{
	uint64_t quotient, remainder;

	/* Linux 5.12: a counter narrower than 64 bits is extended by time_cycles. */
	if (page->cap_user_time_short)
		timestamp = page->time_cycles +
			    ((timestamp - page->time_cycles) & page->time_mask);
	quotient = timestamp >> page->time_shift;
	remainder = timestamp & ((UINT64_C(1) << page->time_shift) - 1);
	return quotient * page->time_mult +
	       ((remainder * page->time_mult) >> page->time_shift);
}
