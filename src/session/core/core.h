/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a session. It holds software registers, each in one of its event sets;
 * attaching opens them on targets, an instance for each target and set, and detaching
 * folds what these counted into the registers:
 *
 *	value = base + the sum over targets (over the events of the counter, on hybrid
 *		CPUs)
 *
 * One set is active at a time, on each target by itself: its instance is the one that is
 * enabled. (With PERFMON_SESSION_ROTATE all are, and the kernel takes turns.)
 *
 *	session.c	  life cycle: create, start, stop, close
 *	session_target.c  what a session is attached to: open, close, fold
 *	session_attach.c  from a program's vector of targets to these
 *	session_loss.c	  targets that go by themselves
 *	session_process.c processes: a target for each thread
 *	session_set.c	  event sets
 *	session_program.c what is counted
 *	session_value.c	  values and times
 *	reader.c	  reads without the lock
 *
 * All fields are guarded by `lock`, except that the thread attached to reads `registers`,
 * `plan` and its views without it (reader.c): calls that change these must not overlap
 * with such reads, as perfmon/inline.h says.
 */
#ifndef PM_SESSION_CORE_CORE_H
#define PM_SESSION_CORE_CORE_H

#include <pthread.h>
#include <signal.h>

#include "counters/counters.h"
#include "os/os.h"
#include "samples/samples.h"
#include "session/core/busy.h"
#include "session/core/record.h"
#include "perfmon/inline.h"
#include "perfmon/overflow.h"
#include "perfmon/sampling.h"
#include "perfmon/session.h"
#include "perfmon/set.h"

#define PM_SESSION_MAGIC 0x73736573u

/* What one text was parsed into: shared by the registers that still count it. */
struct pm_program {
	uint32_t references;
	struct pm_event_list *list;
};

/* What becomes of a counter's overflows. */
struct pm_overflow {
	bool on;
	struct perfmon_overflow how;
	uint64_t least; /* PERFMON_MIN_PERIOD when it was programmed */
	bool due; /* its long reset, since a notification that nobody has restarted after
		   */
	uint64_t last_reset;
	uint64_t count;
	uint64_t seed;
};

/* How the turns of a counter's set went: sums over turns of what was counted (x) in its
 * duration (d). */
struct pm_turns {
	uint64_t n;
	double xx, xd, dd;
};

struct pm_register {
	struct pm_program *program;
	uint32_t first;	  /* of its events in the program's list */
	uint32_t count;	  /* one, or one for each core PMU */
	uint32_t set;	  /* place of its set in the session */
	uint32_t planned; /* its first event in its set's plan */
	bool opened;	  /* has been open on a target since it was programmed */
	bool written;	  /* its value has, by the program */
	int error; /* of the last attach, the first by which a target refused an event */
	/* What earlier targets counted, less what the targets had counted at the last
	 * write: any of them may be "negative", only the sums with the targets' are not.
	 * `own` is the part of targets themselves, without what they created. */
	struct pm_reading base;
	struct pm_reading own_base;
	/* Of the value, until it is written: PERFMON_VALUE_UNCERTAIN: targets that are
	 * gone were; PERFMON_VALUE_PARTIAL: one refused an event. */
	uint32_t doubts;
	struct pm_overflow overflow;
	struct pm_turns turns;
	/* Scratch of the call that holds the lock. */
	struct pm_reading now;
	struct perfmon_value found;
};

/* An event set. */
struct pm_set {
	uint16_t id;
	uint32_t flags;				    /* PERFMON_SET_ */
	uint64_t timeout_ns;			    /* effective */
	uint64_t used_ns;			    /* of it, on targets that are gone */
	uint64_t runs;				    /* times that it became active */
	uint64_t active_ns;			    /* of targets that are gone */
	uint64_t overflowed[PERFMON_COUNTER_WORDS]; /* counters, in its last turn */
};

