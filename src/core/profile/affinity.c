/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/affinity.h"

#include "core/kernel/kernel.h"
#include "fastpath/fastpath.h"

void pm_affinity_add(uint64_t cpus[PM_AFFINITY_WORDS], pid_t tid)
{
	uint64_t now[PM_AFFINITY_WORDS] = {0};
	int i;

	if (pm_kernel_affinity(tid, now, sizeof(now)) < 0)
		return;
	for (i = 0; i < PM_AFFINITY_WORDS; i++)
		PM_PUT(cpus[i], cpus[i] | now[i]);
}
