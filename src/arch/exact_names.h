/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of functions: what a symbol is called, and whether a user's pattern means it.
 * The Valgrind tool of exact/ and the command share this, so it calls no C library.
 *
 * A function has its name in the form of its language: "ns::f(int)" of C++, "module::f" of
 * Fortran. A copy that the compiler made, such as "f.constprop.0", is the function itself.
 */
#ifndef PM_ARCH_EXACT_NAMES_H
#define PM_ARCH_EXACT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Longer names are cut, as those of regions are (PERFMON_PROFILE_NAME_MAX). */
#define PM_EXACT_NAME_MAX 1000

/* Returns whether TEXT begins with PREFIX. */
static inline bool pm_name_starts(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

/* Returns where PART is in TEXT, or NULL. */
static inline const char *pm_name_find(const char *text, const char *part)
{
	for (; *text; text++)
		if (pm_name_starts(text, part))
			return text;
	return NULL;
}

static inline bool pm_name_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$';
}

/* Returns the length of SYMBOL without what the linker and the compiler have put behind the
 * name: a version, and the mark of a copy. The parts of OpenMP's constructs are functions of
 * their own. */
static inline size_t pm_name_length(const char *symbol)
{
	static const char *const marks[] = {"@",	  " [clone ", ".constprop.",
					    ".isra.",	  ".part.",   ".lto_priv.",
					    ".localalias"};
	size_t length = 0;

	for (; symbol[length] && length < PM_EXACT_NAME_MAX; length++) {
		for (size_t m = 0; length && m < sizeof(marks) / sizeof(marks[0]); m++)
			if (pm_name_starts(symbol + length, marks[m]) &&
			    !pm_name_find(symbol + length, "._omp_fn"))
				return length;
	}
	return length;
}

/* Returns whether SYMBOL is the rarely executed part of a function, which the compiler put elsewhere:
 * "f.cold", or "f.cold.3" of older ones. "main.coldStart" of Go is a function. */
static inline bool pm_name_is_cold(const char *symbol)
{
	const char *at = pm_name_find(symbol, ".cold");

	for (; at; at = pm_name_find(at + 1, ".cold")) {
		const char *end = at + sizeof(".cold") - 1;

		if (*end == '.' && end[1] >= '0' && end[1] <= '9')
			for (end++; *end >= '0' && *end <= '9';)
				end++;
		if (!*end || *end == '@' || *end == ']' ||
		    pm_name_starts(end, " [clone "))
			return true;
	}
	return false;
}

/*
 * Writes the name of the function SYMBOL, whose name of C++ is as it is written. "__heat_MOD_step" is
 * the procedure "step" of the module "heat". Returns whether it is such a procedure.
 */
static inline bool pm_name_of_symbol(char name[PM_EXACT_NAME_MAX + 1], const char *symbol)
{
	size_t length = pm_name_length(symbol), n = 0, i = 0;
	const char *mark = pm_name_find(symbol, "_MOD_");
	bool fortran = mark > symbol + 2 && mark < symbol + length &&
		       pm_name_starts(symbol, "__");

	if (fortran)
		i = 2;
	for (; i < length; i++) {
		if (fortran && symbol + i == mark) {
			name[n++] = ':';
			name[n++] = ':';
			i += sizeof("_MOD_") - 2;
		} else {
			name[n++] = symbol[i];
		}
	}
	name[n] = '\0';
	return fortran;
}

/* Returns whether PATTERN, in which * is any text and ? one byte, matches the LENGTH bytes of
 * TEXT. */
static inline bool pm_name_glob(const char *pattern, const char *text, size_t length)
{
	const char *star = NULL, *end = text + length, *back = NULL;

	while (text < end) {
		if (*pattern == '*') {
			star = ++pattern;
			back = text;
		} else if (*pattern && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Returns the length of the group in brackets that begins at TEXT. */
static inline size_t pm_name_group(const char *text)
{
	size_t i, depth = 0;

	for (i = 0; text[i]; i++) {
		if (text[i] == '(' || text[i] == '<' || text[i] == '{')
			depth++;
		else if (text[i] == ')' || text[i] == '}' ||
			 (text[i] == '>' && text[i - 1] != '-'))
			depth--;
		if (!depth)
			return i + 1;
	}
	return i;
}

/* Returns the length of an operator's name that begins at TEXT, a part of NAME, or 0. The
 * signs of "operator()" and "operator<" are no brackets. */
static inline size_t pm_name_operator(const char *text, const char *name)
{
	size_t n = sizeof("operator") - 1;

	if (!pm_name_starts(text, "operator") ||
	    (text > name && pm_name_is_word(text[-1])) || pm_name_is_word(text[n]))
		return 0;
	if (pm_name_starts(text + n, "()"))
		return n + 2;
	/* "operator new", or to a type. */
	if (text[n] == ' ')
		n++;
	while (text[n] && text[n] != '(' && (text[n] != ' ' || text[n + 1] != '('))
		n++;
	return n;
}

/* Returns whether the parameters at TEXT end a name. Those of a function that has another one
 * inside of it, as a lambda, do not. */
static inline bool pm_name_ends_at(const char *text)
{
	const char *behind = text + pm_name_group(text);

	return !pm_name_starts(text, "(anonymous") && !pm_name_starts(behind, "::") &&
	       !pm_name_starts(behind, " const::");
}

/* Parts of a name of C++, by the places where they end or begin. */
struct pm_name_parts {
	size_t begin; /* behind the type of the result */
	size_t end;   /* before the parameters */
	size_t bare;  /* before the arguments of the template, if it is one */
};

static inline struct pm_name_parts pm_name_split(const char *name)
{
	struct pm_name_parts parts = {0, 0, 0};
	size_t i = 0, n;

	while (name[i]) {
		n = pm_name_operator(name + i, name);
		if (n) {
			i += n;
			parts.bare = i;
			continue;
		}
		if (name[i] == '(' && i > parts.begin && pm_name_ends_at(name + i))
			break;
		if (name[i] == ' ' && !pm_name_starts(name + i, " const::"))
			parts.begin = i + 1;
		n = name[i] == '<' || name[i] == '(' || name[i] == '{'
			    ? pm_name_group(name + i)
			    : 1;
		if (name[i] != '<')
			parts.bare = i + n;
		i += n;
	}
	parts.end = i;
	if (parts.bare <= parts.begin)
		parts.bare = i;
	return parts;
}

/*
 * Returns whether PATTERN means the function NAME: its whole name, or the name without
 * parameters, without the type of the result, or without the arguments of a template. Of
 * FORTRAN it may lack the module's name, and the '_' at the end.
 */
static inline bool pm_name_matches(const char *pattern, const char *name, bool fortran)
{
	struct pm_name_parts parts = pm_name_split(name);
	size_t length = parts.end;
	const char *procedure = fortran ? pm_name_find(name, "::") : NULL;

	while (name[length])
		length++;
	if (pm_name_glob(pattern, name, length) ||
	    pm_name_glob(pattern, name, parts.end) ||
	    pm_name_glob(pattern, name + parts.begin, parts.end - parts.begin) ||
	    pm_name_glob(pattern, name + parts.begin, parts.bare - parts.begin))
		return true;
	if (length > 1 && name[length - 1] == '_' &&
	    pm_name_glob(pattern, name, length - 1))
		return true;
	return procedure && pm_name_glob(pattern, procedure + 2,
					 length - (size_t)(procedure + 2 - name));
}

#endif
