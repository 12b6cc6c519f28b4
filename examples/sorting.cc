// SPDX-License-Identifier: LGPL-2.1-or-later
//
// C++: how much work std::sort does for numbers in several orders, in regions with names of the
// run time, by threads below the region that started them. Then what one call of each algorithm
// costs, counted on the calling thread.
//
//	c++ -O2 -pthread sorting.cc -o sorting $(pkg-config --cflags --libs perfmon)
//	./sorting
//	perfmon run --exact -e instructions,cond-branches ./sorting
//
// Below 'perfmon run --exact' the events of the calls are counted on any machine.
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <perfmon/perfmon.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace
{

using numbers = std::vector<int>;

numbers in_order(const std::string &order, std::size_t count)
{
	PERFMON_SCOPE("prepare");
	numbers all(count);
	std::mt19937 random(1);

	for (std::size_t i = 0; i < count; i++)
		all[i] = static_cast<int>(i);
	if (order == "reversed")
		std::reverse(all.begin(), all.end());
	else if (order == "shuffled")
		std::shuffle(all.begin(), all.end(), random);
	return all;
}

// Sorts numbers of each order, in a thread for each.
void sort_all(const std::vector<std::string> &orders, std::size_t count)
{
	PERFMON_SCOPE("sort all");
	perfmon::token here = perfmon::here();
	std::vector<std::thread> threads;

	for (const std::string &order : orders)
		threads.emplace_back([=] {
			perfmon::adoption below(here);
			perfmon::named_region region(order);
			perfmon::scope in(region);

			numbers all = in_order(order, count);
			PERFMON_SCOPE("sort");
			std::sort(all.begin(), all.end());
		});
	for (std::thread &thread : threads)
		thread.join();
}

} // namespace

int main()
{
	const std::vector<std::string> events = {"instructions", "cond-branches",
						 "page-faults"};
	const numbers shuffled = in_order("shuffled", 10000);

	sort_all({"sorted", "reversed", "shuffled"}, 100000);

	// Each call sorts a copy: what copying takes is shown, too.
	std::cout << "copy\n"
		  << perfmon::count([&] { return numbers(shuffled); }, events)
		  << "copy and std::sort\n"
		  << perfmon::count(
			     [&] {
				     numbers copy(shuffled);
				     std::sort(copy.begin(), copy.end());
				     return copy;
			     },
			     events)
		  << "copy and std::stable_sort\n"
		  << perfmon::count(
			     [&] {
				     numbers copy(shuffled);
				     std::stable_sort(copy.begin(), copy.end());
				     return copy;
			     },
			     events);
	return 0;
}
