/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions on real counters. On a machine without a PMU all but the first are skipped:
 * the guest has one (scripts/guest).
 */
#include <criterion/criterion.h>
#ifndef STANDIN_CRITERION_H
#include <criterion/hooks.h>
#include <criterion/options.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "core/session/core/core.h"
#include "perfmon/inline.h"
#include "helpers.h"
#include "messages.h"

static unsigned int calls;

static int count_calls(enum pm_kernel_call call)
{
	(void)call;
	calls++;
	return 0;
}

static void watch(void)
{
	calls = 0;
	pm_kernel_fault = count_calls;
}

static void unwatch(void)
{
	pm_kernel_fault = NULL;
}

TestSuite(guest_read, .fini = unwatch);

/* N turns of a loop of two instructions. */
static void loop_exactly(uint64_t n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n)::"cc");
#else
	while (n--)
		__asm__ volatile("");
#endif
}

static struct perfmon_session *try_session(const char *events, uint32_t flags)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .flags = flags};
	struct perfmon_session *session = NULL;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	if (perfmon_session_add_events(session, events) < 0 ||
	    perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0) < 0) {
		perfmon_session_close(session);
		return NULL;
	}
	return session;
}

/* An event of the core PMU; the emulator counts instructions only when it counts them
 * all. */
static const char *event(void)
{
	static const char *const names[] = {"instructions", "cycles"};

	for (size_t i = 0; i < 2; i++) {
		struct perfmon_session *session = try_session(names[i], 0);

		perfmon_session_close(session);
		if (session)
			return names[i];
	}
	cr_skip_test("this machine has no PMU; scripts/guest has one");
	return NULL;
}

/* The same where only exact counts will do. */
static const char *exact_event(void)
{
	const char *name = event();

	if (strcmp(name, "instructions") != 0)
		cr_skip_test(
			"instructions are counted where the emulator counts them all "
			"(-icount)");
	return name;
}

static struct perfmon_session *running(const char *events,
				       const struct perfmon_reader **reader)
{
	struct perfmon_session *session = try_session(events, 0);

	cr_assert(session);
	if (reader)
		cr_assert_eq(perfmon_session_reader(session, reader), 0);
	cr_assert_eq(perfmon_session_start(session), 0);
	return session;
}

/* Counter I by read(2), whatever its page says. */
static uint64_t by_syscall(struct perfmon_session *session, uint32_t i)
{
	struct pm_reading reading;

	cr_assert_eq(pm_instance_read_counter(session->plan->targets[0].parts[0].instance,
					      i, &reading),
		     0);
	return reading.value + session->registers[i].base.value;
}

static struct perfmon_counter_info info_of(struct perfmon_session *session, uint32_t i)
{
	struct perfmon_counter_info info = {.size = sizeof(info)};

	cr_assert_eq(perfmon_session_get_counter(session, i, &info), 0);
	return info;
}

/* Fails in one place with all numbers. */
static uint64_t bracketed(struct perfmon_session *session,
			  const struct perfmon_reader *reader, uint32_t i)
{
	uint64_t before = by_syscall(session, i), value = 0, after;

	cr_assert_eq(perfmon_reader_read(reader, i, &value), 0);
	after = by_syscall(session, i);
	cr_assert(before <= value && value <= after, "counter %u: %llu <= %llu <= %llu",
		  i, (unsigned long long)before, (unsigned long long)value,
		  (unsigned long long)after);
	return value;
}

/*
 * Row: PM-10 from the monitored thread itself reads make no system call
 * Row: PM-09 start and stop are one system call for a whole set
 * Row: PC-08 the own thread's sums are sampled first
 * Row: PC-10 sum + (now - start) from mapped state
 */
