/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which process on which host and boot this is: what a profile's header says. Each text
 * is cut to fit and "" where the machine does not tell. */
#ifndef PM_CORE_MACHINE_ID_H
#define PM_CORE_MACHINE_ID_H

#include <stddef.h>
#include <stdint.h>

void pm_machine_host(char *buffer, size_t size);
void pm_machine_boot_id(char *buffer, size_t size);
void pm_machine_program(char *buffer, size_t size); /* its end, if it is longer */
uint64_t pm_machine_start_time(void); /* of this process, in clock ticks since boot */

#endif
