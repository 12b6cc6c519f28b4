/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of a process's regions: its options, its profile, its plan of events, and
 * whether it counts. setup.c initialises it at the first region. It is never freed: at
 * exit the report is written and the kernel frees the rest, since other threads may still
 * run.
 *
 * Must hold in all rooms of regions: data that several threads write is written under the
 * process lock. A warm region never leaves fastpath/. A signal handler never waits for code
 * that it may have interrupted.
 */
#ifndef PM_REGIONS_STATE_H
#define PM_REGIONS_STATE_H

#include <stdbool.h>

#include "core/events/events.h"
#include "core/kernel/kernel.h"
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

/* The events of regions: set 0 of PERFMON_EVENTS, or the default events. */
struct pm_region_plan {
	struct pm_event_list *list;
	uint32_t count;	   /* events of list that have a column, from its first */
	uint32_t live;	   /* of these, those that may open: no thread opens the others */
	uint32_t packages; /* of the others, the first ones: package.h */
	int errors
		/* the errors of those that are not live; 0: of a package, and open */
		[PERFMON_PROFILE_COUNTERS_MAX];
	struct perfmon_profile_cost time; /* of a visit, once it was measured */
	struct perfmon_profile_cost cost[PERFMON_PROFILE_COUNTERS_MAX];
	struct perfmon_profile_plan *record;
};

/* A program without tokens does not need this code. So a forked child, which goes on where its parent
 * was, finds it by a table, not by its name. */
struct pm_region_adopter {
	/* Lets the calling thread continue below the path NUMBER that threads share. */
	int (*adopt)(uint64_t number);
};

struct pm_regions {
	enum pm_regions_phase phase;
	struct pm_options options;
	struct pm_metrics *metrics; /* NULL: the built-in ones */
	struct pm_diag refused;	    /* why regions are not counted */
	struct pm_region_plan plan;
	bool was_armed;	       /* regions have counted */
	bool exact;	       /* so are counts: set before any region is counted */
	uint32_t published;    /* how often the calls of regions were chosen */
	unsigned int uses;     /* enum pm_regions_use, of all used regions */
	unsigned int silenced; /* perfmon_report_quiet() */
	/* The high half of the process's tokens (perfmon/team.h); 0: there are none, or they are of
	 * the parent. */
	uint64_t tokens;
	const struct pm_region_adopter *adopter; /* set with the first token */
	/* Writes to the profile what is known at the end of reading; NULL: there is nothing. */
	void (*renew)(void);
};

/* How a used region asks for a report at exit: see PERFMON_QUIET in perfmon/region.h. */
enum pm_regions_use { PM_REGIONS_REPORTED = 1, PM_REGIONS_QUIET = 2 };

extern struct pm_regions pm_regions;

/* Returns the phase, for a caller without the lock. READY means that options, plan and
 * profile are complete. The acquire pairs with the release in pm_regions_set_phase(). */
static inline enum pm_regions_phase pm_regions_phase(void)
{
	return __atomic_load_n(&pm_regions.phase, __ATOMIC_ACQUIRE);
}

/* True while the calling thread is in the slow path, for a signal handler. */
extern __thread int pm_thread_busy __attribute__((tls_model("initial-exec")));

/*
 * Take and release PM_LOCK_REGIONS, which guards set-up and all parts of the profile that
 * more than one thread writes. A warm region never takes it. Once the process is READY no
 * holder calls malloc: a signal handler that interrupted malloc may wait for the lock.
 */
void pm_regions_acquire(void);
void pm_regions_release(void);

/*
 * Takes PM_LOCK_REGIONS for a region call, which may be a signal handler's, and keeps signals
 * away until it is released with the same STILL. Returns false in a handler that would have to wait: the
 * interrupted code holds the lock, or may hold a lock that the owner waits for (fork(2) takes the locks of
 * malloc after ours).
 */
bool pm_regions_try_lock(struct pm_still *still);
void pm_regions_unlock(const struct pm_still *still);

/* Returns SIZE bytes, all zero, that are never freed; NULL without memory. The caller holds the lock. Not
 * from malloc: a signal handler that interrupted that may need some. */
void *pm_regions_take(size_t size);

/* Sets the phase. The caller holds the lock, or is alone in a forked child. */
void pm_regions_set_phase(enum pm_regions_phase phase);

/* Makes this process the owner of the profile. Returns 0 or a negative errno. */
int pm_regions_make_ours(void);

/* Returns whether this process made the profile: false in a child that no fork handler
 * prepared, where the profile is not mapped. */
bool pm_regions_is_ours(void);

/* Makes regions do nothing from now on, in a child that no fork handler prepared (_Fork,
 * clone). */
void pm_regions_make_inert(void);

/* Notes a USE of enum pm_regions_use. */
void pm_regions_note_use(unsigned int use);

/* Returns whether there is a report at exit. */
bool pm_regions_want_report(void);

/* Adds the note TEXT to the profile, unless *NOTED says that this was done. In a handler that would
 * have to wait for the lock it is left to a later call. */
void pm_regions_note_once(bool *noted, const char *text);

/* Takes a snapshot of the own profile. -ENOENT if there is none. Any thread. Takes no
 * lock unless threads end all the time. */
int pm_regions_snapshot(struct pm_snapshot **out, struct pm_diag *diag);

/* Prints a line on stderr. */
__attribute__((format(printf, 1, 2))) void pm_regions_print(const char *format, ...);

/* Likewise with PERFMON_DEBUG. */
#define pm_regions_debug(...)                                                            \
	(pm_regions.options.debug ? pm_regions_print(__VA_ARGS__) : (void)0)

#endif
