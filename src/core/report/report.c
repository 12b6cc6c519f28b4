/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts a report together and brings it where it is wanted. */
#include "core/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/counters/counters.h"
#include "core/kernel/kernel.h"
#include "core/kernel/standard.h"
#include "core/report/formats.h"
#include "core/report/model/value.h"
#include "core/report/output/file.h"

#define COLUMNS_MIN	40
#define COLUMNS_MAX	1000
#define COLUMNS_DEFAULT 80

/* COLUMNS of the environment; 0: it says nothing. */
static unsigned int columns_asked(void)
{
	const char *text = pm_options_getenv("COLUMNS");
	long columns = text ? strtol(text, NULL, 10) : 0;

	return columns <= 0	       ? 0
	       : columns < COLUMNS_MIN ? COLUMNS_MIN
	       : columns > COLUMNS_MAX ? COLUMNS_MAX
				       : (unsigned int)columns;
}

#define WRITER(constant, name, suffix, writer, text) pm_report_##writer,
static int (*const writers[])(const struct pm_report *report,
			      struct pm_out *out) = {PM_FORMATS_ALL(WRITER)};
#undef WRITER

int pm_report_write(const struct pm_snapshot *snapshot,
		    const struct pm_report_options *options,
		    int (*sink)(void *argument, const char *text, size_t size),
		    void *argument)
{
	struct pm_report report = {.snapshot = snapshot, .options = options};
	struct pm_report_model model;
	struct pm_report_tree all;
	uint32_t *paths = NULL, starved;
	struct pm_out *out;
	int err;

	out = calloc(1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	out->sink = sink;
	out->argument = argument;
	out->columns = options->columns;
	out->table_columns = columns_asked();
	err = pm_report_model_make(&model, snapshot, options->subtract_bias,
				   options->metrics);
	if (err)
		goto out_free;
	pm_report_check_sanity(&model, options->machine);
	err = pm_report_tree_make(&all, &model, -1);
	if (err)
		goto out_model;
	if (options->level)
		err = pm_report_groups_make(&report.groups, snapshot, options->level,
					    &report.no_groups);
	if (err == -ENOMEM)
		goto out_tree;
	report.model = &model;
	report.all = &all;
	starved = pm_report_starved(&all);
	if (starved != PM_NO_EVENT)
		pm_diagnosis_starved(&report.starved, model.events[starved].name);
	if (options->merge) {
		paths = malloc(all.node_count * sizeof(*paths));
		if (!paths) {
			err = -ENOMEM;
			goto out_tree;
		}
		pm_merge_paths(options->merge, &all, paths);
		report.paths = paths;
	}
	err = writers[options->format](&report, out);
	if (!err)
		err = pm_out_end(out);
	free(paths);
out_tree:
	pm_report_groups_free(&report.groups);
	pm_report_tree_free(&all);
out_model:
	pm_report_model_free(&model);
out_free:
	free(out);
	return err;
}

/* The columns of the terminal at FD; 0: it is none. COLUMNS comes first, as in the command. */
static unsigned int columns_of(int fd)
{
	struct winsize size = {0};

	if (pm_kernel_ioctl_ptr(fd, TIOCGWINSZ, &size))
		return 0;
	if (columns_asked())
		return columns_asked();
	return !size.ws_col		   ? COLUMNS_DEFAULT
	       : size.ws_col < COLUMNS_MIN ? COLUMNS_MIN
	       : size.ws_col > COLUMNS_MAX ? COLUMNS_MAX
					   : size.ws_col;
}

int pm_report_write_fd(const struct pm_snapshot *snapshot,
		       const struct pm_report_options *options, int fd)
{
	struct pm_report_options how = *options;

	how.columns = columns_of(fd);
	return pm_report_write(snapshot, &how, pm_report_fd_write, &fd);
}
