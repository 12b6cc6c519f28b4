/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of a report: each has a value, a state and marks. Counts are scaled, bias is
 * subtracted and exclusive values are computed here alone.
 */
#ifndef PM_REPORT_VALUE_H
#define PM_REPORT_VALUE_H

#include "core/report/model/path.h"
#include "core/text/diag.h"

enum pm_state {
	PM_COUNTED,
	PM_NOT_COUNTED, /* open, but never on the hardware; or nothing ended yet */
	PM_NEVER_OPENED,
	PM_NOT_SAID /* a quantity that the program did not say, or a formula of other regions */
};
/* Returns the name of STATE in JSON and CSV. */
const char *pm_report_state_name(enum pm_state state);

#define PM_MARK_MULTIPLEXED 0x001u   /* ~ scaled by its coverage */
#define PM_MARK_PART	    0x002u   /* < counted part of the time, not scaled */
#define PM_MARK_RETRIED	    0x004u   /* r */
#define PM_MARK_FALLBACK    0x008u   /* f */
#define PM_MARK_IN_FLIGHT   0x010u   /* ? visits that had not ended */
#define PM_MARK_TORN	    0x020u   /* ? caught inside an update */
#define PM_MARK_MISMATCHED  0x040u   /* ! */
#define PM_MARK_DROPPED	    0x080u   /* d */
#define PM_MARK_THREADS	    0x100u   /* p not open in all threads */
#define PM_MARK_DEFECT	    0x200u   /* x */
#define PM_MARK_SHORT	    0x400u   /* b too short against its bias */
#define PM_MARK_IMPLAUSIBLE 0x800u   /* ^ more than the machine can do */
#define PM_MARK_ERRATUM	    0x1000u  /* e */
#define PM_MARK_MIGRATED    0x2000u  /* m some visits ended on another CPU */
#define PM_MARK_SAMPLED	    0x4000u  /* +- of visits at random */
#define PM_MARK_LEFT_OUT    0x8000u  /* / has its first visits alone */
#define PM_MARK_FRACTION    0x10000u /* +- counted by 8-bit fractions */
#define PM_MARK_BELOW	    0x20000u /* ~0 no more than these may be off */
#define PM_MARK_RUNS	    0x40000u /* <> the runs were not alike here */
#define PM_MARK_COARSE	    0x80000u /* | visits not much longer than the counter's steps */
#define PM_MARK_AT_MOST	    0x100000u /* <= paths that may have been open at once */
#define PM_MARKS	    21

struct pm_value {
	enum pm_state state;
	double value;	 /* scaled by coverage, bias subtracted on request */
	uint64_t sum;	 /* as counted */
	double coverage; /* 0 to 1 */
	double error; /* VALUE is no further off: because of fractions for certain, because of
		       * a stride with a certainty of 99 %; INFINITY: it cannot be told */
	bool percent; /* a metric in %: tables show the error in points */
	uint32_t marks;
};

/* Returns the value of EVENT in NODE. */
struct pm_value pm_report_count(const struct pm_report_tree *tree, uint32_t node,
				uint32_t event, bool exclusive);
/* Returns NODE's time, in ticks. */
struct pm_value pm_report_time(const struct pm_report_tree *tree, uint32_t node,
			       bool exclusive);
/* Returns the value of METRIC in its unit. It lacks what any of its inputs lacks. */
struct pm_value pm_report_metric(const struct pm_report_tree *tree, uint32_t node,
				 uint32_t metric, bool exclusive);
/* Writes the inputs of the formula METRIC to VALUES, of PM_METRIC_INPUTS. Returns the state and the marks, with a
 * value of 0. */
struct pm_value pm_report_metric_inputs(const struct pm_report_tree *tree, uint32_t node,
					const struct pm_report_metric *metric,
					bool exclusive, double *values);
/* Returns by how much the count of EVENT, a topdown metric, may be off; INFINITY: it cannot be
 * told. */
double pm_report_fraction_error(const struct pm_report_tree *tree, uint32_t node,
				uint32_t event, bool exclusive);
/* Returns the name in JSON of MARK, which is one bit. */
const char *pm_report_mark_name(uint32_t mark);
/* Adds the names of MARKS to WORDS, with BETWEEN between them. */
void pm_report_mark_words(uint32_t marks, const char *between, struct pm_diag *words);

/* A count against what measuring adds to it, per measured visit. */
struct pm_short {
	double error;  /* at least so much of the count is not the region's */
	double mean;   /* counts */
	double bias;   /* of these, measuring's: nested visits included */
	double needed; /* counts for an error that is not marked */
	double batch;  /* visits whose work in one comes to that; 0: cannot be told */
	bool nested;   /* nested visits have a part in the bias */
};
/* Returns true if the error is beyond the tolerance. *OUT is all 0 if the bias is not known. */
bool pm_report_is_short(const struct pm_report_tree *tree, uint32_t node, uint32_t event,
			bool exclusive, struct pm_short *out);
/* Returns true if measuring is a tenth or more of NODE's time. */
bool pm_report_is_mostly_cost(const struct pm_report_tree *tree, uint32_t node,
			      bool exclusive);
/* Returns the most that the formula METRIC can come to on this machine; 0: it is not known. */
double pm_report_metric_limit(const struct pm_report_model *model,
			      const struct pm_report_metric *metric);
/* Returns the first event that was open in the visits of ALL, the tree of all threads, and never
 * on the hardware; PM_NO_EVENT: there is none. */
uint32_t pm_report_starved(const struct pm_report_tree *all);

/* A process's total of an event of an exact profile: by its regions (their exclusive values),
 * by measuring, if that is subtracted, and outside of them. */
struct pm_report_rest {
	bool known;
	bool open;  /* some visits had not ended: they are outside, too */
	bool about; /* not all visits were measured: these are estimates */
	uint64_t total, regions, measuring, outside;
};
/* TREE is that of all threads. */
struct pm_report_rest pm_report_rest(const struct pm_report_tree *tree, uint32_t event);

/* The cost of measuring, as a part of the time of all visits and of what BEGIN and END take
 * besides. */
struct pm_report_cost {
	bool known;
	double part;	    /* of that time, 0 to 1: at most, */
	double part_least;  /* and where the program's own work waits beside it */
	uint32_t region;    /* the one whose visits took most of it */
	double region_part; /* of the cost */
	/* In an exact profile the share and these are counts of its first event. */
	double pair_ns;	     /* of a visit, read in user space; 0: not known */
	double call_pair_ns; /* and read by read(2) */
	bool calls;	     /* some visits were read by read(2) */
};
/* TREE is that of all threads. 0 or -ENOMEM. */
int pm_report_cost(const struct pm_report_tree *tree, struct pm_report_cost *out);

#endif
