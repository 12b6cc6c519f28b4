/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders: those of the command's own files, and one for what a command leaves while it runs. */
#ifndef PM_CLI_COMMON_FOLDER_H
#define PM_CLI_COMMON_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/*
 * Finds the folder with FILE, which access(2) allows as MODE says: BUILT, below the folder of this
 * command's file in the tree that it was built in; else the one that was configured as FOLDER, in an
 * installed tree that may be anywhere (DESTDIR), by the way from the folder of commands; else FOLDER.
 */
bool cli_folder_find(const char *built, const char *folder, const char *file, int mode,
		     char path[PATH_MAX]);

/* Makes a folder of COMMAND's for WHAT ("the counts") below TMPDIR. A process of the command may change
 * its directory, so that the path is absolute. Returns it, or NULL after a message. */
char *cli_folder_make(const char *command, const char *what);

/* Removes FOLDER and all in it. NULL is allowed. */
void cli_folder_remove(const char *folder);

#endif
