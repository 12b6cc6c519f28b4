/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports: from a snapshot to text, JSON and CSV. doc/report-formats.md has the formats.
 *
 * Must hold: a number that may be wrong has its mark in every format, and text of strangers
 * goes through output/escape.h alone.
 */
#ifndef PM_REPORT_PRINT_H
#define PM_REPORT_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile/profile.h"
#include "core/report/model/metric.h"
#include "core/settings/options.h"
#include "core/text/diag.h"
#include "core/topology/topology.h"

struct pm_merge;

struct pm_report_options {
	enum pm_format format;
	bool per_thread;      /* each thread's tree too, after that of all threads */
	const char *level;    /* the tree of each of its objects, too; NULL: none */
	bool subtract_bias;   /* counts less what measuring itself counts */
	uint32_t top;	      /* text shows so many paths or regions; 0: all */
	unsigned int columns; /* of the terminal that text goes to; 0: it goes to none */
	const struct pm_metrics *metrics; /* NULL: the built-in ones */
	const struct pm_machine *machine; /* the profile's; NULL: not known */
	const struct pm_merge *merge;	  /* whose sum is reported; NULL: one profile */
	const char *const *notes;	  /* more sentences, after the profile's */
	uint32_t note_count;
};

/*
 * pm_report_write() - writes SNAPSHOT's report through SINK, which is given pieces of
 * text and returns 0 or a negative errno; the first error ends the report and is
 * returned. -ENOMEM if the report cannot be put together; nothing has been written then.
 * Does not depend on the locale. Allocates; any thread.
 */
int pm_report_write(const struct pm_snapshot *snapshot,
		    const struct pm_report_options *options,
		    int (*sink)(void *argument, const char *text, size_t size),
		    void *argument);

/* The same to a descriptor, by write(2). If that is a terminal, text fits its columns. */
int pm_report_write_fd(const struct pm_snapshot *snapshot,
		       const struct pm_report_options *options, int fd);

/*
 * pm_report_merge() - writes the report of MERGE, which has ended, where OPTIONS say; but
 * where they mean a file per rank, one file. As pm_report_at_exit().
 */
int pm_report_merge(const struct pm_merge *merge, const struct pm_options *options,
		    const struct pm_metrics *metrics);

/*
 * pm_report_at_exit() - writes the report where OPTIONS say. A path that cannot be
 * written gives a sentence in the report, which goes to stderr instead. FORKED: the
 * process is a forked child, whose file must not be its parent's: the pid is added to the
 * name unless the template has it. 0 or a negative errno, with DIAG.
 *
 * A file is replaced by a whole one or not at all. What cannot be written
 * there goes to stderr, also where stdout is full.
 */
int pm_report_at_exit(const struct pm_snapshot *snapshot,
		      const struct pm_options *options, const struct pm_metrics *metrics,
		      bool forked, struct pm_diag *diag);

#endif
