/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/standard.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/kernel/kernel.h"

/* The files of 1 and 2 at the first region. */
static struct {
	bool known, open;
	dev_t device;
	ino_t inode;
} standard[STDERR_FILENO + 1];

void pm_standard_learn(void)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat st;

		standard[fd].open = !pm_kernel_fstat(fd, &st);
		standard[fd].device = st.st_dev;
		standard[fd].inode = st.st_ino;
		standard[fd].known = true;
	}
}

int pm_standard_descriptor(int fd)
{
	struct stat st;

	if (!standard[fd].known)
		return fd;
	if (!standard[fd].open || pm_kernel_fstat(fd, &st) ||
	    st.st_dev != standard[fd].device || st.st_ino != standard[fd].inode)
		return -EBADF;
	return fd;
}
