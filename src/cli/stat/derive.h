/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A result: its rows with ratios of counts, its metrics by name and of groups, its notes, and its
 * formats. */
#ifndef PM_CLI_STAT_DERIVE_H
#define PM_CLI_STAT_DERIVE_H

#include "cli/stat/count.h"
#include "cli/stat/exact.h"
#include "cli/stat/options.h"
#include "core/report/output/out.h"

struct cli_notes;
struct pm_metrics;

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
	struct stat_sum wall_ns, user_ns, system_ns; /* with 0 runs: unknown */
	int exit_status;			     /* -1: no command */
	int signal;				     /* that ended the command, or 0 */
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
	double coverage; /* how much of the time it was on the hardware: 0 to 1 */
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