Test(guest_read, reads_make_no_system_call)
{
	const char *name = event();
	char events[64];
	struct perfmon_session *session;
	const struct perfmon_reader *reader;
	struct perfmon_value values[2] = {{.index = 1}, {.index = 0}}, last[2] = {{0}};
	uint64_t value, all[2], previous = 0;

	snprintf(events, sizeof(events), "%s,cycles", name);
	session = running(events, &reader);
	loop_exactly(1000);
	watch();
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(perfmon_session_read(session, values,
						  sizeof(values) / sizeof(values[0]),
						  sizeof(values[0]), 0),
			     2);
		for (int k = 0; k < 2; k++) {
			cr_assert_eq(values[k].status, PERFMON_VALUE_COUNTED,
				     "counter %u, turn %d: %#x, %llu of %llu ns",
				     values[k].index, i, values[k].status,
				     (unsigned long long)values[k].running_ns,
				     (unsigned long long)values[k].enabled_ns);
			cr_assert_gt(values[k].value, last[k].value);
			cr_assert_geq(values[k].enabled_ns, last[k].enabled_ns);
			cr_assert_eq(values[k].enabled_ns, values[k].running_ns);
			last[k] = values[k];
		}
		cr_assert_eq(perfmon_reader_read(reader, 0, &value), 0);
		cr_assert_eq(perfmon_reader_read_call(reader, 0, &value), 0);
		cr_assert_gt(value, previous);
		previous = value;
		cr_assert_eq(perfmon_reader_read_all(reader, all), 0);
		cr_assert_eq(perfmon_reader_read_all_call(reader, all), 0);
		cr_assert_gt(all[0], value);
		previous = all[0];
		loop_exactly(100);
	}
	cr_assert_eq(calls, 0);
	cr_assert_eq(perfmon_session_stop(session), 0);
	cr_assert_eq(calls, 1);
	cr_assert_eq(perfmon_session_start(session), 0);
	cr_assert_eq(calls, 2);
	unwatch();
	bracketed(session, reader, 0);
	bracketed(session, reader, 1);
	perfmon_session_stop(session);
	cr_assert_eq(perfmon_reader_read(reader, 0, &value), 0,
		     "stopped, still readable");
	cr_assert_eq(value, by_syscall(session, 0));
	loop_exactly(1000);
	cr_assert_eq(by_syscall(session, 0), value);
	perfmon_session_detach(session);
	cr_assert_eq(perfmon_reader_read(reader, 0, &previous), 0);
	cr_assert_eq(previous, value);
	perfmon_session_close(session);
}

/* Row: PC-17 the thread's virtual time, read without a system call */
Test(guest_read, virtual_time_makes_no_system_call)
{
	const char *name = event();
	struct perfmon_value value = {.index = PERFMON_COUNTER_VIRTUAL_TIME};
	struct perfmon_session *session;
	uint64_t last = 0, begin, end;

	pm_kernel_clock_ns(CLOCK_MONOTONIC, &begin);
	session = running(name, NULL);
	let_time_pass_ms(20); /* asleep it does not pass */
	watch();
	for (int i = 0; i < 100; i++) {
		loop_exactly(1000);
		cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0),
			     1);
		cr_assert_gt(value.value, last);
		last = value.value;
	}
	cr_assert_eq(calls, 0);
	unwatch();
	perfmon_session_stop(session);
	pm_kernel_clock_ns(CLOCK_MONOTONIC, &end);
	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1);
	cr_assert_geq(value.value, last);
	cr_assert_leq(value.value + 15000000, end - begin);
	perfmon_session_close(session);
}

/* What reads cost, by Debian 12's compilers, and a quarter more for others. */
#if defined(__aarch64__)
#define ONE_READ   (16 + 4)
#define FOUR_READS (64 + 16)
#else
#define ONE_READ   (24 + 6)
#define FOUR_READS (90 + 22)
#endif

/* What a read costs, in instructions: the difference of two that follow each other. */
Test(guest_read, a_read_is_few_instructions)
{
	const char *name = exact_event();
	char events[128];
	struct perfmon_session *session = running(name, NULL);
	const struct perfmon_reader *reader;
	uint64_t a = 0, b = 0, one = UINT64_MAX, before[4], after[4], four = UINT64_MAX;

	/* The least: an interrupt may fall into one. */
	cr_assert_eq(perfmon_session_reader(session, &reader), 0);
	for (int i = 0; i < 10; i++) {
		perfmon_reader_read(reader, 0, &a);
		perfmon_reader_read(reader, 0, &b);
		one = b - a < one ? b - a : one;
	}
	printf("read.inline.1: %llu\n", (unsigned long long)one);
	cr_assert_gt(one, 0);
#ifdef __OPTIMIZE__
	cr_assert_leq(one, ONE_READ);
#endif
	perfmon_session_close(session);

	snprintf(events, sizeof(events), "%s,%s,%s,%s", name, name, name, name);
	session = running(events, &reader);
	for (int i = 0; i < 10; i++) {
		perfmon_reader_read_all(reader, before);
		perfmon_reader_read_all(reader, after);
		if (after[0] - before[0] < four)
			four = after[0] - before[0];
	}
	printf("read.inline.4: %llu\n", (unsigned long long)four);
	cr_assert_gt(four, 0);
#ifdef __OPTIMIZE__
	cr_assert_leq(four, FOUR_READS);
#endif
	perfmon_session_close(session);
}

