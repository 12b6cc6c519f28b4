/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of events: perfmon/event.h. */
#include "perfmon/event.h"

#include <errno.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/api/message.h"
#include "core/events/events.h"

PM_EXPORT int perfmon_event_expand(
	const char *text, uint32_t flags,
	int (*visit)(const struct perfmon_event_encoding *event, void *argument),
	void *argument, char *message, size_t message_size)
{
	struct pm_diag diag = {0};
	struct pm_event_list *list = NULL;
	int result = visit ? pm_events_parse(text, flags, &list, &diag)
			   : pm_diag_set(&diag, -EINVAL, "visit is NULL");

	for (size_t i = 0; !result && i < list->count; i++) {
		const struct pm_event *event = &list->events[i];
		struct perfmon_event_encoding encoding = {
			.size = sizeof(encoding),
			.name = event->name,
			.label = event->label,
			.pmu = event->pmu,
			.cpus = event->cpus,
			.unit = event->unit,
			.scale = event->scale,
			.attr = event->exact ? NULL : &event->attr,
			.set = event->set,
			.group = event->group,
			.logical = event->logical,
			.properties =
				(event->hardware ? PERFMON_EVENT_PROPERTY_HARDWARE : 0) |
				(event->uncore ? PERFMON_EVENT_PROPERTY_UNCORE : 0) |
				(event->kernel_only ? PERFMON_EVENT_PROPERTY_KERNEL_ONLY
						    : 0) |
				(event->in_explicit_group ? PERFMON_EVENT_PROPERTY_GROUPED
							  : 0) |
				(event->exact ? PERFMON_EVENT_PROPERTY_EXACT : 0),
		};

		result = visit(&encoding, argument);
	}
	pm_events_free(list);
	return pm_message_end(result, diag.text, message, message_size);
}

/* Copies the attr FROM into TO, up to TO's size. The rest of FROM must be zero. */
static int copy_attr(struct perf_event_attr *to, const struct perf_event_attr *from)
{
	uint32_t room = to->size;
	struct perf_event_attr whole = *from;

	if (room < PERF_ATTR_SIZE_VER0)
		return -EINVAL;
	if (room < sizeof(whole) &&
	    !pm_is_zero((const char *)from + room, sizeof(whole) - room))
		return -E2BIG;
	if (room < sizeof(whole))
		whole.size = room;
	memset(to, 0, room);
	memcpy(to, &whole, room < sizeof(whole) ? room : sizeof(whole));
	return 0;
}

PM_EXPORT int perfmon_event_encode(const char *text, uint32_t flags,
				   struct perf_event_attr *attr, char *message,
				   size_t message_size)
{
	struct pm_diag diag = {0};
	struct pm_event_list *list = NULL;
	int err = attr ? pm_events_parse(text, flags, &list, &diag)
		       : pm_diag_set(&diag, -EINVAL, "attr is NULL");

	if (err)
		return pm_message_end(err, diag.text, message, message_size);
	if (list->count > 1)
		err = pm_diag_set(&diag, -ENOTUNIQ,
				  "'%s' names %zu events: the first is '%s', the "
				  "last '%s'",
				  text, list->count, list->events[0].name,
				  list->events[list->count - 1].name);
	else if (list->events[0].exact)
		err = pm_diag_set(&diag, -EOPNOTSUPP,
				  "'%s' is not an event of the kernel", text);
	else
		err = copy_attr(attr, &list->events[0].attr);
	if (err == -EINVAL || err == -E2BIG)
		pm_diag_set(&diag, err, "attr->size is %u: too small for '%s'",
			    attr->size, text);
	pm_events_free(list);
	return pm_message_end(err, diag.text, message, message_size);
}

PM_EXPORT int perfmon_event_list(const char *pattern, uint32_t flags,
				 int (*visit)(const struct perfmon_event_info *info,
					      void *argument),
				 void *argument, char *message, size_t message_size)
{
	struct pm_diag diag = {0};

	return pm_message_end(pm_events_list(pattern, flags, visit, argument, &diag),
			      diag.text, message, message_size);
}
