# SPDX-License-Identifier: LGPL-2.1-or-later
EXTRA_DIST += tests/breakpoints.h tests/helpers.h tests/kernel_calls.h tests/messages.h tests/watched.h
# Races are plain programs, so that they run under ThreadSanitizer.
check_PROGRAMS += tests/race_snapshot
TESTS += tests/race_snapshot
tests_race_snapshot_SOURCES = tests/race_snapshot.c tests/profile_builder.h
tests_race_snapshot_LDADD = libperfmon_all.la

check_PROGRAMS += tests/many_paths
TESTS += tests/many_paths
tests_many_paths_SOURCES = tests/many_paths.c
tests_many_paths_LDADD = libperfmon_all.la

check_PROGRAMS += tests/fuzz_profile
TESTS += tests/fuzz_profile
tests_fuzz_profile_SOURCES = tests/fuzz_profile.c tests/profile_builder.h
tests_fuzz_profile_LDADD = libperfmon_all.la

check_PROGRAMS += tests/race_model
TESTS += tests/race_model
tests_race_model_SOURCES = tests/race_model.c
tests_race_model_LDADD = libperfmon_all.la

# What the suite abi compares with.
EXTRA_DIST += tests/data/abi.constants tests/data/abi.xml

# Recorded machines, and what tests of events share.
EXTRA_DIST += tests/data/biglittle.tree tests/data/hybrid.tree tests/data/icelake.tree \
	tests/data/sapphire.tree tests/data/server.tree \
	tests/events_dump.h tests/tree.h \
	tests/machine.h

# As users do: C++11, and the shared library.
check_PROGRAMS += tests/inline_cxx
TESTS += tests/inline_cxx
tests_inline_cxx_SOURCES = tests/inline_cxx.cc
tests_inline_cxx_LDADD = libperfmon.la
check_PROGRAMS += tests/test_cxx
TESTS += tests/test_cxx
tests_test_cxx_SOURCES = tests/test_cxx.cc
tests_test_cxx_LDADD = libperfmon.la

# What tests run as programs of their own.
check_PROGRAMS += tests/programs/region_ends tests/programs/region_loads \
	tests/programs/region_cxx
check_PROGRAMS += tests/programs/exact_regions
tests_programs_exact_regions_SOURCES = tests/programs/exact_regions.c
tests_programs_exact_regions_LDADD = libperfmon.la -lm
check_PROGRAMS += tests/programs/exact_blocks
tests_programs_exact_blocks_SOURCES = tests/programs/exact_blocks.c
tests_programs_exact_blocks_LDADD = libperfmon.la
check_PROGRAMS += tests/programs/storm
tests_programs_storm_SOURCES = tests/programs/storm.c tests/storm.h
# Without sanitizers, which have threads and page faults of their own.
tests_programs_storm_CFLAGS = $(PM_CFLAGS) $(PM_WARN)
tests_programs_storm_LDFLAGS =
check_PROGRAMS += tests/programs/profile_make tests/programs/profile_marks tests/programs/profile_wide \
	tests/programs/measure
tests_programs_measure_SOURCES = tests/programs/measure.c
tests_programs_profile_make_SOURCES = tests/programs/profile_make.c tests/profile_builder.h
check_PROGRAMS += tests/programs/profile_exact
tests_programs_profile_exact_SOURCES = tests/programs/profile_exact.c tests/profile_builder.h
tests_programs_profile_marks_SOURCES = tests/programs/profile_marks.c tests/profile_builder.h
tests_programs_profile_marks_LDADD = -lm
tests_programs_profile_wide_SOURCES = tests/programs/profile_wide.c tests/profile_builder.h
tests_programs_profile_wide_LDADD =
check_LTLIBRARIES += tests/programs/region_plugin.la
tests_programs_region_ends_SOURCES = tests/programs/region_ends.c
tests_programs_region_ends_LDADD = libperfmon.la
tests_programs_region_loads_SOURCES = tests/programs/region_loads.c
tests_programs_region_loads_LDADD = -ldl
tests_programs_region_cxx_SOURCES = tests/programs/region_cxx.cc
tests_programs_region_cxx_LDADD = libperfmon.la
tests_programs_region_plugin_la_SOURCES = tests/programs/region_plugin.c
tests_programs_region_plugin_la_LIBADD = libperfmon.la
# -rpath makes libtool build a shared object of what is not installed.
tests_programs_region_plugin_la_LDFLAGS = $(AM_LDFLAGS) -module -shared -avoid-version \
	-rpath /nowhere
