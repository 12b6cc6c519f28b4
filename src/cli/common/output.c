/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/text.h"

/* Returns whether PATH names an open file of a process, or a device. No file can be
 * renamed to such a path. */
static bool is_special(const char *path)
{
	return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
}

/* Opens or creates the file at PATH itself. */
static int open_itself(struct pm_report_file *file, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);

	*file = (struct pm_report_file){.fd = fd, .old = -1};
	return fd < 0 ? -errno : 0;
}

/*
 * Sets *TARGET to the target of the symbolic link PATH, or to NULL if it has no name, or
 * none to which a file can be renamed. The kernel decides whether the link may be
 * followed: not another user's in a sticky folder (fs.protected_symlinks).
 */
static int link_target(const char *path, char **target)
{
	int fd = open(path, O_PATH | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	struct stat followed, named;

	*target = NULL;
	if (err)
		return err == -ENOENT ? 0 : err;
	*target = realpath(path, NULL);
	/* The link may have changed since. */
	if (*target &&
	    (is_special(*target) || fstat(fd, &followed) || lstat(*target, &named) ||
	     followed.st_dev != named.st_dev || followed.st_ino != named.st_ino)) {
		free(*target);
		*target = NULL;
	}
	close(fd);
	return 0;
}

static int open_file(struct pm_report_file *file, const char *path)
{
	char *target;
	struct stat st;
	int err;

	if (is_special(path))
		return open_itself(file, path);
	if (lstat(path, &st) || !S_ISLNK(st.st_mode))
		return pm_report_file_open(file, path, true);
	err = link_target(path, &target);
	if (err)
		return err;
	err = target ? pm_report_file_open(file, target, true) : open_itself(file, path);
	free(target);
	return err;
}

/* Opens the file itself, for text that is written as it comes. */
static int open_to_grow(struct cli_output *output, bool append)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : 0);
	int fd = open(output->path, flags | O_EXCL, 0666);

	output->made = fd >= 0;
	output->empty_first = !append;
	if (fd < 0 && errno == EEXIST)
		fd = open(output->path, flags, 0666);
	output->file = (struct pm_report_file){.fd = fd, .old = -1};
	return fd < 0 ? -errno : 0;
}

/*
 * Returns a copy of PATH. If PATH is a folder or ends with /, returns the path of
 * perfmon-COMMAND.SUFFIX in that folder, which is created if needed. Returns NULL after a
 * message on failure.
 */
static char *path_of(const char *command, const char *path, const char *suffix)
{
	size_t length = strlen(path);
	bool slash = length && path[length - 1] == '/';
	bool folder = slash;
	struct stat st;
	char *whole;

	if (slash && mkdir(path, 0777) && errno != EEXIST) {
		cli_complain(command, "'%s': %s", path, strerror(errno));
		return NULL;
	}
	if (!slash)
		folder = !stat(path, &st) && S_ISDIR(st.st_mode);
	if (!folder)
		whole = strdup(path);
	else if (asprintf(&whole, "%s%sperfmon-%s.%s", path, slash ? "" : "/", command,
			  suffix) < 0)
		whole = NULL;
	if (!whole)
		cli_no_memory(command);
	return whole;
}

/* Opens the file at PATH: a new one that replaces an older one, or with GROW the file itself. */
static int begin(struct cli_output *output, const char *command, const char *path,
		 const char *suffix, bool grow, bool append)
{
	int err;

	*output = (struct cli_output){.command = command, .out.sink = cli_output_write};
	output->out.argument = output;
	if (!path || !strcmp(path, "-"))
		return 0;
	output->path = path_of(command, path, suffix);
	if (!output->path)
		return CLI_FAILED;
	err = grow ? open_to_grow(output, append)
		   : open_file(&output->file, output->path);
	if (!err)
		return 0;
	cli_complain(command, "'%s': %s", output->path, strerror(-err));
	free(output->path);
	output->path = NULL;
	return CLI_FAILED;
}

int cli_output_begin(struct cli_output *output, const char *command, const char *path,
		     const char *suffix)
{
	/* A full file is an error to report, not a signal to die of. */
	signal(SIGXFSZ, SIG_IGN);
	return begin(output, command, path, suffix, false, false);
}

int cli_output_grow(struct cli_output *output, const char *command, const char *path,
		    const char *suffix, bool append)
{
	return begin(output, command, path, suffix, true, append);
}

int cli_output_write(void *argument, const char *text, size_t size)
{
	struct cli_output *output = argument;

	/* Only a regular file can be truncated. */
	if (output->empty_first && ftruncate(output->file.fd, 0) && errno != EINVAL)
		return -errno;
	output->empty_first = output->made = false;
	return pm_report_fd_write(&output->file.fd, text, size);
}

int cli_output_print(void *argument, const char *text, size_t size)
{
	struct cli_output *output = argument;

	if (!output->path)
		return cli_print(stdout, text, size);
	pm_out_bytes(&output->out, text, size);
	return output->out.error;
}

int cli_output_end(struct cli_output *output, int err)
{
	bool failed;

	if (output->path) {
		err = err ?: pm_out_end(&output->out);
		err = pm_report_file_end(&output->file, err);
		if (output->made)
			unlink(output->path);
	}
	if (err == -ENOMEM)
		cli_complain(output->command, "no memory for this report");
	else if (err && output->path)
		cli_complain(output->command, "'%s': %s", output->path, strerror(-err));
	failed = err && (output->path || err == -ENOMEM);
	free(output->path);
	output->path = NULL;
	return failed ? CLI_FAILED : 0;
}

void cli_page_put(struct pm_out *out, const char *page, bool behind)
{
	static const char data[] = "@DATA@";
	const char *rest = strstr(page, data);

	if (!behind)
		pm_out_bytes(out, page, (size_t)(rest - page));
	rest += strlen(data);
	if (behind)
		pm_out_text(out, rest);
}

/* The script element would end at "</script", and change its rules at "<!--". In JSON, "<" is
 * only in strings, where it can be escaped. */
int cli_page_print(void *argument, const char *text, size_t size)
{
	struct pm_out *out = argument;

	while (size) {
		const char *less = memchr(text, '<', size);
		size_t plain = less ? (size_t)(less - text) : size;

		pm_out_bytes(out, text, plain);
		if (less)
			pm_out_text(out, "\\u003c");
		plain += less != NULL;
		text += plain;
		size -= plain;
	}
	return out->error;
}

size_t cli_plain_part(struct pm_out *out, const char *text, size_t length)
{
	char part[256];

	if (length >= sizeof(part)) /* at least one byte, of what is no UTF-8 */
		length = (size_t)(pm_text_cut(text, sizeof(part) - 1) ?: 1);
	memcpy(part, text, length);
	part[length] = '\0';
	pm_out_plain(out, part, 0);
	return length;
}
