/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of perfmon export:
 *
 *   export.c     options, profiles, output; what a format does not have
 *   callgrind.c  Callgrind's format
 *   chrome.c     the Chrome trace format
 *   folded.c     folded stacks
 *   gzip.c       a stream as gzip's format
 *   pprof.c      pprof's format
 *   split.c      Caliper's json-split
 *   table.c      names and notes
 *   weight.c     the values of paths
 */
#ifndef PM_CLI_EXPORT_EXPORT_H
#define PM_CLI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/common.h"
#include "core/report/model/value.h"
#include "core/report/output/out.h"
#include "core/text/diag.h"

/* Linux numbers processes and threads up to 2^22. */
#define EXPORT_NO_NUMBER 10000000u

/* Returns the text of NAME below number ABOVE, as export_plain() writes it and cli_texts_add() returns it. */
struct cli_text *export_add_plain(struct cli_texts *table, uint32_t above,
				  const char *name);

/* A sink that writes to OUT in gzip's format, without compression: profiles are small. */
struct export_gzip {
	struct pm_out *out;
	uint32_t crc, size;
};
void export_gzip_begin(struct export_gzip *gzip, struct pm_out *out);
int export_gzip_print(void *argument, const char *text, size_t size);
void export_gzip_end(struct export_gzip *gzip);

/* A format knows this beyond one profile. */
struct export_job {
	uint32_t profiles;
	bool ranks;	   /* each profile is of another rank */
	uint64_t first_ns; /* when the first of them began */
	struct cli_texts table, notes;
	struct pm_out inner; /* to GZIP */
	struct export_gzip gzip;
	uint32_t columns;
	uint64_t *totals; /* of each column */
	uint32_t marks;	  /* of values that were written */
	bool any;	  /* rows */
};

/* Marks that formats tell: the others change no number by much. */
#define EXPORT_MARKS                                                                     \
	((1u << PM_MARKS) - 1 - (PM_MARK_RETRIED | PM_MARK_FALLBACK | PM_MARK_MIGRATED))

/* The possible meanings of a name as the value of folded stacks. */
struct export_weights {
	const char *
		name; /* NULL: time, or the first event of a profile of the Valgrind tool */
	struct pm_metrics *metrics; /* those of that name that can be weights: a copy */
	const char *formula;	    /* of a metric of that name; NULL: there is none */
};

/* Finds the weights with the name NAME, which may be NULL, among ALL metrics, which must
 * live as long: only the array of metrics is to be freed. Returns 0 or -ENOMEM. */
int export_weights_make(struct export_weights *weights, const struct pm_metrics *all,
			const char *name);

struct export_weight {
	enum { EXPORT_TIME, EXPORT_EVENT, EXPORT_METRIC } kind;
	uint32_t index; /* of the event or metric */
};

/* A profile to be exported. */
struct export_profile {
	const struct pm_snapshot *snapshot;
	const struct pm_report_model *model;
	const struct pm_report_tree *tree; /* of all threads, or of THREAD */
	const char *thread;		   /* its number and name; NULL: all */
	struct export_weight weight;	   /* of folded stacks */
	uint32_t number;		   /* from 0, among those that are exported */
	uint64_t delay_ns; /* after the begin of the first of all profiles */
	uint32_t pid;	   /* which no other profile has here */
	bool first;	   /* nothing was written before */
	/* About the folded stacks that were written. */
	uint32_t marks;	    /* marks that reports show */
	bool any, any_less; /* any lines; any values between 0 and 1 */
};

/* Adds the notes of PROFILE to JOB's, each once. Returns 0 or -ENOMEM. */
int export_notes_add(struct export_job *job, const struct export_profile *profile);

/* Finds the meaning of WEIGHTS in MODEL, which was made with their metrics. Returns 0, or
 * -ENOENT with a message if the profile has no such value or did not count it. */
int export_weight_find(const struct export_weights *weights,
		       const struct pm_report_model *model, struct export_weight *weight,
		       struct pm_diag *diag);

/* Returns a value of NODE: time in ns, counts without their scale. */
struct pm_value export_weigh(const struct pm_report_tree *tree, uint32_t node,
			     const struct export_weight *weight, bool exclusive);

/* Returns the same as a whole number, and 0 where it was not counted or is negative. Adds what
 * PROFILE tells about the values. */
uint64_t export_whole(struct export_profile *profile, const struct pm_report_tree *tree,
		      uint32_t node, const struct export_weight *weight, bool exclusive);

/*
 * The columns of the formats that have all values: time, unless MODEL is of an exact profile,
 * and the events that were not refused. export_column() sets WEIGHT to column C, and returns
 * its name, or NULL behind the last one.
 */
const char *export_column(const struct pm_report_model *model, uint32_t c,
			  struct export_weight *weight);

/*
 * Write a profile, or one of its threads, and the end of the last one. Return 0 or -ENOMEM; errors
 * of the sink are in OUT. Callgrind's format, pprof's and json-split have all columns of a profile,
 * which are those of all profiles.
 */
int export_chrome(struct pm_out *out, struct export_profile *profile,
		  struct export_job *job);
int export_chrome_end(struct pm_out *out, struct export_job *job);
int export_folded(struct pm_out *out, struct export_profile *profile,
		  struct export_job *job);
int export_callgrind(struct pm_out *out, struct export_profile *profile,
		     struct export_job *job);
int export_callgrind_end(struct pm_out *out, struct export_job *job);
int export_pprof(struct pm_out *out, struct export_profile *profile,
		 struct export_job *job);
int export_pprof_end(struct pm_out *out, struct export_job *job);
int export_split(struct pm_out *out, struct export_profile *profile,
		 struct export_job *job);
int export_split_end(struct pm_out *out, struct export_job *job);

/* Writes a name as plain text: control characters and bytes that are not UTF-8 as \xNN. An
 * empty one is "(no name)". */
void export_plain(struct pm_out *out, const char *name);

/* perfmon export. Takes its own name as argv[0] and returns the exit status. */
int cli_export(int argc, char **argv);

#endif
