/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_REPORT_REPORT_H
#define PM_CLI_REPORT_REPORT_H

/* perfmon report. Takes its own name as argv[0] and returns the exit status. */
int cli_report(int argc, char **argv);

#endif
