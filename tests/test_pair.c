/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the asm statements of the macros leave alone: registers, and the way out of a pair. */
#include "pair_call.h"
#include "region_probe.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unwind.h>

TestSuite(pair, .init = probe_quiet, .timeout = 120);

#if PERFMON_REGION_SITE_

/* The functions with the statements may use r10 and r11 themselves, as clang's do for the address
 * of perfmon_region_calls. So they keep r10 here; clang cannot have them keep r11. */
#if defined(__clang__) && defined(__x86_64__)
#define KEEPS	  __attribute__((preserve_most))
#define KEEPS_R11 0
#else
#define KEEPS
#define KEEPS_R11 1
#endif

#if PERFMON_REGION_SITE_ == 1

static void check_call(const char *what, void(KEEPS *call)(void))
{
	uint64_t integers[2];
	uint32_t parts = parts_here();

	if (!parts)
		cr_skip_test("this CPU has no XSAVE");
	fill(parts);
	pair_call((void (*)(void))call, pattern, after, integers, parts);
	cr_assert_eq(integers[0], 0x1010101010101010, "%s: r10", what);
	if (KEEPS_R11)
		cr_assert_eq(integers[1], 0x1111111111111111, "%s: r11", what);
	check_x87(what);
	check_same(what, 160, 416);
	for (uint32_t i = 2; i < 32; i++)
		if (parts >> i & 1)
			check_part(what, i);
}

#else

static void check_call(const char *what, void(KEEPS *call)(void))
{
	uint64_t integers[7], scalable = scalable_here();
	size_t size = fill(scalable);

	pair_call((void (*)(void))call, pattern, after, integers, scalable);
	for (uint64_t i = 0; i < 7; i++)
		if (i != 5) /* x14 is not kept */
			cr_assert_eq(integers[i], 0x1009 + i, "%s: x%d", what,
				     (int)i + 9);
	check_same(what, 0, size);
}

#endif

KEEPS static void begin(void)
{
	PERFMON_REGION_BEGIN("outer");
}

KEEPS static void end(void)
{
	PERFMON_REGION_END("outer");
}

KEEPS static void begin_inner(void)
{
	PERFMON_REGION_BEGIN("inner");
}

KEEPS static void end_inner(void)
{
	PERFMON_REGION_END("inner");
}

KEEPS static void end_other(void)
{
	PERFMON_REGION_END("never begun");
}

static void check_pairs(const char *when)
{
	char what[80];

	for (int i = 0; i < 3; i++) {
		snprintf(what, sizeof(what), "%s, BEGIN %d", when, i);
		check_call(what, begin);
		snprintf(what, sizeof(what), "%s, inner BEGIN %d", when, i);
		check_call(what, begin_inner);
		snprintf(what, sizeof(what), "%s, inner END %d", when, i);
		check_call(what, end_inner);
		snprintf(what, sizeof(what), "%s, END %d", when, i);
		check_call(what, end);
	}
	check_call("an END without a BEGIN", end_other);
}

static void *check_in_thread(void *when)
{
	check_pairs(when);
	return NULL;
}

/* The set-up of the process and of a thread, new paths, a fork, arming again, visits that end
 * with another, all deepest levels. */
static void check_all(void)
{
	pthread_t thread;
	int status;

	check_pairs("first");
	cr_assert_eq(pthread_create(&thread, NULL, check_in_thread, "in a thread"), 0);
	pthread_join(thread, NULL);
	check_call("before a fork", begin);
	if (!fork()) {
		check_pairs("in a child");
		_exit(0);
	}
	cr_assert_neq(wait(&status), -1);
	cr_assert_eq(status, 0);
	perfmon_region_disarm();
	check_pairs("disarmed");
	perfmon_region_arm();
	check_pairs("armed again");
	for (int i = 0; i < 200; i++)
		check_call("deep", begin_inner);
	for (int i = 0; i < 200; i++)
		check_call("deep", end_inner);
}

Test(pair, registers_are_kept)
{
	setenv("PERFMON_EVENTS", "none", 1);
	check_all();
}

Test(pair, registers_are_kept_with_counters)
{
	setenv("PERFMON_EVENTS", "{page-faults,dummy}", 1);
	check_all();
}

Test(pair, registers_are_kept_with_hardware_counters)
{
	setenv("PERFMON_EVENTS", "auto", 1);
	check_all();
}

Test(pair, registers_are_kept_with_strides)
{
	setenv("PERFMON_EVENTS", "page-faults", 1);
	setenv("PERFMON_STRIDE", "2", 1);
	check_all();
	for (int i = 0; i < 5000; i++) {
		check_call("of a stride", begin);
		check_call("of a stride", end);
	}
}

/* --- the way out --------------------------------------------------------------------- */

#if PERFMON_REGION_SITE_ == 1

/* Where the function with the pair returns to. */
static void *home;
static volatile int steps, lost;
static uintptr_t lost_at;

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *found)
{
	if (_Unwind_GetIP(context) != (uintptr_t)home)
		return _URC_NO_REASON;
	*(int *)found = 1;
	return _URC_END_OF_STACK;
}

/* Looks for the way out, at each instruction of a pair. */
static void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *machine = context;
	int found = 0;

	(void)number;
	if (info->si_code == SI_KERNEL)
		machine->uc_mcontext.gregs[REG_EFL] ^= 0x100;
	_Unwind_Backtrace(look, &found);
	steps = steps + 1;
	if (found)
		return;
	if (!lost)
		lost_at = (uintptr_t)machine->uc_mcontext.gregs[REG_RIP];
	lost = lost + 1;
}

/* Its frame is in the red zone. int3 switches steps on and off. */
__attribute__((noinline)) static int pair_of(int n, int stepped)
{
	volatile int values[3] = {n, n + 1, n + 2};

	home = __builtin_return_address(0);
	if (stepped)
		__asm__ __volatile__("int3");
	PERFMON_REGION_BEGIN("stepped");
	values[1] = values[1] + 1;
	PERFMON_REGION_END("stepped");
	if (stepped)
		__asm__ __volatile__("int3");
	return values[0] + values[1] + values[2];
}

static void check_way_out(const char *when, int least)
{
	int sum;

	steps = lost = 0;
	sum = pair_of(3, 1);
	cr_assert_eq(sum, 13);
	cr_assert_gt(steps, least);
	cr_assert_eq(lost, 0, "%s: %d of %d, first at %#lx", when, lost, steps,
		     (unsigned long)lost_at);
}

Test(pair, a_stack_can_be_unwound_at_each_instruction)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

#ifdef TESTS_SANITIZED
	cr_skip_test("a sanitizer's functions cannot be unwound at each instruction");
#endif
	setenv("PERFMON_EVENTS", "none", 1);
	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
	pair_of(1, 0);
	check_way_out("warm", 60);
	perfmon_region_disarm();
	perfmon_region_arm();
	check_way_out("armed again", 200);
}

#endif
#else

Test(pair, registers_are_kept)
{
	cr_skip_test("ordinary calls are made on this CPU");
}

#endif
