/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fastpath/view.h"

#include <stdbool.h>

/* More attempts than any page changes between two instructions of one thread. A page that
 * changes more often is not a counter's page. */
#define TRIES 1000

/* Counts how often user access was lost. A signal handler writes it. */
static uint32_t epoch;

/* lock 0, index 0: a counter that is never on the hardware. */
static const struct perf_event_mmap_page none;

void pm_view_init_none(struct perfmon_counter_view *view)
{
	pm_view_init(view, &none, 0);
}

void pm_view_init(struct perfmon_counter_view *view,
		  const struct perf_event_mmap_page *page, uint64_t base)
{
	*view = (struct perfmon_counter_view){
		.page = page,
		.lock_index = PERFMON_VIEW_STALE,
		.value_handle = PERFMON_ARCH_NO_HANDLE,
		.handle = PERFMON_ARCH_NO_HANDLE,
		.base = base,
		.epoch = __atomic_load_n(&epoch, __ATOMIC_RELAXED),
	};
}

void pm_view_rebase(struct perfmon_counter_view *view, uint64_t base)
{
	__atomic_store_n(&view->base, base, __ATOMIC_RELAXED);
	/* Pairs with publish(): a refresh that has not seen the new base fails there. */
	__atomic_store_n(&view->lock_index, PERFMON_VIEW_STALE, __ATOMIC_RELEASE);
}

/* Makes a view valid, unless it has become stale since the mark. */
static bool publish(struct perfmon_counter_view *view, uint64_t taken)
{
	uint64_t mark = PERFMON_VIEW_TAKING;

	PERFMON_READ_BARRIER();
	return __atomic_compare_exchange_n(&view->lock_index, &mark, taken, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static int refresh(struct perfmon_counter_view *view)
{
	const volatile struct perf_event_mmap_page *page = view->page;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		uint64_t taken = perfmon_view_lock_index(view->page);
		uint32_t index = (uint32_t)(taken >> 32);
		uint64_t enabled, running, time_offset;
		uint64_t handle, value_handle;
		uint64_t offset, base;
		uint32_t width;

		view->retries += tries != 0;
		/* Pairs with pm_view_rebase(). If this replaces its mark, the load of the
		 * base below sees the new base. */
		__atomic_exchange_n(&view->lock_index, PERFMON_VIEW_TAKING,
				    __ATOMIC_ACQUIRE);
		if (taken & 1)
			continue;
		PERFMON_READ_BARRIER();
		PERFMON_READ_HOOK(PERFMON_READ_LOCKED, view);
		base = __atomic_load_n(&view->base, __ATOMIC_RELAXED);
		offset = (uint64_t)page->offset;
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
		value_handle = perfmon_arch_value_handle(index, width);
		if (handle == PERFMON_ARCH_NO_HANDLE ||
		    value_handle == PERFMON_ARCH_NO_HANDLE || !width || width > 64)
			return -EOPNOTSUPP;
		PERFMON_READ_HOOK(PERFMON_READ_STORING, view);
		view->handle = handle;
		view->value_handle = value_handle;
		view->offset = offset + base;
		PERFMON_READ_HOOK(PERFMON_READ_STORING, view);
		view->shift = 64 - width;
		view->lost_ns = enabled - running;
		view->enabled_base_ns = enabled + time_offset;
		if (publish(view, taken))
			return 0;
	}
	return -EBUSY;
}

int pm_view_refresh(struct perfmon_counter_view *view)
{
	/* The frame of a signal handler differs from the frame that it has interrupted.
	 * An equal frame is not nested: the handler has left the former refresh by a
	 * jump. */
	uint32_t self = (uint32_t)(uintptr_t)__builtin_frame_address(0) | 1;
	int err;

	if (view->epoch != __atomic_load_n(&epoch, __ATOMIC_RELAXED)) {
		view->lock_index = PERFMON_VIEW_STALE;
		return -EAGAIN;
	}
	if (view->taker && view->taker != self)
		return -EBUSY;
	view->taker = self;
	PERFMON_READ_BARRIER();
	err = refresh(view);
	if (err)
		view->lock_index = PERFMON_VIEW_STALE;
	PERFMON_READ_BARRIER();
	view->taker = 0;
	return err;
}

uint64_t pm_view_clock_ns(const struct perf_event_mmap_page *page, uint64_t timestamp)
{
	uint64_t quotient, remainder;

	/* Linux 5.12: time_cycles extends a counter narrower than 64 bits. */
	if (page->cap_user_time_short)
		timestamp = page->time_cycles +
			    ((timestamp - page->time_cycles) & page->time_mask);
	quotient = timestamp >> page->time_shift;
	remainder = timestamp & ((UINT64_C(1) << page->time_shift) - 1);
	return quotient * page->time_mult +
	       ((remainder * page->time_mult) >> page->time_shift);
}

int pm_view_read_times(struct perfmon_counter_view *view, uint64_t *value,
		       uint64_t *enabled_ns, uint64_t *running_ns)
{
	for (;;) {
		uint64_t sample, enabled, lost, lock;
		int err = pm_view_read(view, &sample);

		if (err)
			return err;
		if (!view->page->cap_user_time)
			return -EOPNOTSUPP;
		lock = view->lock_index;
		lost = view->lost_ns;
		enabled = view->enabled_base_ns +
			  pm_view_clock_ns(view->page, perfmon_arch_timestamp());
		PERFMON_READ_BARRIER();
		/* The page has changed since the sample: the times are those of another
		 * interval. */
		if (perfmon_view_lock_index(view->page) != lock)
			continue;
		*value = sample;
		*enabled_ns = enabled;
		*running_ns = enabled - lost;
		return 0;
	}
}

int pm_view_page_enabled(const struct perf_event_mmap_page *page, uint64_t *enabled_ns)
{
	const volatile struct perf_event_mmap_page *now = page;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		uint64_t taken = perfmon_view_lock_index(page);
		uint64_t enabled;

		if (taken & 1)
			continue;
		PERFMON_READ_BARRIER();
		if (!now->cap_user_time)
			return -EOPNOTSUPP;
		enabled = now->time_enabled + now->time_offset +
			  pm_view_clock_ns(page, perfmon_arch_timestamp());
		PERFMON_READ_BARRIER();
		if (perfmon_view_lock_index(page) != taken)
			continue;
		*enabled_ns = enabled;
		return 0;
	}
	return -EBUSY;
}

void pm_view_revoke_all(void)
{
	__atomic_fetch_add(&epoch, 1, __ATOMIC_RELAXED);
}
