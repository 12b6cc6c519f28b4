/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbols and the lines of code are read by libdwfl of the elfutils, which also finds separate
 * and compressed debug information. It is loaded at the first construct. Without it names are those
 * of exported functions.
 */
#include "hooks/openmp/name.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

/* What is known of a place in the code. */
struct code {
	char *symbol;	 /* free(3) it; NULL: not known */
	uint64_t inside; /* how far behind the symbol's begin it is */
	unsigned int line;
};

#ifdef HAVE_LIBDWFL
#include <elfutils/libdwfl.h>

#define CALLS(X)                                                                         \
	X(dwfl_begin)                                                                    \
	X(dwfl_report_elf)                                                               \
	X(dwfl_report_end)                                                               \
	X(dwfl_module_addrinfo)                                                          \
	X(dwfl_module_getsrc)                                                            \
	X(dwfl_linecu)                                                                   \
	X(dwfl_getsrclines)                                                              \
	X(dwfl_onesrcline)                                                               \
	X(dwfl_lineinfo)                                                                 \
	X(dwfl_offline_section_address)                                                  \
	X(dwfl_build_id_find_debuginfo)                                                  \
	X(dwfl_standard_find_debuginfo)                                                  \
	X(dwfl_end)

#define POINTER(name) __typeof__(name) *name;
static struct {
	CALLS(POINTER)
} libdw;
#undef POINTER

static bool load(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	bool whole = library;

#define FIND(name)                                                                       \
	if (whole) {                                                                     \
		*(void **)&libdw.name = dlsym(library, #name);                           \
		whole = libdw.name;                                                      \
	}
	CALLS(FIND)
#undef FIND
	return whole;
}

/* Finds separate debug information on this machine. A server of debuginfod, which the
 * environment may name, would stop the program until it answers. */
static int find_debug(Dwfl_Module *module, void **argument, const char *name,
		      Dwarf_Addr base, const char *file, const char *link, GElf_Word sum,
		      char **found)
{
	int fd = libdw.dwfl_build_id_find_debuginfo(module, argument, name, base, file,
						    link, sum, found);
	const char *servers = getenv("DEBUGINFOD_URLS");

	if (fd >= 0 || (servers && *servers))
		return fd;
	return libdw.dwfl_standard_find_debuginfo(module, argument, name, base, file,
						  link, sum, found);
}

/* Returns the line of the code at ADDRESS, or 0. Of several at the place where a part of a function
 * begins the first is that of the construct. */
static unsigned int line_of(Dwfl_Module *module, uintptr_t address)
{
	Dwfl_Line *line = libdw.dwfl_module_getsrc(module, address);
	Dwarf_Die *unit = line ? libdw.dwfl_linecu(line) : NULL;
	Dwarf_Addr at = 0, other = 0;
	size_t count = 0;
	int number = 0;

	if (!unit || !libdw.dwfl_lineinfo(line, &at, &number, NULL, NULL, NULL) ||
	    libdw.dwfl_getsrclines(unit, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		line = libdw.dwfl_onesrcline(unit, i);
		if (line &&
		    libdw.dwfl_lineinfo(line, &other, &number, NULL, NULL, NULL) &&
		    other == at)
			break;
	}
	return number > 0 ? (unsigned int)number : 0;
}

static void describe(Dwfl_Module *module, uintptr_t address, struct code *code)
{
	GElf_Sym symbol;
	GElf_Off inside;
	const char *name = libdw.dwfl_module_addrinfo(module, address, &inside, &symbol,
						      NULL, NULL, NULL);

	if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC) {
		code->symbol = strdup(name);
		code->inside = inside;
	}
	code->line = line_of(module, address);
}

/* Returns the module of the file at PATH, which is loaded at BASE. It is kept: many constructs have
 * one file. The caller has the lock. */
static Dwfl_Module *module_of(const char *path, uintptr_t base)
{
	static Dwfl_Callbacks callbacks = {.find_debuginfo = find_debug};
	static Dwfl *dwfl;
	static Dwfl_Module *module;
	static uintptr_t kept_base;
	static char *kept_path;

	if (kept_path && kept_base == base && !strcmp(kept_path, path))
		return module;
	if (dwfl)
		libdw.dwfl_end(dwfl);
	free(kept_path);
	callbacks.section_address = libdw.dwfl_offline_section_address;
	dwfl = libdw.dwfl_begin(&callbacks);
	module = dwfl ? libdw.dwfl_report_elf(dwfl, path, path, -1, base, true) : NULL;
	if (dwfl)
		libdw.dwfl_report_end(dwfl, NULL, NULL);
	kept_base = base;
	kept_path = strdup(path);
	return module;
}

/* Reads the file at PATH, which is loaded at BASE. The caller has the lock. */
static void read_file(const char *path, uintptr_t base, uintptr_t address,
		      struct code *code)
{
	static int loaded; /* -1: it cannot be */
	Dwfl_Module *module;

	if (!loaded)
		loaded = load() ? 1 : -1;
	module = loaded > 0 ? module_of(path, base) : NULL;
	if (module)
		describe(module, address, code);
}

static void look_up(const char *path, uintptr_t base, uintptr_t address,
		    struct code *code)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	read_file(path, base, address, code);
	pthread_mutex_unlock(&lock);
}
#else
static void look_up(const char *path, uintptr_t base, uintptr_t address,
		    struct code *code)
{
	(void)path;
	(void)base;
	(void)address;
	(void)code;
}
#endif

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
	const char *path, *file;
	struct link_map *module = NULL;
	struct code code = {.line = 0};
	Dl_info info;

	if (!dladdr1(address, &info, (void **)&module, RTLD_DL_LINKMAP) || !module) {
		snprintf(name, size, "%p (%s)", address, kind);
		return;
	}
	/* The name of the program itself may be that of another file by now. */
	path = *module->l_name ? module->l_name : "/proc/self/exe";
	look_up(path, module->l_addr, (uintptr_t)address, &code);
	if (!code.symbol && info.dli_sname) {
		code.symbol = strdup(info.dli_sname);
		code.inside = (uintptr_t)address - (uintptr_t)info.dli_saddr;
	}
	if (code.symbol) {
		name_of_symbol(code.symbol, code.line, code.inside, kind, name, size);
	} else {
		path = *module->l_name ? module->l_name : program_invocation_name;
		file = strrchr(path, '/');
		snprintf(name, size, "%.*s+0x%llx (%s)", (int)size - 64,
			 file ? file + 1 : path,
			 (unsigned long long)((uintptr_t)address - module->l_addr), kind);
	}
	free(code.symbol);
	dlerror();
}
