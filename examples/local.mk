# SPDX-License-Identifier: LGPL-2.1-or-later
noinst_PROGRAMS += examples/stream examples/matmul
examples_stream_SOURCES = examples/stream.c
examples_stream_LDADD = libperfmon.la -lm
examples_matmul_SOURCES = examples/matmul.c
examples_matmul_LDADD = libperfmon.la
noinst_PROGRAMS += examples/heat
examples_heat_SOURCES = examples/heat.c
examples_heat_LDADD = libperfmon.la
noinst_PROGRAMS += examples/cpus
examples_cpus_SOURCES = examples/cpus.c
examples_cpus_LDADD = libperfmon.la
noinst_PROGRAMS += examples/harness
examples_harness_SOURCES = examples/harness.c
examples_harness_LDADD = libperfmon.la
noinst_PROGRAMS += examples/sorting
examples_sorting_SOURCES = examples/sorting.cc
examples_sorting_LDADD = libperfmon.la
noinst_PROGRAMS += examples/profile
examples_profile_SOURCES = examples/profile.c
examples_profile_LDADD = libperfmon.la
noinst_PROGRAMS += examples/pool examples/loop
examples_pool_SOURCES = examples/pool.c
examples_pool_LDADD = libperfmon.la
examples_loop_SOURCES = examples/loop.c
examples_loop_LDADD = libperfmon.la
# Where the compiler, and where the library is there.
if HAVE_OPENMP
noinst_PROGRAMS += examples/openmp
endif
examples_openmp_SOURCES = examples/openmp.c
examples_openmp_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
examples_openmp_LDADD = libperfmon.la -lm
if HAVE_BENCHMARK
noinst_PROGRAMS += examples/googlebench
endif
examples_googlebench_SOURCES = examples/googlebench.cc
examples_googlebench_CPPFLAGS = $(AM_CPPFLAGS) $(BENCHMARK_CFLAGS)
examples_googlebench_LDADD = libperfmon.la $(BENCHMARK_LIBS)
# Installed with a Makefile of their own. An MPI program is compiled by MPI's compiler.
examplesdir = $(docdir)/examples
dist_examples_DATA = examples/Makefile examples/async.cc examples/catch2.cc examples/coroutines.cc \
	examples/cpus.c examples/googlebench.cc examples/harness.c examples/heat.c examples/heat.py \
	examples/loop.c examples/matmul.c examples/nanobench.cc examples/openmp.c examples/plate.f90 \
	examples/pool.c examples/profile.c examples/ranks.c examples/sorting.cc examples/stream.c \
	examples/strips.F90
# A project with a comparison in continuous integration, in a folder of its own.
ciexamplesdir = $(examplesdir)/ci
dist_ciexamples_DATA = examples/ci/Makefile examples/ci/search.c examples/ci/workflow.yml
dist_ciexamples_SCRIPTS = examples/ci/compare