/* Row: PM-05 every counter is 64 bits wide */
Test(guest_read, values_go_on_beyond_the_hardware_s_width)
{
	struct perfmon_session *session = running(event(), NULL);
	struct perfmon_write write = {.index = 0, .value = UINT32_MAX - 1000};
	struct perfmon_value value = {.index = 0};
	const struct perfmon_reader *reader;
	uint64_t fast;

	cr_assert_eq(perfmon_session_reader(session, &reader), 0);
	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0), 1);
	cr_assert_eq(perfmon_reader_read(reader, 0, &fast), 0);
	cr_assert_geq(fast, write.value);
	loop_exactly(10000);
	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1);
	cr_assert_gt(value.value, UINT32_MAX);
	bracketed(session, reader, 0);
	write.value = UINT64_MAX - 1000;
	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0), 1);
	loop_exactly(10000);
	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1);
	cr_assert_lt(value.value, UINT64_C(1) << 40, "64 bits and no more");
	perfmon_session_close(session);
}

/* Row: PC-11 narrow hardware counters never lose a wrap */
Test(guest_read, a_narrow_counter_wraps_without_loss, .timeout = 300)
{
	const char *name = exact_event();
	const struct perfmon_reader *reader;
	struct perfmon_session *session;
	uint64_t before = 0, after = 0, left, total = 0;

	/* It is 4,500,000,000 instructions. */
	if (geteuid() && getenv("PERFMON_TEST_SHORT"))
		cr_skip_test("root's run wraps the same counter");
	session = running(name, &reader);
	if (info_of(session, 0).width_bits != 32) {
		perfmon_session_close(session);
		cr_skip_test("the counter is too wide to wrap in a test");
	}
	cr_assert_eq(perfmon_reader_read(reader, 0, &before), 0);
	/* From the 2^31 at which the kernel's interrupt comes to beyond all 32 bits. */
	for (left = 45; left; left--) {
		uint64_t last = after;

		loop_exactly(50000000);
		total += 100000000;
		after = bracketed(session, reader, 0);
		cr_assert_gt(after, last);
	}
	cr_assert_geq(after - before, total);
	cr_assert_leq(after - before, total + total / 1000, "%llu of %llu",
		      (unsigned long long)(after - before), (unsigned long long)total);
	perfmon_session_close(session);
}

/* --- which register is which -------------------------------------------------------- */

static bool all_on_hardware(struct perfmon_session *const *sessions, int n)
{
	for (int i = 0; i < n; i++) {
		if (info_of(sessions[i], 0).hardware_counter < 0)
			return false;
	}
	return true;
}

/* Row: HW-15 the counter's number, for direct reading by the program */
Test(guest_read, each_accessor_reads_its_own_counter)
{
	const char *name = exact_event();
	struct perfmon_session *sessions[7];
	const struct perfmon_reader *readers[7];
	int n = 0;

	/* Started one after the other, no two hold the same count. As many as there are
	 * counters: what is too much takes turns with the others, until it is closed. */
	do {
		sessions[n] = running(n ? name : "cycles", &readers[n]);
		loop_exactly(1000000);
		n++;
	} while (n < 7 && all_on_hardware(sessions, n));
	while (!all_on_hardware(sessions, n)) {
		cr_assert_gt(n, 2, "fewer than two counters");
		perfmon_session_close(sessions[--n]);
		loop_exactly(10000000); /* the next tick lets in all that are left */
	}
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < n; i++)
			bracketed(sessions[i], readers[i], 0);
		loop_exactly(1000);
	}
	for (int i = 0; i < n; i++) {
		struct perfmon_counter_info info = info_of(sessions[i], 0);

		cr_assert_eq(info.user_read, 1);
		cr_assert(info.width_bits >= 32 && info.width_bits <= 64, "%d bits",
			  info.width_bits);
		for (int j = 0; j < i; j++)
			cr_assert_neq(info.hardware_counter,
				      info_of(sessions[j], 0).hardware_counter,
				      "sessions %d and %d", i, j);
	}
