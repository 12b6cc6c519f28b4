/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions: a monitoring session is a list of counters, a target and a state. It is
 * prepared without touching the kernel's events, attached to a target, started and
 * stopped any number of times, read at any time, detached and attached elsewhere with its
 * values kept, and closed. (The model is that of perfmon2, 2008, sections 1 to 9.)
 *
 *	struct perfmon_session *session;
 *	struct perfmon_value values[2];
 *
 *	perfmon_session_create(&session, NULL, NULL, 0);
 *	perfmon_session_add_events(session, "instructions,cycles");
 *	perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
 *	perfmon_session_start(session);
 *	work();
 *	perfmon_session_stop(session);
 *	perfmon_session_read(session, PERFMON_VECTOR(values), PERFMON_READ_ALL);
 *	perfmon_session_close(session);
 *
 * States: detached, attached and stopped, running, and masked: an overflow with
 * notification (perfmon/overflow.h) has stopped a running session until its restart.
 *
 *   call                     | detached        | stopped     | running     | masked
 *   -------------------------+-----------------+-------------+-------------+------------
 *   add_events, program      | ok              | ok          | -EBUSY      | -EBUSY
 *   write, swap (1)          | ok              | ok          | ok          | ok
 *   read, counter_info       | ok              | ok          | ok          | ok
 *   attach, attach_targets   | to stopped      | -EBUSY      | -EBUSY      | -EBUSY
 *   the same with ADD (4)    | to stopped      | ok          | -EBUSY      | -EBUSY
 *   detach_target (2)        | -EINVAL         | ok          | ok          | ok
 *   start                    | -EINVAL (3)     | to running  | no effect   | no effect
 *   stop                     | -EINVAL         | no effect   | to stopped  | to stopped
 *   control                  | -EINVAL         | to running  | to running  | to running
 *   control without a text   | -EINVAL         | no effect   | to stopped  | to stopped
 *   detach                   | no effect       | to detached | to detached | to detached
 *   set_create, set_delete   | ok              | -EBUSY      | -EBUSY      | -EBUSY
 *   set_start                | -EINVAL (3)     | to running  | switches to | the restart
 *                            |                 |             | the set     | begins there
 *   set_get_info, set_list,  | ok              | ok          | ok          | ok
 *     set_estimate,          |                 |             |             |
 *     set_overflowed         |                 |             |             |
 *   overflow_program, _period| ok              | ok          | -EBUSY      | -EBUSY
 *   overflow_block           | ok              | -EBUSY      | -EBUSY      | -EBUSY
 *   overflow_restart         | -EBUSY          | -EBUSY      | -EBUSY      | to running
 *   overflow_read, _signal,  | ok              | ok          | ok          | ok
 *     _descriptor,           |                 |             |             |
 *     _last_reset            |                 |             |             |
 *   sampling_set_up,         | ok              | ok          | -EBUSY      | -EBUSY
 *     _tear_down, _log,      |                 |             |             |
 *     _log_close             |                 |             |             |
 *   sampling_enter, _leave   | as start and stop
 *   sampling_buffer, _counts | ok              | ok          | ok          | ok
 *     _fields, _log_flush,   |                 |             |             |
 *     _log_user              |                 |             |             |
 *   the last target goes     |                 | to detached | to detached | to detached
 *   close                    | ends the session in any state
 *
 * (1) -EBUSY while running or masked with PERFMON_WRITE_STOPPED. (2) To detached with the
 * last target. (3) To running with PERFMON_SESSION_SELF. (4) PERFMON_ATTACH_ADD. Messages
 * outlive stopping and detaching.
 *
 * A session whose last target goes by itself (the thread ends, the CPU goes offline) is
 * detached: its values stay, and it can be attached elsewhere. That is noticed at the
 * next call that depends on the state, which asks the kernel for one target after the
 * other until one is there: of a thread one poll(2), and at first an mmap(2); of a
 * process files of /proc; of a CPU a file of /sys and, while it runs, its time, read until
 * that moves (20 ms at most, and at once on a CPU that is online). None is asked for where
 * the calling thread itself, without what it creates, is the only target.
 *
 * Attached means stopped until started; detaching stops; a failed attach leaves the
 * session detached and no file descriptor open; values never fall except by a write or an
 * overflow, and totals (PERFMON_READ_TOTAL) only by a write.
 *
 * Every function returns 0 or a count, or a negative errno, and leaves what its
 * out-parameters point to untouched on failure. Arguments are checked in this order:
 * handle, size, flags and reserved fields, state, elements; a vector with one bad element
 * changes nothing.
 *
 * A vector comes with the number of its elements and the size of one in the program,
 * sizeof(elements[0]): PERFMON_VECTOR(elements) gives all three arguments
 * (perfmon/vector.h). -EINVAL: it has no element, it is NULL, the size is below the first
 * version's, or the call writes elements and the size is twice this library's or more, as
 * the size of an array is; -E2BIG: more than PERFMON_SESSION_VECTOR_MAX elements, or
 * elements that are longer than this library's and not zero there. Where a call writes
 * elements, what it does not know in them becomes zero.
 *
 * Common to all: -EINVAL for a NULL session; -ECHILD in a child that
 * fork(2) or clone(2) made after the session was created: there the handle can only be
 * closed, which does not disturb the parent's session. -ENOMEM where it says that it
 * allocates. perfmon_session_message() copies the sentence about the last call that
 * failed, until another call succeeds.
 *
 * Threads: each call holds the session's lock, so any thread may make any call at any
 * time, but no call is safe in a signal handler that may have interrupted another on the
 * same session (perfmon/inline.h has reads that are). -EAGAIN in a handler when more than
 * eight calls on other sessions have been interrupted, each in the handler of the last.
 */
