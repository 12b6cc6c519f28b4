/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a report says, before it is put in words: a snapshot's plans as one list of
 * events, its threads' nodes as one tree, and of each number its value, its state and its
 * marks. Here alone are counts scaled, bias subtracted and exclusive values computed.
 */
#ifndef PM_REPORT_MODEL_H
#define PM_REPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/report/metric.h"
#include "core/report/print.h"

/* What an event is for ratios. */
enum pm_role {
	PM_ROLE_NONE,
	PM_ROLE_CYCLES,
	PM_ROLE_INSTRUCTIONS,
	PM_ROLE_BRANCHES,
	PM_ROLE_BRANCH_MISSES,
	PM_ROLE_CACHE_REFERENCES,
	PM_ROLE_CACHE_MISSES,
	PM_ROLES
};

/* The role of COUNTER; *SUFFIX is where its name's modifiers begin, "" without any. */
enum pm_role pm_role_of(const struct perfmon_profile_counter *counter,
			const char **suffix);

/* An event's name as somebody wrote it. */
struct pm_event_name {
	const char *bare; /* without PMU and modifiers */
	size_t length;
	size_t stem;	    /* bytes of all but the modifiers */
	const char *suffix; /* its modifiers, "" without any */
	bool pmu;	    /* it names a PMU */
	enum pm_role role;
};
struct pm_event_name pm_event_name_of(const char *text);

/* NAME without the "exact::" of an event that is counted by translation. */
const char *pm_event_short_name(const char *name);

/* Whether TEXT is the event's NAME, with its modifiers or without: instructions may be
 * asked for where instructions:u is counted, or exact::instructions. */
bool pm_event_is_called(const char *name, const char *text);

/* A logical event: one column. */
struct pm_report_event {
	char name[128];
	struct pm_event_name parsed; /* NAME */
	const struct perfmon_profile_counter *first;
	const char *suffix; /* its modifiers: ratios are of equal ones */
	bool suffix_is_new; /* no event before it has these */
	enum pm_role role;
	uint32_t twin;	  /* columns before this one of the very same event */
	uint32_t parts;	  /* counters that are summed (hybrid CPUs) */
	uint32_t refused; /* of these */
	struct perfmon_profile_cost cost; /* of a visit, the highest of the parts */
	bool kernel_only;
	bool user_read; /* by some thread */
	bool syscall_read;
	const struct pm_erratum *erratum; /* of the CPU; NULL: none is known */
	/* NULL: a column of the report. Else it has the counts of the column OF in those
	 * threads alone that counted all events of this metric. */
	const struct pm_report_metric *only;
	uint32_t of;
};

/* A metric whose inputs are all counted: one column. */
struct pm_report_metric {
	const struct pm_metric *metric;
	/* Of its inputs; PM_NO_EVENT: no event. If some thread counted a part of these
	 * alone, they are events beyond event_count, of the others. */
	uint32_t events[PM_METRIC_INPUTS];
	uint32_t base; /* the first event: times and visits are those of its counts;
			* PM_NO_EVENT: of the node */
};
#define PM_NO_EVENT UINT32_MAX

/* Sums of one event over some visits and threads. */
struct pm_report_count {
	uint64_t sum;
	uint64_t lost_ns;
	uint64_t measured; /* visits that the sum stands for */
	uint64_t sampled;  /* of these, measured themselves: with a stride not all */
	double error;	   /* square of how far the sum may be off, at 99 % */
	uint64_t windows;  /* measured visits, those of nodes below included */
	double added;	   /* by measuring, in these: at least, */
	double outer;	   /* and in visits around them */
	uint64_t threads;  /* in which it was open */
	double time_ns;	   /* of the measured visits in these threads */
	double on_cpu_ns;  /* the part of that on the CPU */
	double running_ns; /* and of that on the hardware */
	double squares;
};

struct pm_report_node {
	uint32_t parent;
	uint32_t region;
	uint32_t depth;
	uint32_t first_child; /* in order of inclusive time, flat of exclusive; 0: none */
	uint32_t next;	      /* sibling; 0: none */
	uint64_t
		visits; /* ended; what follows is scaled to these where a stride was on */
	uint64_t entered;
	uint64_t measured;    /* of visits; visit_ticks and the squares are of these */
	uint64_t unmeasured;  /* visits in threads that measured none of theirs */
	uint64_t time_ticks;  /* inclusive; in a flat tree without recursion's repeats */
	uint64_t visit_ticks; /* sum over visits, for the mean */
	uint64_t children_ticks;
	uint64_t least_ticks; /* as time_ticks, with visits that are open: at least */
	uint64_t children_least;
	double time_squares;
	uint64_t time_min, time_max;
	uint64_t all_ticks; /* time_ticks before measuring was taken out of it */
	double spent_ticks; /* on measuring its own visits, in them and around them */
	double added_ticks; /* by measuring, to its inclusive time: at least */
	double outer_ticks; /* and to what is around it */
	double children_added_ticks;
	uint64_t off_cpu_ns, children_off_cpu_ns;
	uint64_t fallback_reads, retries, migrations, mismatched_ends, dropped_counts,
		defects, spilled;
	double time_error, own_error; /* squares, of inclusive and exclusive ticks */
	uint64_t torn;		      /* nodes */
	bool astray; /* below a visit that did not end by its END, with ENDs unmatched */
	uint64_t threads; /* that have this path */
	uint64_t thread_min_ticks, thread_max_ticks;
	bool spread_unknown; /* these are not known of some threads */
	uint64_t histogram[PERFMON_PROFILE_BINS];
};

