/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_KERNEL_HANDLER_H
#define PM_KERNEL_HANDLER_H

#include <signal.h>
#include <stdbool.h>

/*
 * Whether the caller runs in a signal handler, as far as the frames of its stack tell: the
 * unwinder knows a signal frame when it passes one. A stack that cannot be unwound, or a
 * handler more than 32 calls up, looks like none. Allocates nothing and takes no lock that
 * the interrupted code could hold (glibc 2.35; before it, the loader's recursive one).
 */
bool pm_in_signal_handler(void);

/*
 * The same for nothing where no signal is BLOCKED: while a handler runs, its signal is,
 * unless it was installed with SA_NODEFER.
 */
bool pm_may_be_in_signal_handler(const sigset_t *blocked);

/* Whether the caller surely runs in none: false where the stack is too deep to tell. */
bool pm_outside_signal_handlers(void);

#endif
