/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/truth/counter.h"

#include <errno.h>

int truth_counter_open(struct truth_counter *counter, const struct pm_event *events,
		       uint32_t count, unsigned int flags, struct pm_diag *diag)
{
	int err;

	*counter = (struct truth_counter){NULL, count};
	if (count > TRUTH_PARTS)
		return pm_diag_set(diag, -E2BIG,
				   "the event stands for %u events, more than %d", count,
				   TRUTH_PARTS);
	for (uint32_t i = 0; i < count; i++)
		if (pm_event_is_blind(&events[i]))
			return pm_diag_set(diag, -EACCES,
					   "the event happens in the kernel, which this "
					   "user may not count: see "
					   "kernel.perf_event_paranoid");
	err = pm_instance_new(&counter->instance, events, count, 0, -1, flags, diag);
	if (err < 0)
		return err;
	err = pm_instance_enable(counter->instance);
	if (err)
		truth_counter_close(counter);
	return err ? pm_diag_set(diag, err, "the event cannot be started") : 0;
}

void truth_counter_close(struct truth_counter *counter)
{
	pm_instance_free(counter->instance);
	counter->instance = NULL;
}

int truth_counter_read(const struct truth_counter *counter, uint64_t *value,
		       uint64_t *off_ns)
{
	struct pm_reading readings[TRUTH_PARTS] = {{0}};
	uint64_t running = 0;
	int err = pm_instance_read(counter->instance, readings);

	if (err)
		return err;
	*value = 0;
	for (uint32_t i = 0; i < counter->count; i++) {
		*value += readings[i].value;
		running += readings[i].running_ns;
	}
	*off_ns = readings[0].enabled_ns > running ? readings[0].enabled_ns - running : 0;
	return 0;
}

/* A part of a tick at which the kernel updates the two times one after the other. */
#define UPDATE_NS 1000

int truth_counter_measure(const struct truth_counter *counter,
			  const struct truth_block *block, uint64_t turns,
			  uint64_t *counted)
{
	uint64_t before, after, off_before, off_after;
	int err = truth_counter_read(counter, &before, &off_before);

	if (err)
		return err;
	truth_block_run(block, turns);
	err = truth_counter_read(counter, &after, &off_after);
	if (err)
		return err;
	*counted = after - before;
	return off_after > off_before + UPDATE_NS ? -EAGAIN : 0;
}
