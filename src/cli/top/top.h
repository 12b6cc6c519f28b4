/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon top.
 *
 *	top.c		options; the list of processes that can be watched
 *	watch.c		a profile that is looked at again and again, and waiting for that
 *	data.c		what has happened between two looks
 *	cpu.c		the CPU time of the process and its threads between two looks
 *	table.c		... as rows and columns: sorted, filtered
 *	text.c		the table as text, and as lines for scripts
 *	screen.c		the table on a terminal, by ncurses
 */
#ifndef PM_CLI_TOP_TOP_H
#define PM_CLI_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/report/cells.h"
#include "core/text/diag.h"

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
	 * of their parents that have not ended: see data.c. */
	struct pm_report_tree sums;
	/* Since the look before, node by node as in `sums`. A node's entered visits are
	 * more than its visits if any were open at one of the two looks. */
	struct pm_report_tree change;
};

/* The CPU time of a process, when it was looked at. A percentage is that of the time since
 * the look before, -1: unknown. */
struct top_cpu {
	uint64_t at_ns; /* 0: it was not read */
	uint64_t process_ns;
	double percent;
	uint32_t count;
	struct top_cpu_thread {
		uint32_t tid;
		uint64_t begin_ticks; /* of its record in the profile */
		uint64_t ns;
		double percent;
	} * threads; /* by tid */
};

/* One look at a profile, and what has happened since another. */
struct top_look {
	struct pm_snapshot *snapshot;
	struct pm_report_model model;
	double seconds; /* from the other to this one; 0: no time has passed */
	bool whole;	/* there is no other: since the profile began */
	uint32_t threads_live, threads_ended;
	struct top_cpu cpu;
	bool threads; /* there are groups for them */
	uint32_t group_count;
	/* All threads; with `threads` each one, and the ended ones if there are any. */
	struct top_group *groups;
};

/*
 * top_look_make() - what has happened between BEFORE (NULL: the begin of the profile) and
 * SNAPSHOT, which is taken over, also when it fails. METRICS (NULL: the built-in ones)
 * must live as long. It is judged by MACHINE, which may be NULL. 0 or -ENOMEM. BEFORE may
 * be freed.
 *
 * Whatever the snapshots hold, no difference is negative. A thread that has come since
 * counts from its begin; what threads did before they ended is in TOP_ENDED.
 */
int top_look_make(struct top_look **look, struct pm_snapshot *snapshot,
		  const struct top_look *before, const struct pm_metrics *metrics,
		  const struct pm_machine *machine);

/* Adds the groups of threads, which a look does not have by itself: they take memory for
 * each path of each thread. BEFORE, if it is not NULL, must have them. 0 or -ENOMEM. */
int top_look_threads(struct top_look *look, const struct top_look *before);

/* Reads the CPU time of process PID, whose profile is S, into CPU, which has nothing yet;
 * with THREADS that of each thread, too. What cannot be read is unknown. 0 or -ENOMEM. */
int top_cpu_read(struct top_cpu *cpu, pid_t pid, const struct pm_snapshot *s,
		 bool threads);
/* The percentages of CPU, since BEFORE, which may be NULL. */
void top_cpu_since(struct top_cpu *cpu, const struct top_cpu *before);
/* That of GROUP in LOOK: of all threads that of the process. */
double top_cpu_percent(const struct top_look *look, const struct top_group *group);

/* Frees of LOOK what a later look does not start from. */
void top_look_trim(struct top_look *look);
void top_look_free(struct top_look *look); /* NULL is accepted */

/* --- what is watched -------------------------------------------------------------- */

struct top_watch {
	struct pm_profile_file *file;
	char what[300]; /* the program and its process */
	pid_t pid;
	int pidfd;	/* readable when the process has ended; -1 if there is none */
	bool lived;	/* when it was opened */
	bool alive;	/* at the last look */
	double tick_ns; /* measured while it was alive; 0: not (yet) */
	bool threads;	/* looks have groups of threads */
	const struct pm_metrics *metrics; /* NULL: the built-in ones */
	struct top_look *look;		  /* the last one */
	struct top_look *before;	  /* the one before; NULL: none */
};

/* Opens the profile of process PID, or where PATH is not NULL the file there. 0 or what
 * pm_profile_file_open() gives, with a sentence. */
int top_watch_open(struct top_watch *watch, pid_t pid, const char *path,
		   struct pm_diag *diag);

/* Looks at it now. With JOIN, if it has ended meanwhile, the look before is dropped, and
 * the new one goes back to the one before that: for the short time up to an end. 0,
 * -ENOMEM, or what pm_profile_file_snapshot() gives; then the last look stays. */
int top_watch_look(struct top_watch *watch, bool join, struct pm_diag *diag);

/* Has the groups of threads in all looks from now on, and in those there are. 0 or
 * -ENOMEM. */
int top_watch_threads(struct top_watch *watch, struct pm_diag *diag);
void top_watch_close(struct top_watch *watch);

enum top_wake { TOP_NOTHING, TOP_KEY, TOP_STOP, TOP_END, TOP_TIME_IS_UP };

/* Waits until there is a key or STOP_FD can be read (-1: neither is of interest), the
 * process has ended, CLOCK_MONOTONIC is DEADLINE_NS (0: never), or a signal has come. */
enum top_wake top_wait(const struct top_watch *watch, int stop_fd, uint64_t deadline_ns);

/* --- as a table ------------------------------------------------------------------- */

#define TOP_TEXT 128

struct top_options {
	double delay;	     /* seconds */
	uint64_t count;	     /* of tables; 0: no end */
	bool once;	     /* one table, no screen */
	char sort[TOP_TEXT]; /* a column's name */
	bool reverse;
	char filter[TOP_TEXT];	    /* a part of names; "": all */
	bool threads;		    /* each by itself, too */
	bool flat;		    /* by region, not by path */
	struct pm_metrics *metrics; /* NULL: the built-in ones */
};

enum top_column_kind {
	TOP_OPEN, /* visits that have not ended */
	/* Of an exact profile, instead of per second: since the look before; and instead
	 * of percent of the time: of what all regions have counted since then. */
	TOP_VISITS, /* per second */
	TOP_TIME,   /* percent of the time that has passed, for each thread */
	TOP_CPU,    /* the part of that on a CPU: where task-clock is counted */
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
	uint32_t common;     /* marks of all its numbers, which cells do not repeat */
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

/* The heading of a group: "thread 12 (worker), 97.0 % CPU". */
void top_group_title(const struct top_look *look, const struct top_group *group,
		     char *buffer, size_t size);

/* The marks that the cells of whole columns would have, as text: "m on all numbers of
 * task-clock/s". "" if there are none. */
void top_table_common(const struct top_table *table, char *buffer, size_t size);

/* --- its output ------------------------------------------------------------------- */

/* What is watched and since when, in one line; and what is wrong with it, "" if nothing
 * is. */
void top_text_head(const struct top_watch *watch, char *buffer, size_t size);
void top_text_problem(const struct top_watch *watch, char *buffer, size_t size);

/* To standard error, which metrics that were asked for are not there. */
void top_notes_print(const struct top_watch *watch);

/* The table to standard output: for people, or lines for scripts, with the names of the
 * columns in front if HEAD. */
void top_text_print(const struct top_watch *watch, const struct top_table *table);
void top_lines_print(const struct top_table *table, bool head);

/* The screen, until the user leaves it. The exit status. */
int top_screen_run(struct top_watch *watch, struct top_options *options);

/* perfmon top. Takes its own name as argv[0] and returns the exit status. */
int cli_top(int argc, char **argv);

#endif
