/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the program runs on the CPU itself or is translated: by the tool of exact/, which
 * counts exactly (arch/exact.h), or by another tool of Valgrind, which counts nothing and
 * does not know the instructions that read counters.
 */
#ifndef PM_VALGRIND_EXACT_H
#define PM_VALGRIND_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/exact.h"

/* What the tool says of itself; NULL where it does not run, or has another version. Asked
 * for once, by a few instructions. Any thread, no system call. */
const struct pm_exact *pm_exact(void);

/* Whether the tool runs and counts event EVENT in this run. */
bool pm_exact_counts(uint32_t event);

/* Whether any tool of Valgrind runs the program. */
bool pm_is_translated(void);

/* What all threads of the process have counted since it began, was forked or executed its
 * program: TOTALS[PM_EXACT_EVENT_COUNT]. False where the tool does not run. */
bool pm_exact_totals(uint64_t totals[PM_EXACT_EVENT_COUNT]);

#endif
