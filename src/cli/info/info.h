/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of perfmon info. */
#ifndef PM_CLI_INFO_INFO_H
#define PM_CLI_INFO_INFO_H

#include "perfmon/info.h"

/* perfmon info. Takes its own name as argv[0] and returns the exit status. */
int cli_info(int argc, char **argv);

/*
 * Prints INFO, the PMUs and the CPUs as one JSON object. Returns 0 or a negative errno.
 */
int cli_info_json(const struct perfmon_info *info);

#endif
