/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The perfmon2 calls by their own names: the interface that Stephane Eranian proposed in
 * "perfmon2 syscall interface rationale v2" (linux-kernel, 3 July 2008), section 10, in
 * user space, on top of perfmon/session.h. Programs that follow that text compile against
 * this header alone:
 *
 *	struct pfarg_pmc pmc = {.reg_num = 0, .reg_value = 0x08};
 *	struct pfarg_pmd pmd = {.reg_num = 0};
 *	int fd = pfm_create_context(0);
 *
 *	pfm_write_pmcs(fd, &pmc, sizeof(pmc));
 *	pfm_write_pmds(fd, &pmd, sizeof(pmd));
 *	pfm_load_context(fd, 0, gettid());
 *	pfm_start(fd, 0);
 *	work();
 *	pfm_stop(fd, 0);
 *	pfm_read_pmds(fd, &pmd, sizeof(pmd));
 *	close(fd);
 *
 * Errors: as the system calls that they were to be, all calls return -1 and set errno,
 * unlike the rest of this library. On failure nothing has changed and nothing is written
 * to what arguments point to. pfm_message() says in a sentence what was wrong. Arguments
 * are checked in this order: descriptor, size, flags and reserved fields, state,
 * elements. Common to all calls that take a descriptor: EBADF: FD is not open; EINVAL: it
 * is not a session, an unknown flag is set, or a reserved field is not 0; ECHILD: the
 * session was created by another process (see below); ENOMEM. Common to all vectors,
 * whose SIZE is in bytes: EINVAL: it is 0 or no multiple of an element; E2BIG: more than
 * 1024 elements.
 *
 * The descriptor is an ordinary one, not closed by exec: dup(2), fork(2), poll(2),
 * select(2), epoll(7), O_NONBLOCK, and O_ASYNC with F_SETSIG and F_SETOWN work on it. The
 * session ends when the last descriptor for it has been closed, in whatever process that
 * was; the library notices on a thread of its own, which it starts with the first session
 * and which ends with the last, so that the kernel's counters are gone a moment after the
 * close and not within it. A load waits for that: it finds the counters free of all
 * sessions of its process that were closed before. When the process that created it ends or executes another
 * program, so does the session. A child by fork(2) may hold the descriptor, poll it and
 * read messages from it; all other calls fail there with ECHILD. A process that ends by
 * pthread_exit() of its last thread while it has a session open ends a second or two later.
 * A program that closes all descriptors, those of the library as well, ends its sessions;
 * the library then writes to none of these numbers and closes none.
 *
 * Registers: a session has 256 PMCs and 256 PMDs in each event set, all of which are
 * software: PMC n says what PMD n counts, in 64 bits. They are put onto the hardware when
 * the session is loaded, where the kernel multiplexes them if they do not fit. Writing PMDs and PMCs
 * is independent: any order, any number of times, loaded or not (PMCs: not while
 * running). A PMD whose PMC was never written keeps what was written to it, at first 0.
 * At most 256 PMCs may be programmed in all sets of a session together (E2BIG).
 *
 * A PMC's value is the event encoding of the core PMU as the vendor's manual has it, what
 * perfmon/event.h takes as `rHEX`. 0 without flags is the quiescent value: nothing is
 * counted. Hardware events count in user mode alone unless PFM_PMCFL_KERNEL is set,
 * software events in all modes where the caller may count the kernel; on x86 bits 16 (USR)
 * and 17 (OS) of the value, if any of them is set, say which modes are counted, and bits
 *20 (INT) and 22 (EN) are ignored.
 *
 * Threads: any thread may make any call at any time; calls on one session wait for each
 * other. Signals are blocked within a call, so that one never interrupts it. In a signal
 * handler these may be called: pfm_start(), pfm_stop(), pfm_read_msg(), and
 * pfm_read_pmds() and pfm_write_pmds() with at most 16 elements, of PMDs that have been
 * written before and with what overflows lead to unchanged: they do not allocate.
 *
 * Every call makes four system calls (to find the session and about signals) beside those
 * of what it is built on, named below.
 */
