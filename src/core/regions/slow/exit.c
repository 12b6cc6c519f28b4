/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/slow/setup.h"

#include <string.h>

#include "core/kernel/clock.h"
#include "core/kernel/stack.h"
#include "core/profile/profile.h"
#include "core/regions/threads/state.h"
#include "core/report/report.h"
#include "core/topology/topology.h"

void pm_exit_prepare(void)
{
	struct pm_topology *topology;

	if (pm_regions_phase() != PM_REGIONS_READY || !pm_regions_is_ours())
		return;
	if (pm_clock_may_end())
		pm_profile_clock_renew();
	if (pm_regions_want_report() && pm_regions.options.level &&
	    !pm_topology_get(&topology, NULL))
		pm_topology_put(topology);
}

void pm_exit_report(void)
{
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	int err;

	if (!pm_regions_want_report())
		return;
	if (pm_regions.refused.error) {
		pm_regions_print("perfmon: regions are not counted: %s",
				 pm_regions.refused.text);
		return;
	}
	err = pm_regions_snapshot(&snapshot, &diag);
	if (!err) {
		err = pm_report_at_exit(
			snapshot, &pm_regions.options, pm_regions.metrics,
			snapshot->header.parent_link == PERFMON_PROFILE_LINK_FORK, &diag);
		pm_snapshot_free(snapshot);
	}
	if (err)
		pm_regions_print("perfmon: no report: %s",
				 diag.error ? diag.text : strerror(-err));
}

static void report_on_stack(void *unused)
{
	(void)unused;
	pm_exit_report();
}

/*
 * Runs after main()'s atexit functions and the destructors of everything that links the
 * library. A child that no handler prepared has no profile mapped. It writes nothing.
 */
__attribute__((destructor)) static void finish(void)
{
	struct perfmon_profile_header *header;

	if (pm_regions_phase() == PM_REGIONS_READY && pm_regions_is_ours()) {
		header = pm_profile_header();
		__atomic_store_n(&header->state, PERFMON_PROFILE_STATE_ENDED,
				 __ATOMIC_RELAXED);
		if (pm_clock_may_end())
			pm_clock_end(header->end_ns);
		pm_profile_clock_renew();
		pm_profile_totals_renew();
		if (pm_regions.renew)
			pm_regions.renew();
	} else if (!pm_regions.refused.error) {
		return;
	}
	pm_stack_run(report_on_stack, NULL);
}
