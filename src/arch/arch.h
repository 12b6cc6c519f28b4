/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions that differ between CPU families. Each family's header states its
 * differences. This file fills the gaps with the generic form.
 *
 *   perfmon_arch_counter_handle(index)  the handle of a page's `index`, or
 *                                       PERFMON_ARCH_NO_HANDLE
 *   perfmon_arch_counter_read(handle, &check)
 *                                       the raw value of the hardware counter of HANDLE
 *   perfmon_arch_value_handle(index, width)
 *                                       the handle of a counter WIDTH bits wide for
 *   perfmon_arch_counter_value(handle, offset, &check)
 *                                       the counter, sign-extended, plus OFFSET; only
 *                                       where one handle is enough for all of this
 *   perfmon_arch_timestamp()            the timestamp counter, not serialising
 *   perfmon_arch_timestamp_hz()         its rate, or 0 if the CPU does not report it
 *   perfmon_arch_fence()                completes earlier instructions before the next
 *                                       counter read (PERFMON_FENCE)
 *   perfmon_arch_thread_pointer()       the ABI's thread pointer, or with
 *                                       PERFMON_ARCH_NO_THREAD_POINTER another value that
 *                                       no other live thread has
 *
 * A handle makes a page's index readable without further decisions. It is the number
 * given to rdpmc on x86, and the address of an accessor stub on CPUs that name the
 * counter in the instruction word.
 *
 * CHECK is the word by which the reader finds afterwards that nothing changed. It is kept
 * in a register that the CPU's header chooses. If the read faults, the recovery handler
 * (core/counters/recovery.c) sets that register to a value that never compares equal.
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

#ifdef PERFMON_ARCH_STUBS
/* The stubs are part of the library. A program's own code never converts an index to a
 * handle. */
extern const char perfmon_arch_counter_stubs[] __attribute__((visibility("hidden")));

#define perfmon_arch_counter_handle(index)                                               \
	((index)-1 < PERFMON_ARCH_STUBS                                                  \
		 ? (uint64_t)(uintptr_t)perfmon_arch_counter_stubs +                     \
			   ((index)-1) * PERFMON_ARCH_STUB_BYTES                         \
		 : PERFMON_ARCH_NO_HANDLE)
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

#if defined(PERFMON_ARCH_NO_THREAD_POINTER)
#include <errno.h>
static inline uintptr_t perfmon_arch_thread_pointer(void)
{
#ifdef __cplusplus
	return reinterpret_cast<uintptr_t>(&errno);
#else
	return (uintptr_t)&errno;
#endif
}
#elif !defined(PERFMON_ARCH_HAS_THREAD_POINTER)
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
