/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/code/elf.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char system_dir[] = "/usr/lib/debug";

void pm_elf_build_id_text(const unsigned char *bytes, size_t length,
			  char text[PM_CODE_BUILD_ID])
{
	text[0] = '\0';
	for (size_t i = 0; length <= PM_CODE_BUILD_ID_MAX && i < length; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

bool pm_elf_build_id(const char *notes, size_t size, char text[PM_CODE_BUILD_ID])
{
	const ElfW(Nhdr) * note;

	while (size >= sizeof(*note)) {
		const char *name = notes + sizeof(*note);
		size_t names, all;

		note = (const void *)notes;
		names = ((size_t)note->n_namesz + 3) & ~(size_t)3;
		all = sizeof(*note) + names + (((size_t)note->n_descsz + 3) & ~(size_t)3);
		if (all > size)
			return false;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(name, "GNU", 4)) {
			pm_elf_build_id_text((const unsigned char *)name + names,
					     note->n_descsz, text);
			return true;
		}
		notes += all;
		size -= all;
	}
	return false;
}

__attribute__((format(printf, 1, 2))) static bool is_there(const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return length > 0 && (size_t)length < sizeof(path) && !access(path, R_OK);
}

/* As pm_elf_has_link(), for one name of the file. */
static bool has_link_beside(const char *path, const char *link)
{
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) : 0;

	if (!slash)
		return false;
	if (is_there("%.*s/%s", length, path, link) ||
	    is_there("%.*s/.debug/%s", length, path, link))
		return true;
	/* The first folders of the path may be left out there. */
	for (const char *at = path; at; at = at < slash ? strchr(at + 1, '/') : NULL)
		if (is_there("%s%.*s/%s", system_dir, (int)(slash - at), at, link))
			return true;
	return false;
}

bool pm_elf_has_link(const char *path, const char *link)
{
	char *real;
	bool found;

	if (!path || !link || !*link)
		return false;
	if (*link == '/')
		return is_there("%s", link);
	real = realpath(path, NULL);
	found = has_link_beside(path, link) || (real && has_link_beside(real, link));
	free(real);
	return found;
}

/* --- the sections of a file ------------------------------------------------------------ */

/* Threads with small stacks come here, too. A file with more is left to libdw. */
#define TEXT_MAX 2048

static bool read_all(int fd, void *to, size_t size, uint64_t at)
{
	return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/* Reads what a section has, as text with a NUL behind it, to TEXT. */
static bool read_section(int fd, const ElfW(Shdr) * section, char text[TEXT_MAX])
{
	if (section->sh_size >= TEXT_MAX)
		return false;
	text[section->sh_size] = '\0';
	return read_all(fd, text, section->sh_size, section->sh_offset);
}

/* Returns whether a section of this NAME is read by libdw: symbols that are not exported, lines, or both in
 * compressed form. */
static bool is_more(const char *name)
{
	static const char *const more[] = {".symtab", ".gnu_debugdata", ".debug_",
					   ".zdebug_"};

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (!strncmp(name, more[i], strlen(more[i])))
			return true;
	return false;
}

static bool has_debug_of(const char *notes, size_t size)
{
	char id[PM_CODE_BUILD_ID];

	return pm_elf_build_id(notes, size, id) && strlen(id) > 2 &&
	       is_there("%s/.build-id/%.2s/%s.debug", system_dir, id, id + 2);
}

/* Returns whether a section leads to more. */
static bool section_tells_more(int fd, const char *path, const ElfW(Shdr) * section,
			       const char *name)
{
	_Alignas(ElfW(Nhdr)) char text[TEXT_MAX];

	if (is_more(name))
		return true;
	if (!strcmp(name, ".gnu_debuglink"))
		return !read_section(fd, section, text) || pm_elf_has_link(path, text);
	if (!strcmp(name, ".note.gnu.build-id"))
		return !read_section(fd, section, text) ||
		       has_debug_of(text, section->sh_size);
	return false;
}

static bool read_header(int fd, const ElfW(Ehdr) * head, size_t number,
			ElfW(Shdr) * section)
{
	return number < head->e_shnum &&
	       read_all(fd, section, sizeof(*section),
			head->e_shoff + number * sizeof(*section));
}

static bool file_tells_more(int fd, const char *path)
{
	ElfW(Ehdr) head;
	ElfW(Shdr) section;
	char names[TEXT_MAX];
	uint64_t size;

	if (!read_all(fd, &head, sizeof(head), 0) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_shentsize != sizeof(section) ||
	    !read_header(fd, &head, head.e_shstrndx, &section) ||
	    !read_section(fd, &section, names))
		return true;
	size = section.sh_size;
	for (size_t i = 0; i < head.e_shnum; i++) {
		if (!read_header(fd, &head, i, &section) || section.sh_name >= size ||
		    section_tells_more(fd, path, &section, names + section.sh_name))
			return true;
	}
	return false;
}

bool pm_elf_tells_more(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool more = fd < 0 || file_tells_more(fd, path);

	if (fd >= 0)
		close(fd);
	return more;
}
