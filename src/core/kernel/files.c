/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/kernel/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/text/bytes.h"
#include "core/kernel/kernel.h"
#include "core/text/text.h"

#define FILE_LIMIT (1 << 20)
#define DIR_LIMIT  (1 << 16)

const char *pm_file_root = "";

int pm_file_open(const char *path, int flags)
{
	char full[2048];
	int n;

	/* Without a root a path may be as long as the kernel takes it. */
	if (!*pm_file_root)
		return pm_kernel_open(path, flags, 0);
	n = snprintf(full, sizeof(full), "%s%s", pm_file_root, path);
	return n < 0 || (size_t)n >= sizeof(full) ? -ENAMETOOLONG
						  : pm_kernel_open(full, flags, 0);
}

/* Adds the content of FD, a regular file, to BYTES. */
static ssize_t add_content(struct pm_bytes *bytes, int fd)
{
	char part[4096];
	struct stat st;
	ssize_t n = pm_kernel_fstat(fd, &st);

	if (!n && !S_ISREG(st.st_mode))
		n = S_ISDIR(st.st_mode) ? -EISDIR : -ENOTSUP;
	if (n)
		return n;
	do {
		n = pm_kernel_read(fd, part, sizeof(part));
		if (n > 0)
			pm_bytes_add(bytes, part, (size_t)n);
		if (bytes->failed)
			return -ENOMEM;
		if (bytes->used > FILE_LIMIT)
			return -E2BIG;
	} while (n > 0 || n == -EINTR);
	return n;
}

ssize_t pm_file_read(const char *path, char **text)
{
	/* Opening a FIFO, or reading a device, could wait forever. */
	int fd = pm_file_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct pm_bytes bytes = {0};
	ssize_t n;

	if (fd < 0)
		return fd;
	n = add_content(&bytes, fd);
	pm_kernel_close(fd);
	while (bytes.used && bytes.data[bytes.used - 1] == '\n')
		bytes.used--;
	pm_bytes_add(&bytes, "", 1);
	if (n < 0 || bytes.failed) {
		pm_bytes_free(&bytes);
		return n ?: -ENOMEM;
	}
	*text = (char *)bytes.data;
	return (ssize_t)bytes.used - 1;
}

ssize_t pm_file_text(const char *path, char *buffer, size_t size)
{
	int fd = pm_file_open(path, O_RDONLY);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	do {
		n = pm_kernel_read(fd, buffer + used, size - 1 - used);
		if (n > 0)
			used += (size_t)n;
	} while (n == -EINTR || (n > 0 && used < size - 1));
	pm_kernel_close(fd);
	if (n < 0)
		return n;
	buffer[used] = '\0';
	return (ssize_t)used;
}

ssize_t pm_file_read_at(int fd, void *buffer, size_t size, uint64_t at)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pm_kernel_pread(fd, (char *)buffer + done, size - done,
					    at + done);

		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int pm_file_number(const char *path, int64_t *value)
{
	char text[64];
	ssize_t n = pm_file_text(path, text, sizeof(text));
	struct pm_slice digits = pm_slice_trim(pm_slice_of(n < 0 ? "" : text));
	bool negative = digits.length && *digits.at == '-';
	uint64_t number;

	if (n < 0)
		return (int)n;
	digits.at += negative;
	digits.length -= negative;
	if (pm_slice_number(digits, &number) || number > INT64_MAX)
		return -EINVAL;
	*value = negative ? -(int64_t)number : (int64_t)number;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the COUNT names in BLOCK, which stand one after the other, each with its NUL. */
static int sort_names(const struct pm_bytes *block, size_t count, char ***names)
{
	size_t pointers = (count + 1) * sizeof(char *);
	char **list = block->failed ? NULL : malloc(pointers + block->used);
	char *name = (char *)list + pointers;

	if (!list)
		return -ENOMEM;
	if (block->used)
		memcpy(name, block->data, block->used);
	for (size_t i = 0; i < count; i++, name += strlen(name) + 1)
		list[i] = name;
	list[count] = NULL;
	qsort(list, count, sizeof(char *), compare_names);
	*names = list;
	return 0;
}

/* Adds the names in directory FD to BLOCK, and their number to *COUNT. */
static int add_entries(struct pm_bytes *block, size_t *count, int fd)
{
	_Alignas(struct dirent64) char buffer[8192];
	ssize_t n, at;

	do {
		n = pm_kernel_getdents(fd, buffer, sizeof(buffer));
		for (at = 0; at < n;) {
			const struct dirent64 *entry = (const void *)(buffer + at);
			const char *name = entry->d_name;

			at += entry->d_reclen;
			if (!strcmp(name, ".") || !strcmp(name, ".."))
				continue;
			if ((*count)++ == DIR_LIMIT)
				return -E2BIG;
			pm_bytes_add(block, name, strlen(name) + 1);
		}
	} while (n > 0);
	return (int)n;
}

int pm_dir_list(const char *path, char ***names, size_t *count)
{
	int err, fd = pm_file_open(path, O_RDONLY | O_DIRECTORY);
	struct pm_bytes block = {0};
	size_t found = 0;

	if (fd < 0)
		return fd;
	err = add_entries(&block, &found, fd);
	pm_kernel_close(fd);
	if (!err)
		err = sort_names(&block, found, names);
	if (!err)
		*count = found;
	pm_bytes_free(&block);
	return err;
}
