// SPDX-License-Identifier: LGPL-2.1-or-later
// The C++ interface in a program that is linked with the shared library, as users do.
// Row: HM-01
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <perfmon/perfmon.hpp>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

int number, failures;

void check(bool right, const std::string &name)
{
	std::printf("%s %d - %s\n", right ? "ok" : "not ok", ++number, name.c_str());
	failures += !right;
}
bool has(const std::string &text, const std::string &part)
{
	if (text.find(part) != std::string::npos)
		return true;
	std::printf("# '%s' is not in '%s'\n", part.c_str(), text.c_str());
	return false;
}
// Whether F throws the error CODE with a sentence that has PART.
template <typename function>
bool throws(std::errc code, const std::string &part, function f)
{
	try {
		f();
	} catch (const perfmon::error &error) {
		return error.code() == code && has(error.what(), part);
	}
	std::printf("# nothing was thrown\n");
	return false;
}
std::string text_of(const perfmon::value &value)
{
	std::ostringstream text;

	text << value;
	return text.str();
}

// 16 pages, each of which faults again when it is touched.
class Pages
{
      public:
	Pages()
	    : at_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0))
	{
		if (at_ == MAP_FAILED)
			std::abort();
		madvise(at_, size, MADV_NOHUGEPAGE);
	}
	~Pages()
	{
		munmap(at_, size);
	}
	Pages(const Pages &) = delete;
	Pages &operator=(const Pages &) = delete;
	void touch()
	{
		madvise(at_, size, MADV_DONTNEED);
		for (std::size_t i = 0; i < size; i += 4096)
			static_cast<volatile char *>(at_)[i] = 1;
	}

      private:
	static constexpr std::size_t size = 16 * 4096;
	void *at_;
};
Pages pages;

void nops()
{
	__asm__ volatile(".rept 1000\n\tnop\n\t.endr");
}

// --- regions ---

perfmon::region shared("shared");

// The visits of a region by this thread that have ended.
std::uint64_t visits(const char *name)
{
	perfmon_region_summary summary = {};

	summary.size = sizeof(summary);
	return perfmon_region_read(name, &summary, nullptr, 0, 0, 0) ? 0 : summary.visits;
}

void leaves(int how)
{
	PERFMON_SCOPE("left");
	perfmon::scope in(shared);

	if (how == 1)
		return;
	if (how == 2)
		throw std::runtime_error("on purpose");
}

void regions()
{
	for (int how = 0; how < 3; how++) {
		try {
			leaves(how);
		} catch (const std::runtime_error &) {
		}
	}
	check(visits("left") == 3 && visits("shared") == 3,
	      "scopes end at the end, at return and by an exception");
	static perfmon::region again("shared");
	again.begin();
	again.end();
	check(visits("shared") == 4, "objects of equal names are the same region");

	std::vector<perfmon::named_region> named;
	for (int i = 0; i < 20; i++)
		named.emplace_back("a name of the run time " + std::to_string(i % 2));
	for (const perfmon::named_region &one : named)
		perfmon::scope in(one);
	named[1].begin();
	named[1].end();
	check(visits("a name of the run time 0") == 10 &&
		      visits("a name of the run time 1") == 11,
	      "regions with names of the run time");
}

// --- teams ---

// Whether the profile of this process has the path, as "a;b".
bool has_path(const std::string &path)
{
	perfmon_profile *profile;
	perfmon_profile_info info = {};
	bool found = false;

	info.size = sizeof(info);
	if (perfmon_profile_open_process(&profile, getpid(), 0, nullptr, 0))
		return false;
	perfmon_profile_get_info(profile, &info);
	for (std::uint32_t t = 0; t < info.threads && !found; t++) {
		char text[100];

		for (std::uint32_t n = 0;
		     !found &&
		     perfmon_profile_get_path(profile, t, n, text, sizeof(text)) >= 0;
		     n++)
			found = path == text;
	}
	perfmon_profile_close(profile);
	return found;
}

void teams()
{
	std::error_code failed;

	{
		PERFMON_SCOPE("solve");
		perfmon::token at = perfmon::here();
		std::thread worker([at] {
			perfmon::adoption in(at);
			PERFMON_SCOPE("part");
		});
		worker.join();
		check(static_cast<bool>(at), "a thread in a region has a path");
	}
	check(has_path("solve;part") && !has_path("part"),
	      "a thread adopts the path of another");
	check(!perfmon::token(), "a token of nothing is no path");
	check(throws(std::errc(ESTALE), "of another process, or of none",
		     [] {
			     perfmon::token junk;

			     std::memset(static_cast<void *>(&junk), 0x77, sizeof(junk));
			     perfmon::adoption in(junk);
		     }),
	      "a token that is none says so");
	perfmon::adoption top(perfmon::token(), failed);
	check(!failed, "adopting no path continues at the top");
}

