/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_ROOFLINE_ROOFLINE_H
#define PM_CLI_ROOFLINE_ROOFLINE_H

/* perfmon roofline. Takes its own name as argv[0] and returns the exit status. */
int cli_roofline(int argc, char **argv);

#endif
