/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that are chosen, by the names that Valgrind reads in the symbols. */
#include "functions.h"
#include "../src/arch/exact_names.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#define HASH_SIZE 4096
#define PATH_SIZE 4096

struct pattern {
	const HChar *text;
	UInt found; /* functions */
};

struct function {
	HChar *name;
	UInt next;   /* of its hash, or 0 */
	Bool wanted; /* by a pattern */
};

static struct pattern *patterns;
static UInt pattern_count;
static Bool all; /* --functions=yes */
static struct function *functions;
static UInt function_count, function_room, hashed[HASH_SIZE];
static HChar **named; /* files of which a function was found */
static UInt named_count;

Bool pm_functions_on;

Bool pm_names_option(const HChar *argument)
{
	const HChar *text;

	if VG_BOOL_CLO (argument, "--functions", all) {
	} else if VG_STR_CLO (argument, "--function", text) {
		patterns = VG_(realloc)("perfmon.patterns", patterns,
					(pattern_count + 1) * sizeof(patterns[0]));
		patterns[pattern_count].text = text;
		patterns[pattern_count++].found = 0;
	} else {
		return False;
	}
	pm_functions_on = all || pattern_count;
	return True;
}

/* --- functions ------------------------------------------------------------------------ */

static UInt hash_of(const HChar *name)
{
	UInt hash = 5381;

	while (*name)
		hash = hash * 33 + (UChar)*name++;
	return hash % HASH_SIZE;
}

static UInt find(const HChar *name)
{
	UInt f = hashed[hash_of(name)];

	while (f && VG_(strcmp)(functions[f].name, name))
		f = functions[f].next;
	return f;
}

static UInt add(const HChar *name, Bool wanted)
{
	UInt hash = hash_of(name), f = ++function_count;

	if (f >= function_room) {
		function_room = function_room ? 2 * function_room : 256;
		functions = VG_(realloc)("perfmon.functions", functions,
					 function_room * sizeof(functions[0]));
	}
	functions[f].name = VG_(strdup)("perfmon.function", name);
	functions[f].wanted = wanted;
	functions[f].next = hashed[hash];
	hashed[hash] = f;
	return f;
}

/* The start of a program is no function of it, unless it is asked for. */
static Bool is_start(const HChar *name)
{
	return VG_(get_fnname_kind)(name) == Vg_FnNameBelowMain ||
	       !VG_(strcmp)(name, "_start") || !VG_(strcmp)(name, "(below main)") ||
	       !VG_(strncmp)(name, "__libc_start_", 13);
}

/* Returns the number of the function NAME, or 0 if it is not chosen. */
static UInt choose(const HChar *name, Bool fortran)
{
	UInt f = find(name), i;
	Bool wanted = False;

	if (f)
		return f;
	for (i = 0; i < pattern_count; i++) {
		if (!pm_name_matches(patterns[i].text, name, fortran))
			continue;
		patterns[i].found++;
		wanted = True;
	}
	return wanted || (all && !is_start(name)) ? add(name, wanted) : 0;
}

/* Notes that the file with the code at AT has symbols. */
static void note_symbols(Addr at)
{
	const HChar *object;
	UInt i;

	if (!VG_(get_objname)(VG_(current_DiEpoch)(), at, &object))
		return;
	/* Mostly it is the same file as before. */
	for (i = named_count; i--;)
		if (!VG_(strcmp)(named[i], object))
			return;
	named = VG_(realloc)("perfmon.named", named,
			     (named_count + 1) * sizeof(named[0]));
	named[named_count++] = VG_(strdup)("perfmon.named", object);
}

static Bool has_symbols(const HChar *object)
{
	UInt i;

	for (i = 0; i < named_count; i++)
		if (!VG_(strcmp)(named[i], object))
			return True;
	return False;
}

UInt pm_names_begins(Addr at)
{
	HChar name[PM_EXACT_NAME_MAX + 1];
	const HChar *found;
	bool fortran;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), at, &found) ||
	    pm_name_is_cold(found))
		return 0;
	note_symbols(at);
	fortran = pm_name_of_symbol(name, found);
	return choose(name, fortran);
}

Bool pm_names_leaves(Addr from, Addr to)
{
	HChar name[PM_EXACT_NAME_MAX + 1];
	const HChar *found;
	DiEpoch now = VG_(current_DiEpoch)();

	if (VG_(get_fnname_if_entry)(now, to, &found) ||
	    !VG_(get_fnname)(now, from, &found))
		return False;
	VG_(strncpy)(name, found, PM_EXACT_NAME_MAX);
	name[PM_EXACT_NAME_MAX] = '\0';
	return VG_(get_fnname)(now, to, &found) &&
	       VG_(strncmp)(name, found, PM_EXACT_NAME_MAX);
}

/* --- output --------------------------------------------------------------------------- */

/* Finds the tool's own file, whose functions are none of the program. */
static void find_tool(HChar file[PATH_SIZE])
{
	SSizeT n = VG_(readlink)("/proc/self/exe", file, PATH_SIZE - 1);

	file[n > 0 ? n : 0] = '\0';
}

void pm_names_write(void (*line)(const HChar *format, ...))
{
	HChar tool[PATH_SIZE];
	const DebugInfo *object;
	UInt i;

	find_tool(tool);
	for (i = 1; i <= function_count; i++)
		line("function %u %d %s\n", i, functions[i].wanted, functions[i].name);
	for (i = 0; i < pattern_count; i++)
		line("pattern %u\n", patterns[i].found);
	for (object = VG_(next_DebugInfo)(NULL); object;
	     object = VG_(next_DebugInfo)(object)) {
		const HChar *file = VG_(DebugInfo_get_filename)(object);

		if (VG_(strcmp)(file, tool))
			line("object %d %s\n", has_symbols(file), file);
	}
}
