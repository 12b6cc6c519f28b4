/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon stat.
 *
 *	stat.c		what is done in which order
 *	options.c	options
 *	child.c		the command: fork, exec, signals, wait
 *	events.c		what is counted
 *	place.c		on which CPUs, and how they add up
 *	cell.c		what readings add up to
 *	count.c		sessions, and what they read
 *	derive.c		what counts say together; notes
 *	text.c		the table for people
 *	data.c		CSV and JSON
 */
#ifndef PM_CLI_STAT_STAT_H
#define PM_CLI_STAT_STAT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/os.h"
#include "events/events.h"
#include "topology/topology.h"
#include "cpuwide/cpuwide.h"
#include "report/report.h"
#include "perfmon/session.h"

enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };

struct stat_options {
	char *events;	/* NULL: what the machine has */
	char **command; /* NULL: none */
	/* What runs already; none: the command. */
	struct perfmon_target *targets; /* threads, or */
	uint32_t target_count;
	bool threads, processes;
	const char *place; /* CPUs; NULL: none */
	const char *level; /* ... reported by it; NULL: their sum */
	uint32_t runs;
	uint64_t interval_ns; /* 0: none */
	uint64_t timeout_ns;  /* 0: none */
	const char *output;   /* NULL: stderr */
	enum stat_format format;
	bool append;
	bool inherit;	  /* count what the command creates, too */
	bool descendants; /* ... and apart */
	bool split;	  /* every event on its own */
	bool verbose;
};

/* Takes the options; what it allocates is the caller's to free, also after a failure. -1
 * to go on, or the exit status to end with. */
int stat_options_parse(struct stat_options *options, int argc, char **argv);

/* --- the command -------------------------------------------------------------------- */

struct stat_child {
	pid_t pid; /* 0: none */
	int go;	   /* write here to let it go; its exec closes `report` */
	int report;
	int status; /* as wait4(2) has it */
	uint64_t user_ns, system_ns;
};

/* The signals that perfmon stat takes itself, blocked from now on. */
void stat_signals_begin(void);

/* As many descriptors as the limit can be raised to: each event takes one on each CPU.
 * The command has the limit as it was. */
void stat_files_begin(void);

/* A child that waits to be let go. 0 or a negative errno. */
int stat_child_fork(struct stat_child *child, char **command);

/* Lets it go: 0 when the command is being executed, or the negative errno of execvp(). */
int stat_child_release(struct stat_child *child);

/* Ends a child that was not let go. */
void stat_child_drop(struct stat_child *child);

enum stat_wake { STAT_WAKE_END, STAT_WAKE_SIGNAL, STAT_WAKE_TIME };

/* Waits until the child has ended (its status and times are then known), a signal asks
 * for an end where there is no child, or CLOCK_MONOTONIC is DEADLINE_NS (0: never).
 * Passes signals on to the child meanwhile. */
enum stat_wake stat_child_wait(struct stat_child *child, uint64_t deadline_ns);

/* What a shell would say: 0 to 255, 128 + n for signal n. */
int stat_child_exit_status(const struct stat_child *child);

uint64_t stat_now_ns(void);

/* --- what is counted ---------------------------------------------------------------- */

/* An event as the user wrote it. */
struct stat_event {
	const char *label;
	const struct pm_event *event; /* the first of those behind it */
	bool partly;		      /* refused on some of the targets */
	bool hidden;		      /* nobody asked for it, and it is not there */
	int error;		      /* negative errno that refused it, or 0 */
	char *why;		      /* ... in a sentence */
};

struct stat_events {
	const char *text;
	bool chosen;	/* by the user */
	bool user_only; /* the kernel's own doing may not be counted */
	struct pm_event_list *list;
	uint32_t count;
	struct stat_event *events;
};

/* What TEXT (NULL: what the machine has, of threads or CPUS) means in all modes, or in
 * user mode, where its modifiers say nothing. 0, or a negative errno with the sentence.
 */
int stat_events_learn(struct stat_events *events, const char *text, bool cpus,
		      bool user_only, struct pm_diag *diag);
void stat_events_forget(struct stat_events *events);

