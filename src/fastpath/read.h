/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fast read: a counter's value from the page that the kernel maps and one
 * unprivileged instruction, without a system call. The inline reads of programs
 * (perfmon/inline.h), the out-of-line reads and the region path compile from this file.
 *
 * The kernel brackets each update of a page with two increments of `lock`, and updates
 * a counter's page on the CPU of the thread that owns the counter. So between two equal
 * values of `lock` nothing of the page has changed, and everything that follows from
 * the page -- index, offset, width, times -- can be kept beside it in a *view* and used
 * again until `lock` moves:
 *
 *   sample:   lock and index equal the view's?   (one 64-bit load)
 *             read the hardware counter
 *             lock and index still equal?        -> the sample is good
 *   refresh:  otherwise take the view anew from the page, between two equal even locks,
 *             and sample again.
 *
 * Barriers: reader and kernel run on the same CPU, so all that could come between is an
 * interrupt, and a compiler barrier orders the loads (its partner is the kernel's own
 * barrier() in perf_event_update_userpage()). Another thread must not use the view.
 *
 * Usable from C11 and C++11; include perfmon/inline.h, not this file.
 */
#ifndef PERFMON_FASTPATH_READ_H
#define PERFMON_FASTPATH_READ_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "../arch/arch.h"

/* Empty in the product. A test defines it to put a migration, a wrap or a rotation
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

/* A lock is even when nobody writes the page; no page ever matches these. The second is
 * that of a view which is being taken anew. */
#define PERFMON_VIEW_STALE  UINT64_C(1)
#define PERFMON_VIEW_TAKING UINT64_C(3)

/*
 * What a reader keeps of one counter's page. The first five stand in the order in which a
 * read takes them, to be loaded in pairs.
 *
 *	field		writer				order
 *	base		pm_view_rebase(), any thread	before lock_index is made stale
 *	taker		pm_view_refresh()		set before, cleared after all
 *							that it writes
 *	lock_index	both				by a refresh last, and only if
 *							nobody has made it stale since
 *	the others	pm_view_refresh()
 *
 * A refresh may be interrupted by a signal handler that reads by the same view. With a
 * taker the handler writes nothing: what it wrote would be a whole view, which the
 * interrupted refresh goes on to overwrite, and a second handler could read half of each.
 */
struct perfmon_counter_view {
	const struct perf_event_mmap_page *page;
	uint64_t lock_index;   /* the page's lock (low half) and index (high half) */
	uint64_t value_handle; /* perfmon_arch_value_handle(index, width) */
	uint64_t offset;       /* to add to the sign-extended hardware counter */
	uint64_t handle;       /* perfmon_arch_counter_handle(index), for raw reads */
	uint32_t shift;	       /* 64 less the counter's width in bits */
	uint32_t retries;      /* times a refresh had to start again */
	/* enabled less running time: what the counter has missed up to the last change of
	 * the page; constant while it is on the hardware */
	uint64_t lost_ns;
	/* time_enabled + time_offset: enabled time at timestamp t is this plus t in ns */
	uint64_t enabled_base_ns;
	uint64_t base;	/* the owner's own addend, part of offset after a refresh */
	uint32_t epoch; /* of the recoveries: an earlier one's views are not refreshed */
	uint32_t taker; /* of the refresh under way: tells its stack frame; 0: none */
};

/* The page's lock and index as one word, low half lock. */
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

/* Whether the page's lock or index differs from TAKEN. Between two barriers, which have
 * it loaded there and then: volatile would cost an instruction on x86. */
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
 * One attempt to read the hardware counter behind VIEW, raw, into *RAW. Returns 0, or 1
 * if the page has changed since the view was taken (or the counter is not on the
 * hardware): refresh, then try again. A caller that goes on to use the view's other
 * fields must not be interrupted by a signal handler that refreshes the same view.
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
 * The same for the whole value: the counter, sign-extended from its width, plus offset.
 * A width-bit counter that the kernel set to -period counts up through zero: masking
 * instead of extending loses 2^width. The view's lock is taken before all else that
 * it says, so that a signal handler may refresh the view at any point: then its page has
 * moved, and a check fails. PAGE is the view's.
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

/* RAW, sign-extended from the counter's width. */
static inline int64_t perfmon_view_extend(const struct perfmon_counter_view *view,
					  uint64_t raw)
{
	return perfmon_arch_extend(raw, view->shift);
}

/* The difference of two raw readings taken under one lock. Negative is a defect: the
 * kernel takes a counter's interrupt before it has gone through half of its width. */
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
