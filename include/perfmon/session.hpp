// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Sessions in C++: the calls of perfmon/session.h, which has the rules, as an object.
//
//	perfmon::session faults("page-faults,task-clock");
//
//	faults.attach();				// the calling thread
//	{
//		perfmon::counting now(faults);		// starts, and stops
//		work();
//	}
//	for (const perfmon::value &value : faults.read())
//		std::cout << value << '\n';
//
// Each call has a form that throws perfmon::error with the sentence of the session, and one with
// a std::error_code that does not throw; then message() has the sentence. For what is not here,
// handle() goes to the C interface.
#ifndef PERFMON_SESSION_HPP
#define PERFMON_SESSION_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <perfmon/error.hpp>
#include <perfmon/overflow.h>
#include <perfmon/session.h>
#include <perfmon/set.h>
#include <perfmon/value.hpp>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace perfmon
{

// A monitoring session. It can be moved, not copied, and its end closes it. All but moving may
// be done by any thread.
class session
{
      public:
	// Counts the events that TEXT names (perfmon/event.h); "" for none yet. FLAGS are
	// PERFMON_SESSION_ ones. Touches no event yet.
	explicit session(const std::string &text, std::uint32_t flags = 0,
			 perfmon_scope scope = PERFMON_SCOPE_THREAD)
	{
		char refused[500] = "";
		int err = create(text, flags, scope, refused, sizeof(refused));

		if (err < 0) {
			std::string sentence = session_ ? message() : refused;

			close();
			fail(err, sentence);
		}
	}
	session(const std::string &text, std::error_code &failed, std::uint32_t flags = 0,
		perfmon_scope scope = PERFMON_SCOPE_THREAD) noexcept
	{
		failed = code_of(create(text, flags, scope, nullptr, 0));
	}
	session(session &&other) noexcept : session_(other.session_)
	{
		other.session_ = nullptr;
	}
	session &operator=(session &&other) noexcept
	{
		std::swap(session_, other.session_);
		return *this;
	}
	~session()
	{
		close();
	}
	session(const session &) = delete;
	session &operator=(const session &) = delete;

	// The session of the C interface, which the object keeps. NULL after close().
	perfmon_session *handle() const noexcept
	{
		return session_;
	}
	void close() noexcept
	{
		perfmon_session_close(session_);
		session_ = nullptr;
	}
	// The sentence about the last call, if that failed or went on with less, else "". Of an
	// object without a session: that there is none.
	std::string message() const
	{
		int length = session_ ? perfmon_session_message(session_, nullptr, 0) : 0;

		if (!session_)
			return "there is no session: it was closed or moved away, or "
			       "could not be created";
		if (length <= 0)
			return std::string();
		std::vector<char> text(static_cast<std::size_t>(length) + 1);
		perfmon_session_message(session_, text.data(), text.size());
		return text.data();
	}

	// Adds the events that TEXT names. The index of the first of them.
	std::uint32_t add(const std::string &text)
	{
		return static_cast<std::uint32_t>(check(add_(text)));
	}
	std::uint32_t add(const std::string &text, std::error_code &failed) noexcept
	{
		return natural(add_(text), failed);
	}

	// Attach to the calling thread; to a thread of the kernel's number; to a process with all
	// its threads; to a CPU, with PERFMON_SCOPE_CPU. The number of events that were left out,
	// which is 0 without PERFMON_SESSION_PARTIAL.
	std::uint32_t attach()
	{
		return attached(PERFMON_TARGET_KIND_THREAD, 0);
	}
	std::uint32_t attach(std::error_code &failed) noexcept
	{
		return attached(PERFMON_TARGET_KIND_THREAD, 0, failed);
	}
	std::uint32_t attach_thread(pid_t tid)
	{
		return attached(PERFMON_TARGET_KIND_THREAD, tid);
	}
	std::uint32_t attach_thread(pid_t tid, std::error_code &failed) noexcept
	{
		return attached(PERFMON_TARGET_KIND_THREAD, tid, failed);
	}
	std::uint32_t attach_process(pid_t pid)
	{
		return attached(PERFMON_TARGET_KIND_PROCESS, pid);
	}
	std::uint32_t attach_process(pid_t pid, std::error_code &failed) noexcept
	{
		return attached(PERFMON_TARGET_KIND_PROCESS, pid, failed);
	}
	std::uint32_t attach_cpu(int cpu)
	{
		return attached(PERFMON_TARGET_KIND_CPU, cpu);
	}
	std::uint32_t attach_cpu(int cpu, std::error_code &failed) noexcept
	{
		return attached(PERFMON_TARGET_KIND_CPU, cpu, failed);
	}
	void detach()
	{
		check(perfmon_session_detach(session_));
	}
	void detach(std::error_code &failed) noexcept
	{
		failed = code_of(perfmon_session_detach(session_));
	}

	void start()
	{
		check(perfmon_session_start(session_));
	}
	void start(std::error_code &failed) noexcept
	{
		failed = code_of(perfmon_session_start(session_));
	}
	void stop()
	{
		check(perfmon_session_stop(session_));
	}
	void stop(std::error_code &failed) noexcept
	{
		failed = code_of(perfmon_session_stop(session_));
	}
	perfmon_state state() const
	{
		return static_cast<perfmon_state>(check(perfmon_session_state(session_)));
	}
	// How many counters there are; 0 after close().
	std::uint32_t counters() const noexcept
	{
		int count = perfmon_session_counters(session_);

		return count > 0 ? static_cast<std::uint32_t>(count) : 0;
	}

	// All counters, in the order of adding. FLAGS: PERFMON_READ_OWN, PERFMON_READ_TOTAL.
	std::vector<value> read(std::uint32_t flags = 0) const
	{
		std::vector<perfmon_value> raw(checked_counters());
		std::vector<value> values;

		if (raw.empty())
			return values;
		check(perfmon_session_read(session_, raw.data(), raw.size(),
					   sizeof(raw[0]), flags | PERFMON_READ_ALL));
		for (const perfmon_value &one : raw)
			values.push_back(described(one));
		return values;
	}
	// The same into the COUNT elements of VALUES, without allocating. How many there are.
	std::uint32_t read(perfmon_value *values, std::size_t count,
			   std::error_code &failed,
			   std::uint32_t flags = PERFMON_READ_ALL) const noexcept
	{
		return natural(perfmon_session_read(session_, values, count,
						    sizeof(values[0]), flags),
			       failed);
	}
	// One counter.
	value read_one(std::uint32_t index, std::uint32_t flags = 0) const
	{
		perfmon_value raw = {};

		raw.index = index;
		check(perfmon_session_read(session_, &raw, 1, sizeof(raw), flags));
		return described(raw);
	}
	// Sets a counter, which goes on from there, and its times to 0.
	void write(std::uint32_t index, std::uint64_t number)
	{
		check(write_(index, number));
	}
	void write(std::uint32_t index, std::uint64_t number,
		   std::error_code &failed) noexcept
	{
		failed = code_of(write_(index, number));
	}
	// What is known of a counter. Its texts last until the counter is programmed anew.
	perfmon_counter_info counter(std::uint32_t index) const
	{
		perfmon_counter_info info = {};

		info.size = sizeof(info);
		check(perfmon_session_get_counter(session_, index, &info));
		return info;
	}

	// --- event sets (perfmon/set.h) ---

	// Makes set ID, of which the turn ends after TIMEOUT; 0: the program switches. The
	// effective time-out.
	std::chrono::nanoseconds make_set(std::uint16_t id,
					  std::chrono::nanoseconds timeout)
	{
		std::chrono::nanoseconds effective(0);

		if (timeout.count() < 0)
			fail(-EINVAL, "the time-out of an event set is below 0");
		check(make_set_(id, timeout, &effective));
		return effective;
	}
	std::chrono::nanoseconds make_set(std::uint16_t id,
					  std::chrono::nanoseconds timeout,
					  std::error_code &failed) noexcept
	{
		std::chrono::nanoseconds effective(0);

		failed = code_of(make_set_(id, timeout, &effective));
		return effective;
	}
	void add_to_set(std::uint16_t id, const std::string &text)
	{
		check(perfmon_set_add_events(session_, id, text.c_str()));
	}
	void add_to_set(std::uint16_t id, const std::string &text,
			std::error_code &failed) noexcept
	{
		failed = code_of(perfmon_set_add_events(session_, id, text.c_str()));
	}
	void start_set(std::uint16_t id)
	{
		check(perfmon_set_start(session_, id));
	}
	void start_set(std::uint16_t id, std::error_code &failed) noexcept
	{
		failed = code_of(perfmon_set_start(session_, id));
	}
	// What each counter would have counted in the whole time, with the error of that.
	std::vector<perfmon_estimate> estimates() const
	{
		std::vector<perfmon_estimate> all(checked_counters());

		for (std::size_t i = 0; i < all.size(); i++)
			all[i].index = static_cast<std::uint32_t>(i);
		if (!all.empty())
			check(perfmon_set_estimate(session_, all.data(), all.size(),
						   sizeof(all[0])));
		return all;
	}

	// --- overflows (perfmon/overflow.h) ---

	// Has a counter overflow after each PERIOD events. FLAGS are PERFMON_OVERFLOW_ ones.
	void overflow_every(std::uint32_t index, std::uint64_t period,
			    std::uint32_t flags = PERFMON_OVERFLOW_NOTIFY)
	{
		check(perfmon_overflow_period(session_, index, period, flags));
	}
	void overflow_every(std::uint32_t index, std::uint64_t period,
			    std::uint32_t flags, std::error_code &failed) noexcept
	{
		failed = code_of(perfmon_overflow_period(session_, index, period, flags));
	}
	// A descriptor for poll(2), readable while a message waits. The session keeps it.
	int overflow_descriptor()
	{
		return check(perfmon_overflow_descriptor(session_));
	}
	// Takes the next message. False if none waits.
	bool next_overflow(perfmon_message &message)
	{
		int taken = perfmon_overflow_read(session_, &message, 1, sizeof(message));

		return taken != -EAGAIN && check(taken) == 1;
	}
	bool next_overflow(perfmon_message &message, std::error_code &failed) noexcept
	{
		int taken = perfmon_overflow_read(session_, &message, 1, sizeof(message));

		failed = code_of(taken == -EAGAIN ? 0 : taken);
		return taken == 1;
	}
	// Lets a session count again that a notification has masked.
	void restart()
	{
		check(perfmon_overflow_restart(session_));
	}
	void restart(std::error_code &failed) noexcept
	{
		failed = code_of(perfmon_overflow_restart(session_));
	}

      private:
	int check(int result) const
	{
		if (result < 0)
			fail(result, message());
		return result;
	}
	std::uint32_t checked_counters() const
	{
		return static_cast<std::uint32_t>(
			check(perfmon_session_counters(session_)));
	}
	static std::uint32_t natural(int result, std::error_code &failed) noexcept
	{
		failed = code_of(result);
		return result < 0 ? 0 : static_cast<std::uint32_t>(result);
	}
	int create(const std::string &text, std::uint32_t flags, perfmon_scope scope,
		   char *refused, std::size_t size) noexcept
	{
		perfmon_session_options options = {};
		int err;

		options.size = sizeof(options);
		options.scope = scope;
		options.flags = flags;
		err = perfmon_session_create(&session_, &options, refused, size);
		return err || text.empty() ? err : add_(text);
	}
	int add_(const std::string &text) noexcept
	{
		return perfmon_session_add_events(session_, text.c_str());
	}
	std::uint32_t attached(perfmon_target_kind kind, std::int32_t id)
	{
		return static_cast<std::uint32_t>(
			check(perfmon_session_attach(session_, kind, id)));
	}
	std::uint32_t attached(perfmon_target_kind kind, std::int32_t id,
			       std::error_code &failed) noexcept
	{
		return natural(perfmon_session_attach(session_, kind, id), failed);
	}
	value described(const perfmon_value &raw) const
	{
		perfmon_counter_info info = {};

		info.size = sizeof(info);
		if (raw.index == PERFMON_COUNTER_VIRTUAL_TIME)
			return value("virtual-time", "ns", 1, raw);
		check(perfmon_session_get_counter(session_, raw.index, &info));
		return value(info.name, info.unit, info.scale, raw);
	}
	int write_(std::uint32_t index, std::uint64_t number) noexcept
	{
		perfmon_write one = {};

		one.index = index;
		one.value = number;
		return perfmon_session_write(session_, &one, 1, sizeof(one), 0);
	}
	int make_set_(std::uint16_t id, std::chrono::nanoseconds timeout,
		      std::chrono::nanoseconds *effective) noexcept
	{
		perfmon_set set = {};
		int err;

		if (timeout.count() < 0)
			return -EINVAL;
		set.id = id;
		set.flags = timeout.count() ? PERFMON_SET_TIME_SWITCH : 0;
		set.timeout_ns = static_cast<std::uint64_t>(timeout.count());
		err = perfmon_set_create(session_, &set, 1, sizeof(set));
		*effective = std::chrono::nanoseconds(set.timeout_ns);
		return err;
	}

	perfmon_session *session_ = nullptr;
};

// Lets a session count from the construction of this object to its end. The end does not throw:
// where stopping fails, the session's message() says so.
class PERFMON_NODISCARD_ counting
{
      public:
	PERFMON_NODISCARD_ explicit counting(session &what) : session_(what)
	{
		session_.start();
	}
	PERFMON_NODISCARD_ counting(session &what, std::error_code &failed) noexcept
	    : session_(what)
	{
		session_.start(failed);
	}
	~counting()
	{
		std::error_code ignored;

		session_.stop(ignored);
	}
	counting(const counting &) = delete;
	counting &operator=(const counting &) = delete;

      private:
	session &session_;
};

} // namespace perfmon

#endif
