/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes encoded events as one line of text, so that a table can have the expected ones.
 */
#ifndef PM_TESTS_EVENTS_DUMP_H
#define PM_TESTS_EVENTS_DUMP_H

#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>

#include "core/events/events.h"

/* NAME PMU TYPE:CONFIG[:CONFIG1[:CONFIG2]], then the excluded modes (-u -k -h -G -H -I),
 * other requests (p1 D e), the breakpoint's kind, and the unit. */
static inline void dump_event(const struct pm_event *event, char *text, size_t size)
{
	const struct perf_event_attr *a = &event->attr;
	size_t n = 0;

#define DUMP(...) (n += (size_t)snprintf(text + n, size - n, __VA_ARGS__))
	DUMP("%s %s %u:%llx", event->name, event->pmu, a->type,
	     (unsigned long long)a->config);
	if (a->config1 || a->config2)
		DUMP(":%llx", (unsigned long long)a->config1);
	if (a->config2)
		DUMP(":%llx", (unsigned long long)a->config2);
	DUMP("%s%s%s%s%s%s", a->exclude_user ? " -u" : "", a->exclude_kernel ? " -k" : "",
	     a->exclude_hv ? " -h" : "", a->exclude_guest ? " -G" : "",
	     a->exclude_host ? " -H" : "", a->exclude_idle ? " -I" : "");
	if (a->precise_ip)
		DUMP(" p%d", a->precise_ip);
	DUMP("%s%s", a->pinned ? " D" : "", a->exclusive ? " e" : "");
	if (a->type == PERF_TYPE_BREAKPOINT)
		DUMP(" bp%u", a->bp_type);
	if (event->unit[0])
		DUMP(" *%g%s", event->scale, event->unit);
#undef DUMP
}

/* Writes all events, with "; " between. */
static inline void dump_list(const struct pm_event_list *list, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < list->count; i++) {
		size_t n = strlen(text);

		if (i)
			n += (size_t)snprintf(text + n, size - n, "; ");
		dump_event(&list->events[i], text + n, size - n);
	}
}

#endif
