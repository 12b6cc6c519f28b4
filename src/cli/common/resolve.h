/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of regions that were not known when the program ran: a profile has the file of their code and the
 * place in it (perfmon_region_code()), and the file's symbols and debug information tell the name. A file
 * whose build id is another one is not asked.
 */
#ifndef PM_CLI_COMMON_RESOLVE_H
#define PM_CLI_COMMON_RESOLVE_H

#include "cli/common/options.h"
#include "core/profile/profile.h"

/* An option, which may be repeated: looks for files of code and of debug information in this folder, too.
 * Without memory it is ignored. */
int cli_take_debug_dir(const char *command, const struct cli_option *option,
		       const char *text);
#define CLI_OPTION_DEBUG_DIR                                                             \
	{                                                                                \
		"debug-dir", .take = cli_take_debug_dir                                  \
	}
#define CLI_HELP_DEBUG_DIR                                                               \
	"      --debug-dir DIR   names of code that the run could not name: look for "   \
	"debug\n"                                                                        \
	"                        information and programs in this folder, too; may be\n" \
	"                        repeated\n"

/* Gives regions of SNAPSHOT the names that are found now. Regions that get one name are one from then
 * on. Without memory names stay as they are. A note of SNAPSHOT says whose stay for another reason than that
 * nothing tells them. */
void cli_resolve(struct pm_snapshot *snapshot);

#endif
