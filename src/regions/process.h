/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a process has once, for regions: its options, its profile, its plan of events, and
 * whether it counts. Set up by the first region; taken down by nothing: at exit the report
 * is written and the rest is left to the kernel, since other threads may still run.
 */
#ifndef PM_REGIONS_PROCESS_H
#define PM_REGIONS_PROCESS_H

#include <stdbool.h>

#include "events/events.h"
#include "os/os.h"
#include "perfmon/profile.h"
#include "profile/profile.h"

enum pm_process_phase {
	PM_PROCESS_NEW,	  /* no region has been used yet */
	PM_PROCESS_READY, /* counting, or disarmed */
	PM_PROCESS_INERT, /* regions do nothing: a child made behind the fork handlers' back,
			     or no memory for a profile */
};

/* What regions count: set 0 of PERFMON_EVENTS, or what the machine has. */
struct pm_plan {
	struct pm_event_list *list;
	uint32_t count; /* events of list that have a column, from its first */
	uint32_t live;	/* of these, those that may open: no thread tries the rest */
	int errors[PERFMON_PROFILE_COUNTERS]; /* what refused those that are not live */
	struct perfmon_profile_plan *record;
};

struct pm_process {
	enum pm_process_phase phase;
	struct pm_options options;
	struct pm_metrics *metrics; /* NULL: the built-in ones */
	struct pm_diag refused;	    /* why no region is counted */
	struct pm_plan plan;
	/* The records that ended threads are summed in, and where their paths are found. */
	struct pm_aggregate *aggregates;
};

extern struct pm_process pm_process;

/* The phase, for a caller without the lock: READY means that options, plan and profile
 * stand. */
static inline enum pm_process_phase pm_process_phase(void)
{
	return __atomic_load_n(&pm_process.phase, __ATOMIC_ACQUIRE);
}

/*
 * pm_process_lock, as comments call it, PM_LOCK_REGIONS of os/locks.h: guards set-up
 * and everything in the profile that more than one thread writes. Never taken by a warm
 * region. Once the process is READY nobody calls malloc while holding it: a signal
 * handler that interrupted malloc may be waiting for it.
 */
void pm_process_acquire(void);
void pm_process_release(void);

/*
 * Takes pm_process_lock for a region call, which may be a signal handler's. False in a
 * handler that would have to wait: what it interrupted holds it, or may be holding what
 * the lock's owner waits for (fork(2) takes the locks of malloc after ours).
 */
bool pm_process_try_lock(void);

/* The first region's work: options, plan, profile, and the armed calls. 0, or -EPERM if
 * the process is inert. Takes pm_process_lock. */
int pm_process_init(void);

/* Publishes the calls that BEGIN and END make, by the plan and the options. */
void pm_process_arm(bool on);

/* Whether this process made the profile: false in a child that no fork handler prepared,
 * where the profile is not mapped. */
bool pm_process_is_ours(void);

/* A child that no fork handler prepared (_Fork, clone): from now on regions do nothing. */
void pm_process_make_inert(void);

/* Does of that report what needs other libraries, while they are there: when exit(3)
 * begins. The destructors of what is preloaded may run before ours. */
void pm_process_prepare_report(void);

/* Writes the report of a process that ends, or why there is none. */
void pm_process_report(void);

/* A snapshot of the own profile: -ENOENT if there is none. Any thread; takes no lock,
 * unless threads that keep ending leave it no other way. */
int pm_process_snapshot(struct pm_snapshot **out, struct pm_diag *diag);

/* A line on stderr: in the place of a report, unless none is wanted; or under
 * PERFMON_DEBUG. */
__attribute__((format(printf, 1, 2))) void pm_process_say(const char *format, ...);
__attribute__((format(printf, 1, 2))) void pm_process_debug(const char *format, ...);

#endif
