/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The targets of a session: threads, processes and CPUs. */
#ifndef PM_SESSION_TARGETS_TARGETS_H
#define PM_SESSION_TARGETS_TARGETS_H

#include "core/session/core/core.h"

/* A process that the session is attached to: its targets stand next to each other. */
struct pm_session_process {
	pid_t pid;
	uint32_t flags;	      /* PERFMON_TARGET_ */
	uint64_t start_ticks; /* tells it from another that got its number */
	int fd;		      /* readable when it has ended; -1: nobody asked for it */
	uint64_t watch_key;   /* as a target's */
};

struct pm_attached {
	struct pm_session_process *processes;
	uint32_t process_count;
	/* PERFMON_SESSION_EXCLUSIVE: its place among those, under their lock. */
	pid_t claimed_tid; /* 0: none */
	struct perfmon_session *next_claim;
	bool is_near; /* the helper thread runs near the CPUs of these targets */
};

/* --- exclusive.c -------------------------------------------------------------------- */

/* Makes SESSION the exclusive one of thread TID, or -EEXIST; and lets go of it. */
int pm_exclusive_claim(struct perfmon_session *session, pid_t tid);
void pm_exclusive_release(struct perfmon_session *session);

/* The exclusive session of thread TID, or NULL. */
struct perfmon_session *pm_exclusive_of(pid_t tid);

/* --- watch.c ------------------------------------------------------------------------ */

/* Has HELPER, if there is one, told when TARGET ends that has no ring: a thread with an
 * event that can be mapped, which one that is inherited cannot. Else its end is noticed
 * by later calls. 0, or what epoll_ctl(2) gives. */
int pm_target_watch(struct perfmon_session *session, const struct pm_session_plan *plan,
		    struct pm_target *target, struct pm_helper *helper);
void pm_target_unwatch(struct perfmon_session *session, struct pm_target *target);

/* Returns whether the thread of TARGET and all that it created have ended. */
bool pm_target_has_ended(const struct perfmon_session *session, struct pm_target *target);

/* --- target.c ----------------------------------------------------------------------- */

/* Opens all sets of PLAN as ASKED says, as its next target, from thread SELF. The number
 * of counters that were refused, or a negative errno with nothing open. */
int pm_target_open(struct perfmon_session *session, struct pm_session_plan *plan,
		   const struct pm_target *asked, pid_t self);
void pm_target_close(struct perfmon_session *session, struct pm_session_plan *plan,
		     struct pm_target *target);

/* Closes what PLAN has open from its target number FIRST on. */
void pm_targets_close(struct perfmon_session *session, struct pm_session_plan *plan,
		      uint32_t first);

/* Closes, in a child, its copies of the descriptors of all targets. */
void pm_targets_forget(struct pm_session_plan *plan);

/* Closes target T of PLAN, and takes it out; its memory is for the next. */
void pm_target_take_out(struct perfmon_session *session, struct pm_session_plan *plan,
			uint32_t t);

/* --- process.c ---------------------------------------------------------------------- */

/* Opens PLAN on all threads of the process that TARGET asks for, and makes it one of the
 * session's, or opens it on those of PID, which is one. The most counters that a thread
 * was refused, or a negative errno with nothing of it open. */
int pm_process_attach(struct perfmon_session *session,
		      const struct perfmon_target *target, pid_t self);
int pm_process_reopen(struct perfmon_session *session, struct pm_session_plan *plan,
		      pid_t pid, pid_t self);

/* Returns whether the process of TARGET and its thread have ended. */
bool pm_process_has_ended(const struct perfmon_session *session,
			  const struct pm_target *target);

/* Has HELPER, if there is one, told when PROCESS ends, where the kernel can (Linux 5.3).
 * 0, or what epoll_ctl(2) gives. */
int pm_process_watch(struct perfmon_session *session, struct pm_session_process *process,
		     struct pm_helper *helper);
void pm_process_unwatch(struct pm_session_process *process, struct pm_helper *helper);

/* Forgets the processes of which no target is left. */
void pm_processes_prune(struct perfmon_session *session);

#endif
