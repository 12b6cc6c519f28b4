/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames of open visits keep these of the counters. */
#ifndef PM_REGIONS_STALE_H
#define PM_REGIONS_STALE_H

#include <stdbool.h>

#include "fastpath/fastpath.h"

/* All counters of the calling thread, as whole values. */
struct pm_whole {
	uint64_t value[PERFMON_PROFILE_COUNTERS_MAX];
	uint64_t lost_ns[PERFMON_PROFILE_COUNTERS_MAX];
	uint64_t enabled_ns[PERFMON_PROFILE_COUNTERS_MAX]; /* UINT64_MAX: not known */
	uint32_t known; /* bit i: counter i could be read */
	bool by_call;	/* read(2) was used */
	bool changed;	/* some page has changed */
};

/* Reads the clock, whose ticks it returns, and every counter, by its page if possible, else by read(2).
 * Before that the frames up to LAST save what they need of the views. */
uint64_t pm_stale_read(struct pm_thread_block *block, struct pm_frame *last,
		       struct pm_whole *whole);

/* Keeps in FRAME, but for its start, the counters as they were read there. */
void pm_stale_keep(const struct pm_thread_block *block, struct pm_frame *frame,
		   const struct pm_whole *whole);

/* Reads the counters and the clock into FRAME, which begins here. Returns whether some page has
 * changed. */
bool pm_stale_begin(struct pm_thread_block *block, struct pm_frame *frame);

/* Adds what passed from the BEGIN of FRAME's visit, or since it was resumed, to its node: a visit that is
 * suspended NOW, when the counters were WHOLE. Returns the ticks. All frames have their views saved. */
uint64_t pm_stale_part(struct pm_thread_block *block, const struct pm_frame *frame,
		       uint64_t now, const struct pm_whole *whole);

#endif
