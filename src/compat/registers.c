/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perfmon2 calls for PMCs and PMDs. */
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

/* --- PMC values as event names ---------------------------------------------------- */

#define TEXT_SIZE 64

/* A quiescent register counts an event that never happens. */
#define QUIESCENT "dummy"

/* Makes the name of the event with the kernel's number in PMC, of TYPE. */
static int numbered_text(char text[TEXT_SIZE], uint32_t type, const struct pfarg_pmc *pmc,
			 const char *modes)
{
	char name[TEXT_SIZE / 2];

	if (!pm_generic_name(type, pmc->reg_value, name, sizeof(name)))
		return -EINVAL;
	snprintf(text, TEXT_SIZE, "%s%s", name, modes);
	return 0;
}

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

/* Makes the name of PMC's event for perfmon/event.h. Returns -EINVAL if there is none. */
static int text_of(char text[TEXT_SIZE], const struct pfarg_pmc *pmc)
{
	const char *modes = pmc->reg_flags & PFM_PMCFL_KERNEL ? ":uk" : "";

	switch (pmc->reg_flags & SOURCE_FLAGS) {
	case 0:
		if (!pmc->reg_value)
			snprintf(text, TEXT_SIZE, QUIESCENT);
		else
			raw_text(text, pmc->reg_value, modes);
		return 0;
	case PFM_PMCFL_SOFTWARE:
		return numbered_text(text, PERF_TYPE_SOFTWARE, pmc, modes);
	case PFM_PMCFL_GENERIC:
		return numbered_text(text, PERF_TYPE_HARDWARE, pmc, modes);
	case PFM_PMCFL_WRITES:
		if (pmc->reg_value % 8)
			return -EINVAL;
		snprintf(text, TEXT_SIZE, "mem:0x%" PRIx64 "/8:w%s",
			 (uint64_t)pmc->reg_value, modes);
		return 0;
	default:
		return -EINVAL;
	}
}

static int check_set(struct pm2_context *context, size_t i, uint16_t id)
{
	uint16_t ids[PERFMON_SESSION_SETS_MAX];
	int n = perfmon_set_list(context->session, ids, PERFMON_SESSION_SETS_MAX);

	while (n > 0) {
		if (ids[--n] == id)
			return 0;
	}
	return pm_diag_set(&context->diag, -EINVAL,
			   "element %zu: there is no event set %u", i, id);
}

static int check_register(struct pm2_context *context, size_t i, uint16_t set,
			  uint16_t number)
{
	if (number >= PM2_REGISTERS)
		return pm_diag_set(&context->diag, -EINVAL,
				   "element %zu: there is no register %u: a set has %u",
				   i, number, PM2_REGISTERS);
	return check_set(context, i, set);
}

/* --- PMCs --------------------------------------------------------------------------- */

/* The state of a register before a call, for undo(). */
struct change {
	uint16_t set;
	uint16_t number;
	int32_t counter;
	uint32_t pmc_flags;
	uint64_t pmc_value;
};

static int check_pmc_fields(struct pm2_context *context, size_t i,
			    const struct pfarg_pmc *pmc)
{
	int err = pm2_check_flags(context, pmc->reg_flags, KNOWN_PMC_FLAGS);

	return err
		       ?: pm2_check_reserved(context, i, 0, pmc->reg_reserved2,
					     sizeof(pmc->reg_reserved2));
}

static int check_pmc(struct pm2_context *context, size_t i, const struct pfarg_pmc *pmc)
{
	char text[TEXT_SIZE];
	int err = check_register(context, i, pmc->reg_set, pmc->reg_num);

	if (err)
		return err;
	if (pmc->reg_flags & PFM_PMCFL_NO_EMUL64)
		return pm_diag_set(
			&context->diag, -EOPNOTSUPP,
			"element %zu: counters have 64 bits: the kernel hides the "
			"hardware's width",
			i);
	err = text_of(text, pmc);
	if (err)
		return pm_diag_set(&context->diag, err,
				   "element %zu: with flags 0x%x, 0x%llx is not an event",
				   i, pmc->reg_flags, pmc->reg_value);
	return 0;
}

