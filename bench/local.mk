# SPDX-License-Identifier: LGPL-2.1-or-later
# Built by "make check" and run by scripts/bench. They link the shared library, as
# programs do.
BENCHES = bench/bench_reads bench/bench_regions bench/bench_threads bench/bench_time
BENCHES += bench/bench_sessions
BENCHES += bench/bench_notify
BENCHES += bench/bench_kept
BENCHES += bench/bench_around
BENCHES += bench/bench_merge
check_LTLIBRARIES += bench/libbench.la
bench_libbench_la_SOURCES = bench/bench.c bench/bench.h bench/calls.c
BENCH_LIBS = bench/libbench.la libperfmon.la -lm

bench_bench_reads_LDADD = $(BENCH_LIBS)
bench_bench_regions_LDADD = $(BENCH_LIBS)
bench_bench_notify_LDADD = $(BENCH_LIBS)
bench_bench_kept_LDADD = $(BENCH_LIBS)
bench_bench_around_LDADD = $(BENCH_LIBS)
bench_bench_merge_LDADD = $(BENCH_LIBS)

# Programs that it starts must be no scripts of libtool's.
BENCHES += bench/bench_start
bench_bench_start_LDADD = $(BENCH_LIBS)
bench_bench_start_LDFLAGS = $(AM_LDFLAGS) -no-install
# It starts itself under Valgrind.
BENCHES += bench/bench_exact
bench_bench_exact_LDADD = libperfmon.la -lm
bench_bench_exact_LDFLAGS = $(AM_LDFLAGS) -no-install
check_PROGRAMS += bench/start_empty bench/start_linked bench/start_region
bench_start_empty_SOURCES = bench/start.c
bench_start_linked_SOURCES = bench/start.c
bench_start_linked_LDADD = libperfmon.la
bench_start_linked_LDFLAGS = $(AM_LDFLAGS) -no-install -Wl,--no-as-needed
bench_start_region_SOURCES = bench/start.c
bench_start_region_CPPFLAGS = $(AM_CPPFLAGS) -DSTART_REGION
bench_start_region_LDADD = libperfmon.la
bench_start_region_LDFLAGS = $(AM_LDFLAGS) -no-install

# What watches another: by the inside of the library.
check_PROGRAMS += bench/watcher
bench_watcher_SOURCES = bench/watcher.c
bench_watcher_LDADD = libperfmon_all.la
bench_bench_sessions_LDADD = $(BENCH_LIBS)
bench_bench_threads_LDADD = $(BENCH_LIBS)
bench_bench_time_LDADD = $(BENCH_LIBS)

if X86_64
BENCHES += bench/bench_step
BENCH_FAKE_PMU = bench/fake_pmu.c bench/fake_pmu.h
bench_bench_step_SOURCES = bench/bench_step.c $(BENCH_FAKE_PMU)
bench_bench_step_LDADD = $(BENCH_LIBS)
endif

if HAVE_PAPI
BENCHES += bench/bench_papi
bench_bench_papi_SOURCES = bench/bench_papi.c $(BENCH_FAKE_PMU)
bench_bench_papi_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CFLAGS)
bench_bench_papi_LDADD = $(BENCH_LIBS) $(PAPI_LIBS)
endif
# What bench/diff_study runs and compares.
check_PROGRAMS += bench/diff_program
bench_diff_program_SOURCES = bench/diff_program.c
bench_diff_program_LDADD = libperfmon.la
bench_diff_program_LDFLAGS = $(AM_LDFLAGS) -no-install
# What bench/cost_line runs.
check_PROGRAMS += bench/cost_programs
bench_cost_programs_SOURCES = bench/cost_programs.c
bench_cost_programs_LDADD = libperfmon.la -lm
bench_cost_programs_LDFLAGS = $(AM_LDFLAGS) -no-install
check_PROGRAMS += $(BENCHES)
EXTRA_DIST += bench/limits bench/diff_study bench/cost_line