#if defined(__aarch64__)
	/* Cycles have a counter of their own. */
	cr_assert_eq(info_of(sessions[0], 0).hardware_counter, 31);
#endif
	while (n)
		perfmon_session_close(sessions[--n]);
}

/* --- the machine moves under the read ----------------------------------------------- */

static bool enough;
static pid_t victim;

static void *hop(void *unused)
{
	unsigned int cpu = 0, cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu++ % cpus, &set);
		sched_setaffinity(victim, sizeof(set), &set);
		let_time_pass_us(300);
	}
	return unused;
}

Test(guest_read, values_stay_right_while_the_thread_is_moved_about)
{
	const char *name = event();
	const struct perfmon_reader *reader;
	struct perfmon_session *session;
	pthread_t thread;
	uint64_t last = 0;
	int cpu = -1, moves = 0;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		cr_skip_test("one CPU is no place to move to");
	session = running(name, &reader);
	victim = own_tid();
	pthread_create(&thread, NULL, hop, NULL);
	for (int i = 0; i < 30000 && moves < 40; i++) {
		uint64_t value = bracketed(session, reader, 0);
		int now = sched_getcpu();

		cr_assert_gt(value, last);
		last = value;
		moves += now != cpu;
		cpu = now;
		loop_exactly(2000);
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	cr_assert_gt(moves, 10, "only %d moves", moves);
	perfmon_session_close(session);
}

/* More events than counters: values with their times, and right in proportion. */
Test(guest_read, multiplexed_values_carry_their_times, .timeout = 120)
{
	enum { N = 17 };
	const char *name = exact_event();
	struct perfmon_session *session, *truth;
	struct perfmon_value values[N], last[N] = {{0}}, true_value = {.index = 0};
	char events[32 * N] = "", pinned[64];
	const struct perfmon_reader *reader;
	unsigned int seen_multiplexed = 0;

	for (int i = 0; i < N; i++)
		strcat(strcat(events, i ? "," : ""), name);
	snprintf(pinned, sizeof(pinned), "%s:uD", name);
	truth = running(pinned, NULL);
	session = try_session(events, PERFMON_SESSION_SPLIT);
	cr_assert(session);
	cr_assert_eq(perfmon_session_reader(session, &reader), 0);
	cr_assert_eq(perfmon_session_start(session), 0);
	for (int round = 0; round < 60; round++) {
		uint64_t fast;

		loop_exactly(2500000);
		cr_assert_eq(perfmon_session_read(session, values,
						  sizeof(values) / sizeof(values[0]),
						  sizeof(values[0]), PERFMON_READ_ALL),
			     N);
		for (int i = 0; i < N; i++) {
			cr_assert_geq(values[i].value, last[i].value);
			cr_assert_geq(values[i].running_ns, last[i].running_ns);
			cr_assert_leq(values[i].running_ns, values[i].enabled_ns);
			seen_multiplexed +=
				!!(values[i].status & PERFMON_VALUE_MULTIPLEXED);
		}
		memcpy(last, values, sizeof(values));
		if (!perfmon_reader_read(reader, N - 1, &fast))
			cr_assert_geq(fast, last[N - 1].value);
	}
	perfmon_session_stop(session);
	perfmon_session_stop(truth);
	cr_assert_eq(perfmon_session_read(truth, &true_value, 1, sizeof(true_value), 0),
		     1);
	cr_assert_eq(true_value.status & ~PERFMON_VALUE_SYSCALL, PERFMON_VALUE_COUNTED);
	cr_assert_eq(perfmon_session_read(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), PERFMON_READ_ALL),
		     N);
	cr_assert_gt(seen_multiplexed, 0);
	for (int i = 0; i < N; i++) {
		double estimate = (double)values[i].value * (double)values[i].enabled_ns /
				  (double)values[i].running_ns;

		cr_assert_gt(values[i].running_ns, 0);
		cr_assert_float_eq(estimate / (double)true_value.value, 1, 0.05,
				   "counter %d: %.0f of %llu", i, estimate,
				   (unsigned long long)true_value.value);
	}
	perfmon_session_close(session);
	perfmon_session_close(truth);
}