struct pm_report_model {
	const struct pm_snapshot *snapshot;
	bool subtract_bias;
	uint32_t event_count;  /* columns of events in the report, */
	uint32_t column_count; /* and in trees: with those that metrics alone read */
	struct pm_report_event *events;
	uint32_t **event_of;		/* by plan and counter */
	uint32_t *region_of;		/* by id: the lowest id with the same name */
	struct pm_metrics *own_metrics; /* NULL: the caller's */
	bool sampled;			/* a stride was on in some thread */
	bool exact; /* counted by translation: ticks are counts of the first event */
	uint32_t issue_width; /* instructions a cycle; 0: not known */
	uint32_t metric_count;
	struct pm_report_metric *metrics;
	uint32_t note_count;
	char **notes; /* what is not there, and why */
};

struct pm_report_tree {
	const struct pm_report_model *model;
	bool flat;
	uint32_t node_count; /* nodes[0], the root, included: the sum of all, no region */
	struct pm_report_node *nodes;	  /* parents before children */
	struct pm_report_count *counts;	  /* node_count times the model's column_count */
	struct pm_report_count *children; /* likewise: sums over each node's children */
	uint64_t total_ticks;		  /* exclusive times of all nodes */
	uint64_t threads;
};

/* Each 0 or -ENOMEM. SNAPSHOT and METRICS (NULL: the built-in ones) must stay alive as
 * long as the model. */
int pm_report_model_make(struct pm_report_model *model,
			 const struct pm_snapshot *snapshot, bool subtract_bias,
			 const struct pm_metrics *metrics);
void pm_report_model_free(struct pm_report_model *model);

/* Checks MODEL by the CPUs that have counted: those that its profile tells of, or those of
 * MACHINE (NULL: not known). Without either nothing is checked by them. */
void pm_report_check_sanity(struct pm_report_model *model,
			    const struct pm_machine *machine);

/* Whether SNAPSHOT was counted exactly, by translation: its times are not those of the
 * machine, and no report shows them. */
bool pm_report_is_exact(const struct pm_snapshot *snapshot);
/* What is said of such a profile. */
#define PM_REPORT_EXACT                                                                  \
	"counted exactly by translation, 3 to 20 times slower; times are not those of "  \
	"the machine"
/* What the shares of a report are of: "the time", or of an exact profile the first event. */
const char *pm_report_weight_name(const struct pm_report_model *model);

/* All that a process has counted of an event of an exact profile: by its regions (their
 * exclusive values), by measuring, if that is subtracted, and outside of them. */
struct pm_report_rest {
	bool known;
	bool open;  /* some visits had not ended: they are outside, too */
	bool about; /* not all visits were measured: these are estimates */
	uint64_t total, regions, measuring, outside;
};
/* TREE is that of all threads. */
struct pm_report_rest pm_report_rest(const struct pm_report_tree *tree, uint32_t event);

/* The tree of thread number THREAD of the snapshot, or of all (-1). */
int pm_report_tree_make(struct pm_report_tree *tree, const struct pm_report_model *model,
			int64_t thread);
/* The tree of the COUNT THREADS, by their places in the snapshot. */
int pm_report_tree_make_of(struct pm_report_tree *tree,
			   const struct pm_report_model *model, const uint32_t *threads,
			   uint32_t count);
/* TREE by region: one level; a region below itself counts once in inclusive values. */
int pm_report_tree_flatten(struct pm_report_tree *flat,
			   const struct pm_report_tree *tree);
void pm_report_tree_free(struct pm_report_tree *tree);

/* The node that follows NODE from the top down, 0 at the end; begin with 0. */
uint32_t pm_report_tree_next(const struct pm_report_tree *tree, uint32_t node);

/* Where the hottest path of TREE ends: the node with the most exclusive time. The path's
 * other nodes are its parents. 0: no node has any time. */
uint32_t pm_report_hottest(const struct pm_report_tree *tree);

enum pm_state {
	PM_COUNTED,
	PM_NOT_COUNTED, /* open, but never on the hardware; or nothing ended yet */
	PM_NEVER_OPENED
};

