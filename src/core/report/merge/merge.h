/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many profiles as one: those of the ranks of an MPI program, or of any processes. Each
 * is added once, by a snapshot that is not needed any more after that, so that memory
 * grows with paths and hardly with processes. What comes of it is
 *
 *   a sum, which is a snapshot itself: reports are made of it as of any other. Paths of
 *   equal names are one path, over all threads of all processes; events are the same if
 *   name, unit and scale are; and time is in ticks of the first process's clock.
 *
 *   ranges: of each path (and, flat, of each region) and quantity the least, the mean and
 *   the most over processes, and which process that was. A process that has not entered a
 *   path counts as 0 there; one in which the event was never open, or did not get on the
 *   hardware, is not known and counts as nothing.
 *
 * doc/report-formats.md says what is in reports of it.
 */
#ifndef PM_REPORT_MERGE_H
#define PM_REPORT_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/profile/profile.h"
#include "core/report/model/tree.h"

struct pm_merge;

struct pm_merge_process {
	int32_t rank; /* -1: no launcher gave it one */
	uint32_t pid;
	uint32_t host; /* for pm_merge_host() */
	enum pm_snapshot_writer writer;
	uint32_t partial; /* 0: it is whole */
	uint32_t open;	  /* not 0: it was inside visits, which are in no value */
	uint64_t threads;
	double duration_ns; /* at least, of one that did not end its profile */
};

/* SUBTRACT_BIAS: values in ranges are less what measuring itself counts. 0 or -ENOMEM. */
int pm_merge_create(struct pm_merge **out, bool subtract_bias);
void pm_merge_free(struct pm_merge *merge); /* NULL is accepted */

/*
 * pm_merge_add() - adds SNAPSHOT. 0, or with DIAG: -EINVAL if nothing tells how long its
 * ticks are (nothing has been added then), or -ENOMEM, after which MERGE can only be
 * freed. Not after pm_merge_end().
 */
int pm_merge_add(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		 struct pm_diag *diag);

/* --- a merge as bytes, which another process adds to its own: a tree of processes, in which each has
 * a few profiles in memory at a time, merges very many --- */

/*
 * pm_merge_pack() - writes what MERGE, which has at least one process, has so far. Adding goes on
 * after it. The caller frees the *SIZE bytes at *OUT with free(). Not after pm_merge_end().
 * Returns 0 or -ENOMEM.
 */
int pm_merge_pack(struct pm_merge *merge, void **out, size_t *size);

/* Returns true if the SIZE bytes at BYTES begin as those of pm_merge_pack() do. */
bool pm_merge_is_packed(const void *bytes, size_t size);

/*
 * pm_merge_add_packed() - adds the processes in the SIZE bytes at BYTES (aligned to 8), which
 * pm_merge_is_packed() accepts, behind those that MERGE has. The bytes are not trusted. Returns
 * what pm_merge_add() does; -EINVAL, with nothing added, also if the bytes do not hold.
 */
int pm_merge_add_packed(struct pm_merge *merge, const void *bytes, size_t size,
			struct pm_diag *diag);

/* Completes the sum: its notes, and what all processes have in common. 0 or -ENOMEM. */
int pm_merge_end(struct pm_merge *merge);

/* Stands from pm_merge_end() until MERGE is freed. join.h adds to it. */
struct pm_snapshot *pm_merge_sum(const struct pm_merge *merge);

uint32_t pm_merge_process_count(const struct pm_merge *merge);
/* By number, in the order in which they were added. */
const struct pm_merge_process *pm_merge_process(const struct pm_merge *merge,
						uint32_t number);
uint32_t pm_merge_host_count(const struct pm_merge *merge);
const char *pm_merge_host(const struct pm_merge *merge, uint32_t host);
bool pm_merge_has_ranks(const struct pm_merge *merge); /* each process has one */

/* Writes a process's name for people, its rank or pid@host, to BUFFER, and returns BUFFER. */
#define PM_MERGE_LABEL 96
const char *pm_merge_label(const struct pm_merge *merge, uint32_t process,
			   char buffer[PM_MERGE_LABEL]);

/* Quantities: these, and one for each event. Events are inclusive by path and exclusive
 * by region. */
#define PM_RANGE_TIME	   0 /* ns, inclusive */
#define PM_RANGE_EXCLUSIVE 1 /* ns, exclusive */
#define PM_RANGE_EVENTS	   2
/* Returns the quantity of EVENT, or of the time (NULL), exclusive if FLAT. */
uint32_t pm_merge_quantity(const struct pm_merge *merge, bool flat,
			   const struct pm_report_event *event);

/* How many processes could have it. */
uint32_t pm_merge_open_count(const struct pm_merge *merge, uint32_t quantity);

struct pm_range {
	uint32_t of;	  /* processes in which it could have been */
	uint32_t present; /* that have entered the path; the value of the others is 0 */
	uint32_t counted; /* of those present, how many are known; 0: nothing below stands
			   */
	double sum, mean, min, max;	   /* of those that are counted or not present */
	uint32_t min_process, max_process; /* the first of those that have it */
	double imbalance; /* per cent that the most is above the mean; -1: the mean is 0
			   */
	uint32_t marks;	  /* of any process's value that is counted */
	double coverage;  /* the least of these */
	double error;	  /* the most, as a part of its value */
};

/* Returns the numbers that ranges have for the nodes of TREE, one of the sum, by path or flat; the caller
 * frees them. NULL without memory. */
uint32_t *pm_merge_paths(const struct pm_merge *merge, const struct pm_report_tree *tree);
struct pm_range pm_merge_range(const struct pm_merge *merge, bool flat, uint32_t path,
			       uint32_t quantity);

#endif