check_PROGRAMS += tests/programs/region_copies
tests_programs_region_copies_SOURCES = tests/programs/region_copies.c
tests_programs_region_copies_LDADD = -ldl
check_PROGRAMS += tests/programs/region_faked
tests_programs_region_faked_SOURCES = tests/programs/region_faked.c
tests_programs_region_faked_LDADD = libperfmon.la
tests_programs_region_faked_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
# With the whole library in it, as a plugin has it that is linked with the archive.
check_LTLIBRARIES += tests/programs/region_plugin_own.la
tests_programs_region_plugin_own_la_SOURCES = tests/programs/region_plugin.c
tests_programs_region_plugin_own_la_LIBADD = libperfmon_all.la
tests_programs_region_plugin_own_la_LDFLAGS = $(AM_LDFLAGS) -module -shared -avoid-version \
	-rpath /nowhere
# What the scripts share.
EXTRA_DIST += tests/tap.sh tests/export_check.py tests/python/python_check.py
dist_check_SCRIPTS += tests/test_examples.sh
TESTS += tests/test_examples.sh
if HAVE_COMMAND
dist_check_SCRIPTS += tests/test_diff.sh tests/test_export.sh tests/test_export_readers.sh tests/test_hostile.sh \
	tests/test_passes.sh tests/test_truth_command.sh
TESTS += tests/test_diff.sh tests/test_export.sh tests/test_export_readers.sh tests/test_hostile.sh \
	tests/test_passes.sh tests/test_truth_command.sh
check_PROGRAMS += tests/programs/diff_work tests/programs/export_work tests/programs/passes_work tests/programs/diff_phases tests/programs/odd_names \
	tests/programs/profile_hostile tests/programs/trace_check
else
EXTRA_DIST += tests/test_diff.sh tests/test_export.sh tests/test_export_readers.sh tests/test_hostile.sh \
	tests/test_passes.sh tests/test_truth_command.sh
endif
if HAVE_COMMAND
dist_check_SCRIPTS += tests/test_groups.sh tests/test_named_metrics.sh
TESTS += tests/test_groups.sh tests/test_named_metrics.sh
check_PROGRAMS += tests/programs/metric_values
else
EXTRA_DIST += tests/test_groups.sh tests/test_named_metrics.sh
endif
EXTRA_DIST += tests/metric_values.py
tests_programs_metric_values_SOURCES = tests/programs/metric_values.c src/cli/common/json_read.c \
	src/cli/metrics/definition.c src/cli/metrics/expression.c src/cli/metrics/file.c \
	src/cli/metrics/formula.c src/cli/metrics/perf.c
tests_programs_metric_values_LDADD = libperfmon_all.la
tests_programs_profile_hostile_SOURCES = tests/programs/profile_hostile.c tests/profile_builder.h
tests_programs_profile_hostile_LDADD = libperfmon_all.la
tests_programs_odd_names_SOURCES = tests/programs/odd_names.c
tests_programs_odd_names_LDADD = libperfmon.la
tests_programs_trace_check_SOURCES = tests/programs/trace_check.c
tests_programs_trace_check_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(TEST_JANSSON)
tests_programs_trace_check_LDADD = $(JANSSON_LIBS)
tests_programs_passes_work_SOURCES = tests/programs/passes_work.c
tests_programs_passes_work_LDADD = libperfmon.la

