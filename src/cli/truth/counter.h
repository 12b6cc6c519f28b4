/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An event on the calling thread, read by read(2), and how often a block makes it happen. */
#ifndef PM_CLI_TRUTH_COUNTER_H
#define PM_CLI_TRUTH_COUNTER_H

#include "cli/truth/blocks.h"
#include "core/counters/counters.h"
#include "core/text/diag.h"

/* Events that stand for one: one for each kind of core. */
#define TRUTH_PARTS 8

struct truth_counter {
	struct pm_instance *instance; /* NULL: not open */
	uint32_t count;
};

/* Opens and starts COUNT events, of which each counts on its kind of core, with FLAGS of
 * pm_instance_open(). Returns 0, or a negative errno with a sentence. */
int truth_counter_open(struct truth_counter *counter, const struct pm_event *events,
		       uint32_t count, unsigned int flags, struct pm_diag *diag);
void truth_counter_close(struct truth_counter *counter); /* not open: does nothing */

/* Reads the sum of the events. Returns 0 or a negative errno. *OFF_NS gets how long no
 * event of them was on the hardware. */
int truth_counter_read(const struct truth_counter *counter, uint64_t *value,
		       uint64_t *off_ns);

/*
 * Runs BLOCK, and stores what was counted meanwhile, the two reads included. Returns 0; -EAGAIN
 * if the event was off the hardware for a while: nothing is known; or another error.
 */
int truth_counter_measure(const struct truth_counter *counter,
			  const struct truth_block *block, uint64_t turns,
			  uint64_t *counted);

#endif
