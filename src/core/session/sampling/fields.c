/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of samples. */
#include "core/session/sampling/sampling.h"

#include <errno.h>

#define USER_STACK 8192

/* The fields that can be asked for, and the kernel's words for them. */
static const struct field {
	uint64_t field, type;
	const char *name;
} fields[] = {
	{PERFMON_SAMPLE_ADDRESS, PERF_SAMPLE_ADDR, "address"},
	{PERFMON_SAMPLE_CALL_CHAIN, PERF_SAMPLE_CALLCHAIN, "call chain"},
	{PERFMON_SAMPLE_RAW, PERF_SAMPLE_RAW, "raw data"},
	{PERFMON_SAMPLE_BRANCHES, PERF_SAMPLE_BRANCH_STACK, "branch stack"},
	{PERFMON_SAMPLE_USER_REGISTERS, PERF_SAMPLE_REGS_USER, "user registers"},
	{PERFMON_SAMPLE_USER_STACK, PERF_SAMPLE_STACK_USER, "user stack"},
	{PERFMON_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT, "weight"},
	{PERFMON_SAMPLE_DATA_SOURCE, PERF_SAMPLE_DATA_SRC, "data source"},
	{PERFMON_SAMPLE_TRANSACTION, PERF_SAMPLE_TRANSACTION, "transaction"},
	{PERFMON_SAMPLE_INTERRUPT_REGISTERS, PERF_SAMPLE_REGS_INTR,
	 "interrupt registers"},
	{PERFMON_SAMPLE_PHYSICAL_ADDRESS, PERF_SAMPLE_PHYS_ADDR, "physical address"},
	{PERFMON_SAMPLE_CGROUP, PERF_SAMPLE_CGROUP, "cgroup"},
	{PERFMON_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE, "data page size"},
	{PERFMON_SAMPLE_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, "code page size"},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

#define ALWAYS                                                                           \
	(PERFMON_SAMPLE_IP | PERFMON_SAMPLE_TID | PERFMON_SAMPLE_TIME |                  \
	 PERFMON_SAMPLE_CPU | PERFMON_SAMPLE_ID)

static void ask_for(struct perf_event_attr *attr, const struct pm_sampling *sampling,
		    uint64_t asked)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (asked & fields[i].field)
			attr->sample_type |= fields[i].type;
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		attr->sample_max_stack = (uint16_t)sampling->depth;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		attr->branch_sample_type =
			PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	if (attr->sample_type & PERF_SAMPLE_REGS_USER)
		attr->sample_regs_user = PERFMON_ARCH_USER_REGISTERS;
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		attr->sample_regs_intr = PERFMON_ARCH_USER_REGISTERS;
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		attr->sample_stack_user = USER_STACK;
}

void pm_sampling_plan(const struct perfmon_session *session,
		      const struct pm_register *reg, struct perf_event_attr *attr,
		      bool is_awaited)
{
	const struct pm_sampling *sampling = session->sampling;

	if (!sampling || !pm_is_sampled(reg))
		return;
	ask_for(attr, sampling, sampling->fields);
	if (sampling->side_records && !(attr->sample_type & PERF_SAMPLE_READ)) {
		/* The counts of a thread that was created are logged when it ends. */
		attr->inherit_stat = 1;
		attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
				    PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
	if (!(reg->overflow.how.flags & PERFMON_OVERFLOW_NOTIFY) &&
	    !(sampling->use && is_awaited)) {
		/* Nobody waits for the single sample: half a ring is worth a wake-up. */
		attr->watermark = 1;
		attr->wakeup_watermark =
			(uint32_t)(sampling->pages * pm_kernel_page_size() / 2);
	}
}

void pm_sampling_plan_side(struct perf_event_attr *attr)
{
	attr->sample_type = pm_record_attr()->sample_type;
	attr->sample_id_all = 1;
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	attr->context_switch = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(pm_kernel_page_size() / 2);
}

/* Tries to open the event of REG on the calling thread with the fields ASKED. */
static int try_fields(const struct pm_sampling *sampling, const struct pm_register *reg,
		      uint64_t asked)
{
	struct pm_event event = reg->program->list->events[reg->first];
	int fd;

	pm_record_plan(&event, false);
	event.attr.size = sizeof(event.attr);
	event.attr.disabled = 1;
	ask_for(&event.attr, sampling, asked);
	fd = pm_kernel_perf_event_open(&event.attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	pm_kernel_close(fd);
	return 0;
}

uint64_t pm_fields_known(void)
{
	uint64_t known = ALWAYS;

	for (size_t f = 0; f < FIELDS; f++)
		known |= fields[f].field;
	return known;
}

int pm_fields_grant(struct perfmon_session *session, struct pm_sampling *sampling,
		    unsigned int flags)
{
	uint64_t granted = ALWAYS;

	for (size_t f = 0; f < FIELDS; f++) {
		int err = 0;

		if (!(sampling->fields & fields[f].field))
			continue;
		for (uint32_t i = 0; i < session->count && !err; i++) {
			const struct pm_register *reg = &session->registers[i];

			if (pm_is_sampled(reg) && !try_fields(sampling, reg, 0))
				err = try_fields(sampling, reg, fields[f].field);
		}
		if (!err)
			granted |= fields[f].field;
		else if (!(flags & PERFMON_SAMPLING_BEST))
			return pm_diag_set(
				&session->diag, -EOPNOTSUPP,
				"samples cannot have the %s: the kernel refuses this "
				"field for a sampled event (error %d)",
				fields[f].name, -err);
	}
	sampling->fields = granted;
	return 0;
}
