/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/functions/code.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/exact_names.h"
#include "cli/code/dw.h"

#ifdef HAVE_LIBDWFL
static const struct pm_dw *dw;

static bool load(void)
{
	dw = pm_dw_load();
	pm_dw_load_cxx();
	return dw;
}

struct search {
	struct code_name *names;
	uint32_t count;
};

/* Writes the name of SYMBOL as a user writes it. Returns whether it is of Fortran. */
static bool name_of(char name[PM_EXACT_NAME_MAX + 1], const char *symbol)
{
	char *written = pm_dw_written(symbol);
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
	int count = dw->dwfl_module_getsymtab(module);

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Word section;
		const char *name = dw->dwfl_module_getsym(module, i, &symbol, &section);

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

	return !dw->dwarf_formudata(dw->dwarf_attr_integrate(a, attribute_a, &attribute),
				    &x) &&
	       !dw->dwarf_formudata(dw->dwarf_attr_integrate(b, attribute_b, &attribute),
				    &y) &&
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

	return dw->dwarf_formstring(
		dw->dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));
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
	const char *symbol = symbol_of(function), *plain = dw->dwarf_diename(function);
	bool fortran;

	if (!dw->dwarf_func_inline(function) || (!symbol && !plain))
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
		dw->dwarf_func_inline_instances(function, count_place, &places);
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

	while ((unit = dw->dwfl_module_nextcu(module, unit, &bias)))
		dw->dwarf_getfuncs(unit, take_function, search, 0);
}

/* --- files --------------------------------------------------------------------------- */

/* Opens the file PATH, whose only module is *MODULE, or NULL if it cannot be read. */
static Dwfl *open_file(const char *path, Dwfl_Module **module)
{
	Dwfl *dwfl = pm_dw_begin(dw);

	*module = dwfl ? dw->dwfl_report_offline(dwfl, path, path, -1) : NULL;
	if (dwfl)
		dw->dwfl_report_end(dwfl, NULL, NULL);
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
	dw->dwfl_end(dwfl);
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
	count = module ? dw->dwfl_module_getsymtab(module) : -1;
	for (int i = 1; i < count && !found; i++) {
		GElf_Sym symbol;
		GElf_Word section;

		found = dw->dwfl_module_getsym(module, i, &symbol, &section) &&
			GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
			GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
	}
	dw->dwfl_end(dwfl);
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
