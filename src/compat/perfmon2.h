/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a perfmon2 session, which the calls call a context: a session of
 * perfmon/session.h, the map from its registers to the session's counters, and a pair of
 * sockets, of which the program has one end as the session's descriptor.
 *
 *	perfmon2.c		life cycle: load, unload, start, stop
 *	perfmon2_context.c	descriptors: from one to its context, and the end of both
 *	perfmon2_registers.c	PMCs and PMDs
 *	perfmon2_sets.c		event sets
 */
#ifndef PM_COMPAT_PERFMON2_H
#define PM_COMPAT_PERFMON2_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/diag.h"
#include "perfmon/perfmon2.h"
#include "perfmon/session.h"
#include "perfmon/set.h"

#define PM2_REGISTERS (64u * PFM_PMD_BV)

/* A register that has been written. */
struct pm2_register {
	uint16_t set; /* number of its event set */
	uint16_t number;
	/* The session's counter, or -1: its PMC was never written. */
	int32_t counter;
	uint32_t pmc_flags;
	uint64_t pmc_value;
	uint64_t value; /* of the PMD, without a counter */
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
	int fd; /* the library's end */
	bool is_cpu;
	/* Guarded by `lock`. */
	pthread_mutex_t lock;
	struct perfmon_session *session; /* NULL in a child */
	struct pm2_register *registers;
	size_t register_count;
	struct pm_diag diag;
};

/* --- perfmon2_context.c ----------------------------------------------------------------
 */

/* Creates a context and returns the program's descriptor, or a negative errno. */
int pm2_context_create(uint32_t scope);

/* Finds the context of FD and takes its lock. 0; -EBADF, -EINVAL, -ECHILD. */
int pm2_context_enter(int fd, struct pm2_context **context);

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

/* --- perfmon2_sets.c -------------------------------------------------------------------
 */

/* 0, or -EINVAL: element I asks for event set ID, which is not there. */
int pm2_check_set(struct pm2_context *context, size_t i, uint16_t id);

/* --- perfmon2_registers.c --------------------------------------------------------------
 */

/* Forgets the registers of event set ID, which is deleted with its counters. */
void pm2_registers_drop_set(struct pm2_context *context, uint16_t id);

#endif
