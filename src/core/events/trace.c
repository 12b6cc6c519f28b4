/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's events that have places rather than codes: tracepoints (by their id in
 * tracefs) and breakpoints (by address). */
#include "core/events/internal.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"

static const char *const tracefs[] = {"/sys/kernel/tracing/events",
				      "/sys/kernel/debug/tracing/events"};

static int resolve_breakpoint(struct pm_resolve *r)
{
	struct pm_slice place, length, access, modifiers, rest;
	uint64_t address, bytes;
	struct pm_encoding encoding = {.type = PERF_TYPE_BREAKPOINT,
				       .pmu = "breakpoint",
				       .bp_type = HW_BREAKPOINT_RW};
	char label[80];
	int err;

	if (!pm_slice_starts(r->item, "mem:"))
		return PM_RESOLVE_NOT_MINE;
	pm_slice_cut(r->item, ':', &place);
	place = pm_slice_cut(place, ':', &rest);
	access = pm_slice_cut(rest, ':', &modifiers);
	place = pm_slice_cut(place, '/', &length);
	err = pm_slice_number(place, &address);
	if (err)
		return pm_diag_set(r->diag, err,
				   "'%s' in '%s'%s is not an address: write "
				   "mem:ADDRESS[/LENGTH][:rwx]",
				   pm_slice_quote(place).text, PM_ITEM(r, place));
	if (rest.at && access.length && strspn(access.at, "rwx") >= access.length) {
		encoding.bp_type = 0;
		for (size_t i = 0; i < access.length; i++) {
			uint32_t bit = access.at[i] == 'r'   ? HW_BREAKPOINT_R
				       : access.at[i] == 'w' ? HW_BREAKPOINT_W
							     : HW_BREAKPOINT_X;

			if (encoding.bp_type & bit)
				return pm_diag_set(r->diag, -EINVAL,
						   "'%c' twice in '%s'%s", access.at[i],
						   PM_ITEM(r, access));
			encoding.bp_type |= bit;
		}
	} else if (rest.at) {
		/* without access, only modifiers: mem:0x1000:u */
		modifiers = rest;
	}
	bytes = encoding.bp_type == HW_BREAKPOINT_X ? sizeof(long) : 4;
	if (length.at && (pm_slice_number(length, &bytes) || !bytes || bytes > 8))
		return pm_diag_set(r->diag, -ERANGE,
				   "length '%s' in '%s'%s: expects 1 to 8 bytes",
				   pm_slice_quote(length).text, PM_ITEM(r, length));
	/* bp_addr and bp_len share their memory with config1 and config2 */
	encoding.config[1] = address;
	encoding.config[2] = bytes;
	snprintf(label, sizeof(label), "mem:0x%llx/%llu:%s%s%s",
		 (unsigned long long)address, (unsigned long long)bytes,
		 encoding.bp_type & HW_BREAKPOINT_R ? "r" : "",
		 encoding.bp_type & HW_BREAKPOINT_W ? "w" : "",
		 encoding.bp_type & HW_BREAKPOINT_X ? "x" : "");
	return pm_resolve_single(r, &encoding, label, modifiers);
}

static bool is_name(struct pm_slice name)
{
	for (size_t i = 0; i < name.length; i++) {
		char c = pm_char_lower(name.at[i]);

		if (!pm_char_is_digit(c) && (c < 'a' || c > 'z') && !strchr("_-.", c))
			return false;
	}
	return name.length && name.length < 128 && name.at[0] != '.';
}

/*
 * Appends to PATH its directory entry NAME, without regard to case unless an entry has
 * the same case. Returns 0, -ENOENT (no entry), or the kernel's error.
 */
static int descend(char *path, size_t size, struct pm_slice name)
{
	const char *found = NULL;
	char **entries;
	size_t count;
	int err = pm_dir_list(path, &entries, &count);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		if (!pm_slice_is(name, entries[i]))
			continue;
		if (!found || !strncmp(entries[i], name.at, name.length))
			found = entries[i];
	}
	if (!found)
		err = -ENOENT;
	else if (snprintf(path + strlen(path), size - strlen(path), "/%s", found) >=
		 (int)(size - strlen(path)))
		err = -ENAMETOOLONG;
	free(entries);
	return err;
}

/* Finds a tracefs that this user may read. */
static int tracefs_find(char *path, size_t size)
{
	int err = -ENOENT;

	for (size_t i = 0; i < sizeof(tracefs) / sizeof(tracefs[0]); i++) {
		char **entries;
		size_t count;
		int this_err = pm_dir_list(tracefs[i], &entries, &count);

		if (!this_err) {
			free(entries);
			snprintf(path, size, "%s", tracefs[i]);
			return 0;
		}
		if (err == -ENOENT)
			err = this_err;
	}
	return err;
}

