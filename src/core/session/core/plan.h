/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of a session: its registers, each in one of its event sets, and the plan of
 * events that attaching opens on targets.
 */
#ifndef PM_SESSION_CORE_PLAN_H
#define PM_SESSION_CORE_PLAN_H

#include "core/counters/counters.h"
#include "core/samples/samples.h"
#include "perfmon/overflow.h"
#include "perfmon/session.h"
#include "perfmon/set.h"

struct perfmon_session;

/* The events of one text, shared by the registers that still count them. */
struct pm_program {
	uint32_t references;
	struct pm_event_list *list;
};

/* Words of a mask with a bit for each counter of a session: counter i is bit i % 64 of
 * word i / 64. */
#define PM_COUNTER_WORDS (PERFMON_SESSION_COUNTERS_MAX / 64)

static inline bool pm_counter_in(const uint64_t mask[PM_COUNTER_WORDS], uint32_t i)
{
	return mask[i / 64] >> (i % 64) & 1;
}

/* Adds the COUNT counters at INDICES to MASK, but for those that no session has. */
static inline void pm_counter_mask(uint64_t mask[PM_COUNTER_WORDS],
				   const uint32_t *indices, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (indices[i] < PERFMON_SESSION_COUNTERS_MAX)
			mask[indices[i] / 64] |= UINT64_C(1) << (indices[i] % 64);
}

/* How a counter overflows, and what it is set back to. */
struct pm_overflow {
	bool on;
	struct perfmon_overflow how; /* its vectors are these masks: */
	uint64_t resets[PM_COUNTER_WORDS];
	uint64_t samples[PM_COUNTER_WORDS];
	uint64_t least; /* PERFMON_MIN_PERIOD when it was programmed */
	bool reset_due; /* its long reset, since an overflow on a target that is gone */
	uint64_t last_reset;
	uint64_t count;
	uint64_t seed;
};

/* How the time slices of a counter's set went: sums over them of what was counted (x) in its
 * duration (d). And of all sets: the number of slices, and the time between them, in which none
 * was on. */
struct pm_slices {
	uint64_t n;
	double x, d, xx, xd, dd;
	uint64_t all;
	double gap_ns;
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
	/* The counts of earlier targets, less what the targets had counted at the last
	 * write: any of them may be "negative", only the sums with the targets' are not.
	 * `own` is the part of targets themselves, without what they created. */
	struct pm_reading base;
	struct pm_reading own_base;
	/* The same for PERFMON_READ_TOTAL: the last write begins at 0, and what overflows
	 * set back does not touch them. */
	uint64_t total_base;
	uint64_t own_total_base;
	/* Flags of the value, until it is written: PERFMON_VALUE_UNCERTAIN: targets that are
	 * gone were; PERFMON_VALUE_PARTIAL: one refused an event. */
	uint32_t value_flags;
	struct pm_overflow overflow;
	struct pm_slices slices;
	/* Scratch of the call that holds the lock. */
	struct pm_reading now;
	struct perfmon_value found;
};

/* An event set. */
struct pm_set {
	uint16_t id;
	uint32_t flags;			       /* PERFMON_SET_ */
	uint64_t timeout_ns;		       /* effective */
	uint64_t used_ns;		       /* of it, on targets that are gone */
	uint64_t runs;			       /* times that it became active */
	uint64_t active_ns;		       /* of targets that are gone */
	uint64_t overflowed[PM_COUNTER_WORDS]; /* counters, in its last time slice */
};

/* The events of one set in one piece, as instances want them. */
struct pm_plan_set {
	uint32_t count;
	struct pm_event *events; /* borrow their strings from the programs */
	/* If there are several sets, each has a clock behind its registers' events: a
	 * software event that ticks at the set's time-out. PM_NO_CLOCK: none. */
	uint32_t clock;
	bool notifies; /* has counters whose overflow masks the session */
	bool samples;  /* has events that write records: overflows, a clock that ticks */
};
#define PM_NO_CLOCK UINT32_MAX

