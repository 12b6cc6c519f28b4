/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folded stacks, for programs that draw flame graphs: a line for each path, its regions
 * with ";" between, a space, and the path's exclusive value. The format has no quotes: a
 * ";" in a name, control characters (such as the end of a line) and bytes that are not
 * UTF-8 become \xNN.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/export/export.h"
#include "core/report/cells.h"

static void put_frame(struct pm_out *out, const char *name)
{
	if (!*name)
		pm_out_text(out, "(no name)");
	while (*name) {
		size_t length = strcspn(name, ";");

		if (length) {
			name += cli_plain_part(out, name, length);
		} else {
			pm_out_text(out, "\\x3b");
			name++;
		}
	}
}

int export_folded(struct pm_out *out, struct export_profile *profile,
		  struct export_job *job)
{
	const struct pm_report_tree *tree = profile->tree;
	uint32_t line[PM_PATH_NODES];

	(void)job;
	for (uint32_t n = pm_path_next(tree, 0); n; n = pm_path_next(tree, n)) {
		uint64_t value = export_whole(profile, tree, n, &profile->weight, true);
		uint32_t count;

		if (!value)
			continue;
		count = pm_report_path(tree, n, PM_PATH_BYTES, line);
		if (profile->thread)
			put_frame(out, profile->thread);
		for (uint32_t i = 0; i < count; i++) {
			if (profile->thread || i)
				pm_out_text(out, ";");
			put_frame(out,
				  line[i] ? pm_path_name(tree, line[i]) : PM_PATH_LEFT);
		}
		pm_out_format(out, " %" PRIu64 "\n", value);
	}
	return 0;
}
