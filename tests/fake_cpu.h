/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A CPU for tests of the fast read. Its counters are variables of any width. */
#ifndef TESTS_FAKE_CPU_H
#define TESTS_FAKE_CPU_H

#define PERFMON_ARCH_NAME "fake"

static uint64_t fake_counters[64];
static uint64_t fake_now;
static unsigned int fake_reads;

static inline uint64_t perfmon_arch_counter_handle(uint32_t index)
{
	return index - 1 < 64 ? index - 1 : PERFMON_ARCH_NO_HANDLE;
}

static inline uint64_t perfmon_arch_counter_read(uint64_t handle, uint64_t *check)
{
	(void)check;
	fake_reads++;
	return fake_counters[handle];
}

static inline uint64_t perfmon_arch_timestamp(void)
{
	return fake_now;
}

static inline uint64_t perfmon_arch_timestamp_hz(void)
{
	return 0;
}

static inline void perfmon_arch_fence(void)
{
}

#define PERFMON_ARCH_HAS_THREAD_POINTER
static inline uintptr_t perfmon_arch_thread_pointer(void)
{
	return 1;
}

#endif
