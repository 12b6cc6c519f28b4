/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon stat, shared by its files:
 *
 *   stat.c          order of the steps; what the command inherits
 *   options.c       options
 *   cell.c          the events, and the sums of their readings
 *   count.c         sessions, CPUs, and their readings
 *   packages.c      events of packages
 *   exact.c         --exact: the totals of the Valgrind tool
 *   derive.c        rows with ratios of counts; notes
 *   metric.c        metrics by name and of groups
 *   text.c, data.c  the table; CSV and JSON
 */
#ifndef PM_CLI_STAT_INSIDE_H
#define PM_CLI_STAT_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/common.h"
#include "cli/exact/exact.h"
#include "core/cpuwide/cpuwide.h"
#include "core/events/events.h"
#include "core/packages/packages.h"
#include "core/report/model/metric.h"
#include "core/report/output/out.h"
#include "core/text/diag.h"
#include "core/text/statistics.h"
#include "perfmon/session.h"

/* --- options ------------------------------------------------------------------------ */

enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };

struct stat_options {
	char *events;	/* NULL: the machine's defaults */
	char **command; /* NULL: none */
	/* Running targets; none: the command. */
	struct perfmon_target *targets; /* threads or processes */
	uint32_t target_count;
	bool threads, processes;
	const char *place; /* CPUs; NULL: none */
	const char *level; /* the result is by this level; NULL: the sum */
	uint32_t runs;
	uint64_t interval_ns; /* 0: none */
	uint64_t timeout_ns;  /* 0: none */
	const char *output;   /* NULL: stderr */
	enum stat_format format;
	bool append;
	bool inherit;	     /* count the command's children, too */
	bool descendants;    /* count the children apart */
	bool split;	     /* every event in a group of its own */
	const char *groups;  /* NULL: none */
	const char *metrics; /* by name; NULL: none */
	bool exact;	     /* by the Valgrind tool */
	bool verbose;
};

/* Parses the options. The caller frees them, also after a failure. Returns -1 to
 * continue, or the exit status. */
int stat_options_parse(struct stat_options *options, int argc, char **argv);

/* --- events ------------------------------------------------------------------------- */

/* An event as the user wrote it. */
struct stat_event {
	const char *label;
	const struct pm_event *event; /* the first of its kernel events */
	bool partly;		      /* could not be opened on some targets */
	bool hidden;		      /* not requested by the user, and not there */
	int error;		      /* the negative errno of opening it, or 0 */
	char *why;		      /* the message about the error */
};

struct stat_events {
	const char *text;
	bool chosen;	/* by the user */
	bool user_only; /* the kernel's activity may not be counted */
	struct pm_event_list *list;
	uint32_t count;
	struct stat_event *events;
};

/*
 * Resolves TEXT (NULL: the machine's defaults, for threads or CPUS). Events without
 * modifiers count in all modes, or in user mode with USER_ONLY. Returns 0, or a negative
 * errno with a message.
 */
int stat_events_learn(struct stat_events *events, const char *text, bool cpus,
		      bool user_only, struct pm_diag *diag);
void stat_events_forget(struct stat_events *events);

/* --- sums --------------------------------------------------------------------------- */

/* Returns the standard error of the mean, in percent of the mean. */
double stat_sum_spread(const struct pm_sum *sum);

/* The states of a count, which are those of perfmon/value.h. */
enum stat_status {
	STAT_COUNTED,
	STAT_MULTIPLEXED, /* part of the time: estimated */
	STAT_PARTIAL,	  /* not on all CPUs or threads */
	STAT_NOT_COUNTED, /* the event is open, but its count means nothing */
	STAT_NEVER_OPENED
};

/* Returns "counted", ... as the documents list them. */
const char *stat_status_name(enum stat_status status);

/* The result of an event in a group of CPUs. */
struct stat_cell {
	enum stat_status status;
	uint64_t value, enabled_ns, running_ns; /* sums over the runs, unscaled */
	struct pm_sum count;			/* estimates, one for each run */
	double last;	   /* the estimate of the last run; NAN: it has none */
	struct pm_sum own; /* of the first thread alone, of the runs that know it */
	bool absent;	   /* counted in another group */
	bool mixed; /* one of both, all and own, is an estimate: their difference means nothing */
	/* Counts of the present run. */
	uint32_t good, own_good, starved, refused;
	double now, own_now;
};