#ifndef PERFMON_PERFMON2_H
#define PERFMON_PERFMON2_H

#include <linux/types.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 64-bit words in a set of registers. */
#define PFM_PMD_BV 4
#define PFM_PMC_BV 4

/* --- sessions ----------------------------------------------------------------------- */

#define PFM_FL_NOTIFY_BLOCK 0x01 /* block task on user notifications */
#define PFM_FL_SYSTEM_WIDE  0x02 /* create a system wide context: of one CPU */
#define PFM_FL_SMPL_FMT	    0x04 /* use sampling format */
#define PFM_FL_OVFL_NO_MSG  0x08 /* no overflow msgs */

/**
 * pfm_create_context() - creates a session and returns its descriptor:
 *
 *	int pfm_create_context(int flags);
 *	int pfm_create_context(int flags, const char *smpl_name, void *smpl_arg,
 *			       size_t arg_size);
 *
 * It has event set 0, all registers are 0, and no event is open. It is a macro so that
 * sampling arguments without PFM_FL_SMPL_FMT can be seen; the function of that name,
 * (pfm_create_context)(...), cannot, and looks at them with that flag only.
 *
 * PFM_FL_NOTIFY_BLOCK: a thread of this process that overflows with notification waits
 * until the session is restarted, stopped, detached or closed. For this the library takes
 * a real-time signal without a handler, as perfmon_overflow_block() does.
 * PFM_FL_OVFL_NO_MSG: such overflows mask the session but send no message.
 *
 * PFM_FL_SMPL_FMT: samples go to the format SMPL_NAME (perfmon/format.h), which is given
 * the ARG_SIZE bytes at SMPL_ARG: for "default", which keeps them in memory and notifies
 * when that is full, a struct perfmon_buffer_argument, or none.
 *
 * EINVAL: an unknown flag, PFM_FL_NOTIFY_BLOCK with PFM_FL_SYSTEM_WIDE, a sampling
 * argument that is not 0 without PFM_FL_SMPL_FMT, or no name with it; ENOENT: no such
 * format, or what it gives; EBUSY: no signal is free for PFM_FL_NOTIFY_BLOCK; ENOMEM;
 * EMFILE, ENFILE: out of descriptors; EAGAIN: out of threads; ECHILD: in a child that came
 * about without fork(2).
 */
int pfm_create_context(int flags, ...);
int pfm_create_context_args(int flags, const char *smpl_name, void *smpl_arg,
			    size_t arg_size);
#define pfm_create_context(...) PFM_CREATE_CONTEXT_(__VA_ARGS__, 0, 0, 0, 0)
#define PFM_CREATE_CONTEXT_(flags, smpl_name, smpl_arg, arg_size, ...)                   \
	pfm_create_context_args(flags, smpl_name, smpl_arg, arg_size)

/**
 * pfm_load_context(fd, 0, target) - attaches the session, stopped: to the thread TARGET,
 * as gettid(2) has it, or with PFM_FL_SYSTEM_WIDE to the CPU with the kernel's number
 * TARGET (the caller need not run there, as it had to). The text has no place for the
 * target: here it is an int, the first variable argument.
 *
 * EINVAL: also a thread number below 1, a CPU number below 0; EBUSY: it is attached;
 * ESRCH: no such thread; and what perfmon_session_attach() gives, whose system
 * calls it makes: ENOENT, EOPNOTSUPP, ENODEV: this machine does not count a programmed
 * event; EACCES, EPERM: not permitted; EOPNOTSUPP also: a thread of another process with
 * PFM_FL_NOTIFY_BLOCK.
 */
int pfm_load_context(int fd, int flags, ...);

/** pfm_unload_context(fd, 0) - stops and detaches; values are kept. No effect on a
 * session that is not attached. As perfmon_session_detach(). */
