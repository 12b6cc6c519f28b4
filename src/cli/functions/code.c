/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Symbols and debug information are read by libdw of the elfutils, which is loaded when a
 * name is looked up, and is not needed otherwise. */
#include "cli/functions/code.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#include "arch/exact_names.h"

#ifdef HAVE_LIBDWFL
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#define CALLS(X)                                                                         \
	X(dwfl_begin)                                                                    \
	X(dwfl_report_offline)                                                           \
	X(dwfl_report_end)                                                               \
	X(dwfl_module_getsymtab)                                                         \
	X(dwfl_module_getsym)                                                            \
	X(dwfl_module_nextcu)                                                            \
	X(dwfl_offline_section_address)                                                  \
	X(dwfl_build_id_find_debuginfo)                                                  \
	X(dwfl_standard_find_debuginfo)                                                  \
	X(dwfl_end)                                                                      \
	X(dwarf_getfuncs)                                                                \
	X(dwarf_func_inline)                                                             \
	X(dwarf_func_inline_instances)                                                   \
	X(dwarf_diename)                                                                 \
	X(dwarf_attr_integrate)                                                          \
	X(dwarf_formstring)                                                              \
	X(dwarf_formudata)

#define POINTER(name) __typeof__(name) *name;
static struct {
	CALLS(POINTER)
} libdw;
#undef POINTER

static char *(*demangle)(const char *, char *, size_t *, int *);

static bool load(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	void *cxx = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	bool whole = library;

#define FIND(name)                                                                       \
	if (whole) {                                                                     \
		*(void **)&libdw.name = dlsym(library, #name);                           \
		whole = libdw.name;                                                      \
	}
	CALLS(FIND)
#undef FIND
	if (cxx)
		*(void **)&demangle = dlsym(cxx, "__cxa_demangle");
	return whole;
}

struct search {
	struct code_name *names;
	uint32_t count;
};

/* Writes the name of SYMBOL as a user writes it. Returns whether it is of Fortran. */
static bool name_of(char name[PM_EXACT_NAME_MAX + 1], const char *symbol)
{
	char *written = demangle && !strncmp(symbol, "_Z", 2)
				? demangle(symbol, NULL, NULL, NULL)
				: NULL;
	bool fortran = pm_name_of_symbol(name, written ? written : symbol);

	free(written);
	return fortran;
}

/* --- symbols ------------------------------------------------------------------------- */

static void take_symbol(const struct search *search, const char *symbol, bool indirect)
{
	char name[PM_EXACT_NAME_MAX + 1], spelling[PM_EXACT_NAME_MAX + 1];
	bool fortran = name_of(name, symbol);
	struct pm_name_parts parts = pm_name_split(name);

	memcpy(spelling, name + parts.begin, parts.bare - parts.begin);
	spelling[parts.bare - parts.begin] = '\0';
	for (uint32_t i = 0; i < search->count; i++) {
		struct code_name *wanted = &search->names[i];

		if (pm_name_matches(wanted->pattern, name, fortran)) {
			wanted->has_code |= !indirect;
			wanted->has_variants |= indirect;
		} else if (strlen(spelling) < sizeof(wanted->near.best)) {
			pm_suggestion_offer(&wanted->near, spelling, NULL);
		}
	}
}

static void take_symbols(Dwfl_Module *module, const struct search *search)
{
	int count = libdw.dwfl_module_getsymtab(module);

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Word section;
		const char *name = libdw.dwfl_module_getsym(module, i, &symbol, &section);

		if (name && *name && symbol.st_shndx != SHN_UNDEF &&
		    (GELF_ST_TYPE(symbol.st_info) == STT_FUNC ||
		     GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) &&
		    !pm_name_is_cold(name))
			take_symbol(search, name,
				    GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC);
	}
}

/* --- inlined functions ---------------------------------------------------------------- */

/* Returns whether both have the number: ATTRIBUTE_A of A is ATTRIBUTE_B of B. */
static bool have_same(Dwarf_Die *a, unsigned int attribute_a, Dwarf_Die *b,
		      unsigned int attribute_b)
{
	Dwarf_Attribute attribute;
	Dwarf_Word x, y;

	return !libdw.dwarf_formudata(
		       libdw.dwarf_attr_integrate(a, attribute_a, &attribute), &x) &&
	       !libdw.dwarf_formudata(
		       libdw.dwarf_attr_integrate(b, attribute_b, &attribute), &y) &&
	       x == y;
}

struct places {
	Dwarf_Die *function;
	uint32_t count;
};