/* The events of one set in one piece, as instances want them. */
struct pm_plan_set {
	uint32_t count;
	struct pm_event *events; /* borrow their strings from the programs */
	/* Of several sets each has a clock behind its registers' events, a software event
	 * that ticks at the set's time-out. PM_NO_CLOCK: none. */
	uint32_t clock;
	bool notifies; /* has counters whose overflow masks the session */
	bool samples;  /* has events that write records: overflows, a clock that ticks */
};
#define PM_NO_CLOCK UINT32_MAX

/* A record in the ring: where it stands, and the instruction that it names. */
struct pm_place {
	uint64_t start, end;
	uint64_t ip;
};

/* How an event that overflows is armed on one target: see session_period.c. */
struct pm_arm {
	uint64_t period; /* that the kernel has */
	uint64_t at, next, from;
	bool stale;   /* the kernel has to have another period */
	bool late;    /* its records may come behind `next` */
	bool stopped; /* it has stopped itself since it was enabled */
	bool limited; /* the next overflow stops it */
	bool due;     /* it waits for its long reset */
	bool moved;   /* set back for another one's overflow, and not armed since */
	struct pm_place moved_by; /* that one's record */
	bool resumed;	       /* enabled again for its group's periods, stopped or not */
	bool started;	       /* scratch of enabling */
	uint64_t until_switch; /* overflows until the next set's turn */
};

/* One set on one target. */
struct pm_part {
	struct pm_instance *instance;
	struct pm_reading *readings; /* the last known, zero when it was opened */
	uint64_t *stamps;	     /* the session's stamp when each was read */
	struct pm_reading *before;   /* the same at the end of the last turn */
	struct pm_arm *arms;
	uint64_t active_ns; /* in turns that are over */
	bool settled; /* disabled since they were read: they need not be read again */
};

/* Whose counts a target has. One that counts what it creates, too, can be there twice:
 * once for the sum and once for itself. */
#define PM_ROLE_ALL 1u
#define PM_ROLE_OWN 2u

struct pm_target {
	pid_t tid;	    /* -1: a CPU */
	int cpu;	    /* -1: wherever the thread runs */
	pid_t pid;	    /* of a process, for each of its threads; else 0 */
	uint32_t kind;	    /* enum perfmon_target_kind, as asked for */
	unsigned int flags; /* PM_OPEN_, added to the session's */
	unsigned int role;
	bool follows; /* the same thread on a further CPU: its time is the first one's */
	bool lost; /* its thread has ended, its CPU is offline, or it is being detached */
	bool uncertain;	  /* of a process some of whose threads may be missing */
	bool awaits_exec; /* PM_OPEN_ON_EXEC, and not started yet */
	/* One of its events that is mapped, from the first time on that somebody wants to
	 * know whether the thread lives: only then poll(2) tells. NULL: not yet. */
	const struct pm_counter *probe;
	void *probe_page; /* NULL: it is mapped for reads */
	/* Where what ends is to leave its count: an event that is never on and not
	 * inherited. Without one the kernel exchanges the events of a thread and its
	 * child when the one follows the other on a CPU, and the child that ends with its
	 * parent's leaves no record. NULL: none. */
	struct pm_instance *pin;
	uint32_t active;     /* place of the set that is on here */
	bool chosen;	     /* it was another one when counting stood still */
	uint64_t since_ns;   /* when its turn began, on the whole's clock */
	struct pm_ring ring; /* of all its events; page NULL: none writes records */
	int ring_fd;	     /* the event that it is mapped from */
	bool paused;	     /* off while a call looks at it */
	bool unsure;	     /* records may be missing since its arms were settled */
	bool late;	     /* one of its arms is, or stale: calls look at them */
	uint64_t told;	     /* lost records that the kernel has told of since then */
	/* By which the helper thread knows its ring, or its probe without one. 0: it
	 * watches neither; else no other target of the session has had it. */
	uint64_t watch_key;
	struct pm_part *parts; /* PART_COUNT of them */
};

