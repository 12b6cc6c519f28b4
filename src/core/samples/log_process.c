/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the state of a process before the log began: its threads' names, and the files
 * that it executes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/samples/log_internal.h"

#define NAME_MAX_SIZE 4096

static int append(struct pm_log *log, struct pm_bytes *bytes, size_t start)
{
	int err;

	pm_log_record_end(bytes, start, log->trailer_words);
	if (bytes->failed)
		return -ENOMEM;
	err = pm_log_append_patiently(log, (const void *)bytes->data);
	bytes->used = 0;
	return err;
}

static int add_thread(struct pm_log *log, pid_t pid, const char *tid,
		      struct pm_bytes *bytes)
{
	char path[64], name[64];
	size_t start;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", (int)pid, tid);
	n = pm_file_text(path, name, sizeof(name));
	if (n <= 0)
		return 0; /* it has ended */
	name[strcspn(name, "\n")] = '\0';
	start = pm_log_record_begin(bytes, PERF_RECORD_COMM, 0);
	pm_bytes_add_u32(bytes, (uint32_t)pid);
	pm_bytes_add_u32(bytes, (uint32_t)strtoul(tid, NULL, 10));
	pm_bytes_add(bytes, name, strlen(name) + 1);
	return append(log, bytes, start);
}

/* Adds a line of /proc/PID/maps: start-end perms offset major:minor inode path. */
static int add_mapping(struct pm_log *log, pid_t pid, const char *line,
		       struct pm_bytes *bytes)
{
	unsigned long long from, to, offset, inode;
	unsigned int major, minor;
	char perms[5];
	int path = 0;
	size_t start;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &from, &to, perms, &offset,
		   &major, &minor, &inode, &path) < 7 ||
	    !path || perms[2] != 'x')
		return 0;
	start = pm_log_record_begin(bytes, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	pm_bytes_add_u32(bytes, (uint32_t)pid);
	pm_bytes_add_u32(bytes, (uint32_t)pid);
	pm_bytes_add_u64(bytes, from);
	pm_bytes_add_u64(bytes, to - from);
	pm_bytes_add_u64(bytes, offset);
	pm_bytes_add_u32(bytes, major);
	pm_bytes_add_u32(bytes, minor);
	pm_bytes_add_u64(bytes, inode);
	pm_bytes_add_u64(bytes, 0);
	pm_bytes_add_u32(bytes, (perms[0] == 'r' ? PROT_READ : 0) |
					(perms[1] == 'w' ? PROT_WRITE : 0) | PROT_EXEC);
	pm_bytes_add_u32(bytes, perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	line = line[path] ? line + path : "//anon";
	pm_bytes_add(bytes, line, strlen(line) + 1);
	return append(log, bytes, start);
}

/* Reads line by line, since the maps of a large process are long. */
static int add_mappings(struct pm_log *log, pid_t pid, int fd, struct pm_bytes *bytes)
{
	char buffer[2 * NAME_MAX_SIZE];
	size_t used = 0;
	int err = 0;

	while (!err) {
		ssize_t n = pm_kernel_read(fd, buffer + used, sizeof(buffer) - 1 - used);
		char *line = buffer, *end;

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		used += (size_t)n;
		buffer[used] = '\0';
		while (!err &&
		       (end = memchr(line, '\n', used - (size_t)(line - buffer)))) {
			*end = '\0';
			err = add_mapping(log, pid, line, bytes);
			line = end + 1;
		}
		used -= (size_t)(line - buffer);
		/* Longer than a path can be: an unknown kind of line. */
		if (used == sizeof(buffer) - 1)
			used = 0;
		memmove(buffer, line, used);
	}
	return err;
}

int pm_log_process(struct pm_log *log, pid_t pid, struct pm_diag *diag)
{
	struct pm_bytes bytes = {0};
	char path[64];
	char **threads;
	size_t count;
	int err, fd;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	err = pm_dir_list(path, &threads, &count);
	if (err)
		return pm_diag_set(diag, err == -ENOENT ? -ESRCH : err,
				   "cannot list the threads of process %d: %s", (int)pid,
				   strerror(err == -ENOENT ? ESRCH : -err));
	for (size_t i = 0; i < count && !err; i++)
		err = add_thread(log, pid, threads[i], &bytes);
	free(threads);
	if (err)
		goto out;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = pm_file_open(path, O_RDONLY);
	if (fd < 0) {
		err = pm_diag_set(diag, fd == -ENOENT ? -ESRCH : fd,
				  "cannot read the mappings of process %d: %s", (int)pid,
				  strerror(-fd));
		goto out;
	}
	err = add_mappings(log, pid, fd, &bytes);
	pm_kernel_close(fd);
	if (err == -EACCES || err == -EPERM)
		pm_diag_set(diag, err, "cannot read the mappings of process %d: %s",
			    (int)pid, strerror(-err));
out:
	pm_bytes_free(&bytes);
	return err;
}
