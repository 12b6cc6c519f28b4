/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon stat counts on a session of threads, or on events on each CPU of a place,
 * with as many events as the kernel allows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat/inside.h"
#include "core/counters/counters.h"
#include "perfmon/set.h"

/* The group of counts that a level cannot divide, such as a package's by cores. */
#define WHOLE PM_GROUP_NONE

/* --- life --------------------------------------------------------------------------- */

static int out_of_memory(struct stat_counting *counting)
{
	return pm_diag_set(&counting->diag, -ENOMEM, "out of memory");
}

/* Lists the groups of the level that have CPUs of the placement. The last is the whole,
 * for counts that the level cannot divide. */
static int list_groups(struct stat_counting *counting)
{
	const struct pm_cpuwide like = {.placement = counting->placement};
	struct pm_cpus numbers = {0};
	uint32_t count;

	if (pm_cpuwide_groups(&like, counting->level, &numbers))
		return out_of_memory(counting);
	count = pm_cpus_count(&numbers);
	if (!count)
		return pm_diag_set(&counting->diag, -ENOENT,
				   "this machine has no level '%s'",
				   pm_level_name(counting->level));
	counting->groups = calloc(count + 1, sizeof(counting->groups[0]));
	if (counting->groups) {
		pm_cpus_each (number, &numbers)
			counting->groups[counting->group_count++] = number;
		if (counting->grouped)
			counting->groups[counting->group_count++] = WHOLE;
	}
	pm_cpus_free(&numbers);
	return counting->groups ? 0 : out_of_memory(counting);
}

static int open_place(struct stat_counting *counting, const char *place,
		      const char *level)
{
	int err = pm_placement_parse(place, &counting->placement, &counting->diag);

	counting->grouped = level != NULL;
	counting->level = PM_LEVEL_MACHINE;
	if (level)
		counting->level = (enum pm_level)pm_level_find(pm_slice_of(level));
	return err || !counting->events.count ? err : list_groups(counting);
}

int stat_counting_init(struct stat_counting *counting, const char *events,
		       const char *place, const char *level)
{
	size_t cells;
	int err;

	*counting = (struct stat_counting){.group_count = !place};
	err = stat_events_learn(&counting->events, events, place != NULL, false,
				&counting->diag);
	if (err)
		return err;
	if (counting->events.count > PERFMON_SESSION_COUNTERS_MAX)
		return pm_diag_set(&counting->diag, -E2BIG,
				   "%u events: one session takes at most %d",
				   counting->events.count, PERFMON_SESSION_COUNTERS_MAX);
	err = place ? open_place(counting, place, level) : 0;
	if (err)
		return err;
	cells = stat_counting_cells(counting);
	counting->before = calloc(cells + 1, 4 * sizeof(counting->before[0]));
	if (!counting->before)
		return out_of_memory(counting);
	counting->own_before = counting->before + cells;
	counting->now = counting->before + 2 * cells;
	counting->own_now = counting->before + 3 * cells;
	return 0;
}

void stat_counting_free(struct stat_counting *counting)
{
	stat_counting_end(counting);
	free(counting->groups);
	pm_placement_free(counting->placement);
	free(counting->before);
	stat_events_forget(&counting->events);
}

size_t stat_counting_cells(const struct stat_counting *counting)
{
	return (size_t)counting->group_count * counting->events.count;
}

void stat_counting_group_name(const struct stat_counting *counting, uint32_t group,
			      char name[STAT_GROUP_NAME])
{
	if (!counting->grouped)
		name[0] = '\0';
	else if (counting->groups[group] == WHOLE)
		snprintf(name, STAT_GROUP_NAME, "all");
	else
		snprintf(name, STAT_GROUP_NAME, "%s:%u", pm_level_name(counting->level),
			 counting->groups[group]);
}

/* --- threads ------------------------------------------------------------------------ */

/* Keeps the message of SESSION about its error N. */
static int session_failed(struct stat_counting *counting, struct perfmon_session *session,
			  int n)
{
	pm_diag_clear(&counting->diag);
	perfmon_session_message(session, counting->diag.text,
				sizeof(counting->diag.text));
	return n;
}