#ifndef PERFMON_SESSION_H
#define PERFMON_SESSION_H

#include <perfmon/value.h>
#include <perfmon/vector.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perfmon_session;

/* Limits of this version, which may rise: counters of a session; elements of a vector;
 * targets. */
#define PERFMON_SESSION_COUNTERS_MAX 256
#define PERFMON_SESSION_VECTOR_MAX   1024
#define PERFMON_SESSION_TARGETS_MAX  65536

enum perfmon_scope {
	PERFMON_SCOPE_THREAD, /* counts one thread, wherever it runs */
	PERFMON_SCOPE_CPU     /* counts one CPU, whatever runs there */
};

enum perfmon_state {
	PERFMON_STATE_DETACHED,
	PERFMON_STATE_STOPPED,
	PERFMON_STATE_RUNNING,
	PERFMON_STATE_MASKED /* a notification awaits its restart: perfmon/overflow.h */
};

/* Flags of a session. */
#define PERFMON_SESSION_PARTIAL 1u /* attach without the events that are refused */
#define PERFMON_SESSION_SPLIT	2u /* every event on its own: for a group that never runs */
/* Events without u, k, h count the kernel, too. */
#define PERFMON_SESSION_ALL_MODES 4u
#define PERFMON_SESSION_NO_PAGES  8u  /* never map pages: every read is a system call */
#define PERFMON_SESSION_ROTATE	  16u /* all event sets at once: the kernel rotates them */
/* For thread scope: a session that is started while detached is attached to the calling
 * thread first (hwpmc's rule), but not after its target has ended. */
#define PERFMON_SESSION_SELF 32u
/* For thread scope: one target at a time. Attaching gives -EEXIST where the thread has
 * another exclusive session of this process (perfctr's rule). A session whose thread has
 * ended holds it until the next call that depends on its state. */
#define PERFMON_SESSION_EXCLUSIVE 64u

struct perfmon_session_options {
	size_t size;	/* sizeof(struct perfmon_session_options) */
	uint32_t scope; /* enum perfmon_scope; fixed for the session's life */
	uint32_t flags;
};

/**
 * perfmon_session_create() - makes a detached session without counters in *SESSION, which
 * the caller ends with perfmon_session_close(). OPTIONS may be NULL: thread scope, no
 * flags. MESSAGE gets one sentence that says what is wrong, or "" on success; it may be
 * NULL with MESSAGE_SIZE 0, and a longer sentence is cut. Touches no event and opens no
 * descriptor: it allocates, and maps a few pages of which one is used at first.
 *
 * Return: 0, or
 * -EINVAL: SESSION is NULL, OPTIONS is shorter than its first version, has an unknown
 *	scope or flag, or a flag that is for thread scope alone
 * -E2BIG: it is longer than this library's, with something in its tail
 * -ENOMEM
 */
