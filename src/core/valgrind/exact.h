/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds whether Valgrind runs the program. Its tool of exact/ counts exactly
 * (arch/exact.h). Its other tools count nothing and do not know the instructions that
 * read counters.
 */
#ifndef PM_VALGRIND_EXACT_H
#define PM_VALGRIND_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/exact.h"

/* Returns the tool's description of itself, or NULL if the tool does not run or has
 * another version. The first call asks the tool, by a few instructions. Any thread, no
 * system call. */
const struct pm_exact *pm_exact(void);

/* Returns whether the tool runs and counts EVENT in this run. */
bool pm_exact_counts(uint32_t event);

/* Returns whether any tool of Valgrind runs the program. */
bool pm_is_translated(void);

/* Sums the counts of all threads of the process since its start, fork or exec in
 * TOTALS[PM_EXACT_EVENT_COUNT]. Returns false if the tool does not run. */
bool pm_exact_totals(uint64_t totals[PM_EXACT_EVENT_COUNT]);

#endif
