/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "os/process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "os/files.h"
#include "os/kernel.h"

/* The kernel writes newlines, and only these, as octal numbers. */
static void unescape(char *path)
{
	char *to = path;

	while (*path) {
		if (!strncmp(path, "\\012", 4)) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = '\0';
}

/* "from-to rwxs offset major:minor inode   path" */
static bool parse(char *line, struct pm_process_map *map)
{
	char access[5];
	int path = -1;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n",
		   &map->from, &map->to, access, &map->offset, &map->inode, &path) != 5 ||
	    path < 0 || strlen(access) != 4)
		return false;
	map->writable = access[1] == 'w';
	map->shared = access[3] == 's';
	unescape(line + path);
	map->path = line + path;
	return true;
}

int pm_process_maps(pid_t pid,
		    bool (*visit)(const struct pm_process_map *map, void *argument),
		    void *argument)
{
	/* Longer than any line: PATH_MAX, each newline in it written as four
	 * characters. */
	char text[4 * 4096 + 256], path[64], full[4096];
	size_t used = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = pm_file_path(path, full, sizeof(full));
	if (!fd)
		fd = pm_kernel_open(full, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	for (;;) {
		struct pm_process_map map;
		char *line = text, *end;

		n = pm_kernel_read(fd, text + used, sizeof(text) - 1 - used);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
		text[used] = '\0';
		while ((end = strchr(line, '\n'))) {
			*end = '\0';
			if (parse(line, &map) && visit(&map, argument)) {
				n = 1;
				goto out;
			}
			line = end + 1;
		}
		used = strlen(line);
		memmove(text, line, used);
		if (used == sizeof(text) - 1)
			used = 0;
	}
out:
	pm_kernel_close(fd);
	return (int)n;
}
