/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles as one HTML page, which needs nothing else: inside of page.html, whose script
 * makes the rest of it, stand the JSON report of their sum and, of each profile, the
 * times of its paths in the process and in its threads.
 */
#ifndef PM_CLI_REPORT_HTML_H
#define PM_CLI_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>

#include "core/report/report.h"

struct cli_html {
	int (*sink)(void *argument, const char *text, size_t size);
	void *argument;
	bool any; /* a profile has been added */
	int error;
};

/* Each returns 0, or the first error: SINK's negative errno or -ENOMEM. Between begin and
 * end at least one profile is added, in the order of a merge's processes. */
int cli_html_begin(struct cli_html *html,
		   int (*sink)(void *argument, const char *text, size_t size),
		   void *argument);
/* OPTIONS as in the report; with the times of each thread if THREADS. */
int cli_html_add(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options, bool threads);
/* SNAPSHOT is the only profile, or the sum of OPTIONS->merge; the format is JSON whatever
 * OPTIONS say. */
int cli_html_end(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options);

#endif
