/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles as one HTML page, which needs nothing else: the JSON reports of all of them
 * inside of page.html, whose script makes the rest of it.
 */
#ifndef PM_CLI_REPORT_HTML_H
#define PM_CLI_REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

struct cli_html {
	int (*sink)(void *argument, const char *text, size_t size);
	void *argument;
	bool any; /* a profile has been added */
	int error;
};

/* Each returns 0, or the first error: SINK's negative errno or -ENOMEM. Between begin and
 * end at least one profile is added. */
int cli_html_begin(struct cli_html *html,
		   int (*sink)(void *argument, const char *text, size_t size),
		   void *argument);
/* OPTIONS as for pm_report_write(), but the format. */
int cli_html_add(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options);
int cli_html_end(struct cli_html *html);

#endif
