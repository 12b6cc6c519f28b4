/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public calls for reports of the own process. */
#include "core/report/report.h"
#include "perfmon/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/api/message.h"
#include "core/kernel/stack.h"
#include "core/profile/profile.h"
#include "core/regions/threads/state.h"
#include "core/topology/topology.h"

#define FLAGS (PERFMON_REPORT_PER_THREAD | PERFMON_REPORT_SUBTRACT_BIAS)

/* Applies OPTIONS over those of the environment. The caller frees a level. */
static int apply(const struct perfmon_report_options *options, struct pm_options *to,
		 struct pm_diag *diag)
{
	static const enum pm_format formats[] = {
		[PERFMON_REPORT_FORMAT_TEXT] = PM_FORMAT_TEXT,
		[PERFMON_REPORT_FORMAT_FLAT] = PM_FORMAT_FLAT,
		[PERFMON_REPORT_FORMAT_JSON] = PM_FORMAT_JSON,
		[PERFMON_REPORT_FORMAT_CSV] = PM_FORMAT_CSV,
	};

	if (options->format >= sizeof(formats) / sizeof(formats[0]))
		return pm_diag_set(diag, -EINVAL,
				   "unknown report format %u; use a value of enum "
				   "perfmon_report_format",
				   options->format);
	if (options->flags & ~FLAGS)
		return pm_diag_set(diag, -EINVAL, "unknown flags 0x%x", options->flags);
	if (options->format != PERFMON_REPORT_FORMAT_DEFAULT)
		to->format = formats[options->format];
	if (options->flags & PERFMON_REPORT_PER_THREAD)
		to->keep_threads = true;
	if (options->flags & PERFMON_REPORT_SUBTRACT_BIAS)
		to->subtract_bias = true;
	if (!options->level)
		return 0;
	if (pm_level_find(pm_slice_of(options->level)) < 0)
		return pm_diag_set(
			diag, -EINVAL,
			"unknown level '%s'; use a level such as numa, package or core",
			pm_slice_quote(pm_slice_of(options->level)).text);
	to->level = strdup(options->level);
	return to->level ? 0 : -ENOMEM;
}

static int report(int fd, const struct perfmon_report_options *options,
		  struct pm_diag *diag)
{
	struct pm_snapshot *snapshot = NULL;
	int err = pm_regions_snapshot(&snapshot, diag);
	/* These are the options at the first region. They never change once there is a
	 * profile. */
	struct pm_options all =
		err ? (struct pm_options){.level = NULL} : pm_regions.options;
	int bad = apply(options, &all, diag);

	err = bad ?: err;
	if (err)
		goto out;
	if (fd < 0) {
		err = pm_report_at_exit(
			snapshot, &all, pm_regions.metrics,
			snapshot->header.parent_link == PERFMON_PROFILE_LINK_FORK, diag);
	} else {
		struct pm_machine machine;
		struct pm_report_options how = {
			.format = all.format,
			.per_thread = all.keep_threads,
			.level = all.level,
			.subtract_bias = all.subtract_bias,
			.top = all.top,
			.metrics = pm_regions.metrics,
			.machine = &machine,
		};

		pm_machine_describe(&machine);
		err = pm_report_write_fd(snapshot, &how, fd);
	}
out:
	pm_snapshot_free(snapshot);
	if (all.level != pm_regions.options.level)
		free(all.level);
	return err;
}

struct request {
	int fd;
	struct perfmon_report_options options;
	struct pm_diag diag;
	int result;
};

static void answer(void *argument)
{
	struct request *request = argument;

	request->result = report(request->fd, &request->options, &request->diag);
}

/* Writing tables needs more stack than a small thread has. */
static int report_aside(int fd, const struct perfmon_report_options *given)
{
	struct request request = {.fd = fd};
	int err = given ? PM_STRUCT_CHECK(given, perfmon_report_options, 16) : 0;

	if (err)
		return err;
	if (given)
		pm_struct_take(&request.options, given, sizeof(request.options));
	pm_stack_run(answer, &request);
	err = request.result;
	if (err && !request.diag.error)
		pm_diag_set(&request.diag, err, "cannot make the report: %s",
			    err == -ENOENT ? "this process has not used a region yet"
					   : strerror(-err));
	return pm_message_end(err, request.diag.text, request.options.message,
			      request.options.message_size);
}

PM_EXPORT int perfmon_report_write(int fd, const struct perfmon_report_options *options)
{
	return fd < 0 ? -EBADF : report_aside(fd, options);
}

PM_EXPORT void perfmon_report_quiet(void)
{
	__atomic_store_n(&pm_regions.silenced, 1, __ATOMIC_RELAXED);
}

PM_EXPORT int perfmon_report_wanted(void)
{
	return pm_regions_phase() == PM_REGIONS_READY && pm_regions_is_ours() &&
	       pm_regions_want_report();
}

PM_EXPORT int perfmon_report_print(const struct perfmon_report_options *options)
{
	return report_aside(-1, options);
}
