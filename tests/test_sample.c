/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples: each field by hand-made records, and what this very kernel writes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "breakpoints.h"
#include "core/kernel/kernel.h"
#include "core/samples/samples.h"
#include "record.h"

static struct record record;
static struct perfmon_sample sample;

static struct perf_event_attr attr_of(uint64_t sample_type)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
					.size = sizeof(struct perf_event_attr),
					.sample_type = sample_type,
					.sample_id_all = 1};
}

static void begin_sample(void)
{
	record_begin(&record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
}

/* Decodes the record, which must be whole; every shorter one must be refused, with the
 * sample as it was. */
static void decode(const struct perf_event_attr *attr)
{
	const uint16_t whole = record.header.size;
	struct perfmon_sample untouched;

	memset(&untouched, 0xa5, sizeof(untouched));
	sample = untouched;
	for (uint16_t size = 0; size < whole; size++) {
		record.header.size = size;
		cr_assert_eq(pm_sample_decode(attr, &record.header, &sample), -EBADMSG,
			     "%u of %u bytes", size, whole);
		cr_assert_eq(memcmp(&sample, &untouched, sizeof(sample)), 0);
	}
	record.header.size = whole;
	cr_assert_eq(pm_sample_decode(attr, &record.header, &sample), 0);
	cr_assert_eq(sample.size, sizeof(sample));
}

Test(sample, nothing_asked_for_is_nothing_present)
{
	struct perf_event_attr attr = attr_of(0);

	record_begin(&record, PERF_RECORD_SAMPLE,
		     PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP);
	decode(&attr);
	cr_assert_eq(sample.present, 0);
	cr_assert_eq(sample.mode, PERFMON_SAMPLE_MODE_KERNEL);
	cr_assert_eq(sample.exact_ip, 1);
	cr_assert_eq(sample.ip, 0);
	cr_assert_null(sample.call_chain);
}

Test(sample, modes)
{
	struct perf_event_attr attr = attr_of(0);

	for (uint16_t mode = 0; mode < 8; mode++) {
		record_begin(&record, PERF_RECORD_SAMPLE, mode);
		decode(&attr);
		cr_expect_eq(sample.mode, mode < 6 ? mode : PERFMON_SAMPLE_MODE_UNKNOWN);
		cr_expect_eq(sample.exact_ip, 0);
	}
}

/* Fields of one word, alone and with zero for a value. */
Test(sample, single_words)
{
	static const struct {
		uint64_t type, bit;
		size_t offset;
	} fields[] = {
#define FIELD(type, bit, name)                                                           \
	{PERF_SAMPLE_##type, PERFMON_SAMPLE_##bit, offsetof(struct perfmon_sample, name)}
		FIELD(IP, IP, ip),
		FIELD(TIME, TIME, time_ns),
		FIELD(ADDR, ADDRESS, address),
		FIELD(ID, ID, id),
		FIELD(IDENTIFIER, ID, id),
		FIELD(STREAM_ID, STREAM_ID, stream_id),
		FIELD(PERIOD, PERIOD, period),
		FIELD(WEIGHT, WEIGHT, weight),
		FIELD(DATA_SRC, DATA_SOURCE, data_source),
		FIELD(TRANSACTION, TRANSACTION, transaction),
		FIELD(PHYS_ADDR, PHYSICAL_ADDRESS, physical_address),
		FIELD(CGROUP, CGROUP, cgroup),
		FIELD(DATA_PAGE_SIZE, DATA_PAGE_SIZE, data_page_size),
		FIELD(CODE_PAGE_SIZE, CODE_PAGE_SIZE, code_page_size),
	};
	static const uint64_t values[] = {0, 1, UINT64_C(0xfedcba9876543210), UINT64_MAX};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct perf_event_attr attr = attr_of(fields[i].type);

		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			uint64_t value;

			begin_sample();
			record_word(&record, values[v]);
			decode(&attr);
			cr_expect_eq(sample.present, fields[i].bit);
			memcpy(&value, (char *)&sample + fields[i].offset, sizeof(value));
			cr_expect_eq(value, values[v], "field %zu", i);
		}
	}
}

