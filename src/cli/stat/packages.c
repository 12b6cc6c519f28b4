/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/stat/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Collects the events. Returns 0, -ENOMEM or -E2BIG. */
static int collect(struct stat_packages *packages, const struct stat_events *events)
{
	const struct pm_event_list *list = events->list;

	packages->count = 0;
	packages->events = calloc(PM_PACKAGES_MAX, sizeof(packages->events[0]));
	if (!packages->events)
		return -ENOMEM;
	for (size_t i = 0; list && i < list->count; i++) {
		if (!list->events[i].uncore)
			continue;
		if (packages->count == PM_PACKAGES_MAX)
			return -E2BIG;
		packages->of[packages->count] = (uint32_t)list->events[i].logical;
		packages->events[packages->count++] = list->events[i];
	}
	return 0;
}

int stat_packages_start(struct stat_packages *packages, const struct stat_events *events,
			struct pm_diag *diag)
{
	int err = collect(packages, events);

	if (err == -E2BIG)
		return pm_diag_set(
			diag, err,
			"more than %d events of packages: count fewer, or use -C all",
			PM_PACKAGES_MAX);
	if (!err && packages->count)
		err = pm_packages_open(&packages->open, packages->events, packages->count,
				       packages->errors, NULL);
	if (err < 0)
		return pm_diag_set(diag, err, "cannot count for packages: %s",
				   strerror(-err));
	if (!packages->open)
		return 0;
	pm_packages_place(packages->open, packages->place, sizeof(packages->place));
	pm_packages_read(packages->open, &packages->begin);
	return 0;
}

void stat_packages_end(struct stat_packages *packages)
{
	struct pm_packages_use use;

	if (packages->open) {
		pm_packages_use(packages->open, &use);
		packages->busy_ns += use.busy_ns;
	}
	pm_packages_close(packages->open);
	packages->open = NULL;
	free(packages->events);
	packages->events = NULL;
}

bool stat_packages_has(const struct stat_packages *packages, uint32_t i, int *error)
{
	bool has = false;

	for (uint32_t k = 0; k < packages->count; k++) {
		if (packages->of[k] != i)
			continue;
		*error = has && *error ? *error : packages->errors[k];
		has = true;
	}
	return has;
}

static uint64_t at_least_0(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Adds kernel event K to VALUE. The time is the same for all. */
static void add(const struct stat_packages *packages, uint32_t k,
		struct perfmon_value *value)
{
	const struct pm_packages_reading *begin = &packages->begin, *now = &packages->now;
	uint64_t passed = at_least_0(now->ns, begin->ns);
	uint64_t lost = at_least_0(now->event[k].lost_ns, begin->event[k].lost_ns);

	value->value += at_least_0(now->event[k].value, begin->event[k].value);
	value->enabled_ns += passed;
	value->running_ns += at_least_0(passed, lost);
	if (!(now->valid >> k & 1) || packages->errors[k])
		value->status = PERFMON_VALUE_NEVER_OPENED;
}

void stat_packages_read(struct stat_packages *packages, struct perfmon_value *values)
{
	if (!packages->open)
		return;
	pm_packages_read(packages->open, &packages->now);
	for (uint32_t k = 0; k < packages->count; k++)
		values[packages->of[k]] =
			(struct perfmon_value){.index = packages->of[k]};
	for (uint32_t k = 0; k < packages->count; k++)
		add(packages, k, &values[packages->of[k]]);
	/* A counter that has not moved since has not counted: no package uses no energy. */
	for (uint32_t k = 0; k < packages->count; k++)
		if (pm_packages_is_energy(packages->events[k].unit) &&
		    !values[packages->of[k]].value)
			values[packages->of[k]].running_ns = 0;
}

void stat_packages_note(const struct stat_packages *packages,
			const struct stat_events *events, uint64_t own_ns,
			const struct cli_notes *to)
{
	const struct stat_event *first = NULL;
	bool machine = true;
	char who[96];
	int error = 0;

	for (uint32_t i = 0; i < events->count; i++) {
		if (!stat_packages_has(packages, i, &error) || error)
			continue;
		first = first ? first : &events->events[i];
		machine &= pm_packages_is_machine(events->events[i].label) ||
			   !packages->place[0];
	}
	if (!first)
		return;
	pm_packages_who_text(
		pm_packages_who(machine, own_ns, own_ns ? packages->busy_ns : 0), own_ns,
		packages->busy_ns, who, sizeof(who));
	cli_note(to, "'%s' counts what all processes do on %s: %s%s", first->label,
		 machine ? "the machine" : packages->place, who,
		 pm_packages_is_energy(first->event->unit)
			 ? "; the counter moves about every 1 ms"
			 : "");
}
