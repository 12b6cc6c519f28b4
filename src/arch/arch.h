/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What differs between CPU families, as a handful of small functions. Each family's
 * header states its differences; this file fills the gaps with the generic form.
 *
 *   perfmon_arch_counter_handle(index)  the handle of a page's `index`, or
 *                                       PERFMON_ARCH_NO_HANDLE
 *   perfmon_arch_counter_read(handle, &check)
 *                                       the hardware counter that HANDLE stands for, raw
 *   perfmon_arch_value_handle(index, width)
 *                                       the same for a counter WIDTH bits wide, and
 *   perfmon_arch_counter_value(handle, offset, &check)
 *                                       the counter, sign-extended, plus OFFSET: only
 *                                       where one handle does it all
 *   perfmon_arch_timestamp()            the timestamp counter, not serialising
 *   perfmon_arch_timestamp_hz()         its rate where the CPU says it, else 0
 *   perfmon_arch_fence()                completes earlier instructions before the next
 *                                       counter read (PERFMON_FENCE)
 *   perfmon_arch_thread_pointer()       a value that no other live thread has
 *
 * A handle is what turns a page's index into a read without further decisions: the
 * number given to rdpmc on x86, the address of an accessor stub on the CPUs whose
 * counters are named in the instruction word.
 *
 * CHECK is the word with which the reader makes sure afterwards that nothing changed. It
 * travels through a register of the CPU header's choice, where the recovery handler
 * (core/counters/recovery.c) of a read that faulted makes it a value that never compares equal.
 */
#ifndef PERFMON_ARCH_ARCH_H
#define PERFMON_ARCH_ARCH_H

#include <stdint.h>

#define PERFMON_ARCH_NO_HANDLE UINT64_MAX

#if defined(PERFMON_ARCH_HEADER) /* a test's own CPU */
#include PERFMON_ARCH_HEADER
#elif defined(PERFMON_ARCH_GENERIC)
#include "generic.h"
#elif defined(__x86_64__)
#include "x86_64.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "riscv64.h"
#else
#include "generic.h"
#endif

/* The word RAW of 64 - SHIFT bits, sign-extended. Unlike a cast, the copies are no
 * old-style cast in C++; compilers make two shifts of it. */
static inline int64_t perfmon_arch_extend(uint64_t raw, uint32_t shift)
{
	int64_t top;

	raw <<= shift;
	__builtin_memcpy(&top, &raw, sizeof(top));
	return top >> shift;
}

/* OFFSET plus the word RAW of 64 - SHIFT bits, sign-extended. */
static inline uint64_t perfmon_arch_extended(uint64_t offset, uint64_t raw,
					     uint32_t shift)
{
	int64_t counter = perfmon_arch_extend(raw, shift);
	uint64_t addend;

	__builtin_memcpy(&addend, &counter, sizeof(addend));
	return offset + addend;
}

#ifndef PERFMON_ARCH_HAS_COUNTER_VALUE
#define perfmon_arch_value_handle(index, width) perfmon_arch_counter_handle(index)
#endif

#ifndef PERFMON_ARCH_HAS_THREAD_POINTER
static inline uintptr_t perfmon_arch_thread_pointer(void)
{
#ifdef __cplusplus
	return reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
#else
	return (uintptr_t)__builtin_thread_pointer();
#endif
}
#endif

#endif
