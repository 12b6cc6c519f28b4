/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sessions of perfmon stat: on threads or CPUs, with as many events as the kernel
 * allows. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat/count.h"
#include "core/counters/counters.h"
#include "perfmon/set.h"

/* --- life --------------------------------------------------------------------------- */

static int out_of_memory(struct stat_counting *counting)
{
	return pm_diag_set(&counting->diag, -ENOMEM, "out of memory");
}

int stat_counting_init(struct stat_counting *counting, const char *events,
		       const char *place, const char *level)
{
	uint32_t count;
	int err;

	*counting = (struct stat_counting){.session = NULL};
	err = stat_events_learn(&counting->events, events, place != NULL, false,
				&counting->diag);
	if (err)
		return err;
	count = counting->events.count;
	if (count > PERFMON_SESSION_COUNTERS_MAX)
		return pm_diag_set(&counting->diag, -E2BIG,
				   "%u events: one session takes at most %d", count,
				   PERFMON_SESSION_COUNTERS_MAX);
	counting->before = calloc(count + 1, 4 * sizeof(counting->before[0]));
	if (!counting->before)
		return out_of_memory(counting);
	counting->own_before = counting->before + count;
	counting->now = counting->before + 2 * (size_t)count;
	counting->own_now = counting->before + 3 * (size_t)count;
	if (!place)
		return 0;
	counting->place = calloc(1, sizeof(*counting->place));
	if (!counting->place)
		return out_of_memory(counting);
	err = stat_place_open(counting->place, place, level, &counting->diag);
	if (!err && count)
		err = stat_place_plan(counting->place, counting->events.list,
				      &counting->diag);
	return err;
}

void stat_counting_free(struct stat_counting *counting)
{
	stat_counting_end(counting);
	if (counting->place)
		stat_place_close(counting->place);
	free(counting->place);
	free(counting->before);
	stat_events_forget(&counting->events);
}

uint32_t stat_counting_groups(const struct stat_counting *counting)
{
	return counting->place ? counting->place->group_count : 1;
}

size_t stat_counting_cells(const struct stat_counting *counting)
{
	return (size_t)stat_counting_groups(counting) * counting->events.count;
}

/* --- threads ------------------------------------------------------------------------ */

/* Keeps the message of SESSION about its error N. */
static int session_failed(struct stat_counting *counting, struct perfmon_session *session,
			  int n)
{
	char message[sizeof(counting->diag.text)] = "";

	perfmon_session_message(session, message, sizeof(message));
	return pm_diag_set(&counting->diag, n, "%s", message);
}

/* One by one, since each has its own message. */
static int attach_targets(struct stat_counting *counting, struct perfmon_session *session,
			  const struct perfmon_target *targets, uint32_t count)
{
	int refused = 0;

	pm_diag_clear(&counting->why_uncertain);
	for (uint32_t t = 0; t < count; t++) {
		int n = perfmon_session_attach_targets(
			session, &targets[t], 1, sizeof(targets[t]), PERFMON_ATTACH_ADD);
		char message[1000] = "";

		perfmon_session_message(session, message, sizeof(message));
		if (n < 0)
			return pm_diag_set(&counting->diag, n, "%s", message);
		if (n == 0 && message[0] && !counting->why_uncertain.text[0])
			pm_diag_set(&counting->why_uncertain, 0, "%s", message);
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
	if (n < 0)
		return refused;
	if (n >= refused) {
		perfmon_session_close(user);
		return refused;
	}
	perfmon_session_close(counting->session);
	counting->session = user;
	stat_events_forget(events);
	return stat_events_learn(events, text, false, true, &counting->diag) ?: n;
}

/* --- errors ------------------------------------------------------------------------ */

/* Returns the error of event I or 0, and sets its CPU if it is counted on CPUs. *OPEN
 * says whether the event is open elsewhere. */
static int error_of(const struct stat_counting *counting, uint32_t i, int *cpu,
		    bool *open)
{
	struct perfmon_value value = {.index = i};

	*cpu = -1;
	if (counting->place)
		return stat_place_error(counting->place, counting->events.list, i, cpu,
					open);
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
		if (event->error && counting->place && cpu < 0)
			pm_diag_set(&diag, 0,
				    "event '%s': no PMU of the selected CPUs counts the "
				    "event",
				    event->label);
		else if (event->error)
			pm_diagnosis_open(&diag, event->error, event->event,
					  counting->place ? -1 : tid, cpu);
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

static int start_session(struct stat_counting *counting)
{
	size_t size = counting->events.count * sizeof(counting->before[0]);
	int err = perfmon_session_start(counting->session);

	memset(counting->before, 0, size);
	memset(counting->own_before, 0, size);
	return err ? session_failed(counting, counting->session, err) : 0;
}

int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool apart, bool needed)
{
	int err;

	counting->apart = apart;
	if (!counting->events.count)
		return 0;
	if (counting->place)
		err = stat_place_start(counting->place, counting->events.list,
				       counting->split, &counting->diag);
	else
		err = open_best(counting, targets, target_count);
	if (err >= 0 && !counting->explained)
		explain(counting, target_count ? targets[0].id : -1);
	if (err >= 0)
		err = check_open(counting, needed);
	if (!err && !counting->place)
		err = start_session(counting);
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
	if (counting->place)
		stat_place_stop(counting->place);
}

void stat_counting_end(struct stat_counting *counting)
{
	perfmon_session_close(counting->session);
	counting->session = NULL;
	if (counting->place)
		stat_place_end(counting->place);
}

/* --- reading ------------------------------------------------------------------------ */

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

static int read_session(struct stat_counting *counting, struct stat_cell *cells,
			bool since_start)
{
	uint32_t count = counting->events.count;
	size_t size = count * sizeof(counting->now[0]);
	int n;

	if (since_start) {
		memset(counting->before, 0, size);
		memset(counting->own_before, 0, size);
	}
	n = perfmon_session_read(counting->session, counting->now, count,
				 sizeof(counting->now[0]), PERFMON_READ_ALL);
	if (n >= 0 && counting->apart)
		n = perfmon_session_read(counting->session, counting->own_now, count,
					 sizeof(counting->now[0]),
					 PERFMON_READ_ALL | PERFMON_READ_OWN);
	if (n < 0)
		return session_failed(counting, counting->session, n);
	for (uint32_t i = 0; i < count; i++) {
		struct perfmon_value value =
			less(&counting->now[i], &counting->before[i]);
		struct perfmon_value own =
			less(&counting->own_now[i], &counting->own_before[i]);

		counting->uncertain |= counting->now[i].status & PERFMON_VALUE_UNCERTAIN;
		stat_cell_take(&cells[i], &counting->events.events[i], &value, &own);
	}
	memcpy(counting->before, counting->now, size);
	memcpy(counting->own_before, counting->own_now, size);
	return 0;
}

int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start)
{
	size_t count = stat_counting_cells(counting);
	int err;

	if (!counting->events.count)
		return 0;
	err = counting->place ? stat_place_read(counting->place, &counting->events, cells,
						since_start, &counting->diag)
			      : read_session(counting, cells, since_start);
	for (size_t c = 0; !err && c < count; c++)
		stat_cell_end_run(&cells[c]);
	return err;
}
