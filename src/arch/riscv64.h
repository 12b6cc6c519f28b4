/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * riscv64: the CSR's number is part of the instruction, so a handle is the address of a
 * stub `csrr t0, CSR; jr t1` in the library (counters.c). Index n is CSR 0xC00 + n - 1:
 * cycle, time, instret, hpmcounter3..31 (Linux, drivers/perf/riscv_pmu_sbi.c).
 */
#ifndef PERFMON_ARCH_RISCV64_H
#define PERFMON_ARCH_RISCV64_H

#define PERFMON_ARCH_NAME "riscv64"
/* The registers that a sample can hold, as bits of asm/perf_regs.h. */
#define PERFMON_ARCH_USER_REGISTERS UINT64_C(0xffffffff)
#define PERFMON_ARCH_STUBS	    32
#define PERFMON_ARCH_STUB_BYTES	    8

static inline uint64_t perfmon_arch_counter_read(uint64_t handle, uint64_t *check)
{
	register uint64_t value __asm__("t0");
	register uint64_t word __asm__("t2") = *check;

	__asm__ __volatile__("lla t1, 1f\n\tjr %2\n1:"
			     : "=r"(value), "+r"(word)
			     : "r"(handle)
			     : "t1");
	*check = word;
	return value;
}

static inline uint64_t perfmon_arch_timestamp(void)
{
	uint64_t value;

	__asm__ __volatile__("rdtime %0" : "=r"(value));
	return value;
}

static inline uint64_t perfmon_arch_timestamp_hz(void)
{
	return 0; /* the rate stands in the device tree, not in a register */
}

static inline void perfmon_arch_fence(void)
{
	__asm__ __volatile__("fence" ::: "memory");
}

#endif
