/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns of a report: the events of all plans of a snapshot as one list, and the metrics
 * whose inputs are all counted.
 */
#ifndef PM_REPORT_MODEL_H
#define PM_REPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/report/model/event_name.h"
#include "core/report/model/metric.h"
#include "core/topology/topology.h"

/* The topdown metrics that divide all slots: retiring, bad-spec, fe-bound, be-bound. */
#define PM_TOPDOWN_LEVEL1 4

/* A logical event: one column. */
struct pm_report_event {
	char name[128];
	struct pm_event_name parsed; /* NAME */
	const struct perfmon_profile_counter *first;
	const char *suffix; /* its modifiers: ratios are of equal ones */
	bool suffix_is_new; /* no event before it has these */
	enum pm_generic generic;
	uint32_t twin;	  /* columns before this one of the very same event */
	uint32_t parts;	  /* counters that are summed (hybrid CPUs) */
	uint32_t refused; /* of these */
	struct perfmon_profile_cost cost; /* of a visit, the highest of the parts */
	bool kernel_only;
	/* Counts for packages: a node's value is that of the time in which any thread had a visit
	 * of it open. Those of several nodes are parts of a sum only if they were not open at once. */
	bool package;
	bool is_energy; /* and moves about every PM_PACKAGES_ENERGY_NS */
	bool user_read; /* by some thread */
	bool syscall_read;
	bool joined; /* counted in another run: its marks are in pm_report_count */
	const struct pm_erratum *erratum; /* of the CPU; NULL: none is known */
	/* A topdown metric is counted by an 8-bit fraction of slots. It has their column, and those
	 * of level 1. PM_NO_EVENT: none is counted along with it. */
	bool fraction;
	uint32_t slots, level1[PM_TOPDOWN_LEVEL1];
	/* NULL: a column of the report. Else it has the counts of the column OF in those
	 * threads alone that counted all events of this metric. */
	const struct pm_report_metric *only;
	uint32_t of;
	/* A quantity, which the program said (perfmon/quantity.h), and no event: the region that is
	 * called as it, and the flags of its nodes. 0: an event. FIRST is its own then. */
	uint32_t quantity, quantity_flags;
};

/* Returns true if EVENT's values are the largest of others, and not their sum. */
static inline bool pm_report_is_largest(const struct pm_report_event *event)
{
	return event->quantity_flags &
	       (PERFMON_PROFILE_NODE_MAXIMUM | PERFMON_PROFILE_NODE_LAST);
}

/* Returns true if EVENT is the sum of a topdown metric and an event of a kind of core without slots. */
static inline bool pm_report_is_mixed(const struct pm_report_event *event)
{
	return event->fraction && event->parts > 1;
}

/* A metric whose inputs are all counted: one column. */
struct pm_report_metric {
	const struct pm_metric *metric;
	/* The columns of its inputs; PM_NO_EVENT: no event. If some thread counted only a
	 * part of these, they are columns beyond event_count, without that thread. */
	uint32_t events[PM_METRIC_INPUTS];
	uint32_t
		base; /* the first event of the report's own threads: times and visits are those of its counts;
			* PM_NO_EVENT: of the node */
	/* The formula that stands in the same column for other regions, by its place in `metrics`;
	 * 0: none. */
	uint32_t other;
};
#define PM_NO_EVENT UINT32_MAX

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
	uint32_t issue_width;	/* instructions a cycle; 0: not known */
	uint32_t metric_count;	/* columns of the report, */
	uint32_t formula_count; /* and with those for some regions that follow them */
	struct pm_report_metric *metrics;
	uint32_t note_count;
	char **notes; /* what is not there, and why */
};

/* Returns the columns of the counters of THREAD, or NULL if it has none. */
static inline const uint32_t *pm_report_columns(const struct pm_report_model *model,
						const struct pm_snapshot_thread *thread)
{
	return thread->plan ? model->event_of[thread->plan - model->snapshot->plans]
			    : NULL;
}

/* Makes the model. 0 or -ENOMEM. SNAPSHOT and METRICS (NULL: the built-in ones) must stay alive
 * as long as the model. */
int pm_report_model_make(struct pm_report_model *model,
			 const struct pm_snapshot *snapshot, bool subtract_bias,
			 const struct pm_metrics *metrics);
void pm_report_model_free(struct pm_report_model *model);

/* Returns true if A and B are the same event, in the same unit. */
bool pm_report_same_event(const struct perfmon_profile_counter *a,
			  const struct perfmon_profile_counter *b);

/* Checks MODEL by the CPUs that have counted: those that its profile names, or those of MACHINE
 * (NULL: not known). Without either the CPUs are not considered. */
void pm_report_check_sanity(struct pm_report_model *model,
			    const struct pm_machine *machine);

/* Returns true if SNAPSHOT was counted exactly, by translation: its times are not those of the
 * machine, and no report shows them. */
bool pm_report_is_exact(const struct pm_snapshot *snapshot);
/* The sentence about such a profile. */
#define PM_REPORT_EXACT                                                                  \
	"counted exactly by translation, 3 to 20 times slower; times are not those of "  \
	"the machine"
/* Returns the name of the whole that a report's shares are of: "the time", or of an exact profile
 * the first event. */
const char *pm_report_weight_name(const struct pm_report_model *model);

/* Makes columns of the quantities of MODEL's snapshot; frees what they have. 0 or -ENOMEM. */
int pm_report_quantities_make(struct pm_report_model *model);
void pm_report_quantities_free(struct pm_report_model *model);
/* Returns the column of NODE, a quantity. */
uint32_t pm_report_quantity(const struct pm_report_model *model,
			    const struct perfmon_profile_node *node);

/* Finds the topdown metrics among MODEL's columns. 0 or -ENOMEM. */
int pm_report_topdown_bind(struct pm_report_model *model);

/* Returns METRIC's name as a table's heading. */
const char *pm_report_metric_heading(const struct pm_report_metric *metric);
/* Make and free the metrics of MODEL, for pm_report_model_make() and pm_report_model_free(). */
int pm_report_metrics_bind(struct pm_report_model *model,
			   const struct pm_metrics *metrics);
void pm_report_metrics_free(struct pm_report_model *model);
/* Returns the formula of column METRIC for the region called NAME, or NULL. */
const struct pm_report_metric *pm_report_metric_of(const struct pm_report_model *model,
						   uint32_t metric, const char *name);
/* Returns true if THREAD counted all events of METRIC. */
bool pm_report_metric_is_whole(const struct pm_report_model *model,
			       const struct pm_report_metric *metric,
			       const struct pm_snapshot_thread *thread);

#endif