/* A process that the session is attached to: its targets stand next to each other. */
struct pm_session_process {
	pid_t pid;
	uint32_t flags;	      /* PERFMON_TARGET_ */
	uint64_t start_ticks; /* tells it from another that got its number */
	int fd;		      /* readable when it has ended; -1: nobody asked for it */
	uint64_t watch_key;   /* as a target's */
};

/* The events of all registers, and where they are open. */
struct pm_session_plan {
	uint32_t set_count;
	/* Sets take turns. Behind them stands a part with one event that is on for as
	 * long as the session runs, and is their clock; also without turns, if a log
	 * wants what goes on around samples. */
	bool turns;
	uint32_t part_count;
	struct pm_plan_set *sets; /* PART_COUNT of them */
	uint32_t target_count;	  /* open ones: 0 while detached */
	uint32_t target_room;	  /* with memory for their parts; at least 1 */
	struct pm_target *targets;
};

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
	enum perfmon_session_status state;
	struct pm_lock lock;
	int quick_fd; /* starts and stops it all, or -1: pm_session_learn_quick() */
	struct perfmon_reader *reader; /* zeros in a child, by which it is known there */
	struct pm_register *registers; /* PERFMON_SESSION_COUNTERS of them at most */
	uint32_t count;
	struct pm_set *sets; /* in rising order of their numbers */
	uint32_t set_count;  /* at least 1 */
	uint32_t next_set;   /* place of the one that the next start begins with */
	bool target_lost;    /* the last target went by itself */
	/* PERFMON_SESSION_EXCLUSIVE: its place among those, under their lock. */
	pid_t claimed_tid; /* 0: none */
	struct perfmon_session *next_claim;
	struct pm_session_plan *plan;
	struct pm_session_process *processes;
	uint32_t process_count;
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
	struct pm_overflow_queue *queue; /* NULL until a counter may notify */
	struct pm_sampling *sampling;	 /* NULL: not set up */
	uint32_t rings;			 /* targets with a ring */
	uint64_t watch_keys;		 /* given out; the last one */
	struct pm_helper *helper;	 /* NULL: nobody waits for overflows */
	bool is_near;	  /* it has been bound near the CPUs of these targets */
	int signal;	  /* to the thread that overflowed, 0: none */
	int block_signal; /* the library's own, 0: threads are not stopped */
	/* Called for `signal` by the library's own handler; NULL: by none. */
	void (*handler)(int signo, siginfo_t *info, void *context);
	bool has_slots;	     /* events are, or were, in the handlers' table */
	uint32_t block_word; /* futex of stopped threads: moves on when they may go */
	uint32_t blocked;    /* how many there are; atomic */
	bool closing;
	struct pm_diag diag;
};

/* Takes the lock. -EINVAL without a session, -ECHILD in a child of the process, -EAGAIN
 * in a handler that has interrupted too many others (session_busy.h). */
int pm_session_enter(struct perfmon_session *session);
int pm_session_leave(struct perfmon_session *session, int result); /* returns RESULT */

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

/* Whether the calling thread is the one and only target. */
static inline bool pm_session_is_own(const struct perfmon_session *session)
{
	return __atomic_load_n(&session->reader->owner_number, __ATOMIC_RELAXED) ==
	       pm_busy.number;
}

/* Whether sets take turns, and the clock of the whole is in parts[set_count]. */
static inline bool pm_takes_turns(const struct pm_session_plan *plan)
{
	return plan->turns;
}

/* How long all sets together were on TARGET, as last read. */
static inline uint64_t pm_whole_ns(const struct pm_session_plan *plan,
				   const struct pm_target *target)
{
	return target->parts[plan->set_count].readings[0].enabled_ns;
}

/* --- session.c -----------------------------------------------------------------------
 */

/* To be called when the plan has been opened, with the lock. */
void pm_session_learn_quick(struct perfmon_session *session);

/* -EBADF and its kin: the sentence for descriptors that the program has closed. */
int pm_session_closed_by_program(struct perfmon_session *session, int err);

