/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a perfmon2 session, which the calls call a context: a session of
 * perfmon/session.h, the map from its registers to the session's counters, and a pair of
 * sockets, of which the program has one end as the session's descriptor.
 *
 * From the lowest file:
 *
 *	map.c		from registers to the session's counters
 *	messages.c	messages about overflows, from the session to the socket
 *	context.c	descriptors: from one to its context, and the end of both
 *	overflow.c	what overflows of PMDs lead to
 *	registers.c	PMCs and PMDs
 *	sets.c		event sets
 *	session.c	life cycle: load, unload, start, stop
 *	section9.c	section 9's calls, which are older
 *
 * Uses session/, events/ (names of the kernel's events) and os/.
 */
#ifndef PM_COMPAT_COMPAT_H
#define PM_COMPAT_COMPAT_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/kernel/owned.h"
#include "core/text/diag.h"
#include "perfmon/overflow.h"
#include "perfmon/perfmon2.h"
#include "perfmon/session.h"
#include "perfmon/set.h"

#define PM2_REGISTERS (64u * PFM_PMD_BV)

/* What becomes of overflows of a PMD, as it was written. Fields are 0 without the flag
 * that they need. */
struct pm2_overflow {
	uint32_t flags;
	uint64_t long_reset;
	uint64_t short_reset;
	uint64_t switch_count;
	uint64_t random_mask;
	uint64_t event_id;
	uint64_t reset_pmds[PFM_PMD_BV];
	uint64_t sample_pmds[PFM_PMD_BV];
};

/* A register that has been written. */
/* Words of a mask with a bit for each counter of the session. */
#define PM2_COUNTER_WORDS (PERFMON_SESSION_COUNTERS_MAX / 64)

/* An overflow as the session has it; its vectors as masks. */
struct pm2_applied {
	struct perfmon_overflow how; /* size 0: none */
	uint64_t reset_counters[PM2_COUNTER_WORDS];
	uint64_t sample_counters[PM2_COUNTER_WORDS];
};

struct pm2_register {
	uint16_t set; /* number of its event set */
	uint16_t number;
	/* The session's counter, or -1: its PMC was never written. */
	int32_t counter;
	uint32_t pmc_flags;
	uint64_t pmc_value;
	uint64_t value; /* of the PMD, without a counter */
	struct pm2_overflow overflow;
	/* The same as the session has it for the counter; size 0: nothing. */
	struct pm2_applied applied;
};
/* Number of what is no register: a counter that a refused call has left, counting
 * nothing, for the next PMC of its set. */
#define PM2_SPARE UINT16_MAX

struct pm2_context {
	/* Guarded by the table's lock. */
	struct pm2_context *next; /* in its bucket of the table */
	unsigned int references;  /* the table's, and one of each call */
	/* Fixed. */
	dev_t device; /* of the program's end */
	ino_t inode;
	pid_t owner;
	struct pm_owned end; /* the library's */
	bool is_cpu;
	bool is_silent;	 /* PFM_FL_OVFL_NO_MSG */
	bool has_format; /* PFM_FL_SMPL_FMT */
	/* Guarded by `lock`. */
	pthread_mutex_t lock;
	sigset_t signals; /* and the holder's, which he has blocked */
	int cancel_state;
	struct perfmon_session *session; /* NULL in a child */
	int message_fd; /* the session's descriptor for messages, -1: none */
	struct perfmon_message ahead; /* the session's, not in `pending` yet */
	bool has_ahead;
	union pfarg_msg pending; /* found no room in the socket */
	bool is_pending;
	bool is_full; /* the socket; the watcher waits for room */
	struct pm2_register *registers;
	size_t register_count;
	struct pm_diag diag;
};

/* --- map.c -------------------------------------------------------------------------- */

struct pm2_register *pm2_register_find(struct pm2_context *context, uint16_t set,
				       uint16_t number);

/* Finds or adds; the memory is there. */
struct pm2_register *pm2_register_touch(struct pm2_context *context, uint16_t set,
					uint16_t number);

/* Makes sure that MORE registers can be added without memory. */
int pm2_registers_reserve(struct pm2_context *context, size_t more);

/* Forgets the registers of event set ID, which is deleted with its counters. */
void pm2_registers_drop_set(struct pm2_context *context, uint16_t id);

/* The bits of PMDs in event set ID for the bits of COUNTERS. */
void pm2_registers_pmds(const struct pm2_context *context, uint16_t id,
			const uint64_t *counters, __u64 *pmds);

/* The bits of counters for the bits of PMDS in event set ID; those that count nothing
 * have none. */
void pm2_registers_counters(struct pm2_context *context, uint16_t id,
			    const uint64_t *pmds, uint64_t *counters);

/* --- messages.c --------------------------------------------------------------------- */

/* Takes messages from the session to the socket, until it is full. Under the context's
 * lock. */
void pm2_messages_forward(struct pm2_context *context);

/* --- context.c ---------------------------------------------------------------------- */

/* A sampling format, with what is given to it. */
struct pm2_format {
	const char *name; /* NULL: none */
	const void *data;
	size_t size;
};

/* Creates a context with the PFM_FL_ FLAGS and returns the program's descriptor, or a
 * negative errno. */
int pm2_context_create(uint32_t flags, const struct pm2_format *format);

/* Finds the context of FD and takes its lock, with all signals blocked: so calls may be
 * made in signal handlers, and a thread never waits for itself. The context's sentence is
 * from here on that of the call. NULL and errno: EBADF,
 * EINVAL, ECHILD. */
struct pm2_context *pm2_context_enter(int fd);

/* The same for a call that needs counters: those of sessions whose last descriptor has
 * been closed are free then. */
struct pm2_context *pm2_context_enter_to_load(int fd);

/* The same for a call that asks for the sentence of the one before, which stays. */
struct pm2_context *pm2_context_enter_to_ask(int fd);

/* Gives it back; turns RESULT, a negative errno or not, into what the calls return. */
int pm2_context_leave(struct pm2_context *context, int result);

/* Turns RESULT into -1 and errno, or returns it. */
int pm2_result(int result);

/* Takes over the sentence of a call on the session that failed with RESULT; RESULT. */
int pm2_session_said(struct pm2_context *context, int result);

/* 0, or -EINVAL, -E2BIG: SIZE bytes at VECTOR are no vector of elements of ELEMENT. */
int pm2_check_vector(struct pm2_context *context, const void *vector, size_t size,
		     size_t element);

/* 0, or -EINVAL: FLAGS has others than KNOWN. */
int pm2_check_flags(struct pm2_context *context, uint32_t flags, uint32_t known);

/* Whether the SIZE bytes of FIELDS are 0. */
bool pm2_is_zero(const void *fields, size_t size);

/* 0, or -EINVAL: FIELD or FIELDS, all that is reserved in element I, are not. */
int pm2_check_reserved(struct pm2_context *context, size_t i, uint64_t field,
		       const void *fields, size_t size);

/* Has the watcher look for messages of the session. 0 or a negative errno. */
int pm2_context_watch_messages(struct pm2_context *context);

/* --- overflow.c --------------------------------------------------------------------- */

/* What PMD says of its overflows. */
void pm2_overflow_take(struct pm2_overflow *overflow, const struct pfarg_pmd *pmd);

/* Tells the session of REG's overflows, if it does not know yet. 0 or a negative
 * errno. */
int pm2_overflow_apply(struct pm2_context *context, struct pm2_register *reg);

/* The same for all registers: counters have moved or come. */
int pm2_overflow_apply_all(struct pm2_context *context);

/* --- registers.c -------------------------------------------------------------------- */

/* So many elements need no memory: small vectors may be used in signal handlers. */
#define PM2_FEW 16

/* The calls of these names, within a session. 0 or a negative errno. */
int pm2_pmcs_write(struct pm2_context *context, const struct pfarg_pmc *pmcs,
		   size_t size);
int pm2_pmds_write(struct pm2_context *context, const struct pfarg_pmd *pmds,
		   size_t size);
int pm2_pmds_read(struct pm2_context *context, struct pfarg_pmd *pmds, size_t size);

/* --- session.c ---------------------------------------------------------------------- */

/* Attaches the session to the thread or CPU TARGET. 0 or a negative errno. */
int pm2_load(struct pm2_context *context, int target);

#endif
