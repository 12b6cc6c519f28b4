/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code that the subcommands share: messages and exit statuses, output that replaces a
 * file when it is complete, terminals, the files that a user names, and those of the
 * command itself. */
#ifndef PM_CLI_COMMON_COMMON_H
#define PM_CLI_COMMON_COMMON_H

#include "cli/common/child.h"
#include "cli/common/complain.h"
#include "cli/common/folder.h"
#include "cli/common/json_read.h"
#include "cli/common/machine.h"
#include "cli/common/options.h"
#include "cli/common/output.h"
#include "cli/common/resolve.h"
#include "cli/common/sources.h"
#include "cli/common/terminal.h"

#endif
