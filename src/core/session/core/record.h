/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the records of all rings of sessions are laid out. */
#ifndef PM_SESSION_CORE_RECORD_H
#define PM_SESSION_CORE_RECORD_H

#include "core/events/events.h"

/* perf_event_open(2) refuses periods with the highest bit. */
#define PM_LONGEST_PERIOD INT64_MAX

/* Has EVENT leave a record at each of its overflows. VALUES: with what the counters of its
 * group had counted by then. */
void pm_record_plan(struct pm_event *event, bool values);

/* The layout, whatever else a record holds. */
const struct perf_event_attr *pm_record_attr(void);

#endif