tests_programs_diff_work_SOURCES = tests/programs/diff_work.c
tests_programs_diff_work_LDADD = libperfmon.la
tests_programs_export_work_SOURCES = tests/programs/export_work.c
tests_programs_export_work_LDADD = libperfmon.la
tests_programs_diff_phases_SOURCES = tests/programs/diff_phases.c
tests_programs_diff_phases_LDADD = libperfmon.la
if HAVE_COMMAND
dist_check_SCRIPTS += tests/test_stat.sh tests/test_package_events.sh
TESTS += tests/test_stat.sh tests/test_package_events.sh
check_PROGRAMS += tests/programs/stat_work
check_PROGRAMS += tests/programs/breakpoints
check_PROGRAMS += tests/programs/json_get
check_PROGRAMS += tests/programs/terminal tests/programs/top_work
else
EXTRA_DIST += tests/test_stat.sh tests/test_package_events.sh
endif
tests_programs_terminal_SOURCES = tests/programs/terminal.c
tests_programs_top_work_SOURCES = tests/programs/top_work.c
tests_programs_top_work_LDADD = libperfmon.la
tests_programs_breakpoints_SOURCES = tests/programs/breakpoints.c
tests_programs_stat_work_SOURCES = tests/programs/stat_work.c
tests_programs_json_get_SOURCES = tests/programs/json_get.c
tests_programs_json_get_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(TEST_JANSSON)
tests_programs_json_get_LDADD = $(JANSSON_LIBS)
if HAVE_JANSSON
TEST_JANSSON = -DHAVE_JANSSON
endif
if HAVE_VALGRIND
check_PROGRAMS += tests/programs/exact_functions
tests_programs_exact_functions_SOURCES = tests/programs/exact_functions.cc
tests_programs_exact_functions_CXXFLAGS = -g -O2 -Wall
tests_programs_exact_functions_LDADD = -lpthread
EXTRA_DIST += tests/exact_functions.awk tests/suites/exact_functions.sh
check_PROGRAMS += tests/programs/exact_truth
endif
# Known instructions: with no more than the compiler was asked for.
tests_programs_exact_truth_SOURCES = tests/programs/exact_truth.c
tests_programs_exact_truth_CFLAGS = $(PM_CFLAGS) $(PM_WARN) -O1
tests_programs_exact_truth_LDFLAGS =
tests_programs_exact_truth_LDADD = -ldl
check_PROGRAMS += tests/programs/perfmon2_self tests/programs/perfmon2_self_cxx
check_PROGRAMS += tests/programs/perfmon2_remote tests/programs/perfmon2_sets
check_PROGRAMS += tests/programs/perfmon2_section9 tests/programs/perfmon2_section9_cxx
tests_programs_perfmon2_remote_SOURCES = tests/programs/perfmon2_remote.c
tests_programs_perfmon2_remote_LDADD = libperfmon.la
tests_programs_perfmon2_sets_SOURCES = tests/programs/perfmon2_sets.c
tests_programs_perfmon2_sets_LDADD = libperfmon.la
tests_programs_perfmon2_section9_SOURCES = tests/programs/perfmon2_section9.c
tests_programs_perfmon2_section9_LDADD = libperfmon.la
tests_programs_perfmon2_section9_cxx_SOURCES = tests/programs/perfmon2_section9_cxx.cc
tests_programs_perfmon2_section9_cxx_LDADD = libperfmon.la
tests_programs_perfmon2_self_SOURCES = tests/programs/perfmon2_self.c
tests_programs_perfmon2_self_LDADD = libperfmon.la
tests_programs_perfmon2_self_cxx_SOURCES = tests/programs/perfmon2_self_cxx.cc
tests_programs_perfmon2_self_cxx_LDADD = libperfmon.la
EXTRA_DIST += tests/beds tests/suites/beds.sh tests/suites/completion.sh
EXTRA_DIST += tests/quotes.pl tests/suites/pages.sh tests/suites/pair.sh tests/page_check.js tests/page_marks_check.js \
	tests/page_exact_check.js tests/page_ordinary_check.js tests/page_team_check.js tests/page_waits_check.js tests/page_wide_check.js
EXTRA_DIST += tests/suites/dist.sh tests/suites/exact_diff.sh tests/suites/exact_run.sh tests/suites/exact_guest.sh tests/suites/exact_tool.sh \
	tests/suites/format.sh tests/suites/html.sh tests/suites/install.sh tests/suites/layers.sh \
	tests/tables tests/tables.awk \
	tests/suites/profiles.sh tests/suites/quiet.sh \
	tests/suites/regions.sh tests/suites/snapshots.long.sh
EXTRA_DIST += tests/suites/roofline.sh tests/programs/roofline_kernels.c tests/suites/top.sh
EXTRA_DIST += tests/suites/languages.sh tests/programs/languages.f90

if HAVE_CRITERION
CRITERION_TESTS = tests/test_options tests/test_report tests/test_report_text tests/test_snapshot
CRITERION_TESTS += tests/test_threads
CRITERION_TESTS += tests/test_diff_decide
CRITERION_TESTS += tests/test_exact_names
CRITERION_TESTS += tests/test_truth
CRITERION_TESTS += tests/test_report_exact
CRITERION_TESTS += tests/test_hottest
CRITERION_TESTS += tests/test_join
CRITERION_TESTS += tests/test_merge
CRITERION_TESTS += tests/test_merge_tree
CRITERION_TESTS += tests/test_mpi
CRITERION_TESTS += tests/test_profile_file
CRITERION_TESTS += tests/test_profile_reader
CRITERION_TESTS += tests/test_library tests/test_machine
CRITERION_TESTS += tests/test_groups_tables tests/test_sanity tests/test_metric tests/test_stride
CRITERION_TESTS += tests/test_stride_auto
CRITERION_TESTS += tests/test_kept tests/test_kept_kill
CRITERION_TESTS += tests/test_process
CRITERION_TESTS += tests/test_counter_read tests/test_guest_read tests/test_guest_whole \
	tests/test_instance \
	tests/test_read tests/test_session
