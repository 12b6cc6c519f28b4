/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/run/inside.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common/common.h"
#include "core/counters/counters.h"
#include "core/events/events.h"
#include "core/text/grow.h"
#include "core/text/text.h"

/* More copies of one event are not tried: they order the events, and no more. */
#define COPIES_MOST 16
/* A group that is on the hardware has run for so much of the time since it was enabled. */
#define RUNS 0.9

/* The members of a unit stay together: an event, or all of an explicit group. */
struct unit {
	char *text;
	bool hardware, user, opens;
	int copies; /* so many of it run at once: few have the least choice of counters */
	bool placed;
};

struct planning {
	struct run_plan *plan;
	size_t count;
	struct unit *units;
	char *reference_text; /* as in -e; NULL: none */
};

/* Returns true if all of INSTANCE is on the hardware now. */
static bool all_run(struct pm_instance *instance)
{
	struct pm_reading readings[PERFMON_PROFILE_COUNTERS_MAX] = {{0}};

	if (pm_instance_enable(instance) || pm_instance_read(instance, readings))
		return false;
	for (uint32_t i = 0; i < instance->count; i++)
		if (!instance->counters[i].is_exact &&
		    (!readings[i].running_ns ||
		     (double)readings[i].running_ns <
			     RUNS * (double)readings[i].enabled_ns))
			return false;
	return true;
}

/* Opens the events of TEXT as a program does. Returns 1 if they open, and if RUN are on the hardware at
 * once; 0 if not, or a negative errno. */
static int try(const char *text, bool run)
{
	struct pm_event_list *list;
	struct pm_instance *instance;
	int fits, err = pm_events_parse(text, PM_EVENTS_USER_ONLY, &list, NULL);

	if (err)
		return err;
	if (list->count > PERFMON_PROFILE_COUNTERS_MAX) {
		pm_events_free(list);
		return 0;
	}
	err = pm_instance_new(&instance, list->events, (uint32_t)list->count, 0, -1,
			      PM_OPEN_USER_READ, NULL);
	fits = err >= 0 && (!run || all_run(instance));
	pm_instance_free(instance);
	pm_events_free(list);
	return err == -ENOMEM ? err : fits;
}

/* Does the same for A, which may be NULL, and B together. */
static int try_both(const char *a, const char *b, bool run)
{
	char *text = a ? strdup(a) : NULL;
	int fits = a && !text ? -ENOMEM : pm_text_add(&text, ",", b) ?: try(text, run);

	free(text);
	return fits;
}

/* Adds the events FIRST to END of LIST, which stay together. */
static int unit_add(struct planning *p, const struct pm_event_list *list, size_t first,
		    size_t end)
{
	const struct pm_event *events = list->events;
	struct unit unit = {.opens = true};
	char *text = NULL;
	int n, err = 0;

	for (size_t i = first; i < end && !err; i++) {
		unit.hardware |= events[i].hardware || events[i].uncore;
		unit.user |= !events[i].attr.exclude_user;
		if (i == first || events[i].logical != events[i - 1].logical)
			err = pm_text_add(&text, ",", events[i].label);
	}
	n = err
		    ?: asprintf(&unit.text,
				events[first].in_explicit_group ? "{%s}" : "%s", text);
	free(text);
	if (n < 0)
		return -ENOMEM;
	for (size_t u = 0; u < p->count; u++) {
		if (strcmp(p->units[u].text, unit.text) != 0)
			continue;
		cli_complain("run", "--passes: '%s' is named twice, and counted once",
			     unit.text);
		free(unit.text);
		return 0;
	}
	if (!PM_GROW(p->units, p->count)) {
		free(unit.text);
		return -ENOMEM;
	}
	p->units[p->count++] = unit;
	return 0;
}

static int units_make(struct planning *p, const struct pm_event_list *list)
{
	int err = 0;

	for (size_t i = 0, end; !err && i < list->count; i = end) {
		end = i + 1;
		while (end < list->count &&
		       list->events[end].group == list->events[i].group)
			end++;
		err = unit_add(p, list, i, end);
	}
	return err;
}

/* Returns how many copies of UNIT run at once. */
static int copies_of(const struct unit *unit)
{
	char *text = strdup(unit->text);
	int copies = 0;

	while (text && copies < COPIES_MOST && try(text, true) > 0) {
		copies++;
		if (pm_text_add(&text, ",", unit->text))
			break;
	}
	free(text);
	return copies;
}

static void units_try(struct planning *p)
{
	for (size_t u = 0; u < p->count; u++) {
		struct unit *unit = &p->units[u];

		unit->opens = try(unit->text, false) > 0;
		if (unit->hardware && unit->opens)
			unit->copies = copies_of(unit);
	}
}

/* Returns true if REFERENCE leaves room for each unit that runs alone. */
static bool leaves_room(const struct planning *p, const char *reference)
{
	for (size_t u = 0; u < p->count; u++)
		if (p->units[u].copies && strcmp(p->units[u].text, reference) != 0 &&
		    try_both(reference, p->units[u].text, true) <= 0)
			return false;
	return true;
}

/* Takes TEXT as the reference event. Returns 1 if it opens, runs and leaves room, 0 if not, -ENOMEM. */
static int reference_try(struct planning *p, const char *text)
{
	struct pm_event_list *list;

	if (try(text, true) <= 0 || !leaves_room(p, text) ||
	    pm_events_parse(text, PM_EVENTS_USER_ONLY, &list, NULL))
		return 0;
	p->reference_text = strdup(text);
	p->plan->reference =
		strdup(list->count == 1 ? list->events[0].name : list->events[0].label);
	pm_events_free(list);
	return p->reference_text && p->plan->reference ? 1 : -ENOMEM;
}

