/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overflow: a counter that reaches 2^64 can notify the program, be set back, and make the
 * session go on to its next event set. (The model is perfmon2's: its text of 2008,
 * section 10 b, d, g and h.)
 *
 *	struct perfmon_message message;
 *	struct pollfd ready = {.events = POLLIN};
 *
 *	perfmon_overflow_period(session, 0, 100000, PERFMON_OVERFLOW_NOTIFY);
 *	ready.fd = perfmon_overflow_descriptor(session);
 *	perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, tid);
 *	perfmon_session_start(session);
 *	while (poll(&ready, 1, -1) > 0 &&
 *	       perfmon_overflow_read(session, &message, 1, sizeof(message)) == 1 &&
 *	       message.type == PERFMON_MESSAGE_TYPE_OVERFLOW) {
 *		printf("at %#llx\n", (unsigned long long)message.ip);
 *		perfmon_overflow_restart(session);
 *	}
 *
 * Overflow means overflow of the 64-bit value: a counter written to -N overflows after N
 * events. perfmon_session_read() with PERFMON_READ_TOTAL gives the number of events over
 * all overflows. On an overflow without notification it is set to its short reset value. One
 * with notification masks the session: all its counters stand still, on all targets,
 * until perfmon_overflow_restart() sets it to its long reset value.
 *
 * The counter that notifies leads its kernel group, which the kernel stops by itself at
 * the overflow, before the target's next instruction but for the PMU's skid. Counters in
 * other groups, and other targets, stop when the notification is handled. Events that the
 * skid adds are not lost: a counter that is set back starts from its reset value at the
 * very overflow.
 *
 * Overflows without notification wait in a ring until a call on the session, or its
 * helper thread, takes them. Values, numbers of overflows, last resets and switches are
 * then what they are without the wait. A period that differs from the one before (a
 * first value, a random mask) is the kernel's from then on. Until then the kernel goes
 * on with the old one: a sample comes with the first of its periods that ends at the
 * overflow or behind it, and overflows of which there are more than periods leave none,
 * which perfmon_sampling_counts() counts as lost. So it is with clocks, whose timer
 * skips the periods that it is late for, and with software events that the kernel holds
 * back. Where a software event of another thread must get a shorter period, it is off
 * for some 20 us. What that thread does meanwhile is not counted: its enabled time goes on,
 * its running time does not, and the value is PERFMON_VALUE_MULTIPLEXED. A thread that
 * takes its own overflows, in its calls or its signal handler, misses nothing.
 *
 * A call in which the only target's own thread takes what waits stops the counters
 * meanwhile, and perfmon_session_stop() takes it after they are stopped: the work is not
 * counted as the program's. In a session with several targets, one of which is the
 * calling thread, it is: some hundred instructions for each record.
 *
 * The kernel counts on each target by itself: with several, a counter overflows when one
 * of them alone has counted what the value lacked of 2^64 when the first was attached, or
 * since the value was last written or reset. The sum of all passes 2^64 before that.
 *
 * Common to all calls: what perfmon/session.h says of threads, forked children, errors
 * and the order of checks. perfmon_overflow_restart() and perfmon_overflow_read() may
 * also be called in the handler of the signal that perfmon_overflow_signal() asked for;
 * where that has interrupted a call of this thread on this session, the restart is made
 * at that call's end, and reading gives -EAGAIN.
 */
#ifndef PERFMON_OVERFLOW_H
#define PERFMON_OVERFLOW_H

#include <perfmon/session.h>
#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of an overflow. */
#define PERFMON_OVERFLOW_NOTIFY 1u /* mask the session, queue a message */
#define PERFMON_OVERFLOW_RANDOM 2u /* periods longer by a number within random_mask */
#define PERFMON_OVERFLOW_SWITCH 4u /* the switch_count-th goes on to the next set */
#define PERFMON_OVERFLOW_SAMPLE 8u /* leave a sample: perfmon/sampling.h */
/* Its reset value need not overflow: then the counter overflows once and counts on. */
#define PERFMON_OVERFLOW_ONCE 16u

struct perfmon_overflow {
	size_t size; /* sizeof(struct perfmon_overflow) */
	uint32_t flags;
	uint32_t reserved;
	uint64_t short_reset; /* the value after an overflow without notification */
	uint64_t long_reset;  /* ... after the restart that follows a notification */
	uint64_t random_mask;
	uint64_t switch_count; /* 1 or more with PERFMON_OVERFLOW_SWITCH */
	uint64_t event_id;     /* the program's own; goes into messages and samples */
	/* Indices of counters that are set back along with it, each to its own reset
	 * value, 0 if it has none; of its own group, to be exact. Copied by the call. */
	const uint32_t *reset_counters;
	/* Indices of counters whose values stand in its samples, likewise. */
	const uint32_t *sample_counters;
	uint32_t reset_count;
	uint32_t sample_count;
};

