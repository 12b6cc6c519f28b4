/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sessions of perfmon stat: on threads or CPUs, with as much as the kernel allows. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat.h"
#include "core/refusal.h"
#include "perfmon/set.h"

/* --- samples -------------------------------------------------------------------------
 */

void stat_sum_add(struct stat_sum *sum, double value)
{
	double off = value - sum->mean;

	sum->runs++;
	sum->mean += off / (double)sum->runs;
	sum->squares += off * (value - sum->mean);
	if (sum->runs == 1 || value < sum->min)
		sum->min = value;
	if (sum->runs == 1 || value > sum->max)
		sum->max = value;
}

double stat_sum_spread(const struct stat_sum *sum)
{
	double n = (double)sum->runs;

	if (sum->runs < 2 || sum->mean == 0)
		return 0;
	return 100 * sqrt(sum->squares / (n - 1) / n) / fabs(sum->mean);
}

/* --- life ----------------------------------------------------------------------------
 */

static int out_of_memory(struct stat_counting *counting)
{
	return pm_diag_set(&counting->diag, -ENOMEM, "out of memory");
}

int stat_counting_init(struct stat_counting *counting, const char *events,
		       const char *place, const char *level)
{
	int err;

	*counting = (struct stat_counting){.group_count = 1};
	err = stat_events_learn(&counting->events, events, place != NULL, false,
				&counting->diag);
	if (err)
		return err;
	if (counting->events.count > PERFMON_SESSION_COUNTERS)
		return pm_diag_set(&counting->diag, -E2BIG,
				   "%u events are more than the %d that one session "
				   "takes",
				   counting->events.count, PERFMON_SESSION_COUNTERS);
	if (!place)
		return 0;
	counting->place = calloc(1, sizeof(*counting->place));
	if (!counting->place)
		return out_of_memory(counting);
	err = stat_place_open(counting->place, place, level, &counting->diag);
	if (!err && counting->events.count)
		err = stat_place_plan(counting->place, counting->events.list,
				      &counting->diag);
	if (!err)
		counting->group_count = counting->place->group_count;
	return err;
}

void stat_counting_free(struct stat_counting *counting)
{
	stat_counting_end(counting);
	if (counting->place)
		stat_place_close(counting->place);
	free(counting->place);
	stat_events_forget(&counting->events);
}

size_t stat_counting_cells(const struct stat_counting *counting)
{
	return (size_t)counting->group_count * counting->events.count;
}

/* --- opening -------------------------------------------------------------------------
 */

static void session_free(struct stat_session *session)
{
	perfmon_session_close(session->session);
	free(session->event);
	free(session->cell);
	free(session->before);
	*session = (struct stat_session){.session = NULL};
}

/* Which events SESSION has, and where their counts go. */
static int session_plan(struct stat_counting *counting, struct stat_session *session,
			int cpu)
{
	uint32_t count = counting->events.count;

	*session = (struct stat_session){.cpu = cpu};
	session->event = calloc(count, sizeof(session->event[0]));
	session->cell = calloc(count, sizeof(session->cell[0]));
	session->before = calloc(count, 4 * sizeof(session->before[0]));
	if (!session->event || !session->cell || !session->before) {
		session_free(session);
		return out_of_memory(counting);
	}
	session->own_before = session->before + count;
	session->now = session->before + 2 * (size_t)count;
	session->own_now = session->before + 3 * (size_t)count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t group = 0;

		if (cpu >= 0) {
			if (!stat_place_has(counting->place, counting->events.list, i,
					    (unsigned int)cpu))
				continue;
			group = stat_place_group(counting->place, counting->events.list,
						 i, (unsigned int)cpu);
		}
		session->cell[session->count] =
			group == STAT_NO_GROUP ? STAT_NO_GROUP : group * count + i;
		session->event[session->count++] = i;
	}
	return 0;
}

