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

/* Strict C11 declares no such clock. The inline reads of programs do not need it. */
#ifdef CLOCK_MONOTONIC
static inline uint64_t perfmon_arch_timestamp(void)
{
	struct timespec now;
	int64_t ns;
	uint64_t value;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	__builtin_memcpy(&value, &ns, sizeof(value));
	return value;
}
#endif

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
