/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The identity of the process, its host and its boot, for a profile's header. Each text
 * is cut to fit, and "" if the machine does not provide it. */
#ifndef PM_KERNEL_MACHINE_ID_H
#define PM_KERNEL_MACHINE_ID_H

#include <stddef.h>
#include <stdint.h>

void pm_machine_host(char *buffer, size_t size);
void pm_machine_boot_id(char *buffer, size_t size);
void pm_machine_program(char *buffer, size_t size); /* its end, if it is longer */
uint64_t pm_machine_pid_namespace(void);	    /* its inode; 0: not known */
uint64_t pm_machine_start_time(void); /* of this process, in clock ticks since boot */

#endif
