/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PMCs and PMDs: the registers, the counters of the session that they stand for, and the
 * effects of their overflows. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/compat.h"
#include "core/api/export.h"
#include "core/events/events.h"

#define SOURCE_FLAGS	(PFM_PMCFL_SOFTWARE | PFM_PMCFL_GENERIC | PFM_PMCFL_WRITES)
#define KNOWN_PMC_FLAGS (SOURCE_FLAGS | PFM_PMCFL_NO_EMUL64 | PFM_PMCFL_KERNEL)
#define KNOWN_PMD_FLAGS                                                                  \
	(PFM_PMDFL_SMPL | PFM_PMDFL_SWITCH | PFM_PMDFL_OVFL_NOTIFY | PFM_PMDFL_RANDOM)

/* --- registers ---------------------------------------------------------------------- */

static struct pm2_register *find(struct pm2_context *context, uint16_t set,
				 uint16_t number)
{
	for (size_t i = 0; i < context->register_count; i++) {
		struct pm2_register *reg = &context->registers[i];

		if (reg->set == set && reg->number == number)
			return reg;
	}
	return NULL;
}

/* Reserves memory for MORE registers. */
static int reserve(struct pm2_context *context, size_t more)
{
	struct pm2_register *larger = realloc(
		context->registers, (context->register_count + more) * sizeof(larger[0]));

	if (!larger)
		return pm_diag_set(&context->diag, -ENOMEM, "out of memory");
	context->registers = larger;
	return 0;
}

/* Finds or adds a register. The caller has reserved the memory. */
static struct pm2_register *touch(struct pm2_context *context, uint16_t set,
				  uint16_t number)
{
	struct pm2_register *reg = find(context, set, number);

	if (reg)
		return reg;
	reg = &context->registers[context->register_count++];
	*reg = (struct pm2_register){.set = set, .number = number, .counter = -1};
	return reg;
}

void pm2_registers_drop_set(struct pm2_context *context, uint16_t id)
{
	bool gone[PERFMON_SESSION_COUNTERS_MAX] = {false};
	size_t i, kept = 0;

	for (i = 0; i < context->register_count; i++) {
		const struct pm2_register *reg = &context->registers[i];

		if (reg->set == id && reg->counter >= 0)
			gone[reg->counter] = true;
		if (reg->set != id)
			context->registers[kept++] = *reg;
	}
	context->register_count = kept;
	/* The counters behind those of the set move up. */
	for (i = 0; i < kept; i++) {
		int32_t *counter = &context->registers[i].counter;
		int before = 0;

		for (int c = 0; c < *counter; c++)
			before += gone[c];
		*counter -= before;
	}
}

/* --- overflows ---------------------------------------------------------------------- */

/* Returns PMD's settings of its overflows in a session's terms. */
static struct pm2_overflow overflow_of(const struct pfarg_pmd *pmd)
{
	static const struct pm2_overflow nothing;
	struct pm2_overflow to;

	/* It is compared as memory. */
	memset(&to, 0, sizeof(to));
	to.how.long_reset = pmd->reg_long_reset;
	to.how.short_reset = pmd->reg_short_reset;
	if (pmd->reg_flags & PFM_PMDFL_OVFL_NOTIFY)
		to.how.flags |= PERFMON_OVERFLOW_NOTIFY;
	if (pmd->reg_flags & PFM_PMDFL_RANDOM) {
		to.how.flags |= PERFMON_OVERFLOW_RANDOM;
		to.how.random_mask = pmd->reg_random_mask;
	}
	if (pmd->reg_flags & PFM_PMDFL_SWITCH) {
		to.how.flags |= PERFMON_OVERFLOW_SWITCH;
		to.how.switch_count = pmd->reg_ovfl_switch_cnt;
	}
	if (pmd->reg_flags & PFM_PMDFL_SMPL) {
		to.how.flags |= PERFMON_OVERFLOW_SAMPLE;
		to.how.event_id = pmd->reg_smpl_eventid;
		memcpy(to.samples, pmd->reg_smpl_pmds, sizeof(to.samples));
	}
	memcpy(to.resets, pmd->reg_reset_pmds, sizeof(to.resets));
	if (!memcmp(&to, &nothing, sizeof(to)))
		return to;
	to.how.size = sizeof(to.how);
	/* perfmon2 accepts every reset value. */
	to.how.flags |= PERFMON_OVERFLOW_ONCE;
	return to;
}

