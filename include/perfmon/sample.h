/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples: what the kernel noted when a counter overflowed. They are handed to sampling
 * formats (perfmon/format.h) and come from logs (perfmon/log.h).
 *
 * Which fields a sample has depends on what its event asked for. The bits of `present`
 * tell absence from zero; a field without its bit is 0. Pointers lead into the record
 * that the sample was decoded from, and are good for as long as it is.
 */
#ifndef PERFMON_SAMPLE_H
#define PERFMON_SAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of `present`, each with the fields that it makes valid. */
#define PERFMON_SAMPLE_IP		   (UINT64_C(1) << 0)  /* ip */
#define PERFMON_SAMPLE_TID		   (UINT64_C(1) << 1)  /* pid, tid */
#define PERFMON_SAMPLE_TIME		   (UINT64_C(1) << 2)  /* time_ns */
#define PERFMON_SAMPLE_ADDRESS		   (UINT64_C(1) << 3)  /* address */
#define PERFMON_SAMPLE_ID		   (UINT64_C(1) << 4)  /* id */
#define PERFMON_SAMPLE_STREAM_ID	   (UINT64_C(1) << 5)  /* stream_id */
#define PERFMON_SAMPLE_CPU		   (UINT64_C(1) << 6)  /* cpu */
#define PERFMON_SAMPLE_PERIOD		   (UINT64_C(1) << 7)  /* period */
#define PERFMON_SAMPLE_READ		   (UINT64_C(1) << 8)  /* read_count, values */
#define PERFMON_SAMPLE_READ_ENABLED	   (UINT64_C(1) << 9)  /* read_enabled_ns */
#define PERFMON_SAMPLE_READ_RUNNING	   (UINT64_C(1) << 10) /* read_running_ns */
#define PERFMON_SAMPLE_READ_ID		   (UINT64_C(1) << 11) /* values have an id */
#define PERFMON_SAMPLE_READ_LOST	   (UINT64_C(1) << 12) /* values have lost */
#define PERFMON_SAMPLE_CALL_CHAIN	   (UINT64_C(1) << 13) /* call_chain */
#define PERFMON_SAMPLE_RAW		   (UINT64_C(1) << 14) /* raw */
#define PERFMON_SAMPLE_BRANCHES		   (UINT64_C(1) << 15) /* branches */
#define PERFMON_SAMPLE_BRANCH_INDEX	   (UINT64_C(1) << 16) /* branch_index */
#define PERFMON_SAMPLE_BRANCH_COUNTERS	   (UINT64_C(1) << 17) /* branch_counters */
#define PERFMON_SAMPLE_USER_REGISTERS	   (UINT64_C(1) << 18) /* user_registers */
#define PERFMON_SAMPLE_USER_STACK	   (UINT64_C(1) << 19) /* user_stack */
#define PERFMON_SAMPLE_WEIGHT		   (UINT64_C(1) << 20) /* weight */
#define PERFMON_SAMPLE_WEIGHT_PARTS	   (UINT64_C(1) << 21) /* weight_parts, too */
#define PERFMON_SAMPLE_DATA_SOURCE	   (UINT64_C(1) << 22) /* data_source */
#define PERFMON_SAMPLE_TRANSACTION	   (UINT64_C(1) << 23) /* transaction */
#define PERFMON_SAMPLE_INTERRUPT_REGISTERS (UINT64_C(1) << 24) /* interrupt_registers */
#define PERFMON_SAMPLE_PHYSICAL_ADDRESS	   (UINT64_C(1) << 25) /* physical_address */
#define PERFMON_SAMPLE_CGROUP		   (UINT64_C(1) << 26) /* cgroup */
#define PERFMON_SAMPLE_DATA_PAGE_SIZE	   (UINT64_C(1) << 27) /* data_page_size */
#define PERFMON_SAMPLE_CODE_PAGE_SIZE	   (UINT64_C(1) << 28) /* code_page_size */
#define PERFMON_SAMPLE_AUX		   (UINT64_C(1) << 29) /* aux */

/* Where the CPU was: the kernel says it with every sample. */
enum perfmon_sample_mode {
	PERFMON_SAMPLE_MODE_UNKNOWN = 0,
	PERFMON_SAMPLE_MODE_KERNEL = 1,
	PERFMON_SAMPLE_MODE_USER = 2,
	PERFMON_SAMPLE_MODE_HYPERVISOR = 3,
	PERFMON_SAMPLE_MODE_GUEST_KERNEL = 4,
	PERFMON_SAMPLE_MODE_GUEST_USER = 5
};

/* Addresses of a call chain from here upwards are no addresses but say whose addresses
 * follow. */
