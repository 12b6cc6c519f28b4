/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perfmon2 calls for event sets. */
#include <errno.h>
#include <string.h>

#include "compat/compat.h"
#include "core/api/export.h"

#define KNOWN_SET_FLAGS (PFM_SETFL_OVFL_SWITCH | PFM_SETFL_TIME_SWITCH)

/* Returns the set to create, or to delete: a deletion uses only the number. */
static struct perfmon_set set_of(const struct pfarg_setdesc *from)
{
	struct perfmon_set set = {.id = from->set_id};

	if (from->set_flags & PFM_SETFL_OVFL_SWITCH)
		set.flags |= PERFMON_SET_OVERFLOW_SWITCH;
	if (from->set_flags & PFM_SETFL_TIME_SWITCH) {
		set.flags |= PERFMON_SET_TIME_SWITCH;
		set.timeout_ns = from->set_timeout;
	}
	return set;
}

static int change(int fd, bool create, struct pfarg_setdesc *sets, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL);
	size_t i, n = size / sizeof(sets[0]);
	struct perfmon_set few[PM2_FEW], *own = NULL;
	int err;

	if (!context)
		return -1;
	err = pm2_check_vector(context, sets, size, sizeof(sets[0]));
	for (i = 0; create && i < n && !err; i++)
		err = pm2_check_flags(context, sets[i].set_flags, KNOWN_SET_FLAGS)
			      ?: pm2_check_reserved(context, i, sets[i].set_reserved1,
						    sets[i].reserved,
						    sizeof(sets[i].reserved));
	own = err ? NULL : pm2_vector(context, few, n, sizeof(own[0]));
	if (!err && !own)
		err = -ENOMEM;
	for (i = 0; i < n && !err; i++)
		own[i] = set_of(&sets[i]);
	if (!err)
		err = pm2_session_said(context,
				       create ? perfmon_set_create(context->session, own,
								   n, sizeof(own[0]))
					      : perfmon_set_delete(context->session, own,
								   n, sizeof(own[0])));
	for (i = 0; i < n && err >= 0; i++) {
		if (!create)
			pm2_registers_drop_set(context, sets[i].set_id);
		else if (sets[i].set_flags & PFM_SETFL_TIME_SWITCH)
			sets[i].set_timeout = own[i].timeout_ns;
	}
	if (!create && err >= 0)
		pm2_overflows_apply(context);
	pm2_vector_free(own, few);
	return pm2_context_leave(context, err < 0 ? err : 0);
}

PM_EXPORT int pfm_create_evtsets(int fd, struct pfarg_setdesc *sets, size_t size)
{
	return change(fd, true, sets, size);
}

PM_EXPORT int pfm_delete_evtsets(int fd, struct pfarg_setdesc *sets, size_t size)
{
	return change(fd, false, sets, size);
}

/* Sets the bits of the registers of set ID that are available: those in use, and, if the
 * session has room for a full set more, all others. */
static void fill_available(struct pm2_context *context, uint16_t id, __u64 *registers)
{
	uint32_t used = 0;

	memset(registers, 0, PFM_PMC_BV * sizeof(registers[0]));
	for (size_t i = 0; i < context->register_count; i++) {
		const struct pm2_register *reg = &context->registers[i];

		if (reg->counter < 0 || reg->number == PM2_SPARE)
			continue;
		used++;
		if (reg->set == id)
			registers[reg->number / 64] |= UINT64_C(1) << reg->number % 64;
	}
	if (used < PERFMON_SESSION_COUNTERS_MAX)
		memset(registers, 0xff, PFM_PMC_BV * sizeof(registers[0]));
}

static void fill_info(struct pm2_context *context, const struct perfmon_set_info *from,
		      struct pfarg_setinfo *info)
{
	uint32_t overflowed[PERFMON_SESSION_COUNTERS_MAX];
	uint64_t counters[PM2_MASK_WORDS] = {0};
	int n;

	*info = (struct pfarg_setinfo){.set_id = from->id,
				       .set_timeout = from->timeout_ns,
				       .set_reserved3 = {from->left_ns},
				       .set_runs = from->runs,
				       .set_act_duration = from->active_ns};
	if (from->flags & PERFMON_SET_OVERFLOW_SWITCH)
		info->set_flags |= PFM_SETFL_OVFL_SWITCH;
	if (from->flags & PERFMON_SET_TIME_SWITCH)
		info->set_flags |= PFM_SETFL_TIME_SWITCH;
	n = perfmon_set_overflowed(context->session, from->id, overflowed,
				   PERFMON_SESSION_COUNTERS_MAX);
	for (int i = 0; i < n; i++)
		counters[overflowed[i] / 64] |= UINT64_C(1) << (overflowed[i] % 64);
	pm2_registers_pmds(context, from->id, counters, info->set_ovfl_pmds);
	fill_available(context, from->id, info->set_avail_pmcs);
	memcpy(info->set_avail_pmds, info->set_avail_pmcs, sizeof(info->set_avail_pmds));
}

PM_EXPORT int pfm_getinfo_evtsets(int fd, struct pfarg_setinfo *info, size_t size)
{
	struct pm2_context *context = pm2_context_enter(fd, PM2_CALL);
	size_t i, n = size / sizeof(info[0]);
	struct perfmon_set_info few[PM2_FEW], *own = NULL;
	int err;

	if (!context)
		return -1;
	err = pm2_check_vector(context, info, size, sizeof(info[0]));
	for (i = 0; i < n && !err; i++)
		err = pm2_check_reserved(
			context, i, info[i].set_reserved1, &info[i].set_reserved3[1],
			sizeof(info[i].set_reserved3) - sizeof(info[i].set_leftover));
	own = err ? NULL : pm2_vector(context, few, n, sizeof(own[0]));
	if (!err && !own)
		err = -ENOMEM;
	for (i = 0; i < n && !err; i++)
		own[i].id = info[i].set_id;
	err = err
		      ?: pm2_session_said(context,
					  perfmon_set_get_info(context->session, own, n,
							       sizeof(own[0])));
	for (i = 0; i < n && err >= 0; i++)
		fill_info(context, &own[i], &info[i]);
	pm2_vector_free(own, few);
	return pm2_context_leave(context, err < 0 ? err : 0);
}
