/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files and directories below /sys, /proc and tracefs. All are read below a root
 * that a test can change. Any thread. pm_file_read() and pm_dir_list() allocate. The
 * others are async-signal-safe.
 */
#ifndef PM_KERNEL_FILES_H
#define PM_KERNEL_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Test hook: the prefix of the paths given to these functions. "" is
 * the real machine. The string must stay alive. */
extern const char *pm_file_root;

/*
 * pm_file_read() - reads a whole small text file below the root into *TEXT, a
 * NUL-terminated malloc'ed string without trailing newlines. Returns its length, or
 *
 *  - -E2BIG: it is larger than 1 MiB
 *  - -ENOTSUP: PATH is not a regular file
 *  - -ENOMEM
 *  - an error of open or read
 */
ssize_t pm_file_read(const char *path, char **text);

/*
 * pm_file_text() - reads a small text file below the root into BUFFER, cut to fit and
 * NUL-terminated. It is for failure paths that may not allocate. Returns the length, or
 * an error of open or read.
 */
ssize_t pm_file_text(const char *path, char *buffer, size_t size);

/* Reads SIZE bytes at AT of the file FD. Returns how many there were, or a negative errno. */
ssize_t pm_file_read_at(int fd, void *buffer, size_t size, uint64_t at);

/* Reads a file that holds one integer, decimal or hexadecimal with 0x. -EINVAL if it does
 * not. Allocates nothing. */
int pm_file_number(const char *path, int64_t *value);

/*
 * pm_dir_list() - lists the names in a directory below the root, without "." and "..", in
 * natural order (uncore_imc_2 before uncore_imc_10). On success *NAMES is an array of
 * *COUNT strings in one malloc'ed block: free(*NAMES) frees all of it. -E2BIG above
 * 65,536 entries, -ENOMEM, or an error of open.
 */
int pm_dir_list(const char *path, char ***names, size_t *count);

/* Opens PATH below the root. -ENAMETOOLONG if it is longer than any of these files'. */
int pm_file_open(const char *path, int flags);

#endif
