/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders for what a command leaves while it runs. */
#ifndef PM_CLI_COMMON_FOLDER_H
#define PM_CLI_COMMON_FOLDER_H

/* Makes a folder of COMMAND's for WHAT ("the counts") below TMPDIR. A process of the command may change
 * its directory, so that the path is absolute. Returns it, or NULL after a message. */
char *cli_folder_make(const char *command, const char *what);

/* Removes FOLDER and all in it. NULL is allowed. */
void cli_folder_remove(const char *folder);

#endif
