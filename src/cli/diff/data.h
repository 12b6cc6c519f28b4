/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon diff, shared by its files:
 *
 *   diff.c       options, order of the steps, exit status
 *   load.c       reads files into numbers, one for each run
 *   stat_file.c  reads the JSON of perfmon stat
 *   order.c      the order in which the runs began
 *   decide.c     decides which differences are changes
 *   columns.c    the numbers of a run that are tested, and the run's speed
 *   shuffle.c    tests which differences are more than chance
 *   bounds.c     what is the same, and what the runs could have seen
 *   math.c       samples, their distance, and intervals; medians and bounds; visits
 *   metrics.c    the metrics of both sides
 *   notes.c      notes about the comparison
 *   text.c       the table
 *   json.c       JSON
 */
#ifndef PM_CLI_DIFF_DATA_H
#define PM_CLI_DIFF_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/common.h"
#include "cli/diff/math.h"
#include "core/report/model/value.h"
#include "core/report/output/out.h"
#include "core/text/diag.h"
#include "perfmon/profile_layout.h"

/*
 * The quantities that are compared in each region: these, and events from DIFF_EVENT on.
 */
enum { DIFF_TIME, DIFF_VISITS, DIFF_EVENT };

/* Stands for all regions together; the value is of a run, not of a visit. */
#define DIFF_TOTAL UINT32_MAX

/* The name of a program that was counted as a whole. */
#define DIFF_PROGRAM "(program)"

/* The result of a comparison that could not be decided. */
enum diff_undecided { DIFF_UNDECIDED_SAME, DIFF_UNDECIDED_FAIL, DIFF_UNDECIDED_OWN };

struct diff_options {
	double alpha;	   /* the chance of any false alarm */
	double min_effect; /* a fraction; below 0: the default for the way of counting */
	const char *only;  /* names of quantities, separated by commas; NULL: all */
	bool inclusive;	   /* with nested regions */
	double not_slower; /* a fraction: the most that a region may be slower; 0: none */
	bool all;	   /* also print rows that did not change */
	bool json;
	unsigned int undecided;	    /* enum diff_undecided */
	struct pm_metrics *metrics; /* NULL: the built-in ones */
};

struct diff_event {
	char *name;
	uint32_t twin;				/* as in pm_report_event */
	struct perfmon_profile_counter counter; /* of its first part */
	bool repeats; /* counts instructions or branches in user mode */
	bool exact;   /* counted by the Valgrind tool */
	bool there[2];
};

struct diff_file {
	char *path;
	uint32_t side;
	uint32_t root; /* the file of the first ancestor of its process */
	uint32_t run;  /* of its side */
	bool ended, partial;
	bool ticks; /* times are in ticks of unknown length */
	bool exact; /* counted by the Valgrind tool: times are not the machine's */
	bool whole; /* a run of a program that perfmon stat counted as a whole */
	bool empty; /* no thread used a region: nothing was counted */
	uint64_t left_out[PERFMON_PROFILE_LEFT_OUT_KINDS]; /* visits, on request */
	struct perfmon_profile_header header;
};

/* The values of one quantity of one region in one file. */
struct diff_entry {
	uint32_t region, quantity, file;
	double sum;
	double visits; /* in the sum */
	double coverage,
		error; /* as in struct pm_value; the error is in the sum's unit */
	uint32_t marks;
	bool lacks;	/* a part of the sum is missing, of unknown size */
	double slack;	/* counts that the sum may include because of how it was read */
	double threads; /* in which the region ran */
	double cost;	/* of measuring, in the sum */
	uint32_t seen;	/* the number in diff_data.visits, from 1; 0: not known */
	bool nested;	/* other regions are nested in it */
};

/* The inputs of one metric of one region in one file. */
struct diff_input {
	uint32_t region, metric, file;
	bool counted; /* all of them are */
	uint32_t marks;
	double coverage;
	double *values;
};

/* The order in which runs began. */
enum diff_order { DIFF_MIXED, DIFF_TURNS, DIFF_BLOCKS };

struct diff_data {
	uint32_t file_count, event_count, entry_count;
	struct diff_file *files;
	struct cli_texts regions;
	struct diff_event *events;
	struct diff_entry *entries;
	const struct pm_metrics *metrics; /* the caller's */
	uint32_t input_count;
	struct diff_input *inputs;
	uint32_t visits_count;
	struct diff_visits *visits; /* of the regions in files, where they are known */
	uint32_t runs[2];
	enum diff_order order;
	bool exact; /* both sides were counted by the Valgrind tool */
	bool whole; /* both sides are whole programs */
};

/* Adds the profile in the file PATH, or the runs that perfmon stat counted, to SIDE.
 * Returns 0, or a negative errno with a message in DIAG. */
int diff_load(struct diff_data *data, uint32_t side, const char *path, bool inclusive,
	      struct pm_diag *diag);
/*
 * Finds the files of the same run, after all are loaded. Returns 0, -ENOMEM, or -EINVAL,
 * each with a message; -EINVAL also if only some files were counted by the Valgrind tool.
 */
int diff_load_end(struct diff_data *data, struct pm_diag *diag);
void diff_data_free(struct diff_data *data);

