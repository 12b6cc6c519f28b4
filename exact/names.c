/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of functions and what users write for them.
 *
 * A function has the name that Valgrind reads in the symbols, in the form of its language:
 * "ns::f(int)" of C++, "module::f" of Fortran. A copy that the compiler made, such as
 * "f.constprop.0", is the function itself.
 */
#include "functions.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_seqmatch.h"

#define NAME_MOST 1000 /* PERFMON_PROFILE_NAME_MAX */
#define HASH_SIZE 4096

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
static Bool has_symbols; /* of the program itself a function was found */

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

/* --- forms of a name ------------------------------------------------------------------ */

static Bool is_word(HChar c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

/* Cuts NAME behind its first LENGTH bytes. */
static void cut(HChar *name, const HChar *at)
{
	name[at - name] = '\0';
}

/* Removes what the linker and the compiler have put behind the name: a version, and the mark
 * of a copy. The parts of OpenMP's constructs are functions of their own. */
static void remove_marks(HChar *name)
{
	static const HChar *const marks[] = {" [clone ", ".constprop.", ".isra.", ".part.",
					     ".lto_priv.", ".localalias"};
	const HChar *at = VG_(strchr)(name, '@');
	UInt i;

	if (at)
		cut(name, at);
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		at = VG_(strstr)(name, marks[i]);
		if (at && at != name && !VG_(strstr)(name, "._omp_fn"))
			cut(name, at);
	}
}

/* "__heat_MOD_step" is the procedure "step" of the module "heat". */
static void write_fortran(HChar *name)
{
	HChar *at = VG_(strstr)(name, "_MOD_");

	if (name[0] != '_' || name[1] != '_' || !at || at == name + 2)
		return;
	VG_(memmove)(name, name + 2, (SizeT)(at - name - 2));
	at[-2] = at[-1] = ':';
	VG_(memmove)(at, at + 5, VG_(strlen)(at + 5) + 1);
}

/* Returns the length of the group in brackets that begins at TEXT. */
static SizeT group(const HChar *text)
{
	SizeT i, depth = 0;

	for (i = 0; text[i]; i++) {
		if (text[i] == '(' || text[i] == '<' || text[i] == '{')
			depth++;
		else if (text[i] == ')' || text[i] == '}' ||
			 (text[i] == '>' && i && text[i - 1] != '-'))
			depth--;
		if (!depth)
			return i + 1;
	}
	return i;
}

/* Returns the length of an operator's name that begins at TEXT: "operator()" and the like
 * are no brackets. 0: there is none. */
static SizeT operator_length(const HChar *text, const HChar *name)
{
	SizeT n = sizeof("operator") - 1;

	if (VG_(strncmp)(text, "operator", n) || (text > name && is_word(text[-1])) ||
	    is_word(text[n]))
		return 0;
	if (!VG_(strncmp)(text + n, "()", 2))
		return n + 2;
	while (text[n] && text[n] != '(' && text[n] != ' ')
		n++;
	return n;
}

/*
 * Finds the parts of a name of C++: the qualified name begins at BEGIN and ends at END,
 * where the parameters begin. It ends at BARE without the last arguments of a template.
 */
static void split(const HChar *name, SizeT *begin, SizeT *end, SizeT *bare)
{
	SizeT i = 0, n;

	*begin = *bare = 0;
	while (name[i]) {
		n = operator_length(name + i, name);
		if (n) {
			i += n;
			*bare = i;
			continue;
		}
		if (name[i] == '(' && VG_(strncmp)(name + i, "(anonymous", 10) && i > *begin)
			break;
		if (name[i] == ' ')
			*begin = i + 1;
		n = name[i] == '<' || name[i] == '(' || name[i] == '{' ? group(name + i) : 1;
		if (name[i] != '<')
			*bare = i + n;
		i += n;
	}
	*end = i;
	if (*bare <= *begin)
		*bare = i;
}

static Bool matches_part(const HChar *pattern, const HChar *name, SizeT begin, SizeT end)
{
	HChar part[NAME_MOST + 1];

	VG_(memcpy)(part, name + begin, end - begin);
	part[end - begin] = '\0';
	return VG_(string_match)(pattern, part);
}

/* Matches PATTERN with the name as it is, without its parameters, its result and the
 * arguments of a template; without the '_' of a Fortran procedure, and without the module's
 * name. */
static Bool matches(const HChar *pattern, const HChar *name, Bool fortran)
{
	SizeT begin, end, bare, length = VG_(strlen)(name);
	const HChar *procedure;

	if (VG_(string_match)(pattern, name))
		return True;
	split(name, &begin, &end, &bare);
	if (matches_part(pattern, name, 0, end) || matches_part(pattern, name, begin, end) ||
	    matches_part(pattern, name, begin, bare))
		return True;
	if (length > 1 && name[length - 1] == '_' &&
	    matches_part(pattern, name, 0, length - 1))
		return True;
	procedure = fortran ? VG_(strstr)(name, "::") : NULL;
	return procedure && VG_(string_match)(pattern, procedure + 2);
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
	       !VG_(strcmp)(name, "_start") ||
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
		if (!matches(patterns[i].text, name, fortran))
			continue;
		patterns[i].found++;
		wanted = True;
	}
	return wanted || (all && !is_start(name)) ? add(name, wanted) : 0;
}

/* Notes whether the program itself, and not a library, has symbols. */
static void note_symbols(Addr at)
{
	static const HChar *program;
	const HChar *object;

	if (has_symbols || !VG_(get_objname)(VG_(current_DiEpoch)(), at, &object))
		return;
	if (!program)
		program = VG_(basename)(VG_(args_the_exename));
	has_symbols = !VG_(strcmp)(VG_(basename)(object), program);
}

UInt pm_names_begins(Addr at)
{
	HChar name[NAME_MOST + 1];
	const HChar *found;
	Bool fortran;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), at, &found) ||
	    VG_(strstr)(found, ".cold"))
		return 0;
	VG_(strncpy)(name, found, NAME_MOST);
	name[NAME_MOST] = '\0';
	note_symbols(at);
	remove_marks(name);
	fortran = VG_(strstr)(name, "_MOD_") != NULL;
	write_fortran(name);
	return choose(name, fortran);
}

Bool pm_names_leaves(Addr from, Addr to)
{
	HChar name[NAME_MOST + 1];
	const HChar *found;
	DiEpoch now = VG_(current_DiEpoch)();

	if (VG_(get_fnname_if_entry)(now, to, &found) || !VG_(get_fnname)(now, from, &found))
		return False;
	VG_(strncpy)(name, found, NAME_MOST);
	name[NAME_MOST] = '\0';
	return VG_(get_fnname)(now, to, &found) && VG_(strncmp)(name, found, NAME_MOST);
}

/* --- output --------------------------------------------------------------------------- */

void pm_names_write(void (*line)(const HChar *format, ...))
{
	const DebugInfo *object;
	UInt i;

	for (i = 1; i <= function_count; i++)
		line("function %u %d %s\n", i, functions[i].wanted, functions[i].name);
	for (i = 0; i < pattern_count; i++)
		line("pattern %u\n", patterns[i].found);
	line("symbols %d\n", has_symbols);
	for (object = VG_(next_DebugInfo)(NULL); object;
	     object = VG_(next_DebugInfo)(object))
		line("object %s\n", VG_(DebugInfo_get_filename)(object));
}