// --- sessions ---

void sessions()
{
	std::error_code failed;
	perfmon::session faults("page-faults:u,task-clock");

	check(faults.state() == PERFMON_STATE_DETACHED && faults.counters() == 2,
	      "a session is created");
	faults.attach();
	check(has(text_of(faults.read_one(0)),
		  "was not counted: the session was not started"),
	      "a value that was not started says so");
	check(throws(std::errc::no_message_available, "'page-faults:u' was not counted",
		     [&] { faults.read_one(0).count(); }),
	      "and its count throws");
	{
		perfmon::counting now(faults);

		pages.touch();
		check(faults.state() == PERFMON_STATE_RUNNING,
		      "a session counts in a block");
	}
	check(faults.state() == PERFMON_STATE_STOPPED, "and is stopped at its end");
	std::vector<perfmon::value> values = faults.read();
	check(values.size() == 2 && values[0].name() == "page-faults:u" &&
		      values[0].whole() && values[0].count() >= 16,
	      "16 pages are 16 faults: " + text_of(values[0]));
	check(values[1].unit() == "ns" && values[1].estimate() > 0,
	      "a clock has a unit: " + text_of(values[1]));
	perfmon_value raw[2];
	check(faults.read(raw, 2, failed) == 2 && !failed &&
		      raw[0].value == values[0].count(),
	      "reads into an array");
	faults.write(0, 7);
	check(faults.read_one(0).raw().value == 7, "writes");

	faults.attach(failed);
	check(failed == std::errc::device_or_resource_busy &&
		      has(faults.message(), "attached already"),
	      "an error is a code and a sentence");
	check(throws(std::errc::device_or_resource_busy, "attached already",
		     [&] { faults.attach(); }),
	      "or an exception with the sentence");
	faults.detach();
	perfmon::session moved(std::move(faults));
	check(moved.counters() == 2 && !faults.handle(), "a session is moved");
	void (*const calls[])(perfmon::session &) = {
		[](perfmon::session &s) { s.start(); },
		[](perfmon::session &s) { s.read(); },
		[](perfmon::session &s) { s.estimates(); },
		[](perfmon::session &s) { perfmon::counting now(s); },
	};
	for (void (*const call)(perfmon::session &) : calls)
		check(throws(std::errc::invalid_argument, "closed or moved away",
			     [&] { call(faults); }),
		      "a session that was moved away refuses calls, and says why");
	faults = std::move(moved);
	check(faults.counters() == 2, "and is moved back");

	check(throws(std::errc::invalid_argument, "did you mean 'page-faults'",
		     [] { perfmon::session wrong("page-fautls"); }),
	      "an unknown event throws and is quoted");
	perfmon::session wrong("page-fautls", failed);
	check(failed == std::errc::invalid_argument &&
		      has(wrong.message(), "'page-fautls'"),
	      "or sets a code, and the session has the sentence");
	check(throws(std::errc::invalid_argument, "unknown flags",
		     [] { perfmon::session("page-faults", 0x8000); }),
	      "a session that is not created says why");
	check(throws(std::errc::invalid_argument, "",
		     [] { perfmon::session("", 0, PERFMON_SCOPE_CPU).attach_thread(0); }),
	      "a session of CPUs attaches to no thread");
}

void sets()
{
	std::error_code failed;
	perfmon::session two("page-faults:u;task-clock");

	two.make_set(2, std::chrono::nanoseconds(0));
	two.add_to_set(2, "page-faults:u");
	two.make_set(3, std::chrono::nanoseconds(-1), failed);
	check(failed == std::errc::invalid_argument, "a time-out below 0 is refused");
	check(throws(std::errc::invalid_argument, "below 0",
		     [&] { two.make_set(3, std::chrono::nanoseconds(-1)); }),
	      "with a sentence");
	two.attach();
	two.start_set(2);
	pages.touch();
	two.stop();
	check(two.read_one(2).raw().value >= 16 && two.read_one(0).raw().value == 0,
	      "the set counts that was started");
	check(two.estimates().size() == 3 && two.estimates()[2].value >= 16, "estimates");
	check(throws(std::errc::invalid_argument, "", [&] { two.start_set(9); }),
	      "no such set");
	check(perfmon::session("page-faults:u")
			      .make_set(1, std::chrono::milliseconds(20)) >=
		      std::chrono::milliseconds(20),
	      "the effective time-out");
}

