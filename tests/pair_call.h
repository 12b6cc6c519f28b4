/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of calls that keep registers: what pair_call.S loads into the registers before the
 * call, and what it has found in them behind it. */
#ifndef PM_TESTS_PAIR_CALL_H
#define PM_TESTS_PAIR_CALL_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "arch/keep.h"

#if PERFMON_ARCH_KEEPS

#define AREA_MOST ((size_t)64 << 10)

void pair_call(void (*call)(void), const void *pattern, void *after, uint64_t *integers,
	       uint64_t parts);

static _Alignas(64) unsigned char pattern[AREA_MOST], after[AREA_MOST];

static inline void check_same(const char *what, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (pattern[i] != after[i])
			cr_assert_fail("%s: byte %zu was %02x, is %02x", what, i,
				       pattern[i], after[i]);
}

static inline void fill_all(void)
{
	for (size_t i = 0; i < AREA_MOST; i++)
		pattern[i] = (unsigned char)(i * 7 + 3);
	memset(after, 0, sizeof(after));
}

#if defined(__x86_64__)
#include <cpuid.h>

/* As in src/arch/keep.c: x87, SSE, AVX, AVX-512, APX. */
#define PARTS UINT32_C(0x800e7)

static inline uint32_t parts_here(void)
{
	uint32_t a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return 0;
	__asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return a & PARTS;
}

/* Values that are no rest of another call, in the registers of PARTS. The others are as in a new
 * process, as are the control words. */
static inline void fill(uint32_t parts)
{
	uint32_t control = 0x1f80, word = 0x37f;
	uint64_t has = parts;

	fill_all();
	memset(pattern, 0, 32);
	memset(pattern + 512, 0, 64);
	memcpy(pattern, &word, 2);
	pattern[4] = 0xff; /* the stack of x87 is full */
	memcpy(pattern + 24, &control, 4);
	memcpy(pattern + 512, &has, 8);
	for (int i = 0; i < 8; i++) /* numbers of x87 */
		memset(pattern + 32 + 16 * i + 8, 0x3f, 2);
}

static inline void check_x87(const char *what)
{
	cr_assert_eq(after[4], 0xff, "%s: the stack of x87", what);
	for (size_t i = 0; i < 8; i++)
		check_same(what, 32 + 16 * i, 32 + 16 * i + 10);
}

/* Part I has the values of fill(). */
static inline void check_part(const char *what, uint32_t i)
{
	uint32_t size, at, c, d;

	__cpuid_count(13, i, size, at, c, d);
	cr_assert(after[512 + i / 8] >> i % 8 & 1, "%s: part %u is empty", what, i);
	check_same(what, at, at + size);
}

#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>

/* The bytes of a scalable vector register; 0 without these. */
static inline uint64_t scalable_here(void)
{
	if (!(getauxval(AT_HWCAP) >> 22 & 1))
		return 0;
	return (uint64_t)prctl(51 /* PR_SVE_GET_VL */) & 0xffff;
}

/* Returns the bytes of what pair_call() loads and stores. */
static inline size_t fill(uint64_t scalable)
{
	size_t size = 32 * 16;

	fill_all();
	if (!scalable)
		return size;
	/* The first-fault register is ones, then zeros. */
	size = 32 * scalable + 17 * scalable / 8;
	memset(pattern + size - scalable / 8, 0, scalable / 8);
	pattern[size - scalable / 8] = 0x3f;
	return size;
}

#endif
#endif
#endif