static int check_pmcs(struct pm2_context *context, const struct pfarg_pmc *pmcs, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = check_pmc_fields(context, i, &pmcs[i]);
	if (!err && perfmon_session_state(context->session) == PERFMON_STATE_RUNNING)
		err = pm_diag_set(&context->diag, -EBUSY,
				  "the PMCs of a running session cannot be written; stop "
				  "the session first");
	for (i = 0; i < n && !err; i++)
		err = check_pmc(context, i, &pmcs[i]);
	return err;
}

/* Gives a register without a counter one that counts TEXT, from the PMD's value on. */
static int add_counter(struct pm2_context *context, struct pm2_register *reg,
		       const char *text)
{
	struct pm2_register *spare = pm2_register_find(context, reg->set, PM2_SPARE);
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

static int program(struct pm2_context *context, const struct pfarg_pmc *pmc)
{
	struct pm2_register *reg =
		pm2_register_touch(context, pmc->reg_set, pmc->reg_num);
	char text[TEXT_SIZE];
	int err = 0;

	text_of(text, pmc);
	if (reg->counter >= 0)
		err = pm2_session_said(
			context, perfmon_session_program(context->session,
							 (uint32_t)reg->counter, text));
	else if (strcmp(text, QUIESCENT) != 0 || pmc->reg_flags)
		err = add_counter(context, reg, text);
	if (err)
		return err;
	reg = pm2_register_find(context, pmc->reg_set, pmc->reg_num);
	reg->pmc_flags = pmc->reg_flags;
	reg->pmc_value = pmc->reg_value;
	return 0;
}

/* Restores the state in CHANGE. */
static void undo(struct pm2_context *context, const struct change *change)
{
	struct pm2_register *reg =
		pm2_register_find(context, change->set, change->number);
	struct pfarg_pmc old = {.reg_flags = change->pmc_flags,
				.reg_value = change->pmc_value};
	char text[TEXT_SIZE] = QUIESCENT;
	int32_t counter = reg->counter;

	reg->pmc_flags = change->pmc_flags;
	reg->pmc_value = change->pmc_value;
	if (counter < 0)
		return;
	if (change->counter >= 0)
		text_of(text, &old);
	else
		perfmon_overflow_program(context->session, (uint32_t)counter, NULL);
	perfmon_session_program(context->session, (uint32_t)counter, text);
	if (change->counter >= 0)
		return;
	reg->counter = -1;
	memset(&reg->applied, 0, sizeof(reg->applied));
	reg = &context->registers[context->register_count++];
	*reg = (struct pm2_register){
		.set = change->set, .number = PM2_SPARE, .counter = counter};
}

static void undo_all(struct pm2_context *context, const struct change *changes, size_t n)
{
	struct pm_diag diag = context->diag;

	while (n--) {
		if (pm2_register_find(context, changes[n].set, changes[n].number))
			undo(context, &changes[n]);
	}
	pm2_overflow_apply_all(context);
	context->diag = diag;
}

static int write_pmcs(struct pm2_context *context, const struct pfarg_pmc *pmcs, size_t n)
{
	struct change *changes = calloc(n, sizeof(changes[0]));
	size_t i;
	int err;

	if (!changes)
		return pm_diag_set(&context->diag, -ENOMEM, "out of memory");
	/* Each element may add a register and leave a spare counter. */
	err = pm2_registers_reserve(context, 2 * n);
	for (i = 0; i < n && !err; i++) {
		const struct pm2_register *reg =
			pm2_register_find(context, pmcs[i].reg_set, pmcs[i].reg_num);

		changes[i] = (struct change){pmcs[i].reg_set, pmcs[i].reg_num, -1, 0, 0};
		if (reg) {
			changes[i].counter = reg->counter;
			changes[i].pmc_flags = reg->pmc_flags;
			changes[i].pmc_value = reg->pmc_value;
		}
		err = program(context, &pmcs[i]);
	}
	err = err ?: pm2_overflow_apply_all(context);
	if (err)
		undo_all(context, changes, i);
	free(changes);
	return err;
}

int pm2_pmcs_write(struct pm2_context *context, const struct pfarg_pmc *pmcs, size_t size)
{
	size_t n = size / sizeof(pmcs[0]);
	int err = pm2_check_vector(context, pmcs, size, sizeof(pmcs[0]));

	err = err ?: check_pmcs(context, pmcs, n);
	return err ?: write_pmcs(context, pmcs, n);
}

PM_EXPORT int pfm_write_pmcs(int fd, struct pfarg_pmc *req, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd);

	if (!context)
		return -1;
	return pm2_context_leave(context, pm2_pmcs_write(context, req, size));
}

