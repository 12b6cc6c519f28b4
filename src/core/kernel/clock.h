/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wall time: the CPU's timestamp counter where it can be trusted -- it ticks at one rate,
 * in all power states, the same on all CPUs, which the kernel knows -- else
 * CLOCK_MONOTONIC.
 */
#ifndef PM_KERNEL_CLOCK_H
#define PM_KERNEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct pm_clock {
	bool monotonic; /* ticks are CLOCK_MONOTONIC's nanoseconds */
	bool replaced;	/* libc's clock_gettime() does not tell the kernel's time */
	char why[160];	/* ... because, a sentence; else "" */
	uint64_t hz;	/* where the CPU says it, else 0 */
	uint64_t begin_ticks;
	uint64_t begin_ns;
	uint64_t begin_realtime_ns;
	uint64_t begin_error; /* of that moment, in ticks */
};
extern struct pm_clock pm_clock;

/* Decides which clock it is, and reads both for the first time. The first call decides;
 * later ones do nothing. */
void pm_clock_init(void);

/* Ticks and CLOCK_MONOTONIC at one moment (the closest of several attempts); *NS is 0 if
 * that clock cannot be read. By how many ticks the two may be apart. */
uint64_t pm_clock_both(uint64_t *ticks, uint64_t *ns);

uint64_t pm_clock_ticks(void);

/* Nanoseconds in TICKS, by the rate over the time since pm_clock_init(). */
double pm_clock_ticks_ns(double ticks);

#endif
