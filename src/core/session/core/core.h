/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a session. It holds software registers, each in one of its event sets;
 * attaching opens them on targets, an instance for each target and set, and detaching
 * adds what these counted to the registers:
 *
 *	value = base + the sum over targets (over the events of the counter, on hybrid
 *		CPUs)
 *
 * One set is active at a time, on each target by itself: its instance is the one that is
 * enabled. (With PERFMON_SESSION_ROTATE all are, and the kernel multiplexes them.)
 *
 *	core		registers, plans, readings; one target's events go on and off
 *	threads		the threads of a process, each exactly once
 *	sets		sets and their time slices
 *	sampling	samples and logs
 *	overflow	periods, rings, messages, signals
 *	targets		targets are opened, watched and closed
 *	run		all of it with the lock: plans are built and opened again; start, stop,
 *			restart and detach
 *	(session/)	the calls of the program, from create to close
 *
 * Each room uses only those before it.
 *
 * All fields are guarded by `lock`, except that the thread attached to reads `registers`,
 * `plan` and its views without it (reader.c): calls that change these must not overlap
 * with such reads, as perfmon/inline.h says.
 */
#ifndef PM_SESSION_CORE_CORE_H
#define PM_SESSION_CORE_CORE_H

#include "core/api/export_struct.h"
#include "core/kernel/lock.h"
#include "core/session/core/busy.h"
#include "core/session/core/plan.h"
#include "core/session/core/state.h"
#include "core/session/helper/helper.h"
#include "perfmon/inline.h"
#include "perfmon/sampling.h"

#define PM_SESSION_MAGIC 0x73736573u

/* Where the virtual time of an attached session comes from. */
enum pm_time_source {
	PM_TIME_NONE,
	PM_TIME_EVENT, /* the enabled times of open events */
	PM_TIME_CLOCK  /* a CPU time clock */
};

struct perfmon_session {
	uint32_t magic;
	uint32_t scope;
	uint32_t flags;
	enum perfmon_state state; /* pm_session_move() changes it */
	struct pm_lock lock;
	int quick_fd; /* starts and stops it all, or -1: learn_quick() in run/install.c */
	struct perfmon_reader *reader; /* zeros in a child, by which it is known there */
	struct pm_register *registers; /* PERFMON_SESSION_COUNTERS_MAX of them at most */
	uint32_t count;
	struct pm_set *sets; /* in rising order of their numbers */
	uint32_t set_count;  /* at least 1 */
	uint32_t next_set;   /* place of the one that the next start begins with */
	bool target_lost;    /* the last target went by itself */
	struct pm_session_plan *plan;
	uint64_t stamp; /* readings that carry it are good; moves on with every chance of
			 * a change */
	struct {
		enum pm_time_source source;
		clockid_t
			clock; /* PM_TIME_CLOCK: which, and its time at the last start */
		uint64_t started;
		uint64_t counted; /* PM_TIME_CLOCK: up to the last stop, since the attach
				   */
		uint64_t base;
		struct perfmon_value found; /* scratch */
		uint64_t floor; /* the last one returned: two clocks round differently */
	} time;
	uint32_t rings;		  /* targets with a ring */
	struct pm_helper *helper; /* NULL: nobody waits for overflows */
	uint64_t watch_keys;	  /* given out to it; the last one */
	/* State of the rooms above. */
	struct pm_sampling *sampling;	/* NULL: not set up */
	struct pm_overflows *overflows; /* overflow/notices.h */
	struct pm_attached *attached;	/* targets/targets.h */
	struct pm_diag diag;
};

/* Moves the session, which is known to be in state FROM, on by EVENT: by the table of state.h.
 * A move that cannot happen is counted and changes nothing. */
static inline void pm_session_move_from(struct perfmon_session *session,
					enum perfmon_state from,
					enum pm_session_event event)
{
	unsigned int after = pm_session_after(from, event);

	if (after == PM_SESSION_STATES)
		pm_session_move_refused();
	else
		session->state = (enum perfmon_state)after;
}
static inline void pm_session_move(struct perfmon_session *session,
				   enum pm_session_event event)
{
	pm_session_move_from(session, session->state, event);
}

/* The thread that is the one and only target; zeros: none of this process's threads.
 * Written with the lock; start and stop look at it without, as a hint. */
struct pm_owner {
	uintptr_t pointer; /* its thread pointer */
	uint32_t number;   /* pm_busy_number() */
};

static inline struct pm_owner pm_session_owner(const struct perfmon_session *session)
{
	return (struct pm_owner){session->reader->owner, session->reader->owner_number};
}
static inline void pm_session_set_owner(struct perfmon_session *session,
					struct pm_owner owner)
{
	__atomic_store_n(&session->reader->owner_number, owner.number, __ATOMIC_RELAXED);
	__atomic_store_n(&session->reader->owner, owner.pointer, __ATOMIC_RELAXED);
}
static inline void pm_session_disown(struct perfmon_session *session)
{
	pm_session_set_owner(session, (struct pm_owner){0, 0});
}

