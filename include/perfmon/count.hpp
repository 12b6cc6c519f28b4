// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The events of one call, in three lines of program:
//
//	#include <iostream>
//	#include <perfmon/perfmon.hpp>
//	int main() { std::cout << perfmon::count([] { work(); }); }
//
//	instructions:u 128371 (spread 2, 1001 calls)
//
// The function is called again and again on the calling thread, after one call that is not
// counted. What an empty call counts, measured in between, is taken out. The median of the calls is
// their count, and the spread is how far the middle half of the calls lies apart.
//
// The same names of events work natively and below 'perfmon run --exact': "instructions" counts
// those in user mode by the hardware there, and each that is executed here.
//
// perfmon/inline.h, which this header includes, compiles the read of a counter into the program.
#ifndef PERFMON_COUNT_HPP
#define PERFMON_COUNT_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <perfmon/error.hpp>
#include <perfmon/inline.h>
#include <perfmon/session.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace perfmon
{

namespace detail
{
class measurement;
}

// What one event counted in a call. Its numbers throw ENODATA where counted() is false.
class event_count
{
      public:
	// The event as the program named it, and as it was counted ("exact::instructions").
	const std::string &event() const noexcept
	{
		return event_;
	}
	const std::string &name() const noexcept
	{
		return name_;
	}
	bool counted() const noexcept
	{
		return why_.empty();
	}
	// The sentence that says why it was not counted, or "".
	const std::string &why() const noexcept
	{
		return why_;
	}
	// Where a function does less than the counts vary, the difference can be below 0.
	std::int64_t median() const
	{
		return checked(median_);
	}
	std::int64_t least() const
	{
		return checked(least_);
	}
	std::int64_t most() const
	{
		return checked(most_);
	}
	// From the first to the third quartile.
	std::int64_t spread() const
	{
		return checked(spread_);
	}
	// The median of the empty calls, which is taken out of the numbers above.
	std::int64_t empty() const
	{
		return checked(empty_);
	}
	// How many calls were counted.
	std::size_t calls() const noexcept
	{
		return calls_;
	}

	friend std::ostream &operator<<(std::ostream &out, const event_count &count)
	{
		if (!count.counted())
			return out << count.name_ << " not counted: " << count.why_;
		return out << count.name_ << ' ' << count.median_ << " (spread "
			   << count.spread_ << ", " << count.calls_ << " calls)";
	}

      private:
	friend class detail::measurement;

	std::int64_t checked(std::int64_t number) const
	{
		if (!counted())
			fail(-ENODATA, why_);
		return number;
	}

	std::string event_, name_, why_;
	std::int64_t median_ = 0, least_ = 0, most_ = 0, spread_ = 0, empty_ = 0;
	std::size_t calls_ = 0;
};

// What all events counted in a call, in the order of their names in the program. Printed, it has a
// line for each.
class counts
{
      public:
	std::size_t size() const noexcept
	{
		return events_.size();
	}
	std::vector<event_count>::const_iterator begin() const noexcept
	{
		return events_.begin();
	}
	std::vector<event_count>::const_iterator end() const noexcept
	{
		return events_.end();
	}
	// By its place, from 0. Throws EINVAL if there is none.
	const event_count &operator[](std::size_t index) const
	{
		if (index >= events_.size())
			fail(-EINVAL, "there is no event " + std::to_string(index) +
					      ": " + std::to_string(events_.size()) +
					      " were asked for");
		return events_[index];
	}
	// By the name that the program gave, or by the full one. Throws ENOENT if it is neither.
	const event_count &operator[](const std::string &event) const
	{
		for (const event_count &one : events_)
			if (one.event() == event || one.name() == event)
				return one;
		fail(-ENOENT,
		     "event '" + event + "' is not among those that were asked for");
	}
	// The sentence of a call that set a code, or "".
	const std::string &message() const noexcept
	{
		return message_;
	}

	friend std::ostream &operator<<(std::ostream &out, const counts &all)
	{
		for (const event_count &one : all.events_)
			out << one << '\n';
		return out;
	}

      private:
	friend class detail::measurement;

	std::vector<event_count> events_;
	std::string message_;
};

namespace detail
{

// Whether an object of the type can be called without an argument.
template <typename function> struct is_callable {
	template <typename type>
	static auto test(type *f)
		-> decltype(static_cast<void>((*f)()), std::true_type());
	template <typename type> static std::false_type test(...);
	static constexpr bool value = decltype(test<function>(nullptr))::value;
};

// Keeps the compiler from leaving out what made RESULT.
template <typename type> inline void keep(const type &result)
{
	__asm__ __volatile__("" : : "g"(&result) : "memory");
}

template <typename function> inline void call_kept(function &f, std::true_type)
{
	f();
}
template <typename function> inline void call_kept(function &f, std::false_type)
{
	keep(f());
}

// Calls the function at F: the same code around each function, and around the empty one.
template <typename function> void call(void *f)
{
	function &at = *static_cast<function *>(f);

	call_kept(at, std::is_void<decltype(at())>());
}

struct empty_call {
	void operator()() const noexcept
	{
	}
};

// A session on the calling thread, and what its counters counted in calls.
class measurement
{
      public:
	measurement(const std::vector<std::string> &texts, std::error_code &failed)
	    : session_("", failed, PERFMON_SESSION_PARTIAL)
	{
		if (texts.empty() && !failed) {
			failed = code_of(-EINVAL);
			all_.message_ = "there is no event to count: name one at least";
		}
		for (const std::string &text : texts)
			if (!failed)
				add(text, failed);
		if (!failed && session_.counters())
			open(failed);
		if (failed && all_.message_.empty())
			all_.message_ = session_.message();
	}

	// CALLS of FUNCTION, or as many as fit with 0.
	void run(void (*function)(void *), void *with, std::size_t calls,
		 std::error_code &failed)
	{
		empty_call nothing;
		void (*empty)(void *) = call<empty_call>;
		std::size_t fit;

		// A compiler that knew which function it is would make a copy of sample() for each,
		// and that of the empty call has fewer instructions.
		__asm__("" : "+r"(empty), "+r"(function));
		if (failed || index_.empty())
			return;
		session_.start(failed);
		if (failed)
			return;
		sample(empty, &nothing, nullptr);
		fit = fitting(function, with);
		calls = calls ? calls : fit;
		with_.assign(index_.size() * calls, 0);
		without_.assign(index_.size() * calls, 0);
		for (std::size_t i = 0; i < calls; i++) {
			sample(empty, &nothing, &without_[i * index_.size()]);
			sample(function, with, &with_[i * index_.size()]);
		}
		session_.stop(failed);
		for (std::size_t e = 0; e < index_.size(); e++)
			finish(e, calls);
	}

	counts result()
	{
		return std::move(all_);
	}

      private:
	static constexpr std::size_t least_calls = 5, most_calls = 1001, exact_calls = 11;

	// Adds an event. A name that is no event fails; one that cannot be counted says why, among
	// them the names that only 'perfmon run --exact' counts.
	void add(const std::string &text, std::error_code &failed)
	{
		std::uint32_t first = session_.add(text, failed);
		std::string sentence = session_.message();
		event_count one;

		if (failed == std::errc::invalid_argument) {
			std::error_code exact;

			session_.add("exact::" + text, exact);
			if (exact != std::errc::invalid_argument) {
				sentence = session_.message();
				failed = exact;
			}
		}

		one.event_ = one.name_ = text;
		if (failed == std::errc::invalid_argument ||
		    failed == std::errc::not_enough_memory) {
			all_.message_ = sentence;
			return;
		}
		if (failed) {
			one.why_ = sentence;
			failed.clear();
		} else if (session_.counters() != first + 1) {
			failed = code_of(-EINVAL);
			all_.message_ = "'" + text + "' is " +
					std::to_string(session_.counters() - first) +
					" events: give each a string of its own";
			return;
		}
		all_.events_.push_back(one);
		is_added_.push_back(one.counted());
	}
	// Finds out which events can be read here.
	void open(std::error_code &failed)
	{
		std::uint32_t index = 0;

		session_.attach(failed);
		if (!failed)
			failed = code_of(
				perfmon_session_reader(session_.handle(), &reader_));
		for (std::size_t i = 0; i < all_.events_.size() && !failed; i++) {
			if (!is_added_[i])
				continue;
			perfmon_counter_info info = {};

			info.size = sizeof(info);
			failed = code_of(perfmon_session_get_counter(session_.handle(),
								     index, &info));
			if (failed)
				return;
			all_.events_[i].name_ = info.name;
			if (info.error) {
				all_.events_[i].why_ = said_alone(all_.events_[i].event_);
			} else {
				index_.push_back(index);
				event_.push_back(i);
			}
			index++;
		}
		before_.resize(index_.size());
		after_.resize(index_.size());
		error_.resize(index_.size());
	}
	// What the kernel says to one event alone.
	static std::string said_alone(const std::string &text)
	{
		std::error_code failed;
		session alone(text, failed);

		alone.attach(failed);
		std::string sentence = alone.message();
		return sentence.empty() ? "it cannot be opened beside the others"
					: sentence;
	}

	// One call, with the counters read right before and right after it. COUNTS may be NULL.
	__attribute__((noinline)) void sample(void (*function)(void *), void *with,
					      std::int64_t *counts)
	{
		const std::size_t count = index_.size();

		for (std::size_t e = 0; e < count; e++)
			error_[e] |= perfmon_reader_read(reader_, index_[e], &before_[e]);
		function(with);
		// In reverse order, so that the last to begin is the first to end.
		for (std::size_t e = count; e-- > 0;)
			error_[e] |= perfmon_reader_read(reader_, index_[e], &after_[e]);
		for (std::size_t e = 0; counts && e < count; e++)
			counts[e] = static_cast<std::int64_t>(after_[e] - before_[e]);
	}

	// Calls once, and finds how many fit into 0.2 s. Exact counts do not depend on the time.
	std::size_t fitting(void (*function)(void *), void *with)
	{
		const std::chrono::steady_clock::time_point begin =
			std::chrono::steady_clock::now();
		std::size_t calls = exact_calls;

		sample(function, with, nullptr);
		std::chrono::duration<double> took =
			std::chrono::steady_clock::now() - begin;
		if (all_.events_[event_[0]].name_.compare(0, 7, "exact::") != 0)
			calls = took.count() * most_calls < 0.2
					? most_calls
					: static_cast<std::size_t>(0.2 / took.count());
		return calls < least_calls ? least_calls : calls | 1;
	}

	void finish(std::size_t e, std::size_t calls)
	{
		event_count &one = all_.events_[event_[e]];
		std::vector<std::int64_t> of(calls), empty(calls);

		one.why_ = reason(e);
		if (!one.counted())
			return;
		for (std::size_t i = 0; i < calls; i++) {
			of[i] = with_[i * index_.size() + e];
			empty[i] = without_[i * index_.size() + e];
		}
		std::sort(of.begin(), of.end());
		std::sort(empty.begin(), empty.end());
		one.calls_ = calls;
		one.empty_ = empty[calls / 2];
		one.median_ = of[calls / 2] - one.empty_;
		one.least_ = of.front() - one.empty_;
		one.most_ = of.back() - one.empty_;
		one.spread_ = of[calls - 1 - calls / 4] - of[calls / 4];
	}
	// Why the counts of a counter cannot be used, or "".
	std::string reason(std::size_t e)
	{
		perfmon_value raw = {};

		raw.index = index_[e];
		if (perfmon_session_read(session_.handle(), &raw, 1, sizeof(raw), 0) < 0)
			return session_.message();
		value all(all_.events_[event_[e]].name_, "", 1, raw);
		if (!all.whole())
			return all.why() + "; count fewer events at once";
		return error_[e] ? "event '" + all.name() +
					   "' could not be read in all calls"
				 : "";
	}

	counts all_;
	session session_;
	const perfmon_reader *reader_ = nullptr;
	std::vector<bool> is_added_; // of each event: the session has a counter for it
	std::vector<std::uint32_t> index_; // of the counters that are read
	std::vector<std::size_t> event_;   // in all_ of each of these
	std::vector<std::uint64_t> before_, after_;
	std::vector<int> error_;		   // not 0 where a read has failed
	std::vector<std::int64_t> with_, without_; // by call, then by counter
};

} // namespace detail

// The EVENTS of one call of F, which takes no argument. What it returns is kept from being
// optimised away. CALLS are counted; 0: as many as fit into 0.2 s, 5 to 1001, and 11 of exact counts.
// An event that this machine does not count is in the result, and says why. Throws what F throws,
// and for a name that is no event perfmon::error. Each string is one event. Threads that F creates
// are not counted. It allocates, and opens events on the calling thread for the time of the call.
template <typename function>
counts count(function f, const std::vector<std::string> &events, std::size_t calls,
	     std::error_code &failed)
{
	static_assert(
		detail::is_callable<function>::value,
		"perfmon::count() calls a function without arguments: pass a lambda");
	detail::measurement measurement(events, failed);

	measurement.run(detail::call<function>, &f, calls, failed);
	return measurement.result();
}
template <typename function>
counts count(function f, const std::vector<std::string> &events = {"instructions"},
	     std::size_t calls = 0)
{
	std::error_code failed;
	counts all = count(std::move(f), events, calls, failed);

	if (failed)
		fail(-failed.value(), all.message());
	return all;
}

} // namespace perfmon

#endif
