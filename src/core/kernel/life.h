/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /proc says of the life of threads and processes. */
#ifndef PM_KERNEL_LIFE_H
#define PM_KERNEL_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pm_life {
	bool is_dead;
	int threads; /* of a process */
	uint64_t start_ticks;
};

/* Of a process or a thread, ID 0: of this process. 0, or why it cannot be told. */
int pm_life_read(pid_t id, struct pm_life *life);

/* Whether the library's own threads are all that is left of the process: its first thread
 * has called pthread_exit(), and all others of the program have ended. They end then, too,
 * which ends the process as it would end without them. */
bool pm_life_program_has_ended(void);

#endif