/* The sentence for WHAT, a struct TYPE, that PM_STRUCT_CHECK() refused with ERR, which it
 * returns. */
int pm_session_explain_struct(struct perfmon_session *session, int err, const char *what,
			      const char *type);

/* -EBUSY with a sentence about WHAT, unless the session is detached or stopped. */
int pm_session_must_stand(struct perfmon_session *session, const char *what);

/* perfmon_session_start() and _stop() with the lock. */
int pm_session_start(struct perfmon_session *session);
int pm_session_stop(struct perfmon_session *session);

/* Starts a stopped session; stops a running or masked one. */
int pm_session_start_all(struct perfmon_session *session);
int pm_session_stop_all(struct perfmon_session *session);

/* --- session_control.c ---------------------------------------------------------------
 */

/* -EBUSY if FLAGS have PERFMON_WRITE_STOPPED and the session is running. */
int pm_session_check_stopped(struct perfmon_session *session, uint32_t flags);

/* Makes SESSION the exclusive one of thread TID, or -EEXIST; and lets go of it. */
int pm_exclusive_claim(struct perfmon_session *session, pid_t tid);
void pm_exclusive_release(struct perfmon_session *session);

/* --- session_target.c ----------------------------------------------------------------
 */

/* Opens all sets of PLAN, which is built of REGISTERS, on the session's targets. 0 or
 * more (refused counters), or a negative errno with nothing of PLAN open. The session's
 * own plan has been read then. */
int pm_session_reopen(struct perfmon_session *session, struct pm_session_plan *plan,
		      struct pm_register *registers, uint32_t count);

/* Makes PLAN that of the session, and the reader's views those of its targets. */
void pm_session_adopt_plan(struct perfmon_session *session, struct pm_session_plan *plan);

/* Enables or disables what is on of TARGET. 0 or the first error. */
int pm_target_enable(struct perfmon_session *session, struct pm_target *target);
int pm_target_disable(struct perfmon_session *session, struct pm_target *target);

/* Has what is on of a running TARGET stand still for a while; false: it does so already.
 * To be resumed. */
bool pm_target_pause(struct perfmon_session *session, struct pm_target *target);
void pm_target_resume(struct perfmon_session *session, struct pm_target *target);

/* Enables the active set of a TARGET that runs already. */
int pm_target_turn(struct perfmon_session *session, struct pm_target *target);

/* Closes all targets; in a child, its copies of their descriptors. */
void pm_session_close_targets(struct perfmon_session *session);
void pm_session_forget(struct perfmon_session *session);

/* Opens all sets of PLAN as ASKED says, as its next target, from thread SELF. The number
 * of counters that were refused, or a negative errno with nothing open. */
int pm_target_open(struct perfmon_session *session, struct pm_session_plan *plan,
		   const struct pm_target *asked, pid_t self);
void pm_target_close(struct perfmon_session *session, struct pm_session_plan *plan,
		     struct pm_target *target);

void pm_target_free(const struct pm_session_plan *plan, struct pm_target *target);

/* Reads all targets and adds them to the registers' bases, then closes them. 0, or the
 * first error of the reading. */
int pm_session_gather(struct perfmon_session *session);

/* Closes what PLAN has open from its target number FIRST on. */
void pm_targets_close(struct perfmon_session *session, struct pm_session_plan *plan,
		      uint32_t first);

/* Adds what target T has counted to the registers, and takes it out of the plan. */
void pm_target_remove(struct perfmon_session *session, uint32_t t);

/* Makes the reader's views those of the plan's targets. */
void pm_session_make_views(struct perfmon_session *session);

/* Stops, folds, closes: the state is detached afterwards. */
int pm_session_detach_all(struct perfmon_session *session);

/* Whether events of PLAN write records, and need a ring. */
bool pm_plan_writes_records(const struct pm_session_plan *plan);

/* The plan's memory for one more target than are open, in *TARGET. 0 or -ENOMEM. */
int pm_plan_room(struct pm_session_plan *plan, struct pm_target **target);

