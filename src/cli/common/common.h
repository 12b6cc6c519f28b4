/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the subcommands share: complaints and exit statuses, output that replaces a file
 * when it is whole, terminals, the files that are asked for.
 *
 * Uses the library's rooms.
 */
#ifndef PM_CLI_COMMON_COMMON_H
#define PM_CLI_COMMON_COMMON_H

#include "cli/common/complain.h"
#include "cli/common/machine.h"
#include "cli/common/options.h"
#include "cli/common/output.h"
#include "cli/common/progress.h"
#include "cli/common/sources.h"
#include "cli/common/terminal.h"

#endif
