// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Limits of events as assertions of Catch2: a test fails when one call does more than it should.
// Where this machine does not count an event the test says so, and checks nothing.
//
//	c++ -O2 catch2.cc -o catch2 $(pkg-config --cflags --libs perfmon)	(Catch2 2)
//	c++ -O2 catch2.cc -o catch2 $(pkg-config --cflags --libs perfmon catch2-with-main)	(3)
//	./catch2
//	perfmon run --exact ./catch2		# counts the instructions on any machine
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <perfmon/perfmon.hpp>
#include <string>
#include <vector>

namespace
{

// Whether EVENT was counted and is at most LIMIT a call.
void check_at_most(const perfmon::counts &counts, const std::string &event,
		   std::int64_t limit)
{
	const perfmon::event_count &count = counts[event];

	INFO(count);
	if (count.counted())
		CHECK(count.median() <= limit);
	else
		WARN(count);
}

} // namespace

TEST_CASE("a lookup in 4096 sorted numbers takes at most 13 steps")
{
	std::vector<int> numbers(4096);

	std::iota(numbers.begin(), numbers.end(), 0);
	auto lookup = [&] {
		return std::binary_search(numbers.begin(), numbers.end(), 1234);
	};
	check_at_most(perfmon::count(lookup), "instructions", 13 * 20);
}

TEST_CASE("a vector that has reserved its memory does not fault")
{
	const std::size_t most = 100000;
	std::vector<int> numbers;

	numbers.reserve(most);
	auto fill = [&] {
		numbers.clear();
		for (std::size_t i = 0; i < most; i++)
			numbers.push_back(1);
	};
	check_at_most(perfmon::count(fill, {"page-faults"}), "page-faults", 0);
}
