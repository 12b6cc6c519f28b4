# SPDX-License-Identifier: LGPL-2.1-or-later
# What other languages need above the public headers. The module of Python finds the library from its
# own place, so that it is installed as it is. A Fortran module is installed as its source, which
# perfmon.pc names, since compilers do not read each other's module files.
dist_python_DATA = lang/python/libperfmon.py
dist_pminclude_DATA = lang/fortran/perfmon.f90
if HAVE_FORTRAN
noinst_DATA = lang/fortran/perfmon.o
endif
lang/fortran/perfmon.o: lang/fortran/perfmon.f90
	$(AM_V_GEN)$(MKDIR_P) lang/fortran && source=`realpath $<` && cd lang/fortran && \
	$(FC) $(FCFLAGS) -c "$$source" -o perfmon.o
CLEANFILES += lang/fortran/perfmon.o lang/fortran/perfmon.mod
