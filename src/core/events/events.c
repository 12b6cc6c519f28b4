/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The grammar of event lists (sets, groups, events) and the resulting list. */
#include "core/events/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/events/internal.h"
#include "core/valgrind/exact.h"

static void event_clear(struct pm_event *event)
{
	free(event->name);
	free(event->label);
	free(event->pmu);
	free(event->cpus);
}

void pm_events_free(struct pm_event_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->count; i++)
		event_clear(&list->events[i]);
	free(list->events);
	free(list);
}

static const char *skip_blanks(const char *p)
{
	while (pm_char_is_blank(*p))
		p++;
	return p;
}

/*
 * Finds the end of the event that begins at P: a separator or brace outside of pmu/.../.
 * A breakpoint's '/' is not a bracket. *UNCLOSED gets a '/' without its partner, or NULL.
 */
static const char *event_end(const char *p, const char **unclosed)
{
	bool bracket = !pm_slice_starts((struct pm_slice){p, strnlen(p, 4)}, "mem:");

	*unclosed = NULL;
	for (; *p; p++) {
		if (*p == '/' && bracket)
			*unclosed = *unclosed ? NULL : p;
		else if (!*unclosed && strchr(",;{}", *p))
			break;
		else if (*unclosed && (*p == ';' || *p == '\n'))
			break;
	}
	return p;
}

static int error_at(struct pm_resolve *r, const char *p, const char *what)
{
	if (!*p)
		return pm_diag_set(r->diag, -EINVAL, "%s at the end of '%s'", what,
				   pm_slice_quote(r->text).text);
	return pm_diag_set(r->diag, -EINVAL, "%s at character %zu of '%s'", what,
			   (size_t)(p - r->text.at) + 1, pm_slice_quote(r->text).text);
}

/* Parses one event at *P, and moves *P to the separator after it. */
static int parse_event(struct pm_resolve *r, const char **p)
{
	const char *unclosed, *end;
	struct pm_slice item;

	*p = skip_blanks(*p);
	end = event_end(*p, &unclosed);
	if (unclosed)
		return error_at(r, unclosed, "'/' without the closing '/'");
	item = pm_slice_trim((struct pm_slice){*p, (size_t)(end - *p)});
	if (!item.length)
		return error_at(r, end, "an event is missing");
	for (size_t i = 0; i < item.length; i++)
		if (item.at[i] < '!' || item.at[i] > '~')
			return error_at(
				r, item.at + i,
				"a space or a character not allowed in event names");
	r->item = item;
	*p = end;
	return pm_resolve(r);
}

/* Parses the modifiers after the '}' of the group whose content begins at P. */
static int group_modifiers(struct pm_resolve *r, const char *p, struct pm_modifiers *out)
{
	const char *open = p - 1, *unclosed, *end;
	struct pm_slice text;

	for (;; p++) {
		p = skip_blanks(p);
		p = event_end(p, &unclosed);
		if (*p == '{')
			return error_at(r, p, "'{' inside a group");
		if (*p != ',')
			break;
	}
	if (*p != '}')
		return error_at(r, open, "'{' without its '}'");
	memset(out, 0, sizeof(*out));
	p = skip_blanks(p + 1);
	end = p + strcspn(p, ",;{}");
	text = pm_slice_trim((struct pm_slice){p, (size_t)(end - p)});
	if (!text.length)
		return 0;
	r->item = text;
	if (*text.at == ':') {
		text.at++;
		text.length--;
	}
	return pm_resolve_modifiers(r, text, out);
}

static int parse_group(struct pm_resolve *r, const char **p)
{
	int err = group_modifiers(r, ++*p, &r->inherited);

	r->grouped = true;
	r->leads = true;
	while (!err) {
		err = parse_event(r, p);
		r->leads = false;
		if (err || **p != ',')
			break;
		++*p;
	}
	if (!err) {
		/* group_modifiers() has found the '}' */
		++*p;
		*p += strcspn(*p, ",;{}");
	}
	r->grouped = false;
	memset(&r->inherited, 0, sizeof(r->inherited));
	return err;
}

