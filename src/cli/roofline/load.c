/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/roofline/data.h"

#include <string.h>

#include "cli/common/common.h"
#include "cli/join/join.h"

/* Makes the model and the tree of what was read. */
static int tree_make(struct roof_profile *profile)
{
	const struct pm_snapshot *sum = pm_merge_sum(profile->merge);
	/* Counts of measuring are not the region's: an empty region has no bytes. */
	int err = pm_report_model_make(&profile->model, sum, true, NULL);

	if (err)
		return err;
	err = pm_report_tree_make(&profile->tree, &profile->model, NULL, 0);
	if (err)
		pm_report_model_free(&profile->model);
	profile->made = !err;
	return err;
}

int roof_load(struct roof_profile *profile, const char *timed, const char *counts,
	      const char *name)
{
	const struct pm_join_run run = {.name = name};
	int status = cli_join_read("roofline", timed, &profile->merge), err;

	if (status)
		return status;
	/* The report of the timed run has the notes about that run alone. */
	profile->notes_from = pm_merge_sum(profile->merge)->note_count;
	if (counts)
		status = cli_join_add("roofline", counts, &run,
				      pm_merge_sum(profile->merge));
	if (status)
		return status;
	err = tree_make(profile);
	return err ? cli_fail(CLI_FAILED, "roofline", "%s", strerror(-err)) : 0;
}

void roof_unload(struct roof_profile *profile)
{
	if (profile->made) {
		pm_report_tree_free(&profile->tree);
		pm_report_model_free(&profile->model);
	}
	pm_merge_free(profile->merge);
	memset(profile, 0, sizeof(*profile));
}
