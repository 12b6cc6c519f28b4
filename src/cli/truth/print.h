/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report as text for people, and as JSON for bug reports. */
#ifndef PM_CLI_TRUTH_PRINT_H
#define PM_CLI_TRUTH_PRINT_H

#include "cli/truth/data.h"
#include "core/report/output/out.h"

void truth_print_text(const struct truth_report *report, struct pm_out *out);
/* Returns 0, or an error of listing the PMUs. */
int truth_print_json(const struct truth_report *report, struct pm_out *out);

#endif
