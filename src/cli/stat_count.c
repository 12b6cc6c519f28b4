/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What perfmon stat counts: a session on its targets, with as much as the kernel allows.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/stat.h"
#include "core/refusal.h"
#include "perfmon/set.h"

/* What is counted when nobody said what, as far as it is there. */
static const char usual[] = "task-clock,context-switches,cpu-migrations,page-faults,"
			    "cycles,instructions,branches,branch-misses";

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

/* --- events --------------------------------------------------------------------------
 */

/* The first event behind what the user wrote in place I. */
static const struct pm_event *first_of(const struct pm_event_list *list, uint32_t i)
{
	for (size_t e = 0; e < list->count; e++)
		if (list->events[e].logical == i)
			return &list->events[e];
	return NULL;
}

static char *label_of(const struct pm_event *event, bool user_only)
{
	size_t length = strlen(event->label);
	char *label = malloc(length + 3);

	if (!label)
		return NULL;
	memcpy(label, event->label, length + 1);
	if (user_only)
		strcpy(label + length, length && label[length - 1] == '/' ? "u" : ":u");
	return label;
}

/* Takes the events that TEXT means in all modes, or in user mode. */
static int learn_events(struct stat_counting *counting, bool user_only)
{
	struct pm_event_list *all = NULL, *list = NULL;
	struct stat_event *events;
	uint32_t i, count;
	int err = pm_events_parse(counting->text, 0, &all, &counting->diag);

	if (!err)
		err = pm_events_parse(counting->text, user_only ? PM_EVENTS_USER_ONLY : 0,
				      &list, &counting->diag);
	count = err ? 0 : (uint32_t)list->logical_count;
	events = calloc(count + 1, sizeof(events[0]));
	for (i = 0; !err && i < count; i++) {
		const struct pm_event *event = first_of(list, i);

		events[i].event = event;
		events[i].user_only = event->attr.exclude_kernel &&
				      !first_of(all, i)->attr.exclude_kernel;
		events[i].blind = event->kernel_only && event->attr.exclude_kernel;
		events[i].label = label_of(event, events[i].user_only);
		if (!events[i].label)
			err = pm_diag_set(&counting->diag, -ENOMEM, "out of memory");
	}
	pm_events_free(all);
	if (err) {
		while (count-- > 0)
			free(events[count].label);
		free(events);
		pm_events_free(list);
		return err;
	}
	counting->list = list;
	counting->events = events;
	counting->count = count;
	counting->user_only = user_only;
	return 0;
}

static void forget_events(struct stat_counting *counting)
{
	for (uint32_t i = 0; i < counting->count; i++) {
		free(counting->events[i].label);
		free(counting->events[i].why);
	}
	free(counting->events);
	pm_events_free(counting->list);
	counting->events = NULL;
	counting->list = NULL;
	counting->count = 0;
}

int stat_counting_init(struct stat_counting *counting, const char *events)
{
	size_t values = PERFMON_SESSION_COUNTERS;
	int err;

	*counting =
		(struct stat_counting){.text = events ?: usual, .chosen = events != NULL};
	if (!strcasecmp(counting->text, "none"))
		return 0;
	err = learn_events(counting, false);
	if (err)
		return err;
	if (counting->count > values)
		return pm_diag_set(&counting->diag, -E2BIG,
				   "%u events are more than the %zu that one session "
				   "takes",
				   counting->count, values);
	counting->before = calloc(values, 4 * sizeof(counting->before[0]));
	if (!counting->before)
		return pm_diag_set(&counting->diag, -ENOMEM, "out of memory");
	counting->own_before = counting->before + values;
	counting->now = counting->before + 2 * values;
	counting->own_now = counting->before + 3 * values;
	return 0;
}

void stat_counting_free(struct stat_counting *counting)
{
	forget_events(counting);
	free(counting->before);
	counting->before = NULL;
}

/* --- the session ---------------------------------------------------------------------
 */

/* Opens a session on TARGETS, with what the kernel allows of it. The number of events
 * that it refuses, or a negative errno. */
static int open_session(struct stat_counting *counting, bool user_only,
			const struct perfmon_target *targets, uint32_t target_count,
			struct perfmon_session **out)
{
	struct perfmon_session_options options = {
		.size = sizeof(options),
		.scope = targets[0].kind == PERFMON_TARGET_CPU ? PERFMON_SCOPE_CPU
							       : PERFMON_SCOPE_THREAD,
		.flags = PERFMON_SESSION_PARTIAL | PERFMON_SESSION_NO_PAGES |
			 PERFMON_SESSION_ROTATE |
			 (user_only ? 0 : PERFMON_SESSION_ALL_MODES),
	};
	struct perfmon_session *session;
	int n = perfmon_session_create(&session, &options);

	if (n)
		return pm_diag_set(&counting->diag, n, "no session: %s", strerror(-n));
	n = perfmon_session_add_events(session, counting->text);
	if (n >= 0)
		n = perfmon_session_attach(session, targets,
					   target_count * sizeof(targets[0]));
	if (n < 0) {
		pm_diag_set(&counting->diag, n, "%s", perfmon_session_message(session));
		perfmon_session_close(session);
		return n;
	}
	*out = session;
	return n;
}

