/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon export.
 *
 *	export.c	options, profiles, where it goes
 *	chrome.c	the Chrome trace format
 *	folded.c	folded stacks
 *	weight.c	what the values of folded stacks are
 */
#ifndef PM_CLI_EXPORT_EXPORT_H
#define PM_CLI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/report/model/value.h"
#include "core/report/output/out.h"
#include "core/text/diag.h"

/* Linux gives numbers to processes and threads up to 2^22. */
#define EXPORT_NO_NUMBER 10000000u

/* A profile on its way out. */
struct export_profile {
	const struct pm_snapshot *snapshot;
	const struct pm_report_model *model;
	uint64_t delay_ns; /* after the first of all profiles began */
	uint32_t pid;	   /* that no other profile has here */
	bool first;
	/* Of what was written as folded stacks: */
	uint32_t marks;	    /* that reports show */
	bool any, any_less; /* lines; values that are more than 0 and less than 1 */
};

/* Each 0 or -ENOMEM; what the sink says stands in OUT. */
int export_chrome(struct pm_out *out, const struct export_profile *profile);
void export_chrome_end(struct pm_out *out);

/* What a name may mean as the value of folded stacks. */
struct export_weights {
	const char *name; /* NULL: time, or of an exact profile its first event */
	struct pm_metrics *metrics; /* of that name, as far as they can be weights */
	const char *formula;	    /* of a metric of that name; NULL: there is none */
};

/* The weights that are called NAME, which may be NULL, with ALL metrics there are, which
 * must stay as long. 0 or -ENOMEM. */
int export_weights_make(struct export_weights *weights, const struct pm_metrics *all,
			const char *name);
void export_weights_free(struct export_weights *weights);

struct export_weight {
	enum { EXPORT_TIME, EXPORT_EVENT, EXPORT_METRIC } kind;
	uint32_t index; /* of the event, or of the metric */
};

/* What WEIGHTS mean in MODEL, which was made with their metrics. 0, or -ENOENT with the
 * sentence if the profile has no such value, or it was not counted. */
int export_weight_find(const struct export_weights *weights,
		       const struct pm_report_model *model, struct export_weight *weight,
		       struct pm_diag *diag);

/* The exclusive value of NODE: time in ns, counts without their scale. */
struct pm_value export_weigh(const struct pm_report_tree *tree, uint32_t node,
			     const struct export_weight *weight);

/* Exclusive values; of each thread apart with PER_THREAD. */
int export_folded(struct pm_out *out, struct export_profile *profile,
		  const struct export_weight *weight, bool per_thread);

/* perfmon export. Takes its own name as argv[0] and returns the exit status. */
int cli_export(int argc, char **argv);

#endif
