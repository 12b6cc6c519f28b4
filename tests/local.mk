# SPDX-License-Identifier: LGPL-2.1-or-later
# Races are plain programs, so that they run under ThreadSanitizer.
check_PROGRAMS += tests/race_snapshot
TESTS += tests/race_snapshot
tests_race_snapshot_SOURCES = tests/race_snapshot.c tests/profile_builder.h
tests_race_snapshot_LDADD = libperfmon_all.la

# Recorded machines, and what tests of events share.
EXTRA_DIST += tests/data/biglittle.tree tests/data/hybrid.tree tests/data/server.tree \
	tests/events_dump.h tests/tree.h

# As users do: C++11, and the shared library.
check_PROGRAMS += tests/inline_cxx
TESTS += tests/inline_cxx
tests_inline_cxx_SOURCES = tests/inline_cxx.cc
tests_inline_cxx_LDADD = libperfmon.la

if HAVE_CRITERION
CRITERION_TESTS = tests/test_options tests/test_report tests/test_snapshot
CRITERION_TESTS += tests/test_counter_read tests/test_guest_read tests/test_instance \
	tests/test_read tests/test_session
CRITERION_TESTS += tests/test_events tests/test_events_errors tests/test_events_list \
	tests/test_events_machines tests/test_events_open
check_PROGRAMS += $(CRITERION_TESTS)
TESTS += $(CRITERION_TESTS)
TEST_CPPFLAGS = $(AM_CPPFLAGS) $(CRITERION_CFLAGS)
TEST_LIBS = libperfmon_all.la $(CRITERION_LIBS)

tests_test_instance_SOURCES = tests/test_instance.c tests/bounds.h
tests_test_instance_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_instance_LDADD = $(TEST_LIBS)

tests_test_options_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_options_LDADD = $(TEST_LIBS)

tests_test_report_SOURCES = tests/test_report.c tests/profile_builder.h
tests_test_report_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS) $(TEST_JANSSON)
tests_test_report_LDADD = $(TEST_LIBS) $(JANSSON_LIBS)
if HAVE_JANSSON
TEST_JANSSON = -DHAVE_JANSSON
endif

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
endif
