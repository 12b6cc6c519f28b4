/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What perfmon stat wrote as JSON, read again: of each run of a command its time and its
 * counts. */
#ifndef PM_CLI_DIFF_STAT_FILE_H
#define PM_CLI_DIFF_STAT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/diag.h"

struct diff_stat_event {
	char *name;
	char *place; /* CPUs; NULL: none */
	char *unit;
	char *status; /* as stat says it */
	double coverage;
	uint32_t sample_count;
	double *samples; /* of each run; NAN: it has none */
};

/* A report: of runs of one command. */
struct diff_stat {
	char *command;
	char *modes; /* "user" or "all" */
	bool exact;
	bool failed; /* a run ended by a signal, or with another status than 0 */
	uint64_t began_realtime_ns;
	uint32_t run_count;
	double *times; /* ns */
	uint32_t event_count;
	struct diff_stat_event *events;
};

/* Whether what begins with the LENGTH bytes TEXT is JSON, and no profile. */
bool diff_stat_is_json(const char *text, size_t length);

/* The COUNT reports in the file PATH, to be freed with diff_stats_free(), also after a
 * failure. 0, or a negative errno with the sentence. */
int diff_stats_read(const char *path, struct diff_stat **stats, uint32_t *count,
		    struct pm_diag *diag);
void diff_stats_free(struct diff_stat *stats, uint32_t count);

#endif
