# SPDX-License-Identifier: LGPL-2.1-or-later
if HAVE_CRITERION
CRITERION_TESTS = tests/test_options
check_PROGRAMS += $(CRITERION_TESTS)
TESTS += $(CRITERION_TESTS)
TEST_CPPFLAGS = $(AM_CPPFLAGS) $(CRITERION_CFLAGS)
TEST_LIBS = libperfmon_all.la $(CRITERION_LIBS)

tests_test_options_CPPFLAGS = $(TEST_CPPFLAGS)
tests_test_options_LDADD = $(TEST_LIBS)
endif