/* Returns whether the calling thread is the one and only target. */
static inline bool pm_session_is_own(const struct perfmon_session *session)
{
	return __atomic_load_n(&session->reader->owner_number, __ATOMIC_RELAXED) ==
	       pm_busy.number;
}

/* Returns whether the calling process is a child of the session's. */
static inline bool pm_session_is_child(const struct perfmon_session *session)
{
	return !session->reader->session;
}

/* Has the helper thread look at the session. Any thread, without the lock. */
static inline void pm_session_wake(struct perfmon_session *session)
{
	pm_helper_wake(session->helper);
}

/* --- on.c --------------------------------------------------------------------------- */

/* Enables or disables what is on of TARGET. 0 or the first error. */
int pm_target_enable(struct perfmon_session *session, struct pm_target *target);
int pm_target_disable(struct perfmon_session *session, struct pm_target *target);

/* Enables set S of a TARGET that runs already. */
int pm_target_enable_set(struct perfmon_session *session, struct pm_target *target,
			 uint32_t s);

/* Returns whether set or part S of TARGET is on while the session runs. */
bool pm_target_is_on(const struct perfmon_session *session,
		     const struct pm_target *target, uint32_t s);

/* --- readings.c --------------------------------------------------------------------- */

/* Reads targets FIRST to LAST of PLAN. 0, or the first error, with what could be read. */
int pm_targets_read(struct perfmon_session *session, struct pm_session_plan *plan,
		    uint32_t first, uint32_t last);

/* PLAN goes on: its readings are those of a moment. */
void pm_plan_unsettle(struct pm_session_plan *plan);

/* Adds what targets FIRST to LAST have counted to the registers' bases. What cannot be
 * read any more counts as it was last known. 0, or the first error of the reading. */
int pm_session_aggregate(struct perfmon_session *session, uint32_t first, uint32_t last);

/* --- value.c ------------------------------------------------------------------------ */

/* -EBADF and its kin: the sentence for descriptors that the program has closed. */
int pm_session_closed_by_program(struct perfmon_session *session, int err);

/* Makes the reader's views those of the plan's targets. */
void pm_session_make_views(struct perfmon_session *session);

/* Reads what the targets have counted for register I, into its `now`. -ENODATA: a pinned
 * group does not fit the hardware. */
int pm_session_collect(struct perfmon_session *session, uint32_t i);
/* The base of register I has changed: so has its reader's. */
void pm_session_rebase(struct perfmon_session *session, uint32_t i);
int pm_session_time_now(struct perfmon_session *session, uint64_t *ns, bool *syscall);
/* Sets the value of a counter that has just been collected, or the virtual time. The arms of one
 * that overflows have to be told. */
void pm_session_set_value(struct perfmon_session *session,
			  const struct perfmon_write *write);
void pm_session_time_attach(struct perfmon_session *session);
void pm_session_time_start(struct perfmon_session *session);
void pm_session_time_stop(struct perfmon_session *session);
void pm_session_time_detach(struct perfmon_session *session);
/* A clock that goes on while the thread or the CPU of TARGET works. */
uint64_t pm_target_time(const struct pm_target *target);
/* Register REG was off on TARGET for NS while its target worked: it was to count. */
void pm_register_gap(struct pm_register *reg, const struct pm_target *target,
		     uint64_t ns);
/* All of TARGET was off for NS, of a session that ran on. */
void pm_session_gap(struct perfmon_session *session, const struct pm_target *target,
		    uint64_t ns);
/* Keeps the time of one TARGET that leaves before the others. */
void pm_session_time_target(struct perfmon_session *session, struct pm_target *target);

/* Returns what register REG has in READINGS of its set on TARGET. Where sets have time slices, the
 * times are those of the sets' clocks, which are software events as the clock of the whole is: in a
 * context switch up to Linux 6.1 the time of hardware events stops and starts elsewhere. */
struct pm_reading pm_register_on(const struct pm_session_plan *plan,
				 const struct pm_target *target,
				 const struct pm_register *reg,
				 const struct pm_reading *readings);

/* The sum of register REG's events in the last readings of the targets with ROLE. */
struct pm_reading pm_register_sum(const struct perfmon_session *session,
				  const struct pm_register *reg, unsigned int role);

/* Returns whether TARGET has refused an event of REG. */
bool pm_target_lacks(const struct pm_target *target, const struct pm_register *reg);

/* Returns whether the counts of an attached process may not be exact. */
bool pm_session_is_uncertain(const struct perfmon_session *session);

/* Brings the readings that pm_session_active_ns() looks at up to date. */
int pm_session_read_clocks(struct perfmon_session *session);

/* The counter of set S on TARGET whose enabled time is how long the set was on, or
 * PM_NO_CLOCK for a set without events. */
uint32_t pm_set_clock(const struct pm_session_plan *plan, const struct pm_target *target,
		      uint32_t s);

/* How long the set at PLACE has been active on open targets, as last read. */
uint64_t pm_session_active_ns(const struct perfmon_session *session, uint32_t place);

/* How much of its time-out the set at PLACE has used on the first target since its clock
 * ticked, as last read. */
uint64_t pm_set_used_ns(const struct perfmon_session *session, uint32_t place);

#endif
