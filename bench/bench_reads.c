/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of reading one and four counters of the calling thread: inline, by a call of
 * the library, by the session's own call, and by one read(2). */
#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/inline.h>
#include <perfmon/session.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "../tests/messages.h"

#define MOST 4

static struct perfmon_session *session;
static const struct perfmon_reader *reader;
static int group_fd[MOST];
static int count; /* of the counters that are read */

__attribute__((noinline)) static void inline_1(int n)
{
	const struct perfmon_reader *from = reader;
	uint64_t value = 0;

	for (int i = 0; i < n; i++) {
		perfmon_reader_read(from, 0, &value);
		__asm__ volatile("" ::"r"(value) : "memory");
	}
}

__attribute__((noinline)) static void inline_4(int n)
{
	const struct perfmon_reader *from = reader;
	uint64_t values[MOST];

	for (int i = 0; i < n; i++) {
		perfmon_reader_read_all(from, values);
		__asm__ volatile("" ::"r"(values) : "memory");
	}
}

__attribute__((noinline)) static void call_1(int n)
{
	const struct perfmon_reader *from = reader;
	uint64_t value;

	for (int i = 0; i < n; i++)
		perfmon_reader_read_call(from, 0, &value);
}

__attribute__((noinline)) static void call_4(int n)
{
	const struct perfmon_reader *from = reader;
	uint64_t values[MOST];

	for (int i = 0; i < n; i++)
		perfmon_reader_read_all_call(from, values);
}

__attribute__((noinline)) static void session_read(int n)
{
	struct perfmon_value values[MOST];

	memset(values, 0, sizeof(values));
	for (int i = 0; i < n; i++)
		perfmon_session_read(session, values, (size_t)count, sizeof(values[0]),
				     PERFMON_READ_ALL);
}

__attribute__((noinline)) static void kernel_read(int n)
{
	uint64_t buffer[1 + MOST];

	for (int i = 0; i < n; i++) {
		if (read(group_fd[0], buffer, sizeof(buffer)) <= 0)
			abort();
	}
}

/* Opens the events for read(2): a single event, or a group. */
static int open_group(void)
{
	static const uint64_t hardware[] = {PERF_COUNT_HW_INSTRUCTIONS,
					    PERF_COUNT_HW_CPU_CYCLES};
	static const uint64_t raw[] = {0x008, 0x011};

	for (int i = 0; i < count; i++) {
		struct perf_event_attr attr = {
			.type = i < 2 ? PERF_TYPE_HARDWARE : PERF_TYPE_RAW,
			.size = sizeof(attr),
			.config = i < 2 ? hardware[i] : raw[i - 2],
			.read_format = count > 1 ? PERF_FORMAT_GROUP : 0,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		};

		if (!bench_counts_instructions()) {
			attr.type = PERF_TYPE_SOFTWARE;
			attr.config = PERF_COUNT_SW_PAGE_FAULTS;
		}
		group_fd[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1,
					   i ? group_fd[0] : -1, 0);
		if (group_fd[i] < 0)
			return -errno;
	}
	return 0;
}

static void close_group(void)
{
	while (count > 0)
		close(group_fd[--count]);
}

static int open_session(const char *events)
{
	int err = perfmon_session_create(&session, NULL, NULL, 0);

	if (err)
		return err;
	err = perfmon_session_add_events(session, events);
	if (err >= 0)
		err = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
	if (err >= 0)
		err = perfmon_session_start(session);
	if (err >= 0)
		err = perfmon_session_reader(session, &reader);
	if (err < 0) {
		bench_say("%s: %s", events, session_message_of(session));
		perfmon_session_close(session);
	}
	return err;
}

/* Without counters that can be read from user space, only the kernel's read can be
 * compared. */
static void user_reads(const char *inline_name, bench_work *inlined,
		       const char *call_name, bench_work *called,
		       const char *session_name)
{
	if (bench_counts_instructions()) {
		bench_print(inline_name,
			    bench_user_only(inline_name, inlined, NULL, 5000),
			    bench_unit());
		bench_print(call_name, bench_user_only(call_name, called, NULL, 5000),
			    bench_unit());
	}
	bench_print(session_name, bench_all(session_read, NULL, 100), bench_unit());
}

static int reads(int k)
{
	static const char *const software[] = {
		"", "page-faults", "", "",
		"page-faults,task-clock,minor-faults,major-faults"};
	int err =
		open_session(bench_counts_instructions() ? bench_events(k) : software[k]);

	if (err < 0)
		return err;
	count = k;
	if (k == 1)
		user_reads("read.inline.1", inline_1, "read.call.1", call_1,
			   "read.session.1");
	else
		user_reads("read.inline.4", inline_4, "read.call.4", call_4,
			   "read.session.4");
	perfmon_session_close(session);
	err = open_group();
	if (err) {
		bench_say("cannot open %d events: %s", k, strerror(-err));
		return err;
	}
	bench_print(k == 1 ? "read.syscall.1" : "read.syscall.4",
		    bench_all(kernel_read, NULL, 100), bench_unit());
	close_group();
	return 0;
}

int main(void)
{
	return reads(1) < 0 || reads(4) < 0;
}
