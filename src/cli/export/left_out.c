/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a profile has and a format does not, as messages; and the notes of profiles, for the formats
 * that have a place for them. */
#include <errno.h>

#include "cli/common/common.h"
#include "cli/export/export.h"
#include "core/profile/profile.h"

static int add_all(struct export_table *notes, char *const *texts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!export_table_add(notes, 0, texts[i]))
			return -ENOMEM;
	return 0;
}

int export_notes_add(struct export_job *job, const struct export_profile *profile)
{
	const struct pm_snapshot *s = profile->snapshot;

	return add_all(&job->notes, s->notes, s->note_count)
		       ?: add_all(&job->notes, profile->model->notes,
				  profile->model->note_count);
}

static void tell_steps(const char *name, const struct pm_snapshot *s)
{
	if (s->steps_count)
		cli_complain("export",
			     "'%s': the steps of %u path%s are left out; 'perfmon report "
			     "-f json' has them",
			     name, s->steps_count, s->steps_count == 1 ? "" : "s");
}

static int tell_overlapping(const char *name, const struct export_profile *profile)
{
	struct pm_report_tree tree;
	uint32_t paths = 0;
	int err = pm_report_tree_make(&tree, profile->model, -1);

	if (err)
		return err;
	for (uint32_t n = pm_path_next(&tree, 0); n; n = pm_path_next(&tree, n))
		paths += pm_path_is_overlapping(&tree, n);
	pm_report_tree_free(&tree);
	if (paths)
		cli_complain("export",
			     "'%s': the times and counts of %u path%s of overlapping "
			     "visits are left out, since they are in no sum; 'perfmon "
			     "report' and -f json-split have them",
			     name, paths, paths == 1 ? "" : "s");
	return 0;
}

int export_tell_left_out(const char *name, const struct export_profile *profile,
			 bool by_thread, bool inclusive)
{
	tell_steps(name, profile->snapshot);
	if (by_thread && profile->snapshot->joined_count)
		cli_complain(
			"export",
			"'%s': the counts of other runs are left out, since they are "
			"not known of each thread; 'perfmon report' has them",
			name);
	return inclusive ? 0 : tell_overlapping(name, profile);
}
