/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Libraries that give a program regions without a change to it. */
#ifndef PM_CLI_RUN_HOOKS_H
#define PM_CLI_RUN_HOOKS_H

/* Prints the hooks and what they do. Returns the exit status. */
int hooks_list(void);

/* Lets the loader put the hooks of LIST, "openmp,threads", into the programs that this process
 * starts (LD_PRELOAD). What is there already stays. Returns 0, or the exit status after a
 * message. */
int hooks_load(const char *list);

#endif
