/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares two runs of a program path by path. For this room alone. Functions of type int return 0
 * or -ENOMEM. */
#ifndef PM_REPORT_ALIKE_H
#define PM_REPORT_ALIKE_H

#include "core/profile/pairs.h"
#include "core/report/merge/join.h"

/* How a path of the other run stands. */
struct pm_alike_path {
	uint32_t partner;	/* the path of the first run; 0: it has none */
	bool visits, reference; /* what differs, */
	bool inside;		/* or something inside of the path does */
	double change; /* of the reference event, as a part of the first run's value */
	bool fewer_threads; /* some events were open in some threads alone */
};

struct pm_alike {
	const struct pm_join_run *run;
	/* The first run as it was: FIRST_MODEL refers to it while plans are added to the profile. Its
	 * plans are not read then. */
	struct pm_snapshot before;
	struct pm_report_model first_model, model; /* of both runs */
	struct pm_report_tree first, tree;
	struct pm_pairs first_paths, numbers; /* by parent and region */
	struct pm_alike_path *paths;	      /* of the other run, by node of TREE */
	bool *visited;			      /* by node of FIRST: the other run did */
	bool *inside; /* by node of FIRST: what is inside of it differs */
};

/* Compares TIMED with COUNTS, whose region ID is TIMED's region BASE + ID. Both stay as they are
 * until the end, but for what is added to TIMED. */
int pm_alike_begin(struct pm_alike *alike, const struct pm_snapshot *timed,
		   const struct pm_snapshot *counts, uint32_t base);
/* Marks the nodes of TO, which is made of the thread FROM. */
int pm_alike_mark(const struct pm_alike *alike, const struct pm_snapshot_thread *from,
		  struct pm_snapshot_thread *to);
/* Returns true if one of the COUNT THREADS counted COUNTER. */
bool pm_alike_any_counted(const struct pm_snapshot_thread *threads, uint32_t count,
			  const struct perfmon_profile_counter *counter);
/* Adds notes to TIMED: which events are of the other run, those from joined thread FIRST on, and what was
 * not alike. */
int pm_alike_tell(const struct pm_alike *alike, struct pm_snapshot *timed,
		  uint32_t first);
void pm_alike_end(struct pm_alike *alike);

#endif
