// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts beside the times of nanobench, which counts six events of the hardware alone. Here are
// any events, also those of the kernel, and the same by 'perfmon run --exact'.
//
//	c++ -O2 nanobench.cc -o nanobench $(pkg-config --cflags --libs perfmon)
//	EVENTS="instructions page-faults" ./nanobench
//
// nanobench.h comes from https://nanobench.ankerl.com.
#define ANKERL_NANOBENCH_IMPLEMENT
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <nanobench.h>
#include <perfmon/perfmon.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace
{

std::vector<std::string> events()
{
	const char *names = std::getenv("EVENTS");
	std::istringstream words(names ? names : "instructions cycles page-faults");

	return {std::istream_iterator<std::string>(words),
		std::istream_iterator<std::string>()};
}

// nanobench times F, and perfmon counts what a call of it does.
template <typename function> void bench(const std::string &name, function f)
{
	ankerl::nanobench::Bench().performanceCounters(false).epochs(5).run(
		name, [&] { ankerl::nanobench::doNotOptimizeAway(f()); });
	std::cout << perfmon::count(f, events()) << std::flush;
}

} // namespace

int main()
{
	const std::vector<int> numbers(8192, 1);

	bench("sum", [&] {
		int sum = 0;

		for (int number : numbers)
			sum += number;
		return sum;
	});
	bench("copy", [&] { return std::vector<int>(numbers); });
	return 0;
}