/**
 * perfmon_overflow_period() - has counter INDEX overflow after each PERIOD events, from
 * now on: FLAGS are those of an overflow without PERFMON_OVERFLOW_RANDOM and
 * PERFMON_OVERFLOW_SWITCH, which perfmon_overflow_program() takes. One call for
 * perfmon_overflow_program() with resets of -PERIOD, and perfmon_session_write() of
 * -PERIOD, with their system calls.
 *
 * Return: 0, or
 * -EINVAL: also for a PERIOD of 0 or of 2^63 and above
 * - an error of perfmon_overflow_program()
 */
int perfmon_overflow_period(struct perfmon_session *session, uint32_t index,
			    uint64_t period, uint32_t flags);

/**
 * perfmon_overflow_program() - says what becomes of overflows of counter INDEX; OVERFLOW
 * NULL: nothing (the value goes on from 0, and nobody notices). An attached session opens
 * its events anew. A counter that has not counted, and whose value was never written,
 * begins with its reset value: the long one if it notifies, else the short one.
 * Allocates.
 *
 * Return: 0, or
 * -EINVAL: no such counter, a size below the first version's, an unknown flag, an
 *	index of a counter that there is not, a NULL with a count, a reset value
 *	that cannot overflow (the long one with PERFMON_OVERFLOW_NOTIFY, else the
 *	short one; not with PERFMON_OVERFLOW_ONCE), a random mask without its flag,
 *	a switch without a count or a count without the switch, samples more often
 *	than PERFMON_MIN_PERIOD says (so also perfmon_session_write() for such a
 *	counter), a reserved field that is not 0
 * -E2BIG: OVERFLOW is longer than this library's, with something in its tail
 * -EBUSY: the session is running or masked
 * -EOPNOTSUPP: the counter is the sum of several core PMUs' events
 * -ENOMEM
 * - for an attached session what attaching gives
 *
 * perf_event_open(2) takes periods below 2^63: a value of 2^63 or less does not overflow.
 */
int perfmon_overflow_program(struct perfmon_session *session, uint32_t index,
			     const struct perfmon_overflow *overflow);

/** perfmon_overflow_last_reset() - the value that counter INDEX was last set back to, or
 * written to, in *VALUE, and how often it has overflowed in *COUNT (either may be NULL).
 * 0; -EINVAL. */
int perfmon_overflow_last_reset(struct perfmon_session *session, uint32_t index,
				uint64_t *value, uint64_t *count);

enum perfmon_message_type {
	PERFMON_MESSAGE_TYPE_OVERFLOW = 1,
	PERFMON_MESSAGE_TYPE_END = 2, /* the last target has gone */
	PERFMON_MESSAGE_TYPE_LOG = 3  /* the log cannot be written: perfmon/sampling.h */
};

/* Flags of a message. */
#define PERFMON_MESSAGE_OVERRUN 1u /* came after another, before counting stood still */
#define PERFMON_MESSAGE_LOST	2u /* messages before it were lost: the queue was full */

struct perfmon_message {
	uint32_t type;
	uint32_t flags;
	pid_t pid;
	pid_t tid;
	uint32_t cpu; /* where it happened */
	uint16_t set; /* active then */
	uint16_t reserved;
	uint32_t index; /* of the counter that overflowed */
	uint32_t reserved2;
	uint64_t event_id;
	uint64_t ip;	  /* the instruction at the interrupt */
	uint64_t time_ns; /* perf's clock */
};

/**
 * perfmon_overflow_read() - takes up to COUNT messages from the queue into MESSAGES,
 * whose elements have ELEMENT_SIZE bytes: sizeof(messages[0]). Never waits.
 * System calls: none while there is no descriptor; one when a read empties the queue.
 *
 * Return: the number of messages, or
 * -EAGAIN: there is none
 * -EINVAL: COUNT is 0, or the size of an element is below the first version's, or
 *	twice this library's or more (perfmon/vector.h)
 *
 * The queue holds 1,024.
 */
int perfmon_overflow_read(struct perfmon_session *session,
			  struct perfmon_message *messages, size_t count,
			  size_t element_size);