CRITERION_TESTS += tests/test_overflow tests/test_overflow_example
CRITERION_TESTS += tests/test_midway
CRITERION_TESTS += tests/test_sampling
CRITERION_TESTS += tests/test_sets
CRITERION_TESTS += tests/test_periods
CRITERION_TESTS += tests/test_switching
CRITERION_TESTS += tests/test_states
CRITERION_TESTS += tests/test_arm_states
CRITERION_TESTS += tests/test_control
CRITERION_TESTS += tests/test_cost
CRITERION_TESTS += tests/test_structs
CRITERION_TESTS += tests/test_sentences
CRITERION_TESTS += tests/test_prepared
CRITERION_TESTS += tests/test_faults
CRITERION_TESTS += tests/test_faults_around
CRITERION_TESTS += tests/test_targets
CRITERION_TESTS += tests/test_events tests/test_events_errors tests/test_events_list \
	tests/test_events_machines tests/test_events_open tests/test_modes
CRITERION_TESTS += tests/test_regions tests/test_pair tests/test_keep tests/test_region_access tests/test_region_code tests/test_region_fork \
	tests/test_region_less tests/test_region_programs tests/test_region_signals \
	tests/test_region_levels tests/test_region_threads tests/test_region_truth \
	tests/test_filters tests/test_steps tests/test_overlap tests/test_quantity tests/test_short_threads tests/test_task tests/test_team \
	tests/test_packages
CRITERION_TESTS += tests/test_locks tests/test_region_limits
CRITERION_TESTS += tests/test_topdown
CRITERION_TESTS += tests/test_format
CRITERION_TESTS += tests/test_log
CRITERION_TESTS += tests/test_log_perf
CRITERION_TESTS += tests/test_perfmon2
CRITERION_TESTS += tests/test_perfmon2_overflow
CRITERION_TESTS += tests/test_perfmon2_section9
CRITERION_TESTS += tests/test_ring
CRITERION_TESTS += tests/test_sample
CRITERION_TESTS += tests/test_guest_hotplug
CRITERION_TESTS += tests/test_info
CRITERION_TESTS += tests/test_placement
CRITERION_TESTS += tests/test_stat_own
CRITERION_TESTS += tests/test_top
CRITERION_TESTS += tests/test_cpuwide
check_PROGRAMS += $(CRITERION_TESTS)
TESTS += $(CRITERION_TESTS)
TEST_CPPFLAGS = $(AM_CPPFLAGS) $(CRITERION_CFLAGS)
# Optimising what runs once would take most of a build's time. So test programs are compiled
# without optimisation, whatever CFLAGS configure was given; CFLAGS given to make are final.
# The programs below keep it: they show what a compiler makes of the inline read, or they
# count their own instructions and cycles.
UNOPTIMISED = -O0 -U_FORTIFY_SOURCE
tests/test_%.$(OBJEXT): CFLAGS += $(UNOPTIMISED)
tests/test_cost-%.$(OBJEXT): UNOPTIMISED =
tests/test_counter_read-%.$(OBJEXT): UNOPTIMISED =
tests/test_events_open-%.$(OBJEXT): UNOPTIMISED =
tests/test_guest_read-%.$(OBJEXT): UNOPTIMISED =
tests/test_guest_whole-%.$(OBJEXT): UNOPTIMISED =
tests/test_log_perf-%.$(OBJEXT): UNOPTIMISED =
tests/test_periods-%.$(OBJEXT): UNOPTIMISED =
tests/test_read-%.$(OBJEXT): UNOPTIMISED =
tests/test_region_access-%.$(OBJEXT): UNOPTIMISED =
tests/test_pair-%.$(OBJEXT): UNOPTIMISED =
tests/test_region_truth-%.$(OBJEXT): UNOPTIMISED =
tests/test_session-%.$(OBJEXT): UNOPTIMISED =
tests/test_states-%.$(OBJEXT): UNOPTIMISED =
TEST_LIBS = libperfmon_all.la $(CRITERION_LIBS)

# Compiles the inside of perfmon diff.
tests_test_diff_decide_SOURCES = tests/test_diff_decide.c tests/profile_builder.h src/cli/diff/bounds.c src/cli/diff/columns.c src/cli/diff/decide.c \
	src/cli/diff/load.c src/cli/diff/math.c src/cli/diff/metrics.c src/cli/diff/notes.c src/cli/diff/order.c src/cli/diff/shuffle.c src/cli/diff/text.c \
	src/cli/code/code.c src/cli/code/dw.c src/cli/code/elf.c src/cli/common/complain.c src/cli/common/json_read.c src/cli/common/resolve.c src/cli/common/sources.c src/cli/common/terminal.c src/cli/common/texts.c src/cli/diff/stat_file.c