/* --- results ------------------------------------------------------------------------ */

/* A sample of estimates, one for each run. */
struct stat_sum {
	uint64_t runs;
	double mean, squares, min, max;
};

void stat_sum_add(struct stat_sum *sum, double value);

/* The standard error of the mean, in per cent of it. */
double stat_sum_spread(const struct stat_sum *sum);

enum stat_status {
	STAT_COUNTED,
	STAT_MULTIPLEXED, /* part of the time: estimated */
	STAT_PARTIAL,	  /* not on all CPUs or threads */
	STAT_NOT_COUNTED, /* the event is open, its count says nothing */
	STAT_NOT_SUPPORTED
};

/* What an event came to, in a group of CPUs. */
struct stat_cell {
	enum stat_status status;
	uint64_t value, enabled_ns, running_ns; /* sums over the runs, unscaled */
	struct stat_sum count;			/* estimates */
	struct stat_sum own; /* of the first thread alone, of the runs that tell it */
	bool absent;	     /* it is in another group */
	bool mixed; /* of all and of its own: estimates, whose difference says nothing */
	/* Of one reading. */
	uint32_t good, own_good, starved, refused;
	double now, own_now;
};

static inline bool stat_is_known(const struct stat_cell *cell)
{
	return cell->status < STAT_NOT_COUNTED;
}

/* --- CPUs --------------------------------------------------------------------------- */

/* The CPUs of a placement, in groups of a level of the machine. */
struct stat_place {
	struct pm_placement *placement;
	bool grouped;
	enum pm_level level;
	uint32_t group_count; /* 1 if not grouped */
	uint32_t *groups;     /* their logical numbers */
	struct pm_cpuwide *cpuwide;
	struct pm_reading *before; /* of each cell, as last read */
};

/* TEXT as perfmon/placement.h has it; LEVEL may be NULL. 0, or a negative errno with the
 * sentence. */
int stat_place_open(struct stat_place *place, const char *text, const char *level,
		    struct pm_diag *diag);
int stat_place_plan(struct stat_place *place, const struct pm_event_list *list,
		    struct pm_diag *diag);
void stat_place_close(struct stat_place *place);

/* Opens what the kernel allows of the events, and starts it; in as small parts as may be
 * with SPLIT. */
int stat_place_start(struct stat_place *place, const struct pm_event_list *list,
		     bool split, struct pm_diag *diag);
void stat_place_stop(struct stat_place *place);
void stat_place_end(struct stat_place *place);

/* The error that what the user wrote in place EVENT met, and on which CPU (-1: there is
 * no CPU for it); whether it is OPEN on another. */
int stat_place_error(const struct stat_place *place, const struct pm_event_list *list,
		     uint32_t event, int *cpu, bool *open);

int stat_place_read(struct stat_place *place, const struct stat_events *events,
		    struct stat_cell *cells, bool since_start, struct pm_diag *diag);

/* "package:0", "" for the sum, "all" for what cannot be told apart. */
#define STAT_GROUP_NAME 32
void stat_place_group_name(const struct stat_place *place, uint32_t group,
			   char name[STAT_GROUP_NAME]);

/* Adds to CELL what SUM says more than BEFORE. */
void stat_cell_add(struct stat_cell *cell, const struct stat_event *event,
		   const struct pm_cpuwide_sum *sum, const struct pm_reading *before);

/* The same of a session of threads: VALUE, of which OWN is the first one's. */
void stat_cell_take(struct stat_cell *cell, const struct stat_event *event,
		    const struct perfmon_value *value, const struct perfmon_value *own);

/* What has been added to CELL since the last time is one sample. */
void stat_cell_settle(struct stat_cell *cell);

/* --- counting ----------------------------------------------------------------------- */

struct stat_counting {
	struct stat_events events;
	struct stat_place *place; /* NULL: threads */
	struct perfmon_session *session;
	/* Its counters as last read, and now. */
	struct perfmon_value *before, *own_before, *now, *own_now;
	bool apart;
	bool split;	      /* every event on its own */
	bool processes;	      /* the targets are */
	bool uncertain;	      /* some of their threads may be missing */
	struct pm_diag doubt; /* ... and why */
	bool explained;	      /* why what was refused was refused */
	struct pm_diag diag;
};

