/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fast read of a counter, without a system call: from the page that the kernel maps,
 * and by one unprivileged instruction. The inline reads of programs (perfmon/inline.h),
 * the out-of-line reads and the region path compile from this file.
 *
 * The kernel brackets each update of a page with two increments of `lock`, and updates a
 * counter's page on the CPU of the thread that owns the counter. So between two equal
 * values of `lock` nothing of the page has changed. Everything that follows from the page
 * (index, offset, width, times) can be kept in a *view* and used again until `lock`
 * changes:
 *
 *   sample:   do lock and index equal the view's?  (one 64-bit load)
 *             read the hardware counter
 *             are lock and index still equal?      -> the sample is good
 *   refresh:  otherwise copy the page to the view, between two equal even locks,
 *             and sample again.
 *
 * Barriers: reader and kernel run on the same CPU, so only an interrupt can come between.
 * A compiler barrier orders the loads. It pairs with the kernel's barrier() in
 * perf_event_update_userpage(). Another thread must not use the view.
 *
 * Usable from C11 and C++11. Include perfmon/inline.h, not this file.
 */
#ifndef PERFMON_FASTPATH_READ_H
#define PERFMON_FASTPATH_READ_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "../arch/arch.h"

/* Empty in the product. Tests define it to inject a migration, a wrap or a rotation
 * between any two steps. */
#ifndef PERFMON_READ_HOOK
#define PERFMON_READ_HOOK(step, view) ((void)0)
#endif

#define PERFMON_READ_BARRIER() __asm__ __volatile__("" ::: "memory")

/* The steps at which the hook is called, in order. */
enum perfmon_read_step {
	PERFMON_READ_CHECKED, /* sample: page and view agreed */
	PERFMON_READ_SAMPLED, /* sample: the hardware counter has been read */
	PERFMON_READ_LOCKED,  /* refresh: lock and index have been read */
	PERFMON_READ_COPIED,  /* refresh: the rest has been read */
	PERFMON_READ_STORING  /* refresh: twice, before it is stored and midway */
};

/* No page ever has these locks. A page's lock is even when nobody writes the page. The
 * second marks a view during its refresh. */
#define PERFMON_VIEW_STALE  UINT64_C(1)
#define PERFMON_VIEW_TAKING UINT64_C(3)

/*
 * A reader's copy of one counter's page. The first five fields stand in the order in
 * which a read loads them, to be loaded in pairs.
 *
 *	field		writer				order
 *	base		pm_view_rebase(), any thread	before lock_index is made stale
 *	taker		pm_view_refresh()		set before, cleared after all
 *							that it writes
 *	lock_index	both				by a refresh last, and only if
 *							nobody has made it stale since
 *	the others	pm_view_refresh()
 *
 * A signal handler that reads by the same view may interrupt a refresh. While there is a
 * taker the handler writes nothing. Otherwise the interrupted refresh would overwrite
 * parts of the handler's view, and a second handler could read half of each.
 */
struct perfmon_counter_view {
	const struct perf_event_mmap_page *page;
	uint64_t lock_index;   /* the page's lock (low half) and index (high half) */
	uint64_t value_handle; /* perfmon_arch_value_handle(index, width) */
	uint64_t offset;       /* the addend of the sign-extended hardware counter */
	uint64_t handle;       /* perfmon_arch_counter_handle(index), for raw reads */
	uint32_t shift;	       /* 64 less the counter's width in bits */
	uint32_t retries;      /* times a refresh had to start again */
	/* Enabled less running time: how long the counter was off the hardware, up to
	 * the last change of the page. It is constant while the counter is on the
	 * hardware. */
	uint64_t lost_ns;
	/* time_enabled + time_offset: plus t in ns, this is the enabled time at timestamp
	 * t */
	uint64_t enabled_base_ns;
	uint64_t base;	/* the owner's own addend, part of offset after a refresh */
	uint32_t epoch; /* number of recoveries at the start; an older view is stale */
	uint32_t taker; /* identifies the stack frame of the running refresh; 0: none */
};

/* Returns the page's lock and index as one word, with the lock in the low half. */
static inline uint64_t perfmon_view_lock_index(const struct perf_event_mmap_page *page)
{
	typedef uint64_t __attribute__((may_alias)) word;
	const volatile void *lock = &page->lock;

#ifdef __cplusplus
	return *static_cast<const volatile word *>(lock);
#else
	return *(const volatile word *)lock;
#endif
}