/* --- session_attach.c ----------------------------------------------------------------
 */

/* Attaches a detached session to the calling thread. 0 or a negative errno. */
int pm_session_attach_self(struct perfmon_session *session);

/* --- session_loss.c ------------------------------------------------------------------
 */

/* Detaches a session whose targets are all gone. To be called by what depends on the
 * state, with the lock; nothing is asked for the calling thread's own session. */
void pm_session_notice_loss(struct perfmon_session *session);

/* Has HELPER, if there is one, told when TARGET ends that has no ring: a thread with an
 * event that can be mapped, which one that is inherited cannot. Else its end is noticed
 * by later calls. 0, or what epoll_ctl(2) gives. */
int pm_target_watch(struct perfmon_session *session, const struct pm_session_plan *plan,
		    struct pm_target *target, struct pm_helper *helper);
void pm_target_unwatch(struct perfmon_session *session, struct pm_target *target);

/* --- session_process.c ---------------------------------------------------------------
 */

/* What number ID stands for: 0 for the calling process, a thread for its own. */
pid_t pm_process_id(int32_t id);

/* Opens PLAN on all threads of the process that TARGET asks for, and makes it one of the
 * session's, or opens it on those of PID, which is one. The most counters that a thread
 * was refused, or a negative errno with nothing of it open. */
int pm_process_attach(struct perfmon_session *session,
		      const struct perfmon_target *target, pid_t self);
int pm_process_reopen(struct perfmon_session *session, struct pm_session_plan *plan,
		      pid_t pid, pid_t self);

/* Whether the process of TARGET has ended, and the thread. */
bool pm_process_has_ended(const struct perfmon_session *session,
			  const struct pm_target *target);

/* Has HELPER, if there is one, told when PROCESS ends, where the kernel can (Linux 5.3).
 * 0, or what epoll_ctl(2) gives. */
int pm_process_watch(struct perfmon_session *session, struct pm_session_process *process,
		     struct pm_helper *helper);

/* Forgets the processes of which no target is left. */
void pm_processes_prune(struct perfmon_session *session);

/* --- helper.c ------------------------------------------------------------------------
 */

/* Makes the helper thread, unless it is there. */
int pm_session_need_helper(struct perfmon_session *session);

/* Takes it from a detached session that has no use for it, or NULL: to be stopped and
 * forgotten when the caller has given back the lock. */
struct pm_helper *pm_session_idle_helper(struct perfmon_session *session);

/* Has the helper thread look at the session. Any thread, without the lock. */
void pm_session_wake(struct perfmon_session *session);

/* --- session_set.c -------------------------------------------------------------------
 */

/* The place of set ID, or -1. */
int pm_session_find_set(const struct perfmon_session *session, uint16_t id);

/* Makes the set at NEXT the active one of TARGET, which is running. 0 or the first
 * error. */
int pm_target_switch(struct perfmon_session *session, struct pm_target *target,
		     uint32_t next);

/* The same for TARGET whose counting stands still: a start or a restart begins there. */
void pm_target_choose(struct perfmon_session *session, struct pm_target *target,
		      uint32_t next);

/* How much of its time-out the set at PLACE has used on the first target since its clock
 * ticked, as last read. */
uint64_t pm_set_used_ns(const struct perfmon_session *session, uint32_t place);

/* A copy of the session's sets with room for MORE. */
struct pm_set *pm_sets_copy(const struct perfmon_session *session, size_t more);

/* Puts a set ID into SETS of *COUNT, in its order, unless it is there; its place.
 * REGISTERS of the sets behind it move along. */
uint32_t pm_sets_insert(struct pm_set *sets, uint32_t *count, uint16_t id,
			struct pm_register *registers, uint32_t register_count);

/* The set after set S, which was on, has its turn on TARGET. */
void pm_target_next_set(struct perfmon_session *session, struct pm_target *target,
			uint32_t s);

/* The turn of set S on TARGET is over and its counters have been read: takes notice for
 * estimates (session_estimate.c). */