#define PM_MARK_MULTIPLEXED 0x001u  /* ~ scaled by its coverage */
#define PM_MARK_PART	    0x002u  /* < counted part of the time, not scaled */
#define PM_MARK_RETRIED	    0x004u  /* r */
#define PM_MARK_FALLBACK    0x008u  /* f */
#define PM_MARK_IN_FLIGHT   0x010u  /* ? visits that had not ended */
#define PM_MARK_TORN	    0x020u  /* ? caught inside an update */
#define PM_MARK_MISMATCHED  0x040u  /* ! */
#define PM_MARK_DROPPED	    0x080u  /* d */
#define PM_MARK_THREADS	    0x100u  /* p not open in all threads */
#define PM_MARK_DEFECT	    0x200u  /* x */
#define PM_MARK_SHORT	    0x400u  /* b too short against its bias */
#define PM_MARK_IMPLAUSIBLE 0x800u  /* ^ more than the machine can do */
#define PM_MARK_ERRATUM	    0x1000u /* e */
#define PM_MARK_MIGRATED    0x2000u /* m some visits ended on another CPU */
#define PM_MARK_SAMPLED	    0x4000u /* +- of visits at random */
#define PM_MARKS	    15

struct pm_value {
	enum pm_state state;
	double value;	  /* scaled by coverage, bias subtracted on request */
	uint64_t sum;	  /* as counted */
	double coverage;  /* 0 to 1 */
	uint64_t threads; /* in which it was open */
	double error; /* VALUE is no further off with a certainty of 99 %; INFINITY: it
		       * cannot be told */
	uint32_t marks;
};

struct pm_value pm_report_count(const struct pm_report_tree *tree, uint32_t node,
				uint32_t event, bool exclusive);
/* In ticks. */
struct pm_value pm_report_time(const struct pm_report_tree *tree, uint32_t node,
			       bool exclusive);
/* A count against what measuring adds to it, per measured visit. */
struct pm_short {
	double error;  /* at least so much of the count is not the region's */
	double mean;   /* counts */
	double bias;   /* of these, measuring's: nested visits included */
	double needed; /* counts for an error that is not marked */
	double batch;  /* visits whose work in one comes to that; 0: cannot be told */
	bool nested;   /* nested visits have a part in the bias */
};
/* Whether the error is beyond the tolerance; all 0 if the bias is not known. */
bool pm_report_is_short(const struct pm_report_tree *tree, uint32_t node, uint32_t event,
			bool exclusive, struct pm_short *out);
/* Whether measuring is a tenth or more of NODE's time. */
bool pm_report_is_mostly_cost(const struct pm_report_node *node, bool exclusive);
/* What measuring took, of the time of all visits and of what BEGIN and END take besides. */
struct pm_report_cost {
	bool known;
	double part;	    /* of that time, 0 to 1 */
	uint32_t region;    /* the one whose visits took most of it */
	double region_part; /* of the cost */
	/* Of an exact profile the share is of its first event, and so are these. */
	double pair_ns;	     /* of a visit, read in user space; 0: not known */
	double call_pair_ns; /* and read by read(2) */
	bool calls;	     /* some visits were read by read(2) */
};
/* TREE is that of all threads. */
int pm_report_cost(const struct pm_report_tree *tree, struct pm_report_cost *out);
/* Whether VALUE of METRIC is more than the machine can do; *LIMIT: that, 0 if not
 * known. */
bool pm_report_is_implausible(const struct pm_report_model *model, uint32_t metric,
			      double value, double *limit);
/* The first event that was open in the visits of ALL, the tree of all threads, and never
 * on the hardware; PM_NO_EVENT: there is none. */
uint32_t pm_report_starved(const struct pm_report_tree *all);
/* A mark's name in JSON, of one bit; NULL: there is no such mark. */
const char *pm_report_mark_name(uint32_t mark);
/* In the metric's unit; what an input lacks, it lacks. */
struct pm_value pm_report_metric(const struct pm_report_tree *tree, uint32_t node,
				 uint32_t metric, bool exclusive);
/* The inputs of that, in VALUES, of PM_METRIC_INPUTS; the value itself is 0. */
struct pm_value pm_report_metric_inputs(const struct pm_report_tree *tree, uint32_t node,
					uint32_t metric, bool exclusive, double *values);
/* Its name as a table's heading. */
const char *pm_report_metric_heading(const struct pm_report_metric *metric);
/* The parts of the model that are metrics: for pm_report_model_make() and _free(). */
int pm_report_metrics_bind(struct pm_report_model *model,
			   const struct pm_metrics *metrics);
void pm_report_metrics_free(struct pm_report_model *model);
/* Whether THREAD counted all events of METRIC. */
bool pm_report_metric_is_whole(const struct pm_report_model *model,
			       const struct pm_report_metric *metric,
			       const struct pm_snapshot_thread *thread);
/* The sums of EVENT in NODE, exclusive if asked for. */
struct pm_report_count pm_report_sums(const struct pm_report_tree *tree, uint32_t node,
				      uint32_t event, bool exclusive);
/* Of the time of one visit, in ticks; negative if there is none. */
double pm_report_mean(const struct pm_report_node *node);
double pm_report_deviation(const struct pm_report_node *node);

/* By how much the total of ALL visits may be off, if MEASURED of them have this sum and
 * these sums of squares and cubes. */
double pm_report_error(double sum, double squares, double cubes, double measured,
		       double all);

/* Name of a node's region. */
static inline const char *pm_report_name(const struct pm_report_tree *tree, uint32_t node)
{
	return tree->model->snapshot->regions[tree->nodes[node].region];
}

#endif
