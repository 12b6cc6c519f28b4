/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The visits of a region in one file, or in a run of several: the fastest one and the
 * histogram, from which the median follows. */
#ifndef PM_CLI_DIFF_VISITS_H
#define PM_CLI_DIFF_VISITS_H

#include <stdint.h>

#include "perfmon/profile_layout.h"

struct diff_visits {
	double fastest, slowest; /* in ticks */
	double tick_ns;		 /* the length of a tick; 0: no visit */
	double bins[PERFMON_PROFILE_BINS];
};

/* Adds FROM's visits to TO. Ticks of another length go to the nearest bin. */
void diff_visits_add(struct diff_visits *to, const struct diff_visits *from);

double diff_visits_count(const struct diff_visits *visits);

/* Return the time of the fastest visit, and the median of all, in ns. */
double diff_visits_fastest(const struct diff_visits *visits);
double diff_visits_median(const struct diff_visits *visits);

#endif