/* One by one, since each has its own message. */
static int attach_targets(struct stat_counting *counting, struct perfmon_session *session,
			  const struct perfmon_target *targets, uint32_t count)
{
	struct pm_diag *why = &counting->why_uncertain;
	int refused = 0;

	pm_diag_clear(why);
	for (uint32_t t = 0; t < count; t++) {
		int n = perfmon_session_attach_targets(
			session, &targets[t], 1, sizeof(targets[t]), PERFMON_ATTACH_ADD);

		if (n < 0)
			return session_failed(counting, session, n);
		if (n == 0 && !why->text[0])
			perfmon_session_message(session, why->text, sizeof(why->text));
		refused = n > refused ? n : refused;
	}
	return refused;
}

/* Opens a session with the events that the kernel allows. Returns how many it does not
 * allow, or a negative errno. */
static int open_session(struct stat_counting *counting, bool user_only,
			const struct perfmon_target *targets, uint32_t target_count,
			struct perfmon_session **out)
{
	struct perfmon_session_options options = {
		.size = sizeof(options),
		.scope = PERFMON_SCOPE_THREAD,
		.flags = PERFMON_SESSION_PARTIAL | PERFMON_SESSION_NO_PAGES |
			 PERFMON_SESSION_ROTATE |
			 (user_only ? 0 : PERFMON_SESSION_ALL_MODES) |
			 (counting->split ? PERFMON_SESSION_SPLIT : 0),
	};
	struct perfmon_session *new;
	int n = perfmon_session_create(&new, &options, NULL, 0);

	if (n)
		return pm_diag_set(&counting->diag, n, "no session: %s", strerror(-n));
	n = perfmon_session_add_events(new, counting->events.text);
	if (n < 0)
		session_failed(counting, new, n);
	else
		n = attach_targets(counting, new, targets, target_count);
	if (n < 0)
		perfmon_session_close(new);
	else
		*out = new;
	return n;
}

/* Returns the error with which counter K could not be opened, or 0. */
static int counter_error(struct perfmon_session *session, uint32_t k)
{
	struct perfmon_counter_info info = {.size = sizeof(info)};

	return perfmon_session_get_counter(session, k, &info) ? 0 : info.error;
}

static bool is_denied(struct perfmon_session *session, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		int error = counter_error(session, k);

		if (error == -EACCES || error == -EPERM)
			return true;
	}
	return false;
}

/* Tries all modes, and user mode if that opens more events. */
static int open_best(struct stat_counting *counting, const struct perfmon_target *targets,
		     uint32_t target_count)
{
	struct stat_events *events = &counting->events;
	const char *text = events->chosen ? events->text : NULL;
	struct perfmon_session *user;
	int n, refused = open_session(counting, events->user_only, targets, target_count,
				      &counting->session);

	if (refused <= 0 || events->user_only ||
	    !is_denied(counting->session, events->count))
		return refused;
	n = open_session(counting, true, targets, target_count, &user);
	if (n >= refused)
		perfmon_session_close(user);
	if (n < 0 || n >= refused)
		return refused;
	perfmon_session_close(counting->session);
	counting->session = user;
	stat_events_forget(events);
	return stat_events_learn(events, text, false, true, &counting->diag) ?: n;
}

/* --- CPUs --------------------------------------------------------------------------- */

static int open_cpus(struct stat_counting *counting)
{
	int n = pm_cpuwide_open(
		&counting->cpuwide, counting->placement, counting->events.list,
		PM_OPEN_PARTIAL | (counting->split ? PM_OPEN_SPLIT : 0), &counting->diag);

	if (n < 0)
		return n;
	n = pm_cpuwide_start(counting->cpuwide);
	if (n)
		pm_diag_set(&counting->diag, n, "%s", strerror(-n));
	return n;
}

/* Returns the error of event EVENT of the user's text, on *CPU (-1: no CPU counts it).
 * *OPEN says whether the event is open on another CPU. */