/* Converts MASK from PMDs of event set ID to counters. A PMD that counts nothing has no
 * counter. */
static void to_counters(struct pm2_context *context, uint16_t id,
			uint64_t mask[PM2_MASK_WORDS])
{
	uint64_t counters[PM2_MASK_WORDS] = {0};

	for (uint16_t i = 0; i < PM2_REGISTERS; i++) {
		const struct pm2_register *reg = NULL;

		if (mask[i / 64] >> i % 64 & 1)
			reg = find(context, id, i);
		if (reg && reg->counter >= 0)
			counters[reg->counter / 64] |= UINT64_C(1) << reg->counter % 64;
	}
	memcpy(mask, counters, sizeof(counters));
}

/* Lists the counters of MASK in INDICES and returns how many there are. */
static uint32_t indices_of(const uint64_t mask[PM2_MASK_WORDS],
			   uint32_t indices[PERFMON_SESSION_COUNTERS_MAX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PERFMON_SESSION_COUNTERS_MAX; i++)
		if (mask[i / 64] >> (i % 64) & 1)
			indices[n++] = i;
	return n;
}

static int program_overflow(struct pm2_context *context, uint32_t counter,
			    const struct pm2_overflow *overflow)
{
	uint32_t resets[PERFMON_SESSION_COUNTERS_MAX];
	uint32_t samples[PERFMON_SESSION_COUNTERS_MAX];
	struct perfmon_overflow how = overflow->how;

	how.reset_counters = resets;
	how.reset_count = indices_of(overflow->resets, resets);
	how.sample_counters = samples;
	how.sample_count = indices_of(overflow->samples, samples);
	return pm2_session_said(context,
				perfmon_overflow_program(context->session, counter,
							 how.size ? &how : NULL));
}

/* Applies REG's overflows to the session, if they have changed. */
static int apply_overflow(struct pm2_context *context, struct pm2_register *reg)
{
	struct pm2_overflow overflow = reg->overflow;
	int err = 0;

	if (reg->counter < 0)
		return 0;
	to_counters(context, reg->set, overflow.resets);
	to_counters(context, reg->set, overflow.samples);
	if (!memcmp(&overflow, &reg->applied, sizeof(overflow)))
		return 0;
	if (overflow.how.flags & (PERFMON_OVERFLOW_NOTIFY | PERFMON_OVERFLOW_SAMPLE))
		err = pm2_context_watch_messages(context);
	err = err ?: program_overflow(context, (uint32_t)reg->counter, &overflow);
	if (!err)
		reg->applied = overflow;
	return err;
}

int pm2_overflows_apply(struct pm2_context *context)
{
	int err = 0;

	for (size_t i = 0; i < context->register_count && !err; i++)
		err = apply_overflow(context, &context->registers[i]);
	return err;
}

/* --- PMC values as event names ---------------------------------------------------- */

#define TEXT_SIZE 64

/* A quiescent register counts an event that never happens. */
#define QUIESCENT "dummy"

/* Makes the name of a raw encoding, with the modes in its own bits. */
static void raw_text(char text[TEXT_SIZE], uint64_t value, const char *modes)
{
#if defined(__x86_64__) || defined(__i386__)
	const uint64_t usr = 1u << 16, os = 1u << 17, interrupt = 1u << 20,
		       enable = 1u << 22;

	if (value & os)
		modes = value & usr ? ":uk" : ":k";
	else if (value & usr)
		modes = ":u";
	value &= ~(usr | os | interrupt | enable);
#endif
	snprintf(text, TEXT_SIZE, "r%" PRIx64 "%s", value, modes);
}

/* Makes the name for perfmon/event.h of the event that a PMC with VALUE and FLAGS counts.
 * Returns -EINVAL if there is none. */
static int text_of(char text[TEXT_SIZE], uint32_t flags, uint64_t value)
{
	const char *modes = flags & PFM_PMCFL_KERNEL ? ":uk" : "";
	uint32_t source = flags & SOURCE_FLAGS;
	char name[TEXT_SIZE / 2];

	switch (source) {
	case 0:
		if (!value)
			snprintf(text, TEXT_SIZE, QUIESCENT);
		else
			raw_text(text, value, modes);
		return 0;
	case PFM_PMCFL_SOFTWARE:
	case PFM_PMCFL_GENERIC:
		/* The value is the kernel's number. */
		if (!pm_generic_name(source == PFM_PMCFL_SOFTWARE ? PERF_TYPE_SOFTWARE
								  : PERF_TYPE_HARDWARE,
				     value, name, sizeof(name)))
			return -EINVAL;
		snprintf(text, TEXT_SIZE, "%s%s", name, modes);
		return 0;
	case PFM_PMCFL_WRITES:
		if (value % 8)
			return -EINVAL;
		snprintf(text, TEXT_SIZE, "mem:0x%" PRIx64 "/8:w%s", value, modes);
		return 0;
	default:
		return -EINVAL;
	}
}