int pfm_unload_context(int fd, int flags, ...);

#define PFM_STARTFL_SET	    0x1 /* starting event set is specified */
#define PFM_STARTFL_RESTART 0x2 /* restart after notification */

/**
 * pfm_start(fd, 0), pfm_start(fd, PFM_STARTFL_SET, set) - starts an attached session; no
 * effect on a running one, except that it switches to SET (an int). Without
 * PFM_STARTFL_SET it starts with the set that was active last, at first with the lowest.
 * A session that a notification has masked goes on with PFM_STARTFL_RESTART alone, and
 * with SET if that is given, too. As perfmon_session_start(), perfmon_set_start(),
 * perfmon_overflow_restart().
 *
 * EINVAL: also a detached session, an unknown set; EBUSY: PFM_STARTFL_RESTART, but no
 * notification has masked the session.
 */
int pfm_start(int fd, int flags, ...);

/** pfm_stop(fd, 0) - stops; no effect on a stopped session. EINVAL: also a detached one.
 * As perfmon_session_stop(). */
int pfm_stop(int fd, int flags, ...);

/**
 * pfm_message() - copies what the last call on FD had to say if it failed, a sentence, or
 * "" if it did not, into the SIZE bytes of TEXT, cut if it is longer. Its length. Not
 * in the text of perfmon2. EINVAL: also TEXT is NULL or SIZE 0.
 */
int pfm_message(int fd, char *text, size_t size);

/* --- registers ---------------------------------------------------------------------- */

struct pfarg_pmc {
	__u16 reg_num;		/* which register */
	__u16 reg_set;		/* event set for this register */
	__u32 reg_flags;	/* REGFL flags */
	__u64 reg_value;	/* pmc value */
	__u64 reg_reserved2[4]; /* for future use */
};

#define PFM_PMCFL_NO_EMUL64 0x1 /* disable 64-bit emulation */

/* Flags of this library. The first three, of which at most one is set, say that reg_value
 * is no encoding of the core PMU. */
#define PFM_PMCFL_SOFTWARE                                                               \
	0x10000 /* reg_value: a PERF_COUNT_SW_ of perf_event_open(2)                     \
		 */
#define PFM_PMCFL_GENERIC                                                                \
	0x20000 /* reg_value: a PERF_COUNT_HW_ of perf_event_open(2)                     \
		 */
#define PFM_PMCFL_WRITES                                                                 \
	0x40000 /* reg_value: an address, a multiple of 8; counts writes                 \
		 * to the 8 bytes there */
#define PFM_PMCFL_KERNEL 0x80000 /* count in kernel mode, too */

struct pfarg_pmd {
	__u16 reg_num;			  /* which register */
	__u16 reg_set;			  /* event set for this register */
	__u32 reg_flags;		  /* REGFL flags */
	__u64 reg_value;		  /* pmd value */
	__u64 reg_long_reset;		  /* reset after overflow+notification */
	__u64 reg_short_reset;		  /* reset after overflow */
	__u64 reg_last_reset_val;	  /* PMD last used reset value */
	__u64 reg_ovfl_switch_cnt;	  /* #overflows before switch */
	__u64 reg_reset_pmds[PFM_PMD_BV]; /* bitmask of PMD to reset on ovfl */
	__u64 reg_smpl_pmds[PFM_PMD_BV];  /* bitmask of PMD to record in sample */
	__u64 reg_smpl_eventid;		  /* opaque event identifier (Oprofile) */
	__u64 reg_random_mask;		  /* random value range */
	__u32 reg_reserved2[8];		  /* for future use */
};

#define PFM_PMDFL_SMPL	      0x1 /* pmd used for sampling */
#define PFM_PMDFL_SWITCH      0x2 /* pmd used in overflow set switching */
#define PFM_PMDFL_OVFL_NOTIFY 0x4 /* send notification on event */
#define PFM_PMDFL_RANDOM      0x8 /* randomize value after event */

