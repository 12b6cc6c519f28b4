/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/slow/prepare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/counters/counters.h"
#include "core/kernel/kernel.h"
#include "core/named/named.h"
#include "core/profile/profile.h"
#include "core/regions/threads/package.h"
#include "core/text/text.h"
#include "core/valgrind/exact.h"

/* --- PERFMON_GROUP: groups of events by name -------------------------------------------- */

static void note(void *argument, const char *sentence)
{
	pm_options_note(argument, "%s", sentence);
}

void pm_regions_groups(struct pm_options *options)
{
	const struct pm_named_request request = {.names = options->groups,
						 .exact = pm_exact()};
	struct pm_named_groups *groups = NULL;
	char *events = NULL, *metrics = NULL;
	struct pm_diag diag = {0};
	int err;

	if (!options->groups)
		return;
	err = pm_named_find(&request, &groups, &diag);
	err = err ?: pm_named_join(groups, &events, &metrics, note, options, &diag);
	/* Names that are not here have been noted. */
	if (err && err != -ENOENT)
		pm_options_note(options, "PERFMON_GROUP: %s", diag.text);
	if (events) {
		pm_named_add_events(&options->events, events);
		/* Without memory they stay as they are. */
		if (metrics)
			pm_text_add(&options->metrics, "; ", metrics);
		options->events_auto = options->events_none = false;
	}
	free(events);
	free(metrics);
	pm_named_free(groups);
}

/* --- the plan ----------------------------------------------------------------------------- */

/* Returns the descriptor of EVENT in the group of LEADER (-1: none), disabled. */
static int open_one(const struct pm_event *event, int leader)
{
	struct perf_event_attr attr = event->attr;

	attr.size = sizeof(attr);
	attr.disabled = 1;
	return pm_kernel_perf_event_open(&attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

/* Returns 0 if EVENT opens on the calling thread: a topdown metric behind SLOTS, all others alone.
 * The first error goes into FIRST. */
static int opens(const struct pm_event *event, const struct pm_event *slots,
		 struct pm_diag *first)
{
	int fd, leader = -1;

	if (event->exact)
		return 0;
	if (slots)
		leader = open_one(slots, -1);
	fd = slots && leader < 0 ? leader : open_one(event, leader);
	if (leader >= 0)
		pm_kernel_close(leader);
	if (fd < 0)
		return first->error ? fd : pm_diagnosis_open(first, fd, event, 0, -1);
	pm_kernel_close(fd);
	if (pm_event_mode_is_ignored(event))
		return first->error ? -EOPNOTSUPP
				    : pm_diagnosis_open(first, -EOPNOTSUPP, event, 0, -1);
	return 0;
}

/* Why auto leaves an event out. */
struct left_out {
	struct pm_diag first;
	bool mode; /* user mode cannot be counted without the kernel here */
};

/* Returns 0 if EVENT opens and can be read in user space, as auto requires. */
static int reads_fast(const struct pm_event *event, void *argument)
{
	union {
		struct pm_instance instance;
		char room[sizeof(struct pm_instance) + sizeof(struct pm_counter)];
	} one;
	struct left_out *left_out = argument;
	struct pm_diag *first = &left_out->first, diag = {0};
	int err = pm_instance_open(&one.instance, event, 1, 0, -1, PM_OPEN_USER_READ,
				   &diag);

	if (err < 0) {
		left_out->mode |= err == -EOPNOTSUPP && pm_event_mode_is_ignored(event);
		if (!first->error)
			*first = diag;
		return err;
	}
	err = 0;
	if (!one.instance.counters[0].user_read) {
		err = one.instance.counters[0].page_error ?: -EOPNOTSUPP;
		if (!first->error && diag.error)
			*first = diag;
		else if (!first->error)
			pm_diagnosis_user_read(first, event);
	}
	pm_instance_close(&one.instance);
	return err;
}

/* Returns whether ERROR is a lack of a resource that another thread may get. */
static bool passes(int error)
{
	switch (-error) {
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EBUSY:
	case ENOSPC:
	case EAGAIN:
	case EINTR:
		return true;
	default:
		return false;
	}
}

/* Opens the events of packages, which stand behind the live ones. */
static void open_packages(struct pm_region_plan *plan, struct pm_diag *diag)
{
	int *errors = &plan->errors[plan->live];
	const struct pm_options *options = &pm_regions.options;
	const char *why = NULL;

	if (options->stride_count || options->stride_auto > 0)
		why = "with PERFMON_STRIDE";
	if (plan->live && plan->list->events[0].exact)
		why = "by 'perfmon run --exact'";
	if (!why) {
		pm_package_open(errors, diag);
		return;
	}
	for (uint32_t i = 0; i < plan->packages; i++)
		errors[i] = -EOPNOTSUPP;
	if (!diag->error)
		pm_diag_set(diag, -EOPNOTSUPP,
			    "event '%s' counts for packages, which is not possible %s: "
			    "run the program again without it",
			    plan->list->events[plan->live].name, why);
}

/* Moves the events of packages behind all others, and returns their number. */
static uint32_t part_packages(struct pm_event *events, uint32_t count)
{
	struct pm_event apart[PERFMON_PROFILE_COUNTERS_MAX];
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].uncore)
			apart[n++] = events[i];
		else
			events[kept++] = events[i];
	}
	memcpy(&events[kept], apart, n * sizeof(*apart));
	return n;
}