/* --- checks ------------------------------------------------------------------------- */

/* Checks the fields of element I that are the same in PMCs and PMDs. */
static int check_fields(struct pm2_context *context, size_t i, uint32_t flags,
			uint32_t known, const void *reserved, size_t size)
{
	return pm2_check_flags(context, flags, known)
		       ?: pm2_check_reserved(context, i, 0, reserved, size);
}

static int check_register(struct pm2_context *context, size_t i, uint16_t set,
			  uint16_t number)
{
	uint16_t ids[PERFMON_SESSION_SETS_MAX];
	int n = perfmon_set_list(context->session, ids, PERFMON_SESSION_SETS_MAX);

	if (number >= PM2_REGISTERS)
		return pm_diag_set(&context->diag, -EINVAL,
				   "element %zu: there is no register %u: a set has %u",
				   i, number, PM2_REGISTERS);
	while (n > 0)
		if (ids[--n] == set)
			return 0;
	return pm_diag_set(&context->diag, -EINVAL,
			   "element %zu: there is no event set %u", i, set);
}

/* --- PMCs --------------------------------------------------------------------------- */

static int check_pmc(struct pm2_context *context, size_t i, const struct pfarg_pmc *pmc)
{
	char text[TEXT_SIZE];
	int err = check_register(context, i, pmc->reg_set, pmc->reg_num);

	if (err)
		return err;
	if (pmc->reg_flags & PFM_PMCFL_NO_EMUL64)
		return pm_diag_set(&context->diag, -EOPNOTSUPP,
				   "element %zu: counters have 64 bits: the kernel hides "
				   "the hardware's width",
				   i);
	err = text_of(text, pmc->reg_flags, pmc->reg_value);
	if (err)
		return pm_diag_set(&context->diag, err,
				   "element %zu: with flags 0x%x, 0x%llx is not an event",
				   i, pmc->reg_flags, (unsigned long long)pmc->reg_value);
	return 0;
}

static int check_pmcs(struct pm2_context *context, const struct pfarg_pmc *pmcs, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = check_fields(context, i, pmcs[i].reg_flags, KNOWN_PMC_FLAGS,
				   pmcs[i].reg_reserved2, sizeof(pmcs[i].reg_reserved2));
	if (!err && perfmon_session_state(context->session) == PERFMON_STATE_RUNNING)
		err = pm_diag_set(&context->diag, -EBUSY,
				  "the PMCs of a running session cannot be written; stop "
				  "the session first");
	for (size_t i = 0; i < n && !err; i++)
		err = check_pmc(context, i, &pmcs[i]);
	return err;
}

/* Gives a register without a counter one that counts TEXT, from the PMD's value on. */
static int add_counter(struct pm2_context *context, struct pm2_register *reg,
		       const char *text)
{
	struct pm2_register *spare = find(context, reg->set, PM2_SPARE);
	struct perfmon_write write = {.value = reg->value};
	int err, counter;

	if (spare) {
		counter = spare->counter;
		err = perfmon_session_program(context->session, (uint32_t)counter, text);
	} else {
		counter = perfmon_set_add_events(context->session, reg->set, text);
		err = counter < 0 ? counter : 0;
	}
	if (err)
		return pm2_session_said(context, err);
	write.index = (uint32_t)counter;
	perfmon_session_write(context->session, &write, 1, sizeof(write), 0);
	reg->counter = counter;
	/* The last register moves into its place, so that the reserved memory still
	 * suffices. */
	if (spare)
		*spare = context->registers[--context->register_count];
	return 0;
}

/* REG may have another place then. */
static int program(struct pm2_context *context, struct pm2_register *reg,
		   const struct pfarg_pmc *pmc)
{
	char text[TEXT_SIZE];

	text_of(text, pmc->reg_flags, pmc->reg_value);
	reg->pmc_flags = pmc->reg_flags;
	reg->pmc_value = pmc->reg_value;
	if (reg->counter >= 0)
		return pm2_session_said(
			context, perfmon_session_program(context->session,
							 (uint32_t)reg->counter, text));
	return strcmp(text, QUIESCENT) != 0 || pmc->reg_flags
		       ? add_counter(context, reg, text)
		       : 0;
}

