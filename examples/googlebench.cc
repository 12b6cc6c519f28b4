// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Counts of the hardware and the kernel as user counters of Google Benchmark, per
// iteration, beside its times: a session on the benchmark's own thread, which runs
// exactly while the iterations do.
//
//	c++ -O2 googlebench.cc $(pkg-config --cflags --libs perfmon benchmark)
//	EVENTS=instructions:u,cycles:u ./a.out
//
// Two of the benchmarks have counts that are known: nops<1000> has 1000 instructions more
// than nops<0>, touch/n has n page faults.
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <perfmon/session.hpp>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <vector>

namespace
{

const char *events()
{
	const char *names = std::getenv("EVENTS");

	return names ? names : "instructions:u,cycles:u,page-faults:u";
}

// Counts from begin() to end(), which puts the counts per iteration into STATE. Events
// that this machine does not count are left out; what else fails ends the benchmark with
// the sentence that says why. One object for each thread of a benchmark.
class Counters
{
      public:
	Counters() : session(events(), failed, PERFMON_SESSION_PARTIAL)
	{
		if (!failed)
			session.attach(failed);
	}

	void begin(benchmark::State &state)
	{
		if (!failed)
			session.start(failed);
		if (failed)
			state.SkipWithError(session.message().c_str());
	}

	void end(benchmark::State &state)
	{
		if (failed)
			return;
		session.stop(failed);
		if (failed) {
			state.SkipWithError(session.message().c_str());
			return;
		}
		for (const perfmon::value &value : session.read())
			add(state, value);
	}

      private:
	// Multiplexed: an estimate, marked as one.
	static void add(benchmark::State &state, const perfmon::value &value)
	{
		bool estimated = value.raw().status & PERFMON_VALUE_MULTIPLEXED;

		if (value.whole() || estimated)
			state.counters[value.name() + (estimated ? "~" : "")] =
				benchmark::Counter(value.estimate(),
						   benchmark::Counter::kAvgIterations);
	}

	std::error_code failed;
	perfmon::session session;
};

void sum(benchmark::State &state)
{
	std::vector<double> values(static_cast<size_t>(state.range(0)), 1.0);
	Counters counters;

	counters.begin(state);
	for (auto _ : state) {
		double total = 0;

		for (double value : values)
			total += value;
		benchmark::DoNotOptimize(total);
	}
	counters.end(state);
}
BENCHMARK(sum)->Arg(1024)->Arg(8192);

template <int count> void nops(benchmark::State &state)
{
	Counters counters;

	counters.begin(state);
	for (auto _ : state)
		__asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(count));
	counters.end(state);
}
// As often as each other: what is around the iterations counts the same in both.
BENCHMARK_TEMPLATE(nops, 0)->Iterations(10000);
BENCHMARK_TEMPLATE(nops, 1000)->Iterations(10000);

void touch(benchmark::State &state)
{
	const size_t page = 4096, size = static_cast<size_t>(state.range(0)) * page;
	void *at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	Counters counters;

	if (at == MAP_FAILED) {
		state.SkipWithError("no memory");
		return;
	}
	madvise(at, size, MADV_NOHUGEPAGE);
	counters.begin(state);
	for (auto _ : state) {
		// The pages are given back first, so that each of them is a fault again.
		madvise(at, size, MADV_DONTNEED);
		for (size_t i = 0; i < size; i += page)
			static_cast<volatile char *>(at)[i] = 1;
	}
	counters.end(state);
	munmap(at, size);
}
BENCHMARK(touch)->Arg(16)->Arg(64);

// What will be left out is said once, not for each benchmark.
void say_what_is_missing()
{
	std::error_code failed;
	perfmon::session session(events(), failed, PERFMON_SESSION_PARTIAL);

	if (!failed && session.attach(failed) > 0)
		std::fprintf(stderr, "left out: %s\n", session.message().c_str());
}

} // namespace

int main(int argc, char **argv)
{
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 2;
	say_what_is_missing();
	benchmark::RunSpecifiedBenchmarks();
	return 0;
}