/* Finds out what EVENTS (NULL: what the machine has) means, on PLACE (NULL: threads) by
 * LEVEL (NULL: the sum). 0; a negative errno with the sentence in the diag. */
int stat_counting_init(struct stat_counting *counting, const char *events,
		       const char *place, const char *level);
void stat_counting_free(struct stat_counting *counting);

/* Its results have a cell for each event in each group. */
uint32_t stat_counting_groups(const struct stat_counting *counting);
size_t stat_counting_cells(const struct stat_counting *counting);

/* Opens the events on TARGETS (none: on the place) and starts them. With less, if need
 * be: in user mode, or without some; unless NEEDED, without all. 0; a negative errno with
 * the sentence in the diag. */
int stat_counting_start(struct stat_counting *counting,
			const struct perfmon_target *targets, uint32_t target_count,
			bool apart, bool needed);
bool stat_counting_is_over(struct stat_counting *counting); /* no target is left */

/* Adds what was counted since the last call, or SINCE_START, to CELLS. */
int stat_counting_read(struct stat_counting *counting, struct stat_cell *cells,
		       bool since_start);

/* No more is counted; what was can still be read, until the end. */
void stat_counting_stop(struct stat_counting *counting);
void stat_counting_end(struct stat_counting *counting);

/* --- telling ------------------------------------------------------------------------ */

struct stat_result {
	const struct stat_options *options;
	const struct stat_counting *counting;
	const struct stat_cell *cells;
	uint64_t time_ns; /* of an interval: its end since the start; else 0 */
	struct stat_sum wall_ns, user_ns, system_ns; /* runs of 0: not known */
	int exit_status;			     /* -1: no command */
	int signal;				     /* that ended it, or 0 */
};

/* How much of the time cell C was on the hardware: 0 to 1. */
double stat_coverage(const struct stat_cell *cell);

/* "counted", "multiplexed", "partial", "not counted" or "not supported". */
const char *stat_status_name(enum stat_status status);

/* Whether it can be told what the first thread counted, and what those that it
 * created. */
bool stat_is_apart(const struct stat_result *result, const struct stat_cell *cell);

/* What created threads and processes counted, on average; false if nobody knows: a
 * multiplexed event is scaled by its share of the time in all threads, which tells neither
 * the first one's share nor theirs. */
bool stat_children(const struct stat_result *result, const struct stat_cell *cell,
		   double *children);

/* The sentences that go with a result. False after the last. */
bool stat_note(const struct stat_result *result, uint32_t number, struct pm_diag *note);

/* What the count of event I says together with another's; false if nothing that can be
 * relied upon. */
struct stat_ratio {
	const char *key;  /* "instructions-per-cycle" */
	const char *text; /* "per cycle" */
	int decimals;
	double value;
};
bool stat_derive(const struct stat_result *result, uint32_t group, uint32_t i,
		 struct stat_ratio *ratio);

/* What stands in a row; false: nothing does. */
struct stat_row {
	const struct stat_event *event;
	const struct stat_cell *cell;
	uint32_t group, index;		  /* for stat_derive() */
	char group_name[STAT_GROUP_NAME]; /* "" if there are no groups */
};
bool stat_row(const struct stat_result *result, uint32_t group, uint32_t i,
	      struct stat_row *row);

void stat_text_begin(const struct stat_result *result, struct pm_out *out);
void stat_text_interval(const struct stat_result *result, struct pm_out *out);
void stat_text_end(const struct stat_result *result, struct pm_out *out);
void stat_csv_begin(const struct stat_result *result, struct pm_out *out);
void stat_csv_rows(const struct stat_result *result, struct pm_out *out);
void stat_json_interval(const struct stat_result *result, struct pm_out *out);
void stat_json_end(const struct stat_result *result, struct pm_out *out);

/* perfmon stat. Takes its own name as argv[0] and returns the exit status. */
int cli_stat(int argc, char **argv);

#endif
