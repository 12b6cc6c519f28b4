/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of a report: an older one is replaced by a whole one or not at all. */
#ifndef PM_REPORT_FILE_H
#define PM_REPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct pm_report_file {
	int fd;
	char *path;  /* where it is to stand */
	char *aside; /* where it is written until it is whole; NULL: at PATH itself, or */
	int old;     /* the older file, which gets the text of FD at the end; -1: none */
};

/*
 * pm_report_file_open() - opens what becomes the file at PATH: a new file beside it,
 * which has the owner and the permissions of an older one (but neither setuid nor setgid),
 * or mode 0644 less the umask. In a directory where no other file can be made, or if a new
 * one could not have that owner, the text stays in memory and replaces that of the older
 * file at the end. A device or a FIFO is opened itself. Never through a symbolic link as
 * the last part of PATH.
 *
 * WAIT: for who reads a FIFO. Without it a FIFO that nobody reads is refused, and
 * pm_report_fd_write() does not wait for ever for one that somebody does not read.
 *
 * Allocates; any thread. Returns 0, or
 * -ELOOP: a symbolic link
 * -ENXIO: nobody reads the FIFO
 * -EACCES: also for another user's file in a sticky folder (fs.protected_regular)
 * -ENOMEM
 * - what open(2) gave
 */
int pm_report_file_open(struct pm_report_file *file, const char *path, bool wait);

/*
 * pm_report_file_end() - closes FILE, which is at its place now; or, if ERR is what
 * writing it came to, removes it, and an older one stays as it was. ERR, or what close(2),
 * rename(2) or, to the older file itself, write(2) gave.
 */
int pm_report_file_end(struct pm_report_file *file, int err);

/* A sink of reports: all of TEXT to the descriptor at ARGUMENT (an int). Raises no
 * signal. -EAGAIN if it has taken nothing for ten seconds although others would wait. */
int pm_report_fd_write(void *argument, const char *text, size_t size);

#endif
