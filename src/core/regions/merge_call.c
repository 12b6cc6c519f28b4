/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public calls for reports of many processes. */
#include "core/report/merge/merge.h"
#include "core/report/report.h"
#include "perfmon/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/message.h"
#include "core/profile/profile.h"
#include "core/regions/threads/state.h"

struct perfmon_merge {
	struct pm_merge *merge;
	struct pm_options options;
	struct pm_metrics *metrics;
	bool ended;
	struct pm_diag diag;
};

PM_EXPORT int perfmon_merge_pack(void **profile, size_t *size, uint32_t flags)
{
	struct pm_snapshot *snapshot;
	int err = profile && size && !flags ? pm_regions_snapshot(&snapshot, NULL)
					    : -EINVAL;

	if (err)
		return err;
	err = pm_snapshot_pack(snapshot, profile, size);
	pm_snapshot_free(snapshot);
	return err;
}

PM_EXPORT int perfmon_merge_create(struct perfmon_merge **out, char *message,
				   size_t message_size)
{
	struct perfmon_merge *merge = out ? calloc(1, sizeof(*merge)) : NULL;
	int err = out ? -ENOMEM : -EINVAL;

	if (merge) {
		err = pm_options_read(&merge->options, NULL);
		merge->metrics = pm_metrics_of(&merge->options);
	}
	if (!err)
		err = pm_merge_create(&merge->merge, merge->options.subtract_bias);
	pm_message_tell(!err  ? ""
			: out ? "no memory for a merge"
			      : "no handle",
			message, message_size);
	if (err)
		perfmon_merge_free(merge);
	else
		*out = merge;
	return err;
}

PM_EXPORT int perfmon_merge_message(const struct perfmon_merge *merge, char *buffer,
				    size_t size)
{
	return merge ? pm_message_copy(merge->diag.text, buffer, size) : -EINVAL;
}

static int no_memory(struct perfmon_merge *merge)
{
	return pm_diag_set(&merge->diag, -ENOMEM, "no memory for the sum");
}

/* Adds the profile of one process. */
static int add_profile(struct perfmon_merge *merge, const void *profile, size_t size)
{
	struct pm_snapshot *snapshot;
	int err;

	err = pm_snapshot_take_as(profile, size, PM_SNAPSHOT_STILL | PM_SNAPSHOT_FOREIGN,
				  -1, &snapshot, &merge->diag);
	/* An empty file is not a profile either. */
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	/* The profile was packed when it was read, by its own clock, which may be another
	 * host's. */
	if (snapshot->writer == PM_WRITER_UNKNOWN)
		snapshot->writer = PM_WRITER_PACKED;
	err = pm_merge_add(merge->merge, snapshot, &merge->diag);
	pm_snapshot_free(snapshot);
	return err;
}

PM_EXPORT int perfmon_merge_add(struct perfmon_merge *merge, const void *profile,
				size_t size)
{
	int err;

	if (!merge)
		return -EINVAL;
	pm_diag_clear(&merge->diag);
	if (!profile)
		return pm_diag_set(&merge->diag, -EINVAL, "the profile is NULL");
	if (merge->ended)
		return pm_diag_set(&merge->diag, -EBUSY, "the report has been printed");
	if (pm_merge_is_packed(profile, size))
		err = pm_merge_add_packed(merge->merge, profile, size, &merge->diag);
	else
		err = add_profile(merge, profile, size);
	return err == -ENOMEM ? no_memory(merge) : err;
}

PM_EXPORT int perfmon_merge_pack_sum(struct perfmon_merge *merge, void **sum,
				     size_t *size, uint32_t flags)
{
	if (!merge)
		return -EINVAL;
	pm_diag_clear(&merge->diag);
	if (!sum || !size || flags)
		return pm_diag_set(&merge->diag, -EINVAL, "%s is %s",
				   !sum	   ? "the pointer to the sum"
				   : !size ? "the pointer to the size"
					   : "flags",
				   sum && size ? "not 0" : "NULL");
	if (merge->ended)
		return pm_diag_set(&merge->diag, -EBUSY, "the report has been printed");
	if (!pm_merge_process_count(merge->merge))
		return pm_diag_set(&merge->diag, -ENOENT, "no profile has been added");
	return pm_merge_pack(merge->merge, sum, size) ? no_memory(merge) : 0;
}

PM_EXPORT int perfmon_merge_print(struct perfmon_merge *merge)
{
	int err;

	if (!merge)
		return -EINVAL;
	pm_diag_clear(&merge->diag);
	if (merge->ended)
		return pm_diag_set(&merge->diag, -EBUSY, "the report has been printed");
	if (!pm_merge_process_count(merge->merge))
		return pm_diag_set(&merge->diag, -ENOENT, "no profile has been added");
	merge->ended = true;
	err = pm_merge_end(merge->merge);
	if (err)
		return no_memory(merge);
	err = pm_report_merge(merge->merge, &merge->options, merge->metrics);
	return err ? pm_diag_set(&merge->diag, err, "cannot write the report: %s",
				 strerror(-err))
		   : 0;
}

PM_EXPORT void perfmon_merge_free(struct perfmon_merge *merge)
{
	if (!merge)
		return;
	pm_merge_free(merge->merge);
	pm_metrics_free(merge->metrics);
	pm_options_free(&merge->options);
	free(merge);
}

PM_EXPORT int perfmon_merge_done(void)
{
	if (!pm_profile_exists())
		return -ENOENT;
	pm_regions_acquire();
	pm_regions.options.output = PM_OUTPUT_NONE;
	pm_regions_release();
	return 0;
}
