/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The identity of the process, its host and its boot, for a profile's header. Each text
 * is cut to fit, and "" if the machine does not provide it. */
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
	/* in clock ticks since boot: distinguishes processes with the same pid */
	uint64_t start_time;
};
/* Returns 0, or the error of reading /proc/PID/stat: -ENOENT or -ESRCH without such a
 * process. */
int pm_machine_process(pid_t pid, struct pm_machine_process *process);

#endif
