/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of perfmon truth: findings, each with a verdict and the figures behind it. */
#ifndef PM_CLI_TRUTH_DATA_H
#define PM_CLI_TRUTH_DATA_H

#include "cli/truth/decide.h"
#include "core/report/output/out.h"
#include "perfmon/info.h"

/* A figure of a finding: counts of a block, a cost, a width. */
struct truth_figure {
	char name[64];
	const char *unit; /* "": a count */
	double value;
	double least,
		most; /* VALUE should be between the two. NAN: the truth is not known */
	double lower, upper; /* quartiles of the repetitions; NAN: there were none */
};

#define TRUTH_FIGURES 24

enum truth_kind {
	TRUTH_EVENT,	/* an event of a PMU */
	TRUTH_SOFTWARE, /* an event of the kernel itself */
	TRUTH_CHECK,	/* how counters are read, shared and overflow */
	TRUTH_COST	/* what a read costs */
};

struct truth_finding {
	enum truth_kind kind;
	char name[128];
	enum truth_verdict verdict;
	double error;  /* with TRUTH_OFF */
	char why[400]; /* a sentence, or "" */
	size_t figure_count;
	struct truth_figure figures[TRUTH_FIGURES];
};

struct truth_report {
	size_t count;
	struct truth_finding *findings;
	struct perfmon_info machine;
};

/* Adds a finding, which is not judged yet. The pointer is valid until the next is added.
 * NULL without memory. */
struct truth_finding *truth_add(struct truth_report *report, enum truth_kind kind,
				const char *name);
void truth_free(struct truth_report *report);

/* Sets the verdict and its reason. */
__attribute__((format(printf, 3, 4))) void truth_say(struct truth_finding *finding,
						     enum truth_verdict verdict,
						     const char *format, ...);

/* Says that the event is not there, by the sentence with which it was refused. The name of
 * the event, which stands beside it, is left out. */
void truth_say_absent(struct truth_finding *finding, const char *sentence);

/* Adds a figure of which nothing but the value is known. A finding without room loses it;
 * the pointer is never NULL. */
struct truth_figure *truth_figure(struct truth_finding *finding, const char *name,
				  const char *unit, double value);

/* Adds the figure of ROW. KNOWN: with what should be true. */
void truth_figure_row(struct truth_finding *finding, const struct truth_row *row,
		      bool known);

/* Sets the verdict and the error of JUDGEMENT, with a reason if no block has one. */
void truth_conclude(struct truth_finding *finding,
		    const struct truth_judgement *judgement);

/* Returns the text of the verdict for people: "exact", "+2 %". TEXT has 32 bytes. */
const char *truth_verdict_text(const struct truth_finding *finding, char text[32]);

/* Returns whether anything is wrong. */
bool truth_report_is_bad(const struct truth_report *report);

/* text.c and json.c: for people, and for bug reports. Returns 0, or an error of listing the PMUs. */
void truth_print_text(const struct truth_report *report, struct pm_out *out);
int truth_print_json(const struct truth_report *report, struct pm_out *out);

#endif