static int parse_list(struct pm_resolve *r)
{
	const char *p = r->text.at;
	int err;

	for (;; p++) {
		p = skip_blanks(p);
		r->leads = true;
		if (*p == '{')
			err = parse_group(r, &p);
		else
			err = parse_event(r, &p);
		if (err)
			return err;
		r->list->group_count++;
		if (!*p)
			break;
		if (*p != ',' && *p != ';')
			return error_at(r, p,
					*p == '}' ? "'}' without its '{'"
						  : "a ',' is missing before the '{'");
		r->set += *p == ';';
	}
	r->list->set_count = r->set + 1;
	return 0;
}

/* Returns whether ITEM is of a kind that libpfm4 is not asked about. */
static bool is_not_pfm(struct pm_slice item)
{
	struct pm_slice rest, name = pm_slice_cut(item, ':', &rest);

	return pm_exact() || pm_slice_starts(item, "exact::") ||
	       memchr(item.at, '/', item.length) || pm_slice_is(name, "mem") ||
	       (pm_generic_knows(name) && !(rest.length && rest.at[0] == ':'));
}

void pm_events_prepare(const char *text)
{
	const char *unclosed, *end;

	for (; text && *text; text = end + !!*end) {
		struct pm_slice item;

		end = event_end(text, &unclosed);
		item = pm_slice_trim((struct pm_slice){text, (size_t)(end - text)});
		if (item.length && !is_not_pfm(item)) {
			pm_pfm_prepare();
			return;
		}
		if (*end == '}') /* the group's modifiers */
			end += strcspn(end, ",;");
	}
}

int pm_events_parse(const char *text, unsigned int flags, struct pm_event_list **out,
		    struct pm_diag *diag)
{
	struct pm_resolve r = {.flags = flags, .diag = diag};
	int err;

	if (!text || flags & ~PM_EVENTS_USER_ONLY)
		return pm_diag_set(diag, -EINVAL,
				   text ? "an unknown flag" : "no event list");
	r.text = pm_slice_trim(pm_slice_of(text));
	if (!r.text.length)
		return pm_diag_set(diag, -EINVAL, "the event list is empty");
	if (r.text.length > PM_EVENTS_TEXT_MAX)
		return pm_diag_set(
			diag, -E2BIG,
			"the event list has %zu characters; at most %d are allowed",
			r.text.length, PM_EVENTS_TEXT_MAX);
	r.list = calloc(1, sizeof(*r.list));
	err = r.list ? pm_sysfs_load(&r.sysfs) : -ENOMEM;
	if (err) {
		pm_diag_set(diag, err, "cannot read the machine's PMUs below /sys (%s)",
			    strerror(-err));
		free(r.list);
		return err;
	}
	err = parse_list(&r);
	pm_sysfs_free(r.sysfs);
	if (err) {
		pm_events_free(r.list);
		return err;
	}
	pm_diag_clear(diag);
	*out = r.list;
	return 0;
}

/* --- the events that are counted by default ------------------------------------------ */

/* Two events fit every PMU without multiplexing, mostly on fixed counters. */
static const char automatic[] = "instructions,cycles";

/* Keeps the logical events with a WANTED part, and renumbers them. */
static void keep(struct pm_event_list *list,
		 int (*wanted)(const struct pm_event *event, void *argument),
		 void *argument)
{
	size_t kept = 0, logical = 0;

	for (size_t first = 0, next; first < list->count; first = next) {
		bool open = false;

		for (next = first; next < list->count; next++) {
			if (list->events[next].logical != list->events[first].logical)
				break;
			open |= !wanted(&list->events[next], argument);
		}
		for (size_t i = first; i < next; i++) {
			if (!open) {
				event_clear(&list->events[i]);
				continue;
			}
			list->events[kept] = list->events[i];
			list->events[kept].logical = (unsigned int)logical;
			list->events[kept].group = (unsigned int)logical;
			kept++;
		}
		logical += open;
	}
	list->count = kept;
	list->logical_count = logical;
	list->group_count = logical;
}

int pm_events_auto(unsigned int flags,
		   int (*wanted)(const struct pm_event *event, void *argument),
		   void *argument, struct pm_event_list **out, struct pm_diag *diag)
{
	struct pm_event_list *list;
	char *exact = pm_exact() ? pm_exact_names() : NULL;
	int err = pm_events_parse(exact ? exact : automatic, flags, &list, diag);

	free(exact);
	if (err)
		return err;
	keep(list, wanted, argument);
	*out = list;
	return 0;
}