int perfmon_session_create(struct perfmon_session **session,
			   const struct perfmon_session_options *options, char *message,
			   size_t message_size);

/**
 * perfmon_session_close() - ends SESSION (NULL: does nothing) and frees all that it
 * holds: its counters stop, its descriptors are closed. In a forked child: drops the
 * child's copies of the descriptors only. Nothing else may be using it. System calls as
 * for perfmon_session_detach().
 */
void perfmon_session_close(struct perfmon_session *session);

/**
 * perfmon_session_add_events() - adds counters for the events that TEXT names (see
 * perfmon/event.h for its grammar; {groups} are kept together). Their values are 0. An
 * attached session opens the events anew, at most as perfmon_session_attach(),
 * and its values are kept. Several event sets in TEXT (a;b) are sets 0, 1 and so on,
 * which are made if they are not there (see perfmon/set.h). Allocates.
 *
 * Return: the index of the first of them (they are numbered on in the order of TEXT), or
 * -EBUSY: the session is running or masked, it has a log (perfmon/sampling.h), or it
 *	is attached and TEXT needs a new set
 * -E2BIG: more than PERFMON_SESSION_COUNTERS_MAX or PERFMON_SESSION_SETS_MAX
 * - what perfmon_event_encode() gives for a TEXT it does not understand
 * - for an attached session what attaching gives
 *
 * On failure nothing has changed.
 */
int perfmon_session_add_events(struct perfmon_session *session, const char *text);

/**
 * perfmon_session_program() - makes counter INDEX count the one event that TEXT names.
 * Its value goes on from where it is (write it to set it). The same program again costs
 * nothing. Otherwise as perfmon_session_add_events(), with -EINVAL for an INDEX that does
 * not exist or a TEXT of several events. 0 on success.
 */
int perfmon_session_program(struct perfmon_session *session, uint32_t index,
			    const char *text);

/* The thread's virtual time, a counter that every session has: see below. */
#define PERFMON_COUNTER_VIRTUAL_TIME UINT32_MAX

/* Flags of a read. */
#define PERFMON_READ_ALL   1u /* every counter in order of index, which is filled in */
#define PERFMON_READ_OWN   2u /* without what the targets created: PERFMON_TARGET_APART */
#define PERFMON_READ_TOTAL 4u /* what was counted, whatever overflows set back */

/* An element of a vector to read. */
struct perfmon_value {
	uint32_t index;	     /* in: the counter, or PERFMON_COUNTER_VIRTUAL_TIME */
	uint32_t status;     /* out: PERFMON_VALUE_ flags */
	uint64_t value;	     /* out: 64 bits whatever the hardware's width; unscaled */
	uint64_t enabled_ns; /* out: how long it was to count */
	uint64_t running_ns; /* out: how long it did; both since its value was written */
	uint64_t reserved;   /* in: 0 */
};

/**
 * perfmon_session_read() - reads the counters that the COUNT elements of VALUES name, in
 * any order, some or all.
 * @element_size: sizeof(values[0])
 * @flags: PERFMON_READ_ALL: VALUES need not be filled in; the session's counters come in
 *	order of index. PERFMON_READ_OWN: what the targets counted themselves, without what
 *	they created (PERFMON_TARGET_APART; without that flag both are the same). The
 *	difference is the children's. PERFMON_READ_TOTAL: see below.
 *
 * On the thread that the session is attached to, while it runs: no system call where the
 * counters are on the hardware, their pages may be read from user space and have a clock.
 * Otherwise two for each kernel group that is asked for (the second proves that the
 * descriptor is still the session's), and none for what was read since the last stop. A
 * detached session's values are in memory. Allocates nothing.
 *
 * The value is that of a register, as perfmon2 has it: the program writes the register to
 * v, counting moves it on from there, and an overflow and the resets of other counters
 * set it back (perfmon/overflow.h). With PERFMON_READ_TOTAL the value is the number of
 * events that were counted since the counter was last written, as the times are since
 * then: 0 at first, and by one more with every event, over all overflows, resets, restarts
 * and event sets, and over detaching and attaching. perfmon_overflow_period() writes the
 * counter, and a counter that begins with its reset value is written to it, before
 * anything is counted. What is not counted (a masked session, a set that is not active)
 * is not in the total either. The virtual time is the same with the flag.
 *
 * PERFMON_COUNTER_VIRTUAL_TIME is the time in nanoseconds that the session was running
 * on its target: CPU time for a thread, time for a CPU. It starts, stops, is written and
 * survives a detach as a counter does (perfctr's virtualised time stamp, but for one rule:
 * while the session is masked it stands still, and perfctr's goes on; that of a session
 * without counters that notify does, too). The kernel
 * gives it as the enabled time of an event; without any open event it is
 * CLOCK_THREAD_CPUTIME_ID, on the thread itself only (-ENODATA elsewhere).
 *
 * Return: the number of elements that were read, or
 * -EINVAL, -E2BIG: as said of vectors above, an unknown flag, a reserved field that is
 *	not 0, an index that does not exist, or PERFMON_COUNTER_VIRTUAL_TIME with
 *	PERFMON_READ_OWN
 * -ENOSPC: with PERFMON_READ_ALL, COUNT is too small
 * -EBADF: the program has closed the session's descriptors
 * - what read(2) gives
 */
