/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of a process that ends. */
#include "core/process.h"
#include "core/profile.h"
#include "core/report.h"

void pm_process_report(void)
{
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	int err;

	if (pm_process.options.output == PM_OUTPUT_NONE)
		return;
	err = pm_profile_snapshot_own(&snapshot, &diag);
	if (!err) {
		err = pm_report_at_exit(snapshot, &pm_process.options,
					snapshot->header.parent_link == PERFMON_LINK_FORK,
					&diag);
		pm_snapshot_free(snapshot);
	}
	if (err)
		pm_process_debug("perfmon: no report: %s", diag.text);
}
