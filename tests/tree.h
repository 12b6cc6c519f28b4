/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recorded machine: tests/data/NAME.tree, unpacked into a folder of its own. It
 * replaces / for all code that reads sysfs and tracefs. Each line of the recording is a
 * file: its path, a space, its content. Other lines are not files (see machine.h).
 */
#ifndef PM_TESTS_TREE_H
#define PM_TESTS_TREE_H

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/kernel/files.h"
#include "helpers.h"

static char tree_root[64];

static inline void tree_write(const char *path, const char *content)
{
	char line[1024];

	snprintf(line, sizeof(line), "%s\n", content);
	make_file(tree_root, path + 1, line);
}

/* Makes an empty machine. */
static inline void tree_new(void)
{
	/* In memory, if possible: there are thousands of files. */
	strcpy(tree_root, access("/dev/shm", W_OK) ? "/tmp/perfmon-tree-XXXXXX"
						   : "/dev/shm/perfmon-tree-XXXXXX");
	cr_assert_not_null(mkdtemp(tree_root));
	pm_file_root = tree_root;
}

static inline void tree_path(const char *name, char *path, size_t size)
{
	const char *source = getenv("srcdir");

	snprintf(path, size, "%s/tests/data/%s.tree", source ? source : ".", name);
}

static inline void tree_unpack(const char *name)
{
	char path[512], line[1024];
	FILE *file;

	tree_new();
	tree_path(name, path, sizeof(path));
	file = fopen(path, "r");
	cr_assert_not_null(file, "cannot open %s (is srcdir set?)", path);
	while (fgets(line, sizeof(line), file)) {
		char *content = line + strcspn(line, " \n");

		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '/')
			continue;
		if (*content)
			*content++ = '\0';
		tree_write(line, content);
	}
	fclose(file);
}

static inline void tree_remove(void)
{
	remove_folder(tree_root);
	pm_file_root = "";
}

#endif