void pm_turn_end(struct perfmon_session *session, struct pm_target *target, uint32_t s);

/* --- session_program.c ---------------------------------------------------------------
 */

int pm_plan_build(const struct perfmon_session *session, struct pm_register *registers,
		  uint32_t count, const struct pm_set *sets, uint32_t set_count,
		  struct pm_session_plan **plan);
void pm_plan_free(struct pm_session_plan *plan);
void pm_registers_free(struct pm_register *registers, uint32_t count);

/* Puts REGISTERS (and SETS) in the place of the session's: see the definition. */
int pm_session_install(struct perfmon_session *session, struct pm_register *registers,
		       uint32_t count, struct pm_set *sets, uint32_t set_count);

/* The same with a copy of its own registers, which it takes over in any case. */
int pm_session_reinstall(struct perfmon_session *session, struct pm_register *registers);

/* Stops an attached session of one set and makes it count what TEXT says; sums stay with
 * their index. Opens nothing if that is what it counts. On failure nothing has changed,
 * but that it may be stopped. */
int pm_session_replace(struct perfmon_session *session, const char *text);

/* Lets go of what REG counts. */
void pm_register_drop(struct pm_register *reg);

/* A copy of the session's registers with room for MORE, which holds references. */
struct pm_register *pm_registers_copy(const struct perfmon_session *session,
				      uint32_t more);

/* --- session_value.c -----------------------------------------------------------------
 */

/* What the targets have counted for register I, into its `now`. -ENODATA: a pinned group
 * does not fit the hardware. */
int pm_session_collect(struct perfmon_session *session, uint32_t i, bool *syscall);
/* The base of register I has changed: so has its reader's. */
void pm_session_rebase(struct perfmon_session *session, uint32_t i);
int pm_session_time_now(struct perfmon_session *session, uint64_t *ns, bool *syscall);
/* Sets the value of a counter that has just been collected. 0, or what ioctl(2) gives. */
int pm_session_write_one(struct perfmon_session *session,
			 const struct perfmon_write *write);
void pm_session_time_attach(struct perfmon_session *session);
void pm_session_time_start(struct perfmon_session *session);
void pm_session_time_stop(struct perfmon_session *session);
void pm_session_time_detach(struct perfmon_session *session);
/* Keeps the time of one TARGET that leaves before the others. */
void pm_session_time_target(struct perfmon_session *session, struct pm_target *target);

static inline struct pm_reading pm_reading_add(struct pm_reading a, struct pm_reading b)
{
	return (struct pm_reading){a.value + b.value, a.enabled_ns + b.enabled_ns,
				   a.running_ns + b.running_ns};
}

/* The checks of a vector, and of its elements. */
int pm_session_check_vector(struct perfmon_session *session, const void *vector,
			    size_t size, size_t element);
int pm_session_check_index(struct perfmon_session *session, size_t i, uint32_t index,
			   uint64_t reserved);

/* Reads a counter, as ROLE has counted it, into its scratch. */
int pm_session_find(struct perfmon_session *session, uint32_t index, unsigned int role);

/* The sentence for a counter that cannot be read. Returns ERR. */
int pm_session_explain(struct perfmon_session *session, int err);

/* The sum of register REG's events in the last readings of the targets with ROLE. */
struct pm_reading pm_register_sum(const struct perfmon_session *session,
				  const struct pm_register *reg, unsigned int role);

/* Whether TARGET has refused what REG counts, or a part of it. */
bool pm_target_lacks(const struct pm_target *target, const struct pm_register *reg);

/* Whether a process that it is attached to may not be covered exactly. */
bool pm_session_is_uncertain(const struct perfmon_session *session);

/* Brings the readings that pm_session_active_ns() looks at up to date. */
int pm_session_read_clocks(struct perfmon_session *session);

/* How long the set at PLACE has been active on open targets, as last read. */
uint64_t pm_session_active_ns(const struct perfmon_session *session, uint32_t place);

#endif