/* Returns a file of SIDE, which has one. */
const struct diff_file *diff_first_file(const struct diff_data *data, uint32_t side);
const char *diff_quantity(const struct diff_data *data, uint32_t quantity);
/* Returns a region's name, or "(total)" for DIFF_TOTAL. */
const char *diff_region(const struct diff_data *data, uint32_t region);

/*
 * Returns the first word of ONLY (see struct diff_options) that is not a name, or NULL.
 */
const char *diff_only_check(const struct diff_data *data, const char *only);

/* Returns whether all runs of SIDE began before all of the other side. */
bool diff_is_before(const struct diff_data *data, uint32_t side);
/* Sets the order in which the runs began. Returns 0 or -ENOMEM. */
int diff_order_find(struct diff_data *data);
/* Returns by how much that order widens what chance does. */
double diff_order_factor(const struct diff_data *data);

enum diff_verdict {
	DIFF_SAME,    /* at most the minimum effect apart */
	DIFF_LISTED,  /* decides nothing: see enum diff_listed */
	DIFF_TYPICAL, /* the typical visit is the same, and the mean is undecided */
	DIFF_OPEN,    /* undecided */
	DIFF_LESS,
	DIFF_MORE,
	DIFF_ONE_SIDE,
	DIFF_VERDICTS
};

/* Why a row decides nothing. */
enum diff_listed {
	DIFF_LISTED_NOT,
	DIFF_LISTED_TIME,  /* the region has too little of the time */
	DIFF_LISTED_SHORT, /* its visits are too short for the clock */
	DIFF_LISTED_COST   /* the change may be the cost of measuring */
};

/* One quantity of one region in one run. */
struct diff_run {
	bool there;
	double value;	    /* the mean over its visits, or as the column says */
	double sum, visits; /* the mean's */
	double score;	    /* for shuffle.c */
};

/* A column has one of these of the visits of a run. */
enum diff_of { DIFF_MEAN, DIFF_FASTEST, DIFF_MEDIAN, DIFF_OFS };

/* One number of each run, which is tested. Times have several, as logarithms. */
struct diff_column {
	enum diff_of of;
	bool log;
	/* If the column is adjusted for the speed of the runs, points to the one that is not. */
	const struct diff_column *raw;
	struct diff_run *runs; /* of A, then of B */
	double center;	       /* of a log column: the median of all runs */
	/* A log column has B's mean less A's, and the standard error of that. */
	double mean[2], difference, error;
	double rounding; /* smaller differences are rounding */
	double excess;	 /* standard errors beyond the minimum effect */
	double critical; /* the limit for excess, unless the row's too_few */
	double p;	 /* likewise: the chance that any row looks so different */
	bool bounded;	 /* low and high, the bounds of B / A, are known */
	double low, high;
};

struct diff_row {
	uint32_t region, quantity;
	struct diff_sample sample[2]; /* of each run's mean over its visits */
	bool there[2];
	enum diff_verdict verdict;
	bool without_p; /* decided by counts that repeat */
	bool tested;
	bool several;	       /* a run has several threads */
	double slack[2];       /* of the sums, as fractions */
	struct diff_run *runs; /* of A, then of B */
	bool rare; /* the numbers are counts, which vary at least as chance does */
	uint32_t column_count;
	struct diff_column *columns; /* the mean's first, adjusted ones last */
	struct diff_run *points;     /* of the columns */
	/* The column that decided, or the mean's. */
	const struct diff_column *shown;
	const struct diff_column *against; /* one that changed the other way, or NULL */
	bool bounded; /* bounds of B / A are known: the shown column's, or with DIFF_SAME
			 and DIFF_TYPICAL those of the mean */
	double low, high;
	enum diff_listed listed;
	double share;	/* of the time of all regions */
	double visits;	/* of times: the median of the runs' */
	double fastest; /* of times: the median of the runs' fastest visits, in ns */
	bool nested;	/* fastest and median visits are with nested regions */
	bool turns;	/* DIFF_OPEN: too few visits for runs in strict turns */
	double cost[2]; /* of measuring, in the mean */
	/* Times have bounds of ln(B / A), of the mean and of the typical visit. */
	struct diff_bounds of_mean, of_typical;
	enum diff_of typical;
	double seen; /* a change of this size would have been seen; 0: not known */
	uint32_t
		wanted; /* runs on each side that see WANTED; 0: not known, or too many */
	bool too_few;	/* DIFF_OPEN: so few runs cannot show a change */
	bool threads;	/* DIFF_OPEN: one run has threads */
	bool lacks;	/* DIFF_OPEN: a missing part is of unknown size */
	/* The sums of the runs: value, error and marks, and the least coverage of a run. */
	struct pm_value total[2];
	double weight; /* orders the regions: time in the region, in a run */
};

/* A metric of a region, on both sides. */
struct diff_metric_row {
	uint32_t region, metric;
	struct diff_sample sample[2]; /* of the runs that have a value */
	struct pm_value total[2];     /* state, coverage and marks of all runs */
};

