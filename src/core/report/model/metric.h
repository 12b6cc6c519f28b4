/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metrics: named formulas over events, such as "ipc = instructions / cycles". Here they
 * are read and computed; which column of a report an event's name means is the report's
 * business (metric_columns.c). doc/metrics.md has the language.
 */
#ifndef PM_REPORT_METRIC_H
#define PM_REPORT_METRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "core/settings/options.h"
#include "core/text/diag.h"

/* One text may define so many metrics; one formula may name so many different inputs, have
 * so many steps and open parentheses, and hold so many values at a time. */
#define PM_METRICS_MAX	   256
#define PM_METRIC_INPUTS   128
#define PM_METRIC_STEPS	   16384
#define PM_METRIC_DEPTH	   64
#define PM_METRIC_STACK	   256
#define PM_METRIC_TEXT_MAX 65536

enum pm_metric_kind {
	PM_METRIC_EVENT,
	PM_METRIC_TIME,	  /* time_ns */
	PM_METRIC_ON_CPU, /* on_cpu_ns */
	PM_METRIC_VISITS, /* visits */
	PM_METRIC_THREADS /* threads */
};

struct pm_metric_input {
	enum pm_metric_kind kind;
	char *name;
};

enum pm_metric_what {
	PM_STEP_NUMBER,
	PM_STEP_INPUT,
	PM_STEP_ADD,
	PM_STEP_SUBTRACT,
	PM_STEP_MULTIPLY,
	PM_STEP_DIVIDE,
	PM_STEP_NEGATE,
	PM_STEP_MODULO, /* of whole numbers, as the bits of the next three */
	PM_STEP_OR,
	PM_STEP_XOR,
	PM_STEP_AND,
	PM_STEP_LESS, /* 1 or 0 */
	PM_STEP_GREATER,
	PM_STEP_MIN,
	PM_STEP_MAX,
	PM_STEP_RATIO, /* a quotient, and 0 if the divisor is 0 */
	PM_STEP_CHOOSE /* of A, CONDITION and B: A unless CONDITION is 0 */
};

/* A step of a formula in postfix order. */
struct pm_metric_step {
	enum pm_metric_what what;
	uint32_t input;
	double number;
};

struct pm_metric {
	char *region; /* a pattern (fnmatch(3)) of regions that it is for alone; NULL: all */
	char *name;	     /* in JSON and CSV */
	const char *heading; /* in text, and what it means: of built-in ones, else NULL */
	const char *meaning;
	char *unit;    /* "" for a plain number */
	char *formula; /* as it was written, without blanks around it */
	uint32_t input_count;
	struct pm_metric_input *inputs;
	uint32_t step_count;
	struct pm_metric_step *steps;
};

struct pm_metrics {
	uint32_t count;
	struct pm_metric metrics[];
};

/*
 * pm_metrics_parse() - the metrics of TEXT behind the built-in ones. NULL or "": these
 * alone. Several built-in metrics may share a name: the first whose events are counted
 * stands for all. A metric of TEXT takes the place of those before it that have its name.
 *
 * 0; -EINVAL: a mistake in TEXT, which DIAG quotes with its place; -E2BIG: beyond a limit
 * above; what a file refused with; -ENOMEM. *OUT is untouched then; else free it with
 * pm_metrics_free(). Allocates, and reads the files that TEXT names.
 */
int pm_metrics_parse(const char *text, struct pm_metrics **out, struct pm_diag *diag);
void pm_metrics_free(struct pm_metrics *metrics); /* NULL is accepted */

/* Returns true if A and B stand in one column: they have one name, or one's is the other's heading. */
bool pm_metric_is_same(const struct pm_metric *a, const struct pm_metric *b);

/* Those of PERFMON_METRICS; NULL, and a note in OPTIONS, if there is a mistake in them. */
struct pm_metrics *pm_metrics_of(struct pm_options *options);

/* Returns how many operands WHAT has, which is not an operation if it has none. */
uint32_t pm_metric_operands(enum pm_metric_what what);

/* Returns what the operation WHAT makes of its OPERANDS, or NAN: no value. */
double pm_metric_step_value(enum pm_metric_what what, const double *operands);

/*
 * pm_metric_value() - what METRIC comes to with VALUES for its inputs, in their order.
 * False if it divides by zero or leaves the range of a double, but in a branch that is not
 * taken; *VALUE is untouched then.
 */
bool pm_metric_value(const struct pm_metric *metric, const double *values, double *value);

#endif