/* Returns whether the page's lock or index differs from TAKEN. Two barriers make the
 * compiler load it here. volatile would cost an instruction on x86. */
static inline int perfmon_view_moved(const struct perf_event_mmap_page *page,
				     uint64_t taken)
{
	typedef uint64_t __attribute__((may_alias)) word;
	const void *lock = &page->lock;

#ifdef __cplusplus
	return static_cast<int>(
		__builtin_expect(*static_cast<const word *>(lock) != taken, 0));
#else
	return (int)__builtin_expect(*(const word *)lock != taken, 0);
#endif
}

/*
 * Tries once to read the raw hardware counter of VIEW into *RAW. Returns 0, or 1 if the
 * page has changed since the refresh or the counter is not on the hardware: refresh the
 * view, then try again. A caller that also uses the view's other fields must not be
 * interrupted by a signal handler that refreshes the same view.
 */
static inline int perfmon_view_sample(const struct perfmon_counter_view *view,
				      uint64_t *raw)
{
	const struct perf_event_mmap_page *page = view->page;
	uint64_t taken = view->lock_index;

	PERFMON_READ_BARRIER();
	if (perfmon_view_moved(page, taken))
		return 1;
	PERFMON_READ_BARRIER();
	PERFMON_READ_HOOK(PERFMON_READ_CHECKED, view);
	*raw = perfmon_arch_counter_read(view->handle, &taken);
	PERFMON_READ_HOOK(PERFMON_READ_SAMPLED, view);
	PERFMON_READ_BARRIER();
	return perfmon_view_moved(page, taken);
}

/*
 * Tries once to read the whole value: the counter, sign-extended from its width, plus the
 * offset. The kernel sets a counter to -period, from where it counts up through zero:
 * masking instead of extending would lose 2^width. The view's lock is loaded before all
 * other fields, so that a signal handler may refresh the view at any point: then the page
 * has changed, and a check fails. PAGE is the view's page.
 */
static inline int perfmon_view_value_on(const struct perfmon_counter_view *view,
					const struct perf_event_mmap_page *page,
					uint64_t *value)
{
	uint64_t taken = view->lock_index;
	uint64_t handle, offset, read;

	PERFMON_READ_BARRIER();
	handle = view->value_handle;
#ifdef PERFMON_ARCH_HAS_COUNTER_VALUE
	offset = view->offset;
	PERFMON_ARCH_PAIR(handle, offset);
#endif
	if (perfmon_view_moved(page, taken))
		return 1;
	PERFMON_READ_BARRIER();
	PERFMON_READ_HOOK(PERFMON_READ_CHECKED, view);
#ifdef PERFMON_ARCH_HAS_COUNTER_VALUE
	read = perfmon_arch_counter_value(handle, offset, &taken);
#else
	read = perfmon_arch_counter_read(handle, &taken);
	PERFMON_READ_BARRIER(); /* offset and shift need no registers before */
	offset = view->offset;
	read = perfmon_arch_extended(offset, read, view->shift);
#endif
	PERFMON_READ_HOOK(PERFMON_READ_SAMPLED, view);
	PERFMON_READ_BARRIER();
	if (perfmon_view_moved(page, taken))
		return 1;
	*value = read;
	return 0;
}

static inline int perfmon_view_value(const struct perfmon_counter_view *view,
				     uint64_t *value)
{
	return perfmon_view_value_on(view, view->page, value);
}

/* Returns RAW, sign-extended from the counter's width. */
static inline int64_t perfmon_view_extend(const struct perfmon_counter_view *view,
					  uint64_t raw)
{
	return perfmon_arch_extend(raw, view->shift);
}

/* Returns the difference of two raw readings under one lock. A negative difference is a
 * defect: the kernel handles a counter's interrupt before the counter has gone through
 * half of its width. */
static inline int64_t perfmon_view_difference(const struct perfmon_counter_view *view,
					      uint64_t later, uint64_t earlier)
{
	return perfmon_arch_extend(later - earlier, view->shift);
}

#ifdef __cplusplus
static_assert(offsetof(struct perf_event_mmap_page, lock) == 8,
	      "lock and index are read");
static_assert(offsetof(struct perf_event_mmap_page, index) == 12, "as one 64-bit word");
#else
_Static_assert(offsetof(struct perf_event_mmap_page, lock) == 8,
	       "lock and index are read");
_Static_assert(offsetof(struct perf_event_mmap_page, index) == 12, "as one 64-bit word");
#endif

#endif
