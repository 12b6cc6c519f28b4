/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * aarch64: the counter's name is part of the instruction, so a handle is the address of
 * a stub `mrs x16, COUNTER; br x17`. The stubs stand in the library (counters.c); a
 * reader holds the address, so an inlined read carries no table of its own.
 *
 * Index 1..31 is PMEVCNTR0..30_EL0 and 32 is PMCCNTR_EL0 (Linux,
 * drivers/perf/arm_pmuv3.c, armv8pmu_user_event_idx).
 */
#ifndef PERFMON_ARCH_AARCH64_H
#define PERFMON_ARCH_AARCH64_H

#define PERFMON_ARCH_NAME	"aarch64"
#define PERFMON_ARCH_STUBS	32
#define PERFMON_ARCH_STUB_BYTES 8

/* Of the library; a program's own code never turns an index into a handle. */
extern const char perfmon_arch_counter_stubs[] __attribute__((visibility("hidden")));

#define perfmon_arch_counter_handle(index)                                                 \
	((index)-1 < PERFMON_ARCH_STUBS                                                    \
		 ? (uint64_t)(uintptr_t)perfmon_arch_counter_stubs +                       \
			   ((index)-1) * PERFMON_ARCH_STUB_BYTES                           \
		 : PERFMON_ARCH_NO_HANDLE)

/* Code built with -mbranch-protection is entered indirectly at a landing pad only. */
#if defined(__ARM_FEATURE_BTI_DEFAULT) && __ARM_FEATURE_BTI_DEFAULT
#define PERFMON_ARCH_LANDING "\n\thint #36"
#else
#define PERFMON_ARCH_LANDING ""
#endif

static inline uint64_t perfmon_arch_counter_read(uint64_t handle)
{
	register uint64_t value __asm__("x16");

	__asm__ __volatile__("adr x17, 1f\n\tbr %1\n1:" PERFMON_ARCH_LANDING
			     : "=r"(value)
			     : "r"(handle)
			     : "x17");
	return value;
}

static inline uint64_t perfmon_arch_timestamp(void)
{
	uint64_t value;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
	return value;
}

static inline uint64_t perfmon_arch_timestamp_hz(void)
{
	uint64_t value;

	__asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(value));
	return value;
}

static inline void perfmon_arch_fence(void)
{
	__asm__ __volatile__("isb" ::: "memory");
}

#endif