static int tracepoint_unknown(struct pm_resolve *r, int err, bool system_known,
			      struct pm_slice system, struct pm_slice event,
			      const char *path)
{
	struct pm_suggestion suggestion = {.wanted = event};
	char **entries;
	size_t count;

	if (err != -ENOENT)
		return pm_diag_set(
			r->diag, err,
			"tracepoint '%s'%s: this user cannot read tracefs: ask root for "
			"access (chmod a+rx, or mount with a gid)",
			PM_ITEM(r, r->item));
	/* 'instrctions:u' is a misspelt event with a modifier rather than a tracepoint */
	if (!system_known)
		return PM_RESOLVE_NOT_MINE;
	if (!pm_dir_list(path, &entries, &count)) {
		for (size_t i = 0; i < count; i++)
			pm_suggestion_offer(&suggestion, entries[i], NULL);
		free(entries);
	}
	pm_diag_set(r->diag, -EINVAL, "no tracepoint '%s' in '%s'%s",
		    pm_slice_quote(event).text, pm_slice_quote(system).text,
		    pm_resolve_where(r, r->item).text);
	if (suggestion.best[0])
		pm_diag_add(r->diag, ": did you mean '%s'?", suggestion.best);
	return -EINVAL;
}

static int resolve_tracepoint(struct pm_resolve *r)
{
	struct pm_slice rest, event, modifiers,
		system = pm_slice_cut(r->item, ':', &rest);
	struct pm_encoding encoding = {.type = PERF_TYPE_TRACEPOINT, .pmu = "tracepoint"};
	char path[512], label[512], *slash;
	struct pm_modifiers ignored;
	const char *bad;
	int64_t id;
	int err;

	event = pm_slice_cut(rest, ':', &modifiers);
	if (!rest.at || !is_name(system) || !is_name(event))
		return PM_RESOLVE_NOT_MINE;
	err = tracefs_find(path, sizeof(path));
	if (err) {
		if (!pm_modifiers_parse(rest, &ignored, &bad))
			return PM_RESOLVE_NOT_MINE;
		if (err != -ENOENT)
			return tracepoint_unknown(r, err, false, system, event, path);
		return pm_diag_set(
			r->diag, err,
			"'%s'%s is not an event of libpfm4, and tracefs is not mounted "
			"for tracepoints: mount -t tracefs none /sys/kernel/tracing",
			PM_ITEM(r, r->item));
	}
	err = descend(path, sizeof(path), system);
	if (err)
		return tracepoint_unknown(r, err, false, system, event, path);
	err = descend(path, sizeof(path), event);
	if (err)
		return tracepoint_unknown(r, err, true, system, event, path);
	/* PATH is .../SYSTEM/EVENT, in the spelling of tracefs */
	slash = strrchr(path, '/');
	*slash = '\0';
	snprintf(label, sizeof(label), "%s:%s", strrchr(path, '/') + 1, slash + 1);
	*slash = '/';
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/id");
	err = pm_file_number(path, &id);
	if (err == -ENOENT)
		return tracepoint_unknown(r, err, false, system, event, path);
	if (err || id < 0)
		return pm_diag_set(r->diag, err ? err : -EINVAL,
				   "cannot read the id of '%s' in %s",
				   pm_slice_quote(r->item).text, path);
	encoding.config[0] = (uint64_t)id;
	return pm_resolve_single(r, &encoding, label, modifiers);
}

/* Lists the tracepoints of one system, whose folder is PATH. */
static int list_system(const struct pm_listing *listing, const char *path,
		       const char *system)
{
	char **events;
	size_t count;
	int err = pm_dir_list(path, &events, &count);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; !err && i < count; i++) {
		struct perfmon_event_info info = {.pmu = "tracepoint",
						  .source =
							  PERFMON_EVENT_SOURCE_TRACEPOINT,
						  .is_present = 1};
		char *name;

		if (!strcmp(events[i], "enable") || !strcmp(events[i], "filter"))
			continue;
		name = pm_text_print("%s:%s", system, events[i]);
		if (!name) {
			err = -ENOMEM;
			break;
		}
		info.name = name;
		err = pm_listing_offer(listing, &info);
		free(name);
	}
	free(events);
	return err;
}

static int list(const struct pm_listing *listing)
{
	char root[64], path[512], **systems;
	size_t count;
	int err = tracefs_find(root, sizeof(root));

	if (!err)
		err = pm_dir_list(root, &systems, &count);
	if (err)
		return pm_diag_set(listing->diag, err,
				   err == -ENOENT ? "tracefs is not mounted: mount -t "
						    "tracefs none /sys/kernel/tracing"
						  : "this user cannot read tracefs");
	for (size_t i = 0; !err && i < count; i++) {
		/* the files beside the systems: enable, header_event, header_page */
		if (!strcmp(systems[i], "enable") || !strncmp(systems[i], "header_", 7))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", root, systems[i]) <
		    (int)sizeof(path))
			err = list_system(listing, path, systems[i]);
	}
	free(systems);
	return err;
}

const struct pm_event_source pm_source_breakpoint = {.resolve = resolve_breakpoint};
const struct pm_event_source pm_source_tracepoint = {
	.resolve = resolve_tracepoint, .list = list, .keyword = "tracepoint"};
