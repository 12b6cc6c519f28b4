/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/openmp/name.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks/openmp/lines.h"

/* A file of code in memory. */
struct image {
	const unsigned char *bytes;
	size_t size;
	const ElfW(Shdr) * sections;
	unsigned int section_count;
};

/* Returns whether SIZE bytes at OFFSET are in the file. */
static int is_in(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

static int map(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	const ElfW(Ehdr) * header;
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    status.st_size >= (off_t)sizeof(*header))
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return -1;
	*image = (struct image){.bytes = bytes, .size = (size_t)status.st_size};
	header = bytes;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] !=
		    (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    header->e_shentsize != sizeof(ElfW(Shdr)) || header->e_shoff % sizeof(long) ||
	    !is_in(image, header->e_shoff,
		   (uint64_t)header->e_shnum * sizeof(ElfW(Shdr))))
		return 0;
	image->sections = (const ElfW(Shdr) *)(image->bytes + header->e_shoff);
	image->section_count = header->e_shnum;
	return 0;
}

/* Returns the contents of a section, or NULL if they are not in the file as they are. */
static const void *contents(const struct image *image, const ElfW(Shdr) * section)
{
	return section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED ||
			       !is_in(image, section->sh_offset, section->sh_size)
		       ? NULL
		       : image->bytes + section->sh_offset;
}

/* Returns the function with the code at OFFSET from where its module is loaded, by the symbols of
 * TYPE. Sets *INSIDE to how far behind its begin OFFSET is. */
static const char *symbol_at(const struct image *image, ElfW(Word) type, uint64_t offset,
			     uint64_t *inside)
{
	for (unsigned int i = 0; i < image->section_count; i++) {
		const ElfW(Shdr) *section = &image->sections[i], *texts;
		const ElfW(Sym) * symbols;
		const char *text;

		if (section->sh_type != type || section->sh_link >= image->section_count)
			continue;
		texts = &image->sections[section->sh_link];
		symbols = contents(image, section);
		text = contents(image, texts);
		if (!symbols || !text || section->sh_offset % sizeof(long) ||
		    !texts->sh_size || text[texts->sh_size - 1])
			continue;
		for (size_t at = 0; at < section->sh_size / sizeof(*symbols); at++)
			if (ELF64_ST_TYPE(symbols[at].st_info) == STT_FUNC &&
			    offset >= symbols[at].st_value &&
			    offset - symbols[at].st_value <
				    symbols[at].st_size + !symbols[at].st_size &&
			    symbols[at].st_shndx != SHN_UNDEF &&
			    symbols[at].st_name < texts->sh_size) {
				*inside = offset - symbols[at].st_value;
				return text + symbols[at].st_name;
			}
	}
	return NULL;
}

static unsigned int line_at(const struct image *image, uint64_t offset)
{
	const ElfW(Ehdr) *header = (const void *)image->bytes;
	const ElfW(Shdr) * names;
	const char *text;

	if (header->e_shstrndx >= image->section_count)
		return 0;
	names = &image->sections[header->e_shstrndx];
	text = contents(image, names);
	if (!text || !names->sh_size || text[names->sh_size - 1])
		return 0;
	for (unsigned int i = 0; i < image->section_count; i++) {
		const ElfW(Shdr) *section = &image->sections[i];
		const void *lines = contents(image, section);

		if (lines && section->sh_name < names->sh_size &&
		    !strcmp(text + section->sh_name, ".debug_line"))
			return lines_find(lines, section->sh_size, offset);
	}
	return 0;
}

/* Returns the name of a function of C++ as it is written, if the program has the runtime of
 * C++, else NULL. free(3) it. */
static char *written_name(const char *symbol)
{
	char *(*demangle)(const char *, char *, size_t *, int *);

	if (strncmp(symbol, "_Z", 2) != 0)
		return NULL;
	*(void **)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	return demangle ? demangle(symbol, NULL, NULL, NULL) : NULL;
}

/* Writes the name of SYMBOL, "solve._omp_fn.0", with its line if that is not 0, or else with how far
 * INSIDE the code is. */
static void name_of_symbol(const char *symbol, unsigned int line, uint64_t inside,
			   const char *kind, char *name, size_t size)
{
	static const char mark[] = "._omp_fn.";
	const char *number = strstr(symbol, mark);
	char *function =
		number ? strndup(symbol, (size_t)(number - symbol)) : strdup(symbol);
	char *written = function ? written_name(function) : NULL;
	const char *text = written ? written : function ? function : symbol;
	int room = (int)size - 48;

	number = number ? number + strlen(mark) : "";
	if (line)
		snprintf(name, size, "%.*s:%u (%s)", room, text, line, kind);
	else if (*number)
		snprintf(name, size, "%.*s (%s %.*s)", room, text, kind,
			 (int)strspn(number, "0123456789"), number);
	else if (inside)
		snprintf(name, size, "%.*s+0x%llx (%s)", room, text,
			 (unsigned long long)inside, kind);
	else
		snprintf(name, size, "%.*s (%s)", room, text, kind);
	free(written);
	free(function);
}

void code_name(const void *address, const char *kind, char *name, size_t size)
{
	const char *symbol = NULL, *path, *file;
	struct link_map *module = NULL;
	struct image image = {0};
	uint64_t offset, inside = 0;
	Dl_info info;

	if (!dladdr1(address, &info, (void **)&module, RTLD_DL_LINKMAP) || !module) {
		snprintf(name, size, "%p (%s)", address, kind);
		return;
	}
	offset = (uintptr_t)address - module->l_addr;
	/* The name of the program itself may be that of another file by now. */
	path = *module->l_name ? module->l_name : "/proc/self/exe";
	if (!map(path, &image)) {
		symbol = symbol_at(&image, SHT_SYMTAB, offset, &inside);
		if (!symbol)
			symbol = symbol_at(&image, SHT_DYNSYM, offset, &inside);
	}
	if (symbol) {
		name_of_symbol(symbol, line_at(&image, offset), inside, kind, name, size);
	} else {
		path = *module->l_name ? module->l_name : program_invocation_name;
		file = strrchr(path, '/');
		snprintf(name, size, "%.*s+0x%llx (%s)", (int)size - 64,
			 file ? file + 1 : path, (unsigned long long)offset, kind);
	}
	if (image.bytes)
		munmap((void *)(uintptr_t)image.bytes, image.size);
	dlerror();
}
