// SPDX-License-Identifier: LGPL-2.1-or-later
//
// C++20 coroutines that two threads run in turn. Each is a task: its regions are suspended where it
// waits, and go on in the thread that resumes it, which may be another one. "fetch" counts once for each
// coroutine, with what both threads did for it, and without the time for which it waited.
//
//	c++ -std=c++20 -O2 -pthread coroutines.cc $(pkg-config --cflags --libs perfmon)
//
// What is to copy is coroutine::promise_type, which has the task, and the awaiter next_turn: it suspends
// the task before any other thread can see the coroutine, and resumes it where the coroutine goes on.
#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <perfmon/region.h>
#include <perfmon/task.h>
#include <thread>
#include <vector>

namespace
{

// Coroutines that can go on. The workers take them in turn.
class scheduler
{
      public:
	void post(std::coroutine_handle<> handle)
	{
		std::lock_guard<std::mutex> guard(lock_);

		ready_.push_back(handle);
		changed_.notify_one();
	}
	// Runs coroutines until all of COUNT have ended.
	void work(const std::atomic<int> &ended, int count)
	{
		std::unique_lock<std::mutex> guard(lock_);

		while (ended < count) {
			if (ready_.empty()) {
				changed_.wait_for(guard, std::chrono::milliseconds(1));
				continue;
			}
			auto handle = ready_.front();
			ready_.pop_front();
			guard.unlock();
			handle.resume();
			guard.lock();
		}
	}

      private:
	std::mutex lock_;
	std::condition_variable changed_;
	std::deque<std::coroutine_handle<>> ready_;
};

scheduler queue;
std::atomic<int> ended;

struct coroutine {
	struct promise_type {
		perfmon_task task = {};

		promise_type()
		{
			perfmon_task_begin(&task);
		}
		// Also of a coroutine that is destroyed while it waits.
		~promise_type()
		{
			perfmon_task_end(&task);
		}
		coroutine get_return_object()
		{
			return {};
		}
		std::suspend_never initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_never final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
};

// co_await next_turn{} lets the other coroutines run.
struct next_turn {
	perfmon_task *task = nullptr;

	bool await_ready() noexcept
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<coroutine::promise_type> handle)
	{
		task = &handle.promise().task;
		perfmon_task_suspend(task);
		// From here on another thread may run it.
		queue.post(handle);
	}
	void await_resume() noexcept
	{
		perfmon_task_resume(task);
	}
};

coroutine fetch(int pages, std::atomic<int> &fetched)
{
	{
		PERFMON_REGION_SCOPE("fetch");
		for (int page = 0; page < pages; page++) {
			co_await next_turn{};
			PERFMON_REGION_BEGIN("decode");
			fetched++;
			PERFMON_REGION_END("decode");
		}
	}
	ended++;
}

} // namespace

int main()
{
	const int coroutines = 16, pages = 100;
	std::atomic<int> fetched{0};
	std::vector<std::thread> workers;

	PERFMON_REGION_BEGIN("main");
	for (int i = 0; i < coroutines; i++)
		fetch(pages, fetched);
	for (int i = 0; i < 2; i++)
		workers.emplace_back([] { queue.work(ended, coroutines); });
	for (auto &worker : workers)
		worker.join();
	PERFMON_REGION_END("main");
	bool right = fetched == coroutines * pages;

	std::printf("coroutines: %d of %d pages: %s\n", coroutines, pages,
		    right ? "right" : "WRONG");
	return !right;
}
