/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of a process that ends. */
#include <string.h>

#include "regions/process.h"
#include "profile/profile.h"
#include "report/report.h"
#include "topology/topology.h"

void pm_process_prepare_report(void)
{
	if (pm_process.options.output != PM_OUTPUT_NONE && pm_process_is_ours() &&
	    pm_process_phase() == PM_PROCESS_READY)
		pm_machine_remember();
}

void pm_process_report(void)
{
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	int err;

	if (pm_process.options.output == PM_OUTPUT_NONE)
		return;
	if (pm_process.refused.error) {
		pm_process_say("perfmon: regions are not counted: %s",
			       pm_process.refused.text);
		return;
	}
	err = pm_process_snapshot(&snapshot, &diag);
	if (!err) {
		err = pm_report_at_exit(snapshot, &pm_process.options, pm_process.metrics,
					snapshot->header.parent_link == PERFMON_LINK_FORK,
					&diag);
		pm_snapshot_free(snapshot);
	}
	if (err)
		pm_process_say("perfmon: no report: %s",
			       diag.error ? diag.text : strerror(-err));
}
