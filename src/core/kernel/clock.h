/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wall time. It is the CPU's timestamp counter if the kernel trusts it: one rate in all
 * power states, the same on all CPUs. Otherwise it is CLOCK_MONOTONIC.
 */
#ifndef PM_KERNEL_CLOCK_H
#define PM_KERNEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct pm_clock {
	bool monotonic; /* ticks are CLOCK_MONOTONIC's nanoseconds */
	bool replaced;	/* libc's clock_gettime() differs from the kernel's time */
	/* the reason, a sentence that continues the clock's name; else "" */
	char why[160];
	uint64_t hz; /* if the CPU reports it, else 0 */
	uint64_t begin_ticks;
	uint64_t begin_ns;
	uint64_t begin_realtime_ns;
	uint64_t begin_error; /* of that moment, in ticks */
	/* if not 0, the clock stands at this time of libc's: what gives it may have ended */
	uint64_t end_ns;
};
extern struct pm_clock pm_clock;

/* Chooses the clock and reads both for the first time. Later calls do nothing. */
void pm_clock_init(void);

/* Reads the ticks and CLOCK_MONOTONIC at one moment, the closest of several attempts. *NS
 * is 0 if that clock cannot be read. Returns the possible error in ticks. */
uint64_t pm_clock_both(uint64_t *ticks, uint64_t *ns);

uint64_t pm_clock_ticks(void);

/* Returns whether a library that may end before this one gives the time. */
bool pm_clock_may_end(void);

/* Converts TICKS to nanoseconds, by the rate since pm_clock_init(). */
double pm_clock_ticks_ns(double ticks);

#endif
