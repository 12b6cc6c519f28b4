/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/kernel/kernel.h"

/* Names that are tried for a new file, and waits of a tenth of a second for a reader. */
#define NAMES_MOST 100
#define WAITS_MOST 100

int pm_report_fd_write(void *argument, const char *text, size_t size)
{
	int fd = *(int *)argument;
	unsigned int refused = 0;

	while (size) {
		ssize_t n = pm_kernel_write_quietly(fd, text, size);

		/* It is non-blocking: by us, or by somebody else, here or elsewhere. */
		if (n == -EAGAIN && refused++ < WAITS_MOST) {
			pm_kernel_poll_write(fd, 100);
			continue;
		}
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -EIO;
		refused = 0;
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

/* A new file beside FILE's path. */
static int make_aside(struct pm_report_file *file)
{
	const char *slash = strrchr(file->path, '/');
	size_t length = slash ? (size_t)(slash - file->path) + 1 : 0;
	size_t room = length + 48;
	int fd = -EEXIST;

	file->aside = malloc(room);
	if (!file->aside)
		return -ENOMEM;
	for (unsigned int n = 0; fd == -EEXIST && n < NAMES_MOST; n++) {
		snprintf(file->aside, room, "%.*s.perfmon.%d.%u", (int)length, file->path,
			 (int)pm_kernel_getpid(), n);
		fd = pm_kernel_open(file->aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
				    0644);
	}
	if (fd < 0) {
		free(file->aside);
		file->aside = NULL;
	}
	return fd;
}

/* A new file beside FILE's path with the owner and the mode of the older one, of ST. It
 * has no other's rights (setuid, setgid): its text is not what these were given to. */
static int make_like(struct pm_report_file *file, const struct stat *st)
{
	struct stat made;
	int fd = make_aside(file), err;

	if (fd < 0)
		return fd;
	err = pm_kernel_fstat(fd, &made);
	if (!err && (made.st_uid != st->st_uid || made.st_gid != st->st_gid))
		err = pm_kernel_fchown(fd, st->st_uid, st->st_gid);
	if (!err)
		err = pm_kernel_fchmod(fd, st->st_mode & 0777);
	if (!err)
		return fd;
	pm_kernel_close(fd);
	pm_kernel_unlink(file->aside);
	free(file->aside);
	file->aside = NULL;
	return err;
}

/* The older file OLD is open and of ST: opens one that can take its place, or memory whose
 * text does when it is whole. */
static int replace(struct pm_report_file *file, int old, const struct stat *st)
{
	int fd = make_like(file, st);

	/* Without room a copy would leave neither the old text nor the new one. */
	if (fd < 0 && fd != -ENOSPC && fd != -EDQUOT && fd != -ENOMEM)
		fd = pm_kernel_memfd_create("perfmon-report", MFD_CLOEXEC);
	if (fd >= 0 && !file->aside)
		file->old = old;
	else
		pm_kernel_close(old);
	return fd;
}

/* Puts the text of FILE, which is whole, in place of that of the older one. */
static int copy_to_old(struct pm_report_file *file)
{
	int err = pm_kernel_ftruncate(file->old, 0);
	char text[4096];
	uint64_t at = 0;

	while (!err) {
		ssize_t n = pm_kernel_pread(file->fd, text, sizeof(text), at);

		if (n <= 0)
			return (int)n;
		err = pm_report_fd_write(&file->old, text, (size_t)n);
		at += (uint64_t)n;
	}
	return err;
}

/* Finds out what stands at FILE's path before it opens it: to open a FIFO may wait. */
static int open_target(struct pm_report_file *file, bool wait)
{
	int fd = pm_kernel_open(file->path, O_PATH | O_NOFOLLOW, 0), err;
	/* Another user's file in a sticky folder is refused where the kernel protects from
	 * it, which it does only for processes that may create a file. */
	int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NOCTTY;
	struct stat st;

	if (fd == -ENOENT)
		return make_aside(file);
	if (fd < 0)
		return fd;
	err = pm_kernel_fstat(fd, &st);
	pm_kernel_close(fd);
	if (err)
		return err;
	if (!wait || S_ISREG(st.st_mode))
		flags |= O_NONBLOCK;
	fd = pm_kernel_open(file->path, flags, 0644);
	if (fd < 0)
		return fd;
	/* Somebody may have put another thing there since. */
	err = pm_kernel_fstat(fd, &st);
	if (err) {
		pm_kernel_close(fd);
		return err;
	}
	return S_ISREG(st.st_mode) ? replace(file, fd, &st) : fd;
}

int pm_report_file_open(struct pm_report_file *file, const char *path, bool wait)
{
	int fd;

	*file = (struct pm_report_file){.fd = -1, .path = strdup(path), .old = -1};
	if (!file->path)
		return -ENOMEM;
	fd = open_target(file, wait);
	if (fd < 0) {
		free(file->path);
		file->path = NULL;
		return fd;
	}
	file->fd = fd;
	return 0;
}

int pm_report_file_end(struct pm_report_file *file, int err)
{
	int closed;

	if (file->old >= 0) {
		err = err ?: copy_to_old(file);
		closed = pm_kernel_close(file->old);
		err = err ?: closed;
	}
	/* Some file systems tell here that they had no room. */
	closed = pm_kernel_close(file->fd);
	err = err ?: closed;
	if (file->aside) {
		err = err ?: pm_kernel_rename(file->aside, file->path);
		if (err)
			pm_kernel_unlink(file->aside);
	}
	free(file->aside);
	free(file->path);
	*file = (struct pm_report_file){.fd = -1, .old = -1};
	return err;
}
