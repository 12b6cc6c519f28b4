/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/process_maps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

/* Decodes octal numbers. The kernel writes newlines so, and nothing else. */
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

/* Parses a number of BASE at *AT and the character BEHIND it ('\0': any). */
static bool take_number(char **at, int base, char behind, uint64_t *number)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	*number = strtoull(*at, &end, base);
	if (end == *at || (behind && *end++ != behind))
		return false;
	*at = end;
	return true;
}

/*
 * Parses "from-to rwxs offset major:minor inode   path". It does not use sscanf(3),
 * because a program has a hundred such lines and reads them before its report.
 */
static bool parse(char *line, struct pm_process_map *map)
{
	uint64_t device[2];
	char *access;

	if (!take_number(&line, 16, '-', &map->from) ||
	    !take_number(&line, 16, ' ', &map->to))
		return false;
	access = line;
	if (strnlen(line, 5) < 5 || line[4] != ' ')
		return false;
	line += 5;
	if (!take_number(&line, 16, ' ', &map->offset) ||
	    !take_number(&line, 16, ':', &device[0]) ||
	    !take_number(&line, 16, ' ', &device[1]) ||
	    !take_number(&line, 10, '\0', &map->inode))
		return false;
	line += strspn(line, " ");
	map->device = makedev((unsigned int)device[0], (unsigned int)device[1]);
	map->readable = access[0] == 'r';
	map->writable = access[1] == 'w';
	map->executable = access[2] == 'x';
	map->shared = access[3] == 's';
	unescape(line);
	map->path = line;
	return true;
}

bool pm_process_map_is_of(const struct pm_process_map *map, const struct stat *status)
{
	return map->inode == status->st_ino &&
	       (map->device == status->st_dev || !major(map->device) ||
		!major(status->st_dev));
}

int pm_process_maps(pid_t pid,
		    bool (*visit)(const struct pm_process_map *map, void *argument),
		    void *argument)
{
	/* Longer than any line: PATH_MAX, with four characters for each newline. */
	char text[4 * 4096 + 256], path[64];
	size_t used = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = pm_file_open(path, O_RDONLY);
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
