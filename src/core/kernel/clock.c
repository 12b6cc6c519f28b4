/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/clock.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

struct pm_clock pm_clock;
static bool decided;

/* x86: the TSC can be trusted if the kernel uses it or offers it. A kernel that found it
 * unstable drops it from the list (Linux, arch/x86/kernel/tsc.c, mark_tsc_unstable). */
static bool timestamp_trusted(void)
{
#if defined(__x86_64__)
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/available_clocksource";
	char *sources, *word, *rest;
	bool found = false;

	if (pm_file_read(path, &sources) < 0) {
		snprintf(pm_clock.why, sizeof(pm_clock.why),
			 "cannot read %s to check that the TSC is stable", path);
		return false;
	}
	for (word = strtok_r(sources, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		found = found || !strcmp(word, "tsc");
	if (!found)
		snprintf(pm_clock.why, sizeof(pm_clock.why),
			 "the kernel marked the TSC unstable: no 'tsc' in %s", path);
	free(sources);
	return found;
#else
	/* Other CPUs define their counter to have one rate on all CPUs. The generic one
	 * is CLOCK_MONOTONIC. */
	return true;
#endif
}

static int libc_ns(uint64_t *ns)
{
	if (!pm_clock.end_ns)
		return pm_kernel_clock_of_libc(ns);
	*ns = pm_clock.end_ns;
	return 0;
}

uint64_t pm_clock_ticks(void)
{
	uint64_t ns = 0;

	if (!pm_clock.monotonic)
		return perfmon_arch_timestamp();
	libc_ns(&ns);
	return ns;
}

bool pm_clock_may_end(void)
{
	return pm_clock.monotonic && pm_clock.replaced;
}

uint64_t pm_clock_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;
	int i;

	*ns = 0;
	*ticks = 0;
	for (i = 0; i < 4; i++) {
		uint64_t before = pm_clock_ticks(), between = 0, after;
		/* libc's clock needs no system call. It is used if it agrees with the
		 * kernel's. */
		int err = pm_clock.monotonic || !pm_clock.replaced
				  ? libc_ns(&between)
				  : pm_kernel_clock_ns(CLOCK_MONOTONIC, &between);

		after = pm_clock_ticks();
		if (err || after - before > best) {
			*ticks = *ns ? *ticks : after;
			continue;
		}
		best = after - before;
		*ticks = before + (after - before) / 2;
		*ns = between;
	}
	return best / 2;
}

/* Finds whether a library replaces libc's clock. If regions read that clock, the reason
 * says it. */
static void know_replaced(void)
{
	uint64_t before, kernel, after;

	if (pm_kernel_clock_of_libc(&before) ||
	    pm_kernel_clock_ns(CLOCK_MONOTONIC, &kernel) ||
	    pm_kernel_clock_of_libc(&after))
		return;
	pm_clock.replaced = kernel < before || kernel > after;
	if (pm_clock.replaced && pm_clock.monotonic)
		snprintf(pm_clock.why, sizeof(pm_clock.why),
			 "a library in this process replaces clock_gettime() "
			 "(libfaketime?): times come from the replaced clock");
}

void pm_clock_init(void)
{
	if (decided)
		return;
	memset(&pm_clock, 0, sizeof(pm_clock));
	pm_clock.monotonic = !timestamp_trusted();
	know_replaced();
	pm_clock.hz = pm_clock.monotonic ? 1000000000u : perfmon_arch_timestamp_hz();
	pm_clock.begin_error = pm_clock_both(&pm_clock.begin_ticks, &pm_clock.begin_ns);
	pm_kernel_clock_ns(CLOCK_REALTIME, &pm_clock.begin_realtime_ns);
	decided = true;
}

double pm_clock_ticks_ns(double ticks)
{
	/* A rate is used until the time over which it was measured has doubled. Its error
	 * falls with that time, and few callers pay for reading both clocks. Threads may
	 * race to store a rate; each of them is good. */
	static double rate;
	static uint64_t good_until;
	uint64_t now_ticks, now_ns;
	double known;

	if (pm_clock.hz)
		return ticks * 1e9 / (double)pm_clock.hz;
	/* Pairs with the release below: there is a rate. */
	if (pm_clock_ticks() < __atomic_load_n(&good_until, __ATOMIC_ACQUIRE)) {
		__atomic_load(&rate, &known, __ATOMIC_RELAXED);
		return ticks * known;
	}
	pm_clock_both(&now_ticks, &now_ns);
	if (now_ticks <= pm_clock.begin_ticks)
		return 0;
	known = (double)(now_ns - pm_clock.begin_ns) /
		(double)(now_ticks - pm_clock.begin_ticks);
	__atomic_store(&rate, &known, __ATOMIC_RELAXED);
	/* Pairs with the acquire above. */
	__atomic_store_n(&good_until, now_ticks + (now_ticks - pm_clock.begin_ticks),
			 __ATOMIC_RELEASE);
	return ticks * known;
}
