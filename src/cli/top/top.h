/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon top:
 *
 *   top.c     options; the list of processes that can be watched
 *   watch.c   a profile that is read again and again, CPU times, and waiting
 *   data.c    the changes between two looks
 *   table.c   rows and columns: sorting, filtering
 *   text.c    the table as text, and as lines for scripts
 *   screen.c  the table on a terminal, by ncurses
 */
#ifndef PM_CLI_TOP_TOP_H
#define PM_CLI_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/report/cells.h"
#include "core/text/diag.h"

/* --- changes ---------------------------------------------------------------------- */

enum top_kind {
	TOP_ALL,    /* all threads together */
	TOP_THREAD, /* one thread */
	TOP_ENDED   /* ended threads, which are summed */
};

struct top_group {
	enum top_kind kind;
	const struct perfmon_profile_thread *thread; /* for TOP_THREAD */
	/* CPU times of the process or the thread, at this look and the last; 0: unknown. */
	uint64_t cpu_ns, cpu_before_ns;
	double cpu_percent; /* of the time since the last look; -1: unknown */
	/* Since the begin of the profile. Children's sums are reduced by the part that
	 * belongs to open visits of their parents: see data.c. */
	struct pm_report_tree sums;
	/* Since the last look, node by node as in `sums`. A node has more entered
	 * visits than visits if any were open at one of the two looks. */
	struct pm_report_tree change;
};

/* One look at a profile, and the changes since another. */
struct top_look {
	struct pm_snapshot *snapshot;
	struct pm_report_model model;
	double seconds; /* between the two looks; 0: no time has passed */
	bool whole;	/* since the begin of the profile: there is no other look */
	uint32_t threads_live, threads_ended;
	uint64_t cpu_at_ns; /* when the CPU times were read; 0: they were not */
	uint32_t group_count;
	/* All threads; after top_look_threads() also each one, and the ended ones if any. */
	struct top_group *groups;
};

/*
 * top_look_make() - computes the changes between BEFORE (NULL: the begin of the profile)
 * and SNAPSHOT, which it takes over, also on failure. METRICS (NULL: the built-in ones)
 * must live as long. MACHINE, which may be NULL, serves the sanity checks. BEFORE may be
 * freed. Returns 0 or -ENOMEM.
 *
 * No difference is negative, whatever the snapshots hold. A new thread counts from its
 * begin. The changes of threads before they ended are in TOP_ENDED.
 */
int top_look_make(struct top_look **look, struct pm_snapshot *snapshot,
		  const struct top_look *before, const struct pm_metrics *metrics,
		  const struct pm_machine *machine);

/* Adds the groups of threads, which take memory for each path of each thread. BEFORE, if
 * not NULL, must have them. Returns 0 or -ENOMEM. */
int top_look_threads(struct top_look *look, const struct top_look *before);

/* Frees the parts of LOOK that a later look does not need. */
void top_look_trim(struct top_look *look);
void top_look_free(struct top_look *look); /* NULL is accepted */

/* --- the watched profile ---------------------------------------------------------- */

struct top_watch {
	struct pm_profile_file *file;
	char what[300]; /* the program and its process */
	pid_t pid;
	int pidfd;	/* readable when the process has ended; negative: none */
	bool lived;	/* when it was opened */
	bool alive;	/* at the last look */
	double tick_ns; /* measured while it was alive; 0: not yet */
	bool threads;	/* looks have groups of threads */
	const struct pm_metrics *metrics; /* NULL: the built-in ones */
	struct top_look *look;		  /* the last one */
	struct top_look *before;	  /* the one before; NULL: none */
};

/* Opens the profile of process PID or, if PATH is not NULL, the file PATH. Returns 0, or
 * an error of pm_profile_file_open() with a message. */
int top_watch_open(struct top_watch *watch, pid_t pid, const char *path,
		   struct pm_diag *diag);

/*
 * Reads the profile now. If the process has ended, JOIN drops the last look, and the
 * new one shows the changes since the one before: the time up to an end may be short.
 * Returns 0, -ENOMEM, or an error of pm_profile_file_snapshot(); then the last look
 * stays.
 */
int top_watch_look(struct top_watch *watch, bool join, struct pm_diag *diag);

/* Adds groups of threads to all looks, present and future. Returns 0 or -ENOMEM. */
int top_watch_threads(struct top_watch *watch, struct pm_diag *diag);
void top_watch_close(struct top_watch *watch);

