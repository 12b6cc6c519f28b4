/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formula of a metric, which metric.c cuts out of a text of metrics. */
#ifndef PM_REPORT_FORMULA_H
#define PM_REPORT_FORMULA_H

#include "core/report/model/metric.h"
#include "core/text/text.h"

/* Where a definition stands, for a message about a mistake in it. */
struct pm_metric_place {
	struct pm_diag *diag;
	struct pm_slice item; /* the definition */
	const char *file;     /* its file; NULL: none */
	unsigned int line;    /* in that file */
};

/* Says that WHAT is wrong at the character AT. Returns ERR. */
int pm_metric_error_at(const struct pm_metric_place *place, int err, const char *at,
		       const char *what);

bool pm_formula_letter(char c); /* may begin a name */
bool pm_formula_word(char c);	/* may continue it */

/* Reads the formula from FROM to the end of the definition into METRIC's inputs and steps,
 * also in part. Returns 0, or -EINVAL, -E2BIG or -ENOMEM with a message. */
int pm_formula_parse(const struct pm_metric_place *place, const char *from,
		     struct pm_metric *metric);

#endif
