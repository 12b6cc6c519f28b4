/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any other CPU: no counter can be read from user space, and the timestamp is the
 * system's monotonic clock in nanoseconds. */
#ifndef PERFMON_ARCH_GENERIC_H
#define PERFMON_ARCH_GENERIC_H

#include <time.h>

#define PERFMON_ARCH_NAME "generic"
/* The registers that a sample can hold, as bits of asm/perf_regs.h. */
#define PERFMON_ARCH_USER_REGISTERS UINT64_C(0)

/* Compilers lack __builtin_thread_pointer() on some CPUs: gcc 12 does on ppc64le. */
#define PERFMON_ARCH_NO_THREAD_POINTER

static inline uint64_t perfmon_arch_counter_handle(uint32_t index)
{
	(void)index;
	return PERFMON_ARCH_NO_HANDLE;
}

static inline uint64_t perfmon_arch_counter_read(uint64_t handle, uint64_t *check)
{
	(void)check;
	return handle;
}

static inline uint64_t perfmon_arch_timestamp(void)
{
	struct timespec now;
	uint64_t seconds, rest;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = now.tv_sec;
	rest = now.tv_nsec;
	return seconds * 1000000000u + rest;
}

static inline uint64_t perfmon_arch_timestamp_hz(void)
{
	return 1000000000u;
}

/* Pairs with nothing: it only holds back what follows. */
static inline void perfmon_arch_fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif
