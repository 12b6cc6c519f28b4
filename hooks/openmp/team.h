/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads that run a parallel construct. */
#ifndef PERFMON_HOOKS_OPENMP_TEAM_H
#define PERFMON_HOOKS_OPENMP_TEAM_H

#include <perfmon/team.h>
#include <stdbool.h>

#include "hooks/openmp/places.h"

/* On the stack of the thread that begins a team, until all its threads have joined. */
struct team {
	struct place *place;
	const char *thread; /* a name for the thread that begins it */
	struct perfmon_token token;
	bool joins;
};

/* Begins the construct at PLACE, and ends it, in the thread that begins the team. */
struct team team_begin(struct place *place);
void team_end(struct team *team);

/* Runs a thread's part of the work. */
void team_run(struct team *team, gomp_function *function, void *data);

/* Runs FUNCTION as a visit of the place's region, below the path of TOKEN, in any thread. */
void run_for(const struct perfmon_token *token, struct place *place,
	     gomp_function *function, void *data);

/* The waits. */
extern struct perfmon_region region_barrier, region_taskwait;

#endif