tests_test_diff_decide_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_diff_decide_LDADD = $(TEST_LIBS) -lm

# Compiles the inside of perfmon truth.
tests_test_truth_SOURCES = tests/test_truth.c src/cli/truth/blocks.c src/cli/truth/counter.c src/cli/truth/data.c \
	src/cli/truth/decide.c src/cli/truth/events.c src/cli/truth/names.c src/cli/truth/software.c
tests_test_truth_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_truth_LDADD = $(TEST_LIBS) -lm
# Its syscall() stands in front of libc's.
tests_test_truth_LDFLAGS = $(AM_LDFLAGS) -export-dynamic

tests_test_instance_SOURCES = tests/test_instance.c tests/bounds.h
tests_test_instance_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_instance_LDADD = $(TEST_LIBS)

tests_test_overflow_SOURCES = tests/test_overflow.c tests/session_probe.h
tests_test_overflow_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_overflow_LDADD = $(TEST_LIBS)

# The example in the header's comment, as it stands there.
tests/overflow_example.inc: include/perfmon/overflow.h
	$(AM_V_GEN)$(MKDIR_P) tests && sed -n \
		'/^ \*\tstruct perfmon_message message;/,/^ \*\t}/s/^ \*//p' \
		$(top_srcdir)/include/perfmon/overflow.h >$@.new && mv $@.new $@
CLEANFILES += tests/overflow_example.inc
tests/test_overflow_example-test_overflow_example.$(OBJEXT): tests/overflow_example.inc
tests_test_overflow_example_SOURCES = tests/test_overflow_example.c tests/messages.h \
	tests/session_probe.h
tests_test_overflow_example_CPPFLAGS = $(TEST_CPPFLAGS) -Itests
tests_test_overflow_example_LDADD = $(TEST_LIBS)

tests_test_midway_SOURCES = tests/test_midway.c tests/session_probe.h
tests_test_midway_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_midway_LDADD = $(TEST_LIBS)

tests_test_periods_SOURCES = tests/test_periods.c tests/session_probe.h
tests_test_periods_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_periods_LDADD = $(TEST_LIBS)

tests_test_switching_SOURCES = tests/test_switching.c tests/session_probe.h
tests_test_switching_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_switching_LDADD = $(TEST_LIBS)

tests_test_sampling_SOURCES = tests/test_sampling.c tests/messages.h tests/session_probe.h
tests_test_sampling_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_sampling_LDADD = $(TEST_LIBS)

tests_test_sets_SOURCES = tests/test_sets.c tests/session_probe.h
tests_test_sets_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_sets_LDADD = $(TEST_LIBS)

tests_test_faults_SOURCES = tests/test_faults.c tests/bounds.h tests/faults.h \
	tests/session_probe.h tests/session_targets.h
tests_test_faults_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_faults_LDADD = $(TEST_LIBS)

tests_test_faults_around_SOURCES = tests/test_faults_around.c tests/bounds.h \
	tests/faults.h tests/messages.h tests/session_probe.h
tests_test_faults_around_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_faults_around_LDADD = $(TEST_LIBS)

tests_test_control_SOURCES = tests/test_control.c tests/session_probe.h \
	tests/session_targets.h
tests_test_control_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_control_LDADD = $(TEST_LIBS)

tests_test_sentences_SOURCES = tests/test_sentences.c tests/session_probe.h \
	tests/helpers.h tests/watched.h tests/messages.h
tests_test_sentences_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_sentences_LDADD = $(TEST_LIBS)
tests_test_structs_SOURCES = tests/test_structs.c tests/session_probe.h \
	tests/log_files.h tests/messages.h tests/record.h
tests_test_structs_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_structs_LDADD = $(TEST_LIBS)

tests_test_prepared_SOURCES = tests/test_prepared.c tests/session_probe.h \
	tests/session_targets.h
tests_test_prepared_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_prepared_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_test_prepared_LDADD = $(TEST_LIBS)

tests_test_states_SOURCES = tests/test_states.c tests/session_probe.h \
	tests/session_targets.h
tests_test_states_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_states_LDADD = $(TEST_LIBS)

tests_test_arm_states_SOURCES = tests/test_arm_states.c tests/session_probe.h
tests_test_arm_states_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_arm_states_LDADD = $(TEST_LIBS)

tests_test_targets_SOURCES = tests/test_targets.c tests/session_probe.h
tests_test_targets_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_targets_LDADD = $(TEST_LIBS)

tests_test_perfmon2_SOURCES = tests/test_perfmon2.c tests/perfmon2_probe.h \
	tests/raw_codes.h
tests_test_perfmon2_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_perfmon2_LDADD = $(TEST_LIBS)

