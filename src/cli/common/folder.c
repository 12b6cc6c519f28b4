/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/folder.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/complain.h"

char *cli_folder_make(const char *command, const char *what)
{
	const char *dir = getenv("TMPDIR");
	char here[PATH_MAX] = "", *folder;

	dir = dir && *dir ? dir : "/tmp";
	if (*dir != '/' && !getcwd(here, sizeof(here) - 1)) {
		cli_complain(command, "TMPDIR '%s': %s", dir, strerror(errno));
		return NULL;
	}
	if (asprintf(&folder, "%s%s%s/perfmon-%s-XXXXXX", here, *here ? "/" : "", dir,
		     command) < 0) {
		cli_no_memory(command);
		return NULL;
	}
	if (mkdtemp(folder))
		return folder;
	cli_complain(command, "cannot create '%s' for %s: %s", folder, what,
		     strerror(errno));
	free(folder);
	return NULL;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st, (void)kind, (void)walk;
	remove(path);
	return 0;
}

void cli_folder_remove(const char *folder)
{
	/* A process that outlives the command may leave a file meanwhile: until there is no folder. */
	for (int i = 0; folder && *folder && i < 100; i++)
		if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS))
			return;
}