/* --- PMDs --------------------------------------------------------------------------- */

static int check_pmds(struct pm2_context *context, const struct pfarg_pmd *pmds, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		err = pm2_check_flags(context, pmds[i].reg_flags, KNOWN_PMD_FLAGS);
		err = err
			      ?: pm2_check_reserved(context, i, 0, pmds[i].reg_reserved2,
						    sizeof(pmds[i].reg_reserved2));
	}
	for (i = 0; i < n && !err; i++)
		err = check_register(context, i, pmds[i].reg_set, pmds[i].reg_num);
	return err;
}

/* Finds or adds the registers that PMDS name. */
static int touch_all(struct pm2_context *context, const struct pfarg_pmd *pmds, size_t n)
{
	size_t i, missing = 0;
	int err;

	for (i = 0; i < n; i++)
		missing += !pm2_register_find(context, pmds[i].reg_set, pmds[i].reg_num);
	err = missing ? pm2_registers_reserve(context, missing) : 0;
	for (i = 0; i < n && missing && !err; i++)
		pm2_register_touch(context, pmds[i].reg_set, pmds[i].reg_num);
	return err;
}

/* Exchanges the effects of overflows with SAVED, and applies them to the session. */
static int exchange_overflows(struct pm2_context *context, const struct pfarg_pmd *pmds,
			      size_t n, struct pm2_overflow *saved)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n; i++) {
		struct pm2_register *reg =
			pm2_register_find(context, pmds[i].reg_set, pmds[i].reg_num);
		struct pm2_overflow old = reg->overflow;

		reg->overflow = saved[i];
		saved[i] = old;
	}
	for (i = 0; i < n && !err; i++)
		err = pm2_overflow_apply(
			context,
			pm2_register_find(context, pmds[i].reg_set, pmds[i].reg_num));
	return err;
}

