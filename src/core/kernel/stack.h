/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_KERNEL_STACK_H
#define PM_KERNEL_STACK_H

/*
 * Calls RUN with ARGUMENT on a stack of its own, for work that is done once in a process
 * and would not fit the stack of a small thread or of a signal handler. Without memory it
 * uses the caller's stack. The new stack is not freed if a handler leaves RUN by
 * siglongjmp(3).
 */
void pm_stack_run(void (*run)(void *argument), void *argument);

#endif
