/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events that the tool of exact/ counts by translation (arch/exact.h): exact::NAME, and
 * under the tool the bare NAME, too. Under the tool this source answers for every text,
 * because the kernel's events would count the translator.
 */
#include "core/events/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/valgrind/exact.h"

#define PREFIX "exact::"

struct exact {
	const char *name; /* with the prefix */
	const char *text;
};

static const struct exact exacts[] = {
#define EXACT(event, name, text) {PREFIX name, text},
	PM_EXACT_EVENTS(EXACT)
#undef EXACT
};

static const char *bare(uint32_t event)
{
	return exacts[event].name + strlen(PREFIX);
}

/* The names of the events that this run counts, or of ALL events. Commas and SPACE
 * separate them. */
struct names {
	char text[512];
};

static struct names names_of(bool all, const char *space, bool prefixed)
{
	struct names names = {""};
	size_t used = 0;

	for (uint32_t i = 0; i < PM_EXACT_EVENT_COUNT; i++)
		if ((all || pm_exact_counts(i)) && used < sizeof(names.text))
			used += (size_t)snprintf(names.text + used,
						 sizeof(names.text) - used, "%s%s%s",
						 used ? "," : "", used ? space : "",
						 prefixed ? exacts[i].name : bare(i));
	return names;
}

/* Finds the event of NAME, with or without the prefix. PM_EXACT_EVENT_COUNT: there is
 * none. */
static uint32_t find(struct pm_slice name)
{
	uint32_t i = 0;

	while (i < PM_EXACT_EVENT_COUNT && !pm_slice_is(name, exacts[i].name) &&
	       !pm_slice_is(name, bare(i)))
		i++;
	return i;
}

static int unknown(struct pm_resolve *r, struct pm_slice name)
{
	struct pm_suggestion suggestion = {.wanted = name};

	for (uint32_t i = 0; i < PM_EXACT_EVENT_COUNT; i++)
		pm_suggestion_offer(
			&suggestion,
			pm_slice_starts(name, PREFIX) ? exacts[i].name : bare(i), NULL);
	if (pm_slice_starts(name, PREFIX))
		pm_diag_set(r->diag, -EINVAL, "unknown event '%s'%s",
			    pm_slice_quote(name).text, pm_resolve_where(r, r->item).text);
	else
		pm_diag_set(r->diag, -ENOENT,
			    "event '%s'%s cannot be counted under 'perfmon run --exact': "
			    "the kernel and the CPU would count the translator as well",
			    pm_slice_quote(name).text, pm_resolve_where(r, r->item).text);
	if (suggestion.best[0])
		pm_diag_add(r->diag, ": did you mean '%s'?", suggestion.best);
	else
		pm_diag_add(r->diag, "; use one of %s", names_of(true, " ", false).text);
	return pm_slice_starts(name, PREFIX) ? -EINVAL : -ENOENT;
}

/* Checks MODIFIERS: exact events count user mode, so `u` changes nothing and others
 * fail. */
static int check_modifiers(struct pm_resolve *r, struct pm_slice modifiers)
{
	struct pm_modifiers own, none = {0};
	int err = pm_resolve_modifiers(r, modifiers, &own);

	if (err)
		return err;
	pm_modifiers_add(&own, &r->inherited);
	own.user = false;
	if (!memcmp(&own, &none, sizeof(own)))
		return 0;
	return pm_diag_set(
		r->diag, -EINVAL,
		"event '%s'%s has a modifier other than u: exact events count user mode",
		PM_ITEM(r, modifiers.at ? modifiers : r->item));
}

static int add(struct pm_resolve *r, uint32_t event)
{
	const struct pm_encoding encoding = {.type = PM_EVENT_TYPE_EXACT,
					     .config = {event},
					     .pmu = "exact",
					     .exact = true};
	const struct pm_modifiers none = {0}, inherited = r->inherited;
	int err = pm_resolve_add(r, &encoding, strdup(exacts[event].name));

	if (err)
		return err;
	r->inherited = none;
	err = pm_resolve_finish_with(r, exacts[event].name, &none);
	r->inherited = inherited;
	return err;
}

static int resolve(struct pm_resolve *r)
{
	struct pm_slice name = r->item, modifiers = {NULL, 0};
	size_t prefix = pm_slice_starts(name, PREFIX) ? strlen(PREFIX) : 0;
	uint32_t event;
	int err;

	if (!prefix && !pm_exact())
		return PM_RESOLVE_NOT_MINE;
	pm_slice_cut((struct pm_slice){name.at + prefix, name.length - prefix}, ':',
		     &modifiers);
	if (modifiers.at)
		name.length = (size_t)(modifiers.at - name.at) - 1;
	event = find(name);
	if (event == PM_EXACT_EVENT_COUNT)
		return unknown(r, name);
	if (!pm_exact())
		return pm_diag_set(r->diag, -ENOENT,
				   "event '%s'%s is counted by translation: run the "
				   "program by 'perfmon run --exact -e %s'",
				   pm_slice_quote(name).text,
				   pm_resolve_where(r, r->item).text, bare(event));
	if (!pm_exact_counts(event))
		return pm_diag_set(r->diag, -ENOENT,
				   "event '%s'%s is not counted in this run: use "
				   "'perfmon run --exact -e %s%s%s'",
				   pm_slice_quote(name).text,
				   pm_resolve_where(r, r->item).text,
				   names_of(false, "", false).text,
				   pm_exact()->counted ? "," : "", bare(event));
	err = check_modifiers(r, modifiers);
	return err ?: add(r, event);
}

static int list(const struct pm_listing *listing)
{
	int stop = 0;

	if (!pm_exact() && !(listing->flags & PERFMON_EVENT_ALL_PMUS) &&
	    !pm_slice_starts(pm_slice_of(listing->pattern ? listing->pattern : ""),
			     "exact"))
		return 0;
	for (uint32_t i = 0; !stop && i < PM_EXACT_EVENT_COUNT; i++) {
		char text[160];
		struct perfmon_event_info info = {
			.name = exacts[i].name,
			.alias = pm_exact() ? bare(i) : "",
			.pmu = "exact",
			.description = text,
			.source = PERFMON_EVENT_SOURCE_EXACT,
			.is_present = pm_exact_counts(i),
		};

		snprintf(text, sizeof(text), "%s%s", exacts[i].text,
			 info.is_present ? ""
			 : pm_exact()	 ? " (not counted in this run: add it to -e)"
					 : " (perfmon run --exact)");
		stop = pm_listing_offer(listing, &info);
	}
	return stop;
}

const struct pm_event_source pm_source_exact = {.resolve = resolve, .list = list};

char *pm_exact_names(void)
{
	return strdup(names_of(false, "", true).text);
}

void pm_exact_offer(struct pm_diag *diag, struct pm_slice name)
{
	if (!pm_exact() && find(name) != PM_EXACT_EVENT_COUNT)
		pm_diag_add(diag, "; 'perfmon run --exact' and 'perfmon stat --exact' "
				  "count it on any machine");
}
