// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions in C++11: exceptions, thread_local and static objects.
#include <perfmon/perfmon.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

struct uses_regions {
	uses_regions()
	{
		PERFMON_REGION_SCOPE("constructor");
	}
	~uses_regions()
	{
		PERFMON_REGION_SCOPE("destructor");
	}
	void touch()
	{
	}
};

uses_regions a_static;
thread_local uses_regions a_thread_local;

void throws(int depth)
{
	PERFMON_REGION_SCOPE("throws");
	if (depth)
		throws(depth - 1);
	throw std::runtime_error("on purpose");
}

// BEGIN and END without a scope: the exception jumps over the END.
void leaves_open()
{
	PERFMON_REGION_BEGIN("left open");
	throw std::runtime_error("on purpose");
}

void never_throws() noexcept
{
	PERFMON_REGION_SCOPE("noexcept");
}

void work()
{
	a_thread_local.touch();
	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_SCOPE("work");
		try {
			throws(4);
		} catch (const std::exception &) {
			never_throws();
		}
		try {
			leaves_open();
		} catch (const std::exception &) {
		}
	}
	try {
		PERFMON_REGION_SCOPE("deep");
		throws(400); // below the deepest level
	} catch (const std::exception &) {
		PERFMON_REGION_SCOPE("after");
	}
}

} // namespace

int main()
{
	std::vector<std::thread> threads;

	work();
	for (int i = 0; i < 4; i++)
		threads.emplace_back(work);
	for (auto &thread : threads)
		thread.join();
	return 0;
}