/* Adds VALUE, of which OWN is the first thread's. */
void stat_cell_take(struct stat_cell *cell, const struct stat_event *event,
		    const struct perfmon_value *value, const struct perfmon_value *own);

/* Returns how much of the time it was on the hardware: 0 to 1. */
double stat_cell_coverage(const struct stat_cell *cell);

/* Ends a run: its readings become one sample. */
void stat_cell_end_run(struct stat_cell *cell);

/* --- packages ----------------------------------------------------------------------- */

/* Events of packages beside those of threads: they are open once, and count what all processes do
 * there while the targets run. */
struct stat_packages {
	struct pm_packages *open;
	struct pm_event *events; /* they share their strings with the list */
	uint32_t count;
	int errors[PM_PACKAGES_MAX];
	uint32_t of[PM_PACKAGES_MAX]; /* the event of the user's text */
	struct pm_packages_reading begin, now;
	char place[48];
	uint64_t
		busy_ns; /* CPU time of all processes there, over the runs; 0: not known */
};

/* Opens and starts those of EVENTS, if there are any. Returns 0 or a negative errno, with a
 * message. */
int stat_packages_start(struct stat_packages *packages, const struct stat_events *events,
			struct pm_diag *diag);
/* Ends them, and adds up the CPU time. */
void stat_packages_end(struct stat_packages *packages);

/* Returns whether event I of the user's text is one of them. *ERROR gets the errno of opening it,
 * or 0. */
bool stat_packages_has(const struct stat_packages *packages, uint32_t i, int *error);

/* Stores in VALUES, by event of the user's text, what these have counted since the start. */
void stat_packages_read(struct stat_packages *packages, struct perfmon_value *values);

/* Makes a note that says whose the counts are. OWN_NS is the CPU time of the targets; 0: not
 * known. */
void stat_packages_note(const struct stat_packages *packages,
			const struct stat_events *events, uint64_t own_ns,
			const struct cli_notes *to);

/* --- counting ----------------------------------------------------------------------- */

/* The session of threads, or the counters on CPUs, and their readings. */
struct stat_counting {
	struct stat_events events;
	bool apart; /* the first thread has counts of its own */
	bool split; /* every event is in a group of its own */
	/* Results have a cell for each event in each group: one group for threads and for
	 * the sum over CPUs. */
	uint32_t group_count;
	/* Threads are counted by: */
	struct perfmon_session *session;
	bool uncertain; /* some of a process's threads may be missing */
	struct pm_diag why_uncertain;
	struct stat_packages packages; /* beside the session */
	/* CPUs are counted by these, in groups of a level of the machine: */
	struct perfmon_placement *placement; /* NULL: threads are counted */
	struct pm_cpuwide *cpuwide;
	bool grouped;
	enum pm_level level;
	uint32_t *groups; /* their logical numbers */
	/* The readings of each cell: the last ones, and these; also the first thread's. */
	struct perfmon_value *before, *own_before, *now, *own_now;
	bool explained; /* the message about a refused event has been printed */
	struct pm_diag diag;
};

/* Finds EVENTS (NULL: the machine's defaults), on PLACE (perfmon/placement.h; NULL:
 * threads) by LEVEL (NULL: the sum). Returns 0, or a negative errno with a message in the
 * diag. */
int stat_counting_init(struct stat_counting *counting, const char *events,
		       const char *place, const char *level);
void stat_counting_free(struct stat_counting *counting);

/* Returns the number of cells. */
size_t stat_counting_cells(const struct stat_counting *counting);

/* Makes a group's name: "package:0", "" for the sum, "all" if it cannot be divided. */
#define STAT_GROUP_NAME 32
void stat_counting_group_name(const struct stat_counting *counting, uint32_t group,
			      char name[STAT_GROUP_NAME]);

/*
 * Opens the events on TARGETS (none: on the place) and starts them. If needed, opens
 * less: only user mode, or not all events, or, unless NEEDED, none. Returns 0, or a
 * negative errno with a message in the diag.
 */
int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool needed);
bool stat_counting_is_over(struct stat_counting *counting); /* no target is left */

/* Adds the counts since the last call, or SINCE_START, to CELLS. */
int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start);

/* Stops counting. The counts can be read until the end. */
void stat_counting_stop(struct stat_counting *counting);
void stat_counting_end(struct stat_counting *counting);

/* --- --exact ------------------------------------------------------------------------ */