/**
 * pfm_smpl_buffer() - the memory of the session's format, and its size in *SIZE (may be
 * NULL): for "default" a struct perfmon_buffer. It is the format's, and there until the
 * session ends. In the place of the mmap(2) of FD that perfmon2 had. As
 * perfmon_sampling_buffer(). NULL on failure: EINVAL also: there is none.
 */
const void *pfm_smpl_buffer(int fd, size_t *size);

/**
 * pfm_write_pmcs() - programs the PMCs that the SIZE bytes of REQ name. PMDs keep their
 * values. The same value again costs no system call. As perfmon_session_program().
 *
 * EINVAL: also a register or set that does not exist, a value that its flag does not
 * have; EBUSY: the session is running; E2BIG: also more than 256 programmed PMCs;
 * EOPNOTSUPP: PFM_PMCFL_NO_EMUL64 (the kernel hides the hardware's width); for a loaded
 * session what pfm_load_context() gives.
 */
int pfm_write_pmcs(int fd, struct pfarg_pmc *req, size_t size);

/**
 * pfm_write_pmds() - sets PMDs and what their overflows lead to, which is when 64 bits
 * overflow: a PMD written to -N overflows after N events, at which it is set to
 * reg_short_reset, or with PFM_PMDFL_OVFL_NOTIFY to reg_long_reset by the restart. The
 * PMDs of its set in reg_reset_pmds are set along with it, to reset values of their own,
 * 0 if they have none. PFM_PMDFL_RANDOM makes periods longer, by a number within
 * reg_random_mask. With PFM_PMDFL_SWITCH the reg_ovfl_switch_cnt-th overflow goes on to
 * the next event set, if its own has PFM_SETFL_OVFL_SWITCH. With PFM_PMDFL_SMPL each
 * overflow leaves a sample, with reg_smpl_eventid and the values of the PMDs of its set
 * in reg_smpl_pmds. Fields without their flag are not looked at. As
 * perfmon_session_write() and perfmon_overflow_program().
 *
 * In any state; EBUSY: the session is running or masked, and what overflows lead to is
 * not what was written before; EINVAL: also a register or set that does not exist,
 * PFM_PMDFL_SWITCH with a count of 0, PFM_PMDFL_SMPL in a session without a format;
 * EOPNOTSUPP: overflows of an event that several core PMUs count; for a loaded session
 * what pfm_load_context() gives. The first with PFM_PMDFL_OVFL_NOTIFY makes a helper
 * thread (EMFILE, EAGAIN).
 */
int pfm_write_pmds(int fd, struct pfarg_pmd *req, size_t size);

/**
 * pfm_read_pmds() - fills reg_value and reg_last_reset_val of the SIZE bytes of PMDS, in
 * any state; reg_flags may be what was written. As perfmon_session_read(). EINVAL: also a
 * register or set that does not exist.
 */
int pfm_read_pmds(int fd, struct pfarg_pmd *pmds, size_t size);

/* --- event sets --------------------------------------------------------------------- */

struct pfarg_setdesc {
	__u16 set_id;	     /* which set */
	__u16 set_reserved1; /* for future use */
	__u32 set_flags;     /* SETFL flags */
	__u64 set_timeout;   /* switch timeout in nsecs */
	__u64 reserved[6];   /* for future use */
};
#define pfm_setdesc pfarg_setdesc /* the text spells it both ways */

#define PFM_SETFL_OVFL_SWITCH 0x01 /* enable switch on overflow */
#define PFM_SETFL_TIME_SWITCH 0x02 /* enable switch on timeout */

