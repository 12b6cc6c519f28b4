/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the state of a process before the log began: its threads' names, and the files
 * that it executes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "core/kernel/files.h"
#include "core/kernel/process_maps.h"
#include "core/samples/log_internal.h"

struct adding {
	struct pm_log *log;
	pid_t pid;
	struct pm_bytes bytes;
	int err; /* of a mapping */
};

static int append(struct adding *to, size_t start)
{
	int err;

	pm_log_record_end(&to->bytes, start, to->log->trailer_words);
	if (to->bytes.failed)
		return -ENOMEM;
	err = pm_log_append_patiently(to->log, (const void *)to->bytes.data);
	to->bytes.used = 0;
	return err;
}

static int add_thread(struct adding *to, const char *tid)
{
	char path[64], name[64];
	size_t start;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", (int)to->pid, tid);
	n = pm_file_text(path, name, sizeof(name));
	if (n <= 0)
		return 0; /* it has ended */
	name[strcspn(name, "\n")] = '\0';
	start = pm_log_record_begin(&to->bytes, PERF_RECORD_COMM, 0);
	pm_bytes_add_u32(&to->bytes, (uint32_t)to->pid);
	pm_bytes_add_u32(&to->bytes, (uint32_t)strtoul(tid, NULL, 10));
	pm_bytes_add(&to->bytes, name, strlen(name) + 1);
	return append(to, start);
}

static bool add_mapping(const struct pm_process_map *map, void *argument)
{
	const char *path = map->path[0] ? map->path : "//anon";
	struct adding *to = argument;
	struct pm_bytes *bytes = &to->bytes;
	size_t start;

	if (!map->executable)
		return false;
	start = pm_log_record_begin(bytes, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	pm_bytes_add_u32(bytes, (uint32_t)to->pid);
	pm_bytes_add_u32(bytes, (uint32_t)to->pid);
	pm_bytes_add_u64(bytes, map->from);
	pm_bytes_add_u64(bytes, map->to - map->from);
	pm_bytes_add_u64(bytes, map->offset);
	pm_bytes_add_u32(bytes, major(map->device));
	pm_bytes_add_u32(bytes, minor(map->device));
	pm_bytes_add_u64(bytes, map->inode);
	pm_bytes_add_u64(bytes, 0);
	pm_bytes_add_u32(bytes, (map->readable ? PROT_READ : 0) |
					(map->writable ? PROT_WRITE : 0) | PROT_EXEC);
	pm_bytes_add_u32(bytes, map->shared ? MAP_SHARED : MAP_PRIVATE);
	pm_bytes_add(bytes, path, strlen(path) + 1);
	to->err = append(to, start);
	return to->err;
}

int pm_log_process(struct pm_log *log, pid_t pid, struct pm_diag *diag)
{
	struct adding to = {.log = log, .pid = pid};
	char path[64];
	char **threads;
	size_t count;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	err = pm_dir_list(path, &threads, &count);
	if (err)
		return pm_diag_set(diag, err == -ENOENT ? -ESRCH : err,
				   "cannot list the threads of process %d: %s", (int)pid,
				   strerror(err == -ENOENT ? ESRCH : -err));
	for (size_t i = 0; i < count && !err; i++)
		err = add_thread(&to, threads[i]);
	free(threads);
	if (!err) {
		err = pm_process_maps(pid, add_mapping, &to);
		if (err < 0)
			err = pm_diag_set(diag, err == -ENOENT ? -ESRCH : err,
					  "cannot read the mappings of process %d: %s",
					  (int)pid, strerror(-err));
		else
			err = to.err;
	}
	pm_bytes_free(&to.bytes);
	return err;
}
