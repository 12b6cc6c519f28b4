/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors that the program may close, as daemons close all that they do not know.
 * Then the number may belong to a file of the program, which must not be written or
 * closed. A descriptor is recognised by its file's device, inode and access mode.
 *
 * Events of the kernel have ids instead (counters/instance.c). A descriptor without an
 * inode of its own is recognised by the epoll set that holds it (poller.h).
 */
#ifndef PM_KERNEL_OWNED_H
#define PM_KERNEL_OWNED_H

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

struct pm_owned {
	int fd; /* -1: none */
	int mode;
	dev_t device;
	ino_t inode;
};

#define PM_OWNED_NONE ((struct pm_owned){.fd = -1})

/* Records FD, which was just opened. Returns 0 or an error of fstat(2) or fcntl(2). */
int pm_owned_learn(struct pm_owned *owned, int fd);

/*
 * Checks the descriptor. Async-signal-safe. Returns
 *
 *  - 0: it is ours
 *  - -ESTALE: it is another file
 *  - -EBADF: there is none
 *  - another error of the check
 */
int pm_owned_check(const struct pm_owned *owned);

/* Returns whether the descriptor must be left alone. */
static inline bool pm_owned_is_foreign(const struct pm_owned *owned)
{
	return owned->fd < 0 || pm_owned_check(owned) == -ESTALE;
}

/* Closes the descriptor if it is not foreign, and forgets it. Returns 0, -EBADF, or an
 * error of close(2). */
int pm_owned_close(struct pm_owned *owned);

/* Remembers the files of standard output and standard error, at the first region of a
 * process. They belong to the program, which may send its data there. */
void pm_standard_learn(void);

/*
 * Returns FD, which is 1 or 2, if it still leads to the file of the first region in this
 * process or in the processes that it was forked from. Otherwise -EBADF, because the
 * program may write its data there now. Before the first region returns FD.
 */
int pm_standard_descriptor(int fd);

#endif
