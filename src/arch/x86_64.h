/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* x86-64: rdpmc takes the page's index less one as it stands (Intel SDM volume 2B,
 * RDPMC: a fixed counter's number has bit 30 set). */
#ifndef PERFMON_ARCH_X86_64_H
#define PERFMON_ARCH_X86_64_H

#define PERFMON_ARCH_NAME "x86-64"
/* The registers that a sample can hold, as bits of asm/perf_regs.h. */
#define PERFMON_ARCH_USER_REGISTERS UINT64_C(0xff0fff)

/* For topdown metrics the kernel reports a counter number with bit 29 set. There rdpmc
 * returns eight packed fractions, not a count (INTEL_PMC_FIXED_RDPMC_METRICS). */
#define PERFMON_ARCH_METRICS (1u << 29)

static inline uint64_t perfmon_arch_counter_handle(uint32_t index)
{
	return (index - 1) & PERFMON_ARCH_METRICS ? PERFMON_ARCH_NO_HANDLE : index - 1;
}

/* A long no-op marks the rdpmc as ours. The recovery handler skips no other rdpmc. */
#define PERFMON_ARCH_READ_MARK 0x4d465250

static inline uint64_t perfmon_arch_counter_read(uint64_t handle, uint64_t *check)
{
	register uint64_t word __asm__("r8") = *check;
	uint64_t low, high;

	__asm__ __volatile__("rdpmc\n\tnopl 0x4d465250(%%rax)"
			     : "=a"(low), "=d"(high), "+r"(word)
			     : "c"(handle));
	*check = word;
	return high << 32 | low;
}

static inline uint64_t perfmon_arch_timestamp(void)
{
	uint64_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
}

static inline uint64_t perfmon_arch_timestamp_hz(void)
{
	return 0; /* CPUID 15H is often absent or rounded: calibrate */
}

static inline void perfmon_arch_fence(void)
{
	__asm__ __volatile__("lfence" ::: "memory");
}

/* The same word as __builtin_thread_pointer(), which clang 14 lacks on x86. */
#define PERFMON_ARCH_HAS_THREAD_POINTER
static inline uintptr_t perfmon_arch_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

#endif
