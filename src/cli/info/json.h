/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon info --json. */
#ifndef PM_CLI_INFO_JSON_H
#define PM_CLI_INFO_JSON_H

#include "perfmon/info.h"

/* Prints INFO, the PMUs and the CPUs as one object: 0 or a negative errno. */
int cli_info_json(const struct perfmon_info *info);

#endif
