/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The perfmon2 calls as section 9 of "perfmon2 syscall interface rationale v2"
 * (linux-kernel, 3 July 2008) has them, "current perfmon2 interface". Section 10 of that
 * text, which perfmon/perfmon2.h follows, gives most of them the same names and other
 * arguments. Programs that follow section 9 compile against this header alone:
 *
 *	struct pfarg_ctx ctx = {.flags = 0};
 *	struct pfarg_pmc pmc = {.reg_num = 0, .reg_value = 0x08};
 *	struct pfarg_pmd pmd = {.reg_num = 0};
 *	struct pfarg_load load = {.target = gettid()};
 *	int fd = pfm_create_session(&ctx, NULL, NULL, 0);
 *
 *	pfm_write_pmcs(fd, &pmc, 1);
 *	pfm_write_pmds(fd, &pmd, 1);
 *	pfm_load_context(fd, &load);
 *	pfm_start(fd);
 *	work();
 *	pfm_stop(fd);
 *	pfm_read_pmds(fd, &pmd, 1);
 *	close(fd);
 *
 * The names are macros for functions and structures with "section9" in their own names,
 * so that one program may have files of both kinds. A file that includes this header has
 * section 9's calls, also when it includes perfmon/perfmon2.h.
 *
 * Sessions are those of perfmon/perfmon2.h, and so is what is said there of errors,
 * descriptors, registers, threads and signal handlers: all calls return -1 and set errno
 * on failure, nothing has changed then, and pfm_message() says in a sentence why.
 * Vectors are given by the number N of their elements: EINVAL: it is below 1; E2BIG: it
 * is above 1024. All that is reserved must be 0 (EINVAL), so clear structures first; the
 * text leaves the length of the reserved fields open.
 */
#ifndef PERFMON_PERFMON2_SECTION9_H
#define PERFMON_PERFMON2_SECTION9_H

#include <linux/types.h>
#include <perfmon/perfmon2.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PFM_CTX_SYSTEM_WIDE PFM_FL_SYSTEM_WIDE /* a session of one CPU */

#define pfarg_ctx  pfarg_section9_ctx
#define pfarg_pmc  pfarg_section9_pmc
#define pfarg_pmd  pfarg_section9_pmd
#define pfarg_load pfarg_section9_load

struct pfarg_section9_ctx {
	__u32 flags; /* PFM_CTX_SYSTEM_WIDE, PFM_FL_NOTIFY_BLOCK, PFM_FL_OVFL_NO_MSG */
	__u32 reserved1;
	__u64 reserved[7]; /* for future use */
};

struct pfarg_section9_pmc {
	__u16 reg_num;	 /* which register */
	__u64 reg_value; /* pmc value */
	__u32 reg_flags; /* not in the text: PFM_PMCFL_ of perfmon/perfmon2.h, or 0 */
	__u32 reserved1;
	__u64 reserved[4]; /* for future use */
};

struct pfarg_section9_pmd {
	__u16 reg_num;	   /* which register */
	__u64 reg_value;   /* pmd value */
	__u64 reserved[4]; /* for future use */
};

struct pfarg_section9_load {
	__u32 target; /* thread or CPU */
	__u32 reserved1;
	__u64 reserved[4]; /* for future use */
};

#define pfm_create_session pfm_section9_create_session
#define pfm_write_pmcs	   pfm_section9_write_pmcs
#define pfm_write_pmds	   pfm_section9_write_pmds
#define pfm_load_context   pfm_section9_load_context
#define pfm_unload_context pfm_section9_unload_context
#define pfm_start	   pfm_section9_start
#define pfm_stop	   pfm_section9_stop
#define pfm_read_pmds	   pfm_section9_read_pmds

/**
 * pfm_create_session(ctx, smpl_name, smpl_arg, arg_size) - creates a session for a
 * thread, or with PFM_CTX_SYSTEM_WIDE for a CPU, and returns its descriptor. With a
 * SMPL_NAME samples go to that format, else the last three are 0. As pfm_create_context()
 * of perfmon/perfmon2.h. EINVAL: also CTX is NULL, or PFM_FL_SMPL_FMT is set: here the
 * name says so.
 */
int pfm_section9_create_session(const struct pfarg_section9_ctx *ctx,
				const char *smpl_name, void *smpl_arg, size_t arg_size);

/** pfm_write_pmcs(fd, pmcs, n) - programs the N PMCs. As that of perfmon/perfmon2.h, in
 * event set 0. */
int pfm_section9_write_pmcs(int fd, struct pfarg_section9_pmc *pmcs, int n);

/** pfm_write_pmds(fd, pmds, n) - sets the N PMDs, whose overflows lead to nothing. As
 * that of perfmon/perfmon2.h, in event set 0. */
int pfm_section9_write_pmds(int fd, struct pfarg_section9_pmd *pmds, int n);

/**
 * pfm_load_context(fd, load) - attaches the session, stopped: to the thread load->target,
 * as gettid(2) has it, or to the CPU with the kernel's number load->target, on which the
 * caller must be running. As that of perfmon/perfmon2.h. EINVAL: also LOAD is NULL, or
 * the caller is not running on the CPU.
 */
int pfm_section9_load_context(int fd, const struct pfarg_section9_load *load);

/** pfm_unload_context(fd) - stops and detaches; values are kept. */
int pfm_section9_unload_context(int fd);

/** pfm_start(fd) - starts an attached session. EINVAL: also a detached one. */
int pfm_section9_start(int fd);

/** pfm_stop(fd) - stops. EINVAL: also a detached session. */
int pfm_section9_stop(int fd);

/** pfm_read_pmds(fd, pmds, n) - fills reg_value of the N PMDs, in any state. */
int pfm_section9_read_pmds(int fd, struct pfarg_section9_pmd *pmds, int n);

#ifdef __cplusplus
}
#endif
#endif
