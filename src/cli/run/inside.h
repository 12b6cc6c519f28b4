/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon run, shared by its files:
 *
 *   run.c     options, the environment, one run
 *   hooks.c   libraries that give a program regions without a change to it
 *   plan.c    which events are counted together in which run, so that none is multiplexed
 *   passes.c  --passes: several runs, each with other events, as one profile and one report
 */
#ifndef PM_CLI_RUN_INSIDE_H
#define PM_CLI_RUN_INSIDE_H

#include <stdbool.h>
#include <stddef.h>

/* --- hooks.c ------------------------------------------------------------------------ */

/* Prints the hooks and what they do. Returns the exit status. */
int hooks_list(void);

/* Lets the loader put the hooks of LIST, "openmp,threads" (NULL: none), into the programs that this process
 * starts (LD_PRELOAD). What is there already stays. Returns 0, or the exit status after a
 * message. */
int hooks_load(const char *list);

/* --- plan.c ------------------------------------------------------------------------- */

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

/* --- passes.c ----------------------------------------------------------------------- */

/*
 * run_passes() - runs COMMAND with the EVENTS of -e, and keeps the joined profile in the file PROFILE if
 * that is not NULL. The environment says all else, as for one run. Returns the exit status of the
 * command, or another one after a message. Ends by the signal that ended a run.
 */
int run_passes(const char *events, const char *profile, char **command);

#endif
