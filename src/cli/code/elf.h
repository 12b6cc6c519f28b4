/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds what files of code have for libdw to read, without libdw: to load it takes longer than to see that
 * there is nothing. */
#ifndef PM_CLI_CODE_ELF_H
#define PM_CLI_CODE_ELF_H

#include <stdbool.h>
#include <stddef.h>

/* A build id in hexadecimal digits, with its NUL. */
#define PM_CODE_BUILD_ID_MAX 64
#define PM_CODE_BUILD_ID     (2 * PM_CODE_BUILD_ID_MAX + 1)

/* Writes the LENGTH bytes of a build id at BYTES, "" if these are too many. */
void pm_elf_build_id_text(const unsigned char *bytes, size_t length,
			  char text[PM_CODE_BUILD_ID]);

/* Takes the build id from the notes of SIZE bytes at NOTES. Returns whether there is one. */
bool pm_elf_build_id(const char *notes, size_t size, char text[PM_CODE_BUILD_ID]);

/* Returns whether one of the folders where libdw looks for the debug information of the file at PATH has
 * the file LINK, which may be NULL: the file's own, ".debug" there, and those below /usr/lib/debug. */
bool pm_elf_has_link(const char *path, const char *link);

/* Returns whether the file at PATH may have more symbols than those that it exports, or lines, in itself or
 * in a file of debug information. True of a file that it cannot read. */
bool pm_elf_tells_more(const char *path);

#endif