enum top_wake { TOP_NOTHING, TOP_KEY, TOP_STOP, TOP_END, TOP_TIME_IS_UP };

/* Waits for a key, for STOP_FD to be readable (-1: wait for neither), for the process's
 * end, until CLOCK_MONOTONIC is DEADLINE_NS (0: never), or for a signal. */
enum top_wake top_wait(const struct top_watch *watch, int stop_fd, uint64_t deadline_ns);

/* --- the table -------------------------------------------------------------------- */

#define TOP_TEXT 128

struct top_options {
	double delay;	     /* seconds */
	uint64_t count;	     /* of tables; 0: no end */
	bool once;	     /* one table, no screen */
	char sort[TOP_TEXT]; /* a column's name */
	bool reverse;
	char filter[TOP_TEXT];	    /* a part of names; "": all */
	bool threads;		    /* each thread, too */
	bool flat;		    /* by region, not by path */
	struct pm_metrics *metrics; /* NULL: the built-in ones */
};

enum top_column_kind {
	TOP_OPEN, /* visits that have not ended */
	/* For a profile of the Valgrind tool these are not rates: counts since the last
	 * look, and percentages of the counts of all regions. */
	TOP_VISITS, /* per second */
	TOP_TIME,   /* percent of the passed time, for each thread */
	TOP_CPU,    /* the part of it on a CPU, if task-clock is counted */
	TOP_SELF,   /* exclusive time */
	TOP_MEAN,   /* the mean time of a visit */
	TOP_EVENT,  /* per second; by region, exclusive */
	TOP_METRIC
};

struct top_column {
	enum top_column_kind kind;
	uint32_t index;	  /* of the event or metric */
	const char *name; /* for sorting */
	char heading[140];
	size_t width, marks; /* the widest text, and the widest marks behind it */
	uint32_t common;     /* marks of all its numbers, which cells do not repeat */
};

struct top_row {
	const struct top_group *group;
	const struct pm_report_tree *tree; /* the group's change, by path or by region */
	const struct pm_report_tree *sums; /* the same nodes since the begin */
	uint32_t node;			   /* 0: the heading of the group */
	struct pm_cell *cells;		   /* one for each column */
};

struct top_table {
	const struct top_look *look;
	uint32_t column_count;
	struct top_column *columns;
	uint32_t sorted; /* the column of the order; column_count: by name */
	uint32_t row_count;
	struct top_row *rows;
	struct pm_cell *cells;
	size_t name_width;
	uint32_t marks, states; /* used marks and states, for pm_report_text_legend() */
	struct pm_report_tree *flat; /* by region: change and sums of each shown group */
	uint32_t flat_count;
};

/* Makes the table. Free TABLE also after a failure. Returns 0, -ENOMEM, or -EINVAL with a
 * message if the column of the order does not exist. */
int top_table_make(struct top_table *table, struct top_look *look,
		   const struct top_options *options, struct pm_diag *diag);
void top_table_free(struct top_table *table);

/* Returns the number of a row in a column: per second, in percent, or in ns. */
struct pm_value top_table_value(const struct top_table *table, const struct top_row *row,
				const struct top_column *column);

/* Makes the heading of a group: "thread 12 (worker), 97.0 % CPU". */
void top_group_title(const struct top_look *look, const struct top_group *group,
		     char *buffer, size_t size);

/* Makes the text about marks that whole columns have: "m on all numbers of task-clock/s",
 * or "". */
void top_table_common(const struct top_table *table, char *buffer, size_t size);

/* --- output ----------------------------------------------------------------------- */

/* Makes a line about the watched program and its time, and about problems, or "". */
void top_text_head(const struct top_watch *watch, char *buffer, size_t size);
void top_text_problem(const struct top_watch *watch, char *buffer, size_t size);

/* Prints to standard error which requested metrics do not exist. */
void top_notes_print(const struct top_watch *watch);

/* Prints the table to standard output: for people, or lines for scripts, with the
 * columns' names first if HEAD. */
void top_text_print(const struct top_watch *watch, const struct top_table *table);
void top_lines_print(const struct top_table *table, bool head);

/* Runs the screen until the user leaves it. Returns the exit status. */
int top_screen_run(struct top_watch *watch, struct top_options *options);

/* perfmon top. Takes its own name as argv[0] and returns the exit status. */
int cli_top(int argc, char **argv);

#endif