/* The text of all events, or of those that SESSION has. */
static char *text_of(const struct stat_counting *counting,
		     const struct stat_session *session)
{
	const struct stat_events *events = &counting->events;
	size_t size = 1;
	char *text;

	if (session->count == events->count)
		return strdup(events->text);
	for (uint32_t k = 0; k < session->count; k++)
		size += strlen(events->events[session->event[k]].event->label) + 1;
	text = calloc(size, 1);
	for (uint32_t k = 0; text && k < session->count; k++) {
		if (k)
			strcat(text, ",");
		strcat(text, events->events[session->event[k]].event->label);
	}
	return text;
}

static int attach_processes(struct stat_counting *counting,
			    struct perfmon_session *session,
			    const struct perfmon_target *targets, uint32_t count)
{
	int refused = 0;

	for (uint32_t t = 0; t < count; t++) {
		int n = stat_process_attach(session, targets[t].id, counting->events.list,
					    &counting->doubt, &counting->diag);

		if (n < 0)
			return n;
		refused = n > refused ? n : refused;
	}
	return refused;
}

/* Opens a session with what the kernel allows of its events. The number of those that it
 * refuses, or a negative errno. */
static int open_session(struct stat_counting *counting,
			const struct stat_session *session, bool user_only,
			const struct perfmon_target *targets, uint32_t target_count,
			struct perfmon_session **out)
{
	struct perfmon_session_options options = {
		.size = sizeof(options),
		.scope = session->cpu >= 0 ? PERFMON_SCOPE_CPU : PERFMON_SCOPE_THREAD,
		.flags = PERFMON_SESSION_PARTIAL | PERFMON_SESSION_NO_PAGES |
			 PERFMON_SESSION_ROTATE |
			 (user_only ? 0 : PERFMON_SESSION_ALL_MODES),
	};
	struct perfmon_session *new;
	char *text = text_of(counting, session);
	int n;

	if (!text)
		return out_of_memory(counting);
	n = perfmon_session_create(&new, &options);
	if (n) {
		free(text);
		return pm_diag_set(&counting->diag, n, "no session: %s", strerror(-n));
	}
	n = perfmon_session_add_events(new, text);
	free(text);
	if (n >= 0 && counting->processes) {
		n = attach_processes(counting, new, targets, target_count);
	} else {
		if (n >= 0)
			n = perfmon_session_attach(new, targets,
						   target_count * sizeof(targets[0]));
		if (n < 0)
			pm_diag_set(&counting->diag, n, "%s",
				    perfmon_session_message(new));
	}
	if (n < 0)
		perfmon_session_close(new);
	else
		*out = new;
	return n;
}

/* Why counter K was refused, 0 if it was not. */
static int refusal_of(struct perfmon_session *session, uint32_t k)
{
	struct perfmon_counter_info info = {.size = sizeof(info)};

	return perfmon_session_counter_info(session, k, &info) ? 0 : info.error;
}

static bool is_denied(struct perfmon_session *session, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		int error = refusal_of(session, k);

		if (error == -EACCES || error == -EPERM)
			return true;
	}
	return false;
}

/* Tries what the targets allow: all modes, or else user mode, if that is more. */
static int open_best(struct stat_counting *counting, struct stat_session *session,
		     const struct perfmon_target *targets, uint32_t target_count)
{
	struct stat_events *events = &counting->events;
	const char *text = events->chosen ? events->text : NULL;
	struct perfmon_session *user;
	int n, refused = open_session(counting, session, events->user_only, targets,
				      target_count, &session->session);

	if (refused <= 0 || events->user_only ||
	    !is_denied(session->session, session->count))
		return refused;
	n = open_session(counting, session, true, targets, target_count, &user);
	if (n < 0)
		return refused;
	if (n >= refused) {
		perfmon_session_close(user);
		return refused;
	}
	perfmon_session_close(session->session);
	session->session = user;
	stat_events_forget(events);
	return stat_events_learn(events, text, session->cpu >= 0, true, &counting->diag)
		       ?: n;
}

/* --- what was refused ----------------------------------------------------------------
 */

/* The error that event I met, 0 for none; OPEN: whether it is open anywhere all the same.
 */
