/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon top.
 *
 *	top_data.c	what has happened between two looks
 *	top_table.c	... as rows and columns: sorted, filtered
 */
#ifndef PM_CLI_TOP_H
#define PM_CLI_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/diag.h"
#include "core/report_cells.h"
#include "core/report_model.h"

/* --- what has happened ------------------------------------------------------------ */

enum top_kind {
	TOP_ALL,    /* all threads together */
	TOP_THREAD, /* one of them */
	TOP_ENDED   /* those that have ended and are summed */
};

struct top_group {
	enum top_kind kind;
	const struct perfmon_profile_thread *thread; /* of TOP_THREAD */
	/* Since the profile began. Children's sums are lessened by what belongs to visits
	 * of their parents that have not ended: see top_data.c. */
	struct pm_report_tree sums;
	/* Since the look before, node by node as in `sums`. A node's entered visits are
	 * more than its visits if any were open at one of the two looks. */
	struct pm_report_tree change;
};

/* One look at a profile, and what has happened since another. */
struct top_look {
	struct pm_snapshot *snapshot;
	struct pm_report_model model;
	double seconds; /* from the other to this one; 0: no time has passed */
	bool whole;	/* there is no other: since the profile began */
	uint32_t threads_live, threads_ended;
	uint32_t group_count;
	struct top_group
		*groups; /* all threads, each one, the ended ones if there are any */
};

/*
 * top_look_make() - what has happened between BEFORE (NULL: the begin of the profile) and
 * SNAPSHOT, which is taken over, also when it fails. 0 or -ENOMEM. BEFORE may be freed.
 *
 * Whatever the snapshots hold, no difference is negative. A thread that has come since
 * counts from its begin; what threads did before they ended is in TOP_ENDED.
 */
int top_look_make(struct top_look **look, struct pm_snapshot *snapshot,
		  const struct top_look *before);
void top_look_free(struct top_look *look); /* NULL is accepted */

/* --- as a table ------------------------------------------------------------------- */

struct top_options {
	double delay;	/* seconds */
	uint64_t count; /* of tables; 0: no end */
	bool once;	/* one table, no screen */
	char sort[128]; /* a column's name */
	bool reverse;
	char filter[128]; /* a part of names; "": all */
	bool threads;	  /* each by itself, too */
	bool flat;	  /* by region, not by path */
};

enum top_column_kind {
	TOP_OPEN,   /* visits that have not ended */
	TOP_VISITS, /* per second */
	TOP_TIME,   /* percent of the time that has passed, for each thread */
	TOP_SELF,   /* ... less that of regions below */
	TOP_MEAN,   /* of the time of a visit */
	TOP_EVENT,  /* per second; by region less that of regions below */
	TOP_METRIC
};

struct top_column {
	enum top_column_kind kind;
	uint32_t index;	  /* of the event or metric */
	const char *name; /* to sort by */
	char heading[140];
	size_t width, marks; /* the widest text, and the widest marks behind it */
};

struct top_row {
	const struct top_group *group;
	const struct pm_report_tree *tree; /* the group's change, by path or by region */
	uint32_t node;			   /* 0: the heading of the group */
	uint64_t open;			   /* its visits that have not ended */
	struct pm_cell *cells;		   /* one for each column */
};

struct top_table {
	const struct top_look *look;
	uint32_t column_count;
	struct top_column *columns;
	uint32_t sorted; /* the column by which; column_count: by name */
	uint32_t row_count, row_room;
	struct top_row *rows;
	struct pm_cell *cells;
	size_t name_width;
	uint32_t marks, states; /* that are used, as pm_report_text_legend() takes them */
	struct top_flat *flat;	/* trees by region, one for each group that is shown */
	uint32_t flat_count;
};

/* 0; -ENOMEM; -EINVAL, with a sentence: there is no column to sort by. TABLE is to be
 * freed after a failure, too. */
int top_table_make(struct top_table *table, struct top_look *look,
		   const struct top_options *options, struct pm_diag *diag);
void top_table_free(struct top_table *table);

/* The number of a row in a column: per second, in percent, in ns. */
struct pm_value top_table_value(const struct top_table *table, const struct top_row *row,
				const struct top_column *column);

/* The heading of a group: "thread 12 (worker), ended". */
void top_group_title(const struct top_group *group, char *buffer, size_t size);

#endif
