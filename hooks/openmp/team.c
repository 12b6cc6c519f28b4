/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/openmp/team.h"

struct perfmon_region region_barrier = PERFMON_REGION_INIT("(barrier)");
struct perfmon_region region_taskwait = PERFMON_REGION_INIT("(taskwait)");
static struct perfmon_region region_join = PERFMON_REGION_INIT("(join)");

/* Its address is a name for the thread. */
static __thread char this_thread;

/* Runs FUNCTION as a visit of the place's region. */
static void run_here(struct place *place, gomp_function *function, void *data)
{
	perfmon_region_begin(&place->region);
	function(data);
	perfmon_region_end(&place->region);
}

/* Runs FUNCTION as a visit of the place's region, below the path of TOKEN. */
static void run_below(const struct perfmon_token *token, struct place *place,
		      gomp_function *function, void *data)
{
	bool adopted = !perfmon_region_adopt(token);

	run_here(place, function, data);
	if (adopted)
		perfmon_region_leave();
}

/* Returns whether the thread is at the path of TOKEN. */
static bool is_at(const struct perfmon_token *token)
{
	struct perfmon_token here;

	return !perfmon_region_token(&here) && here.path == token->path;
}

void run_for(const struct perfmon_token *token, struct place *place,
	     gomp_function *function, void *data)
{
	/* Many tasks run at once where they are made. Adopting a path inside of visits costs more
	 * than asking for it. */
	if (is_at(token))
		run_here(place, function, data);
	else
		run_below(token, place, function, data);
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