static int error_of(const struct stat_counting *counting, uint32_t i, int *cpu,
		    bool *open)
{
	int error = -ENODEV;
	bool seen = false;

	*cpu = -1;
	*open = false;
	for (uint32_t s = 0; s < counting->session_count; s++) {
		const struct stat_session *session = &counting->sessions[s];

		for (uint32_t k = 0; k < session->count; k++) {
			struct perfmon_value value = {.index = k};
			int refused;

			if (session->event[k] != i)
				continue;
			refused = refusal_of(session->session, k);
			if (refused || !seen) {
				error = refused;
				*cpu = session->cpu;
				seen = true;
			}
			if (perfmon_session_read(session->session, &value,
						 sizeof(value)) > 0 &&
			    !(value.status & PERFMON_VALUE_NEVER_OPENED))
				*open = true;
		}
	}
	return error;
}

/* Puts into words what was refused. */
static void explain(struct stat_counting *counting, pid_t tid)
{
	struct stat_events *events = &counting->events;

	for (uint32_t i = 0; i < events->count; i++) {
		struct stat_event *event = &events->events[i];
		struct pm_diag diag = {0};
		bool open;
		int cpu;

		event->error = error_of(counting, i, &cpu, &open);
		if (event->error && counting->place && cpu < 0)
			pm_diag_set(&diag, 0,
				    "event '%s': none of the CPUs has a PMU that counts "
				    "it",
				    event->label);
		else if (event->error)
			pm_refusal_open(&diag, event->error, event->event,
					counting->place ? -1 : tid, cpu);
		else if (event->blind)
			pm_diag_set(
				&diag, 0,
				"event '%s': it happens in the kernel alone, which %s",
				event->label,
				event->user_only ? "may not be counted here"
						 : "its modifiers leave out");
		event->partly = event->error && open;
		if (open)
			event->error = 0;
		if (diag.text[0])
			event->why = strdup(diag.text);
		event->hidden = !events->chosen && (event->error || event->blind);
	}
	counting->explained = true;
}

/* What makes it senseless to go on: there is no such thread, or NEEDED and nothing is
 * open. */
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

/* --- start ---------------------------------------------------------------------------
 */

static int open_threads(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count)
{
	struct stat_session *session = &counting->sessions[0];
	int n = session_plan(counting, session, -1);

	if (n)
		return n;
	counting->session_count = 1;
	n = open_best(counting, session, targets, target_count);
	return n < 0 ? n : 0;
}

static int open_cpus(struct stat_counting *counting)
{
	pm_cpus_each (cpu, &counting->place->cpus) {
		struct stat_session *session =
			&counting->sessions[counting->session_count];
		struct perfmon_target target = {.kind = PERFMON_TARGET_CPU, .id = cpu};
		int n = session_plan(counting, session, cpu);

		if (n)
			return n;
		counting->session_count++;
		n = open_best(counting, session, &target, 1);
		if (n < 0)
			return n;
	}
	return 0;
}

int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool apart, bool needed)
{
	uint32_t most = counting->place ? pm_cpus_count(&counting->place->cpus) : 1;
	int err = 0;

	counting->apart = apart;
	if (!counting->events.count)
		return 0;
	counting->sessions = calloc(most + 1, sizeof(counting->sessions[0]));
	if (!counting->sessions)
		return out_of_memory(counting);
	err = counting->place ? open_cpus(counting)
			      : open_threads(counting, targets, target_count);
	if (!err && !counting->explained)
		explain(counting, target_count ? targets[0].id : -1);
	err = err ?: check_open(counting, needed);
	for (uint32_t s = 0; !err && s < counting->session_count; s++) {
		struct perfmon_session *session = counting->sessions[s].session;

		err = perfmon_session_start(session);
		if (err < 0)
			pm_diag_set(&counting->diag, err, "%s",
				    perfmon_session_message(session));
	}
	if (err < 0)
		stat_counting_end(counting);
	return err;
}

bool stat_counting_is_over(struct stat_counting *counting)
{
	return counting->session_count && !counting->place &&
	       perfmon_session_state(counting->sessions[0].session) == PERFMON_DETACHED;
}

void stat_counting_stop(struct stat_counting *counting)
{
	/* One whose target has ended is stopped. */
	for (uint32_t s = 0; s < counting->session_count; s++)
		perfmon_session_stop(counting->sessions[s].session);
}