/* The reference event is the work that a run does: instructions in the mode of what is counted, or else time on
 * the CPU. */
static int reference_choose(struct planning *p)
{
	bool hardware = false, user = false;
	int found;

	for (size_t u = 0; u < p->count; u++) {
		hardware |= p->units[u].hardware;
		user |= p->units[u].hardware && p->units[u].user;
	}
	found = reference_try(p, user || !hardware ? "instructions:u" : "instructions:k");
	if (found)
		return found < 0 ? found : 0;
	found = reference_try(p, "task-clock");
	p->plan->is_clock = found > 0;
	return found < 0 ? found : 0;
}

/* The events that have the least choice come first. What needs no counter is placed apart. */
static int by_choice(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return x->copies < y->copies ? -1 : x->copies > y->copies;
}

static int pass_add(struct planning *p)
{
	char *first = p->reference_text ? strdup(p->reference_text) : NULL;

	if ((p->reference_text && !first) || !PM_GROW(p->plan->events, p->plan->count)) {
		free(first);
		return -ENOMEM;
	}
	p->plan->events[p->plan->count++] = first;
	return 0;
}

static int place(struct planning *p, struct unit *unit, size_t pass)
{
	unit->placed = true;
	return pm_text_add(&p->plan->events[pass], ",", unit->text);
}

/* Puts UNIT into the first pass that has room, or into a new one. */
static int unit_place(struct planning *p, struct unit *unit)
{
	size_t pass = 0;
	int fits = 0, err;

	for (; pass < p->plan->count; pass++) {
		fits = try_both(p->plan->events[pass], unit->text, true);
		if (fits)
			break;
	}
	if (fits < 0)
		return fits;
	err = fits ? 0 : pass_add(p);
	return err ?: place(p, unit, pass);
}

/* Puts the events without a counter into the last pass, and those that do not open into the first, which
 * tries them as ever. */
static int rest_place(struct planning *p)
{
	int err = p->plan->count ? 0 : pass_add(p);

	for (size_t u = 0; !err && u < p->count; u++) {
		struct unit *unit = &p->units[u];
		size_t last = p->plan->count - 1;

		if (unit->placed || !unit->opens)
			continue;
		/* No plan has more than so many events. */
		if (!try_both(p->plan->events[last], unit->text, false))
			err = pass_add(p);
		err = err ?: place(p, unit, p->plan->count - 1);
	}
	for (size_t u = 0; !err && u < p->count; u++)
		if (!p->units[u].placed)
			err = place(p, &p->units[u], 0);
	return err;
}

/* Makes one pass of all events, without a reference event, if they run at once. Returns 1 if so, 0 or a negative
 * errno. */
static int one_pass(struct planning *p)
{
	char *runs = NULL, *all = NULL;
	int fits = 1, err = 0;

	for (size_t u = 0; !err && u < p->count; u++) {
		err = pm_text_add(&all, ",", p->units[u].text);
		if (!err && p->units[u].opens)
			err = pm_text_add(&runs, ",", p->units[u].text);
	}
	if (!err && runs)
		fits = try(runs, true);
	free(runs);
	if (!err && fits > 0 && !PM_GROW(p->plan->events, p->plan->count))
		err = -ENOMEM;
	if (err || fits <= 0) {
		free(all);
		return err;
	}
	p->plan->events[p->plan->count++] = all;
	return 1;
}

static int passes_make(struct planning *p, const struct pm_event_list *list)
{
	int err = units_make(p, list);

	if (err)
		return err;
	units_try(p);
	err = one_pass(p);
	if (err)
		return err < 0 ? err : 0;
	err = reference_choose(p);
	if (err)
		return err;
	qsort(p->units, p->count, sizeof(*p->units), by_choice);
	for (size_t u = 0; u < p->count; u++)
		p->units[u].placed =
			p->reference_text && !strcmp(p->units[u].text, p->reference_text);
	for (size_t u = 0; !err && u < p->count; u++)
		if (!p->units[u].placed && p->units[u].hardware && p->units[u].opens)
			err = unit_place(p, &p->units[u]);
	return err ?: rest_place(p);
}

int run_plan_make(struct run_plan *plan, const char *text)
{
	struct planning p = {.plan = plan};
	struct pm_event_list *list;
	struct pm_diag diag = {0};
	int err;

	*plan = (struct run_plan){0};
	if (!text || !*text || !strcasecmp(text, "auto") || !strcasecmp(text, "none"))
		return cli_fail(CLI_USAGE, "run",
				"--passes: expects the events to count: -e EVENTS");
	if (pm_events_parse(text, PM_EVENTS_USER_ONLY, &list, &diag))
		return cli_fail(CLI_USAGE, "run", "%s", diag.text);
	if (list->set_count > 1) {
		cli_complain("run",
			     "--passes: '%s' has event sets, which take turns: separate "
			     "the events by ','",
			     text);
		pm_events_free(list);
		return CLI_USAGE;
	}
	err = passes_make(&p, list);
	pm_events_free(list);
	for (size_t u = 0; u < p.count; u++)
		free(p.units[u].text);
	free(p.units);
	free(p.reference_text);
	if (!err)
		return 0;
	run_plan_free(plan);
	return cli_no_memory("run");
}

void run_plan_free(struct run_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		free(plan->events[i]);
	free(plan->events);
	free(plan->reference);
	*plan = (struct run_plan){0};
}