/* The kernel of arm64 accepts a group that is too large by its leader and never runs it:
 * many events are groups that run in turn, and are refused if they must be one. */
Test(guest_read, groups_are_never_larger_than_the_hardware)
{
	enum { N = 17 };
	const char *name = exact_event();
	struct perfmon_session *session;
	struct perfmon_value values[N];
	char events[32 * N] = "", group[sizeof(events) + 2];

	for (int i = 0; i < N; i++)
		strcat(strcat(events, i ? "," : ""), name);
	for (int turn = 0; turn < 2; turn++) { /* asked, and known from the first time */
		session = running(events, NULL);
		loop_exactly(20000000);
		perfmon_session_stop(session);
		cr_assert_eq(perfmon_session_read(session, values,
						  sizeof(values) / sizeof(values[0]),
						  sizeof(values[0]), PERFMON_READ_ALL),
			     N);
		for (int i = 0; i < N; i++)
			cr_assert_gt(values[i].running_ns, 0, "turn %d, counter %d", turn,
				     i);
		perfmon_session_close(session);
	}
	snprintf(group, sizeof(group), "{%s}", events);
	cr_assert_eq(perfmon_session_create(&session, NULL, NULL, 0), 0);
	cr_assert_eq(perfmon_session_add_events(session, group), 0);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
		     -EINVAL);
	cr_assert(strstr(session_message_of(session), "{group}"), "%s",
		  session_message_of(session));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	perfmon_session_close(session);
}

Test(guest_read, two_of_the_same_are_counted_both)
{
	struct perfmon_session *session;
	struct perfmon_value values[2];

	event();
	session = running("cycles,cycles", NULL);
	loop_exactly(100000);
	cr_assert_eq(perfmon_session_read(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), PERFMON_READ_ALL),
		     2);
	cr_assert_eq(values[0].status, PERFMON_VALUE_COUNTED);
	cr_assert_eq(values[1].status, PERFMON_VALUE_COUNTED);
	cr_assert_neq(info_of(session, 0).hardware_counter,
		      info_of(session, 1).hardware_counter);
	perfmon_session_close(session);
}

/* The kernel opens a group that fits an empty PMU and, where another holds a counter,
 * never runs it. */
Test(guest_read, a_group_that_never_runs_says_so_and_can_be_split)
{
	const char *name = exact_event();
	struct perfmon_value value = {.index = 0};
	struct perfmon_session *session, *holder;
	const struct perfmon_reader *reader;
	char events[256], pinned[64];
	uint64_t fast = 77;

	snprintf(pinned, sizeof(pinned), "%s:uD", name);
	snprintf(events, sizeof(events), "%s,%s,%s,%s,%s,%s", name, name, name, name,
		 name, name);
	holder = running(pinned, NULL);
	session = running(events, &reader);
	if (session->plan->targets[0].parts[0].instance->counters[5].leader != 0)
		cr_skip_test("six counters are no group here");
	loop_exactly(10000000);
	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1);
	cr_assert_eq(value.status, PERFMON_VALUE_NOT_COUNTED | PERFMON_VALUE_SYSCALL);
	cr_assert_eq(perfmon_reader_read(reader, 0, &fast), -ENODATA);
	cr_assert_eq(fast, 77);
	cr_assert_eq(pm_instance_starved(session->plan->targets[0].parts[0].instance,
					 session->plan->targets[0].parts[0].readings),
		     0);
	perfmon_session_close(session);

	session = try_session(events, PERFMON_SESSION_SPLIT);
	cr_assert_eq(perfmon_session_start(session), 0);
	loop_exactly(20000000);
	cr_assert_eq(perfmon_session_stop(session), 0);
	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1);
	cr_assert_gt(value.running_ns, 0);
	perfmon_session_close(session);
	perfmon_session_close(holder);
}

