/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The map from a context's registers to the session's counters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat/compat.h"

struct pm2_register *pm2_register_find(struct pm2_context *context, uint16_t set,
				       uint16_t number)
{
	size_t i;

	for (i = 0; i < context->register_count; i++) {
		struct pm2_register *reg = &context->registers[i];

		if (reg->set == set && reg->number == number)
			return reg;
	}
	return NULL;
}

int pm2_registers_reserve(struct pm2_context *context, size_t more)
{
	struct pm2_register *larger = realloc(
		context->registers, (context->register_count + more) * sizeof(larger[0]));

	if (!larger)
		return pm_diag_set(&context->diag, -ENOMEM, "out of memory");
	context->registers = larger;
	return 0;
}

struct pm2_register *pm2_register_touch(struct pm2_context *context, uint16_t set,
					uint16_t number)
{
	struct pm2_register *reg = pm2_register_find(context, set, number);

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
	int c;

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

		for (c = 0; c < *counter; c++)
			before += gone[c];
		*counter -= before;
	}
}

void pm2_registers_pmds(const struct pm2_context *context, uint16_t id,
			const uint64_t *counters, __u64 *pmds)
{
	size_t i;

	memset(pmds, 0, PFM_PMD_BV * sizeof(pmds[0]));
	for (i = 0; i < context->register_count; i++) {
		const struct pm2_register *reg = &context->registers[i];

		if (reg->set == id && reg->number != PM2_SPARE && reg->counter >= 0 &&
		    counters[reg->counter / 64] >> reg->counter % 64 & 1)
			pmds[reg->number / 64] |= UINT64_C(1) << reg->number % 64;
	}
}

void pm2_registers_counters(struct pm2_context *context, uint16_t id,
			    const uint64_t *pmds, uint64_t *counters)
{
	uint16_t i;

	for (i = 0; i < PM2_REGISTERS; i++) {
		const struct pm2_register *reg = NULL;

		if (pmds[i / 64] >> i % 64 & 1)
			reg = pm2_register_find(context, id, i);
		if (reg && reg->counter >= 0)
			counters[reg->counter / 64] |= UINT64_C(1) << reg->counter % 64;
	}
}
