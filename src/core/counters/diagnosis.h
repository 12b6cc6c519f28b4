/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why the kernel refused an event or its page: the one sentence that says what was
 * asked, which setting with which value refused it, and what would help. Called on
 * failure paths only; reads /proc without allocating.
 */
#ifndef PM_COUNTERS_DIAGNOSIS_H
#define PM_COUNTERS_DIAGNOSIS_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/events/events.h"
#include "core/text/diag.h"

/* What a thread may do here, from kernel.perf_event_paranoid and /proc/self/status. */
struct pm_permissions {
	int paranoid; /* -1 .. 4; 2 if it cannot be read */
	bool paranoid_known;
	bool perfmon; /* CAP_PERFMON or CAP_SYS_ADMIN: paranoid does not bind */
	bool seccomp; /* a system call filter is on */
};

void pm_permissions_get(struct pm_permissions *permissions);

/* Whether the kernel, or what stands before it, refuses the calling thread every event, which it
 * finds out by trying. */
bool pm_diagnosis_is_shut(void);

/*
 * pm_diagnosis_open() - explains ERROR (negative errno) of perf_event_open(2) for EVENT on
 * thread TID (0: the caller) or, with TID -1, on CPU. Returns ERROR. DIAG may be NULL.
 */
int pm_diagnosis_open(struct pm_diag *diag, int error, const struct pm_event *event,
		      pid_t tid, int cpu);

/* The same for the mmap(2) of its page. The event itself is open and counts. */
int pm_diagnosis_page(struct pm_diag *diag, int error, const struct pm_event *event);

/* Says why EVENT, which opens, cannot be read in user space. Returns -EOPNOTSUPP. */
int pm_diagnosis_user_read(struct pm_diag *diag, const struct pm_event *event);

/* Says why WHAT counts user mode alone, and what would help. */
void pm_diagnosis_user_mode(struct pm_diag *diag, const char *what);

/* Says why an event that is open, of the name LABEL, has never been on the hardware. */
void pm_diagnosis_starved(struct pm_diag *diag, const char *label);

#endif