/* Row: PM-07 re-attach and counts go on from there */
/* Row: PM-03 events are written after the attach, too */
Test(guest_read, detaching_and_programming_keep_the_sums)
{
	const char *name = exact_event();
	const struct perfmon_reader *reader;
	struct perfmon_session *session = running(name, &reader);
	uint64_t first, second;

	loop_exactly(1000000);
	perfmon_session_detach(session);
	cr_assert_eq(perfmon_reader_read(reader, 0, &first), 0);
	cr_assert_geq(first, 2000000);
	/* The emulator takes some of the kernel's for the user's (qemu 7.2). */
	cr_assert_leq(first, 2200000);
	loop_exactly(1000000);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);
	cr_assert_eq(perfmon_reader_read(reader, 0, &second), 0);
	cr_assert_eq(second, first);
	perfmon_session_start(session);
	loop_exactly(1000000);
	second = bracketed(session, reader, 0);
	cr_assert_geq(second, first + 2000000);
	cr_assert_leq(second, first + 2010000);
	perfmon_session_stop(session);
	cr_assert_eq(perfmon_session_program(session, 0, "cycles"), 0);
	cr_assert_eq(perfmon_session_add_events(session, name), 1);
	perfmon_session_start(session);
	loop_exactly(1000000);
	watch();
	cr_assert_eq(perfmon_reader_read(reader, 1, &first), 0);
	cr_assert_geq(first, 2000000);
	cr_assert_leq(first, 2010000);
	cr_assert_eq(perfmon_reader_read(reader, 0, &first), 0);
	cr_assert_gt(first, second);
	cr_assert_eq(calls, 0);
	perfmon_session_close(session);
}

/* --- user access taken away --------------------------------------------------------- */

#define USER_ACCESS "/proc/sys/kernel/perf_user_access"

static void set_user_access(const char *value)
{
	int fd = open(USER_ACCESS, O_WRONLY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		cr_skip_test("this kernel has no kernel.perf_user_access");
	if (fd < 0)
		cr_skip_test("only root changes kernel.perf_user_access");
	cr_assert_eq(write(fd, value, 1), 1);
	close(fd);
}

Test(guest_read, without_user_access_reads_are_system_calls)
{
	const char *name = event();
	const struct perfmon_reader *reader;
	struct perfmon_session *session;
	struct perfmon_value value = {.index = 0};
	struct perfmon_counter_info info = {.size = sizeof(info)};

	set_user_access("0");
	session = running(name, &reader);
	loop_exactly(1000);
	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1);
	bracketed(session, reader, 0);
	cr_assert_eq(perfmon_session_get_counter(session, 0, &info), 0);
	cr_expect_eq(info.user_read, 0);
	set_user_access("1");
	cr_assert_eq(value.status, PERFMON_VALUE_COUNTED | PERFMON_VALUE_SYSCALL);
	cr_assert_gt(value.value, 1000);
	perfmon_session_close(session);
}

/*
 * The documented limit: between the switch and the kernel's next update of the page a
 * read faults. Both windows: before the thread was switched out, and after.
 */
static int lose_access(const char *name, bool recover, bool sleep_first)
{
	const struct perfmon_reader *reader;
	struct perfmon_session *session;
	uint64_t before = 0, value = 0, after;
	struct pm_reading reading;
	int fd = open(USER_ACCESS, O_WRONLY | O_CLOEXEC);

	if (recover && perfmon_recovery_install())
		return 3;
	session = try_session(name, 0);
	if (!session || perfmon_session_reader(session, &reader) ||
	    perfmon_session_start(session) || perfmon_reader_read(reader, 0, &before))
		return 4;
	if (write(fd, "0", 1) != 1)
		return 5;
	if (sleep_first)
		let_time_pass_ms(20);
	for (int i = 0; i < 5; i++) {
		loop_exactly(10000);
		if (perfmon_reader_read(reader, 0, &value) || value <= before)
			return 6;
		if (pm_instance_read_counter(session->plan->targets[0].parts[0].instance,
					     0, &reading))
			return 7;
		after = reading.value;
		if (value > after)
			return 8;
		before = value;
	}
	perfmon_session_close(session);
	return 0;
}

Test(guest_read, user_access_taken_under_a_running_event_is_survived)
{
	const char *name = event();

	set_user_access("1");
	for (int way = 0; way < 4; way++) {
		bool recover = way & 1, sleep_first = way & 2;
		int status;
		pid_t child = fork();

		if (!child)
			_exit(lose_access(name, recover, sleep_first));
		cr_assert_eq(waitpid(child, &status, 0), child);
		set_user_access("1");
		printf("user access taken, %s, %s: %#x\n",
		       recover ? "handler" : "no handler",
		       sleep_first ? "after a switch" : "at once", (unsigned int)status);
		if (recover)
			cr_assert_eq(status, 0, "%#x", (unsigned int)status);
		else
			cr_assert(status == 0 || (WIFSIGNALED(status) &&
						  WTERMSIG(status) == SIGILL),
				  "%#x", (unsigned int)status);
	}
}

