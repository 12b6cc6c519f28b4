/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources of profiles: files, directories of files, and running processes. Functions that
 * return int return 0, or an exit status after a message. */
#ifndef PM_CLI_COMMON_SOURCES_H
#define PM_CLI_COMMON_SOURCES_H

#include <stddef.h>
#include <sys/types.h>

#include "core/profile/profile.h"
#include "core/text/diag.h"

struct cli_source {
	char *name; /* as given: a path or a PID */
	pid_t pid;  /* 0: a file */
};

struct cli_sources {
	const char *command; /* for messages */
	size_t count;
	struct cli_source *at;
};

/*
 * Adds a file, or the profiles in a directory in the order of the numbers in their names.
 */
int cli_sources_add_path(struct cli_sources *sources, const char *path);
int cli_sources_add_pid(struct cli_sources *sources, const char *text);
void cli_sources_free(struct cli_sources *sources);

/* Reads the profile as it is now. Returns 0 or a negative errno, with DIAG. */
int cli_source_read(const struct cli_source *source, struct pm_snapshot **out,
		    struct pm_diag *diag);

#endif