void stat_counting_end(struct stat_counting *counting)
{
	while (counting->session_count)
		session_free(&counting->sessions[--counting->session_count]);
	free(counting->sessions);
	counting->sessions = NULL;
}

/* --- reading -------------------------------------------------------------------------
 */

/* The count over the enabled time, in the event's unit. */
static double estimate(const struct stat_event *event, const struct perfmon_value *value)
{
	double scaled = (double)value->value * event->event->scale;

	if (value->running_ns >= value->enabled_ns)
		return scaled;
	return scaled * ((double)value->enabled_ns / (double)value->running_ns);
}

/* What is new between two readings. */
static struct perfmon_value less(const struct perfmon_value *now,
				 const struct perfmon_value *before)
{
	struct perfmon_value value = *now;

	value.value -= before->value;
	value.enabled_ns -= before->enabled_ns;
	value.running_ns -= before->running_ns;
	return value;
}

static void add(struct stat_cell *cell, const struct stat_event *event,
		const struct perfmon_value *value, const struct perfmon_value *own)
{
	if (value->status & PERFMON_VALUE_NEVER_OPENED) {
		cell->refused++;
		return;
	}
	cell->enabled_ns += value->enabled_ns;
	cell->running_ns += value->running_ns;
	/* Never enabled is another thing: the target did not run, nothing happened. */
	if (event->blind || (value->enabled_ns && !value->running_ns)) {
		cell->starved++;
		return;
	}
	cell->good++;
	cell->refused += event->partly;
	cell->value += value->value;
	cell->now += estimate(event, value);
	if (own->running_ns || !own->enabled_ns)
		cell->own_now += estimate(event, own);
}

/* What the sessions have added to a cell is one sample. */
static void settle(struct stat_cell *cell)
{
	if (cell->good) {
		stat_sum_add(&cell->count, cell->now);
		stat_sum_add(&cell->own, cell->own_now);
	}
	if (!cell->count.runs)
		cell->status = cell->starved ? STAT_NOT_COUNTED : STAT_NOT_SUPPORTED;
	else if (cell->refused || (cell->good && cell->starved))
		cell->status = STAT_PARTIAL;
	else if (cell->status != STAT_PARTIAL)
		cell->status = cell->running_ns < cell->enabled_ns ? STAT_MULTIPLEXED
								   : STAT_COUNTED;
	cell->good = cell->starved = cell->refused = 0;
	cell->now = cell->own_now = 0;
}

static int read_session(struct stat_counting *counting, struct stat_session *session,
			struct stat_cell *cells, bool since_start)
{
	size_t size = session->count * sizeof(session->now[0]);
	int n;

	if (since_start) {
		memset(session->before, 0, size);
		memset(session->own_before, 0, size);
	}
	n = perfmon_session_read_all(session->session, session->now, size);
	if (n >= 0 && counting->apart) {
		for (uint32_t k = 0; k < session->count; k++)
			session->own_now[k] = (struct perfmon_value){.index = k};
		n = perfmon_session_read_own(session->session, session->own_now, size);
	}
	if (n < 0)
		return pm_diag_set(&counting->diag, n, "%s",
				   perfmon_session_message(session->session));
	for (uint32_t k = 0; k < session->count; k++) {
		struct perfmon_value value = less(&session->now[k], &session->before[k]);
		struct perfmon_value own =
			less(&session->own_now[k], &session->own_before[k]);

		if (session->cell[k] != STAT_NO_GROUP)
			add(&cells[session->cell[k]],
			    &counting->events.events[session->event[k]], &value, &own);
	}
	memcpy(session->before, session->now, size);
	memcpy(session->own_before, session->own_now, size);
	return 0;
}

int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start)
{
	size_t count = stat_counting_cells(counting);
	int err = 0;

	for (uint32_t s = 0; !err && s < counting->session_count; s++)
		err = read_session(counting, &counting->sessions[s], cells, since_start);
	for (size_t c = 0; !err && c < count; c++)
		settle(&cells[c]);
	return err;
}
