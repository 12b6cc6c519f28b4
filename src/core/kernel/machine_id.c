/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/machine_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

static void copy(char *buffer, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(buffer, text, length);
	buffer[length] = '\0';
}

static void read_file(char *buffer, size_t size, const char *path)
{
	char *text;

	buffer[0] = '\0';
	if (pm_file_read(path, &text) < 0)
		return;
	copy(buffer, size, text);
	free(text);
}

void pm_machine_host(char *buffer, size_t size)
{
	read_file(buffer, size, "/proc/sys/kernel/hostname");
}

void pm_machine_boot_id(char *buffer, size_t size)
{
	read_file(buffer, size, "/proc/sys/kernel/random/boot_id");
}

void pm_machine_program(char *buffer, size_t size)
{
	char path[4096];
	ssize_t length;

	buffer[0] = '\0';
	length = pm_kernel_readlink("/proc/self/exe", path, sizeof(path));
	if (length <= 0)
		return;
	copy(buffer, size, (size_t)length < size ? path : path + length - (size - 1));
}

uint64_t pm_machine_pid_namespace(void)
{
	uint64_t inode;
	char text[64];

	if (pm_kernel_readlink("/proc/self/ns/pid", text, sizeof(text)) < 0 ||
	    sscanf(text, "pid:[%" SCNu64 "]", &inode) != 1)
		return 0;
	return inode;
}

int pm_machine_process(pid_t pid, struct pm_machine_process *process)
{
	char path[64], text[1024], *rest, state;
	uint64_t start;
	ssize_t n;
	int threads;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	n = pm_file_text(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	/* Field 2 is the name in parentheses, which may hold any character: count from
	 * its end. The state is the 3rd field, the number of threads the 20th, the start
	 * time the 22nd. */
	rest = strrchr(text, ')');
	if (!rest ||
	    sscanf(rest,
		   ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %d %*s %" SCNu64,
		   &state, &threads, &start) != 3)
		return -EIO;
	/* A first thread that has ended is a zombie until the others of its process
	 * end. */
	process->alive = state != 'X' && (state != 'Z' || threads > 1);
	process->start_time = start;
	return 0;
}

uint64_t pm_machine_start_time(void)
{
	struct pm_machine_process self;

	return pm_machine_process(pm_kernel_getpid(), &self) ? 0 : self.start_time;
}
