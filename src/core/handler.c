/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/handler.h"

#include <unwind.h>

#include "core/kernel.h"

#define FRAMES_MOST 32

struct walk {
	int frames;
	bool found;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	int is_signal_frame = 0;

	/* "Before the instruction" is set where a signal interrupted it: an ordinary frame's
	 * address is behind a call. */
	_Unwind_GetIPInfo(context, &is_signal_frame);
	walk->found = is_signal_frame;
	return walk->found || ++walk->frames == FRAMES_MOST ? _URC_END_OF_STACK
							    : _URC_NO_REASON;
}

bool pm_in_signal_handler(void)
{
	struct walk walk = {0};

	_Unwind_Backtrace(look, &walk);
	return walk.found;
}

bool pm_may_be_in_signal_handler(void)
{
	sigset_t blocked;

	if (pm_kernel_signal_mask(&blocked) || !sigisemptyset(&blocked))
		return pm_in_signal_handler();
	return false;
}
