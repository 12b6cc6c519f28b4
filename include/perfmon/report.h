/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports: what regions have counted so far, as text, JSON or CSV. When a process exits
 * its report is written without any call (environment variables PERFMON_OUTPUT and
 * PERFMON_FORMAT); these calls write one at any other time.
 */
#ifndef PERFMON_REPORT_H
#define PERFMON_REPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum perfmon_report_format {
	PERFMON_REPORT_FORMAT_DEFAULT = 0, /* what PERFMON_FORMAT says, else text */
	PERFMON_REPORT_FORMAT_TEXT = 1,	   /* the call tree, aligned, for people */
	PERFMON_REPORT_FORMAT_FLAT = 2,	   /* the same by region */
	PERFMON_REPORT_FORMAT_JSON = 3,	   /* everything, in full precision */
	PERFMON_REPORT_FORMAT_CSV = 4	   /* a row per path */
};

/* Each thread's numbers, too, after those of all threads. Threads that have ended are
 * summed, unless PERFMON_THREADS=keep. */
#define PERFMON_REPORT_PER_THREAD 1u
/* Times and counts without what measuring added; see doc/report-formats.md. */
#define PERFMON_REPORT_SUBTRACT_BIAS 2u

/**
 * struct perfmon_report_options - how to write a report.
 *
 * SIZE is sizeof(struct perfmon_report_options); the rest may be zero. Flags add to what
 * the environment asks for, as it was at the first region of the process: a later
 * setenv(3) changes nothing.
 */
struct perfmon_report_options {
	size_t size;
	uint32_t format; /* enum perfmon_report_format */
	uint32_t flags;	 /* PERFMON_REPORT_PER_THREAD and so on */
	/* "numa", "package", "core" and so on (perfmon/placement.h): the numbers of the
	 * threads of each such object of the machine, too, as PERFMON_LEVEL asks for;
	 * NULL: what that says. */
	const char *level;
	/* Room for one sentence that says why the call failed: "" if it did not, cut if it
	 * is longer. NULL: none is wanted. */
	char *message;
	size_t message_size;
};

/**
 * perfmon_report_write() - writes the report of this process to FD, which stays open.
 *
 * Regions go on meanwhile, in all threads; each row is consistent in itself. Visits that
 * have not ended are not in it, and marked. OPTIONS may be NULL. What else the
 * environment says (PERFMON_OUTPUT) does not matter here.
 *
 * Return: 0, or
 * -ENOENT: this process has not used a region yet
 * -EINVAL: a size below the first version's, an unknown format, flag or level
 * -E2BIG: an OPTIONS that is larger than this library's and has something in its
 *	tail
 * -ENOMEM
 * - what write(2) refused with
 *
 * Nothing is written in the cases before the last. SIGPIPE and SIGXFSZ are not raised.
 * A sentence says more (`message` of OPTIONS), but for a wrong size. Allocates and
 * enters the kernel; any thread, but no signal handler.
 */
int perfmon_report_write(int fd, const struct perfmon_report_options *options);

/**
 * perfmon_report_print() - writes the report where the one at exit will go: by
 * PERFMON_OUTPUT, stderr by default. An older file is replaced when the
 * report is whole.
 *
 * As perfmon_report_write(); 0 also with PERFMON_OUTPUT=none. A file that cannot be
 * written is not an error: the report goes to stderr and says so.
 */
int perfmon_report_print(const struct perfmon_report_options *options);

/**
 * perfmon_report_quiet() - no report when this process exits, unless its user asks for one
 * by PERFMON_OUTPUT, or starts it by `perfmon run`.
 *
 * For programs that are shipped with regions in them. -DPERFMON_QUIET has the same effect
 * on the regions of what is compiled with it, and suits libraries, too: this call silences
 * all regions of the process. Regions count as before, and the calls above write reports.
 *
 * May be called by any thread, also a signal handler, at any time, before the first region
 * and any number of times. It does not fail, allocate, or enter the kernel.
 */
void perfmon_report_quiet(void);

/**
 * perfmon_report_wanted() - whether this process would write a report if it exited now: 1
 * or 0.
 *
 * 0 as long as regions have not been armed, with PERFMON_OUTPUT=none, and where the program
 * is quiet and its user has not asked. As perfmon_report_quiet().
 */
int perfmon_report_wanted(void);

#ifdef __cplusplus
}
#endif
#endif
