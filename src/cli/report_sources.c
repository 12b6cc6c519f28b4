/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/report_sources.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static int add(struct cli_sources *sources, const char *name, pid_t pid)
{
	struct cli_source *source;

	if (sources->count == sources->room) {
		size_t room = sources->room ? 2 * sources->room : 16;

		source = reallocarray(sources->at, room, sizeof(*source));
		if (!source)
			goto no_memory;
		sources->at = source;
		sources->room = room;
	}
	source = &sources->at[sources->count];
	source->name = strdup(name);
	source->pid = pid;
	if (!source->name)
		goto no_memory;
	sources->count++;
	return 0;
no_memory:
	cli_complain("report", "%s", strerror(ENOMEM));
	return CLI_FAILED;
}

int cli_sources_add_path(struct cli_sources *sources, const char *path)
{
	return add(sources, path, 0);
}

int cli_sources_add_pid(struct cli_sources *sources, const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || end == text || *end || pid <= 0 || pid > INT32_MAX) {
		cli_complain("report", "'%s' is no pid", text);
		return CLI_USAGE;
	}
	return add(sources, text, (pid_t)pid);
}

void cli_sources_free(struct cli_sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		free(sources->at[i].name);
	free(sources->at);
}

int cli_source_open(const struct cli_source *source, struct pm_profile_file **out,
		    struct pm_diag *diag)
{
	if (source->pid)
		return pm_profile_file_open_pid(source->pid, out, diag);
	return pm_profile_file_open(source->name, out, diag);
}
