/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes profiles as one HTML page without other files. Inside of page.html, whose script
 * makes the rest of the page, are the JSON report of the profiles' sum and, for each
 * profile, the times of its paths in the process and in its threads.
 */
#ifndef PM_CLI_REPORT_HTML_H
#define PM_CLI_REPORT_HTML_H

#include "cli/common/common.h"
#include "core/report/report.h"

struct cli_html {
	struct cli_output *output;
	bool any; /* a profile has been added */
	int error;
};

/* Each returns 0 or the first error: -ENOMEM or that of OUTPUT. At least one profile must
 * be added before the end, in the order of a merge's processes. */
int cli_html_begin(struct cli_html *html, struct cli_output *output);
/* OPTIONS are the report's. With THREADS the page has the times of each thread. */
int cli_html_add(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options, bool threads);
/*
 * SNAPSHOT is the only profile, or the sum of OPTIONS->merge. The format is always JSON.
 */
int cli_html_end(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options);

#endif