struct diff_result {
	const struct diff_data *data;
	const struct diff_options *options;
	uint32_t row_count;
	struct diff_row *rows;
	uint32_t metric_count;
	struct diff_metric_row *metrics; /* by region, in the order of the metrics */
	struct diff_run *runs;		 /* of all rows */
	uint32_t tests;
	uint32_t by[DIFF_VERDICTS];
	uint32_t too_few; /* rows that are open because there are too few runs */
	double wanted;	  /* the change that the runs wanted are for, a fraction */
};

/* Decides the comparison. RESULT refers to DATA and OPTIONS. Returns 0 or -ENOMEM. */
int diff_decide(struct diff_result *result, const struct diff_data *data,
		const struct diff_options *options);
void diff_result_free(struct diff_result *result);

/*
 * Makes the columns of the times in ROW, whose entries of both sides are FROM to TO, and
 * what else it has of the visits. Returns 0 or -ENOMEM.
 */
int diff_columns_make(struct diff_row *row, const struct diff_data *data,
		      const struct diff_entry *from, const struct diff_entry *to);
/* Adds the columns that are adjusted for the speed of each run. Returns 0 or -ENOMEM. */
int diff_columns_adjust(struct diff_result *result, const uint32_t runs[2]);
/* Sets the difference, its error, FACTOR times as large, and the excess of all columns of
 * times in ROW. */
void diff_columns_measure(struct diff_row *row, const uint32_t runs[2], double effect,
			  double factor);

/* Sets the bounds of the times in ROW. Returns 0 or -ENOMEM. */
int diff_row_bounds(struct diff_row *row, const uint32_t runs[2]);
/* Returns DIFF_SAME, DIFF_TYPICAL or DIFF_OPEN, by these bounds. */
enum diff_verdict diff_row_same(const struct diff_row *row, double effect);
/* Sets what a comparison of RUNS would have seen in ROW, and the runs that see WANTED. */
void diff_row_seen(struct diff_row *row, const uint32_t runs[2], double effect,
		   double factor, double wanted);
/* Returns whether ROW is one of those that have to be proven not slower. */
bool diff_row_has_weight(const struct diff_row *row);
/* Returns whether the typical visit of ROW is proven to be at most LIMIT slower. */
bool diff_row_is_proven(const struct diff_row *row, double limit);
/* Returns how many of these rows are proven to be at most LIMIT slower, and leaves the
 * number of the others in UNPROVEN. */
uint32_t diff_proven(const struct diff_result *result, double limit, uint32_t *unproven);

/* Sets critical and p of the columns, or too_few, in the rows that are tested, for RUNS
 * of each side.
 * Returns 0 or -ENOMEM. */
int diff_shuffle(struct diff_result *result, const uint32_t runs[2], double alpha);

/* Adds the metrics of the last file's flat TREE, whose node N is region REGIONS[N].
 * Returns 0 or -ENOMEM. */
int diff_metrics_load(struct diff_data *data, const struct pm_report_tree *tree,
		      const uint32_t *regions, bool inclusive);
/* Adds the metrics to RESULT. Returns 0 or -ENOMEM. */
int diff_metrics(struct diff_result *result);
/* Returns the first of the COUNT metrics of REGION. */
const struct diff_metric_row *diff_metrics_of(const struct diff_result *result,
					      uint32_t region, uint32_t *count);

/* Gives TO the notes about the whole comparison. */
void diff_notes(const struct diff_result *result, const struct cli_notes *to);

const char *diff_verdict_name(const struct diff_row *row);
/* Returns "mean", "fastest" or "median". */
const char *diff_of_name(enum diff_of of);

/* Returns whether no change was found and some rows are undecided. */
static inline bool diff_is_undecided(const struct diff_result *result)
{
	return (result->by[DIFF_OPEN] || result->by[DIFF_TYPICAL]) &&
	       !result->by[DIFF_MORE] && !result->by[DIFF_LESS];
}

/* These hold the JSON of perfmon stat: the time and the counts of each run of a command. */
struct diff_stat_event {
	char *name;
	char *place; /* CPUs; NULL: none */
	char *unit;
	char *status; /* in stat's words */
	double coverage;
	uint32_t sample_count;
	double *samples; /* one for each run; NAN: none */
};

/* A report about the runs of one command. */
struct diff_stat {
	char *command;
	char *modes; /* "user" or "all" */
	bool exact;
	bool failed; /* a run ended by a signal, or with a status other than 0 */
	uint64_t began_realtime_ns;
	uint32_t run_count;
	double *times; /* ns */
	uint32_t event_count;
	struct diff_stat_event *events;
};

/* Returns whether the file PATH is JSON and not a profile. */
bool diff_stat_is_json(const char *path);

/* Reads the COUNT reports in the file PATH; free them with diff_stats_free(), also after
 * a failure. Returns 0, or a negative errno with a message. */
int diff_stats_read(const char *path, struct diff_stat **stats, uint32_t *count,
		    struct pm_diag *diag);
void diff_stats_free(struct diff_stat *stats, uint32_t count);

int diff_text(struct pm_out *out, const struct diff_result *result);
void diff_json(struct pm_out *out, const struct diff_result *result);

#endif
