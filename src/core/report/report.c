/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/counters/counters.h"
#include "core/kernel/kernel.h"
#include "core/kernel/owned.h"
#include "core/report/formats.h"
#include "core/report/model/value.h"
#include "core/report/output/file.h"

#define COLUMNS_MIN	40
#define COLUMNS_MAX	1000
#define COLUMNS_DEFAULT 80

static unsigned int columns_within(long columns)
{
	return columns < COLUMNS_MIN   ? COLUMNS_MIN
	       : columns > COLUMNS_MAX ? COLUMNS_MAX
				       : (unsigned int)columns;
}

/* COLUMNS of the environment; 0: it says nothing. */
static unsigned int columns_asked(void)
{
	const char *text = pm_options_getenv("COLUMNS");
	long columns = text ? strtol(text, NULL, 10) : 0;

	return columns <= 0 ? 0 : columns_within(columns);
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
	struct pm_report_model model = {0};
	struct pm_report_tree all = {0};
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
		goto out;
	pm_report_check_sanity(&model, options->machine);
	err = pm_report_tree_make(&all, &model, NULL, 0);
	if (!err && options->level)
		err = pm_report_groups_make(&report.groups, snapshot, options->level,
					    &report.no_groups);
	if (err == -ENOMEM)
		goto out;
	report.model = &model;
	report.all = &all;
	starved = pm_report_starved(&all);
	if (starved != PM_NO_EVENT)
		pm_diagnosis_starved(&report.starved, model.events[starved].name);
	if (options->merge) {
		report.paths = paths = pm_merge_paths(options->merge, &all);
		err = paths ? 0 : -ENOMEM;
		if (err)
			goto out;
	}
	err = writers[options->format](&report, out);
	if (!err)
		err = pm_out_end(out);
out:
	free(paths);
	pm_report_groups_free(&report.groups);
	pm_report_tree_free(&all);
	pm_report_model_free(&model);
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
	return columns_within(size.ws_col ? size.ws_col : COLUMNS_DEFAULT);
}

int pm_report_write_fd(const struct pm_snapshot *snapshot,
		       const struct pm_report_options *options, int fd)
{
	struct pm_report_options how = *options;

	how.columns = columns_of(fd);
	return pm_report_write(snapshot, &how, pm_report_fd_write, &fd);
}

/* The path of OPTIONS for this process, in PATH. */
static int output_path(const struct pm_options *options,
		       const struct pm_snapshot *snapshot, bool forked, char *path,
		       size_t size)
{
	const struct perfmon_profile_header *header = &snapshot->header;
	const char *c;
	int n, more;

	for (c = options->output_path; forked && *c; c++) {
		if (*c == '%' && *++c == 'p')
			forked = false;
	}
	n = pm_options_expand(options->output_path, (int)header->pid, options->rank,
			      header->host, path, size);
	if (n < 0 || !forked)
		return n < 0 ? n : 0;
	more = snprintf(path + n, size - (size_t)n, ".%u", header->pid);
	return more < 0 || (size_t)more >= size - (size_t)n ? -ENAMETOOLONG : 0;
}

static const char *why(int err)
{
	return err == -ELOOP	? "the path is a symbolic link"
	       : err == -ENXIO	? "nobody reads this FIFO, or there is no such device"
	       : err == -EAGAIN ? "nobody reads the output"
	       : err == -EBADF	? "the descriptor has changed since the first region"
				: strerror(-err);
}

static int write_file(const struct pm_snapshot *snapshot,
		      const struct pm_report_options *how,
		      const struct pm_options *options, const char *path)
{
	struct pm_report_file file;
	int err = pm_report_file_open(&file, path, false);

	if (err == -ENOENT && options->output_folder && !pm_options_make_folder(path))
		err = pm_report_file_open(&file, path, false);
	if (err)
		return err;
	return pm_report_file_end(&file, pm_report_write_fd(snapshot, how, file.fd));
}

/* Writes the report of SNAPSHOT to FD, 1 or 2, unless the program has put something else
 * there. */
static int write_standard(const struct pm_snapshot *snapshot,
			  const struct pm_report_options *options, int fd)
{
	int err = pm_standard_descriptor(fd);

	return err < 0 ? err : pm_report_write_fd(snapshot, options, fd);
}

/*
 * A line that says where the reports of all ranks are, of which PATH is one, or the only
 * one: rank 0 says it once, where nobody has chosen the name.
 */
