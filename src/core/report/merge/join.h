/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs of one program as one profile: visits and times of the first, and beside them, by path, the
 * counts of others, which counted other events or slowed the program down.
 *
 * A path that a run has not visited has no value of it. Where the runs were not alike, the counts
 * have a mark, and a note of the profile says by how much. Events keep what tells of them: whether
 * they were counted exactly, and how long they were on the hardware in their own run.
 */
#ifndef PM_REPORT_JOIN_H
#define PM_REPORT_JOIN_H

#include "core/report/merge/merge.h"

/* Another run. */
struct pm_join_run {
	const char *name; /* what notes call it */
	bool is_told;	  /* the caller says in a note which events are of it */
	const char *
		reference; /* an event that both runs counted, and that tells whether they were
			     * alike; NULL: visits alone tell */
	double tolerance; /* the reference's values may differ by this part of the larger one, */
	double allowance; /* and by so much a visit, those of nested regions included */
};

/*
 * pm_join_add() - sets the counts of COUNTS, the processes of another run, which has ended
 * (pm_merge_end()), beside the values of TIMED. An event that TIMED has counted stays as it is. May
 * be called again with further runs. If TIMED is the sum of a merge, which has ended, the ranges of
 * the merge have no counts of COUNTS. Allocates; any thread.
 *
 * Returns 0, or with DIAG: -EINVAL: TIMED was counted exactly, and has no times of the machine, or
 * has no tick rate, or COUNTS has no events; nothing is changed then. -ENOMEM: TIMED can only be
 * freed.
 */
int pm_join_add(struct pm_snapshot *timed, const struct pm_merge *counts,
		const struct pm_join_run *run, struct pm_diag *diag);

#endif
