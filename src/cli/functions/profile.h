/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tree of calls as a profile. */
#ifndef PM_CLI_FUNCTIONS_PROFILE_H
#define PM_CLI_FUNCTIONS_PROFILE_H

#include "cli/functions/functions.h"
#include "cli/functions/trees.h"
#include "core/profile/profile.h"
#include "core/settings/options.h"

/* The name of the region that has what no chosen function has. */
#define PROFILE_PROGRAM "(program)"

struct profile_source {
	const struct cli_functions *functions;
	const struct cli_functions_run *run;
	struct pm_options *options;
	bool keep; /* write the profiles to files, too */
};

/* Makes the snapshot of TREE's profile, or returns NULL without memory. */
struct pm_snapshot *profile_make(const struct profile_source *source,
				 const struct tree *tree);

/* Writes SNAPSHOT to a file of its own, which OPTIONS name. Returns 0 or a negative errno, with
 * DIAG, which also says that the file has another name. */
int profile_write(struct pm_snapshot *snapshot, const struct pm_options *options,
		  struct pm_diag *diag);

#endif