static void say_where(const struct pm_options *options, const char *path,
		      const char *host, bool merged)
{
	static bool said;
	char text[4600], last[4096], ranks[24] = "all";
	const char *slash, *to = "";
	int n, fd = pm_standard_descriptor(STDERR_FILENO);

	if (!options->output_unasked || options->rank || fd < 0 ||
	    __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	if (options->ranks > 0)
		snprintf(ranks, sizeof(ranks), "%d", options->ranks);
	/* The name of the last file is enough. */
	if (!merged && options->ranks > 1 &&
	    pm_options_expand(options->output_path, 0, options->ranks - 1, host, last,
			      sizeof(last)) > 0) {
		slash = strrchr(last, '/');
		to = slash ? slash + 1 : last;
	}
	n = snprintf(text, sizeof(text), "perfmon: report%s of %s rank%s: %s%s%s\n",
		     merged ? "" : "s", ranks, options->ranks == 1 ? "" : "s", path,
		     *to ? " to " : "", to);
	if (n > 0 && (size_t)n < sizeof(text))
		pm_kernel_write_quietly(fd, text, (size_t)n);
}

/* Writes the report of SNAPSHOT, or of MERGE, whose sum that is, where OPTIONS say. */
static int write_where(const struct pm_snapshot *snapshot, const struct pm_merge *merge,
		       const struct pm_options *options, const struct pm_metrics *metrics,
		       bool forked, struct pm_diag *diag)
{
	char path[4096], sentence[4500];
	const char *notes[PM_OPTIONS_NOTES + 1];
	struct pm_report_options how = {
		.format = options->format,
		/* Threads are of one process. */
		.per_thread = options->keep_threads && !merge,
		.level = merge ? NULL : options->level,
		.subtract_bias = options->subtract_bias,
		.top = options->top,
		.metrics = metrics,
		.merge = merge,
		.notes = notes,
	};
	struct pm_machine machine;
	int err;

	if (options->output == PM_OUTPUT_NONE)
		return 0;
	for (; how.note_count < options->note_count; how.note_count++)
		notes[how.note_count] = options->notes[how.note_count];
	/* Processes on several boots have no machine in common. */
	if (!merge || snapshot->header.boot_id[0]) {
		pm_machine_describe(&machine);
		how.machine = &machine;
	}
	if (options->output == PM_OUTPUT_PATH) {
		err = output_path(options, snapshot, forked, path, sizeof(path));
		if (!err)
			err = write_file(snapshot, &how, options, path);
		if (!err && !forked)
			say_where(options, path, snapshot->header.host, merge != NULL);
		if (!err)
			return 0;
		snprintf(sentence, sizeof(sentence),
			 "cannot write the report to '%s' (%s): the report is here "
			 "instead",
			 err == -ENAMETOOLONG ? options->output_path : path, why(err));
		notes[how.note_count++] = sentence;
	} else if (options->output == PM_OUTPUT_STDOUT) {
		err = write_standard(snapshot, &how, STDOUT_FILENO);
		/* Who does not read on has seen enough. */
		if (!err || err == -EPIPE)
			return 0;
		snprintf(sentence, sizeof(sentence),
			 "cannot write the whole report to standard output (%s): the "
			 "report is here again",
			 why(err));
		notes[how.note_count++] = sentence;
	}
	err = write_standard(snapshot, &how, STDERR_FILENO);
	if (err)
		return pm_diag_set(diag, err, "cannot write the report (%s)", why(err));
	return 0;
}

int pm_report_at_exit(const struct pm_snapshot *snapshot,
		      const struct pm_options *options, const struct pm_metrics *metrics,
		      bool forked, struct pm_diag *diag)
{
	struct pm_options own = *options;
	struct pm_copies copies;
	char *path = NULL;
	char sentence[200];
	int err;

	pm_copies_find(&copies);
	if (copies.others && own.note_count < PM_OPTIONS_NOTES) {
		snprintf(sentence, sizeof(sentence),
			 "this process has %u copies of libperfmon (libperfmon.a in a "
			 "plugin, or dlmopen), each with a report of its own",
			 copies.others + 1);
		own.notes[own.note_count++] = sentence;
	}
	if (copies.before && own.output == PM_OUTPUT_PATH) {
		if (asprintf(&path, "%s.%u", own.output_path, copies.before + 1) < 0)
			return pm_diag_set(diag, -ENOMEM, "no memory for a path");
		own.output_path = path;
	}
	err = write_where(snapshot, NULL, &own, metrics, forked, diag);
	free(path);
	return err;
}

int pm_report_merge(const struct pm_merge *merge, const struct pm_options *options,
		    const struct pm_metrics *metrics)
{
	struct pm_options one = *options;

	if (options->output_whole)
		one.output_path = options->output_whole;
	return write_where(pm_merge_sum(merge), merge, &one, metrics, false, NULL);
}
