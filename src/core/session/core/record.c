/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/session/core/record.h"

/* Not PERF_SAMPLE_PERIOD: with it a software event overflows at every single event
 * (perf_swevent_event() in the kernel's events/core.c). */
#define RECORDED                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
	 PERF_SAMPLE_CPU)

void pm_record_plan(struct pm_event *event, bool values)
{
	event->attr.sample_period = PM_LONGEST_PERIOD;
	event->attr.sample_type = RECORDED;
	event->attr.sample_id_all = 1;
	event->attr.wakeup_events = 1;
	if (!values)
		return;
	event->attr.sample_type |= PERF_SAMPLE_READ;
	/* As instances read their groups. */
	event->attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |
				  PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
}

const struct perf_event_attr *pm_record_attr(void)
{
	static const struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = RECORDED, .sample_id_all = 1};

	return &attr;
}
