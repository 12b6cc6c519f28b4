/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/run/watch.h"

#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/common.h"

/* Makes the pattern of the names that PROFILE may become, with numbers behind it. */
static char *pattern_of(const char *profile)
{
	size_t length = strlen(profile);
	char *pattern = malloc(2 * length + 3), *to = pattern;
	struct stat st;

	for (const char *c = profile; pattern && *c; c++) {
		if (*c == '%' && c[1]) {
			*to++ = *++c == '%' ? '%' : '*';
			continue;
		}
		if (strchr("*?[\\", *c))
			*to++ = '\\';
		*to++ = *c;
	}
	if (!pattern)
		return NULL;
	if (length && profile[length - 1] != '/' && !stat(profile, &st) &&
	    S_ISDIR(st.st_mode))
		*to++ = '/';
	*to++ = '*';
	*to = '\0';
	return pattern;
}

static size_t files_like(const char *pattern)
{
	glob_t found = {.gl_pathc = 0};
	size_t count = 0;

	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		count = found.gl_pathc;
	globfree(&found);
	return count;
}

static void complain(const char *profile, const char *name)
{
	cli_complain("run",
		     "no profile was written to '%s': '%s' entered no region, or does "
		     "not use the library. To count a program as a whole, use perfmon "
		     "stat, or perfmon run --exact -P",
		     profile, name);
}

int run_and_watch(const char *profile, const char *name, char **command, run_ended *ended,
		  void *argument)
{
	char *pattern = profile ? pattern_of(profile) : NULL;
	size_t before = pattern ? files_like(pattern) : 0;
	int status = 0, other = 0, err = cli_child_run(command, NULL, &status);
	bool has_profile = pattern && files_like(pattern) > before;

	if (!err && ended)
		other = ended(argument, cli_child_pid(), has_profile);
	else if (!err && pattern && !has_profile)
		complain(profile, name);
	free(pattern);
	if (err)
		return err;
	return status ? cli_child_end_as(status) : other;
}
