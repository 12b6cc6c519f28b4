/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * aarch64: the counter's name is part of the instruction, so a handle is the address of
 * a stub. The stubs stand in the library (counters.c); a reader holds the address, so an
 * inlined read carries no table of its own. Three of them for each counter:
 *
 *   raw        mrs x16, COUNTER; br x17         for callers that save no link register
 *   32 bits    mrs; add x16, x15, w16, sxtw; ret    offset (x15) added, sign extended:
 *   64 bits    mrs; add x16, x15, x16; ret          as a call, which returns predicted
 *
 * PMUv3 counters are 32 or 64 bits wide, no other.
 *
 * Index 1..31 is PMEVCNTR0..30_EL0 and 32 is PMCCNTR_EL0 (Linux,
 * drivers/perf/arm_pmuv3.c, armv8pmu_user_event_idx).
 */
#ifndef PERFMON_ARCH_AARCH64_H
#define PERFMON_ARCH_AARCH64_H

#define PERFMON_ARCH_NAME "aarch64"
/* The registers that a sample can hold, as bits of asm/perf_regs.h. */
#define PERFMON_ARCH_USER_REGISTERS   UINT64_C(0x1ffffffff)
#define PERFMON_ARCH_STUBS	      32
#define PERFMON_ARCH_STUB_BYTES	      8
#define PERFMON_ARCH_VALUE_STUB_BYTES 16

/* Behind perfmon_arch_counter_stubs (arch.h): the tables are contiguous, in this order. */
extern const char perfmon_arch_value32_stubs[] __attribute__((visibility("hidden")));
extern const char perfmon_arch_value64_stubs[] __attribute__((visibility("hidden")));
extern const char perfmon_arch_stubs_end[] __attribute__((visibility("hidden")));

#define perfmon_arch_value_handle(index, width)                                          \
	((index)-1 >= PERFMON_ARCH_STUBS ? PERFMON_ARCH_NO_HANDLE                        \
	 : (width) == 32 ? (uint64_t)(uintptr_t)perfmon_arch_value32_stubs +             \
				   ((index)-1) * PERFMON_ARCH_VALUE_STUB_BYTES           \
	 : (width) == 64 ? (uint64_t)(uintptr_t)perfmon_arch_value64_stubs +             \
				   ((index)-1) * PERFMON_ARCH_VALUE_STUB_BYTES           \
			 : PERFMON_ARCH_NO_HANDLE)

/* Code built with -mbranch-protection is entered indirectly at a landing pad only. */
#if defined(__ARM_FEATURE_BTI_DEFAULT) && __ARM_FEATURE_BTI_DEFAULT
#define PERFMON_ARCH_LANDING "\n\thint #36"
#else
#define PERFMON_ARCH_LANDING ""
#endif

static inline uint64_t perfmon_arch_counter_read(uint64_t handle, uint64_t *check)
{
	register uint64_t value __asm__("x16");
	register uint64_t word __asm__("x14") = *check;

	__asm__ __volatile__("adr x17, 1f\n\tbr %2\n1:" PERFMON_ARCH_LANDING
			     : "=r"(value), "+r"(word)
			     : "r"(handle)
			     : "x17");
	*check = word;
	return value;
}

#define PERFMON_ARCH_HAS_COUNTER_VALUE
/* Makes one instruction load two neighbours in memory, before any branch. */
#define PERFMON_ARCH_PAIR(first, second) __asm__("" : "+r"(first), "+r"(second))

static inline uint64_t perfmon_arch_counter_value(uint64_t handle, uint64_t offset,
						  uint64_t *check)
{
	register uint64_t value __asm__("x16");
	register uint64_t addend __asm__("x15") = offset;
	register uint64_t word __asm__("x14") = *check;

	__asm__ __volatile__("blr %3"
			     : "=r"(value), "+r"(word)
			     : "r"(addend), "r"(handle)
			     : "x17", "x30");
	*check = word;
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