int perfmon_session_read(struct perfmon_session *session, struct perfmon_value *values,
			 size_t count, size_t element_size, uint32_t flags);

/* Flags of a write. */
#define PERFMON_WRITE_STOPPED 1u /* -EBUSY while the session is running or masked */

/* An element of a vector to write. */
struct perfmon_write {
	uint32_t index;	   /* the counter, or PERFMON_COUNTER_VIRTUAL_TIME */
	uint32_t reserved; /* 0 */
	uint64_t value;
};

/**
 * perfmon_session_write() - sets the values of counters, which go on counting from there,
 * and their times to 0. The events are not touched. A running counter is read to know
 * what to write: system calls as for perfmon_session_read(). FLAGS: 0 or
 * PERFMON_WRITE_STOPPED.
 *
 * The number of elements; errors as perfmon_session_read(); -EBUSY: a flag asks for it.
 */
int perfmon_session_write(struct perfmon_session *session,
			  const struct perfmon_write *values, size_t count,
			  size_t element_size, uint32_t flags);

enum perfmon_target_kind {
	PERFMON_TARGET_KIND_THREAD, /* id: as gettid(2) has it; 0: the calling thread */
	PERFMON_TARGET_KIND_CPU,    /* id: the kernel's number */
	PERFMON_TARGET_KIND_PROCESS /* id: of the process (or of a thread of it); 0: the
				* calling one; all its threads, now and later */
};

/* Flags of a thread or process as target. */
#define PERFMON_TARGET_CHILDREN                                                          \
	1u /* count what it creates from now on, too; of a process, the child processes  \
	    * that are there, and theirs, as well */
#define PERFMON_TARGET_APART                                                             \
	2u /* and its own counts apart from theirs: PERFMON_READ_OWN. Every    \
	    * event is opened twice */
#define PERFMON_TARGET_ON_EXEC                                                           \
	4u /* the first start leaves it to the thread's next execve(2) to begin: what    \
	    * is before it is not counted */

/* An element of a vector of targets. */
struct perfmon_target {
	uint32_t kind; /* enum perfmon_target_kind */
	uint32_t flags;
	int32_t id;
	uint32_t reserved; /* 0 */
};

/**
 * perfmon_session_attach() - opens the session's events on one target without flags,
 * stopped: KIND is an enum perfmon_target_kind, ID as said there. One system call for
 * each event, one or two for each group, and on the calling thread one for each page
 * that lets it read a counter from user space; re-attaching with unchanged events does
 * nothing beside these. The caller need not run on a CPU that is a target.
 *
 * Return: 0, or with PERFMON_SESSION_PARTIAL the number of counters that were refused,
 * or
 * -EINVAL: an unknown kind, one that does not go with the session's scope, or a
 *	negative ID
 * -EBUSY: it is attached
 * - what perf_event_open(2) gives, among it (and also of a session without counters)
 *	-ESRCH: no such thread, and -ENODEV: the CPU is not online
 * -EACCES, -EPERM: not permitted
 * -ENOENT, -EOPNOTSUPP, -ENODEV: this machine does not count the event
 * -EMFILE: out of descriptors. perfmon_session_message() says which setting refused it
 *
 * For a process also what perfmon_session_attach_targets() gives.
 */