tests_test_process_SOURCES = tests/test_process.c tests/session_probe.h tests/storm.h \
	tests/storm_child.h tests/kernel_calls.h
tests_test_process_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_process_LDADD = $(TEST_LIBS)
tests_test_threads_SOURCES = tests/test_threads.c tests/storm.h tests/storm_child.h
tests_test_threads_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_threads_LDADD = $(TEST_LIBS)

tests_test_perfmon2_section9_SOURCES = tests/test_perfmon2_section9.c \
	tests/perfmon2_probe.h tests/raw_codes.h
tests_test_perfmon2_section9_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_perfmon2_section9_LDADD = $(TEST_LIBS)

tests_test_perfmon2_overflow_SOURCES = tests/test_perfmon2_overflow.c \
	tests/perfmon2_probe.h tests/raw_codes.h
tests_test_perfmon2_overflow_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_perfmon2_overflow_LDADD = $(TEST_LIBS)

tests_test_options_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_options_LDADD = $(TEST_LIBS)

tests_test_report_SOURCES = tests/test_report.c tests/profile_builder.h tests/report_text.h
tests_test_report_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS) $(TEST_JANSSON)
tests_test_report_LDADD = $(TEST_LIBS) $(JANSSON_LIBS)
tests_test_report_text_SOURCES = tests/test_report_text.c tests/profile_builder.h \
	tests/report_text.h
tests_test_report_text_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_report_text_LDADD = $(TEST_LIBS)

tests_test_exact_names_SOURCES = tests/test_exact_names.c
tests_test_exact_names_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_exact_names_LDADD = $(TEST_LIBS)

tests_test_report_exact_SOURCES = tests/test_report_exact.c tests/profile_builder.h \
	tests/report_text.h
tests_test_report_exact_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_report_exact_LDADD = $(TEST_LIBS)

tests_test_kept_kill_SOURCES = tests/test_kept_kill.c tests/kept_probe.h \
	tests/region_probe.h
tests_test_kept_kill_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_kept_kill_LDADD = $(TEST_LIBS)

tests_test_kept_SOURCES = tests/test_kept.c tests/kept_probe.h tests/region_probe.h
tests_test_kept_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_kept_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fstatfs
tests_test_kept_LDADD = $(TEST_LIBS)

tests_test_profile_file_SOURCES = tests/test_profile_file.c tests/profile_builder.h \
	tests/kept_probe.h tests/region_probe.h
tests_test_profile_file_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_profile_file_LDADD = $(TEST_LIBS)

tests_test_profile_reader_SOURCES = tests/test_profile_reader.c tests/profile_builder.h \
	tests/kept_probe.h tests/region_probe.h
tests_test_profile_reader_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_profile_reader_LDADD = $(TEST_LIBS)

tests_test_stride_auto_SOURCES = tests/test_stride_auto.c tests/region_probe.h
tests_test_stride_auto_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_stride_auto_LDADD = $(TEST_LIBS) -lm

tests_test_stride_SOURCES = tests/test_stride.c tests/bounds.h tests/profile_builder.h \
	tests/region_probe.h tests/report_text.h
tests_test_stride_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS) $(TEST_JANSSON)
tests_test_stride_LDADD = $(TEST_LIBS) $(JANSSON_LIBS) -lm

tests_test_cost_SOURCES = tests/test_cost.c tests/profile_builder.h tests/region_probe.h \
	tests/report_text.h
tests_test_cost_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_cost_LDADD = $(TEST_LIBS)

tests_test_sanity_SOURCES = tests/test_sanity.c tests/profile_builder.h tests/region_probe.h \
	tests/report_text.h tests/tree.h
tests_test_sanity_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS) $(TEST_JANSSON)
tests_test_sanity_LDADD = $(TEST_LIBS) $(JANSSON_LIBS)

tests_test_library_SOURCES = tests/test_library.c
tests_test_library_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_library_LDADD = $(TEST_LIBS)
tests_test_library_LDFLAGS = $(AM_LDFLAGS) -export-dynamic

tests_test_machine_SOURCES = tests/test_machine.c tests/machine.h tests/tree.h
tests_test_machine_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_machine_LDADD = $(TEST_LIBS)

tests_test_groups_tables_SOURCES = tests/test_groups_tables.c
tests_test_groups_tables_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_groups_tables_LDADD = $(TEST_LIBS)
tests_test_metric_SOURCES = tests/test_metric.c tests/profile_builder.h tests/report_text.h
tests_test_metric_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS) $(TEST_JANSSON)
tests_test_metric_LDADD = $(TEST_LIBS) $(JANSSON_LIBS)

tests_test_hottest_SOURCES = tests/test_hottest.c tests/profile_builder.h tests/report_text.h
tests_test_hottest_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_hottest_LDADD = $(TEST_LIBS)