Test(sample, halves_of_words)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_TID | PERF_SAMPLE_CPU);

	begin_sample();
	record_halves(&record, 1001, 1002);
	record_halves(&record, 3, 0xffffffff);
	decode(&attr);
	cr_assert_eq(sample.present, PERFMON_SAMPLE_TID | PERFMON_SAMPLE_CPU);
	cr_assert_eq(sample.pid, 1001);
	cr_assert_eq(sample.tid, 1002);
	cr_assert_eq(sample.cpu, 3);
}

/* Every combination of the bits of read_format. */
Test(sample, read_formats)
{
	for (uint64_t format = 0; format < 32; format++) {
		struct perf_event_attr attr = attr_of(PERF_SAMPLE_READ);
		const unsigned int count = format & PERF_FORMAT_GROUP ? 3 : 1;
		struct perfmon_sample_value value = {.size = sizeof(value)};

		attr.read_format = format;
		begin_sample();
		if (format & PERF_FORMAT_GROUP)
			record_word(&record, count);
		else
			record_word(&record, 1000);
		if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			record_word(&record, 70);
		if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			record_word(&record, 60);
		for (unsigned int i = 0; i < count; i++) {
			if (format & PERF_FORMAT_GROUP)
				record_word(&record, 1000 + i);
			if (format & PERF_FORMAT_ID)
				record_word(&record, 2000 + i);
			if (format & 16)
				record_word(&record, 3000 + i);
		}
		decode(&attr);
		cr_expect(sample.present & PERFMON_SAMPLE_READ);
		cr_expect_eq(!!(sample.present & PERFMON_SAMPLE_READ_ENABLED),
			     !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED));
		cr_expect_eq(!!(sample.present & PERFMON_SAMPLE_READ_RUNNING),
			     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
		cr_expect_eq(!!(sample.present & PERFMON_SAMPLE_READ_ID),
			     !!(format & PERF_FORMAT_ID));
		cr_expect_eq(!!(sample.present & PERFMON_SAMPLE_READ_LOST),
			     !!(format & 16));
		cr_expect_eq(sample.read_enabled_ns,
			     format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 70 : 0);
		cr_expect_eq(sample.read_running_ns,
			     format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 60 : 0);
		cr_assert_eq(sample.read_count, count);
		for (unsigned int i = 0; i < count; i++) {
			cr_assert_eq(perfmon_sample_get_value(&sample, i, &value), 0);
			cr_expect_eq(value.value, 1000 + i, "format %u",
				     (unsigned int)format);
			cr_expect_eq(value.id, format & PERF_FORMAT_ID ? 2000 + i : 0);
			cr_expect_eq(value.lost, format & 16 ? 3000 + i : 0);
		}
		cr_expect_eq(perfmon_sample_get_value(&sample, count, &value), -EINVAL);
		cr_expect_eq(perfmon_sample_get_value(&sample, UINT64_MAX, &value),
			     -EINVAL);
	}
	sample.present = 0;
	cr_expect_eq(perfmon_sample_get_value(
			     &sample, 0,
			     &(struct perfmon_sample_value){
				     .size = sizeof(struct perfmon_sample_value)}),
		     -EINVAL);
}