int perfmon_session_attach(struct perfmon_session *session, uint32_t kind, int32_t id);

/* Flags of attaching to several targets. */
#define PERFMON_ATTACH_ADD 1u /* to a session that is attached already, and stopped */

/**
 * perfmon_session_attach_targets() - attaches to all the COUNT elements of TARGETS at
 * once: each counter counts on all of them, and its value is their sum (as hwpmc's process
 * scope has several targets). All or none. With PERFMON_ATTACH_ADD in FLAGS they are added
 * to those that an attached and stopped session has (hwpmc's rule: perfmon2 has one
 * target); a detached one is attached. @element_size: sizeof(targets[0]).
 *
 * System calls and errors are those of perfmon_session_attach() for each target, and
 * -EEXIST: one is there twice, or the session is attached to it already
 * -E2BIG: more than PERFMON_SESSION_TARGETS_MAX
 * -EINVAL: also for several targets of an exclusive session, or an unknown flag
 * -EOPNOTSUPP: what the target creates cannot notify, leave other counters' values in
 *	samples, or switch sets (PERFMON_TARGET_CHILDREN), nor can a process's overflows be
 *	noticed
 *
 * Allocates for the second and further targets.
 *
 * PERFMON_TARGET_ON_EXEC is for a program that was forked and has not been executed yet:
 * attach, start, let it go on. The kernel begins at the execve(2) itself
 * (perf_event_attr's enable_on_exec), without a race. It can't be told to forget it:
 * start before the exec, stop after it. Any later start is a common one. -EINVAL: the
 * calling thread, whose exec would end the session, or several event sets without
 * PERFMON_SESSION_ROTATE. Not for processes.
 *
 * PERFMON_TARGET_KIND_PROCESS needs no help from the process and does not stop it: its
 * threads go on creating others meanwhile, and each is counted exactly once, from the
 * start on. Every event is open on each thread that was there, so that descriptors are
 * needed for all of them (-EMFILE says how many), and is inherited by those that come
 * later. Where it could not be told whether a new thread has inherited them, or child
 * processes may not be observed, the call succeeds, perfmon_session_message() says so
 * and the values are PERFMON_VALUE_UNCERTAIN. So are they without
 * PERFMON_TARGET_CHILDREN on kernels before Linux 5.13, which cannot keep child
 * processes that are created later from being counted. With PERFMON_TARGET_APART,
 * PERFMON_READ_OWN reads what the process counted itself, in all its threads
 * (-EOPNOTSUPP on these kernels). The session has lost the process when all of its
 * threads have ended, and with PERFMON_TARGET_CHILDREN those of the child processes that
 * were there at the attach: let a session live on its own target that should count what
 * outlives these. Programming an event anew attaches to the process anew. It allocates,
 * reads /proc, and may sleep (a second at most). Further errors: -ESRCH: there is no
 * such process, or it has ended; -EACCES, -EPERM; and -EXDEV: /proc is of another pid
 * namespace; -EINVAL: the session is PERFMON_SESSION_EXCLUSIVE; -EOPNOTSUPP: an event
 * that overflows, of which the kernel gives no records to others than the thread itself.
 */
int perfmon_session_attach_targets(struct perfmon_session *session,
				   const struct perfmon_target *targets, size_t count,
				   size_t element_size, uint32_t flags);

/**
 * perfmon_session_detach_target() - lets go of one target, in any state; the others go
 * on. KIND and ID as for perfmon_session_attach(). What was counted on it stays in the
 * values. With the last target the session is detached. 0; -EINVAL: the session is not
 * attached to it.
 */
int perfmon_session_detach_target(struct perfmon_session *session, uint32_t kind,
				  int32_t id);

/**
 * perfmon_session_start(), perfmon_session_stop() - one system call for each kernel
 * group, which for the hardware's events is one in all when the hardware takes them
 * together; before these, unless the session is the calling thread's own, those that
 * notice targets which have gone (see above). What runs between a stop and a start is not
 * counted.
 *
 * Return: 0, or
 * -EINVAL: the session is detached, or leaves samples that nothing takes
 *	(perfmon/sampling.h)
 * - what ioctl(2) gives (-EBADF, -ENOTTY: the program has closed the session's
 *	descriptors)
 *
 * A failed start leaves it stopped; a failed stop has stopped what could be.
 */
