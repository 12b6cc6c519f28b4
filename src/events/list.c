/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The catalogue: which events are there whose names match a pattern. */
#include "events/events.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "events/internal.h"

#define PATTERN_MAX 255

static bool contains(const char *name, const char *part)
{
	struct pm_slice rest = pm_slice_of(name);

	for (;; rest.at++, rest.length--) {
		if (pm_slice_starts(rest, part))
			return true;
		if (!rest.length)
			return false;
	}
}

static bool matches(const char *name, const char *pattern)
{
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
	return contains(name, pattern);
}

int pm_listing_offer(const struct pm_listing *listing, struct perfmon_event_info *info)
{
	info->size = sizeof(*info);
	info->alias = info->alias ? info->alias : "";
	info->description = info->description ? info->description : "";
	info->unit = info->unit ? info->unit : "";
	if (!matches(info->name, listing->pattern) &&
	    (!*info->alias || !matches(info->alias, listing->pattern)))
		return 0;
	return listing->visit(info, listing->argument);
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
	bool all_tracepoints = pm_slice_is(pm_slice_of(listing.pattern), "tracepoint");
	int stop;

	if (!visit || flags & ~(PERFMON_EVENT_ALL_PMUS | PERFMON_EVENT_UMASKS))
		return pm_diag_set(diag, -EINVAL,
				   visit ? "an unknown flag" : "no visitor");
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
	if (!all_tracepoints) {
		stop = pm_list_generic(&listing);
		if (!stop)
			stop = pm_list_sysfs(&listing);
		if (!stop)
			stop = pm_list_pfm(&listing);
	}
	/* 'pmu::event' looks for libpfm4's; a tracepoint has one ':' */
	if (!stop && (all_tracepoints ||
		      (strchr(listing.pattern, ':') && !strstr(listing.pattern, "::")))) {
		if (all_tracepoints)
			listing.pattern = "";
		stop = pm_list_tracepoints(&listing);
	}
	pm_sysfs_free(listing.sysfs);
	return stop;
}
