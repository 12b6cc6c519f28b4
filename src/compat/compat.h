/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a perfmon2 session, which these files call a context. It is a session of
 * perfmon/session.h, a map from its registers to the session's counters, and a pair of
 * sockets, of which the program has one end as the session's descriptor.
 *
 * From the lowest file:
 *
 *   messages.c   messages about overflows, from the session to the socket
 *   context.c    descriptors: finding their context, and the end of both
 *   registers.c  PMCs and PMDs, their counters and overflows
 *   sets.c       event sets
 *   session.c    life cycle: load, unload, start, stop
 *   section9.c   section 9's older calls
 */
#ifndef PM_COMPAT_COMPAT_H
#define PM_COMPAT_COMPAT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/kernel/kernel.h"
#include "core/kernel/owned.h"
#include "core/text/diag.h"
#include "perfmon/overflow.h"
#include "perfmon/perfmon2.h"
#include "perfmon/sampling.h"
#include "perfmon/session.h"
#include "perfmon/set.h"

#define PM2_REGISTERS (64u * PFM_PMD_BV)

/* The words of a mask with a bit for each PMD of a set, or each counter of the session. */
#define PM2_MASK_WORDS PFM_PMD_BV
_Static_assert(PFM_PMD_BV * 64 == PERFMON_SESSION_COUNTERS_MAX,
	       "a mask has a bit for each PMD, or for each counter");

/* The effects of a counter's overflows. Its vectors are masks. */
struct pm2_overflow {
	struct perfmon_overflow how; /* size 0: none */
	uint64_t resets[PM2_MASK_WORDS];
	uint64_t samples[PM2_MASK_WORDS];
};

struct pm2_register {
	uint16_t set; /* number of its event set */
	uint16_t number;
	/* The session's counter, or -1 if the PMC was never written. */
	int32_t counter;
	uint32_t pmc_flags;
	uint64_t pmc_value;
	uint64_t value;		      /* of the PMD, without a counter */
	struct pm2_overflow overflow; /* as the program wrote it, with masks of PMDs */
	struct pm2_overflow applied;  /* as the session has it, with masks of counters */
};
/* Not a register but a spare counter, which counts nothing. A failed call left it for the
 * next PMC of its set. */
#define PM2_SPARE UINT16_MAX

struct pm2_context {
	/* Guarded by the table's lock. */
	struct pm2_context *next; /* in its bucket of the table */
	unsigned int references;  /* the table's, and one for each running call */
	/* These never change. */
	dev_t device; /* of the program's end */
	ino_t inode;
	pid_t owner;
	struct pm_owned end; /* the library's end */
	bool is_cpu;
	bool is_silent;	 /* PFM_FL_OVFL_NO_MSG */
	bool has_format; /* PFM_FL_SMPL_FMT */
	/* Guarded by `lock`. */
	pthread_mutex_t lock;
	struct pm_still still;		 /* of the holder */
	struct perfmon_session *session; /* NULL in a child */
	int message_fd;		      /* the session's descriptor for messages, or -1 */
	struct perfmon_message ahead; /* the session's, not yet in `pending` */
	bool has_ahead;
	union pfarg_msg pending; /* the socket has no room for it */
	bool is_pending;
	bool is_full; /* the socket is full: the watcher waits for room */
	struct pm2_register *registers;
	size_t register_count;
	struct pm_diag diag;
};

/* --- messages.c --------------------------------------------------------------------- */

/* Converts the bits of COUNTERS to bits of PMDs in event set ID. */
void pm2_registers_pmds(const struct pm2_context *context, uint16_t id,
			const uint64_t *counters, __u64 *pmds);

/* Moves messages from the session to the socket, until it is full. The caller holds the
 * context's lock. */
void pm2_messages_forward(struct pm2_context *context);

/* --- context.c ---------------------------------------------------------------------- */

/* Creates a context with the PFM_FL_ FLAGS, and with SAMPLING if that has a format. Returns
 * the program's descriptor or a negative errno. */
int pm2_context_create(uint32_t flags, const struct perfmon_sampling *sampling);

enum pm2_kind {
	PM2_CALL,
	/* The call needs counters: sessions whose last descriptor has been closed end
	 * first, which frees theirs. */
	PM2_CALL_TO_LOAD,
	/* The call asks for the last message, which it keeps. */
	PM2_CALL_TO_ASK
};

/*
 * Finds the context of FD, blocks all signals and takes the context's lock. So signal
 * handlers may make calls, and a thread never waits for itself. Clears the context's
 * message. Returns NULL and sets errno to EBADF, EINVAL or ECHILD.
 */
struct pm2_context *pm2_context_enter(int fd, enum pm2_kind kind);

/* Unlocks the context. Turns RESULT, which may be a negative errno, into the call's
 * result. */
int pm2_context_leave(struct pm2_context *context, int result);

/* Turns a negative errno into -1 and errno, or returns RESULT. */
int pm2_result(int result);

/* Copies the message of a call on the session that failed with RESULT. Returns RESULT. */
int pm2_session_said(struct pm2_context *context, int result);

/* Returns 0, or -EINVAL or -E2BIG if the SIZE bytes at VECTOR are no vector of elements
 * of ELEMENT bytes. */
int pm2_check_vector(struct pm2_context *context, const void *vector, size_t size,
		     size_t element);

/* Returns 0, or -EINVAL if FLAGS has others than KNOWN. */
int pm2_check_flags(struct pm2_context *context, uint32_t flags, uint32_t known);

/* Returns 0, or -EINVAL if FIELD or FIELDS, reserved in element I, are not 0. */
int pm2_check_reserved(struct pm2_context *context, size_t i, uint64_t field,
		       const void *fields, size_t size);

/*
 * Returns zeroed memory for N elements of SIZE bytes: FEW, an array of PM2_FEW elements, if
 * that is enough. So signal handlers may use small vectors. Returns NULL with a message
 * without memory. pm2_vector_free() frees it.
 */
#define PM2_FEW 16
void *pm2_vector(struct pm2_context *context, void *few, size_t n, size_t size);
void pm2_vector_free(void *vector, const void *few);

/* Makes the watcher wait for messages of the session. Returns 0 or a negative errno. */
int pm2_context_watch_messages(struct pm2_context *context);

/* --- registers.c -------------------------------------------------------------------- */

/* Forgets the registers of event set ID, which is deleted with its counters. */
void pm2_registers_drop_set(struct pm2_context *context, uint16_t id);

/* Applies the registers' overflows to the session, after counters have moved or been
 * added. Returns 0 or a negative errno. */
int pm2_overflows_apply(struct pm2_context *context);

/* Do the calls of these names in a session. Return 0 or a negative errno. */
int pm2_pmcs_write(struct pm2_context *context, const struct pfarg_pmc *pmcs,
		   size_t size);
int pm2_pmds_write(struct pm2_context *context, const struct pfarg_pmd *pmds,
		   size_t size);
int pm2_pmds_read(struct pm2_context *context, struct pfarg_pmd *pmds, size_t size);

/* --- session.c ---------------------------------------------------------------------- */

/* Attaches the session to the thread or CPU TARGET. Returns 0 or a negative errno. */
int pm2_load(struct pm2_context *context, int target);

#endif
