/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon stat --exact: runs the command under the tool, and sums what its processes
 * leave. */
#include "config.h"

#include "cli/stat/exact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"

/* --- begin and end ------------------------------------------------------------------ */

static int out_of_memory(void)
{
	cli_complain("stat", "%s", strerror(ENOMEM));
	return CLI_FAILED;
}

/* A file of its own name: a process that changes its root or its user can still open it
 * where a descriptor of ours would be out of its reach. In a folder of its own: a process
 * that outlives the command cannot make the file again. */
static int make_file(struct stat_exact *exact)
{
	const char *dir = getenv("TMPDIR");
	int fd = -1;

	if (asprintf(&exact->folder, "%s/perfmon-stat-XXXXXX",
		     dir && *dir ? dir : "/tmp") < 0) {
		exact->folder = NULL;
		return out_of_memory();
	}
	if (!mkdtemp(exact->folder)) {
		cli_complain("stat", "cannot create '%s' for the totals: %s",
			     exact->folder, strerror(errno));
		free(exact->folder);
		exact->folder = NULL;
		return CLI_FAILED;
	}
	if (asprintf(&exact->path, "%s/totals", exact->folder) < 0) {
		exact->path = NULL;
		return out_of_memory();
	}
	fd = open(exact->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		return close(fd);
	cli_complain("stat", "cannot create '%s' for the totals: %s", exact->path,
		     strerror(errno));
	return CLI_FAILED;
}

int stat_exact_init(struct stat_exact *exact, struct stat_counting *counting,
		    const char *text, char **command)
{
	struct stat_events *events = &counting->events;
	int status;

	*exact = (struct stat_exact){.path = NULL};
	*counting = (struct stat_counting){.session = NULL};
	status = cli_exact_parse("stat", text, &exact->events);
	if (status)
		return status;
	events->chosen = true;
	events->user_only = true;
	events->events = calloc(exact->events.count, sizeof(events->events[0]));
	if (!events->events)
		return out_of_memory();
	events->count = exact->events.count;
	for (uint32_t i = 0; i < events->count; i++) {
		exact->event[i].scale = 1;
		/* Of no kind that counts are derived from. */
		exact->event[i].attr.type = UINT32_MAX;
		events->events[i] = (struct stat_event){
			.label = cli_exact_label(exact->events.event[i]),
			.event = &exact->event[i]};
	}
	status = make_file(exact);
	return status
		       ?: cli_exact_start("stat", &exact->events, exact->path, command,
					  &exact->line);
}

void stat_exact_free(struct stat_exact *exact)
{
	if (exact->path)
		unlink(exact->path);
	if (exact->folder)
		rmdir(exact->folder);
	free(exact->path);
	free(exact->folder);
	free(exact->line);
}

/* --- totals ------------------------------------------------------------------------- */

/* What a process left: its last program, and those before it. */
struct process {
	uint64_t pid;
	uint64_t sum[PM_EXACT_EVENT_COUNT];
	uint64_t last
		[PM_EXACT_EVENT_COUNT]; /* of the line before, if exec can take it back */
	bool ended;
};

struct processes {
	struct process *all;
	uint32_t count;
};

static struct process *find(struct processes *processes, uint64_t pid)
{
	/* A number is given again after its process has ended. */
	for (uint32_t i = processes->count; i--;)
		if (processes->all[i].pid == pid && !processes->all[i].ended)
			return &processes->all[i];
	if (!PM_GROW(processes->all, processes->count))
		return NULL;
	processes->all[processes->count] = (struct process){.pid = pid};
	return &processes->all[processes->count++];
}

static bool is_word(struct pm_slice word, const char *text)
{
	return word.length == strlen(text) && !memcmp(word.at, text, word.length);
}

/* Takes "end PID NAME=VALUE... COMMAND", "exec ..." or "noexec PID". Others, which a later
 * tool may write, say nothing. 0 or a negative errno. */
static int take_line(const struct stat_exact *exact, struct processes *processes,
		     struct pm_slice line)
{
	struct pm_slice kind = pm_slice_cut(line, ' ', &line), word;
	struct process *process;
	uint64_t pid, value;

	if (!line.at)
		return 0;
	if (pm_slice_number(pm_slice_cut(line, ' ', &line), &pid))
		return 0;
	if (!is_word(kind, "end") && !is_word(kind, "exec") && !is_word(kind, "noexec"))
		return 0;
	process = find(processes, pid);
	if (!process)
		return -ENOMEM;
	for (uint32_t i = 0; i < exact->events.count; i++) {
		if (is_word(kind, "noexec"))
			process->sum[i] -= process->last[i];
		process->last[i] = 0;
	}
	for (uint32_t n = 0; line.at && n < exact->events.count; n++) {
		struct pm_slice name;

		word = pm_slice_cut(line, ' ', &line);
		name = pm_slice_cut(word, '=', &word);
		if (!word.at || pm_slice_number(word, &value))
			break;
		for (uint32_t i = 0; i < exact->events.count; i++)
			if (is_word(name, cli_exact_name(exact->events.event[i])))
				process->last[i] = value;
	}
	for (uint32_t i = 0; i < exact->events.count; i++)
		process->sum[i] += process->last[i];
	process->ended = is_word(kind, "end");
	return 0;
}

static int take_file(const struct stat_exact *exact, struct processes *processes)
{
	FILE *file = fopen(exact->path, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int err = 0;

	if (!file)
		return -errno;
	while (!err && (length = getline(&line, &size, file)) > 0) {
		if (line[length - 1] == '\n')
			length--;
		err = take_line(exact, processes,
				(struct pm_slice){line, (size_t)length});
	}
	if (!err && ferror(file))
		err = -EIO;
	free(line);
	fclose(file);
	return err;
}

int stat_exact_begin(struct stat_exact *exact)
{
	return truncate(exact->path, 0) ? -errno : 0;
}

int stat_exact_read(struct stat_exact *exact, const struct stat_counting *counting,
		    pid_t pid, struct stat_cell *cells)
{
	const struct perfmon_value own = {.status = PERFMON_VALUE_NEVER_OPENED};
	struct processes processes = {.all = NULL};
	int err = take_file(exact, &processes);
	bool found = false;

	for (uint32_t p = 0; p < processes.count; p++)
		found |= processes.all[p].pid == (uint64_t)pid && processes.all[p].ended;
	if (!found)
		exact->lost_runs++;
	for (uint32_t i = 0; !err && i < counting->events.count; i++) {
		struct perfmon_value value = {.value = 0};

		for (uint32_t p = 0; p < processes.count; p++)
			value.value += processes.all[p].sum[i];
		/* Without the command's own counts there is no sum to speak of. */
		value.enabled_ns = !found;
		stat_cell_take(&cells[i], &counting->events.events[i], &value, &own);
		stat_cell_settle(&cells[i]);
	}
	free(processes.all);
	return err;
}