/* Makes a register and its counter as they were BEFORE. */
static void undo(struct pm2_context *context, const struct pm2_register *before)
{
	struct pm2_register *reg = find(context, before->set, before->number);
	char text[TEXT_SIZE] = QUIESCENT;
	int32_t counter = reg->counter;

	reg->pmc_flags = before->pmc_flags;
	reg->pmc_value = before->pmc_value;
	if (counter < 0)
		return;
	if (before->counter >= 0)
		text_of(text, before->pmc_flags, before->pmc_value);
	else
		perfmon_overflow_program(context->session, (uint32_t)counter, NULL);
	perfmon_session_program(context->session, (uint32_t)counter, text);
	if (before->counter >= 0)
		return;
	reg->counter = -1;
	memset(&reg->applied, 0, sizeof(reg->applied));
	context->registers[context->register_count++] = (struct pm2_register){
		.set = before->set, .number = PM2_SPARE, .counter = counter};
}

int pm2_pmcs_write(struct pm2_context *context, const struct pfarg_pmc *pmcs, size_t size)
{
	struct pm2_register *before, *reg;
	struct pm_diag diag;
	size_t i, n = size / sizeof(pmcs[0]);
	int err = pm2_check_vector(context, pmcs, size, sizeof(pmcs[0]));

	err = err ?: check_pmcs(context, pmcs, n);
	if (err)
		return err;
	before = calloc(n, sizeof(before[0]));
	if (!before)
		return pm_diag_set(&context->diag, -ENOMEM, "out of memory");
	/* Each element may add a register and leave a spare counter. */
	err = reserve(context, 2 * n);
	for (i = 0; i < n && !err; i++) {
		reg = touch(context, pmcs[i].reg_set, pmcs[i].reg_num);
		before[i] = *reg;
		err = program(context, reg, &pmcs[i]);
	}
	err = err ?: pm2_overflows_apply(context);
	if (err) {
		diag = context->diag;
		while (i--)
			undo(context, &before[i]);
		pm2_overflows_apply(context);
		context->diag = diag;
	}
	free(before);
	return err;
}

PM_EXPORT int pfm_write_pmcs(int fd, struct pfarg_pmc *req, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL);

	if (!context)
		return -1;
	return pm2_context_leave(context, pm2_pmcs_write(context, req, size));
}

/* --- PMDs --------------------------------------------------------------------------- */

static int check_pmds(struct pm2_context *context, const struct pfarg_pmd *pmds, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = check_fields(context, i, pmds[i].reg_flags, KNOWN_PMD_FLAGS,
				   pmds[i].reg_reserved2, sizeof(pmds[i].reg_reserved2));
	for (size_t i = 0; i < n && !err; i++)
		err = check_register(context, i, pmds[i].reg_set, pmds[i].reg_num);
	return err;
}

/* Returns the register that PMD names, or NULL. */
static struct pm2_register *reg_of(struct pm2_context *context,
				   const struct pfarg_pmd *pmd)
{
	return find(context, pmd->reg_set, pmd->reg_num);
}

/* Finds or adds the registers that PMDS name. */
static int touch_all(struct pm2_context *context, const struct pfarg_pmd *pmds, size_t n)
{
	size_t i, missing = 0;
	int err;

	for (i = 0; i < n; i++)
		missing += !reg_of(context, &pmds[i]);
	err = missing ? reserve(context, missing) : 0;
	for (i = 0; i < n && missing && !err; i++)
		touch(context, pmds[i].reg_set, pmds[i].reg_num);
	return err;
}

/* Sets the effects of overflows, also in the session. SAVED gets the old ones. */
static int set_overflows(struct pm2_context *context, const struct pfarg_pmd *pmds,
			 size_t n, struct pm2_overflow *saved)
{
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		struct pm2_register *reg = reg_of(context, &pmds[i]);

		saved[i] = reg->overflow;
		reg->overflow = overflow_of(&pmds[i]);
	}
	for (size_t i = 0; i < n && !err; i++)
		err = apply_overflow(context, reg_of(context, &pmds[i]));
	return err;
}

