/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Visits that overlap, or that end on another thread than they began on, such as requests, messages
 * on their way, or sections. Each has an object of the program's, which begins and ends it:
 *
 *	struct perfmon_overlap request = {0};
 *
 *	perfmon_overlap_begin(&request, "request");
 *		... visits begin and end, in any order, and then, on any thread:
 *	perfmon_overlap_end(&request);
 *
 * Such a visit stands below the path of the thread that began it, as "request (overlapping)". It contains
 * no other visit, and is in none: its time and its events are also those of whatever ran meanwhile, so
 * they are in no exclusive value and in no sum, and have no share. Its time is known always. Its
 * events are those of the thread that began it, and are known if that thread ends it; otherwise the visit
 * counts in its time alone, and its region has the mark of visits whose counts were dropped.
 *
 * All calls: any thread, but no signal handler, and for one object one at a time. Both calls read
 * all counters, and the first visit of a path allocates, takes a lock and enters the kernel, as does an
 * end on another thread. With -DPERFMON_DISABLE they compile to nothing, and return 0.
 */
#ifndef PERFMON_OVERLAP_H
#define PERFMON_OVERLAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A visit that is open, or none: all zero. Not to be copied while it is open. */
struct perfmon_overlap {
	uint64_t opaque[40]; /* the library's */
};

/**
 * perfmon_overlap_begin() - begins a visit of the region NAME, as OVERLAP, below the path of the
 * calling thread. NAME is copied.
 *
 * Return: 0, also while regions are disarmed, when nothing is counted; or, with OVERLAP unchanged,
 * -EINVAL: OVERLAP or NAME is NULL
 * -EALREADY: OVERLAP has a visit that has not ended; counted as lost
 * -EOVERFLOW: visits are nested too deep
 * -ENOMEM: out of memory
 * -EBUSY: the call is in a signal handler that interrupted a region call, or the thread cannot be
 *	prepared for regions
 */
int perfmon_overlap_begin(struct perfmon_overlap *overlap, const char *name);

/* Stands for perfmon_overlap_begin() with -DPERFMON_QUIET, as in perfmon/region.h. */
int perfmon_overlap_begin_quiet(struct perfmon_overlap *overlap, const char *name);
#ifdef PERFMON_QUIET
#define perfmon_overlap_begin(overlap, name) perfmon_overlap_begin_quiet(overlap, name)
#endif

/**
 * perfmon_overlap_end() - ends the visit of OVERLAP, on any thread. OVERLAP is none then.
 *
 * Return: 0, also for one that began while regions were disarmed; or
 * -EINVAL: OVERLAP is NULL
 * -ENOENT: OVERLAP has no visit; counted as lost
 * -ESTALE: it began in another process, before fork(2); counted as lost
 * -EOVERFLOW, -ENOMEM, -EBUSY: as above; the visit is lost
 */
int perfmon_overlap_end(struct perfmon_overlap *overlap);

/* The library's: the calls where regions are compiled to nothing. */
static inline __attribute__((always_inline)) int
perfmon_overlap_nothing_(const struct perfmon_overlap *overlap)
{
	(void)overlap;
	return 0;
}

#ifdef __cplusplus
}
#endif

#if defined(PERFMON_DISABLE) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#undef perfmon_overlap_begin
#define perfmon_overlap_begin(overlap, name)                                             \
	((void)(name), perfmon_overlap_nothing_(overlap))
#define perfmon_overlap_end(overlap) perfmon_overlap_nothing_(overlap)
#endif

#endif
