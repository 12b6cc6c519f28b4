/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts a report together and brings it where it is wanted. */
#include "core/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/kernel.h"
#include "core/merge.h"
#include "core/report_formats.h"

int pm_report_write(const struct pm_snapshot *snapshot,
		    const struct pm_report_options *options,
		    int (*sink)(void *argument, const char *text, size_t size),
		    void *argument)
{
	struct pm_report report = {.snapshot = snapshot, .options = options};
	struct pm_report_model model;
	struct pm_report_tree all;
	uint32_t *paths = NULL;
	struct pm_out *out;
	int err;

	out = calloc(1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	out->sink = sink;
	out->argument = argument;
	err = pm_report_model_make(&model, snapshot, options->subtract_bias,
				   options->metrics);
	if (err)
		goto out_free;
	pm_report_judge(&model, options->machine);
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
	if (options->merge) {
		paths = malloc(all.node_count * sizeof(*paths));
		if (!paths) {
			err = -ENOMEM;
			goto out_tree;
		}
		pm_merge_paths(options->merge, &all, paths);
		report.paths = paths;
	}
	switch (options->format) {
	case PM_FORMAT_JSON:
		err = pm_report_json(&report, out);
		break;
	case PM_FORMAT_CSV:
		err = pm_report_csv(&report, out);
		break;
	default:
		err = pm_report_text(&report, out);
	}
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

static int write_all(void *argument, const char *text, size_t size)
{
	int fd = *(int *)argument;
	unsigned int refused = 0;

	while (size) {
		ssize_t n = pm_kernel_write_quietly(fd, text, size);

		/* Somebody has made this descriptor, or its like elsewhere, non-blocking.
		 */
		if (n == -EAGAIN && refused++ < 100) {
			pm_kernel_poll_write(fd, 100);
			continue;
		}
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -EIO;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

int pm_report_write_fd(const struct pm_snapshot *snapshot,
		       const struct pm_report_options *options, int fd)
{
	return pm_report_write(snapshot, options, write_all, &fd);
}

/* Opens PATH for a report: nobody's link, no waiting, and empty if it is a file. */
static int open_output(const char *path)
{
	int fd = pm_kernel_open(
		path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644);
	struct stat st;
	int err, flags;

	if (fd < 0)
		return fd;
	err = pm_kernel_fstat(fd, &st);
	if (!err && S_ISREG(st.st_mode)) {
		err = pm_kernel_ftruncate(fd, 0);
	} else if (!err) {
		flags = pm_kernel_fcntl(fd, F_GETFL, 0);
		err = flags < 0 ? flags
				: pm_kernel_fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	}
	if (err < 0) {
		pm_kernel_close(fd);
		return err;
	}
	return fd;
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
	return err == -ELOOP   ? "it is a symbolic link"
	       : err == -ENXIO ? "nobody reads this FIFO"
			       : strerror(-err);
}

/* Writes the report of SNAPSHOT, or of MERGE, whose sum that is, where OPTIONS say. */
static int write_where(const struct pm_snapshot *snapshot, const struct pm_merge *merge,
		       const struct pm_options *options, bool forked,
		       struct pm_diag *diag)
{
	char path[4096], sentence[4500];
	const char *notes[PM_OPTIONS_NOTES + 1];
	struct pm_report_options how = {
		.format = options->format,
		/* Threads are of one process. */
		.per_thread = options->keep_threads && !merge,
		.level = merge ? NULL : options->level,
		.subtract_bias = options->subtract_bias,
		.metrics = options->metrics,
		.merge = merge,
		.notes = notes,
	};
	struct pm_machine machine;
	int fd = options->output == PM_OUTPUT_STDOUT ? STDOUT_FILENO : STDERR_FILENO,
	    err = 0;

	if (options->output == PM_OUTPUT_NONE)
		return 0;
	while (how.note_count < options->note_count) {
		notes[how.note_count] = options->notes[how.note_count];
		how.note_count++;
	}
	/* Of processes on several boots no machine is theirs. */
	if (!merge || snapshot->header.boot_id[0]) {
		pm_machine_describe(&machine);
		how.machine = &machine;
	}
	if (options->output == PM_OUTPUT_PATH) {
		err = output_path(options, snapshot, forked, path, sizeof(path));
		if (!err) {
			err = open_output(path);
			if (err >= 0)
				fd = err;
		}
		if (err < 0) {
			snprintf(sentence, sizeof(sentence),
				 "the report could not be written to '%s' (%s): it is "
				 "here "
				 "instead",
				 err == -ENAMETOOLONG ? options->output_path : path,
				 why(err));
			notes[how.note_count++] = sentence;
		}
	}
	err = pm_report_write_fd(snapshot, &how, fd);
	if (fd > STDERR_FILENO)
		pm_kernel_close(fd);
	if (err)
		return pm_diag_set(diag, err, "the report could not be written (%s)",
				   strerror(-err));
	return 0;
}

int pm_report_at_exit(const struct pm_snapshot *snapshot,
		      const struct pm_options *options, bool forked, struct pm_diag *diag)
{
	return write_where(snapshot, NULL, options, forked, diag);
}

int pm_report_merge(const struct pm_merge *merge, const struct pm_options *options)
{
	struct pm_options one = *options;
	char path[sizeof("perfmon.json")];
	char *slash, *dot, *whole = NULL;
	int err;

	/* "DIRECTORY/perfmon.%r.txt" without its rank. */
	if (options->output == PM_OUTPUT_PATH && options->output_by_rank) {
		whole = strdup(options->output_path);
		if (!whole)
			return -ENOMEM;
		slash = strrchr(whole, '/');
		dot = strrchr(whole, '.');
		snprintf(path, sizeof(path), "perfmon%s", dot);
		strcpy(slash ? slash + 1 : whole, path);
		one.output_path = whole;
	}
	err = write_where(pm_merge_sum(merge), merge, &one, false, NULL);
	free(whole);
	return err;
}
