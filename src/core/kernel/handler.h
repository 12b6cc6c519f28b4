/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_KERNEL_HANDLER_H
#define PM_KERNEL_HANDLER_H

#include <signal.h>
#include <stdbool.h>

/*
 * Returns whether the caller runs in a signal handler, as far as the frames of its stack
 * show: the unwinder recognises a signal frame. If a stack cannot be unwound, or the
 * handler is more than 32 calls up, returns false. Allocates nothing and takes no lock
 * that the interrupted code could hold (glibc 2.35; before it, the loader's recursive
 * lock).
 */
bool pm_in_signal_handler(void);

/*
 * Returns the same, and false without a search if no signal is BLOCKED. While a handler
 * runs, its signal is blocked, unless it was installed with SA_NODEFER.
 */
bool pm_may_be_in_signal_handler(const sigset_t *blocked);

/* Returns whether the caller certainly runs in no handler. False if the stack is too
 * deep. */
bool pm_outside_signal_handlers(void);

#endif
