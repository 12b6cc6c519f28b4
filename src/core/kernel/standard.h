/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Standard output and standard error. They belong to the program, which may send its data
 * there. */
#ifndef PM_KERNEL_STANDARD_H
#define PM_KERNEL_STANDARD_H

/* Remembers the files of both, at the first region of a process. */
void pm_standard_learn(void);

/*
 * Returns FD, which is 1 or 2, if it still leads to the file of the first region in this
 * process or in the processes that it was forked from. Otherwise -EBADF, because the
 * program may write its data there now. Before the first region returns FD.
 */
int pm_standard_descriptor(int fd);

#endif
