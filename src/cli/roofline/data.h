/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Holds what perfmon roofline shows. The files of this room are:
 *
 *   roofline.c   options, and the order of the steps
 *   runs.c       the two runs of a command, and where they leave their profiles
 *   load.c       profiles become a tree
 *   points.c     paths of both profiles become points, and points get their ceilings
 *   text.c       tables and notes for people, chart.c the chart
 *   json.c       JSON, html.c the page, which has the JSON
 */
#ifndef PM_CLI_ROOFLINE_DATA_H
#define PM_CLI_ROOFLINE_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/ceilings/ceilings.h"
#include "core/report/merge/merge.h"
#include "core/report/model/value.h"
#include "core/report/output/out.h"

/* Times, and by path the counts of another run beside them. */
struct roof_profile {
	struct pm_merge *merge; /* all processes of the timed run */
	struct pm_report_model model;
	struct pm_report_tree tree;
	bool made;	     /* model and tree */
	uint32_t notes_from; /* the first note about the other run */
};

/* Where flops and bytes come from. */
enum roof_source {
	ROOF_EXACT, /* counted by translation: bytes of loads and stores */
	ROOF_QUANTITIES, /* said by the program: bytes are what it takes for traffic of memory */
};

/* Why a path is not a whole point. */
enum roof_problem {
	ROOF_GOOD,
	ROOF_NO_VISITS,	  /* none has ended in the timed run */
	ROOF_OVERLAPS,	  /* its visits overlap others: no time is its own */
	ROOF_ABSENT,	  /* it is not in the run that counted */
	ROOF_DIFFERS,	  /* the two runs were not alike in it */
	ROOF_NOT_COUNTED, /* some event or quantity has no value */
	ROOF_SHORT,	  /* measuring is a tenth or more of its time */
	ROOF_NO_FLOPS,	  /* its bytes alone are compared */
	ROOF_PROBLEMS
};

/* A word for JSON, and a sentence without its full stop. */
extern const struct roof_problem_words {
	const char *name, *text;
} roof_problems[ROOF_PROBLEMS];

struct roof_point {
	enum roof_problem problem;
	bool rated;	/* the values below are known */
	bool placed;	/* it stands in the chart */
	char letter;	/* there */
	double time_ns; /* wall time: of a team, or a thread's mean */
	bool wall; /* the team's own; else threads are taken to run at the same time */
	uint64_t threads;
	uint32_t ceiling_threads;
	double sp, dp, loads,
		stores; /* flops, and bytes; all of a quantity's are loads */
	double flops_per_s, bytes_per_s, intensity;
	/* The ceiling that is the lowest at this intensity: a level of memory, or DP for all
	 * operations of both precisions. */
	enum cli_ceiling_of bound;
	double roof;	/* in its unit: flops a second, without flops bytes a second */
	double percent; /* of it */
	double of_memory; /* bytes a second in percent of memory's bandwidth, for comparison */
};

struct roof {
	const char *title;	    /* the command, or the name of the timed profile */
	const char *timed, *counts; /* profiles that were there; NULL: none */
	const char *ceilings_from;  /* the file that ceilings are of; NULL: none */
	enum roof_source source;
	const struct roof_profile *profile; /* NULL: ceilings alone */
	const struct cli_ceilings *ceilings;
	struct roof_point *points; /* by node of the tree */
	char **notes;
	uint32_t note_count;
};

/* Reads the profiles of the timed run, a file or a folder, and of that which counted, NULL: none, which
 * notes call NAME, into the empty PROFILE. Returns 0, or an exit status after a message. */
int roof_load(struct roof_profile *profile, const char *timed, const char *counts,
	      const char *name);
void roof_unload(struct roof_profile *profile);

/* Returns whether the profile has flops and bytes of ROOF's source. */
bool roof_has_source(const struct roof *roof);
/* Makes the points of ROOF, whose profile is set. Returns 0, or an exit status after a message. */
int roof_points_make(struct roof *roof);
/* Gives them their ceilings, those of the numbers of threads that roof_threads() returns. */
void roof_points_bound(struct roof *roof);
void roof_free(struct roof *roof);

/* Returns the next number of threads above AFTER whose ceilings ROOF needs; 0: there is none. */
uint32_t roof_threads(const struct roof *roof, uint32_t after);
/* Returns what POINT is bound by: "L1", "flops". */
const char *roof_bound_name(const struct roof_point *point);

int roof_text(const struct roof *roof, struct pm_out *out);
/* Draws the points that need the ceilings of THREADS. */
void roof_chart(const struct roof *roof, uint32_t threads, struct pm_out *out);
int roof_json(const struct roof *roof, struct pm_out *out);
int roof_html(const struct roof *roof, struct pm_out *out);

#endif