Test(sample, call_chain)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_CALLCHAIN);

	begin_sample();
	record_word(&record, 4);
	record_word(&record, PERF_CONTEXT_KERNEL);
	record_word(&record, 0xffffffff81000000);
	record_word(&record, PERF_CONTEXT_USER);
	record_word(&record, 0x401000);
	decode(&attr);
	cr_assert_eq(sample.present, PERFMON_SAMPLE_CALL_CHAIN);
	cr_assert_eq(sample.call_chain_count, 4);
	cr_assert_eq(sample.call_chain[0], PERFMON_SAMPLE_CONTEXT_KERNEL);
	cr_assert_eq(sample.call_chain[2], PERFMON_SAMPLE_CONTEXT_USER);
	cr_assert_geq(sample.call_chain[0], PERFMON_SAMPLE_CONTEXT_FIRST);
	cr_assert_lt(sample.call_chain[1], PERFMON_SAMPLE_CONTEXT_FIRST);
	cr_assert_eq(sample.call_chain[3], 0x401000);

	begin_sample();
	record_word(&record, 0);
	decode(&attr);
	cr_assert_eq(sample.present, PERFMON_SAMPLE_CALL_CHAIN, "asked for, and empty");
}

Test(sample, raw)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_RAW | PERF_SAMPLE_CGROUP);
	const char bytes[] = "\x14\0\0\0twenty bytes of data";

	begin_sample();
	record_bytes(&record, bytes, 24);
	record_word(&record, 77);
	decode(&attr);
	cr_assert_eq(sample.present, PERFMON_SAMPLE_RAW | PERFMON_SAMPLE_CGROUP);
	cr_assert_eq(sample.raw_size, 20);
	cr_assert_eq(memcmp(sample.raw, "twenty bytes of data", 20), 0);
	cr_assert_eq(sample.cgroup, 77);

	begin_sample();
	record_bytes(&record, "\x13\0\0\0twenty bytes of data", 24);
	record_word(&record, 77);
	cr_assert_eq(pm_sample_decode(&attr, &record.header, &sample), -EBADMSG,
		     "what follows would not be aligned");
	begin_sample();
	record_word(&record, UINT64_MAX);
	record_word(&record, 77);
	cr_assert_eq(pm_sample_decode(&attr, &record.header, &sample), -EBADMSG);
}

Test(sample, branches)
{
	struct perf_event_attr attr =
		attr_of(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_CGROUP);

	for (int index = 0; index < 2; index++)
		for (int counters = 0; counters < 2; counters++) {
			attr.branch_sample_type =
				PERF_SAMPLE_BRANCH_ANY |
				(index ? PERF_SAMPLE_BRANCH_HW_INDEX : 0) |
				(counters ? UINT64_C(1) << 19 : 0);
			begin_sample();
			record_word(&record, 2);
			if (index)
				record_word(&record, 5);
			for (unsigned int i = 0; i < 2; i++) {
				record_word(&record, 100 + i);
				record_word(&record, 200 + i);
				record_word(&record, 1 | 8 | 1234 << 4 | 6 << 20);
			}
			if (counters) {
				record_word(&record, 11);
				record_word(&record, 12);
			}
			record_word(&record, 77);
			decode(&attr);
			cr_assert_eq(sample.branch_count, 2);
			cr_assert_eq(sample.branches[1].from, 101);
			cr_assert_eq(sample.branches[1].to, 201);
			cr_assert_eq(sample.branches[0].flags & 15,
				     PERFMON_BRANCH_MISPREDICTED | PERFMON_BRANCH_ABORT);
			cr_assert_eq(PERFMON_BRANCH_CYCLES(sample.branches[0].flags),
				     1234);
			cr_assert_eq(PERFMON_BRANCH_TYPE(sample.branches[0].flags),
				     PERF_BR_RET);
			cr_assert_eq(!!(sample.present & PERFMON_SAMPLE_BRANCH_INDEX),
				     index);
			cr_assert_eq(sample.branch_index, index ? 5 : 0);
			cr_assert_eq(!!(sample.present & PERFMON_SAMPLE_BRANCH_COUNTERS),
				     counters);
			if (counters)
				cr_assert_eq(sample.branch_counters[1], 12);
			cr_assert_eq(sample.cgroup, 77);
		}
}

