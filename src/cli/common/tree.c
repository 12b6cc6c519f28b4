/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/tree.h"

#include <stdio.h>
#include <string.h>

#include "core/kernel/kernel.h"

bool cli_tree_own(char folder[PATH_MAX])
{
	ssize_t length = pm_kernel_readlink("/proc/self/exe", folder, PATH_MAX);
	char *end = length > 0 ? strrchr(folder, '/') : NULL;

	if (!end)
		return false;
	*end = '\0';
	return true;
}

bool cli_tree_installed(const char *own, const char *folder, char path[PATH_MAX])
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
