/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that keep the registers: each way of keep_call.S that this CPU has, whichever it would
 * choose. What is called (keep_wreck.S) uses all registers that a function may use.
 */
#include "pair_call.h"

#include <stdio.h>

#if PERFMON_ARCH_KEEPS

void keep_all(void);
void keep_some(void);
long keep_all_sum(long a, long b, long c, long d, long e);
long keep_some_sum(long a, long b, long c, long d, long e);
long keep_sum(long a, long b, long c, long d, long e);
extern uint64_t keep_wreck_parts, keep_wreck_aligned;

long keep_sum(long a, long b, long c, long d, long e)
{
	return a + 10 * b + 100 * c + 1000 * d + 10000 * e;
}

static void check_values(const char *what)
{
	cr_assert_eq(keep_all_sum(1, 2, 3, 4, 5), 54321, "%s", what);
	cr_assert_eq(keep_some_sum(1, 2, 3, 4, 5), 54321, "%s", what);
}

#if defined(__x86_64__)

enum { FXSAVE, XSAVE, XSAVEC };
#define AVX	UINT32_C(4)
#define MASKS	UINT32_C(0x20)
#define WIDE	UINT32_C(0x40)
#define MORE	UINT32_C(0x80)
#define VECTORS (AVX | MASKS | WIDE | MORE)
#define X87_SSE UINT32_C(3)
#define ALL_OF	UINT32_C(0x80000000)

extern uint32_t pm_arch_keep_how, pm_arch_keep_parts, pm_arch_keep_bytes,
	pm_arch_keep_moves;
extern uint64_t keep_wreck_moves;
void keep_all_shifted(void);
void keep_some_shifted(void);

/* What this CPU has. */
static uint32_t parts, has_xsavec, has_in_use;

static void look(void)
{
	uint32_t a, b, c, d;

	parts = parts_here();
	if (!parts)
		cr_skip_test("this CPU has no XSAVE");
	__cpuid_count(13, 1, a, b, c, d);
	has_xsavec = a >> 1 & 1;
	has_in_use = a >> 2 & 1;
	__cpuid_count(7, 0, a, b, c, d);
	if (parts & MASKS && !(b & bit_AVX512BW)) /* keep_wreck has masks of 64 bits */
		has_in_use = 0;
}

static void choose(uint32_t how, uint32_t kept, uint32_t moves)
{
	uint32_t a, bytes = 512, c, d;

	if (how != FXSAVE)
		__cpuid_count(13, 0, a, bytes, c, d);
	pm_arch_keep_parts = kept;
	pm_arch_keep_bytes = bytes;
	pm_arch_keep_how = how;
	pm_arch_keep_moves = moves;
	keep_wreck_moves = moves;
}

/* The values of the parts USED stay, and those that were not used are zero again. */
static void check_parts(const char *what, uint32_t used)
{
	const uint32_t control = 0x1f80;
	uint32_t size, at, c, d;

	cr_assert(keep_wreck_aligned, "%s: the stack is aligned", what);
	cr_assert_arr_eq(after + 24, &control, 4, "%s: MXCSR", what);
	check_same(what, 160, 416);
	for (uint32_t i = 2; i < 32; i++) {
		if (used >> i & 1)
			check_part(what, i);
		if (used >> i & 1 || !(parts >> i & 1) ||
		    !(after[512 + i / 8] >> i % 8 & 1))
			continue;
		__cpuid_count(13, i, size, at, c, d);
		for (uint32_t k = at; k < at + size; k++)
			cr_assert_eq(after[k], 0, "%s: part %u is not zero", what, i);
	}
}

static void check_call(const char *what, void (*call)(void), uint32_t used)
{
	uint64_t integers[2];

	fill(used);
	pair_call(call, pattern, after, integers, parts);
	cr_assert_eq(integers[0], 0x1010101010101010, "%s: r10", what);
	cr_assert_eq(integers[1], 0x1111111111111111, "%s: r11", what);
	check_parts(what, used);
	check_x87(what);
}

static void check_all(const char *what, uint32_t how, uint32_t kept)
{
	look();
	choose(how, kept, ALL_OF);
	keep_wreck_parts = kept;
	check_call(what, keep_all, parts);
	check_call(what, keep_all_shifted, parts);
	/* What it would have moved alone comes here, too. */
	check_call(what, keep_some, parts);
	check_call(what, keep_some_shifted, parts);
	check_values(what);
}

Test(keep, fxsave)
{
	check_all("fxsave", FXSAVE, X87_SSE);
}

Test(keep, xsave)
{
	look();
	check_all("xsave", XSAVE, parts);
}

Test(keep, xsavec)
{
	look();
	if (!has_xsavec)
		cr_skip_test("this CPU has no XSAVEC");
	check_all("xsavec", XSAVEC, parts);
}

