/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fast path: the read with sequence retry, and BEGIN and END of a warm region.
 *
 * It uses arch/ alone. It calls upward in one place: a call that is not warm goes to the
 * functions of regions/ that fastpath/region.h declares.
 *
 * Must hold: no lock, no allocation, no system call except the vDSO's clock, no string.
 * `scripts/bench --guest` shows each change of its cost, to the instruction.
 */
#ifndef PM_FASTPATH_FASTPATH_H
#define PM_FASTPATH_FASTPATH_H

#include "fastpath/region.h"
#include "fastpath/view.h"

#endif
