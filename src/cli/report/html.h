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
	const char *path; /* of the output, as cli_output_begin() takes it */
	bool threads;	  /* the page has the times of each thread */
	struct cli_output output;
	bool begun, failed; /* the output */
	struct pm_out out;  /* to it, and its first error */
};

/*
 * Adds a profile, in the order of a merge's processes. OPTIONS are the report's. The output begins
 * with the first one, so that an older page stays if there is none. Returns false, after a message,
 * if it cannot begin.
 */
bool cli_html_add(struct cli_html *html, const struct pm_snapshot *snapshot,
		  const struct pm_report_options *options);
/*
 * Ends the page, if it has begun. SNAPSHOT is the only profile, or the sum of OPTIONS->merge. The
 * format is always JSON. ERR, if not 0, ends it before its report. Returns the exit status, after
 * a message.
 */
int cli_html_end(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options, int err);

#endif
