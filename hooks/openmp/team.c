/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/openmp/team.h"

struct perfmon_region region_barrier = PERFMON_REGION_INIT("(barrier)");
struct perfmon_region region_taskwait = PERFMON_REGION_INIT("(taskwait)");
static struct perfmon_region region_join = PERFMON_REGION_INIT("(join)");

/* Its address is a name for the thread. */
static __thread char this_thread;

void run_here(struct place *place, gomp_function *function, void *data)
{
	perfmon_region_begin(&place->region);
	function(data);
	perfmon_region_end(&place->region);
}

void run_below(const struct perfmon_token *token, struct place *place,
	       gomp_function *function, void *data)
{
	bool adopted = !perfmon_region_adopt(token);

	run_here(place, function, data);
	if (adopted)
		perfmon_region_leave();
}

struct team team_begin(struct place *place)
{
	struct team team = {.place = place, .thread = &this_thread};

	perfmon_region_token(&team.token);
	perfmon_region_begin(&place->region);
	return team;
}

void team_run(struct team *team, gomp_function *function, void *data)
{
	if (team->thread != &this_thread) {
		run_below(&team->token, team->place, function, data);
		return;
	}
	function(data);
	team->joins = true;
	perfmon_region_begin(&region_join);
}

void team_end(struct team *team)
{
	if (team->joins)
		perfmon_region_end(&region_join);
	perfmon_region_end(&team->place->region);
}