/* --- other threads and children
 * --------------------------------------------------------- */

static struct perfmon_session *shared;
static const struct perfmon_reader *shared_reader;
static uint64_t seen, seen_all;
static int seen_result;

static void *read_elsewhere(void *unused)
{
	loop_exactly(1000000);
	seen_result = perfmon_reader_read(shared_reader, 0, &seen)
			      ?: perfmon_reader_read_all(shared_reader, &seen_all);
	return unused;
}

Test(guest_read, another_thread_reads_the_owner_s_value)
{
	const char *name = event();
	uint64_t before, after;
	pthread_t thread;

	shared = running(name, &shared_reader);
	cr_assert_eq(perfmon_reader_read(shared_reader, 0, &before), 0);
	pthread_create(&thread, NULL, read_elsewhere, NULL);
	pthread_join(thread, NULL);
	cr_assert_eq(perfmon_reader_read(shared_reader, 0, &after), 0);
	cr_assert_eq(seen_result, 0);
	cr_assert(before <= seen && seen <= seen_all && seen_all <= after,
		  "%llu <= %llu <= %llu <= %llu", (unsigned long long)before,
		  (unsigned long long)seen, (unsigned long long)seen_all,
		  (unsigned long long)after);
	perfmon_session_close(shared);
}

static int read_in_child(void *unused)
{
	uint64_t value = 77, all = 77;

	(void)unused;
	if (perfmon_reader_read(shared_reader, 0, &value) != -ECHILD || value != 77)
		_exit(1);
	if (perfmon_reader_read_call(shared_reader, 0, &value) != -ECHILD || value != 77)
		_exit(2);
	if (perfmon_reader_read_all(shared_reader, &all) != -ECHILD || all != 77)
		_exit(3);
	if (perfmon_session_start(shared) != -ECHILD)
		_exit(4);
	perfmon_session_close(shared);
	_exit(0);
}

Test(guest_read, children_never_see_the_parent_s_numbers)
{
	static char stack[65536] __attribute__((aligned(16)));
	const char *name = event();

	for (int way = 0; way < 3; way++) {
		uint64_t before;
		int status;
		pid_t child;

		shared = running(name, &shared_reader);
		before = bracketed(shared, shared_reader, 0);
		if (way == 2)
			child = clone(read_in_child, stack + sizeof(stack), SIGCHLD,
				      NULL);
		else
			child = way ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)
				    : fork();
		if (!child)
			read_in_child(NULL);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0, "way %d: %#x", way, (unsigned int)status);
		loop_exactly(1000);
		cr_assert_gt(bracketed(shared, shared_reader, 0), before);
		perfmon_session_close(shared);
	}
}

/* A signal handler on the thread itself may read at any time. */
static volatile unsigned int interruptions;
static volatile bool handler_failed;

static void read_in_handler(int number)
{
	static uint64_t last;
	uint64_t value;

	(void)number;
	if (perfmon_reader_read(shared_reader, 0, &value) || value <= last)
		handler_failed = true;
	last = value;
	interruptions++;
}

Test(guest_read, a_signal_handler_reads_by_the_same_reader)
{
	const char *name = event();
	struct itimerspec every = {.it_interval = {0, 200000}, .it_value = {0, 200000}};
	timer_t timer;
	uint64_t last = 0;

	shared = running(name, &shared_reader);
	signal(SIGALRM, read_in_handler);
	cr_assert_eq(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
	cr_assert_eq(timer_settime(timer, 0, &every, NULL), 0);
	for (int i = 0; i < 20000 && interruptions < 200; i++) {
		uint64_t value = 0;

		cr_assert_eq(perfmon_reader_read(shared_reader, 0, &value), 0);
		cr_assert_gt(value, last);
		last = value;
		loop_exactly(500);
	}
	timer_delete(timer);
	cr_assert_gt(interruptions, 5);
	cr_assert(!handler_failed);
	perfmon_session_close(shared);
}

#ifndef STANDIN_CRITERION_H
/* One at a time: counters and kernel.perf_user_access are the machine's. */
ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
	(void)tests;
	criterion_options.jobs = 1;
}
#endif
