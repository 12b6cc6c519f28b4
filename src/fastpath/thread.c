/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fastpath/region.h"
#include "perfmon/quantity.h"
#include "perfmon/task.h"

/* A block whose stack never opens, for threads before set-up and after their end. */
struct pm_thread_block pm_thread_block_none;
__thread struct pm_thread_block *pm_thread_block
	__attribute__((tls_model("initial-exec"))) = &pm_thread_block_none;

PM_REGION_EXPORT extern __thread struct perfmon_quantity_thread
	*perfmon_quantity_thread_one
	__attribute__((tls_model("initial-exec"), alias("pm_thread_block")));
PM_REGION_EXPORT extern __thread void *perfmon_task_thread
	__attribute__((tls_model("initial-exec"), alias("pm_thread_block")));