/* One set on one target. */
struct pm_part {
	struct pm_instance *instance;
	struct pm_reading *readings; /* the last known, zero when it was opened */
	uint64_t *stamps;	     /* the session's stamp when each was read */
	struct pm_reading *before;   /* the same at the end of the last time slice */
	struct pm_arm *arms; /* how its events that overflow are armed: core/armed.h */
	uint64_t active_ns;  /* in time slices that are over, of a set without events */
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
	uint32_t active;   /* place of the set that is on here */
	bool chosen;	   /* it was another one when counting stood still */
	uint64_t since_ns; /* when the last time slice was over, on the whole's clock */
	/* By which the helper thread knows its ring, or its probe without one. 0: it
	 * watches neither; else no other target of the session has had it. */
	uint64_t watch_key;
	struct pm_part *parts;		   /* PART_COUNT of them */
	struct pm_target_records *records; /* of its events: core/armed.h */
};

/* The events of all registers, and where they are open. */
struct pm_session_plan {
	uint32_t set_count;
	/* Sets have time slices. Behind them stands a part with one event that is on for as
	 * long as the session runs, and is their clock; also without slices, if a log
	 * wants what goes on around samples. */
	bool has_slices;
	uint32_t part_count;
	struct pm_plan_set *sets; /* PART_COUNT of them */
	uint32_t target_count;	  /* open ones: 0 while detached */
	uint32_t target_room;	  /* with memory for their parts; at least 1 */
	struct pm_target *targets;
};

/* How long all sets together were on TARGET, as last read. */
static inline uint64_t pm_whole_ns(const struct pm_session_plan *plan,
				   const struct pm_target *target)
{
	return target->parts[plan->set_count].readings[0].enabled_ns;
}

static inline struct pm_reading pm_reading_add(struct pm_reading a, struct pm_reading b)
{
	return (struct pm_reading){a.value + b.value, a.enabled_ns + b.enabled_ns,
				   a.running_ns + b.running_ns};
}

/* --- programs and registers --------------------------------------------------------- */

/* Parses TEXT into a program with one reference. 0, or a negative errno with a sentence. */
int pm_program_parse(struct perfmon_session *session, const char *text,
		     struct pm_program **out);
void pm_program_put(struct pm_program *program); /* one reference; NULL is accepted */

/* Register REG counts logical event NUMBER of PROGRAM from now on. */
void pm_register_bind(struct pm_register *reg, struct pm_program *program,
		      uint32_t number);

/* Event E of what REG counts. */
struct pm_event *pm_register_event(const struct pm_register *reg, uint32_t e);

/* Returns the flags of REG's value that stay when it counts another event. One that was
 * never open leaves no value. */
uint32_t pm_register_value_flags(const struct pm_register *reg);

/* A copy of the session's registers with room for MORE, which holds references; or NULL,
 * which pm_registers_free() accepts. */
struct pm_register *pm_registers_copy(const struct perfmon_session *session,
				      uint32_t more);
void pm_registers_free(struct pm_register *registers, uint32_t count);

/* --- sets --------------------------------------------------------------------------- */

/* The place of set ID, or -1. */
int pm_session_find_set(const struct perfmon_session *session, uint16_t id);

/* A copy of the session's sets with room for MORE. */
struct pm_set *pm_sets_copy(const struct perfmon_session *session, size_t more);

/* Puts a set ID into SETS of *COUNT, in its order, unless it is there; its place.
 * REGISTERS of the sets behind it move along. */
uint32_t pm_sets_insert(struct pm_set *sets, uint32_t *count, uint16_t id,
			struct pm_register *registers, uint32_t register_count);

/* --- plans -------------------------------------------------------------------------- */

void pm_plan_free(struct pm_session_plan *plan);

/* The plan's memory for one more target than are open, in *TARGET. 0 or -ENOMEM. */
int pm_plan_room(struct pm_session_plan *plan, struct pm_target **target);

/* perf_event_open(2) refuses periods with the highest bit. */
#define PM_LONGEST_PERIOD INT64_MAX

/* Has EVENT leave a record at each of its overflows. VALUES: with what the counters of its
 * group had counted by then. */
void pm_record_plan(struct pm_event *event, bool values);

/* The layout of all records, whatever else they hold. */
const struct perf_event_attr *pm_record_attr(void);

/* Returns whether events of PLAN write records: they need a ring. */
bool pm_plan_writes_records(const struct pm_session_plan *plan);

#endif
