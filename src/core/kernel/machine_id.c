/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/machine_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/kernel/life.h"

static void read_file(char *buffer, size_t size, const char *path)
{
	if (pm_file_text(path, buffer, size) < 0)
		buffer[0] = '\0';
	buffer[strcspn(buffer, "\n")] = '\0';
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
	snprintf(buffer, size, "%s",
		 (size_t)length < size ? path : path + length - (size - 1));
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

uint64_t pm_machine_start_time(void)
{
	struct pm_life self;

	return pm_life_read(0, &self) ? 0 : self.start_ticks;
}
