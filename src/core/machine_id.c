/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/machine_id.h"

#include <stdlib.h>
#include <string.h>

#include "core/kernel.h"

static void copy(char *buffer, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	memcpy(buffer, text, length);
	buffer[length] = '\0';
}

void pm_machine_host(char *buffer, size_t size)
{
	char *text;

	buffer[0] = '\0';
	if (pm_kernel_file_read("/proc/sys/kernel/hostname", &text) < 0)
		return;
	copy(buffer, size, text);
	free(text);
}

void pm_machine_boot_id(char *buffer, size_t size)
{
	char *text;

	buffer[0] = '\0';
	if (pm_kernel_file_read("/proc/sys/kernel/random/boot_id", &text) < 0)
		return;
	copy(buffer, size, text);
	free(text);
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

uint64_t pm_machine_start_time(void)
{
	uint64_t start = 0;
	char *text, *at;
	int field;

	if (pm_kernel_file_read("/proc/self/stat", &text) < 0)
		return 0;
	/* Field 2 is the name in parentheses and may hold anything: count from its end. */
	at = strrchr(text, ')');
	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoull(at, NULL, 10);
	free(text);
	return start;
}
