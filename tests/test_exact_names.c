/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the symbols of functions are called, and which a user's pattern means. Row: QU-02 */
#include <criterion/criterion.h>
#include <string.h>

#include "arch/exact_names.h"

static void expect_name(const char *symbol, const char *wanted)
{
	char name[PM_EXACT_NAME_MAX + 1];

	pm_name_of_symbol(name, symbol);
	cr_expect_str_eq(name, wanted, "'%s' is '%s', not '%s'", symbol, name, wanted);
}

Test(exact_names, marks_are_no_part_of_a_name)
{
	expect_name("solve", "solve");
	expect_name("solve.constprop.0", "solve");
	expect_name("solve.isra.0.part.3", "solve");
	expect_name("memcpy@@GLIBC_2.14", "memcpy");
	expect_name("ns::f(int) [clone .constprop.0]", "ns::f(int)");
	expect_name("solve._omp_fn.0", "solve._omp_fn.0");
	expect_name(".part.0", ".part.0");
	expect_name("", "");
}

Test(exact_names, rarely_executed_parts_are_no_functions)
{
	static const char *const parts[] = {"f.cold", "f.cold.3", "f.constprop.0.cold",
					    "f.cold@V1", "f(int) [clone .cold]"};
	static const char *const functions[] = {"main.coldStart", "main.cold.func1",
						"cold", "f.colder.2",
						"main.coldStart.func1"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		cr_expect(pm_name_is_cold(parts[i]), "%s", parts[i]);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		cr_expect(!pm_name_is_cold(functions[i]), "%s", functions[i]);
}

Test(exact_names, fortran_has_modules)
{
	expect_name("__heat_MOD_step", "heat::step");
	expect_name("__heat_MOD_step.constprop.0", "heat::step");
	expect_name("solve_", "solve_");
	expect_name("a_MOD_b", "a_MOD_b");
	expect_name("___MOD_x", "___MOD_x");
	expect_name("__a_MOD_", "a::");
	expect_name("___MO", "___MO");
}

Test(exact_names, long_names_are_cut)
{
	char symbol[3000], name[PM_EXACT_NAME_MAX + 1];

	memset(symbol, 'x', sizeof(symbol) - 1);
	symbol[sizeof(symbol) - 1] = '\0';
	pm_name_of_symbol(name, symbol);
	cr_expect_eq(strlen(name), PM_EXACT_NAME_MAX);
	memcpy(symbol, "__a_MOD_", 8);
	pm_name_of_symbol(name, symbol);
	cr_expect_eq(strlen(name), PM_EXACT_NAME_MAX - 5);
}

static const struct {
	const char *pattern, *name;
	bool matches, fortran;
} patterns[] = {
	{"solve", "solve", true, false},
	{"solve", "solver", false, false},
	{"sol*", "solver", true, false},
	{"*ver", "solver", true, false},
	{"s?lver", "solver", true, false},
	{"s?lver", "slver", false, false},
	{"*", "", true, false},
	{"", "solve", false, false},
	{"a*b*c", "a1b2b3c", true, false},
	{"a*b*c", "a1b2b3", false, false},
	{"ns::f", "ns::f(int, char*)", true, false},
	{"ns::f(int, char*)", "ns::f(int, char*)", true, false},
	{"ns::f(int)", "ns::f(int, char*)", false, false},
	{"f", "ns::f(int)", false, false},
	{"*::f", "ns::f(int)", true, false},
	{"ns::C::f", "ns::C::f() const", true, false},
	{"std::sort", "void std::sort<int*, less<int> >(int*, int*, less<int>)", true,
	 false},
	{"std::sort<int*, less<int> >",
	 "void std::sort<int*, less<int> >(int*, int*, less<int>)", true, false},
	{"ns::A<int>::f", "ns::A<int>::f(ns::A<int> (*)(int))", true, false},
	{"C::operator()", "C::operator()(int) const", true, false},
	{"C::operator<", "C::operator<(C const&) const", true, false},
	{"operator<<", "std::ostream& operator<< <int>(std::ostream&, int)", false,
	 false},
	{"C::operator->", "C::operator->()", true, false},
	{"C::operator bool", "C::operator bool() const", true, false},
	{"operator new", "operator new(unsigned long)", true, false},
	{"(anonymous namespace)::f", "(anonymous namespace)::f(int)", true, false},
	{"f(int)::{lambda(int)#1}::operator()",
	 "f(int)::{lambda(int)#1}::operator()(int) const", true, false},
	{"A::f() const::{lambda()#1}::operator()",
	 "A::f() const::{lambda()#1}::operator()() const", true, false},
	{"my_operators", "my_operators", true, false},
	{"solve", "solve_", true, false},
	{"solve_", "solve_", true, false},
	{"step", "heat::step", true, true},
	{"step", "heat::step", false, false},
	{"heat::step", "heat::step", true, true},
	{"heat::*", "heat::step", true, true},
	/* Broken names end somewhere. */
	{"f", "f(((", true, false},
	{"f<", "f<", true, false},
	{"x", ")>}", false, false},
	{"x", "operator", false, false},
	{"x", "operator ", false, false},
};

Test(exact_names, a_pattern_means_a_function)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		cr_expect_eq(pm_name_matches(patterns[i].pattern, patterns[i].name,
					     patterns[i].fortran),
			     patterns[i].matches, "'%s' and '%s'", patterns[i].pattern,
			     patterns[i].name);
}
