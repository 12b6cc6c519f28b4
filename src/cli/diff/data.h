/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon diff: what its files share.
 *
 *	diff.c		options, what is done in which order, the exit status
 *	load.c		from files to numbers, one for each run
 *	stat_file.c	the JSON of perfmon stat
 *	decide.c	what the numbers show
 *	shuffle.c	which differences are more than chance
 *	math.c		samples, their distance, and intervals
 *	metrics.c	the metrics of both sides
 *	notes.c		what must be known besides
 *	text.c		the table for people
 *	json.c		JSON
 */
#ifndef PM_CLI_DIFF_DATA_H
#define PM_CLI_DIFF_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/diff/math.h"
#include "core/report/model/value.h"
#include "core/report/output/out.h"
#include "core/text/diag.h"
#include "perfmon/profile_layout.h"

/* What is compared of each region: these, and the events from DIFF_EVENT on. */
enum { DIFF_TIME, DIFF_VISITS, DIFF_EVENT };

/* In place of a region's number: all regions together, in a run and not in a visit. */
#define DIFF_TOTAL UINT32_MAX

/* What a program is called that was counted as a whole. */
#define DIFF_PROGRAM "(program)"

/* What a comparison is that could not be decided. */
enum diff_undecided { DIFF_UNDECIDED_SAME, DIFF_UNDECIDED_FAIL, DIFF_UNDECIDED_OWN };

struct diff_options {
	double alpha;	   /* the chance of any false alarm */
	double min_effect; /* a fraction; below 0: by how it was counted */
	const char *only;  /* names of quantities, with ',' between; NULL: all */
	bool inclusive;	   /* with nested regions */
	bool all;	   /* rows of what did not change, too */
	bool json;
	unsigned int undecided;	    /* enum diff_undecided */
	struct pm_metrics *metrics; /* NULL: the built-in ones */
};

struct diff_event {
	char *name;
	uint32_t twin;				/* as pm_report_event has it */
	struct perfmon_profile_counter counter; /* the first of its parts */
	bool repeats; /* a count of user mode's instructions or branches */
	bool exact;   /* counted by translation */
	bool there[2];
};

struct diff_file {
	char *path;
	uint32_t side;
	uint32_t root; /* the file of the first process that its own was forked from */
	uint32_t run;  /* of its side */
	bool ended, partial;
	bool ticks; /* times are in ticks of unknown length */
	bool exact; /* counted by translation: times are not those of the machine */
	bool whole; /* a run of a program that perfmon stat counted as a whole */
	bool empty; /* no thread came to a region: nothing was counted */
	struct perfmon_profile_header header;
};

/* What one file says of one quantity of one region. */
struct diff_entry {
	uint32_t region, quantity, file;
	double sum;
	double visits;		/* that the sum is of */
	double coverage, error; /* as in struct pm_value, the error in the sum's unit */
	uint32_t marks;
	bool lacks;	/* a part of the sum is missing, nobody knows how large */
	double slack;	/* counts that may be in the sum by how it was read */
	double threads; /* in which the region ran */
};

/* What one file says of one metric of one region: its inputs. */
struct diff_input {
	uint32_t region, metric, file;
	bool counted; /* all of them */
	uint32_t marks;
	double coverage;
	double *values;
};

struct diff_data {
	uint32_t file_count, region_count, event_count, entry_count;
	uint32_t file_room, region_room, event_room, entry_room;
	struct diff_file *files;
	char **regions;
	void *region_tree;
	struct diff_event *events;
	struct diff_entry *entries;
	const struct pm_metrics *metrics; /* the caller's */
	uint32_t input_count;
	struct diff_input *inputs;
	uint32_t runs[2];
	bool exact; /* both sides were counted by translation */
	bool whole; /* both are programs as a whole */
};

/* Adds the profile in the file PATH, or the runs that perfmon stat counted, to SIDE. 0, or a negative errno with the sentence. */
int diff_load(struct diff_data *data, uint32_t side, const char *path, bool inclusive,
	      struct pm_diag *diag);
/* When all are loaded: which files are of the same run. 0 or -EINVAL, -ENOMEM with the
 * sentence; the first also if some were counted by translation and some were not. */
int diff_load_end(struct diff_data *data, struct pm_diag *diag);
void diff_data_free(struct diff_data *data);