/**
 * perfmon_overflow_descriptor() - a descriptor for poll(2), select(2) and epoll(7), which
 * is readable exactly while a message waits, asked once or often. It belongs to the
 * session: do not read or close it. Makes a helper thread, with all signals blocked,
 * which waits for overflows, and for the end of the last target, until the session is
 * closed. That threads and processes have ended is a message at once. For these it comes
 * with the next call that depends on the state: threads with PERFMON_TARGET_CHILDREN that
 * do not overflow, child processes that a process is waited for with, processes before
 * Linux 5.3, CPUs that go offline, and threads of whose events the kernel lets no page be
 * mapped (kernel.perf_event_mlock_kb).
 *
 * The descriptor; what eventfd(2), epoll_create(2) and pthread_create(3) give.
 */
int perfmon_overflow_descriptor(struct perfmon_session *session);

/**
 * perfmon_overflow_signal() - has each overflow with notification send signal SIGNO to
 * the thread that overflowed, which must be of this process: the handler finds the
 * message in the queue. 0: no signal any more. Any state; for an attached session three
 * system calls for each notifying counter.
 *
 * Return: 0, or
 * -EINVAL: no such signal, or a session of CPU scope
 * -EOPNOTSUPP: the session is attached to a thread of another process (as attaching it
 *	is later)
 * - what fcntl(2) gives
 */
int perfmon_overflow_signal(struct perfmon_session *session, int signo);

/* The si_value.sival_ptr of a handler's siginfo points to this, until the handler returns.
 * The struct grows at its end. */
struct perfmon_overflow_signal {
	size_t size; /* how much of this the library has filled in */
	struct perfmon_session *session;
	uint32_t index; /* of the counter that overflowed */
	uint16_t set;	/* its event set */
	uint16_t reserved;
	uint64_t event_id; /* the program's own for this counter */
};

/* The si_code of such a siginfo, which the kernel gives to no signal. */
#define PERFMON_OVERFLOW_SI_CODE (-0x706d)

/* C without POSIX knows no siginfo_t. */
#ifdef SA_SIGINFO
/**
 * perfmon_overflow_handler() - perfmon_overflow_signal() with HANDLER called for SIGNO,
 * a signal that has no other handler; a real-time one, since others merge. Its siginfo
 * says itself what has overflowed, without a further call: si_code is
 * PERFMON_OVERFLOW_SI_CODE, and si_value.sival_ptr points to a struct
 * perfmon_overflow_signal. Counters of one session that overflow together come one by
 * one. The library takes the signal for itself, for the life of the process; several
 * sessions may share it.
 *
 * Return: 0, or
 * -EINVAL: no such signal, HANDLER is NULL, or a session of CPU scope
 * -EBUSY: SIGNO has a handler of the program
 * -ENOSPC: more than 1,024 counters do this or stop threads
 * - as perfmon_overflow_signal()
 *
 * Source: perfctr, si_code SI_PMC_OVF and si_pmc_ovf_mask.
 */
int perfmon_overflow_handler(struct perfmon_session *session, int signo,
			     void (*handler)(int signo, siginfo_t *info, void *context));
#endif

/**
 * perfmon_overflow_block() - has each overflow with notification stop the thread that
 * overflowed, which must be of this process, until the session is restarted, stopped,
 * detached or closed. For this the library takes signal SIGNO for itself, a signal that
 * the program neither uses nor blocks; 0: a real-time signal without a handler, the
 * highest there is. Its handler stays for the life of the process. Waiting and waking
 * allocate nothing. A thread whose overflow interrupts its own call on any session waits
 * at that call's end.
 *
 * Return: 0, or
 * -EINVAL: no such signal, or a session of CPU scope
 * -EBUSY: SIGNO has a handler, or no signal is free, or the session is attached
 * - what sigaction(2) gives
 *
 * Attaching to a thread of another process gives -EOPNOTSUPP then.
 */
int perfmon_overflow_block(struct perfmon_session *session, int signo);

/**
 * perfmon_overflow_restart() - lets a masked session count again: counters that have
 * notified are set to their long reset values. (Where the session is stopped or detached
 * instead, they are with its next start.) One system call for each kernel group;
 * one more for a counter whose period changes. Async-signal-safe in the handler of
 * perfmon_overflow_signal().
 *
 * Return: 0, or
 * -EBUSY: the session is not masked
 * - what ioctl(2) gives: the session is stopped then
 *
 * On Linux 6.17 and later a breakpoint that has stopped another thread is opened anew,
 * with all of the session. Then the session stays masked after these errors, too:
 * -EOPNOTSUPP: in a signal handler, or that thread reads counters from user space
 * -EBUSY: the session has a log
 * -ENOMEM
 * - what attaching gives: -ENOSPC if more than half of its debug registers are taken
 */
int perfmon_overflow_restart(struct perfmon_session *session);

#ifdef __cplusplus
}
#endif
#endif
