/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/handler.h"

#include <unwind.h>

#include "core/kernel/kernel.h"

#define FRAMES_MOST 32

/* The limit for a caller that needs certainty. */
#define FRAMES_ALL 1024

struct walk {
	int frames, most;
	bool found;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	int is_signal_frame = 0;

	/* "Before the instruction" is set if a signal interrupted the frame. The address
	 * of an ordinary frame is behind a call. */
	_Unwind_GetIPInfo(context, &is_signal_frame);
	walk->found = is_signal_frame;
	return walk->found || ++walk->frames == walk->most ? _URC_END_OF_STACK
							   : _URC_NO_REASON;
}

bool pm_in_signal_handler(void)
{
	struct walk walk = {.most = FRAMES_MOST};

	/* This check needs no stack, unlike the unwinder, which might overflow a small
	 * one. */
	if (pm_kernel_on_signal_stack())
		return true;
	_Unwind_Backtrace(look, &walk);
	return walk.found;
}

bool pm_outside_signal_handlers(void)
{
	struct walk walk = {.most = FRAMES_ALL};

	if (pm_kernel_on_signal_stack())
		return false;
	_Unwind_Backtrace(look, &walk);
	return !walk.found && walk.frames < walk.most;
}

bool pm_may_be_in_signal_handler(const sigset_t *blocked)
{
	return !sigisemptyset(blocked) && pm_in_signal_handler();
}