const char *diff_quantity(const struct diff_data *data, uint32_t quantity);
/* A region's name; "(total)" of DIFF_TOTAL. */
const char *diff_region(const struct diff_data *data, uint32_t region);

/* Where in ONLY (see struct diff_options) something is no name; NULL: nowhere. */
const char *diff_only_check(const struct diff_data *data, const char *only);

enum diff_verdict {
	DIFF_SAME, /* no more than the minimum effect apart */
	DIFF_OPEN, /* the runs do not tell */
	DIFF_LESS,
	DIFF_MORE,
	DIFF_ONE_SIDE,
	DIFF_VERDICTS
};

/* What one run has of one quantity of one region. */
struct diff_run {
	bool there;
	double value;	    /* the mean over its visits */
	double sum, visits; /* of which it is that */
	double score;	    /* for shuffle.c */
};

struct diff_row {
	uint32_t region, quantity;
	struct diff_sample sample[2]; /* of means over the visits of a run */
	bool there[2];
	enum diff_verdict verdict;
	bool exact; /* found by counts that repeat, without a p */
	bool tested;
	struct diff_run *runs; /* of A, then of B */
	bool rare; /* the numbers are counts, which vary at least as those of chance */
	double rounding; /* differences up to this are none */
	double excess;	 /* if tested: standard errors beyond the minimum effect, */
	double critical; /* which have to be more than this; unless too_few */
	double p;	 /* likewise: of any row to look so different by chance */
	bool bounded;	 /* low and high are known: of B / A */
	double low, high;
	bool too_few; /* DIFF_OPEN: so few runs could not show a change here */
	bool threads; /* DIFF_OPEN: threads in one run */
	bool lacks;   /* DIFF_OPEN: of a part nobody knows what it was */
	/* Of the runs' sums: value, error and marks, and the least coverage of a run. */
	struct pm_value total[2];
	double weight; /* for the order of regions: time in the region */
};

/* A metric of a region, on both sides. */
struct diff_metric_row {
	uint32_t region, metric;
	struct diff_sample sample[2]; /* of the runs that have a value */
	struct pm_value total[2];     /* state, coverage and marks of all runs */
};

struct diff_result {
	uint32_t row_count;
	struct diff_row *rows;
	uint32_t metric_count;
	struct diff_metric_row *metrics; /* by region, in the order of the metrics */
	struct diff_run *runs;		 /* of all rows */
	uint32_t tests;
	uint32_t by[DIFF_VERDICTS];
	uint32_t too_few; /* rows that are open for want of runs */
};

/* 0 or -ENOMEM. */
int diff_decide(struct diff_result *result, const struct diff_data *data,
		const struct diff_options *options);
void diff_result_free(struct diff_result *result);

/* Gives the rows that are tested their critical and p, or too_few, for RUNS of each side. 0
 * or -ENOMEM. */
int diff_shuffle(struct diff_result *result, const uint32_t runs[2], double alpha);

/* Adds the metrics of the last file's flat TREE, whose node N is region REGIONS[N]. 0 or
 * -ENOMEM. */
int diff_metrics_load(struct diff_data *data, const struct pm_report_tree *tree,
		      const uint32_t *regions, bool inclusive);
/* The metrics of RESULT. 0 or -ENOMEM. */
int diff_metrics(struct diff_result *result, const struct diff_data *data);
/* The first of the COUNT metrics of REGION. */
const struct diff_metric_row *diff_metrics_of(const struct diff_result *result,
					      uint32_t region, uint32_t *count);

/* Sentences that hold for the whole comparison; NULL after the last. Writes into
 * BUFFER. */
#define DIFF_NOTE 400
const char *diff_note(const struct diff_data *data, const struct diff_result *result,
		      const struct diff_options *options, uint32_t i,
		      char buffer[DIFF_NOTE]);

const char *diff_verdict_name(const struct diff_row *row);

/* Whether no change was found, and something is open. */
static inline bool diff_is_undecided(const struct diff_result *result)
{
	return result->by[DIFF_OPEN] && !result->by[DIFF_MORE] && !result->by[DIFF_LESS];
}

int diff_text(struct pm_out *out, const struct diff_data *data,
	      const struct diff_result *result, const struct diff_options *options);
void diff_json(struct pm_out *out, const struct diff_data *data,
	       const struct diff_result *result, const struct diff_options *options);

#endif
