/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folded stacks, for programs that draw flame graphs: a line for each path, its regions
 * with ";" between, a space, and the path's exclusive value. The format has no quotes: a
 * ";" in a name, control characters (such as the end of a line) and bytes that are not
 * UTF-8 become \xNN.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

static void put_tree(struct pm_out *out, struct export_profile *profile,
		     const struct pm_report_tree *tree,
		     const struct export_weight *weight, const char *thread)
{
	uint32_t line[PM_PATH_NODES];

	for (uint32_t n = pm_path_next(tree, 0); n; n = pm_path_next(tree, n)) {
		uint64_t value = export_whole(profile, tree, n, weight, true);
		uint32_t count;

		if (!value)
			continue;
		count = pm_report_path(tree, n, PM_PATH_BYTES, line);
		if (thread)
			put_frame(out, thread);
		for (uint32_t i = 0; i < count; i++) {
			if (thread || i)
				pm_out_text(out, ";");
			put_frame(out,
				  line[i] ? pm_path_name(tree, line[i]) : PM_PATH_LEFT);
		}
		pm_out_format(out, " %" PRIu64 "\n", value);
	}
}

void export_thread(const struct perfmon_profile_thread *thread, char *text, size_t size)
{
	if (thread->state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE)
		snprintf(text, size, "ended threads");
	else
		snprintf(text, size, "%u %s", thread->tid, thread->name);
}

int export_folded(struct pm_out *out, struct export_profile *profile,
		  const struct export_weight *weight, bool per_thread)
{
	const struct pm_snapshot *s = profile->snapshot;
	struct pm_report_tree tree;
	int err = 0;

	for (uint32_t t = 0; !err && per_thread && t < s->thread_count; t++) {
		const struct perfmon_profile_thread *record = &s->threads[t].record;
		char text[64];

		export_thread(record, text, sizeof(text));
		err = pm_report_tree_make(&tree, profile->model, t);
		if (err)
			break;
		put_tree(out, profile, &tree, weight, text);
		pm_report_tree_free(&tree);
	}
	if (per_thread || err)
		return err;
	err = pm_report_tree_make(&tree, profile->model, -1);
	if (err)
		return err;
	put_tree(out, profile, &tree, weight, NULL);
	pm_report_tree_free(&tree);
	return 0;
}
