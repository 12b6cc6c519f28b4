/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of threads and processes, from /proc. */
#ifndef PM_KERNEL_LIFE_H
#define PM_KERNEL_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pm_life {
	char state;
	bool is_dead; /* the thread; a first thread waits for the others of its process */
	bool is_over; /* the whole process, though its parent may not have noticed */
	pid_t parent, group;
	int threads;	      /* of a process */
	uint64_t start_ticks; /* since boot: distinguishes processes with the same pid */
};

/* Reads the life of a process or thread. ID 0 is this process. Returns 0, or the error of
 * the read: -ENOENT or -ESRCH if there is none. */
int pm_life_read(pid_t id, struct pm_life *life);

/* The same of a file "stat" at PATH in /proc. */
int pm_life_read_at(const char *path, struct pm_life *life);

/* Returns the process that ID names: 0 is the calling process, a thread its own. */
pid_t pm_process_id(int32_t id);

/* Returns whether only the library's own threads are left of the process: its first
 * thread has called pthread_exit(), and all others of the program have ended. The
 * library's threads then end, too, so that the process ends as it would without them. */
bool pm_life_program_has_ended(void);

#endif
