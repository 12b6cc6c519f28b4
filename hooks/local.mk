# SPDX-License-Identifier: LGPL-2.1-or-later
# Hooks: libraries of their own, above the public headers. perfmon run --hooks preloads them, and
# a program may link them. They find libperfmon beside them, wherever both are installed. Their
# functions may be left by an exception, or by cancellation.
if HAVE_SHARED
lib_LTLIBRARIES += libperfmon-kokkos.la libperfmon-likwid.la libperfmon-mpi-regions.la \
	libperfmon-openmp.la libperfmon-papi-hl.la libperfmon-threads.la
endif
HOOK_CFLAGS = $(AM_CFLAGS) -fexceptions
HOOK_CPPFLAGS = -I$(top_srcdir)/include -I$(top_srcdir)
HOOK_LDFLAGS = $(AM_LDFLAGS) -shared -version-info $(PERFMON_ABI) -no-undefined -Wl,-z,nodelete \
	-Wl,-rpath,'$$ORIGIN'

libperfmon_kokkos_la_SOURCES = hooks/kokkos.c hooks/common/names.c hooks/common/names.h \
	hooks/common/original.h hooks/kokkos/label.c hooks/kokkos/label.h
libperfmon_kokkos_la_CFLAGS = $(HOOK_CFLAGS)
libperfmon_kokkos_la_CPPFLAGS = $(HOOK_CPPFLAGS)
libperfmon_kokkos_la_LDFLAGS = $(HOOK_LDFLAGS)
libperfmon_kokkos_la_LIBADD = libperfmon.la

libperfmon_likwid_la_SOURCES = hooks/likwid.c hooks/common/fortran.h hooks/common/original.h
libperfmon_likwid_la_CFLAGS = $(HOOK_CFLAGS)
libperfmon_likwid_la_CPPFLAGS = $(HOOK_CPPFLAGS)
libperfmon_likwid_la_LDFLAGS = $(HOOK_LDFLAGS)
libperfmon_likwid_la_LIBADD = libperfmon.la

# The report of all ranks comes from the same file as libperfmon-mpi's, for any MPI.
libperfmon_mpi_regions_la_SOURCES = hooks/mpi.c hooks/common/original.c hooks/common/original.h \
	hooks/mpi/any.c hooks/mpi/any/mpi.h hooks/mpi/calls.h hooks/mpi/libraries.h \
	src/mpi/finalize.c
libperfmon_mpi_regions_la_CFLAGS = $(HOOK_CFLAGS)
libperfmon_mpi_regions_la_CPPFLAGS = $(HOOK_CPPFLAGS) -I$(top_srcdir)/hooks/mpi/any
libperfmon_mpi_regions_la_LDFLAGS = $(HOOK_LDFLAGS)
libperfmon_mpi_regions_la_LIBADD = libperfmon.la

libperfmon_openmp_la_SOURCES = hooks/openmp.c \
	hooks/common/original.c hooks/common/original.h \
	hooks/openmp/gomp.h hooks/openmp/kmp.c hooks/openmp/kmp.h hooks/openmp/kmp_tasks.c \
	hooks/openmp/name.c hooks/openmp/name.h hooks/openmp/places.c hooks/openmp/places.h \
	hooks/openmp/team.c hooks/openmp/team.h \
	src/cli/code/code.c src/cli/code/code.h src/cli/code/dw.c src/cli/code/dw.h \
	src/cli/code/elf.c src/cli/code/elf.h
libperfmon_openmp_la_CFLAGS = $(HOOK_CFLAGS)
libperfmon_openmp_la_CPPFLAGS = $(HOOK_CPPFLAGS) -I$(top_srcdir)/src
libperfmon_openmp_la_LDFLAGS = $(HOOK_LDFLAGS)
libperfmon_openmp_la_LIBADD = libperfmon.la

libperfmon_papi_hl_la_SOURCES = hooks/papi-hl.c hooks/common/fortran.h hooks/common/original.h
libperfmon_papi_hl_la_CFLAGS = $(HOOK_CFLAGS)
libperfmon_papi_hl_la_CPPFLAGS = $(HOOK_CPPFLAGS)
libperfmon_papi_hl_la_LDFLAGS = $(HOOK_LDFLAGS)
libperfmon_papi_hl_la_LIBADD = libperfmon.la

libperfmon_threads_la_SOURCES = hooks/threads.c hooks/common/original.c hooks/common/original.h
libperfmon_threads_la_CFLAGS = $(HOOK_CFLAGS)
libperfmon_threads_la_CPPFLAGS = $(HOOK_CPPFLAGS)
libperfmon_threads_la_LDFLAGS = $(HOOK_LDFLAGS)
libperfmon_threads_la_LIBADD = libperfmon.la

# Headers that stand in for those of others. Each has a folder of its own, which pkg-config names.
likwidincludedir = $(includedir)/perfmon-compat/likwid
likwidinclude_HEADERS = include/perfmon-compat/likwid/likwid-marker.h \
	include/perfmon-compat/likwid/likwid.f90 include/perfmon-compat/likwid/likwid.h
papihlincludedir = $(includedir)/perfmon-compat/papi-hl
papihlinclude_HEADERS = include/perfmon-compat/papi-hl/f77papi.h \
	include/perfmon-compat/papi-hl/f90papi.h include/perfmon-compat/papi-hl/fpapi.h \
	include/perfmon-compat/papi-hl/papi.h
