/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/life.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

int pm_life_read_at(const char *path, struct pm_life *life)
{
	char text[1024];
	const char *rest;
	ssize_t n = pm_file_text(path, text, sizeof(text));

	if (n < 0)
		return (int)n;
	/* The name in parentheses may hold any character. The thread count is the 20th
	 * field. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest,
			    ") %c %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %*s %*s %d %*s %" SCNu64,
			    &life->state, &life->parent, &life->group, &life->threads,
			    &life->start_ticks) != 5)
		return -EIO;
	life->is_dead = strchr("ZXx", life->state);
	life->is_over = life->is_dead && life->threads <= 1;
	return 0;
}

int pm_life_read(pid_t id, struct pm_life *life)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", id ?: pm_kernel_getpid());
	return pm_life_read_at(path, life);
}

pid_t pm_process_id(int32_t id)
{
	char path[64], text[1024];
	const char *line;

	if (!id)
		return pm_kernel_getpid();
	snprintf(path, sizeof(path), "/proc/%d/status", id);
	if (pm_file_text(path, text, sizeof(text)) < 0)
		return id;
	line = strstr(text, "\nTgid:");
	return line && atoi(line + 6) > 0 ? atoi(line + 6) : id;
}

bool pm_life_program_has_ended(void)
{
	struct pm_life life;

	return !pm_life_read(0, &life) && life.is_dead &&
	       (unsigned int)life.threads == pm_kernel_own_threads() + 1;
}
