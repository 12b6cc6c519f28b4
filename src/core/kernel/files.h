/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files and directories below /sys, /proc and tracefs: all of them are read through
 * a root that a test can move. Any thread. pm_file_read() and pm_dir_list() allocate; the
 * others are async-signal-safe.
 */
#ifndef PM_KERNEL_FILES_H
#define PM_KERNEL_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Test hook: prefix for paths given to pm_file_read() and pm_file_path();
 * "" is the real machine. The string must stay alive. */
extern const char *pm_file_root;

/*
 * pm_file_read() - reads the whole of a small text file below the root.
 * On success *TEXT is a NUL-terminated malloc'ed string, trailing newlines removed, and
 * its length is returned; -E2BIG above 1 MiB, -ENOTSUP if PATH is no regular file,
 * -ENOMEM, or what open and read gave.
 */
ssize_t pm_file_read(const char *path, char **text);

/*
 * pm_file_text() - reads what fits of a small text file below the root into
 * BUFFER, NUL-terminated; for failure paths that may not allocate. The length, or what
 * open and read gave.
 */
ssize_t pm_file_text(const char *path, char *buffer, size_t size);

/* The same for a file that holds one integer (decimal, or hexadecimal with 0x);
 * -EINVAL if it does not. Allocates nothing. */
int pm_file_number(const char *path, int64_t *value);

/*
 * pm_dir_list() - the names in a directory below the root, without "." and "..",
 * in natural order (uncore_imc_2 before uncore_imc_10). On success *NAMES is an array of
 * *COUNT strings in one malloc'ed block: free(*NAMES) frees all of it. -E2BIG above
 * 65,536 entries, -ENOMEM, or what open gave.
 */
int pm_dir_list(const char *path, char ***names, size_t *count);

/* PATH below the root, in BUFFER; -ENAMETOOLONG if it does not fit. */
int pm_file_path(const char *path, char *buffer, size_t size);

#endif
