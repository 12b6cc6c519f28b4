/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/model/times.h"

#include <stdio.h>
#include <time.h>

void pm_report_date(char *buffer, size_t size, uint64_t realtime_ns, bool iso)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000u);
	struct tm t;

	buffer[0] = '\0';
	if (realtime_ns && gmtime_r(&seconds, &t))
		snprintf(buffer, size, "%04d-%02d-%02d%c%02d:%02d:%02d%s",
			 t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, iso ? 'T' : ' ',
			 t.tm_hour, t.tm_min, t.tm_sec, iso ? "Z" : " UTC");
}

bool pm_report_time_is_known(const struct pm_snapshot *s)
{
	return s->writer == PM_WRITER_RUNS || s->writer == PM_WRITER_PACKED ||
	       s->writer == PM_WRITER_ENDED;
}

double pm_report_duration(const struct pm_snapshot *s)
{
	return pm_snapshot_ns(s, (double)pm_less(s->taken_ticks, s->header.begin_ticks));
}

double pm_report_lifetime(const struct pm_snapshot *s,
			  const struct pm_snapshot_thread *thread)
{
	uint64_t end =
		thread->record.end_ticks ? thread->record.end_ticks : s->taken_ticks;

	return pm_snapshot_ns(s, (double)pm_less(end, thread->record.begin_ticks));
}

const char *pm_report_thread_state(const struct pm_snapshot_thread *thread)
{
	switch (thread->record.state) {
	case PERFMON_PROFILE_THREAD_STATE_LIVE:
		return "live";
	case PERFMON_PROFILE_THREAD_STATE_AGGREGATE:
		return "folded";
	default:
		return "ended";
	}
}
