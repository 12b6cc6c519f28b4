/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formulas of perfmon stat: metrics by name, and those of groups. */
#ifndef PM_CLI_STAT_METRIC_H
#define PM_CLI_STAT_METRIC_H

#include "cli/stat/derive.h"

/* A formula in a group of CPUs. */
struct stat_metric {
	size_t next; /* where stat_metric_next() continues */
	const char *name, *unit, *formula;
	char group_name[STAT_GROUP_NAME];
	/* The worst of its events, and of an event that is not there its label. */
	enum stat_status status;
	const char *status_name, *missing;
	double coverage; /* the lowest of its events */
	bool known; /* there is a value: no event is missing, nothing divides by zero */
	double value;
};

/* Gets the next formula, or the first one if METRIC is all zeros. Returns false behind the
 * last one. */
bool stat_metric_next(const struct stat_result *result, struct stat_metric *metric);

#endif
