/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/session/core/state.h"

uint32_t pm_session_impossible;

void pm_session_move_refused(void)
{
	__atomic_fetch_add(&pm_session_impossible, 1, __ATOMIC_RELAXED);
}
