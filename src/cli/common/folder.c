/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/kernel.h"

/* Finds the folder of this command's file. */
static bool find_own(char folder[PATH_MAX])
{
	ssize_t length = pm_kernel_readlink("/proc/self/exe", folder, PATH_MAX);
	char *end = length > 0 ? strrchr(folder, '/') : NULL;

	if (!end)
		return false;
	*end = '\0';
	return true;
}

/* Makes the path of what was configured as FOLDER, in the tree of the folder of commands OWN. */
static bool installed(const char *own, const char *folder, char path[PATH_MAX])
{
	static const char bin[] = BINDIR "/";
	size_t i, common = 0, length = strlen(own);

	for (i = 0; bin[i] && bin[i] == folder[i]; i++)
		if (bin[i] == '/')
			common = i + 1;
	/* Go up by as many folders as there are below the common one. */
	for (i = common; bin[i]; i++) {
		if (bin[i] != '/')
			continue;
		while (length && own[--length] != '/')
			;
	}
	return snprintf(path, PATH_MAX, "%.*s/%s", (int)length, own, folder + common) <
	       PATH_MAX;
}

static bool has(const char *folder, const char *file, int mode)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, file) < PATH_MAX &&
	       !access(path, mode);
}

bool cli_folder_find(const char *built, const char *folder, const char *file, int mode,
		     char path[PATH_MAX])
{
	char own[PATH_MAX];

	if (find_own(own) && ((snprintf(path, PATH_MAX, "%s/%s", own, built) < PATH_MAX &&
			       has(path, file, mode)) ||
			      (installed(own, folder, path) && has(path, file, mode))))
		return true;
	return snprintf(path, PATH_MAX, "%s", folder) < PATH_MAX && has(path, file, mode);
}

char *cli_folder_make(const char *command, const char *what)
{
	const char *dir = cli_variable("TMPDIR") ?: "/tmp";
	char here[PATH_MAX] = "", *folder;

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

bool cli_folder_is_empty(const char *folder)
{
	DIR *entries = opendir(folder);
	bool empty = true;
	struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		empty &= entry->d_name[0] == '.';
	if (entries)
		closedir(entries);
	return empty;
}

char *cli_profile_in(const char *folder, const char *profile)
{
	char *path = malloc(2 * strlen(folder) + strlen(profile) + 2), *to = path;

	for (; path && *folder; folder++) {
		*to++ = *folder;
		/* %p and the like have no meaning in the name of an existing folder. */
		if (*folder == '%')
			*to++ = '%';
	}
	if (path)
		sprintf(to, "/%s", profile);
	return path;
}