static int write_values(struct pm2_context *context, const struct pfarg_pmd *pmds,
			size_t n, struct perfmon_write *writes)
{
	size_t i, counted = 0;
	int err = 0;

	for (i = 0; i < n; i++) {
		const struct pm2_register *reg = reg_of(context, &pmds[i]);

		if (reg->counter >= 0)
			writes[counted++] =
				(struct perfmon_write){.index = (uint32_t)reg->counter,
						       .value = pmds[i].reg_value};
	}
	if (counted)
		err = pm2_session_said(
			context, perfmon_session_write(context->session, writes, counted,
						       sizeof(writes[0]), 0));
	for (i = 0; i < n && err >= 0; i++)
		reg_of(context, &pmds[i])->value = pmds[i].reg_value;
	return err < 0 ? err : 0;
}

/* Backwards: of a register that is named twice, the first entry has the oldest state. */
static void restore_overflows(struct pm2_context *context, const struct pfarg_pmd *pmds,
			      size_t n, const struct pm2_overflow *saved)
{
	struct pm_diag diag = context->diag;

	while (n--)
		reg_of(context, &pmds[n])->overflow = saved[n];
	pm2_overflows_apply(context);
	context->diag = diag;
}

int pm2_pmds_write(struct pm2_context *context, const struct pfarg_pmd *pmds, size_t size)
{
	struct perfmon_write few_writes[PM2_FEW], *writes;
	struct pm2_overflow few_overflows[PM2_FEW], *overflows;
	size_t i, n = size / sizeof(pmds[0]);
	int err = pm2_check_vector(context, pmds, size, sizeof(pmds[0]));

	err = err ?: check_pmds(context, pmds, n);
	for (i = 0; i < n && !err; i++) {
		if (pmds[i].reg_flags & PFM_PMDFL_SMPL && !context->has_format)
			err = pm_diag_set(&context->diag, -EINVAL,
					  "element %zu: the session was created without "
					  "a sampling format",
					  i);
	}
	if (err)
		return err;
	writes = pm2_vector(context, few_writes, n, sizeof(writes[0]));
	overflows = pm2_vector(context, few_overflows, n, sizeof(overflows[0]));
	err = writes && overflows ? touch_all(context, pmds, n) : -ENOMEM;
	if (!err) {
		err = set_overflows(context, pmds, n, overflows);
		err = err ?: write_values(context, pmds, n, writes);
		if (err)
			restore_overflows(context, pmds, n, overflows);
	}
	pm2_vector_free(writes, few_writes);
	pm2_vector_free(overflows, few_overflows);
	return err;
}

PM_EXPORT int pfm_write_pmds(int fd, struct pfarg_pmd *req, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL);

	if (!context)
		return -1;
	return pm2_context_leave(context, pm2_pmds_write(context, req, size));
}

int pm2_pmds_read(struct pm2_context *context, struct pfarg_pmd *pmds, size_t size)
{
	struct perfmon_value few[PM2_FEW], *values;
	const struct pm2_register *reg;
	size_t i, n = size / sizeof(pmds[0]), counted = 0;
	int err = pm2_check_vector(context, pmds, size, sizeof(pmds[0]));

	err = err ?: check_pmds(context, pmds, n);
	if (err)
		return err;
	values = pm2_vector(context, few, n, sizeof(few[0]));
	if (!values)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		reg = reg_of(context, &pmds[i]);
		if (reg && reg->counter >= 0)
			values[counted++].index = (uint32_t)reg->counter;
	}
	if (counted)
		err = pm2_session_said(
			context, perfmon_session_read(context->session, values, counted,
						      sizeof(values[0]), 0));
	for (i = 0, counted = 0; i < n && err >= 0; i++) {
		uint64_t last_reset = 0;

		reg = reg_of(context, &pmds[i]);
		pmds[i].reg_value = reg ? reg->value : 0;
		if (reg && reg->counter >= 0)
			pmds[i].reg_value = values[counted++].value;
		if (reg && reg->counter >= 0 && reg->applied.how.size)
			perfmon_overflow_last_reset(context->session,
						    (uint32_t)reg->counter, &last_reset,
						    NULL);
		pmds[i].reg_last_reset_val = last_reset;
	}
	pm2_vector_free(values, few);
	return err < 0 ? err : 0;
}

PM_EXPORT int pfm_read_pmds(int fd, struct pfarg_pmd *pmds, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL);

	if (!context)
		return -1;
	return pm2_context_leave(context, pm2_pmds_read(context, pmds, size));
}