/* The bits of flags are those of the kernel's bit field. */
Test(sample, branch_flags_are_the_kernels)
{
	struct perf_branch_entry entry = {
		.predicted = 1, .in_tx = 1, .cycles = 0xabcd, .type = 9};
	struct perfmon_branch branch;

	cr_assert_eq(sizeof(entry), sizeof(branch));
	memcpy(&branch, &entry, sizeof(branch));
	cr_assert(branch.flags & PERFMON_BRANCH_PREDICTED);
	cr_assert(branch.flags & PERFMON_BRANCH_IN_TRANSACTION);
	cr_assert_not(branch.flags & PERFMON_BRANCH_MISPREDICTED);
	cr_assert_eq(PERFMON_BRANCH_CYCLES(branch.flags), 0xabcd);
	cr_assert_eq(PERFMON_BRANCH_TYPE(branch.flags), 9);
}

Test(sample, registers_and_stack)
{
	struct perf_event_attr attr =
		attr_of(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_CGROUP);

	attr.sample_regs_user = 0x105;
	attr.sample_regs_intr = 0x3;
	begin_sample();
	record_word(&record, PERF_SAMPLE_REGS_ABI_64);
	for (unsigned int i = 0; i < 3; i++)
		record_word(&record, 40 + i);
	record_word(&record, 16);
	record_bytes(&record, "0123456789abcdef", 16);
	record_word(&record, 12);
	record_word(&record, PERF_SAMPLE_REGS_ABI_32);
	record_word(&record, 50);
	record_word(&record, 51);
	record_word(&record, 77);
	decode(&attr);
	cr_assert_eq(sample.present,
		     PERFMON_SAMPLE_USER_REGISTERS | PERFMON_SAMPLE_USER_STACK |
			     PERFMON_SAMPLE_INTERRUPT_REGISTERS | PERFMON_SAMPLE_CGROUP);
	cr_assert_eq(sample.user_registers_abi, 2);
	cr_assert_eq(sample.user_registers_mask, 0x105);
	cr_assert_eq(sample.user_registers[2], 42);
	cr_assert_eq(sample.user_stack_size, 12, "what was copied, not the room for it");
	cr_assert_eq(memcmp(sample.user_stack, "0123456789ab", 12), 0);
	cr_assert_eq(sample.interrupt_registers_abi, 1);
	cr_assert_eq(sample.interrupt_registers[1], 51);
	cr_assert_eq(sample.cgroup, 77);

	/* More copied than there was room for. */
	record.words[8] = 17;
	cr_assert_eq(pm_sample_decode(&attr, &record.header, &sample), -EBADMSG);

	/* A kernel thread has neither. */
	begin_sample();
	record_word(&record, PERF_SAMPLE_REGS_ABI_NONE);
	record_word(&record, 0);
	record_word(&record, PERF_SAMPLE_REGS_ABI_NONE);
	record_word(&record, 77);
	decode(&attr);
	cr_assert_eq(sample.present, PERFMON_SAMPLE_CGROUP);
	cr_assert_eq(sample.user_registers_mask, 0);
	cr_assert_eq(sample.cgroup, 77);
}

Test(sample, weight_parts)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_WEIGHT_STRUCT);
	union perf_sample_weight weight = {.full = UINT64_C(0x4444333322221111)};

	begin_sample();
	record_word(&record, weight.full);
	decode(&attr);
	cr_assert_eq(sample.present, PERFMON_SAMPLE_WEIGHT | PERFMON_SAMPLE_WEIGHT_PARTS);
	cr_assert_eq(sample.weight, weight.full);
	cr_assert_eq(sample.weight_parts[0], weight.var1_dw);
	cr_assert_eq(sample.weight_parts[1], weight.var2_w);
	cr_assert_eq(sample.weight_parts[2], weight.var3_w);
}

