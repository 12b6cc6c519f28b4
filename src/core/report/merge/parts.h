/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of a merge. All that return int return 0 or -ENOMEM. */
#ifndef PM_REPORT_MERGE_PARTS_H
#define PM_REPORT_MERGE_PARTS_H

#include "core/profile/pairs.h"
#include "core/report/merge/merge.h"

#define PM_MERGE_NONE UINT32_MAX

/* A note of profiles, and who has it. */
struct pm_merge_note {
	char *text;
	uint32_t count, first; /* processes */
};
#define PM_MERGE_NOTES 64 /* of different ones, so many are kept */

/* Processes, by number and rising, as stretches of consecutive ones. */
struct pm_merge_list {
	struct pm_merge_stretch {
		uint32_t first, last,
			before; /* before: so many are in earlier stretches */
	} * at;
	uint32_t stretches;
	uint32_t count; /* processes */
};

/* Adds the processes FIRST to LAST, which come behind all others. */
int pm_merge_list_add(struct pm_merge_list *list, uint32_t first, uint32_t last);
/* Adds those of OTHER, whose numbers rise by SHIFT. */
int pm_merge_list_join(struct pm_merge_list *list, const struct pm_merge_list *other,
		       uint32_t shift);
/* Returns the process at INDEX, which is below the list's count. */
uint32_t pm_merge_list_at(const struct pm_merge_list *list, uint32_t index);
bool pm_merge_list_has(const struct pm_merge_list *list, uint32_t process);

/* An event for ranges, and the processes in which it was open. */
struct pm_merge_event {
	char name[128];
	char unit[16];
	double scale;
	struct pm_merge_list open;
};

/* The sums of one quantity of a path over processes. */
struct pm_merge_cell {
	double sum, min, max;
	uint32_t counted, unknown;
	uint32_t min_process, max_process;
	uint32_t absent; /* the first process that has the quantity and not the path */
	uint32_t marks;	 /* of any value that is counted */
	float coverage;	 /* the least of these */
	float error;	 /* the most, as a part of its value */
};

/* Quantities of paths, or of regions. */
struct pm_merge_ranges {
	struct pm_pairs numbers; /* from 1, by parent and region */
	uint32_t count, room;	 /* 0 is nothing's number, and counts */
	struct pm_merge_path {
		uint32_t parent, region;
	} * path;
	uint32_t width; /* quantities for which there is room */
	struct pm_merge_cell *cells;
};

/* A boot of a machine, by whose clock processes ran. */
struct pm_merge_boot {
	char id[40];
	uint32_t clock;
	double tick_ns, tick_error;
	uint32_t packages; /* a process of it has counted for packages */
	uint32_t left_out; /* those counts came with others that are in the sum already */
};

/* A merge has so many sets of open events, and bytes for the nodes or the ranges of all
 * of them, at most: beyond is -ENOMEM. Each set has all paths, which hostile profiles
 * could make as many as the square of their size. */
#define PM_MERGE_SETS  256
#define PM_MERGE_BYTES (UINT64_C(2) << 30)

struct pm_merge {
	bool subtract_bias;
	struct pm_snapshot *sum; /* a thread and a plan for each set of open events */
	uint32_t *node_room;	 /* of each of these threads */
	uint64_t node_bytes;	 /* that these have room for */
	void *names;		 /* of regions, for tsearch(3) */
	struct pm_merge_ranges paths; /* node number n of the sum is path n - 1 */
	struct pm_merge_ranges regions;
	uint32_t event_count;
	struct pm_merge_event *events;
	struct pm_merge_list everyone;
	struct pm_merge_process *processes;
	uint32_t process_count;
	bool some_unranked; /* processes without a rank */
	uint32_t host_count;
	char **hosts;
	uint32_t boot_count;
	struct pm_merge_boot *boots;
	uint32_t note_count;
	struct pm_merge_note *notes;
	bool notes_left_out;
	uint64_t end_realtime_ns;
	bool clocks_differ;
	bool programs_differ;
	bool any_threads, exact; /* how those that had threads were counted */
};

/* The number of REGION below path PARENT, made if need be. */
int pm_merge_number(struct pm_merge *merge, struct pm_merge_ranges *ranges,
		    uint32_t parent, uint32_t region, uint32_t *number);

/* Adds the nodes of SNAPSHOT's threads to the sum's; a tick of it is RATIO of the
 * sum's. Without PACKAGES events of these are taken as not opened. */
int pm_merge_nodes(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		   const uint32_t *region_map, double ratio, bool packages);
/* Adds a copy of the plan FROM behind those of S, which move. Returns it, or NULL without memory. */
struct pm_snapshot_plan *pm_merge_plan_add(struct pm_snapshot *s,
					   const struct pm_snapshot_plan *from);
/* Gives each thread of the sum all paths that there are so far. */
int pm_merge_nodes_fill(struct pm_merge *merge);
/* Completes the sum's events. */
void pm_merge_nodes_end(struct pm_merge *merge);

/* Adds the values of SNAPSHOT, of process number PROCESS, to the ranges. */
int pm_merge_values(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		    const uint32_t *region_map, uint32_t process, double tick_ns);

/* Returns the processes in which QUANTITY could be. */
const struct pm_merge_list *pm_merge_list_of(const struct pm_merge *merge,
					     uint32_t quantity);

/* Enters the process of SNAPSHOT, and its host. */
int pm_merge_process_add(struct pm_merge *merge, const struct pm_snapshot *snapshot);

/* Takes SNAPSHOT's notes; writes all notes of the sum. */
int pm_merge_notes(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		   uint32_t process);
int pm_merge_notes_end(struct pm_merge *merge);

/* Do the same with what OTHER has, whose processes come behind all of MERGE's. The processes
 * are entered last. */
int pm_merge_values_join(struct pm_merge *merge, const struct pm_merge *other,
			 const uint32_t *region_map);
int pm_merge_notes_join(struct pm_merge *merge, const struct pm_merge *other);
int pm_merge_processes_join(struct pm_merge *merge, const struct pm_merge *other);

/* Adds OTHER, another merge of which the number tables and the names are not used. Returns
 * what pm_merge_add() does. */
int pm_merge_join(struct pm_merge *merge, const struct pm_merge *other,
		  struct pm_diag *diag);

#endif