struct pfarg_setinfo {
	__u16 set_id;			  /* which set */
	__u16 set_reserved1;		  /* for future use */
	__u32 set_flags;		  /* out: SETFL flags */
	__u64 set_ovfl_pmds[PFM_PMD_BV];  /* out: last ovfl PMDs */
	__u64 set_runs;			  /* out: #times the set was active */
	__u64 set_timeout;		  /* out: eff timeout (nsecs) */
	__u64 set_act_duration;		  /* out: time set was active in nsecs */
	__u64 set_avail_pmcs[PFM_PMC_BV]; /* out: available PMCs */
	__u64 set_avail_pmds[PFM_PMD_BV]; /* out: available PMDs */
	union {
		/* out: leftover of it, when last active. Not in the text, which has one
		 * field for both times: it takes the first of six that are reserved there. */
		__u64 set_leftover;
		__u64 set_reserved3[6]; /* for future use, but for the first */
	};
};
#define pfm_setinfo pfarg_setinfo

/**
 * pfm_create_evtsets() - makes event sets, 0 to 65535, or changes the properties of those
 * that are there, whose registers are kept. Only while detached. With
 * PFM_SETFL_TIME_SWITCH the next set has its turn after set_timeout nanoseconds, of CPU
 * time for a thread; it is rounded, and the effective value is stored in SETS. Without
 * the flag it is not looked at. As perfmon_set_create().
 *
 * EINVAL: also a time-out that cannot be; EBUSY: the session is attached; E2BIG: also
 * more than 256 sets.
 */
int pfm_create_evtsets(int fd, struct pfarg_setdesc *sets, size_t size);

/**
 * pfm_delete_evtsets() - deletes the sets with the numbers in SETS (all else in it is
 * ignored) and their registers. Only while detached. One set always stays. As
 * perfmon_set_delete(). EINVAL: also an unknown set, one named twice, or all there are;
 * EBUSY: the session is attached.
 */
int pfm_delete_evtsets(int fd, struct pfarg_setdesc *sets, size_t size);

/**
 * pfm_getinfo_evtsets() - fills the elements of INFO for the sets that they name, in any
 * state. A register is available if it is programmed or could be. As
 * perfmon_set_get_info(). EINVAL: also an unknown set.
 */
int pfm_getinfo_evtsets(int fd, struct pfarg_setinfo *info, size_t size);

/* --- messages ----------------------------------------------------------------------- */

#define PFM_MSG_OVFL 1 /* an overflow happened */
/* Not in the text, but in what it was written about: the thread has ended, the CPU is
 * offline. Nothing else is in such a message. */
#define PFM_MSG_END 2

struct pfarg_ovfl_msg {
	__u32 msg_type;			 /* message type: PFM_MSG_OVFL */
	__u32 msg_ovfl_pid;		 /* process id */
	__u16 msg_active_set;		 /* active set at overflow */
	__u16 msg_ovfl_cpu;		 /* cpu of PMU interrupt */
	__u32 msg_ovfl_tid;		 /* thread id */
	__u64 msg_ovfl_ip;		 /* IP on PMU intr */
	__u64 msg_ovfl_pmds[PFM_PMD_BV]; /* overflowed PMDs */
};

union pfarg_msg {
	__u32 type;
	struct pfarg_ovfl_msg pfm_ovfl_msg;
};
typedef union pfarg_msg pfarg_msg_t;

/**
 * pfm_read_msg() - read(2) of messages from FD. A session with a PMD that notifies sends
 * one for the PMDs that overflow at once, and one at the end of what it is attached to.
 * EINVAL if SIZE is 0 or no multiple of sizeof(union pfarg_msg). Otherwise as many whole
 * messages as are there and fit, in bytes; it waits for the first, or EAGAIN with
 * O_NONBLOCK; EINTR; EFAULT. Works in a forked child. A system call for each message, and
 * one more if there is room. Not in the text of perfmon2.
 *
 * A bare read(2) takes one message, whatever its size: the first bytes of it if the size is
 * less, and the rest of that message is lost. What is read next is a whole message again.
 */
ssize_t pfm_read_msg(int fd, union pfarg_msg *messages, size_t size);

#ifdef __cplusplus
}
#endif
#endif
