/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which events are counted together in which run of a program, so that none of them is multiplexed. */
#ifndef PM_CLI_RUN_PLAN_H
#define PM_CLI_RUN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct run_plan {
	size_t count;  /* passes */
	char **events; /* of each, as text for PERFMON_EVENTS: the reference event first */
	char *reference; /* the name of the event that each pass has, as reports show it; NULL: none */
	bool is_clock; /* the reference event is a time, which no two runs repeat */
};

/*
 * run_plan_make() - makes the fewest passes of the events of TEXT (-e of perfmon run), by opening and
 * enabling them on the calling thread: what is on the hardware at once, with the counters that
 * are free now on this CPU, is one pass. Software events need no counter, and are in the
 * last pass, since they take a system call a visit. An event that does not open at all is in the first
 * one, whose program says why. Returns 0, or the exit status after a message. End it with run_plan_free().
 */
int run_plan_make(struct run_plan *plan, const char *text);
void run_plan_free(struct run_plan *plan);

#endif