tests_test_join_SOURCES = tests/test_join.c tests/profile_builder.h tests/report_text.h
tests_test_join_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_join_LDADD = $(TEST_LIBS)

tests_test_merge_SOURCES = tests/test_merge.c tests/profile_builder.h tests/report_text.h
tests_test_merge_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_merge_LDADD = $(TEST_LIBS)

tests_test_merge_tree_SOURCES = tests/test_merge_tree.c tests/profile_builder.h tests/report_text.h
tests_test_merge_tree_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_merge_tree_LDADD = $(TEST_LIBS)

tests_test_mpi_SOURCES = tests/test_mpi.c tests/fake_mpi/mpi.h tests/profile_builder.h
tests_test_mpi_CPPFLAGS = -I$(top_srcdir)/tests/fake_mpi $(TEST_CPPFLAGS)
tests_test_mpi_LDADD = $(TEST_LIBS)

tests_test_snapshot_SOURCES = tests/test_snapshot.c tests/profile_builder.h
tests_test_snapshot_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_snapshot_LDADD = $(TEST_LIBS)

# Compiles the fast read itself, for a CPU of its own.
tests_test_read_SOURCES = tests/test_read.c tests/fake_cpu.h
tests_test_read_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_read_LDADD = $(CRITERION_LIBS)

tests_test_counter_read_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_counter_read_LDADD = $(TEST_LIBS)

tests_test_guest_read_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_guest_read_LDADD = $(TEST_LIBS)

tests_test_guest_whole_SOURCES = tests/test_guest_whole.c tests/region_probe.h
tests_test_guest_whole_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_guest_whole_LDADD = $(TEST_LIBS)

tests_test_regions_SOURCES = tests/test_regions.c tests/region_probe.h
tests_test_regions_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_regions_LDADD = $(TEST_LIBS)

tests_test_modes_SOURCES = tests/test_modes.c tests/region_probe.h
tests_test_modes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_modes_LDADD = $(TEST_LIBS)

tests_test_pair_SOURCES = tests/test_pair.c tests/pair_call.S tests/pair_call.h tests/region_probe.h
tests_test_pair_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_pair_LDADD = $(TEST_LIBS)
tests_test_keep_SOURCES = tests/test_keep.c tests/keep_wreck.S tests/pair_call.S tests/pair_call.h
tests_test_keep_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_keep_LDADD = $(TEST_LIBS)
tests_test_region_access_SOURCES = tests/test_region_access.c tests/region_probe.h
tests_test_region_access_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_access_LDADD = $(TEST_LIBS)

tests_test_region_fork_SOURCES = tests/test_region_fork.c tests/region_probe.h
tests_test_region_fork_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_fork_LDADD = $(TEST_LIBS)

tests_test_region_code_SOURCES = tests/test_region_code.c tests/kernel_calls.h tests/region_probe.h
tests_test_region_code_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_code_LDADD = $(TEST_LIBS)

tests_test_region_less_SOURCES = tests/test_region_less.c tests/region_probe.h
tests_test_region_less_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_less_LDADD = $(TEST_LIBS)

tests_test_region_limits_SOURCES = tests/test_region_limits.c tests/region_probe.h
tests_test_region_limits_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_limits_LDADD = $(TEST_LIBS)

tests_test_region_programs_SOURCES = tests/test_region_programs.c tests/bounds.h \
	tests/region_probe.h
tests_test_region_programs_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_programs_LDADD = $(TEST_LIBS)

tests_test_region_signals_SOURCES = tests/test_region_signals.c tests/region_probe.h
tests_test_region_signals_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_signals_LDADD = $(TEST_LIBS)

tests_test_region_levels_SOURCES = tests/test_region_levels.c tests/machine.h \
	tests/profile_builder.h tests/region_probe.h tests/tree.h
tests_test_region_levels_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_levels_LDADD = $(TEST_LIBS)
tests_test_task_SOURCES = tests/test_task.c tests/breakpoints.h tests/region_probe.h \
	tests/sums_probe.h tests/watched.h
tests_test_task_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_task_LDADD = $(TEST_LIBS)
tests_test_packages_SOURCES = tests/test_packages.c tests/region_probe.h tests/kernel_calls.h tests/tree.h \
	tests/report_text.h