/* The counts of the Valgrind tool in a command and all that it creates. */
struct stat_exact {
	struct cli_exact_events events;
	struct pm_event event[PM_EXACT_EVENT_COUNT]; /* described as other events are */
	char *folder, *path; /* of the file that gets each process's totals */
	int fd;		     /* of that file, even if the command removes its name */
	char **line;	     /* the words to execute */
	uint32_t lost_runs;  /* runs whose first process left no totals */
	bool unknown; /* a process ended at an instruction that Valgrind does not know */
};

/* Resolves TEXT (NULL: instructions) and prepares counting in COMMAND. Returns 0, or the
 * exit status after a message. Free it in either case. */
int stat_exact_init(struct stat_exact *exact, struct stat_counting *counting,
		    const char *text, char **command);
void stat_exact_free(struct stat_exact *exact);

/* Removes all totals before a run. Returns 0, or a negative errno with a message in the
 * counting's diag. */
int stat_exact_begin(struct stat_exact *exact, struct stat_counting *counting);

/* Adds the counts of a run to CELLS. PID was its first process. Returns 0, or a negative
 * errno with a message in the counting's diag. */
int stat_exact_read(struct stat_exact *exact, struct stat_counting *counting, pid_t pid,
		    struct stat_cell *cells);

/* Removes the file after the last run. */
void stat_exact_end(struct stat_exact *exact);

/* --- results ------------------------------------------------------------------------ */

struct stat_result {
	const struct stat_options *options;
	const struct stat_counting *counting;
	const struct stat_exact *exact;	   /* NULL: the kernel counts */
	const struct pm_metrics *formulas; /* NULL: none */
	const struct stat_cell *cells;
	uint64_t time_ns; /* of an interval: its end since the start; else 0 */
	/* For each run its time, then the estimate of each cell; NAN: none. */
	const double *samples;
	uint32_t runs;
	uint64_t began_realtime_ns;
	struct pm_sum wall_ns, user_ns, system_ns; /* with 0 runs: unknown */
	int exit_status;			   /* -1: no command */
	int signal;				   /* that ended the command, or 0 */
	bool input_lost; /* the first run may have read the input of later ones */
};

/* An event in a group of CPUs. */
struct stat_row {
	size_t next; /* the cell from which stat_row_next() continues */
	const struct stat_event *event;
	const struct stat_cell *cell;
	char group_name[STAT_GROUP_NAME]; /* "" without groups */
	const char *status;		  /* its name */
	bool known;			  /* there is a count */
	double coverage;		  /* stat_cell_coverage() */
	/* Is set if the first thread's counts are known apart from those of the threads that
	 * it created. */
	bool apart;
	/*
	 * The average count of the created threads and processes. It is unknown if an
	 * event was multiplexed: the scaling uses its time in all threads, and does not
	 * say which share is whose.
	 */
	bool has_children;
	double children;
	/* The ratio of the count to another event's, if there is a reliable one. */
	struct stat_ratio {
		const char *key;  /* "instructions-per-cycle"; NULL: none */
		const char *text; /* "per cycle" */
		int decimals;
		double value;
	} ratio;
};

/* Gets the next row, or the first one if ROW is all zeros. Returns false behind the last
 * one. */
bool stat_row_next(const struct stat_result *result, struct stat_row *row);

/* A formula in a group of CPUs. */
struct stat_metric {
	size_t next; /* where stat_metric_next() continues */
	const char *name, *unit, *formula;
	char group_name[STAT_GROUP_NAME];
	/* The worst of its events, and of an event that is not there its label. */
	enum stat_status status;
	const char *status_name, *missing;
	double coverage; /* the lowest of its events */
	bool known; /* there is a value: no event is missing, nothing divides by zero */
	double value;
};

/* Gets the next formula, or the first one if METRIC is all zeros. Returns false behind the
 * last one. */
bool stat_metric_next(const struct stat_result *result, struct stat_metric *metric);

/* Makes the notes about a result. */
void stat_notes(const struct stat_result *result, const struct cli_notes *to);

/* The formats: the table in text.c, CSV and JSON in data.c. */
void stat_text_begin(const struct stat_result *result, struct pm_out *out);
void stat_text_interval(const struct stat_result *result, struct pm_out *out);
void stat_text_end(const struct stat_result *result, struct pm_out *out);
void stat_csv_begin(const struct stat_result *result, struct pm_out *out);
void stat_csv_rows(const struct stat_result *result, struct pm_out *out);
void stat_json_interval(const struct stat_result *result, struct pm_out *out);
void stat_json_end(const struct stat_result *result, struct pm_out *out);

#endif
