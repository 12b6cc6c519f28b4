/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public calls for reports of the own process. */
#include "perfmon/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/export.h"
#include "core/profile.h"
#include "core/report.h"
#include "core/topology.h"

#define FLAGS (PERFMON_REPORT_PER_THREAD | PERFMON_REPORT_SUBTRACT_BIAS)

/* Checks OPTIONS (NULL is accepted) and puts them over those of the environment. */
static int apply(const struct perfmon_report_options *options, struct pm_options *to)
{
	static const enum pm_format formats[] = {
		[PERFMON_REPORT_TEXT] = PM_FORMAT_TEXT,
		[PERFMON_REPORT_FLAT] = PM_FORMAT_FLAT,
		[PERFMON_REPORT_JSON] = PM_FORMAT_JSON,
		[PERFMON_REPORT_CSV] = PM_FORMAT_CSV,
	};
	const unsigned char *tail = (const unsigned char *)options;

	if (!options)
		return 0;
	if (options->size < offsetof(struct perfmon_report_options, level))
		return -EINVAL;
	for (size_t i = sizeof(*options); i < options->size; i++)
		if (tail[i])
			return -E2BIG;
	if (options->format > PERFMON_REPORT_CSV || options->flags & ~FLAGS)
		return -EINVAL;
	if (options->format != PERFMON_REPORT_DEFAULT)
		to->format = formats[options->format];
	if (options->flags & PERFMON_REPORT_PER_THREAD)
		to->keep_threads = true;
	if (options->flags & PERFMON_REPORT_SUBTRACT_BIAS)
		to->subtract_bias = true;
	if (options->size < sizeof(*options) || !options->level)
		return 0;
	if (pm_level_find(pm_slice_of(options->level)) < 0)
		return -EINVAL;
	free(to->level);
	to->level = strdup(options->level);
	return to->level ? 0 : -ENOMEM;
}

static int report(int fd, const struct perfmon_report_options *options)
{
	struct pm_snapshot *snapshot;
	struct pm_options all;
	int err;

	pm_options_read(&all, NULL);
	err = apply(options, &all);
	if (err)
		goto out;
	err = pm_profile_snapshot_own(&snapshot, NULL);
	if (err)
		goto out;
	if (fd < 0) {
		err = pm_report_at_exit(
			snapshot, &all, snapshot->header.parent_link == PERFMON_LINK_FORK, NULL);
	} else {
		struct pm_machine machine;
		struct pm_report_options how = {
			.format = all.format,
			.per_thread = all.keep_threads,
			.level = all.level,
			.subtract_bias = all.subtract_bias,
			.metrics = all.metrics,
			.machine = &machine,
		};

		pm_machine_describe(&machine);
		err = pm_report_write_fd(snapshot, &how, fd);
	}
	pm_snapshot_free(snapshot);
out:
	pm_options_free(&all);
	return err;
}

PM_EXPORT int perfmon_report_write(int fd, const struct perfmon_report_options *options)
{
	return fd < 0 ? -EBADF : report(fd, options);
}

PM_EXPORT int perfmon_report_print(const struct perfmon_report_options *options)
{
	return report(-1, options);
}
