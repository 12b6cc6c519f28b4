/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds programs and the tool. */
#include "cli/exact/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/exact/exact.h"
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

bool exact_find_tool(char path[PATH_MAX])
{
	const char *chosen = getenv("PERFMON_EXACT_DIR");
	char own[PATH_MAX];

	if (chosen && *chosen)
		return join(path, pm_slice_of(""), chosen) && has_tool(path);
	if (cli_tree_own(own) &&
	    ((join(path, pm_slice_of(own), "exact/valgrind") && has_tool(path)) ||
	     (cli_tree_installed(own, EXACTDIR, path) && has_tool(path))))
		return true;
	return join(path, pm_slice_of(""), EXACTDIR) && has_tool(path);
}

bool cli_exact_is_there(void)
{
	char path[PATH_MAX];

	return exact_find_tool(path) && !exact_find_program("valgrind", path);
}
