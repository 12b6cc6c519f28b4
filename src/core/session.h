/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a session. It holds software registers; attaching opens them as parts,
 * one for each target, detaching folds what the parts counted into the registers:
 *
 *	value = base + the sum over parts (over the events of the counter, on hybrid CPUs)
 *
 * session.c has the life cycle, session_program.c what is counted, session_value.c values
 * and times, reader.c the reads without the lock.
 *
 * All fields are guarded by `lock`, except that the thread attached to reads `registers`,
 * `plan` and its views without it (reader.c): calls that change these must not overlap
 * with such reads, as perfmon/inline.h says.
 */
#ifndef PM_CORE_SESSION_H
#define PM_CORE_SESSION_H

#include <pthread.h>

#include "core/instance.h"
#include "perfmon/inline.h"
#include "perfmon/session.h"

#define PM_SESSION_MAGIC 0x73736573u

/* What one text was parsed into: shared by the registers that still count it. */
struct pm_program {
	uint32_t references;
	struct pm_event_list *list;
};

struct pm_register {
	struct pm_program *program;
	uint32_t first;	  /* of its events in the program's list */
	uint32_t count;	  /* one, or one for each core PMU */
	uint32_t planned; /* its first event in the plan */
	bool opened;	  /* has been open on a target since it was programmed */
	int error;	  /* of the last attach, if all its events were refused */
	/* What earlier parts counted, less what the parts had counted at the last write:
	 * any of them may be "negative", only the sums with the parts' are not. */
	struct pm_reading base;
	/* Scratch of the call that holds the lock. */
	struct pm_reading now;
	struct perfmon_value found;
};

/* One target. */
struct pm_part {
	struct pm_instance *instance;
	struct pm_reading *readings; /* the last known, zero when it was opened */
	uint64_t *stamps;	     /* the session's stamp when each was read */
};

/* The events of all registers in one piece, as instances want them, and their parts. */
struct pm_plan {
	uint32_t count;
	struct pm_event *events; /* borrow their strings from the programs */
	uint32_t part_count;	 /* open ones: 0 while detached, 1 for now */
	struct pm_part part[1];
};

/* Where the virtual time of an attached session comes from. */
enum pm_time_source {
	PM_TIME_NONE,
	PM_TIME_EVENT, /* the enabled time of an open event */
	PM_TIME_CLOCK  /* a CPU time clock */
};

struct perfmon_session {
	uint32_t magic;
	uint32_t scope;
	uint32_t flags;
	enum perfmon_session_status state;
	pthread_mutex_t lock;
	struct perfmon_reader *reader; /* zeros in a child, by which it is known there */
	struct pm_register *registers; /* PERFMON_SESSION_COUNTERS of them at most */
	uint32_t count;
	struct pm_plan *plan;
	pid_t tid; /* of the target while attached */
	int cpu;
	uint64_t stamp; /* readings that carry it are good; moves on with every chance of
			 * a change */
	struct {
		enum pm_time_source source;
		uint32_t event; /* PM_TIME_EVENT: which */
		clockid_t
			clock; /* PM_TIME_CLOCK: which, and its time at the last start */
		uint64_t started;
		uint64_t counted; /* PM_TIME_CLOCK: up to the last stop, since the attach
				   */
		uint64_t base;
		struct perfmon_value found; /* scratch */
		uint64_t floor; /* the last one returned: two clocks round differently */
	} time;
	struct pm_diag diag;
};

/* Takes the lock. -EINVAL without a session, -ECHILD in a child of the process. */
int pm_session_enter(struct perfmon_session *session);
int pm_session_leave(struct perfmon_session *session, int result); /* returns RESULT */

/* Opens PLAN on the session's target, prepares its views and closes nothing. 0 or more
 * (refused counters), or a negative errno with the plan closed. */
int pm_session_open_plan(struct perfmon_session *session, struct pm_plan *plan);

/* Makes REGISTERS and PLAN those of the session. */
void pm_session_adopt_plan(struct perfmon_session *session, struct pm_plan *plan);

/* Reads all parts and adds them to the registers' bases, then closes them. 0, or the
 * first error of the reading. */
int pm_session_fold(struct perfmon_session *session);

/* session_program.c */
int pm_plan_build(struct pm_register *registers, uint32_t count, struct pm_plan **plan);
void pm_plan_free(struct pm_plan *plan);
void pm_registers_free(struct pm_register *registers, uint32_t count);

/* session_value.c: what the parts have counted for register I, into its `now`.
 * -ENODATA: a pinned group does not fit the hardware. */
int pm_session_collect(struct perfmon_session *session, uint32_t i, bool *syscall);
int pm_session_time_now(struct perfmon_session *session, uint64_t *ns, bool *syscall);
void pm_session_time_attach(struct perfmon_session *session);
void pm_session_time_start(struct perfmon_session *session);
void pm_session_time_stop(struct perfmon_session *session);
void pm_session_time_detach(struct perfmon_session *session);

static inline struct pm_reading pm_reading_add(struct pm_reading a, struct pm_reading b)
{
	return (struct pm_reading){a.value + b.value, a.enabled_ns + b.enabled_ns,
				   a.running_ns + b.running_ns};
}

/* The sum of register REG's events in the parts' last readings. */
struct pm_reading pm_register_sum(const struct pm_plan *plan,
				  const struct pm_register *reg);

#endif
