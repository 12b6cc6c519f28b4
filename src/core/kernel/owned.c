/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/owned.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/kernel/kernel.h"

int pm_owned_learn(struct pm_owned *owned, int fd)
{
	struct stat st;
	int flags = pm_kernel_fcntl(fd, F_GETFL, 0);
	int err = flags < 0 ? flags : pm_kernel_fstat(fd, &st);

	*owned = PM_OWNED_NONE;
	if (!err)
		*owned = (struct pm_owned){fd, flags & O_ACCMODE, st.st_dev, st.st_ino};
	return err;
}

/* Returns 0 if the descriptor still names the file, in whatever mode it is open now. */
static int check_file(const struct pm_owned *owned)
{
	struct stat st;
	int err = owned->fd < 0 ? -EBADF : pm_kernel_fstat(owned->fd, &st);

	if (!err && (st.st_dev != owned->device || st.st_ino != owned->inode))
		err = -ESTALE;
	return err;
}

int pm_owned_check(const struct pm_owned *owned)
{
	int err = check_file(owned), flags;

	if (err)
		return err;
	flags = pm_kernel_fcntl(owned->fd, F_GETFL, 0);
	if (flags < 0)
		return flags;
	return (flags & O_ACCMODE) == owned->mode ? 0 : -ESTALE;
}

int pm_owned_close(struct pm_owned *owned)
{
	int err = pm_owned_is_foreign(owned) ? -EBADF : pm_kernel_close(owned->fd);

	*owned = PM_OWNED_NONE;
	return err;
}

/* The files of 1 and 2 at the first region. */
static struct pm_owned standard[STDERR_FILENO + 1];
static bool standard_known;

void pm_standard_learn(void)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		pm_owned_learn(&standard[fd], fd);
	standard_known = true;
}

int pm_standard_descriptor(int fd)
{
	return standard_known && check_file(&standard[fd]) ? -EBADF : fd;
}