#define PERFMON_SAMPLE_CONTEXT_FIRST	    (UINT64_C(0) - 4095)
#define PERFMON_SAMPLE_CONTEXT_HYPERVISOR   (UINT64_C(0) - 32)
#define PERFMON_SAMPLE_CONTEXT_KERNEL	    (UINT64_C(0) - 128)
#define PERFMON_SAMPLE_CONTEXT_USER	    (UINT64_C(0) - 512)
#define PERFMON_SAMPLE_CONTEXT_GUEST	    (UINT64_C(0) - 2048)
#define PERFMON_SAMPLE_CONTEXT_GUEST_KERNEL (UINT64_C(0) - 2176)
#define PERFMON_SAMPLE_CONTEXT_GUEST_USER   (UINT64_C(0) - 2560)

/* A branch that was taken. */
struct perfmon_branch {
	uint64_t from;
	uint64_t to;
	uint64_t flags;
};
#define PERFMON_BRANCH_MISPREDICTED   UINT64_C(1) /* neither of the two: not known */
#define PERFMON_BRANCH_PREDICTED      UINT64_C(2)
#define PERFMON_BRANCH_IN_TRANSACTION UINT64_C(4)
#define PERFMON_BRANCH_ABORT	      UINT64_C(8)
#define PERFMON_BRANCH_CYCLES(flags)  ((flags) >> 4 & 0xffff) /* since the last */
#define PERFMON_BRANCH_TYPE(flags)    ((flags) >> 20 & 0xf)   /* PERF_BR_ */

struct perfmon_sample {
	size_t size; /* how much of this the library has filled in */
	uint64_t present;

	uint64_t id; /* of the event that overflowed: PERF_EVENT_IOC_ID */
	uint64_t stream_id;
	uint64_t ip;
	uint64_t time_ns; /* of the event's clock */
	uint64_t address;
	uint64_t period; /* how many events stand behind this sample */
	pid_t pid;
	pid_t tid;
	uint32_t cpu;
	uint16_t mode;	   /* enum perfmon_sample_mode */
	uint16_t exact_ip; /* 1: ip is the very instruction */

	/* The values of the group's counters: perfmon_sample_get_value(). */
	uint64_t read_count;
	uint64_t read_enabled_ns;
	uint64_t read_running_ns;
	const uint64_t *read_words; /* as the kernel wrote them, ... */
	uint64_t read_format;	    /* ... laid out by PERF_FORMAT_ */

	uint64_t call_chain_count; /* the markers PERFMON_SAMPLE_CONTEXT_ included */
	const uint64_t *call_chain;

	uint64_t raw_size;
	const void *raw;

	uint64_t branch_count; /* the last one first */
	const struct perfmon_branch *branches;
	const uint64_t *branch_counters; /* one for each branch */
	uint64_t branch_index;		 /* of the hardware's stack; -1: not known */

	/* The registers whose bits are set in the mask, from bit 0 upwards, as the
	 * architecture's asm/perf_regs.h numbers them. ABI 1: of a 32-bit process, 2: of a
	 * 64-bit one. */
	uint64_t user_registers_abi;
	uint64_t user_registers_mask;
	const uint64_t *user_registers;
	uint64_t user_stack_size; /* what was really copied */
	const void *user_stack;

	uint64_t weight;
	uint32_t weight_parts[3]; /* 32, 16 and 16 bits of it; their meaning is the CPU's
				   */
	uint32_t reserved;
	uint64_t data_source; /* union perf_mem_data_src of linux/perf_event.h */
	uint64_t transaction; /* PERF_TXN_ */
	uint64_t interrupt_registers_abi;
	uint64_t interrupt_registers_mask;
	const uint64_t *interrupt_registers;
	uint64_t physical_address;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	uint64_t aux_size;
	const void *aux;
};

/* One counter of the group that was read with a sample. */
struct perfmon_sample_value {
	size_t size; /* in: sizeof(struct perfmon_sample_value) */
	uint64_t value;
	uint64_t id;   /* 0 without PERFMON_SAMPLE_READ_ID */
	uint64_t lost; /* samples of it; 0 without PERFMON_SAMPLE_READ_LOST */
};

/**
 * perfmon_sample_get_value() - counter INDEX of those that were read with SAMPLE, in the
 * order of their group, in *VALUE.
 *
 * Return: 0, or
 * -EINVAL: SAMPLE has no more than `read_count` of them, or a size below the first
 *	version's
 * -E2BIG: VALUE is longer than this library's, and not zero there
 *
 * Any thread; no system call, no allocation.
 */
int perfmon_sample_get_value(const struct perfmon_sample *sample, uint64_t index,
			     struct perfmon_sample_value *value);

#ifdef __cplusplus
}
#endif
#endif
