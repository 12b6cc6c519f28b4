/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon export.
 *
 *	export.c	options, profiles, where it goes
 *	export_chrome.c	the Chrome trace format
 *	export_folded.c	folded stacks
 */
#ifndef PM_CLI_EXPORT_EXPORT_H
#define PM_CLI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "os/os.h"
#include "report/report.h"

/* Linux gives numbers to processes and threads up to 2^22. */
#define EXPORT_NO_NUMBER 10000000u

/* A profile on its way out. */
struct export_profile {
	const struct pm_snapshot *snapshot;
	const struct pm_report_model *model;
	uint64_t delay_ns; /* after the first of all profiles began */
	uint32_t pid;	   /* that no other profile has here */
	bool first;
};

/* Each 0 or -ENOMEM; what the sink says stands in OUT. */
int export_chrome(struct pm_out *out, const struct export_profile *profile);
void export_chrome_end(struct pm_out *out);

/* The event that WEIGHT names, -1 for time (also by NULL), in *EVENT. 0, or -ENOENT with
 * the sentence if the profile has no such event, or it was not counted. */
int export_folded_weight(const struct pm_report_model *model, const char *weight,
			 int64_t *event, struct pm_diag *diag);

/* Exclusive values of EVENT; of each thread apart with PER_THREAD. */
int export_folded(struct pm_out *out, const struct export_profile *profile, int64_t event,
		  bool per_thread);

/* perfmon export. Takes its own name as argv[0] and returns the exit status. */
int cli_export(int argc, char **argv);

#endif