/* A function that the compiler has cut into parts calls itself, where it begins. */
static int count_place(Dwarf_Die *place, void *argument)
{
	struct places *places = argument;

	if (!have_same(place, DW_AT_call_line, places->function, DW_AT_decl_line) ||
	    !have_same(place, DW_AT_call_file, places->function, DW_AT_decl_file))
		places->count++;
	return DWARF_CB_OK;
}

static const char *symbol_of(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;

	return libdw.dwarf_formstring(
		libdw.dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
}

/* Returns PATTERN without the namespaces and classes around the function. */
static const char *last_part(const char *pattern)
{
	const char *at;

	while ((at = strstr(pattern, "::")))
		pattern = at + 2;
	return pattern;
}

static int take_function(Dwarf_Die *function, void *argument)
{
	const struct search *search = argument;
	char name[PM_EXACT_NAME_MAX + 1];
	const char *symbol = symbol_of(function), *plain = libdw.dwarf_diename(function);
	bool fortran;

	if (!libdw.dwarf_func_inline(function) || (!symbol && !plain))
		return DWARF_CB_OK;
	fortran = name_of(name, symbol ? symbol : plain);
	for (uint32_t i = 0; i < search->count; i++) {
		struct code_name *wanted = &search->names[i];
		struct places places = {function, 0};

		/* A function of one file alone has no symbol, and its plain name here. */
		if (!pm_name_matches(symbol ? wanted->pattern
					    : last_part(wanted->pattern),
				     name, fortran))
			continue;
		libdw.dwarf_func_inline_instances(function, count_place, &places);
		if (!places.count)
			continue;
		wanted->inlined += places.count;
		if (wanted->inline_name[0])
			wanted->inlines_others |=
				strncmp(wanted->inline_name, name,
					sizeof(wanted->inline_name) - 1) != 0;
		snprintf(wanted->inline_name, sizeof(wanted->inline_name), "%.127s",
			 name);
	}
	return DWARF_CB_OK;
}

static void take_functions(Dwfl_Module *module, struct search *search)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	while ((unit = libdw.dwfl_module_nextcu(module, unit, &bias)))
		libdw.dwarf_getfuncs(unit, take_function, search, 0);
}

/* --- files --------------------------------------------------------------------------- */

/* Finds separate debug information on this machine. A server of debuginfod, which the
 * environment may name, would make the user wait. */
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

/* Opens the file PATH, whose only module is *MODULE, or NULL if it cannot be read. */
static Dwfl *open_file(const char *path, Dwfl_Module **module)
{
	static Dwfl_Callbacks callbacks = {.find_debuginfo = find_debug};
	Dwfl *dwfl;

	callbacks.section_address = libdw.dwfl_offline_section_address;
	dwfl = libdw.dwfl_begin(&callbacks);
	*module = dwfl ? libdw.dwfl_report_offline(dwfl, path, path, -1) : NULL;
	if (dwfl)
		libdw.dwfl_report_end(dwfl, NULL, NULL);
	return dwfl;
}

static void look_in(const char *path, struct search *search)
{
	Dwfl_Module *module;
	Dwfl *dwfl = open_file(path, &module);

	if (module) {
		take_symbols(module, search);
		take_functions(module, search);
	}
	libdw.dwfl_end(dwfl);
}

bool code_has_local_names(const char *path)
{
	Dwfl_Module *module;
	bool found = false;
	Dwfl *dwfl;
	int count;

	if (!load())
		return true;
	dwfl = open_file(path, &module);
	count = module ? libdw.dwfl_module_getsymtab(module) : -1;
	for (int i = 1; i < count && !found; i++) {
		GElf_Sym symbol;
		GElf_Word section;

		found = libdw.dwfl_module_getsym(module, i, &symbol, &section) &&
			GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
			GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
	}
	libdw.dwfl_end(dwfl);
	return found || count < 0;
}

bool code_look(char *const *objects, uint32_t count, struct code_name *names,
	       uint32_t name_count)
{
	struct search search = {names, name_count};

	if (!load())
		return false;
	/* The program's own names are the nearest. */
	while (count--)
		look_in(objects[count], &search);
	return true;
}
#else
bool code_has_local_names(const char *path)
{
	(void)path;
	return true;
}

bool code_look(char *const *objects, uint32_t count, struct code_name *names,
	       uint32_t name_count)
{
	(void)objects;
	(void)count;
	(void)names;
	(void)name_count;
	return false;
}
#endif
