/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks all sources of events for an event, and for all their names. */
#include <errno.h>
#include <string.h>

#include "core/events/internal.h"
#include "core/valgrind/exact.h"

#define PATTERN_MAX 255

#define SOURCE(name) &pm_source_##name,
static const struct pm_event_source *const sources[] = {PM_EVENT_SOURCES(SOURCE)};
#define SOURCES (sizeof(sources) / sizeof(sources[0]))

/* Lists the names of ONLY, or of all sources that list them for this pattern. */
static int list_sources(const struct pm_listing *listing,
			const struct pm_event_source *only)
{
	/* 'pmu::event' is a pattern for libpfm4's names */
	bool has_colon = strchr(listing->pattern, ':') && !strstr(listing->pattern, "::");
	int stop = 0;

	for (size_t i = 0; !stop && i < SOURCES; i++) {
		const struct pm_event_source *source = sources[i];

		/* Under the tool of exact/ nothing else can be counted. */
		if (pm_exact() && source != &pm_source_exact)
			continue;
		if (source->list &&
		    (only ? source == only : !source->keyword || has_colon))
			stop = source->list(listing);
	}
	return stop;
}

/* Offers each name of the listing as a suggestion. */
static int suggest(const struct perfmon_event_info *info, void *argument)
{
	struct pm_suggestion *suggestion = argument;
	const char *colons = strstr(info->name, "::");
	const char *slash = strchr(info->name, '/');
	char alias[128];

	if (info->source == PERFMON_EVENT_SOURCE_SYSFS && slash) {
		size_t n = strcspn(slash + 1, "/");

		if (n >= sizeof(alias))
			return 0;
		memcpy(alias, slash + 1, n);
		alias[n] = '\0';
		pm_suggestion_offer(suggestion, alias,
				    info->alias[0] ? alias : info->name);
		return 0;
	}
	pm_suggestion_offer(suggestion, colons ? colons + 2 : info->name, NULL);
	if (info->alias[0])
		pm_suggestion_offer(suggestion, info->alias, NULL);
	return 0;
}

static bool has_alias(const struct pm_sysfs *sysfs, struct pm_slice name)
{
	bool has = false;

	for (size_t i = 0; i < sysfs->count; i++)
		has |= sysfs->pmus[i].core && pm_sysfs_alias_find(&sysfs->pmus[i], name);
	return has;
}

/* Adds to DIAG, which reports NAME as unknown, which CPUs have it, if it is one of topdown. */
static void topdown_offer(struct pm_diag *diag, const struct pm_sysfs *sysfs,
			  struct pm_slice name, bool asks)
{
	if (!pm_slice_is(name, "slots") && !pm_slice_starts(name, "topdown-"))
		return;
	pm_diag_add(diag, "%s%s", asks ? " " : ". ",
		    has_alias(sysfs, pm_slice_of("slots"))
			    ? "Level 2 of topdown needs Intel's Sapphire Rapids or later"
			    : "Topdown needs an Intel CPU, Ice Lake or later, and most "
			      "virtual machines do not have it");
}

static int unknown(struct pm_resolve *r)
{
	struct pm_slice rest, head = pm_slice_cut(r->item, ':', &rest);
	struct pm_suggestion suggestion = {.wanted = head};
	struct pm_listing listing = {.pattern = "",
				     .sysfs = r->sysfs,
				     .visit = suggest,
				     .argument = &suggestion};
	struct pm_modifiers bad;

	/* No other source has such a name. */
	if (pm_pfm_prepare() && memmem(r->item.at, r->item.length, "::", 2))
		return pm_diag_set(r->diag, -ENOENT, "event '%s'%s is libpfm4's: %s",
				   PM_ITEM(r, r->item), pm_pfm_prepare());
	/* An error of the listing must not replace the error of the event. */
	list_sources(&listing, NULL);
	/* The text behind the ':' of an alias may have been unit masks of libpfm4, and is not. */
	if (rest.at && has_alias(r->sysfs, head))
		return pm_resolve_modifiers(r, rest, &bad) ?: -EINVAL;
	pm_diag_set(r->diag, -EINVAL, "unknown event '%s'%s", pm_slice_quote(head).text,
		    pm_resolve_where(r, r->item).text);
	if (suggestion.best[0])
		pm_diag_add(r->diag, ": did you mean '%s'?", suggestion.best);
	else
		pm_diag_add(r->diag, ": the kernel%s have no similar name",
			    pm_pfm_prepare() ? " and sysfs" : ", sysfs and libpfm4");
	topdown_offer(r->diag, r->sysfs, head, suggestion.best[0]);
	pm_exact_offer(r->diag, head);
	if (pm_pfm_prepare())
		pm_diag_add(r->diag, "; %s", pm_pfm_prepare());
	return -EINVAL;
}

int pm_resolve(struct pm_resolve *r)
{
	r->first = r->list->count;
	r->renamed = false;
	for (size_t i = 0; i < SOURCES; i++) {
		int err = sources[i]->resolve(r);

		if (err == -ENOMEM)
			return pm_diag_set(r->diag, err, "no memory for event '%s'",
					   pm_slice_quote(r->item).text);
		if (err != PM_RESOLVE_NOT_MINE)
			return err;
	}
	return unknown(r);
}

int pm_events_list(const char *pattern, unsigned int flags,
		   int (*visit)(const struct perfmon_event_info *info, void *argument),
		   void *argument, struct pm_diag *diag)
{
	struct pm_listing listing = {.flags = flags,
				     .pattern = pattern ? pattern : "",
				     .visit = visit,
				     .argument = argument,
				     .diag = diag};
	const struct pm_event_source *only = NULL;
	int stop;

	if (!visit || flags & ~(PERFMON_EVENT_ALL_PMUS | PERFMON_EVENT_UMASKS))
		return pm_diag_set(diag, -EINVAL,
				   visit ? "an unknown flag" : "visit is NULL");
	if (strlen(listing.pattern) > PATTERN_MAX)
		return pm_diag_set(diag, -E2BIG,
				   "the pattern '%.40s...' is longer than %d characters",
				   listing.pattern, PATTERN_MAX);
	pm_diag_clear(diag);
	stop = pm_sysfs_load(&listing.sysfs);
	if (stop)
		return pm_diag_set(diag, stop,
				   "cannot read the machine's PMUs below /sys (%s)",
				   strerror(-stop));
	for (size_t i = 0; i < SOURCES; i++)
		if (sources[i]->keyword &&
		    pm_slice_is(pm_slice_of(listing.pattern), sources[i]->keyword))
			only = sources[i];
	if (only)
		listing.pattern = "";
	stop = list_sources(&listing, only);
	pm_sysfs_free(listing.sysfs);
	if (!stop && !only && pm_pfm_prepare())
		pm_diag_set(diag, 0, "libpfm4's events are not listed: %s",
			    pm_pfm_prepare());
	return stop;
}
