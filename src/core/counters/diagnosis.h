/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Explains why the kernel refused an event or its page, in one sentence: the request, the
 * setting that refuses it, its value, and a remedy. Called on failure paths only. Reads
 * /proc without allocating.
 */
#ifndef PM_COUNTERS_DIAGNOSIS_H
#define PM_COUNTERS_DIAGNOSIS_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/events/events.h"
#include "core/text/diag.h"

/* The permissions of a thread, from kernel.perf_event_paranoid and /proc/self/status. */
struct pm_permissions {
	int paranoid; /* -1 .. 4; 2 if it cannot be read */
	bool paranoid_known;
	bool perfmon; /* CAP_PERFMON or CAP_SYS_ADMIN: paranoid does not apply */
	bool seccomp; /* a system call filter is active */
};

void pm_permissions_get(struct pm_permissions *permissions);

/* Returns whether the kernel, or a filter before it, refuses every event of the calling
 * thread. It finds this by trying. */
bool pm_diagnosis_is_shut(void);

/*
 * pm_diagnosis_open() - explains ERROR (negative errno) of perf_event_open(2) for EVENT
 * on thread TID (0: the caller) or, with TID -1, on CPU. Returns ERROR. DIAG may be NULL.
 */
int pm_diagnosis_open(struct pm_diag *diag, int error, const struct pm_event *event,
		      pid_t tid, int cpu);

/* Explains ERROR of the mmap(2) of EVENT's page. The event itself is open and counts. */
void pm_diagnosis_page(struct pm_diag *diag, int error, const struct pm_event *event);

/* Explains why EVENT, which opens, cannot be read in user space. */
void pm_diagnosis_user_read(struct pm_diag *diag, const struct pm_event *event);

/* Explains why WHAT counts only user mode, with a remedy. */
void pm_diagnosis_user_mode(struct pm_diag *diag, const char *what);

/* Explains why the open event LABEL has never been on the hardware. */
void pm_diagnosis_starved(struct pm_diag *diag, const char *label);

#endif
