/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libdw of the elfutils, which reads symbols and debug information. It is loaded when it is first
 * asked for, and is not needed otherwise. */
#ifndef PM_CLI_CODE_DW_H
#define PM_CLI_CODE_DW_H

#include <stdbool.h>

#include "config.h"

/* Loads the library of C++, which writes names of functions as its programs do. Returns whether it is
 * there. */
bool pm_dw_load_cxx(void);

/* Returns a name of C++ as it is written, or NULL if SYMBOL is none, or the library of C++ is not loaded.
 * free(3) it. */
char *pm_dw_written(const char *symbol);

#ifdef HAVE_LIBDWFL
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#define PM_DW_CALLS(X)                                                                   \
	X(dwfl_begin)                                                                    \
	X(dwfl_report_elf)                                                               \
	X(dwfl_report_offline)                                                           \
	X(dwfl_report_end)                                                               \
	X(dwfl_module_addrinfo)                                                          \
	X(dwfl_module_build_id)                                                          \
	X(dwfl_module_getelf)                                                            \
	X(dwfl_module_getsrc)                                                            \
	X(dwfl_module_getsymtab)                                                         \
	X(dwfl_module_getsym)                                                            \
	X(dwfl_module_nextcu)                                                            \
	X(dwfl_linecu)                                                                   \
	X(dwfl_getsrclines)                                                              \
	X(dwfl_onesrcline)                                                               \
	X(dwfl_lineinfo)                                                                 \
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

#define PM_DW_POINTER(name) __typeof__(name) *name;
struct pm_dw {
	PM_DW_CALLS(PM_DW_POINTER)
};
#undef PM_DW_POINTER

/* The library's functions, or NULL if it cannot be loaded. One thread at a time asks. */
const struct pm_dw *pm_dw_load(void);

/* Begins with no module. Separate debug information is found on this machine alone: a server of
 * debuginfod, which the environment may name, would make the caller wait. NULL without memory. */
Dwfl *pm_dw_begin(const struct pm_dw *dw);
#endif

#endif