/* Why event I was refused, 0 if it was not. */
static int refusal_of(struct perfmon_session *session, uint32_t i)
{
	struct perfmon_counter_info info = {.size = sizeof(info)};

	return perfmon_session_counter_info(session, i, &info) ? 0 : info.error;
}

static bool is_denied(const struct stat_counting *counting,
		      struct perfmon_session *session)
{
	for (uint32_t i = 0; i < counting->count; i++) {
		int error = refusal_of(session, i);

		if (error == -EACCES || error == -EPERM)
			return true;
	}
	return false;
}

/* Tries what TARGETS allow: all modes, or else user mode, if that is more. */
static int open_best(struct stat_counting *counting, const struct perfmon_target *targets,
		     uint32_t target_count)
{
	struct perfmon_session *user;
	int refused, n;

	refused = open_session(counting, counting->user_only, targets, target_count,
			       &counting->session);
	if (refused <= 0 || counting->user_only ||
	    !is_denied(counting, counting->session))
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
	forget_events(counting);
	return learn_events(counting, true) ?: n;
}

/* Puts into words what was refused. */
static void explain(struct stat_counting *counting, const struct perfmon_target *target)
{
	bool cpu = target->kind == PERFMON_TARGET_CPU;
	for (uint32_t i = 0; i < counting->count; i++) {
		struct stat_event *event = &counting->events[i];
		struct pm_diag diag = {0};

		event->error = refusal_of(counting->session, i);
		if (event->error)
			pm_refusal_open(&diag, event->error, event->event,
					cpu ? -1 : target->id, cpu ? target->id : -1);
		else if (event->blind)
			pm_diag_set(
				&diag, 0,
				"event '%s': it happens in the kernel alone, which %s",
				event->label,
				event->user_only ? "may not be counted here"
						 : "its modifiers leave out");
		if (diag.text[0])
			event->why = strdup(diag.text);
		event->hidden = !counting->chosen && (event->error || event->blind);
	}
	counting->explained = true;
}

int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool apart)
{
	size_t size = counting->count * sizeof(counting->before[0]);
	int n = 0;

	counting->apart = apart;
	if (!counting->count)
		return 0;
	n = open_best(counting, targets, target_count);
	if (n < 0)
		return n;
	for (uint32_t i = 0; n && i < counting->count; i++) {
		n = refusal_of(counting->session, i);
		if (n == -ESRCH) {
			pm_diag_set(&counting->diag, n, "%s",
				    perfmon_session_message(counting->session));
			stat_counting_end(counting);
			return n;
		}
		n = 1;
	}
	if (!counting->explained)
		explain(counting, &targets[0]);
	memset(counting->before, 0, size);
	memset(counting->own_before, 0, size);
	n = perfmon_session_start(counting->session);
	if (n < 0) {
		pm_diag_set(&counting->diag, n, "%s",
			    perfmon_session_message(counting->session));
		stat_counting_end(counting);
	}
	return n;
}

bool stat_counting_is_over(struct stat_counting *counting)
{
	return counting->session &&
	       perfmon_session_state(counting->session) == PERFMON_DETACHED;
}

void stat_counting_stop(struct stat_counting *counting)
{
	/* One whose target has ended is stopped. */
	if (counting->session)
		perfmon_session_stop(counting->session);
}

void stat_counting_end(struct stat_counting *counting)
{
	perfmon_session_close(counting->session);
	counting->session = NULL;
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
	if (event->error) {
		cell->status = STAT_NOT_SUPPORTED;
		return;
	}
	cell->enabled_ns += value->enabled_ns;
	cell->running_ns += value->running_ns;
	/* Never enabled is another thing: the target did not run, nothing happened. */
	if (event->blind || (value->enabled_ns && !value->running_ns)) {
		cell->status = cell->count.runs ? STAT_MULTIPLEXED : STAT_NOT_COUNTED;
		return;
	}
	cell->value += value->value;
	stat_sum_add(&cell->count, estimate(event, value));
	if (own->running_ns || !own->enabled_ns)
		stat_sum_add(&cell->own, estimate(event, own));
	cell->status =
		cell->running_ns < cell->enabled_ns ? STAT_MULTIPLEXED : STAT_COUNTED;
}

int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start)
{
	size_t size = counting->count * sizeof(counting->now[0]);
	int n;

	if (!counting->count)
		return 0;
	if (since_start) {
		memset(counting->before, 0, size);
		memset(counting->own_before, 0, size);
	}
	n = perfmon_session_read_all(counting->session, counting->now, size);
	if (n >= 0 && counting->apart) {
		for (uint32_t i = 0; i < counting->count; i++)
			counting->own_now[i] = (struct perfmon_value){.index = i};
		n = perfmon_session_read_own(counting->session, counting->own_now, size);
	}
	if (n < 0)
		return pm_diag_set(&counting->diag, n, "%s",
				   perfmon_session_message(counting->session));
	for (uint32_t i = 0; i < counting->count; i++) {
		struct perfmon_value value =
			less(&counting->now[i], &counting->before[i]);
		struct perfmon_value own =
			less(&counting->own_now[i], &counting->own_before[i]);

		add(&cells[i], &counting->events[i], &value, &own);
	}
	memcpy(counting->before, counting->now, size);
	memcpy(counting->own_before, counting->own_now, size);
	return 0;
}