static int error_on_cpus(const struct stat_counting *counting, uint32_t event, int *cpu,
			 bool *open)
{
	const struct pm_cpuwide *cpuwide = counting->cpuwide;
	int error = 0;

	for (uint32_t c = 0; c < cpuwide->cpu_count; c++) {
		const struct pm_cpuwide_cpu *on = &cpuwide->cpus[c];

		for (uint32_t k = 0; k < on->instance->count; k++) {
			const struct pm_counter *counter = &on->instance->counters[k];

			if (on->events[k].logical != event)
				continue;
			*open |= pm_counter_is_open(counter);
			if (!pm_counter_is_open(counter) && !error) {
				error = counter->error;
				*cpu = (int)on->cpu;
			}
		}
	}
	return error ?: *open ? 0 : -ENODEV;
}

/* Gets the sum of EVENT in group G. Returns 0, or the reason why there is none. */
static int sum_of(const struct stat_counting *counting, uint32_t event, uint32_t g,
		  struct pm_cpuwide_sum *sum)
{
	const struct pm_cpuwide *cpuwide = counting->cpuwide;
	struct pm_cpuwide_sum one;
	int err;

	if (counting->groups[g] != WHOLE)
		return pm_cpuwide_sum(cpuwide, event, counting->level,
				      counting->groups[g], sum);
	for (uint32_t other = 0; other < g; other++) {
		err = pm_cpuwide_sum(cpuwide, event, counting->level,
				     counting->groups[other], &one);
		if (err != -ERANGE)
			return -ERANGE;
	}
	return pm_cpuwide_sum(cpuwide, event, PM_LEVEL_MACHINE, 0, sum);
}

/* --- errors ------------------------------------------------------------------------ */

/* Returns the error of event I or 0, and sets its CPU if it is counted on CPUs. *OPEN
 * says whether the event is open elsewhere. */
static int error_of(const struct stat_counting *counting, uint32_t i, int *cpu,
		    bool *open)
{
	struct perfmon_value value = {.index = i};
	int error;

	*cpu = -1;
	*open = false;
	if (counting->placement)
		return error_on_cpus(counting, i, cpu, open);
	if (stat_packages_has(&counting->packages, i, &error))
		return error;
	*open = perfmon_session_read(counting->session, &value, 1, sizeof(value), 0) >
			0 &&
		!(value.status & PERFMON_VALUE_NEVER_OPENED);
	return counter_error(counting->session, i);
}

/* Makes the messages about events that could not be opened. */
static void explain(struct stat_counting *counting, pid_t tid)
{
	struct stat_events *events = &counting->events;

	for (uint32_t i = 0; i < events->count; i++) {
		struct stat_event *event = &events->events[i];
		struct pm_diag diag = {0};
		bool open;
		int cpu;

		event->error = error_of(counting, i, &cpu, &open);
		if (event->error && counting->placement && cpu < 0)
			pm_diag_set(&diag, 0,
				    "event '%s': no PMU of the selected CPUs counts the "
				    "event",
				    event->label);
		else if (event->error)
			pm_diagnosis_open(
				&diag, event->error, event->event,
				counting->placement || event->event->uncore ? -1 : tid,
				cpu < 0 ? atoi(event->event->cpus) : cpu);
		event->partly = event->error && open;
		if (open)
			event->error = 0;
		if (diag.text[0])
			event->why = strdup(diag.text);
		event->hidden = !events->chosen && event->error;
	}
	counting->explained = true;
}

/* Returns an error if there is nothing to count: there is no such thread, or no event is
 * open and NEEDED. */
static int check_open(struct stat_counting *counting, bool needed)
{
	const struct stat_events *events = &counting->events;
	uint32_t i, refused = 0;

	for (i = 0; i < events->count; i++) {
		const struct stat_event *event = &events->events[i];

		if (event->error == -ESRCH)
			return pm_diag_set(&counting->diag, -ESRCH, "%s",
					   event->why ?: "no such thread");
		refused += event->error != 0;
	}
	if (needed && refused && refused == events->count)
		return pm_diag_set(&counting->diag, events->events[0].error, "%s",
				   events->events[0].why ?: "nothing can be counted");
	return 0;
}

/* --- start -------------------------------------------------------------------------- */