int perfmon_session_start(struct perfmon_session *session);
int perfmon_session_stop(struct perfmon_session *session);

/**
 * perfmon_session_detach() - stops, adds what was counted to the values, and closes the
 * session's descriptors, but for that of messages, if it was asked for, those of a log,
 * and those of the helper thread that these need (perfmon/overflow.h). (If the last
 * target goes by itself, those of the helper thread stay until this is called, or the
 * session is attached and detached again.) 0, also when nothing is attached; -EBADF: the
 * program had closed descriptors, and what they counted since the attach is lost; the
 * session is detached all the same.
 */
int perfmon_session_detach(struct perfmon_session *session);

/** perfmon_session_state() - an enum perfmon_state. No system call for the
 * calling thread's own session; else those that notice targets which have gone (see
 * above). */
int perfmon_session_state(struct perfmon_session *session);

/** perfmon_session_counters() - how many counters the session has. No system call. */
int perfmon_session_counters(struct perfmon_session *session);

/**
 * perfmon_session_message() - copies the sentence about the last call on SESSION, by
 * whatever thread, into BUFFER of SIZE bytes, if that call failed or went on with less:
 * what was asked, what refused it, what would help. "" if it did neither. This call itself,
 * perfmon_session_state(), perfmon_session_counters() and reads by perfmon/inline.h leave
 * the sentence as it is, and so do calls of a handler that cannot enter the session. BUFFER
 * may be NULL with SIZE 0. Works in a forked child. No system call, no allocation.
 *
 * The length of the whole sentence, as snprintf(3) returns it; -EINVAL: a NULL.
 */
int perfmon_session_message(const struct perfmon_session *session, char *buffer,
			    size_t size);

/* The description of a counter. */
struct perfmon_counter_info {
	size_t size;	  /* in: sizeof(struct perfmon_counter_info) */
	const char *name; /* of the event; until the counter is programmed anew */
	const char *unit; /* "" for a plain count; value * scale is in this unit */
	double scale;
	/* The encoding: of perf_event_attr, and of the first of several on hybrid
	 * CPUs. */
	uint32_t type;
	uint32_t events; /* kernel events behind it: one, or one for each core PMU */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	/* The hardware counter that it is on now, as the CPU numbers them for reads from
	 * user space (x86: rdpmc's argument; arm64: n of PMEVCNTRn_EL0, 31 for
	 * PMCCNTR_EL0), or -1. */
	int64_t hardware_counter;
	uint32_t width_bits; /* of the hardware counter, 0 if it is not known */
	uint32_t user_read;  /* 1: the attached thread reads it without a system call */
	uint32_t leader;    /* the counter that leads its kernel group; itself if alone */
	int32_t error;	    /* negative errno of the last attach that refused it, or 0 */
	int32_t page_error; /* why it has no page that can be read, or 0 */
	uint32_t reserved;
};

/**
 * perfmon_session_get_counter() - fills INFO, whose size field says how much of it
 * there is; what a newer program knows and this library does not must be zero, and stays
 * so. Which hardware counter it is on can change at every moment and is meant for the
 * attached thread itself. No system call, but on arm64 for a counter whose page grants
 * user reads: kernel.perf_user_access is read from a file, to tell whether they happen.
 *
 * Return: 0, or
 * -EINVAL: no such counter, or a size below the first version's
 * -E2BIG: something in the tail of a longer INFO
 */
int perfmon_session_get_counter(struct perfmon_session *session, uint32_t index,
				struct perfmon_counter_info *info);

/**
 * perfmon_recovery_install() - survives user access to counters being taken away while
 * they are read (kernel.perf_user_access set to 0 on arm64, /sys/devices/cpu/rdpmc on
 * x86). The instruction then faults (SIGILL, SIGSEGV) and the program dies, unless this
 * handler is there: it recognises this library's counter reads alone, makes the read in
 * progress and all later ones fall back to read(2) until counters are attached anew, and
 * hands any other fault to the handler that was there before. Never installed unasked; it
 * stays for the life of the process; call it after the program's own handlers are in
 * place. Any thread, any number of times.
 *
 * 0; -EOPNOTSUPP: not on this CPU; what sigaction(2) gives.
 */
int perfmon_recovery_install(void);

#ifdef __cplusplus
}
#endif
#endif
