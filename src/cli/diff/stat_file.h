/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the JSON of perfmon stat: the time and the counts of each run of a command. */
#ifndef PM_CLI_DIFF_STAT_FILE_H
#define PM_CLI_DIFF_STAT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text/diag.h"

struct diff_stat_event {
	char *name;
	char *place; /* CPUs; NULL: none */
	char *unit;
	char *status; /* in stat's words */
	double coverage;
	uint32_t sample_count;
	double *samples; /* one for each run; NAN: none */
};

/* A report about the runs of one command. */
struct diff_stat {
	char *command;
	char *modes; /* "user" or "all" */
	bool exact;
	bool failed; /* a run ended by a signal, or with a status other than 0 */
	uint64_t began_realtime_ns;
	uint32_t run_count;
	double *times; /* ns */
	uint32_t event_count;
	struct diff_stat_event *events;
};

/* Returns whether the file PATH is JSON and not a profile. */
bool diff_stat_is_json(const char *path);

/* Reads the COUNT reports in the file PATH; free them with diff_stats_free(), also after
 * a failure. Returns 0, or a negative errno with a message. */
int diff_stats_read(const char *path, struct diff_stat **stats, uint32_t *count,
		    struct pm_diag *diag);
void diff_stats_free(struct diff_stat *stats, uint32_t count);

#endif
