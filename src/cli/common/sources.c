/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/grow.h"

static int add(struct cli_sources *sources, const char *name, pid_t pid)
{
	struct cli_source *source;

	if (!PM_GROW(sources->at, sources->count))
		goto no_memory;
	source = &sources->at[sources->count];
	source->name = strdup(name);
	source->pid = pid;
	if (!source->name)
		goto no_memory;
	sources->count++;
	return 0;
no_memory:
	return cli_no_memory(sources->command);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/* Returns whether the file PATH of a directory is a profile, even a damaged or unfinished
 * one or one of another version. Reading it reports its problems. */
static bool looks_like_profile(const char *path)
{
	struct perfmon_profile_header header = {.magic = 0};
	struct stat st;
	ssize_t n;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* Reading it reports the error. */
	if (fd < 0)
		return true;
	n = pread(fd, &header, sizeof(header), 0);
	close(fd);
	/* An empty file may be any program's. */
	if (!n)
		return false;
	/* Cut off before the magic. */
	if (n < (ssize_t)offsetof(struct perfmon_profile_header, version) &&
	    header.record.type == htole32(PERFMON_PROFILE_TYPE_HEADER) &&
	    !header.record.reserved)
		return true;
	/* The state before the program's first region. */
	if (!header.record.type && !header.record.size && !header.magic && !header.used)
		return true;
	return header.magic == htole64(PERFMON_PROFILE_MAGIC) ||
	       header.magic == htobe64(PERFMON_PROFILE_MAGIC);
}

/* Adds the profiles in DIRECTORY, and skips all other files. */
static int add_directory(struct cli_sources *sources, const char *directory)
{
	size_t before = sources->count;
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, by_name), status = 0;

	if (count < 0)
		return cli_fail(CLI_FAILED, sources->command, "'%s': %s", directory,
				strerror(errno));
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (!status &&
		    asprintf(&path, "%s%s%s", directory,
			     directory[strlen(directory) - 1] == '/' ? "" : "/",
			     entries[i]->d_name) < 0) {
			path = NULL;
			status = cli_no_memory(sources->command);
		}
		if (!status && looks_like_profile(path))
			status = add(sources, path, 0);
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (!status && sources->count == before)
		status = cli_fail(CLI_FAILED, sources->command,
				  "'%s': no profile in this directory", directory);
	return status;
}

int cli_sources_add_path(struct cli_sources *sources, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return add_directory(sources, path);
	return add(sources, path, 0);
}

int cli_take_pid(const char *command, const struct cli_option *option, const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || end == text || *end || pid <= 0 || pid > INT32_MAX)
		return cli_fail(CLI_USAGE, command, "'%s' is not a process ID", text);
	return add(option->to, text, (pid_t)pid);
}

void cli_sources_free(struct cli_sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		free(sources->at[i].name);
	free(sources->at);
}

int cli_source_read(const struct cli_source *source, struct pm_snapshot **out,
		    struct pm_diag *diag)
{
	struct pm_profile_file *file;
	int err = source->pid ? pm_profile_file_open_pid(source->pid, &file, diag)
			      : pm_profile_file_open(source->name, &file, diag);

	if (err)
		return err;
	err = pm_profile_file_snapshot(file, out, diag);
	pm_profile_file_close(file);
	if (!err)
		cli_resolve(*out);
	return err;
}
