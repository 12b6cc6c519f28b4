# SPDX-License-Identifier: LGPL-2.1-or-later
# What another language needs above the public headers. A Fortran module is installed as its
# source, which perfmon.pc names, since compilers do not read each other's module files.
dist_pminclude_DATA = bindings/perfmon.f90
if HAVE_FORTRAN
noinst_DATA = bindings/perfmon.o
endif
bindings/perfmon.o: bindings/perfmon.f90
	$(AM_V_GEN)$(MKDIR_P) bindings && source=`realpath $<` && cd bindings && \
	$(FC) $(FCFLAGS) -c "$$source" -o perfmon.o
CLEANFILES += bindings/perfmon.o bindings/perfmon.mod
