/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the benchmarks: measuring a cost, and printing it.
 *
 * A program prints lines "BENCH name value unit" on stdout and everything else on stderr.
 * The unit depends on the machine (bench_counts_instructions()):
 *
 * - In the guest, where one instruction takes one nanosecond of CLOCK_MONOTONIC, costs
 *   are instructions. bench_user() counts those of user mode by a hardware counter, to
 *   the instruction. bench_all() counts user and kernel together by the clock, which
 *   ticks every 16 of them.
 * - Elsewhere costs are times, which are noisy. bench_user() and bench_all() give
 *   nanoseconds for information. Limits are for the ratios of alternating measurements
 *   (bench_ratio()).
 */
#ifndef BENCH_H
#define BENCH_H

#include <perfmon/region.h>
#include <stdbool.h>
#include <stdint.h>

/* Work to be measured: N repetitions. */
typedef void bench_work(int n);

/* Returns whether costs here are instructions. If so, the first call binds the process to
 * one CPU, since the clock counts the instructions of all CPUs. */
bool bench_counts_instructions(void);

/* Returns "instructions" or "ns". */
const char *bench_unit(void);

/*
 * Return the cost of one repetition of WORK minus one of EMPTY (NULL: of an empty loop),
 * over N of them: in user mode, or user and kernel together. A run of N should take less
 * than the 4 million instructions between two ticks.
 */
double bench_user(bench_work *work, bench_work *empty, int n);
double bench_all(bench_work *work, bench_work *empty, int n);

/* The meter of bench_user(), for other ways of measuring. */
uint64_t bench_user_now(void);

/* The same for this thread and all that it creates after the first call. */
uint64_t bench_threads_now(void);

/* Does bench_user(). Where costs are instructions, warns if WORK enters the kernel: a
 * read that falls back to a system call would look cheap. */
double bench_user_only(const char *name, bench_work *work, bench_work *empty, int n);

/* Returns the time of a repetition of A over one of B (N of each in a sample), which
 * alternate. *A_NS and *B_NS, if not NULL, get their times. */
double bench_ratio(bench_work *a, bench_work *b, int n, double *a_ns, double *b_ns);

void bench_print(const char *name, double value, const char *unit);
void bench_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
double bench_median(double *values, int count);
uint64_t bench_now_ns(void);

/* Runs this program again as "PROGRAM MODE" with PERFMON_EVENTS=EVENTS and without a
 * report. Returns its exit status. */
int bench_again(const char *mode, const char *events);

/* Checks that LIBRARY and BY_HAND make the same system calls, in a child that has called
 * PREPARE. Returns 0, or 1 after a message. */
int bench_same_calls(const char *what, void (*prepare)(void), void (*library)(void),
		     void (*by_hand)(void));

/* PERFMON_REGION_BEGIN and _END for a region that is not a constant. */
static inline void bench_begin(struct perfmon_region *region)
{
	PERFMON_REGION_CALL_(begin, *region);
}

static inline void bench_end(struct perfmon_region *region)
{
	PERFMON_REGION_CALL_(end, *region);
}

/* Returns K events, up to 4, which the guest's PMU counts at once. */
const char *bench_events(int k);

#endif
