/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors that a program may close under us, as daemons do with all that they do not
 * know: the number may be a file of the program's then, which is neither to be written to
 * nor to be closed. A descriptor is known by its file's device, inode and access mode.
 *
 * Events of the kernel have ids instead (counters/instance.c), and what has no inode of its
 * own is known by the set that it is in (poller.h).
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

/* Takes notice of FD, which has just been opened; 0 or what fstat(2) and fcntl(2) give. */
int pm_owned_learn(struct pm_owned *owned, int fd);

/* 0: it is ours; -ESTALE: it is another file; -EBADF: none; or why it cannot be told.
 * Async-signal-safe. */
int pm_owned_check(const struct pm_owned *owned);

static inline bool pm_owned_is_ours(const struct pm_owned *owned)
{
	return !pm_owned_check(owned);
}

/* Whether it is to be left alone. */
static inline bool pm_owned_is_foreign(const struct pm_owned *owned)
{
	return owned->fd < 0 || pm_owned_check(owned) == -ESTALE;
}

/* Closes it if it is not foreign, and forgets it. 0; -EBADF; what close(2) gives. */
int pm_owned_close(struct pm_owned *owned);

#endif
