/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of perfmon/task.h in every case (task.c), which those for frequent cases (task_forms.c) fall
 * back to, and the choice among them. */
#ifndef PM_REGIONS_TASK_H
#define PM_REGIONS_TASK_H

#include <stdbool.h>

#include "perfmon/task.h"

int pm_task_begin(struct perfmon_task *begun);
/* THREAD is of no use. */
int pm_task_suspend(const struct perfmon_task *begun, void *thread);
int pm_task_resume(const struct perfmon_task *begun, void *thread);

/* Prepares a thread to resume BEGUN's task, which has one visit, on a way that it keeps. Returns whether
 * the call can be made again: then the visit counts what it does on a way that the thread was on before. */
bool pm_task_prepares(const struct perfmon_task *begun);

/* Chooses the calls of programs by the plan and the options, as the calls of regions were chosen. The
 * caller holds the lock of regions. */
void pm_task_calls_choose(void);

#endif
