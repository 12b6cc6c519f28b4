/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds programs and the tool. */
#include "cli/exact/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exact/exact.h"
#include "core/kernel/kernel.h"
#include "core/text/text.h"

#if defined(__x86_64__)
#define TOOL "perfmon-amd64-linux"
#elif defined(__aarch64__)
#define TOOL "perfmon-arm64-linux"
#else
#define TOOL "perfmon-none"
#endif

/* Makes DIR/NAME; an empty DIR is the current one. */
static bool join(char path[PATH_MAX], struct pm_slice dir, const char *name)
{
	return snprintf(path, PATH_MAX, "%.*s%s%s", (int)dir.length, dir.at,
			dir.length ? "/" : "", name) < PATH_MAX;
}

/* Returns 0, or the reason why PATH cannot be executed. */
static int try_program(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

int exact_find_program(const char *name, char path[PATH_MAX])
{
	const char *search = getenv("PATH");
	struct pm_slice rest = pm_slice_of(search ? search : "/bin:/usr/bin");
	int found = -ENOENT;

	if (strchr(name, '/'))
		return join(path, (struct pm_slice){"", 0}, name) ? try_program(path)
								  : -ENAMETOOLONG;
	while (*name && rest.at) {
		struct pm_slice dir = pm_slice_cut(rest, ':', &rest);
		int err = join(path, dir, name) ? try_program(path) : -ENAMETOOLONG;

		if (!err)
			return 0;
		if (err == -EACCES)
			found = err;
	}
	return found;
}

static bool has_tool(const char *dir)
{
	char path[PATH_MAX];

	return join(path, pm_slice_of(dir), TOOL) && !access(path, X_OK);
}

/* Finds the folder of this command's file. */
static bool own_folder(char dir[PATH_MAX])
{
	ssize_t length = pm_kernel_readlink("/proc/self/exe", dir, PATH_MAX);
	char *end = length > 0 ? strrchr(dir, '/') : NULL;

	if (!end)
		return false;
	*end = '\0';
	return true;
}

/* Finds the tool in an installed tree, which may be anywhere (DESTDIR), by the path from
 * the folder of commands to that of the tool. */
static bool installed(const char *own, char path[PATH_MAX])
{
	static const char bin[] = BINDIR "/", tool[] = EXACTDIR;
	size_t i, common = 0, length = strlen(own);

	for (i = 0; bin[i] && bin[i] == tool[i]; i++)
		if (bin[i] == '/')
			common = i + 1;
	/* Go up by as many folders as there are below the common one. */
	for (i = common; bin[i]; i++) {
		if (bin[i] != '/')
			continue;
		while (length && own[--length] != '/')
			;
	}
	return snprintf(path, PATH_MAX, "%.*s/%s", (int)length, own, tool + common) <
	       PATH_MAX;
}

bool exact_find_tool(char path[PATH_MAX])
{
	const char *chosen = getenv("PERFMON_EXACT_DIR");
	char own[PATH_MAX];

	if (chosen && *chosen)
		return join(path, pm_slice_of(""), chosen) && has_tool(path);
	if (own_folder(own) &&
	    ((join(path, pm_slice_of(own), "exact/valgrind") && has_tool(path)) ||
	     (installed(own, path) && has_tool(path))))
		return true;
	return join(path, pm_slice_of(""), EXACTDIR) && has_tool(path);
}

bool cli_exact_is_there(void)
{
	char path[PATH_MAX];

	return exact_find_tool(path) && !exact_find_program("valgrind", path);
}
