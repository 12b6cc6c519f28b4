/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a process has once, for regions: its options, its profile, its plan of events, and
 * whether it counts. setup.c fills it in at the first region. Nothing takes it down: at
 * exit the report is written and the rest is left to the kernel, since other threads may
 * still run.
 */
#ifndef PM_REGIONS_STATE_H
#define PM_REGIONS_STATE_H

#include <stdbool.h>

#include "core/events/events.h"
#include "core/settings/options.h"
#include "core/text/diag.h"
#include "fastpath/fastpath.h"
#include "perfmon/profile_layout.h"
#include "core/profile/profile.h"

enum pm_regions_phase {
	PM_REGIONS_NEW,	  /* no region has been used yet */
	PM_REGIONS_READY, /* counting, or disarmed */
	PM_REGIONS_INERT, /* regions do nothing: a child made behind the fork handlers' back,
			     or no memory for a profile */
};

/* What regions count: set 0 of PERFMON_EVENTS, or what the machine has. */
struct pm_region_plan {
	struct pm_event_list *list;
	uint32_t count; /* events of list that have a column, from its first */
	uint32_t live;	/* of these, those that may open: no thread tries the rest */
	int errors
		[PERFMON_PROFILE_COUNTERS_MAX]; /* what refused those that are not live */
	struct perfmon_profile_cost time; /* of a visit: known once it was measured */
	struct perfmon_profile_cost cost[PERFMON_PROFILE_COUNTERS_MAX];
	struct perfmon_profile_plan *record;
};

struct pm_regions {
	enum pm_regions_phase phase;
	struct pm_options options;
	struct pm_metrics *metrics; /* NULL: the built-in ones */
	struct pm_diag refused;	    /* why no region is counted */
	struct pm_region_plan plan;
	bool was_armed;	       /* regions have counted */
	unsigned int uses;     /* enum pm_regions_use, of the regions that were used */
	unsigned int silenced; /* perfmon_report_quiet() */
};

/* Whether regions ask for a report at exit: PERFMON_QUIET of perfmon/region.h. */
enum pm_regions_use { PM_REGIONS_REPORTED = 1, PM_REGIONS_QUIET = 2 };

extern struct pm_regions pm_regions;

/* The phase, for a caller without the lock: READY means that options, plan and profile
 * stand. */
static inline enum pm_regions_phase pm_regions_phase(void)
{
	return __atomic_load_n(&pm_regions.phase, __ATOMIC_ACQUIRE);
}

/* Whether the calling thread may be inside the slow path: a signal handler asks. */
extern __thread int pm_thread_busy __attribute__((tls_model("initial-exec")));

/*
 * PM_LOCK_REGIONS of os/locks.h guards set-up and everything in the profile that more than
 * one thread writes. A warm region never takes it. Once the process is READY nobody calls
 * malloc while holding it: a signal handler that interrupted malloc may be waiting for it.
 */
void pm_regions_acquire(void);
void pm_regions_release(void);

/*
 * Takes PM_LOCK_REGIONS for a region call, which may be a signal handler's. False in a
 * handler that would have to wait: what it interrupted holds it, or may be holding what
 * the lock's owner waits for (fork(2) takes the locks of malloc after ours).
 */
bool pm_regions_try_lock(void);

/* For those who hold the lock, or are alone in a forked child. */
void pm_regions_set_phase(enum pm_regions_phase phase);

/* Lets BEGIN and END make these CALLS from now on. */
void pm_regions_publish(struct pm_region_calls calls);

/* Makes this process the one that the profile is of: 0 or a negative errno. */
int pm_regions_make_ours(void);

/* Whether this process made the profile: false in a child that no fork handler prepared,
 * where the profile is not mapped. */
bool pm_regions_is_ours(void);

/* A child that no fork handler prepared (_Fork, clone): from now on regions do nothing. */
void pm_regions_make_inert(void);

/* Takes note of a USE. */
void pm_regions_note_use(unsigned int use);

/* Whether there is a report at exit. */
bool pm_regions_want_report(void);

/* A snapshot of the own profile: -ENOENT if there is none. Any thread; takes no lock,
 * unless threads that keep ending leave it no other way. */
int pm_regions_snapshot(struct pm_snapshot **out, struct pm_diag *diag);

/* A line on stderr: in the place of a report, if one is wanted; or under
 * PERFMON_DEBUG. */
__attribute__((format(printf, 1, 2))) void pm_regions_say(const char *format, ...);
__attribute__((format(printf, 1, 2))) void pm_regions_debug(const char *format, ...);

#endif
