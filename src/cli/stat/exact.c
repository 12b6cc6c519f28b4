/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon stat --exact runs the command under the Valgrind tool, and adds the totals that
 * its processes leave. */
#include "cli/stat/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- begin and end ------------------------------------------------------------------ */

/*
 * Makes a file with a name, so that a process that changes its root or its user can open
 * it, unlike a descriptor of ours. It is in a folder of its own: a process that outlives
 * the command cannot create the file again.
 */
static int make_file(struct stat_exact *exact)
{
	exact->folder = cli_folder_make("stat", "the totals");
	if (!exact->folder)
		return CLI_FAILED;
	if (asprintf(&exact->path, "%s/totals", exact->folder) < 0) {
		exact->path = NULL;
		return cli_no_memory("stat");
	}
	exact->fd =
		open(exact->path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (exact->fd >= 0)
		return 0;
	return cli_fail(CLI_FAILED, "stat", "cannot create '%s' for the totals: %s",
			exact->path, strerror(errno));
}

int stat_exact_init(struct stat_exact *exact, struct stat_counting *counting,
		    const char *text, char **command)
{
	struct stat_events *events = &counting->events;
	struct cli_exact_files files = {0};
	int status;

	*exact = (struct stat_exact){.fd = -1};
	*counting = (struct stat_counting){.group_count = 1};
	status = cli_exact_parse("stat", text, &exact->events);
	if (status)
		return status;
	events->chosen = true;
	events->user_only = true;
	events->events = calloc(exact->events.count, sizeof(events->events[0]));
	if (!events->events)
		return cli_no_memory("stat");
	events->count = exact->events.count;
	for (uint32_t i = 0; i < events->count; i++) {
		exact->event[i].scale = 1;
		/* Not a type from which ratios are derived. */
		exact->event[i].attr.type = UINT32_MAX;
		events->events[i] = (struct stat_event){
			.label = cli_exact_label(exact->events.event[i]),
			.event = &exact->event[i]};
	}
	status = make_file(exact);
	files.totals = exact->path;
	return status
		       ?: cli_exact_start("stat", &exact->events, &files, command,
					  &exact->line);
}

void stat_exact_end(struct stat_exact *exact)
{
	cli_folder_remove(exact->folder);
	free(exact->path);
	free(exact->folder);
	exact->path = exact->folder = NULL;
}

void stat_exact_free(struct stat_exact *exact)
{
	stat_exact_end(exact);
	if (exact->fd > 0)
		close(exact->fd);
	free(exact->line);
}

/* --- totals ------------------------------------------------------------------------- */

/* The totals of the processes of a run. */
struct totals {
	uint64_t sum[PM_EXACT_EVENT_COUNT];
	uint64_t pid; /* of the first process */
	bool found;   /* its last counts are there */
	bool unknown; /* a process ended at an instruction that Valgrind does not know */
};

/* Takes the counts of LINE: "NAME=VALUE... PROGRAM". Returns false if the line was cut
 * off. */
static bool take_counts(const struct stat_exact *exact, struct pm_slice line,
			uint64_t counts[PM_EXACT_EVENT_COUNT])
{
	uint32_t taken = 0;

	while (line.at && taken < exact->events.count) {
		struct pm_slice word = pm_slice_cut(line, ' ', &line), name;

		name = pm_slice_cut(word, '=', &word);
		for (uint32_t i = 0; i < exact->events.count; i++) {
			if (!pm_slice_is(name, cli_exact_name(exact->events.event[i])))
				continue;
			if (!word.at || pm_slice_number(word, &counts[i]))
				return false;
			taken++;
		}
	}
	return line.at && line.length && taken == exact->events.count;
}

/*
 * Takes "end PID NAME=VALUE... PROGRAM", "exec ..." before an exec, "noexec ..." after
 * one that failed, and "unknown PID ...". Ignores other lines, which a later tool may
 * write. Returns 0, or -EBADMSG if the line was cut off.
 */
static int take_line(const struct stat_exact *exact, struct totals *totals,
		     struct pm_slice line)
{
	struct pm_slice kind = pm_slice_cut(line, ' ', &line);
	uint64_t counts[PM_EXACT_EVENT_COUNT] = {0}, pid;
	bool ends = pm_slice_is(kind, "end"), fails = pm_slice_is(kind, "noexec");

	totals->unknown |= pm_slice_is(kind, "unknown");
	if (!ends && !fails && !pm_slice_is(kind, "exec"))
		return 0;
	if (!line.at || pm_slice_number(pm_slice_cut(line, ' ', &line), &pid) ||
	    !take_counts(exact, line, counts))
		return -EBADMSG;
	for (uint32_t i = 0; i < exact->events.count; i++)
		totals->sum[i] += fails ? -counts[i] : counts[i];
	totals->found |= ends && pid == totals->pid;
	return 0;
}

/* Checks that processes can write to the file, and that its name is still there. */
static int check_file(const struct stat_exact *exact)
{
	struct stat ours, there;

	if (write(exact->fd, "\n", 1) != 1)
		return -errno;
	if (fstat(exact->fd, &ours))
		return -errno;
	if (lstat(exact->path, &there) || there.st_ino != ours.st_ino ||
	    there.st_dev != ours.st_dev)
		return -ESTALE;
	return 0;
}

static int take_file(const struct stat_exact *exact, struct totals *totals)
{
	int err = check_file(exact), fd;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	FILE *file;

	if (err)
		return err;
	fd = fcntl(exact->fd, F_DUPFD_CLOEXEC, 0);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	rewind(file);
	while (!err && (length = getline(&line, &size, file)) > 0) {
		bool whole = line[length - 1] == '\n';

		err = take_line(exact, totals,
				(struct pm_slice){line, (size_t)(length - whole)});
		err = err || whole ? err : -EBADMSG;
	}
	err = err ?: ferror(file) ? -EIO : 0;
	free(line);
	fclose(file);
	return err;
}

static int fail(const struct stat_exact *exact, struct stat_counting *counting, int err)
{
	const char *why = err == -ESTALE ? "the command has replaced or removed the file"
			  : err == -EBADMSG ? "a line is not whole: the disk may be full"
					    : strerror(-err);

	return pm_diag_set(&counting->diag, err,
			   "the totals of the processes in '%s' cannot be used: %s",
			   exact->path, why);
}

int stat_exact_begin(struct stat_exact *exact, struct stat_counting *counting)
{
	int err = ftruncate(exact->fd, 0) ? -errno : check_file(exact);

	return err ? fail(exact, counting, err) : 0;
}

int stat_exact_read(struct stat_exact *exact, struct stat_counting *counting, pid_t pid,
		    struct stat_cell *cells)
{
	const struct perfmon_value own = {.status = PERFMON_VALUE_NEVER_OPENED};
	struct totals totals = {.pid = (uint64_t)pid};
	int err = take_file(exact, &totals);

	if (err)
		return fail(exact, counting, err);
	exact->lost_runs += !totals.found;
	exact->unknown |= totals.unknown;
	for (uint32_t i = 0; i < counting->events.count; i++) {
		/* Without the command's own counts there is no sum. */
		struct perfmon_value value = {.value = totals.sum[i],
					      .enabled_ns = !totals.found};

		stat_cell_take(&cells[i], &counting->events.events[i], &value, &own);
		stat_cell_end_run(&cells[i]);
	}
	return 0;
}
