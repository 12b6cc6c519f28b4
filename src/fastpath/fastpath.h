/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fast path: the read with sequence retry, and BEGIN and END of a warm region.
 *
 * Uses arch/ alone, and calls upward in one declared place: what is not warm goes to the
 * functions of regions/ that fastpath/region.h names.
 *
 * Must hold: no lock, no allocation, no system call but the vDSO's clock, no string. A
 * change of it shows in `scripts/bench --guest`, to the instruction.
 */
#ifndef PM_FASTPATH_FASTPATH_H
#define PM_FASTPATH_FASTPATH_H

#include "fastpath/region.h"
#include "fastpath/view.h"

#endif
