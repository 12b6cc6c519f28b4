/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon export:
 *
 *   export.c  options, profiles, output
 *   chrome.c  the Chrome trace format
 *   folded.c  folded stacks
 *   weight.c  the values of folded stacks
 */
#ifndef PM_CLI_EXPORT_EXPORT_H
#define PM_CLI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/report/model/value.h"
#include "core/report/output/out.h"
#include "core/text/diag.h"

/* Linux numbers processes and threads up to 2^22. */
#define EXPORT_NO_NUMBER 10000000u

/* A profile to be exported. */
struct export_profile {
	const struct pm_snapshot *snapshot;
	const struct pm_report_model *model;
	uint64_t delay_ns; /* after the begin of the first of all profiles */
	uint32_t pid;	   /* which no other profile has here */
	bool first;
	/* About the folded stacks that were written. */
	uint32_t marks;	    /* marks that reports show */
	bool any, any_less; /* any lines; any values between 0 and 1 */
};

/* Writes a profile. Returns 0 or -ENOMEM; errors of the sink are in OUT. */
int export_chrome(struct pm_out *out, const struct export_profile *profile);
void export_chrome_end(struct pm_out *out);

/* The possible meanings of a name as the value of folded stacks. */
struct export_weights {
	const char *
		name; /* NULL: time, or the first event of a profile of the Valgrind tool */
	struct pm_metrics *metrics; /* metrics of that name that can be weights */
	const char *formula;	    /* of a metric of that name; NULL: there is none */
};

/* Finds the weights with the name NAME, which may be NULL, among ALL metrics, which must
 * live as long. Returns 0 or -ENOMEM. */
int export_weights_make(struct export_weights *weights, const struct pm_metrics *all,
			const char *name);
void export_weights_free(struct export_weights *weights);

struct export_weight {
	enum { EXPORT_TIME, EXPORT_EVENT, EXPORT_METRIC } kind;
	uint32_t index; /* of the event or metric */
};

/* Finds the meaning of WEIGHTS in MODEL, which was made with their metrics. Returns 0, or
 * -ENOENT with a message if the profile has no such value or did not count it. */
int export_weight_find(const struct export_weights *weights,
		       const struct pm_report_model *model, struct export_weight *weight,
		       struct pm_diag *diag);

/* Returns the exclusive value of NODE: time in ns, counts without their scale. */
struct pm_value export_weigh(const struct pm_report_tree *tree, uint32_t node,
			     const struct export_weight *weight);

/* Writes exclusive values; with PER_THREAD, of each thread. */
int export_folded(struct pm_out *out, struct export_profile *profile,
		  const struct export_weight *weight, bool per_thread);

/* perfmon export. Takes its own name as argv[0] and returns the exit status. */
int cli_export(int argc, char **argv);

#endif