int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool needed)
{
	size_t cells = stat_counting_cells(counting);
	int err;

	if (!cells)
		return 0;
	memset(counting->before, 0, 2 * cells * sizeof(counting->before[0]));
	err = counting->placement ? open_cpus(counting)
				  : open_best(counting, targets, target_count);
	if (err >= 0 && !counting->placement) {
		int failed = stat_packages_start(&counting->packages, &counting->events,
						 &counting->diag);

		err = failed ? failed : err;
	}
	if (err >= 0 && !counting->explained)
		explain(counting, target_count ? targets[0].id : -1);
	if (err >= 0)
		err = check_open(counting, needed);
	if (!err && counting->session) {
		err = perfmon_session_start(counting->session);
		if (err)
			session_failed(counting, counting->session, err);
	}
	if (err < 0)
		stat_counting_end(counting);
	return err;
}

bool stat_counting_is_over(struct stat_counting *counting)
{
	return counting->session &&
	       perfmon_session_state(counting->session) == PERFMON_STATE_DETACHED;
}

void stat_counting_stop(struct stat_counting *counting)
{
	/* If the targets have ended, the session is stopped already. */
	if (counting->session)
		perfmon_session_stop(counting->session);
	if (counting->cpuwide)
		pm_cpuwide_stop(counting->cpuwide);
}

void stat_counting_end(struct stat_counting *counting)
{
	perfmon_session_close(counting->session);
	counting->session = NULL;
	stat_packages_end(&counting->packages);
	pm_cpuwide_close(counting->cpuwide);
	counting->cpuwide = NULL;
}

/* --- reading ------------------------------------------------------------------------ */

static int read_session(struct stat_counting *counting)
{
	uint32_t count = counting->events.count;
	int n = perfmon_session_read(counting->session, counting->now, count,
				     sizeof(counting->now[0]), PERFMON_READ_ALL);

	if (n >= 0 && counting->apart)
		n = perfmon_session_read(counting->session, counting->own_now, count,
					 sizeof(counting->now[0]),
					 PERFMON_READ_ALL | PERFMON_READ_OWN);
	stat_packages_read(&counting->packages, counting->now);
	return n < 0 ? session_failed(counting, counting->session, n) : 0;
}

static int read_cpus(struct stat_counting *counting, struct stat_cell *cells)
{
	size_t count = stat_counting_cells(counting);

	/* A CPU that cannot be read shows in the sums. */
	pm_cpuwide_read(counting->cpuwide);
	for (size_t c = 0; c < count; c++) {
		struct pm_cpuwide_sum sum = {.counted = 0};
		int err = sum_of(counting, (uint32_t)(c % counting->events.count),
				 (uint32_t)(c / counting->events.count), &sum);

		if (err == -ENOMEM)
			return out_of_memory(counting);
		cells[c].absent = err == -ERANGE;
		cells[c].refused +=
			sum.counted && (sum.refused || sum.gone || sum.missing);
		counting->now[c] = (struct perfmon_value){
			.status = sum.counted ? 0 : PERFMON_VALUE_NEVER_OPENED,
			.value = sum.reading.value,
			.enabled_ns = sum.reading.enabled_ns,
			.running_ns = sum.reading.running_ns};
	}
	return 0;
}

/* Returns the difference between two readings. */
static struct perfmon_value less(const struct perfmon_value *now,
				 const struct perfmon_value *before)
{
	struct perfmon_value value = *now;

	value.value -= before->value;
	value.enabled_ns -= before->enabled_ns;
	value.running_ns -= before->running_ns;
	return value;
}

int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start)
{
	size_t count = stat_counting_cells(counting);
	size_t size = 2 * count * sizeof(counting->now[0]);
	int err;

	if (!count)
		return 0;
	err = counting->placement ? read_cpus(counting, cells) : read_session(counting);
	if (err)
		return err;
	if (since_start)
		memset(counting->before, 0, size);
	for (size_t c = 0; c < count; c++) {
		struct perfmon_value value =
			less(&counting->now[c], &counting->before[c]);
		struct perfmon_value own =
			less(&counting->own_now[c], &counting->own_before[c]);

		counting->uncertain |= value.status & PERFMON_VALUE_UNCERTAIN;
		stat_cell_take(&cells[c],
			       &counting->events.events[c % counting->events.count],
			       &value, &own);
		stat_cell_end_run(&cells[c]);
	}
	memcpy(counting->before, counting->now, size);
	return 0;
}