static int write_values(struct pm2_context *context, const struct pfarg_pmd *pmds,
			size_t n, struct perfmon_write *writes)
{
	size_t i, counted = 0;
	int err = 0;

	for (i = 0; i < n; i++) {
		const struct pm2_register *reg =
			pm2_register_find(context, pmds[i].reg_set, pmds[i].reg_num);

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
		pm2_register_find(context, pmds[i].reg_set, pmds[i].reg_num)->value =
			pmds[i].reg_value;
	return err < 0 ? err : 0;
}

/* Backwards: of a register that is named twice, the first entry has the oldest state. */
static void restore_overflows(struct pm2_context *context, const struct pfarg_pmd *pmds,
			      size_t n, const struct pm2_overflow *saved)
{
	struct pm_diag diag = context->diag;

	while (n--)
		pm2_register_find(context, pmds[n].reg_set, pmds[n].reg_num)->overflow =
			saved[n];
	pm2_overflow_apply_all(context);
	context->diag = diag;
}

static int write_pmds(struct pm2_context *context, const struct pfarg_pmd *pmds, size_t n)
{
	struct perfmon_write few_writes[PM2_FEW], *writes = few_writes;
	struct pm2_overflow few_overflows[PM2_FEW], *overflows = few_overflows;
	size_t i;
	int err;

	if (n > PM2_FEW) {
		writes = calloc(n, sizeof(writes[0]));
		overflows = calloc(n, sizeof(overflows[0]));
	}
	err = writes && overflows ? touch_all(context, pmds, n)
				  : pm_diag_set(&context->diag, -ENOMEM, "out of memory");
	if (!err) {
		for (i = 0; i < n; i++)
			pm2_overflow_take(&overflows[i], &pmds[i]);
		err = exchange_overflows(context, pmds, n, overflows);
		err = err ?: write_values(context, pmds, n, writes);
		if (err)
			restore_overflows(context, pmds, n, overflows);
	}
	if (n > PM2_FEW) {
		free(writes);
		free(overflows);
	}
	return err;
}

int pm2_pmds_write(struct pm2_context *context, const struct pfarg_pmd *pmds, size_t size)
{
	size_t i, n = size / sizeof(pmds[0]);
	int err = pm2_check_vector(context, pmds, size, sizeof(pmds[0]));

	err = err ?: check_pmds(context, pmds, n);
	for (i = 0; i < n && !err; i++) {
		if (pmds[i].reg_flags & PFM_PMDFL_SMPL && !context->has_format)
			err = pm_diag_set(
				&context->diag, -EINVAL,
				"element %zu: the session was created without a "
				"sampling format",
				i);
	}
	return err ?: write_pmds(context, pmds, n);
}

PM_EXPORT int pfm_write_pmds(int fd, struct pfarg_pmd *req, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd);

	if (!context)
		return -1;
	return pm2_context_leave(context, pm2_pmds_write(context, req, size));
}

static void fill_pmd(struct pm2_context *context, const struct pm2_register *reg,
		     uint64_t value, struct pfarg_pmd *pmd)
{
	uint64_t last_reset = 0;

	if (reg && reg->counter >= 0 && reg->applied.how.size)
		perfmon_overflow_last_reset(context->session, (uint32_t)reg->counter,
					    &last_reset, NULL);
	pmd->reg_value = value;
	pmd->reg_last_reset_val = last_reset;
}

static int read_pmds(struct pm2_context *context, struct pfarg_pmd *pmds, size_t n)
{
	struct perfmon_value few[PM2_FEW],
		*values = n > PM2_FEW ? calloc(n, sizeof(few[0])) : few;
	const struct pm2_register *reg;
	size_t i, counted = 0;
	int err = 0;

	if (!values)
		return pm_diag_set(&context->diag, -ENOMEM, "out of memory");
	for (i = 0; i < n; i++) {
		reg = pm2_register_find(context, pmds[i].reg_set, pmds[i].reg_num);
		if (reg && reg->counter >= 0)
			values[counted++] =
				(struct perfmon_value){.index = (uint32_t)reg->counter};
	}
	if (counted)
		err = pm2_session_said(
			context, perfmon_session_read(context->session, values, counted,
						      sizeof(values[0]), 0));
	for (i = 0, counted = 0; i < n && err >= 0; i++) {
		reg = pm2_register_find(context, pmds[i].reg_set, pmds[i].reg_num);
		if (reg && reg->counter >= 0)
			fill_pmd(context, reg, values[counted++].value, &pmds[i]);
		else
			fill_pmd(context, reg, reg ? reg->value : 0, &pmds[i]);
	}
	if (values != few)
		free(values);
	return err < 0 ? err : 0;
}

int pm2_pmds_read(struct pm2_context *context, struct pfarg_pmd *pmds, size_t size)
{
	size_t n = size / sizeof(pmds[0]);
	int err = pm2_check_vector(context, pmds, size, sizeof(pmds[0]));

	err = err ?: check_pmds(context, pmds, n);
	return err ?: read_pmds(context, pmds, n);
}

PM_EXPORT int pfm_read_pmds(int fd, struct pfarg_pmd *pmds, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd);

	if (!context)
		return -1;
	return pm2_context_leave(context, pm2_pmds_read(context, pmds, size));
}
