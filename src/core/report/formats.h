/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writers of the formats, for report.c. Each returns 0 or -ENOMEM; what the sink says
 * stands in OUT. */
#ifndef PM_REPORT_FORMATS_H
#define PM_REPORT_FORMATS_H

#include "core/report/merge/merge.h"
#include "core/report/model/groups.h"
#include "core/report/output/json.h"
#include "core/report/report.h"
#include "core/report/table.h"

struct pm_report {
	const struct pm_snapshot *snapshot;
	const struct pm_report_options *options;
	const struct pm_report_model *model;
	const struct pm_report_tree *all; /* of all threads */
	const uint32_t *paths; /* of a merge: for the ranges of the nodes of ALL */
	struct pm_report_groups groups; /* of options->level; none: not asked for, or */
	struct pm_diag no_groups;	/* why there are none, a note more */
	struct pm_diag starved;		/* which event never counted, and one more */
};

int pm_report_text(const struct pm_report *report, struct pm_out *out);
int pm_report_json(const struct pm_report *report, struct pm_out *out);
int pm_report_csv(const struct pm_report *report, struct pm_out *out);

/* The lines above and below the tables of a text report. */
void pm_report_text_head(const struct pm_report *report, struct pm_out *out);
void pm_report_text_notes(const struct pm_report *report, struct pm_out *out);

/* The hottest path, in a line below the table. */
void pm_report_hottest_write(const struct pm_report_tree *tree, struct pm_out *out);
/* Writes "thread 12 (its name)". */
void pm_report_thread_write(const struct perfmon_profile_thread *record,
			    struct pm_out *out);
/* Writes what imbalance has cost, path by path: of the threads of TREE, or of the processes of a
 * merge. Returns 0 or -ENOMEM. */
int pm_report_imbalance(const struct pm_report *report, const struct pm_report_tree *tree,
			struct pm_out *out);
/* How the time of TREE is spread over threads, if some path has several. 0 or -ENOMEM. */
int pm_report_spread(const struct pm_report_tree *tree, struct pm_out *out);

/* How EVENT (NULL: the time, exclusive if FLAT) differs between the processes of a merge, as
 * pm_merge_range(), with what speaks against its number in all of them. */
struct pm_range pm_report_range(const struct pm_merge *merge, bool flat, uint32_t path,
				const struct pm_report_event *event);

/* The steps of paths (PERFMON_STEPS): in text the first and the slowest of each path; in JSON the member
 * "steps", with all of them. 0 or -ENOMEM. */
int pm_report_steps_text(const struct pm_report *report, struct pm_out *out,
			 struct pm_legend *legend);
int pm_json_steps(struct pm_json *j, const struct pm_report *report);
/* Writes the numbers of STEP's visits, "7" or "100-101", to NAME. */
void pm_report_step_name(const struct pm_snapshot_step *step, char name[50]);

/* The member "nodes": those of TREE, in JSON. */
void pm_json_nodes(struct pm_json *j, const struct pm_report *report,
		   const struct pm_report_tree *tree);

/* The tables of TREE, which is one of a merge's sum, over processes. 0 or -ENOMEM. */
int pm_report_ranks(const struct pm_report *report, const struct pm_report_tree *tree,
		    struct pm_out *out, struct pm_legend *legend);

/* The notes of the profile, of the model, and those of the options that are new. NULL
 * after the last. */
const char *pm_report_note(const struct pm_report *report, uint32_t i);

/* Visits that are in no node, and why; of all threads and the process. */
struct pm_lost {
	uint64_t count;
	const char *key;  /* in JSON */
	const char *text; /* NULL: told one by one */
};
#define PM_LOST 8
void pm_report_lost(const struct pm_snapshot *snapshot, struct pm_lost lost[PM_LOST]);

/* Visits that were left out on request, by enum perfmon_profile_left_out. */
struct pm_left_out {
	const char *key, *by; /* in JSON, and in text */
	uint64_t visits;
	uint64_t regions; /* 0: not known */
};
#define PM_LEFT_OUT PERFMON_PROFILE_LEFT_OUT_KINDS
void pm_report_left_out(const struct pm_snapshot *snapshot,
			struct pm_left_out out[PM_LEFT_OUT]);

#endif
