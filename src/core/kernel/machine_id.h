/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which process on which host and boot this is: what a profile's header says. Each text
 * is cut to fit and "" where the machine does not tell. */
#ifndef PM_KERNEL_MACHINE_ID_H
#define PM_KERNEL_MACHINE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void pm_machine_host(char *buffer, size_t size);
void pm_machine_boot_id(char *buffer, size_t size);
void pm_machine_program(char *buffer, size_t size); /* its end, if it is longer */
uint64_t pm_machine_pid_namespace(void);	    /* its inode; 0: not known */
uint64_t pm_machine_start_time(void); /* of this process, in clock ticks since boot */

struct pm_machine_process {
	bool alive; /* it has not ended, though its parent may not have noticed */
	uint64_t
		start_time; /* in clock ticks since boot: it tells users of one pid apart */
};
/* 0, or what reading /proc/PID/stat gave: -ENOENT or -ESRCH without such a process. */
int pm_machine_process(pid_t pid, struct pm_machine_process *process);

#endif
