// SPDX-License-Identifier: LGPL-2.1-or-later
// The inline reads in a C++11 program that is linked with the shared library, as users do.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <perfmon/inline.h>
#include "messages.h"

static int fail(const char *what, perfmon_session *session)
{
	std::fprintf(stderr, "%s: %s\n", what, session_message_of(session));
	return 1;
}

int main()
{
	perfmon_session *session;
	const perfmon_reader *reader;
	std::uint64_t before = 0, after = 0, called = 0, all[2] = {0, 0};

	if (perfmon_session_create(&session, nullptr, nullptr, 0))
		return 1;
	if (perfmon_session_add_events(session, "page-faults,task-clock") != 0 ||
	    perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0) ||
	    perfmon_session_reader(session, &reader) || perfmon_session_start(session))
		return fail("set up", session);
	if (perfmon_reader_read(reader, 0, &before))
		return fail("read", session);
	char *memory = static_cast<char *>(std::malloc(100 << 12));
	volatile char *touched = memory;
	for (int i = 0; i < 100; i++)
		touched[i << 12] = 1;
	if (perfmon_reader_read(reader, 0, &after) ||
	    perfmon_reader_read_call(reader, 0, &called) ||
	    perfmon_reader_read_all(reader, all) ||
	    perfmon_reader_read_all_call(reader, all))
		return fail("read", session);
	if (after < before + 50 || called < after || all[0] < called || !all[1]) {
		std::fprintf(stderr, "%llu %llu %llu %llu %llu\n",
			     static_cast<unsigned long long>(before),
			     static_cast<unsigned long long>(after),
			     static_cast<unsigned long long>(called),
			     static_cast<unsigned long long>(all[0]),
			     static_cast<unsigned long long>(all[1]));
		return 1;
	}
	std::free(memory);
	perfmon_session_close(session);
	return 0;
}