/*
 * Moves the events that the kernel refuses behind those that may open. No thread opens
 * them again, and no visit tries to read them. Between the two stand the events of packages.
 * The plan's errors get the errno of each, by its new place.
 */
static void refuse(struct pm_region_plan *plan)
{
	struct pm_event refused[PERFMON_PROFILE_COUNTERS_MAX],
		*events = plan->list->events;
	int *errors = plan->errors;
	struct pm_diag diag = {0};
	uint32_t i, count = 0, threads;

	plan->packages = part_packages(events, plan->count);
	threads = plan->count - plan->packages;
	for (i = 0; i < threads; i++) {
		const struct pm_event *slots =
			events[i].topdown == PM_TOPDOWN_METRIC
				? pm_event_slots(events, threads, &events[i])
				: NULL;
		int err = opens(&events[i], slots, &diag);

		if (!err || passes(err)) {
			events[plan->live++] = events[i];
			continue;
		}
		errors[count] = err;
		refused[count++] = events[i];
	}
	memmove(&events[plan->live], &events[threads], plan->packages * sizeof(*events));
	threads = plan->live + plan->packages;
	memcpy(&events[threads], refused, count * sizeof(*refused));
	memmove(&errors[threads], errors, count * sizeof(*errors));
	if (plan->packages)
		open_packages(plan, &diag);
	if (diag.error)
		pm_profile_note(diag.text);
}

/* Copies to a text of a new record, which is all zero. */
#define COPY(to, from) memcpy(to, from, strnlen(from, sizeof(to) - 1))

/* Returns the flags of event I of PLAN that is counted for packages. */
static uint32_t package_flags(const struct pm_region_plan *plan, uint32_t i)
{
	if (i < plan->live || i >= plan->live + plan->packages)
		return 0;
	return PERFMON_PROFILE_COUNTER_PACKAGE |
	       (pm_package_is_machine(i) ? PERFMON_PROFILE_COUNTER_MACHINE : 0);
}

static void record_plan(struct pm_region_plan *plan)
{
	struct perfmon_profile_plan *record;
	uint32_t i;

	record = pm_profile_reserve(PERFMON_PROFILE_TYPE_PLAN,
				    sizeof(*record) +
					    plan->count * sizeof(record->counter[0]));
	if (!record) {
		plan->count = plan->live = 0;
		return;
	}
	record->generation = 1;
	record->counters = plan->count;
	record->time = plan->time;
	for (i = 0; i < plan->count; i++) {
		const struct pm_event *event = &plan->list->events[i];
		struct perfmon_profile_counter *counter = &record->counter[i];

		COPY(counter->name, event->name);
		COPY(counter->pmu, event->pmu);
		COPY(counter->unit, event->unit);
		counter->scale = event->scale;
		counter->type = event->attr.type;
		counter->config[0] = event->attr.config;
		counter->config[1] = event->attr.config1;
		counter->config[2] = event->attr.config2;
		counter->flags =
			(event->hardware ? PERFMON_PROFILE_COUNTER_HARDWARE : 0) |
			(pm_event_is_blind(event) ? PERFMON_PROFILE_COUNTER_KERNEL_ONLY
						  : 0) |
			(event->exact ? PERFMON_PROFILE_COUNTER_EXACT : 0) |
			package_flags(plan, i);
		counter->logical = event->logical;
		counter->cost = plan->cost[i];
		if (i >= plan->live && plan->errors[i]) {
			counter->error = plan->errors[i];
			counter->flags |= PERFMON_PROFILE_COUNTER_REFUSED;
		}
	}
	pm_profile_publish();
	plan->record = record;
	if (plan->live && plan->list->events[0].exact)
		pm_profile_totals(record);
	if (plan->packages)
		pm_package_begin();
}

void pm_region_plan_again(struct pm_region_plan *plan)
{
	struct pm_diag diag = {0};

	if (plan->packages)
		open_packages(plan, &diag);
	if (diag.error)
		pm_profile_note(diag.text);
	record_plan(plan);
}

