/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table over many runs: a row for each region, a column for each value of a note of the runs. */
#ifndef PM_CLI_REPORT_BY_H
#define PM_CLI_REPORT_BY_H

#include "cli/common/common.h"
#include "core/profile/profile.h"
#include "core/report/model/value.h"
#include "core/report/report.h"
#include "core/settings/run_note.h"
#include "core/text/diag.h"

/* A region in the processes with one value of the note. */
struct by_cell {
	double sum;	  /* ns, or counts of the event of exact profiles, scaled */
	uint32_t unknown; /* processes that entered it, and whose value is not known */
	uint32_t marks;	  /* of any of these */
	double error;	  /* of the sum, squared */
};

struct by_value {
	char text[PM_RUN_NOTE_VALUE + 1];
	double number; /* of TEXT, where all values are numbers */
	uint32_t processes;
	uint32_t room;	       /* regions for which there are cells */
	struct by_cell *cells; /* by region */
};

/* Begins as one with a key. Free it with by_free(). */
struct by {
	const char *key;
	bool subtract_bias;
	bool any, exact;	  /* how the first profile was counted */
	char event[128];	  /* whose counts these are, of exact profiles */
	char unit[16];		  /* of that event */
	struct cli_texts regions; /* their names; number 0 is region 1 */
	uint32_t value_count;
	struct by_value *values; /* sorted by by_end() */
};

/* Adds SNAPSHOT. 0; -ENODATA: the run does not have the note; or with DIAG -EINVAL: its values cannot be
 * compared with those before; or -ENOMEM. */
int by_add(struct by *by, const struct pm_snapshot *snapshot, struct pm_diag *diag);

/* Sorts the values: as numbers if all are, or else as texts. */
void by_end(struct by *by);

/* Returns the mean of REGION over the processes with VALUE, of those in which it is known. A process
 * that has not entered the region counts as 0. */
struct pm_value by_mean(const struct by_value *value, uint32_t region);

/* Writes the table of BY, which has ended, as HOW says: in text, CSV or JSON. Returns 0 or a negative
 * errno. */
int by_write(const struct by *by, const struct pm_report_options *how,
	     struct cli_output *output);

void by_free(struct by *by);

#endif
