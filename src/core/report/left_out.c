/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The visits that were left out on request: PERFMON_ONLY, _SKIP, _DEPTH and _MIN_MEAN. */
#include <stdlib.h>

#include "core/report/formats.h"
#include "core/text/bytes.h"

/* Returns how many regions have a path whose visits turned out too short. */
static uint64_t short_regions(const struct pm_snapshot *s)
{
	unsigned char *seen = calloc((size_t)s->region_count + 1, 1);
	uint64_t regions = 0;

	for (uint32_t t = 0; seen && t < s->thread_count; t++) {
		for (uint32_t n = 2; n <= s->threads[t].node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(&s->threads[t], n);

			if (!(node->flags & PERFMON_PROFILE_NODE_LEFT_OUT) ||
			    node->region > s->region_count)
				continue;
			regions += !seen[node->region];
			seen[node->region] = 1;
		}
	}
	free(seen);
	return regions;
}

void pm_report_left_out(const struct pm_snapshot *s, struct pm_left_out out[PM_LEFT_OUT])
{
	static const struct pm_left_out kinds[PM_LEFT_OUT] = {
		[PERFMON_PROFILE_LEFT_OUT_NAME] = {"name",
						   "by PERFMON_ONLY or PERFMON_SKIP", 0,
						   0},
		[PERFMON_PROFILE_LEFT_OUT_DEPTH] = {"depth", "by PERFMON_DEPTH", 0, 0},
		[PERFMON_PROFILE_LEFT_OUT_MEAN] = {"min_mean", "by PERFMON_MIN_MEAN", 0,
						   0},
	};

	for (int i = 0; i < PM_LEFT_OUT; i++) {
		out[i] = kinds[i];
		for (uint32_t t = 0; t < s->thread_count; t++)
			out[i].visits =
				pm_plus(out[i].visits, s->threads[t].record.left_out[i]);
	}
	out[PERFMON_PROFILE_LEFT_OUT_NAME].regions = s->header.left_out_regions;
	out[PERFMON_PROFILE_LEFT_OUT_MEAN].regions = short_regions(s);
}