/* The CPU says that the parts are not in use, and they are not saved. */
Test(keep, xsave_of_parts_that_are_not_in_use)
{
	look();
	for (uint32_t how = XSAVE; how <= (has_xsavec ? XSAVEC : XSAVE); how++) {
		choose(how, parts, ALL_OF);
		keep_wreck_parts = parts;
		check_call(how == XSAVE ? "xsave" : "xsavec", keep_all, X87_SSE);
	}
}

/* keep_wreck uses no x87: a function that does may not be called so. */
static void check_some(const char *what, uint32_t moves, uint32_t used, uint32_t wrecked)
{
	choose(XSAVE, parts, moves);
	keep_wreck_parts = wrecked;
	check_call(what, keep_some, used);
	check_call(what, keep_some_shifted, used);
	check_values(what);
}

Test(keep, vectors_of_128_bits)
{
	look();
	check_some("128 bits", 0, parts, 0);
}

/* Calls CHECK for each set of parts of MOST that this CPU has. */
static void each_of(uint32_t most, void (*check)(uint32_t some))
{
	uint32_t some = most;

	look();
	if (!has_in_use)
		cr_skip_test("this CPU does not say which parts are in use");
	if (!(parts & VECTORS))
		cr_skip_test("this CPU has no AVX");
	for (;; some = (some - 1) & most) {
		if (!(some & ~parts))
			check(some);
		if (!some)
			return;
	}
}

static const char *name_of(const char *what, uint32_t some)
{
	static char name[80];

	snprintf(name, sizeof(name), "%s %#x", what, some);
	return name;
}

/* The parts are moved in one piece where one instruction changes several. */
static void check_moved(uint32_t moves)
{
	uint32_t used = (parts & ~(AVX | WIDE)) | moves;

	check_some(name_of("moved", moves), moves, used, moves);
}

Test(keep, each_set_of_parts_is_moved)
{
	each_of(VECTORS, check_moved);
}

/* The CPU says which are in use. */
static void check_used(uint32_t used)
{
	check_some(name_of("in use", used), parts & VECTORS, used | X87_SSE,
		   parts & VECTORS);
}

Test(keep, parts_that_are_not_in_use_are_zero_again)
{
	each_of(VECTORS, check_used);
}

/* Of some CPUs masks and registers 16 to 31 are always in use. Here they are not kept, but
 * made zero again. */
static void check_zero(uint32_t zero)
{
	choose(XSAVE, parts, parts & VECTORS & ~zero);
	keep_wreck_moves = parts & VECTORS;
	keep_wreck_parts = parts & VECTORS;
	check_call(name_of("zero", zero), keep_some, parts & ~zero);
}

Test(keep, masks_and_registers_16_to_31_are_zero_again)
{
	each_of(MASKS | MORE, check_zero);
}

#elif defined(__aarch64__)

extern uint32_t pm_arch_keep_scalable;

static void check_call(const char *what, void (*call)(void), uint64_t scalable)
{
	uint64_t integers[7], status, set = 0x8000000;
	size_t size = fill(scalable);

	__asm__ volatile("msr fpsr, %0" : : "r"(set));
	pair_call(call, pattern, after, integers, scalable);
	__asm__ volatile("mrs %0, fpsr" : "=r"(status));
	cr_assert(keep_wreck_aligned, "%s: the stack is aligned", what);
	cr_assert_eq(status, set, "%s: FPSR is %#lx", what, (unsigned long)status);
	for (uint64_t i = 0; i < 7; i++)
		if (i != 5) /* x14 is not kept */
			cr_assert_eq(integers[i], 0x1009 + i, "%s: x%d", what,
				     (int)i + 9);
	check_same(what, 0, size);
}

static void check_both(const char *what, uint64_t scalable)
{
	keep_wreck_parts = scalable != 0;
	pm_arch_keep_scalable = scalable != 0;
	check_call(what, keep_all, scalable);
	check_call(what, keep_some, scalable);
	check_values(what);
}

Test(keep, vectors_of_128_bits)
{
	check_both("128 bits", 0);
}

Test(keep, scalable_vectors_of_each_length)
{
	char what[40];
	int lengths = 0;

	if (!scalable_here())
		cr_skip_test("this CPU has no SVE");
	for (unsigned long bytes = 16; bytes <= 256; bytes += 16) {
		if (prctl(50 /* PR_SVE_SET_VL */, bytes) < 0 || scalable_here() != bytes)
			continue; /* this CPU has other lengths */
		snprintf(what, sizeof(what), "%lu bits", 8 * bytes);
		check_both(what, bytes);
		lengths++;
	}
	cr_log_info("%d lengths", lengths);
	cr_assert_gt(lengths, 0);
}

#endif
#else

Test(keep, calls)
{
	cr_skip_test("ordinary calls are made on this CPU");
}

#endif