tests_test_packages_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_packages_LDADD = $(TEST_LIBS)
tests_test_team_SOURCES = tests/test_team.c tests/region_probe.h tests/sums_probe.h
tests_test_team_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_team_LDADD = $(TEST_LIBS)
tests_test_overlap_SOURCES = tests/test_overlap.c tests/region_probe.h tests/sums_probe.h
tests_test_overlap_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_overlap_LDADD = $(TEST_LIBS)
# The linker leads these calls of the library to tests/fake_topdown.h.
tests_test_topdown_SOURCES = tests/test_topdown.c tests/fake_topdown.h tests/kernel_calls.h \
	tests/report_text.h tests/session_probe.h tests/sums_probe.h
tests_test_topdown_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_topdown_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pm_kernel_perf_event_open \
	-Wl,--wrap=pm_kernel_read -Wl,--wrap=pm_kernel_close
tests_test_topdown_LDADD = $(TEST_LIBS) -lm
tests_test_quantity_SOURCES = tests/test_quantity.c tests/region_probe.h tests/sums_probe.h
tests_test_quantity_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_quantity_LDADD = $(TEST_LIBS)
tests_test_filters_SOURCES = tests/test_filters.c tests/region_probe.h
tests_test_filters_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_filters_LDADD = $(TEST_LIBS)
tests_test_steps_SOURCES = tests/test_steps.c tests/region_probe.h tests/report_text.h
tests_test_steps_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_steps_LDADD = $(TEST_LIBS)
tests_test_short_threads_SOURCES = tests/test_short_threads.c tests/region_probe.h
tests_test_short_threads_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_short_threads_LDADD = $(TEST_LIBS)
tests_test_region_threads_SOURCES = tests/test_region_threads.c tests/region_probe.h
tests_test_region_threads_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_threads_LDADD = $(TEST_LIBS)

tests_test_region_truth_SOURCES = tests/test_region_truth.c tests/region_probe.h \
	tests/raw_codes.h
tests_test_region_truth_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_region_truth_LDADD = $(TEST_LIBS)

tests_test_locks_SOURCES = tests/test_locks.c tests/region_probe.h tests/session_probe.h
tests_test_locks_CPPFLAGS = $(TEST_CPPFLAGS) $(TEST_URCU)
tests_test_locks_LDADD = $(TEST_LIBS) $(URCU_BP_LIBS)
if HAVE_URCU_BP
TEST_URCU = $(URCU_BP_CFLAGS) -DHAVE_URCU_BP
endif

tests_test_format_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_format_LDADD = $(TEST_LIBS)

tests_test_log_SOURCES = tests/test_log.c tests/log_files.h tests/messages.h tests/record.h
tests_test_log_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_log_LDADD = $(TEST_LIBS)

tests_test_log_perf_SOURCES = tests/test_log_perf.c tests/log_files.h tests/messages.h tests/record.h
tests_test_log_perf_CPPFLAGS = $(TEST_CPPFLAGS)
# For call chains.
tests_test_log_perf_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer
tests_test_log_perf_LDADD = $(TEST_LIBS)

tests_test_ring_SOURCES = tests/test_ring.c tests/record.h
tests_test_ring_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_ring_LDADD = $(TEST_LIBS)

tests_test_sample_SOURCES = tests/test_sample.c tests/record.h
tests_test_sample_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_sample_LDADD = $(TEST_LIBS)

tests_test_session_SOURCES = tests/test_session.c tests/bounds.h
tests_test_session_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_session_LDADD = $(TEST_LIBS)

tests_test_events_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_events_LDADD = $(TEST_LIBS)

tests_test_events_errors_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_events_errors_LDADD = $(TEST_LIBS)

tests_test_events_list_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_events_list_LDADD = $(TEST_LIBS)

tests_test_events_machines_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_events_machines_LDADD = $(TEST_LIBS)

tests_test_events_open_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_events_open_LDADD = $(TEST_LIBS)

tests_test_guest_hotplug_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_guest_hotplug_LDADD = $(TEST_LIBS)

tests_test_info_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_info_LDADD = $(TEST_LIBS)

tests_test_top_SOURCES = tests/test_top.c tests/profile_builder.h src/cli/top/top.h \
	src/cli/top/data.c src/cli/top/table.c
tests_test_top_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_top_LDADD = $(TEST_LIBS) -lm

# Compiles the inside of perfmon stat.
tests_test_stat_own_SOURCES = tests/test_stat_own.c src/cli/stat/stat.h src/cli/stat/cell.c src/cli/stat/count.c \
	src/cli/stat/data.c src/cli/stat/derive.c src/cli/stat/metric.c src/cli/stat/packages.c src/cli/stat/text.c src/cli/common/complain.c src/cli/common/terminal.c
tests_test_stat_own_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_stat_own_LDADD = $(TEST_LIBS) -lm

tests_test_cpuwide_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_cpuwide_LDADD = $(TEST_LIBS)

tests_test_placement_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_placement_LDADD = $(TEST_LIBS)
endif
