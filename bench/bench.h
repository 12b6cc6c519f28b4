/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the benchmarks share: how a cost is taken, and how it is printed.
 *
 * A program prints lines "BENCH name value unit" on stdout and all else on stderr. The
 * unit depends on the machine (bench_exact()):
 *
 * - In the guest, where one instruction takes one nanosecond of CLOCK_MONOTONIC, costs
 *   are instructions. bench_user() counts those of user mode by a hardware counter, to
 *   the instruction; bench_all() counts user and kernel together by the clock, which
 *   ticks every 16 of them.
 * - Elsewhere costs are times, which are noisy: bench_user() and bench_all() give
 *   nanoseconds for information, and what counts are the ratios of things measured in
 *   turn (bench_ratio()).
 */
#ifndef BENCH_H
#define BENCH_H

#include <perfmon/region.h>
#include <stdbool.h>
#include <stdint.h>

/* Work to be measured: N repetitions. */
typedef void bench_work(int n);

/* Whether costs here are instructions. The first call pins the process to one CPU if so:
 * the clock counts those of all CPUs. */
bool bench_exact(void);

/* "instructions" or "ns". */
const char *bench_unit(void);

/* The cost of one repetition of WORK less one of EMPTY (NULL: of an empty loop), over N
 * of them: in user mode; or user and kernel together, where a run of N should take less
 * than the 4 million instructions between two ticks. */
double bench_user(bench_work *work, bench_work *empty, int n);
double bench_all(bench_work *work, bench_work *empty, int n);

/* The meter of bench_user(), to take costs in another way. */
uint64_t bench_user_now(void);

/* The same for this thread and all that it creates after the first call. */
uint64_t bench_threads_now(void);

/* bench_user(), and where costs are exact a warning if WORK enters the kernel: a read
 * that falls back to a system call would look cheap. */
double bench_user_only(const char *name, bench_work *work, bench_work *empty, int n);

/* The time of a repetition of A over one of B (N of each in a sample), measured in turn;
 * if A_NS or B_NS is not NULL their times go there. */
double bench_ratio(bench_work *a, bench_work *b, int n, double *a_ns, double *b_ns);

void bench_print(const char *name, double value, const char *unit);
void bench_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
double bench_median(double *values, int count);
uint64_t bench_now_ns(void);

/* Runs this program again as "PROGRAM MODE" with PERFMON_EVENTS=EVENTS and without a
 * report. Its exit status. */
int bench_again(const char *mode, const char *events);

/* Whether LIBRARY and BY_HAND make the same system calls, in a child that has called
 * PREPARE: 0, or 1 after having said which. */
int bench_same_calls(const char *what, void (*prepare)(void), void (*library)(void),
		     void (*by_hand)(void));

/* PERFMON_REGION_BEGIN and _END for a region that is not a constant of the place. */
static inline void bench_begin(struct perfmon_region *region)
{
	void (*call)(struct perfmon_region *) =
		__atomic_load_n(&perfmon_region_begin_armed, __ATOMIC_RELAXED);

	if (__builtin_expect(call != NULL, 1))
		call(region);
}

static inline void bench_end(struct perfmon_region *region)
{
	void (*call)(struct perfmon_region *) =
		__atomic_load_n(&perfmon_region_end_armed, __ATOMIC_RELAXED);

	if (__builtin_expect(call != NULL, 1))
		call(region);
}

/* Events that all count on the guest's PMU: the first K of them, K up to 4. */
const char *bench_events(int k);

#endif