Test(sample, data_source)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_DATA_SRC);
	union perf_mem_data_src source = {
		.mem_op = PERF_MEM_OP_LOAD,
		.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_CCE1,
		.mem_hops = PERF_MEM_HOPS_2,
	};

	begin_sample();
	record_word(&record, source.val);
	decode(&attr);
	cr_assert_eq(sample.present, PERFMON_SAMPLE_DATA_SOURCE);
	source.val = sample.data_source;
	cr_assert_eq(source.mem_op, PERF_MEM_OP_LOAD);
	cr_assert_eq(source.mem_lvl, PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_CCE1);
	cr_assert_eq(source.mem_hops, PERF_MEM_HOPS_2);
}

Test(sample, aux)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_AUX);

	begin_sample();
	record_word(&record, 16);
	record_bytes(&record, "0123456789abcdef", 16);
	decode(&attr);
	cr_assert_eq(sample.aux_size, 16);
	cr_assert_eq(memcmp(sample.aux, "0123456789abcdef", 16), 0);
}

/* All at once, in the kernel's order. */
Test(sample, every_field)
{
	struct perf_event_attr attr =
		attr_of(((UINT64_C(1) << 25) - 1) & ~PERF_SAMPLE_WEIGHT);

	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
	attr.sample_regs_user = 1;
	attr.sample_regs_intr = 2;
	begin_sample();
	record_word(&record, 1);       /* identifier */
	record_word(&record, 2);       /* ip */
	record_halves(&record, 3, 4);  /* pid, tid */
	record_word(&record, 5);       /* time */
	record_word(&record, 6);       /* address */
	record_word(&record, 7);       /* id */
	record_word(&record, 8);       /* stream */
	record_halves(&record, 9, 0);  /* CPU */
	record_word(&record, 10);      /* period */
	record_word(&record, 1);       /* read: one */
	record_word(&record, 11);      /* its value */
	record_word(&record, 12);      /* its id */
	record_word(&record, 1);       /* call chain: one */
	record_word(&record, 13);      /* its address */
	record_halves(&record, 4, 14); /* raw */
	record_word(&record, 1);       /* branches: one */
	record_word(&record, 15);      /* index */
	record_word(&record, 16);      /* from */
	record_word(&record, 17);      /* to */
	record_word(&record, 0);       /* flags */
	record_word(&record, 2);       /* abi of the user's registers */
	record_word(&record, 18);      /* one register */
	record_word(&record, 8);       /* stack: room */
	record_word(&record, 19);      /* bytes */
	record_word(&record, 8);       /* copied */
	record_word(&record, 20);      /* weight */
	record_word(&record, 21);      /* data source */
	record_word(&record, 22);      /* transaction */
	record_word(&record, 2);       /* abi of the interrupt's registers */
	record_word(&record, 23);      /* one register */
	record_word(&record, 24);      /* physical address */
	record_word(&record, 25);      /* cgroup */
	record_word(&record, 26);      /* data page size */
	record_word(&record, 27);      /* code page size */
	record_word(&record, 8);       /* aux size */
	record_word(&record, 28);      /* aux */
	decode(&attr);
	cr_expect_eq(sample.ip, 2);
	cr_expect_eq(sample.tid, 4);
	cr_expect_eq(sample.time_ns, 5);
	cr_expect_eq(sample.address, 6);
	cr_expect_eq(sample.id, 7);
	cr_expect_eq(sample.stream_id, 8);
	cr_expect_eq(sample.cpu, 9);
	cr_expect_eq(sample.period, 10);
	cr_expect_eq(sample.read_words[1], 11);
	cr_expect_eq(sample.call_chain[0], 13);
	cr_expect_eq(*(const uint32_t *)sample.raw, 14);
	cr_expect_eq(sample.branch_index, 15);
	cr_expect_eq(sample.branches->to, 17);
	cr_expect_eq(sample.user_registers[0], 18);
	cr_expect_eq(*(const uint64_t *)sample.user_stack, 19);
	cr_expect_eq(sample.weight, 20);
	cr_expect_eq(sample.data_source, 21);
	cr_expect_eq(sample.transaction, 22);
	cr_expect_eq(sample.interrupt_registers[0], 23);
	cr_expect_eq(sample.physical_address, 24);
	cr_expect_eq(sample.cgroup, 25);
	cr_expect_eq(sample.data_page_size, 26);
	cr_expect_eq(sample.code_page_size, 27);
	cr_expect_eq(*(const uint64_t *)sample.aux, 28);
	cr_expect_eq(sample.present,
		     ((UINT64_C(1) << 30) -
		      1) & ~(PERFMON_SAMPLE_READ_ENABLED | PERFMON_SAMPLE_READ_RUNNING |
			     PERFMON_SAMPLE_READ_LOST | PERFMON_SAMPLE_BRANCH_COUNTERS));
}