void overflows()
{
	perfmon::session masked("page-faults:u");
	perfmon_message message = {};

	masked.overflow_every(0, 10);
	masked.attach();
	pollfd ready = {masked.overflow_descriptor(), POLLIN, 0};
	check(!masked.next_overflow(message), "no message waits");
	masked.start();
	pages.touch();
	check(poll(&ready, 1, 10000) == 1 && masked.next_overflow(message) &&
		      message.type == PERFMON_MESSAGE_TYPE_OVERFLOW,
	      "an overflow leaves a message");
	check(masked.state() == PERFMON_STATE_MASKED, "and masks the session");
	masked.restart();
	check(masked.state() == PERFMON_STATE_RUNNING, "until it is restarted");
}

// --- the events of one call ---

void counts()
{
	std::error_code failed;
	perfmon::counts all =
		perfmon::count([] { pages.touch(); }, {"page-faults:u", "cycles"});
	const perfmon::event_count &faults = all["page-faults:u"];

	std::cout << "# " << faults << '\n' << std::flush;
	check(all.size() == 2 && faults.counted() && faults.median() >= 16 &&
		      faults.median() <= 17,
	      "a call that touches 16 pages has 16 faults");
	check(faults.calls() % 2 == 1 && faults.calls() >= 5 &&
		      faults.least() <= faults.median() &&
		      faults.median() <= faults.most() && faults.spread() >= 0,
	      "of several calls the median, and how far they spread");
	check(perfmon::count([] {}, {"page-faults"}, 7)["page-faults"].calls() == 7,
	      "of as many calls as asked for");
	check(perfmon::count([] {}, {"page-faults"})[0].median() == 0,
	      "an empty call has no event");
	int called = 0;
	perfmon::count([&called] { return ++called; }, {"page-faults"}, 3);
	check(called == 4,
	      "a function with a result is called so often, and once before");

	all = perfmon::count([] { __asm__ volatile(".rept 1000\n\tnop\n\t.endr"); });
	std::cout << "# " << all << std::flush;
	if (all["instructions"].counted()) {
		// Without optimisation a function that is not empty may have a few more around it.
		check(all["instructions"].median() >= 1000 &&
			      all["instructions"].median() <= 1008,
		      "1000 nops are 1000 instructions");
		std::vector<std::string> many;
		for (int i = 0; i < 40; i++)
			many.push_back(i % 2 ? "cycles" : "instructions");
		const perfmon::event_count last = perfmon::count(nops, many)[39];
		check(!last.counted() && has(last.why(), "count fewer events at once"),
		      "events that the counters do not hold at once have no number");
	} else {
		check(throws(std::errc::no_message_available,
			     "'instructions:u' on the calling thread",
			     [&] { all["instructions"].median(); }),
		      "an event that this machine does not count has no number");
		check(has(all[0].why(), "perfmon run --exact"), "and says what helps");
	}
	all = perfmon::count(nops, {"loads"});
	check(!all["loads"].counted() &&
		      has(all["loads"].why(), "perfmon run --exact -e loads"),
	      "an event that is counted by translation alone says so");

	check(throws(std::errc::invalid_argument, "'page-fautls'",
		     [] { perfmon::count(nops, {"page-fautls"}); }),
	      "an unknown event throws");
	all = perfmon::count(nops, {"page-faults", "page-fautls"}, 0, failed);
	check(failed == std::errc::invalid_argument &&
		      has(all.message(), "'page-fautls'"),
	      "or sets a code");
	check(throws(std::errc::invalid_argument, "'page-faults,task-clock' is 2 events",
		     [] { perfmon::count(nops, {"page-faults,task-clock"}); }),
	      "a string is one event");
	check(throws(std::errc::no_such_file_or_directory, "'cycles'",
		     [&] { perfmon::count(nops, {"page-faults"})["cycles"]; }),
	      "an event that was not asked for is quoted");
	check(throws(std::errc::invalid_argument, "there is no event 1: 1 were asked for",
		     [&] { perfmon::count(nops, {"page-faults"})[1]; }),
	      "and one behind the last has a sentence");
	check(throws(std::errc::invalid_argument, "name one at least",
		     [] { perfmon::count(nops, std::vector<std::string>()); }),
	      "no event at all is refused");
	try {
		perfmon::count([] { throw std::runtime_error("mine"); }, {"page-faults"});
		check(false, "the function's own exception arrives");
	} catch (const std::runtime_error &error) {
		check(std::string(error.what()) == "mine",
		      "the function's own exception arrives");
	}
}

} // namespace

int main()
{
	setenv("PERFMON_OUTPUT", "none", 1);
	setenv("PERFMON_EVENTS", "none", 1);
	regions();
	teams();
	sessions();
	sets();
	overflows();
	counts();
	std::printf("1..%d\n", number);
	return failures != 0;
}
