/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table over many runs: a row for each region, a column for each value of a note of the runs. */
#ifndef PM_CLI_REPORT_BY_H
#define PM_CLI_REPORT_BY_H

#include "cli/common/common.h"
#include "core/report/report.h"

/*
 * Reports the profiles of SOURCES by the note KEY, as HOW says: in text, CSV or JSON, to the file OUTPUT,
 * or to standard output if that is NULL. Returns an exit status, after messages.
 */
int cli_report_by(const struct cli_sources *sources, const char *key,
		  const struct pm_report_options *how, const char *output);

#endif