/* A length that overflows when it is multiplied must not come back small. */
Test(sample, hostile_lengths)
{
	static const uint64_t types[] = {PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN,
					 PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER,
					 PERF_SAMPLE_AUX};
	static const uint64_t lengths[] = {
		4,
		UINT64_MAX,
		UINT64_MAX - 7,
		UINT64_C(1) << 63,
		(UINT64_C(1) << 61) + 1,
		UINT64_C(1) << 60,
		UINT64_MAX / 24 + 1,
		UINT64_MAX / 3 + 1,
		0xffffffff,
	};

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			struct perf_event_attr attr = attr_of(types[t]);

			if (types[t] == PERF_SAMPLE_STACK_USER && lengths[i] == 4)
				continue;
			attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
			begin_sample();
			record_word(&record, lengths[i]);
			record_word(&record, 0);
			record_word(&record, 0);
			cr_expect_eq(pm_sample_decode(&attr, &record.header, &sample),
				     -EBADMSG, "type %zu length %zu", t, i);
		}
}

Test(sample, what_is_not_known_is_refused)
{
	struct perf_event_attr attr = attr_of(UINT64_C(1) << 25);

	begin_sample();
	record_word(&record, 0);
	cr_expect_eq(pm_sample_decode(&attr, &record.header, &sample), -EOPNOTSUPP);
	attr = attr_of(PERF_SAMPLE_READ);
	attr.read_format = 32;
	cr_expect_eq(pm_sample_decode(&attr, &record.header, &sample), -EOPNOTSUPP);
	attr = attr_of(0);
	record.header.type = PERF_RECORD_MMAP;
	cr_expect_eq(pm_sample_decode(&attr, &record.header, &sample), -EBADMSG);
}

Test(sample, trailers)
{
	struct perf_event_attr attr =
		attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER);
	const uint64_t all = PERFMON_SAMPLE_TID | PERFMON_SAMPLE_TIME |
			     PERFMON_SAMPLE_ID | PERFMON_SAMPLE_STREAM_ID |
			     PERFMON_SAMPLE_CPU;
	uint32_t body = 0;
	uint64_t id = 0;

	record_begin(&record, PERF_RECORD_LOST, 0);
	record_word(&record, 98);
	record_word(&record, 99);
	record_halves(&record, 1, 2);
	record_word(&record, 3);
	record_word(&record, 4);
	record_word(&record, 5);
	record_halves(&record, 6, 0);
	record_word(&record, 4);
	cr_assert_eq(pm_sample_decode_trailer(&attr, &record.header, &sample, &body), 0);
	cr_assert_eq(body, 24);
	cr_assert_eq(sample.present, all);
	cr_assert_eq(sample.pid, 1);
	cr_assert_eq(sample.tid, 2);
	cr_assert_eq(sample.time_ns, 3);
	cr_assert_eq(sample.id, 4);
	cr_assert_eq(sample.stream_id, 5);
	cr_assert_eq(sample.cpu, 6);
	cr_assert_eq(pm_sample_identify(&attr, &record.header, &id), 0);
	cr_assert_eq(id, 4);

	record.header.size = 48;
	cr_assert_eq(pm_sample_decode_trailer(&attr, &record.header, &sample, &body),
		     -EBADMSG);
	attr.sample_id_all = 0;
	cr_assert_eq(pm_sample_decode_trailer(&attr, &record.header, &sample, &body), 0);
	cr_assert_eq(body, 48);
	cr_assert_eq(sample.present, 0);
	cr_assert_eq(pm_sample_identify(&attr, &record.header, &id), -ENODATA);

	begin_sample();
	cr_assert_eq(pm_sample_identify(&attr, &record.header, &id), -EBADMSG);
	record_word(&record, 31);
	cr_assert_eq(pm_sample_identify(&attr, &record.header, &id), 0);
	cr_assert_eq(id, 31);
	attr.sample_type = PERF_SAMPLE_IP;
	cr_assert_eq(pm_sample_identify(&attr, &record.header, &id), -ENODATA);
}

