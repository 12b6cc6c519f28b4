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

/*
 * Saves the values of the views that END will need into the frames up to TOP that began
 * in the current epoch, and advances the epoch. This must come before any view is
 * refreshed.
 */
void pm_stale_save(struct pm_thread_block *block, struct pm_frame *top);

/* Reads every counter at TICKS, by its page if possible, else by read(2). All frames have their views
 * saved. */
void pm_stale_read(struct pm_thread_block *block, uint64_t ticks, struct pm_whole *whole);

/* Reads the counters and the clock into FRAME, which begins here. Returns whether some page has
 * changed. */
bool pm_stale_begin(struct pm_thread_block *block, struct pm_frame *frame);

/* Adds what passed from the BEGIN of FRAME's visit, or since it was resumed, to its node: a visit that is
 * suspended NOW, when the counters were WHOLE. Returns the ticks. All frames have their views saved. */
uint64_t pm_stale_part(struct pm_thread_block *block, const struct pm_frame *frame,
		       uint64_t now, const struct pm_whole *whole);

#endif
