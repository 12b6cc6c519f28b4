/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the asm statements of the macros leave alone: registers, and the way out of a pair. */
#include "region_probe.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unwind.h>

#if PERFMON_REGION_SITE_ == 1
#include <cpuid.h>
#elif PERFMON_REGION_SITE_ == 2
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

TestSuite(pair, .init = probe_quiet, .timeout = 120);

#if PERFMON_REGION_SITE_

#define AREA_MOST ((size_t)64 << 10)

/* The functions with the statements may use r10 and r11 themselves, as clang's do for the address
 * of perfmon_region_calls. So they keep r10 here; clang cannot have them keep r11. */
#if defined(__clang__) && defined(__x86_64__)
#define KEEPS	  __attribute__((preserve_most))
#define KEEPS_R11 0
#else
#define KEEPS
#define KEEPS_R11 1
#endif

void pair_call(void (*call)(void), const void *pattern, void *after, uint64_t *integers,
	       uint64_t parts);

static _Alignas(64) unsigned char pattern[AREA_MOST], after[AREA_MOST];

static void check_same(const char *what, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (pattern[i] != after[i])
			cr_assert_fail("%s: byte %zu was %02x, is %02x", what, i,
				       pattern[i], after[i]);
}

#if PERFMON_REGION_SITE_ == 1

/* As in src/arch/keep.c: x87, SSE, AVX, AVX-512, APX. */
#define PARTS UINT32_C(0x800e7)

static uint32_t parts_here(void)
{
	uint32_t a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return 0;
	__asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return a & PARTS;
}

/* Values that are no rest of another call. The control words are those of a new process. */
static void fill(uint32_t parts)
{
	uint32_t control = 0x1f80, word = 0x37f;
	uint64_t has = parts;

	for (size_t i = 0; i < AREA_MOST; i++)
		pattern[i] = (unsigned char)(i * 7 + 3);
	memset(pattern, 0, 32);
	memset(pattern + 512, 0, 64);
	memcpy(pattern, &word, 2);
	pattern[4] = 0xff; /* the stack of x87 is full */
	memcpy(pattern + 24, &control, 4);
	memcpy(pattern + 512, &has, 8);
	for (int i = 0; i < 8; i++) /* numbers of x87 */
		memset(pattern + 32 + 16 * i + 8, 0x3f, 2);
}

static void check_call(const char *what, void(KEEPS *call)(void))
{
	uint64_t integers[2];
	uint32_t parts = parts_here(), size, at, c, d;

	if (!parts)
		cr_skip_test("this CPU has no XSAVE");
	fill(parts);
	memset(after, 0, sizeof(after));
	pair_call((void (*)(void))call, pattern, after, integers, parts);
	cr_assert_eq(integers[0], 0x1010101010101010, "%s: r10", what);
	if (KEEPS_R11)
		cr_assert_eq(integers[1], 0x1111111111111111, "%s: r11", what);
	cr_assert_eq(after[4], 0xff, "%s: the stack of x87", what);
	for (size_t i = 0; i < 8; i++)
		check_same(what, 32 + 16 * i, 32 + 16 * i + 10);
	check_same(what, 160, 416);
	for (uint32_t i = 2; i < 32; i++) {
		if (!(parts >> i & 1))
			continue;
		__cpuid_count(13, i, size, at, c, d);
		cr_assert(after[512 + i / 8] >> i % 8 & 1, "%s: part %u is empty", what,
			  i);
		check_same(what, at, at + size);
	}
}

#else

static void check_call(const char *what, void(KEEPS *call)(void))
{
	uint64_t integers[7], scalable = 0;
	size_t size = 32 * 16;

	if (getauxval(AT_HWCAP) >> 22 & 1) {
		scalable = (uint64_t)prctl(51 /* PR_SVE_GET_VL */) & 0xffff;
		size = 32 * scalable + 17 * scalable / 8;
	}
	for (size_t i = 0; i < AREA_MOST; i++)
		pattern[i] = (unsigned char)(i * 7 + 3);
	/* The first-fault register is ones, then zeros. */
	if (scalable) {
		memset(pattern + size - scalable / 8, 0, scalable / 8);
		pattern[size - scalable / 8] = 0x3f;
	}
	memset(after, 0, sizeof(after));
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
