/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Standard output and standard error, which are the program's: it may put its data there. */
#ifndef PM_KERNEL_STANDARD_H
#define PM_KERNEL_STANDARD_H

/* Remembers where both lead: at the first region of a process. */
void pm_standard_learn(void);

/*
 * FD, which is 1 or 2, if it leads to the file that it led to at the first region of this
 * process or of those that it was forked from; else -EBADF: what the program has put
 * there since may be its data. FD as long as there was no region.
 */
int pm_standard_descriptor(int fd);

#endif
