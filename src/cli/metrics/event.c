/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events by the names of perf's expressions. */
#include "cli/metrics/event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/events/events.h"
#include "core/named/named.h"
#include "core/text/text.h"

#define TEXT_MOST 1024

/* A text that grows by terms. */
struct terms {
	char text[TEXT_MOST];
	size_t used;
	bool full;
};

static void put(struct terms *to, struct pm_slice part)
{
	if (to->used + part.length >= sizeof(to->text)) {
		to->full = true;
		return;
	}
	memcpy(to->text + to->used, part.at, part.length);
	to->used += part.length;
	to->text[to->used] = '\0';
}

static void put_term(struct terms *to, struct pm_slice term)
{
	if (to->used)
		put(to, pm_slice_of(","));
	put(to, term);
}

/* Returns whether TERMS give a value to the key of TERM, too. */
static bool gives(struct pm_slice terms, struct pm_slice term)
{
	struct pm_slice key = pm_slice_cut(term, '=', NULL);

	while (terms.at) {
		struct pm_slice other =
			pm_slice_cut(pm_slice_cut(terms, ',', &terms), '=', NULL);

		if (other.length == key.length && !memcmp(other.at, key.at, key.length))
			return true;
	}
	return false;
}

/* Puts the terms of ENCODING, "pmu/terms/", but its sampling period and what LATER gives. */
static void put_encoding(struct terms *to, const char *encoding, struct pm_slice later)
{
	struct pm_slice rest;

	pm_slice_cut(pm_slice_of(encoding), '/', &rest);
	rest = pm_slice_cut(rest, '/', NULL);
	while (rest.at) {
		struct pm_slice term = pm_slice_cut(rest, ',', &rest);

		if (term.length && !pm_slice_starts(term, "period=") &&
		    !gives(later, term))
			put_term(to, term);
	}
}

/* Puts "pmu/terms/modifiers". */
static void put_event(struct terms *to, struct pm_slice pmu, const struct terms *inner,
		      struct pm_slice modifiers)
{
	put(to, pmu);
	put(to, pm_slice_of("/"));
	put(to, pm_slice_of(inner->text));
	put(to, pm_slice_of("/"));
	if (modifiers.length)
		put(to, modifiers);
	to->full |= inner->full;
}

/* "pmu/EVENT,term=value/modifiers", in which perf knows EVENT, in the PMU's own terms. */
static void encode_terms(const struct metric_definitions *all, struct pm_slice name,
			 struct terms *to)
{
	struct pm_slice rest, pmu = pm_slice_cut(name, '/', &rest), modifiers;
	struct pm_slice all_terms = pm_slice_cut(rest, '/', &modifiers);
	struct terms inner = {.used = 0};

	for (struct pm_slice left = all_terms; left.at;) {
		struct pm_slice term = pm_slice_cut(left, ',', &left);
		const char *encoding =
			memchr(term.at, '=', term.length)
				? NULL
				: metric_encoding_find(all, term.at, term.length);

		if (encoding)
			put_encoding(&inner, encoding, left);
		else
			put_term(&inner, term);
	}
	put_event(to, pmu, &inner, modifiers);
}

/* Writes what the events of this project call NAME. */
static void encode(const struct metric_definitions *all, const char *name,
		   struct terms *to)
{
	struct pm_slice modifiers,
		base = pm_slice_cut(pm_slice_of(name), ':', &modifiers);
	const char *encoding = metric_encoding_find(all, base.at, base.length);
	struct terms inner = {.used = 0};

	if (strchr(name, '/')) {
		encode_terms(all, pm_slice_of(name), to);
	} else if (encoding) {
		put_encoding(&inner, encoding, (struct pm_slice){NULL, 0});
		put_event(to, pm_slice_cut(pm_slice_of(encoding), '/', NULL), &inner,
			  modifiers);
	} else {
		put(to, pm_slice_of(name));
	}
}

/* Returns whether TEXT has modifiers of its own. */
static bool has_modifiers(const char *text)
{
	const char *slash = strrchr(text, '/'), *colon = strrchr(text, ':');

	return slash ? slash[1] != '\0'
		     : colon && strspn(colon + 1, "ukhpPDSIGHW") == strlen(colon + 1);
}

/* Cuts the modes off the name of a report, as those of the expression are. */
static void cut_modes(char *name)
{
	char *end = strrchr(name, '/');

	end = end ? end + 1 : strrchr(name, ':');
	if (end)
		*end = '\0';
}

int metric_event_find(const struct metric_definitions *all, const char *name,
		      struct metric_event *event, struct pm_diag *diag)
{
	struct terms text = {.used = 0};
	struct pm_event_list *list;
	int err;

	encode(all, name, &text);
	if (text.full)
		return pm_diag_set(diag, -E2BIG, "event '%s' has too many terms",
				   pm_slice_quote(pm_slice_of(name)).text);
	err = pm_events_parse(text.text, PM_EVENTS_USER_ONLY, &list, diag);
	if (err)
		return err;
	event->text = strdup(text.text);
	/* Several PMUs count one event: then its own text means their sum. */
	event->name = strdup(list->count > 1 ? text.text : list->events[0].name);
	event->units = (uint32_t)list->count;
	pm_events_free(list);
	if (!event->text || !event->name)
		return pm_diag_set(diag, -ENOMEM, "no memory for an event");
	if (event->units == 1 && !has_modifiers(event->text) &&
	    has_modifiers(event->name))
		cut_modes(event->name);
	return 0;
}

int metric_event_try(const struct metric_event *event, struct pm_diag *diag)
{
	struct pm_event_list *list;
	int err = pm_events_parse(event->text, PM_EVENTS_USER_ONLY, &list, diag);

	if (err)
		return err;
	for (size_t i = 0; !err && i < list->count; i++)
		err = pm_named_try(&list->events[i], diag);
	pm_events_free(list);
	return err;
}