/* What the kernel writes. */

static int open_sampling(struct perf_event_attr *attr, struct pm_ring *ring)
{
	int fd, err;

	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->disabled = 1;
	fd = pm_kernel_perf_event_open(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -EACCES || fd == -EPERM)
		cr_skip_test("kernel.perf_event_paranoid forbids sampling");
	if (fd == -ENOENT || fd == -ENOSPC || fd == -EOPNOTSUPP || fd == -ENODEV)
		cr_skip_test("this machine does not sample that event: %s",
			     strerror(-fd));
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	err = pm_ring_map(ring, fd, 16);
	if (err == -EPERM)
		cr_skip_test(
			"kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK forbid the ring");
	cr_assert_eq(err, 0, "%s", strerror(-err));
	return fd;
}

static volatile uint64_t watched;

static void __attribute__((noinline)) touch(unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		watched = i;
}

/* A breakpoint's samples are exact: one for each second write, in order, by `touch`. */
Test(sample, breakpoint)
{
	NEEDS_BREAKPOINTS();
	struct perf_event_attr attr =
		attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
			PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
	const struct perf_event_header *next;
	struct pm_ring ring;
	unsigned int seen = 0;
	uint64_t id = 0, last = 0;
	int fd;

	attr.type = PERF_TYPE_BREAKPOINT;
	attr.bp_type = 2; /* write */
	attr.bp_addr = (uintptr_t)&watched;
	attr.bp_len = sizeof(watched);
	attr.sample_period = 2;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID;
	fd = open_sampling(&attr, &ring);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
	cr_assert_not(pm_ring_pending(&ring));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	touch(50);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	cr_assert(pm_ring_pending(&ring));
	while (pm_ring_next(&ring, &next) > 0) {
		struct perfmon_sample_value value = {.size = sizeof(value)};

		if (next->type != PERF_RECORD_SAMPLE)
			continue;
		cr_assert_eq(pm_sample_decode(&attr, next, &sample), 0);
		seen++;
		cr_expect(sample.ip >= (uintptr_t)touch &&
			  sample.ip < (uintptr_t)touch + 256);
		cr_expect_eq(sample.mode, PERFMON_SAMPLE_MODE_USER);
		cr_expect_eq(sample.address, (uintptr_t)&watched);
		cr_expect_eq(sample.pid, getpid());
		cr_expect_eq(sample.tid, pm_kernel_gettid());
		cr_expect_eq(sample.id, id);
		cr_expect_not(sample.present & PERFMON_SAMPLE_PERIOD);
		cr_expect_lt(sample.cpu, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		cr_expect_gt(sample.time_ns, last);
		last = sample.time_ns;
		cr_expect_gt(sample.read_enabled_ns, 0);
		cr_assert_eq(perfmon_sample_get_value(&sample, 0, &value), 0);
		cr_expect_eq(value.value, 2 * seen);
		cr_expect_eq(value.id, id);
		cr_assert_geq(sample.call_chain_count, 2);
		cr_expect_eq(sample.call_chain[0], PERFMON_SAMPLE_CONTEXT_USER);
		cr_expect_eq(sample.call_chain[1], sample.ip);
	}
	pm_ring_release(&ring);
	cr_assert_eq(seen, 25);
	cr_assert_eq(ring.lost, 0);
	cr_assert_not(pm_ring_pending(&ring));
	pm_ring_unmap(&ring);
	close(fd);
}

/* A page fault tells the page; registers and stack are those of the faulting code. */
Test(sample, page_faults)
{
	struct perf_event_attr attr =
		attr_of(PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER |
			PERF_SAMPLE_STACK_USER | PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT |
			PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION);
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct perf_event_header *next;
	struct pm_ring ring;
	unsigned int seen = 0;
	char *memory;
	int fd;

	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 1;
	attr.sample_stack_user = 64;
#if defined(__x86_64__)
	attr.sample_regs_user = 1 << 7 | 1 << 8; /* sp, ip */
#else
	attr.sample_regs_user = UINT64_C(3) << 31; /* arm64: sp, pc */
#endif
	memory = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	cr_assert_neq(memory, MAP_FAILED);
	madvise(memory, 8 * page, MADV_NOHUGEPAGE);
	fd = open_sampling(&attr, &ring);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (size_t i = 0; i < 8; i++)
		((volatile char *)memory)[i * page] = 1;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (pm_ring_next(&ring, &next) > 0) {
		if (next->type != PERF_RECORD_SAMPLE)
			continue;
		cr_assert_eq(pm_sample_decode(&attr, next, &sample), 0);
		if (sample.address < (uintptr_t)memory ||
		    sample.address >= (uintptr_t)memory + 8 * page)
			continue;
		cr_expect_eq(sample.address, (uintptr_t)memory + seen * page);
		seen++;
		cr_expect(sample.present & PERFMON_SAMPLE_USER_REGISTERS);
		cr_expect_eq(sample.user_registers_abi, PERF_SAMPLE_REGS_ABI_64);
		cr_expect_lt(sample.user_registers[0] -
				     (uintptr_t)__builtin_frame_address(0) + 65536,
			     131072);
		cr_expect_eq(sample.period, 1);
		cr_expect_eq(sample.user_stack_size, 64);
		cr_expect(sample.present & PERFMON_SAMPLE_WEIGHT);
		cr_expect(sample.present & PERFMON_SAMPLE_DATA_SOURCE);
	}
	cr_assert_eq(seen, 8);
	pm_ring_unmap(&ring);
	munmap(memory, 8 * page);
	close(fd);
}

/* The clock's samples fall into the loop that burns the time. */
static void __attribute__((noinline))
burn(const struct pm_ring *ring, unsigned int records)
{
	const volatile struct perf_event_mmap_page *page = ring->page;

	while (page->data_head < records * 16)
		for (int i = 0; i < 1000; i++)
			__asm__ volatile(""); /* nothing that a sanitizer adds to */
}

Test(sample, task_clock)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IP);
	const struct perf_event_header *next;
	struct pm_ring ring;
	unsigned int seen = 0, inside = 0;
	int fd;

	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = 100000;
	fd = open_sampling(&attr, &ring);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	burn(&ring, 20);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (pm_ring_next(&ring, &next) > 0) {
		if (next->type != PERF_RECORD_SAMPLE)
			continue;
		cr_assert_eq(pm_sample_decode(&attr, next, &sample), 0);
		seen++;
		inside += sample.ip >= (uintptr_t)burn &&
			  sample.ip < (uintptr_t)burn + 1024;
	}
	cr_assert_geq(seen, 20);
	cr_expect_gt(inside, 0);
	pm_ring_unmap(&ring);
	close(fd);
}
