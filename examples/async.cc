// SPDX-License-Identifier: LGPL-2.1-or-later
//
// std::async: the call that starts a function hands its path on, so that what the function does in
// its thread stands below the region that started it.
//
//	c++ -std=c++17 -O2 -pthread async.cc $(pkg-config --cflags --libs perfmon)
//
// "partial sum" stands below "sum", once for each part.
#include <cstdio>
#include <future>
#include <numeric>
#include <perfmon/region.h>
#include <perfmon/team.h>
#include <utility>
#include <vector>

namespace
{

// The same as std::async(std::launch::async, ...).
template <typename Function> auto async(Function function)
{
	perfmon_token here;

	perfmon_region_token(&here);
	return std::async(std::launch::async,
			  [here, function = std::move(function)]() mutable {
				  PERFMON_TEAM_SCOPE(&here);
				  return function();
			  });
}

double sum(const std::vector<double> &values, size_t parts)
{
	std::vector<std::future<double>> sums;
	double all = 0;

	PERFMON_REGION_SCOPE("sum");
	for (size_t i = 0; i < parts; i++)
		sums.push_back(async([&values, parts, i] {
			PERFMON_REGION_SCOPE("partial sum");
			auto begin = values.begin();
			auto from =
				static_cast<std::ptrdiff_t>(values.size() * i / parts);
			auto to = static_cast<std::ptrdiff_t>(values.size() * (i + 1) /
							      parts);

			return std::accumulate(begin + from, begin + to, 0.0);
		}));
	for (auto &part : sums)
		all += part.get();
	return all;
}

} // namespace

int main()
{
	std::vector<double> values(1000000, 0.5);
	bool right = sum(values, 4) == 500000;

	std::printf("async: 4 parts: %s\n", right ? "right" : "WRONG");
	return !right;
}