#define EXACT "'perfmon run --exact' counts instructions on any machine"

/*
 * Selects the machine's default events that cost no system call. A note names why the
 * others were left out, and which events cost system calls: one group of events takes two
 * of them at BEGIN and two at END.
 */
static int make_auto(struct pm_region_plan *plan)
{
	struct left_out left_out = {.mode = false};
	const struct pm_diag *refused = &left_out.first;
	const char *why = refused->text, *set = "task-clock,page-faults";
	const char *price = " with 4 system calls a visit";
	bool shut = false;
	struct pm_diag diag = {0};
	char text[1200];
	int err;

	err = pm_events_auto(PM_EVENTS_USER_ONLY, reads_fast, &left_out, &plan->list,
			     &diag);
	if (!err && !refused->error)
		return 0;
	shut = refused->error && !left_out.mode && pm_diagnosis_is_shut();
	if (left_out.mode) {
		set = "instructions:uk,cycles:uk";
		price = "";
	} else if (refused->error == -ENOENT || refused->error == -ENODEV) {
		why = "this machine exposes no hardware counters, as most virtual "
		      "machines. 'perfmon info' says more";
	} else if (refused->error == -EOPNOTSUPP) {
		set = "instructions,cycles";
	}
	if (err)
		snprintf(text, sizeof(text), "no events are counted: %s", diag.text);
	else if (plan->list->count)
		snprintf(text, sizeof(text), "only %s is counted: %s",
			 plan->list->events[0].name, refused->text);
	else if (shut)
		snprintf(text, sizeof(text), "regions are timed only: %s. " EXACT, why);
	else
		snprintf(
			text, sizeof(text),
			"regions are timed only: %s. PERFMON_EVENTS=%s counts events%s%s",
			why, set, price, left_out.mode ? "" : ". " EXACT);
	pm_profile_note(text);
	return err;
}

/* Notes in the report why events that the user named lack the kernel's part. */
static void note_user_mode(const struct pm_region_plan *plan)
{
	struct pm_diag diag = {0};
	char what[300];

	for (size_t i = 0; i < plan->list->count && !diag.error; i++) {
		if (!plan->list->events[i].user_only)
			continue;
		snprintf(what, sizeof(what), "event '%s' counts only user mode",
			 plan->list->events[i].label);
		pm_diagnosis_user_mode(&diag, what);
		pm_profile_note(diag.text);
	}
}

/* Users of regions name topdown metrics, and mean their slots, too. */
static int parse(const char *text, struct pm_event_list **list, struct pm_diag *diag)
{
	int err = pm_events_parse(text, PM_EVENTS_USER_ONLY, list, diag);

	if (err)
		return err;
	err = pm_events_add_slots(*list, diag);
	if (err) {
		pm_events_free(*list);
		*list = NULL;
	}
	return err;
}

void pm_region_plan_make(struct pm_region_plan *plan, const struct pm_options *options)
{
	struct pm_diag diag = {0};
	char text[1200];
	int err = -ENOENT;
	uint32_t i;

	memset(plan, 0, sizeof(*plan));
	if (options->events_none)
		goto record;
	if (options->events)
		err = parse(options->events, &plan->list, &diag);
	if (options->events && err) {
		snprintf(text, sizeof(text),
			 "PERFMON_EVENTS: %s; counting the machine's default events "
			 "instead",
			 diag.text);
		pm_profile_note(text);
	}
	if (!err)
		note_user_mode(plan);
	if (err && make_auto(plan))
		goto record;
	while (plan->count < plan->list->count && !plan->list->events[plan->count].set)
		plan->count++;
	if (plan->count < plan->list->count) {
		snprintf(text, sizeof(text),
			 "PERFMON_EVENTS names %zu sets: regions count the first one",
			 plan->list->set_count);
		pm_profile_note(text);
	}
	if (plan->count > PERFMON_PROFILE_COUNTERS_MAX) {
		snprintf(text, sizeof(text),
			 "PERFMON_EVENTS needs %u counters: regions count the first %d",
			 plan->count, PERFMON_PROFILE_COUNTERS_MAX);
		pm_profile_note(text);
		plan->count = PERFMON_PROFILE_COUNTERS_MAX;
	}
	refuse(plan);
record:
	record_plan(plan);
	for (i = 0; i < plan->count; i++)
		pm_regions_debug("perfmon: counting %s on PMU %s",
				 plan->list->events[i].name, plan->list->events[i].pmu);
	if (!plan->count)
		pm_regions_debug("perfmon: counting no events, only time");
}
