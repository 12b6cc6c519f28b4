/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of a session: into a format, and into a log. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "core/samples/log_internal.h"
#include "core/session/overflow/overflow.h"
#include "core/session/sampling/sampling.h"
#include "perfmon/log.h"
#include "perfmon/sampling.h"
#include "bounds.h"
#include "helpers.h"
#include "messages.h"
#include "session_probe.h"

static const struct perfmon_sampling default_format = {
	.size = sizeof(struct perfmon_sampling), .format = PERFMON_FORMAT_DEFAULT};

/* Counter INDEX is sampled after PERIOD events. */
static void sample_after(struct perfmon_session *session, uint32_t index, uint64_t period,
			 uint64_t counters)
{
	uint32_t indices[64];
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_SAMPLE,
					    .short_reset = -period,
					    .long_reset = -period,
					    .event_id = 100 + index,
					    .sample_counters = indices};
	struct perfmon_write first = {.index = index, .value = -period};

	for (uint32_t i = 0; i < 64; i++) {
		if (counters >> i & 1)
			indices[overflow.sample_count++] = i;
	}
	OK(session, perfmon_overflow_program(session, index, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
}

static const struct perfmon_buffer *buffer_of(struct perfmon_session *session)
{
	const struct perfmon_buffer *buffer = perfmon_sampling_buffer(session, NULL);

	cr_assert_not_null(buffer);
	return buffer;
}

/* Row: MU-01, MU-02, PC-15, PM-25, PM-47, HW-02: sampling is set up after creation and
 * while attached, and torn down again, as long as the session does not run; counts are
 * kept; samples hold the values of other counters. */
Test(sampling, is_set_up_and_torn_down)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_session *session;
	const struct perfmon_buffer_sample *sample = NULL;
	const struct perfmon_buffer *buffer;
	uint64_t taken, lost, before;
	unsigned int n = 0;

	snprintf(events, sizeof(events), "%s,%s", watch_event(0), watch_event(1));
	session = session_with(events, 0);
	cr_assert_eq(perfmon_sampling_counts(session, &taken, &lost), -EINVAL);
	cr_assert_null(perfmon_sampling_buffer(session, NULL));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(1, 1000);
	OK(session, perfmon_session_stop(session));
	sample_after(session, 0, 10, 2);
	OK(session, perfmon_sampling_set_up(session, &default_format));
	cr_assert_eq(perfmon_sampling_set_up(session, &default_format), -EEXIST);
	cr_assert_eq(count_of(session, 1), 1000);
	OK(session, perfmon_session_start(session));
	cr_assert_eq(perfmon_sampling_tear_down(session), -EBUSY);
	for (int i = 0; i < 50; i++) {
		touch(1, 1);
		touch(0, 10);
	}
	OK(session, perfmon_session_stop(session));
	buffer = buffer_of(session);
	cr_assert_eq(buffer->count, 50);
	while ((sample = perfmon_buffer_next(buffer, sample))) {
		cr_assert_eq(sample->index, 0);
		cr_assert_eq(sample->event_id, 100);
		cr_assert_eq(sample->last_reset, -UINT64_C(10));
		cr_assert_eq(sample->tid, own_tid());
		cr_assert_eq(sample->value_count, 1);
		cr_assert_eq(perfmon_buffer_values(sample)[0], 1001 + n);
		cr_assert(sample->present & PERFMON_SAMPLE_IP && sample->ip);
		n++;
	}
	cr_assert_eq(n, 50);
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	cr_assert_eq(taken, 50);
	cr_assert_eq(lost, 0);
	before = count_of(session, 1);
	OK(session, perfmon_sampling_tear_down(session));
	OK(session, perfmon_sampling_tear_down(session));
	cr_assert_eq(count_of(session, 1), before);
	OK(session, perfmon_session_start(session));
	touch(1, 5);
	cr_assert_eq(count_of(session, 1), before + 5);
	perfmon_session_close(session);
}

/* Row: PM-47, PM-33: a full buffer masks the session and sends a message; the restart
 * empties it. */
Test(sampling, a_full_buffer_notifies)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_buffer_argument small = {.size = sizeof(small),
						.buffer_size = PERFMON_BUFFER_MIN};
	struct perfmon_sampling sampling = default_format;
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_message message;
	const struct perfmon_buffer *buffer;

	sampling.data = &small;
	sampling.data_size = sizeof(small);
	sample_after(session, 0, 10, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	while (perfmon_session_state(session) == PERFMON_STATE_RUNNING)
		touch(0, 10);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	buffer = buffer_of(session);
	cr_assert(buffer->full && buffer->count);
	cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)), 1);
	cr_assert_eq(message.type, PERFMON_MESSAGE_TYPE_OVERFLOW);
	OK(session, perfmon_overflow_restart(session));
	cr_assert_eq(buffer_of(session)->count, 0);
	cr_assert_eq(buffer_of(session)->fills, 1);
	touch(0, 30);
	OK(session, perfmon_session_stop(session));
	cr_assert_geq(buffer_of(session)->count, 1);
	perfmon_session_close(session);
}

static atomic_uint asked;

static int notify_at_third(void *state, const struct perfmon_overflow_sample *sample)
{
	(void)state;
	(void)sample;
	return ++asked % 3 ? PERFMON_FORMAT_CONTINUE : PERFMON_FORMAT_NOTIFY;
}

/* Row: PM-31, PM-33, PM-47: a program that only polls is told by a format, and of a full
 * buffer, when it happens, and what it does until it restarts is not counted. */
Test(sampling, a_program_that_only_polls)
{
	NEEDS_BREAKPOINTS();
	const struct perfmon_format format = {
		.size = sizeof(format), .name = "thirds", .sample = notify_at_third};
	const struct perfmon_buffer_argument small = {.size = sizeof(small),
						      .buffer_size = PERFMON_BUFFER_MIN};
	const unsigned int fit = (PERFMON_BUFFER_MIN - sizeof(struct perfmon_buffer)) /
				 sizeof(struct perfmon_buffer_sample);

	cr_assert_eq(perfmon_format_register(&format), 0);
	for (unsigned int i = 0; i < 6; i++) {
		bool own = i % 2;
		const struct perfmon_sampling sampling = {
			.size = sizeof(sampling),
			.format = own ? "thirds" : PERFMON_FORMAT_DEFAULT,
			.data = own ? NULL : &small,
			.data_size = own ? 0 : sizeof(small)};
		struct perfmon_session *session = session_with(watch_event(0), 0);
		unsigned int each = own ? 3 : fit;
		struct perfmon_message message;
		uint64_t taken, lost, value;
		int fd;

		atomic_store(&asked, 0);
		sample_after(session, 0, 10, 0);
		/* In the way of asking for it first, in between, or last. */
		fd = i / 2 == 0 ? perfmon_overflow_descriptor(session) : 0;
		OK(session, perfmon_sampling_set_up(session, &sampling));
		fd = i / 2 == 1 ? perfmon_overflow_descriptor(session) : fd;
		OK(session,
		   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
		fd = i / 2 == 2 ? perfmon_overflow_descriptor(session) : fd;
		OK(session, fd);
		OK(session, perfmon_session_start(session));
		for (unsigned int round = 1; round <= 3; round++) {
			touch(0, 10 * each);
			cr_assert(becomes_readable(fd), "%u, round %u", i, round);
			value = count_of(session, 0);
			touch(0, 100);
			cr_assert_eq(count_of(session, 0), value, "it stands still");
			cr_assert_eq(perfmon_session_state(session),
				     PERFMON_STATE_MASKED);
			cr_assert_eq(perfmon_overflow_read(session, &message, 1,
							   sizeof(message)),
				     1);
			OK(session, perfmon_sampling_counts(session, &taken, &lost));
			cr_assert_eq(taken, round * each);
			cr_assert_eq(lost, 0);
			OK(session, perfmon_overflow_restart(session));
		}
		perfmon_session_close(session);
	}
	cr_assert_eq(perfmon_format_unregister("thirds"), 0);
}

/* Row: PM-47: what the default format has no room for is counted as lost. */
Test(sampling, a_full_buffer_loses)
{
	NEEDS_BREAKPOINTS();
	const struct perfmon_buffer_argument small = {.size = sizeof(small),
						      .buffer_size = PERFMON_BUFFER_MIN};
	struct perfmon_sampling sampling = default_format;
	struct perfmon_session *session = session_with(watch_event(0), 0);
	uint64_t taken, lost;

	sampling.data = &small;
	sampling.data_size = sizeof(small);
	sample_after(session, 0, 10, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 10 * 200);
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	cr_assert_eq(taken, buffer_of(session)->total);
	cr_assert_eq(lost, buffer_of(session)->lost);
	cr_assert_eq(taken + lost, 200);
	cr_assert_lt(taken, 200);
	perfmon_session_close(session);
}

/* A clock that ticks more often than the kernel allows, or has time for, is held back:
 * each overflow has its sample or is lost, and the program can know why. */
Test(sampling, that_is_throttled)
{
	const uint64_t period = 10000;
	const struct perfmon_buffer_argument large = {.size = sizeof(large),
						      .buffer_size = 64 << 20};
	struct perfmon_sampling sampling = default_format;
	struct perfmon_session *session = session_with("task-clock", 0);
	uint64_t taken, lost, count, times;

	cr_assert_eq(perfmon_sampling_throttled(session, &times), -EINVAL);
	sample_after(session, 0, period, 0);
	sampling.data = &large;
	sampling.data_size = sizeof(large);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	work_for_ns(CLOCK_THREAD_CPUTIME_ID, 200000000);
	/* The kernel says what it lost with the next record for which there is room. */
	let_time_pass_ms(100);
	work_for_ns(CLOCK_THREAD_CPUTIME_ID, 100000);
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	OK(session, perfmon_sampling_throttled(session, &times));
	OK(session, perfmon_overflow_last_reset(session, 0, NULL, &count));
	cr_log_info("taken %lu, lost %lu, throttled %lu", (unsigned long)taken,
		    (unsigned long)lost, (unsigned long)times);
	cr_assert_gt(taken, 0);
	if (times)
		cr_assert_gt(lost, 0);
	/* On a busy machine the kernel loses records of its own, too: of periods that were shorter
	 * than the counter's. */
	cr_assert_geq(taken + lost, count);
	cr_assert_lt(-count_of(session, 0) - 1, period, "%ld",
		     (long)count_of(session, 0));
	cr_assert(!(value_of(session, 0).status & PERFMON_VALUE_THROTTLED),
		  "software goes on to count");
	perfmon_session_close(session);
}

/* A hardware counter that overflows too often stands still between ticks. Nobody looks meanwhile,
 * so that the record which says so may find no room: then it is marked all the same. */
Test(sampling, counters_that_are_throttled_are_marked)
{
	static const uint64_t periods[] = {500, 1000, 5000, 100000};
	const uint64_t rounds = 4000000;

	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		struct perfmon_session *session = session_with("instructions:u", 0);
		struct perfmon_value value = {.index = 0};
		uint64_t left = rounds;

		OK(session, perfmon_overflow_period(session, 0, periods[i], 0));
		if (perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0))
			cr_skip_test("%s", session_message_of(session));
		OK(session, perfmon_session_start(session));
		while (left--)
			__asm__ __volatile__("" : "+r"(left));
		OK(session, perfmon_session_stop(session));
		OK(session, perfmon_session_read(session, &value, 1, sizeof(value),
						 PERFMON_READ_TOTAL));
		cr_log_info("period %lu: %lu, status %#x", (unsigned long)periods[i],
			    (unsigned long)value.value, value.status);
		/* The loop has two instructions a round at least. */
		cr_expect(value.value >= 2 * rounds ||
				  value.status & PERFMON_VALUE_THROTTLED,
			  "period %lu: %lu", (unsigned long)periods[i],
			  (unsigned long)value.value);
		if (i == 3)
			cr_expect(!(value.status & PERFMON_VALUE_THROTTLED));
		perfmon_session_close(session);
	}
}

static struct {
	unsigned int samples, restarts, ended;
	uint64_t callers;
} own;

static int own_sample(void *state, const struct perfmon_overflow_sample *sample)
{
	(void)state;
	own.samples++;
	if (sample->sample->present & PERFMON_SAMPLE_CALL_CHAIN)
		own.callers += sample->sample->call_chain_count;
	return PERFMON_FORMAT_CONTINUE;
}

static void own_end(void *state)
{
	(void)state;
	own.ended++;
}

/* Row: PM-47, HW-09: a format of the program's own, and call chains. */
Test(sampling, a_format_of_ones_own)
{
	NEEDS_BREAKPOINTS();
	const struct perfmon_format format = {.size = sizeof(format),
					      .name = "mine",
					      .sample = own_sample,
					      .fini = own_end};
	struct perfmon_sampling sampling = {.size = sizeof(sampling),
					    .format = "mine",
					    .fields = PERFMON_SAMPLE_CALL_CHAIN};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	uint64_t fields;

	sample_after(session, 0, 10, 0);
	cr_assert_eq(perfmon_sampling_set_up(session, &sampling), -ENOENT);
	cr_assert_eq(perfmon_format_register(&format), 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_fields(session, &fields));
	cr_assert(fields & PERFMON_SAMPLE_CALL_CHAIN);
	cr_assert_eq(perfmon_format_unregister("mine"), -EBUSY);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 100);
	OK(session, perfmon_sampling_fields(session, &fields));
	cr_assert_eq(own.samples, 0,
		     "what was granted is read, and the rings stay as they are");
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(own.samples, 10);
	cr_assert_geq(own.callers, 10);
	perfmon_session_close(session);
	cr_assert_eq(own.ended, 1);
	cr_assert_eq(perfmon_format_unregister("mine"), 0);
}

/* A field that no machine without such hardware has: refused by name, or left out. */
Test(sampling, fields_that_are_refused)
{
	struct perfmon_sampling sampling = default_format;
	struct perfmon_session *session = session_with(watch_event(0), 0);
	uint64_t fields;

	sample_after(session, 0, 10, 0);
	sampling.fields = PERFMON_SAMPLE_BRANCHES | PERFMON_SAMPLE_CALL_CHAIN;
	cr_assert_eq(perfmon_sampling_set_up(session, &sampling), -EOPNOTSUPP);
	cr_assert(strstr(session_message_of(session), "branch stack"), "%s",
		  session_message_of(session));
	sampling.flags = PERFMON_SAMPLING_BEST;
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_fields(session, &fields));
	cr_assert(!(fields & PERFMON_SAMPLE_BRANCHES));
	cr_assert(fields & PERFMON_SAMPLE_CALL_CHAIN);
	OK(session, perfmon_sampling_tear_down(session));
	sampling.ring_pages = 3;
	cr_assert_eq(perfmon_sampling_set_up(session, &sampling), -EINVAL);
	sampling = default_format;
	sampling.fields = UINT64_C(1) << 60;
	cr_assert_eq(perfmon_sampling_set_up(session, &sampling), -EINVAL);
	perfmon_session_close(session);
}

/* Samples are taken only inside the region. */
Test(sampling, of_a_region)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	uint64_t taken;

	sample_after(session, 0, 10, 0);
	OK(session, perfmon_sampling_set_up(session, &default_format));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	for (int i = 0; i < 5; i++) {
		touch(0, 1000);
		PERFMON_SAMPLING_REGION_BEGIN(session, "sampled");
		touch(0, 10);
		PERFMON_SAMPLING_REGION_BEGIN(session, "inner");
		touch(0, 10);
		PERFMON_SAMPLING_REGION_END(session, "inner");
		touch(0, 10);
		PERFMON_SAMPLING_REGION_END(session, "sampled");
	}
	OK(session, perfmon_sampling_counts(session, &taken, NULL));
	cr_assert_eq(taken, 15);
	cr_assert_eq(perfmon_sampling_leave(session), -EINVAL);
	perfmon_session_close(session);
}

/* How many samples the real perf finds in the log at PATH. */
static unsigned int perf_samples(const char *path)
{
	char command[256], line[512];
	unsigned int lines = 0;
	FILE *output;

	snprintf(command, sizeof(command), "perf script -F pid,tid,time,event,ip -i %s",
		 path);
	output = popen(command, "r");
	while (fgets(line, sizeof(line), output))
		lines += strstr(line, "page-faults") != NULL;
	cr_assert_eq(pclose(output), 0);
	return lines;
}

/* Row: HW-11, HW-02: the log of another process, with what goes on around its samples. */
Test(sampling, samples_that_nothing_takes)
{
	struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	struct perfmon_session *session = session_with("page-faults", 0);

	sample_after(session, 0, 3, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	cr_assert_eq(perfmon_session_start(session), -EINVAL);
	cr_assert(strstr(session_message_of(session), "nothing takes the samples"));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	OK(session, perfmon_sampling_log(session, "/dev/null", -1, 0));
	OK(session, perfmon_session_start(session));
	perfmon_session_close(session);
}

Test(sampling, a_log)
{
	char path[] = "/tmp/perfmon-sampling-XXXXXX", message[256];
	struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	struct perfmon_session *session = session_with("page-faults", 0);
	unsigned int samples = 0, ends = 0, names = 0, users = 0;
	int fd = mkstemp(path), go[2], n;
	struct perfmon_log_event event = {.size = sizeof(event)};
	struct perfmon_log_record record;
	struct perfmon_log *log;
	uint64_t taken, lost;
	char byte = 0;
	pid_t child;

	cr_assert(!pipe(go));
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) == 1)
			execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	cr_assert_eq(perfmon_sampling_log(session, path, -1, 0), -EINVAL);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	cr_assert_eq(perfmon_sampling_log(session, path, -1, 0), -EINVAL,
		     "no counter is sampled");
	OK(session, perfmon_sampling_tear_down(session));
	sample_after(session, 0, 3, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	n = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(perfmon_sampling_log(session, NULL, n, 0), -EBADF);
	cr_assert(strstr(session_message_of(session), "cannot write a log"));
	close(n);
	OK(session, perfmon_sampling_log(session, path, -1, 0));
	cr_assert_eq(perfmon_sampling_log(session, path, -1, 0), -EEXIST);
	cr_assert_eq(perfmon_sampling_log(session, path, -1, 1), -EINVAL);
	cr_expect_str_eq(session_message_of(session), "unknown flags 0x1");
	cr_assert_eq(perfmon_session_add_events(session, "dummy"), -EBUSY);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, child));
	OK(session, perfmon_session_start(session));
	OK(session, perfmon_sampling_log_user(session, 7, "hello", 5));
	cr_assert_eq(write(go[1], &byte, 1), 1);
	waitpid(child, NULL, 0);
	wait_for_loss(session);
	OK(session, perfmon_sampling_log_flush(session));
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	OK(session, perfmon_sampling_log_close(session));
	perfmon_session_close(session);

	cr_assert_eq(perfmon_log_open(&log, path, message, sizeof(message)), 0, "%s",
		     message);
	cr_assert_eq(perfmon_log_get_event(log, 0, &event), 0);
	cr_assert_eq(event.sample_period, 3, "samples stand for %llu events",
		     (unsigned long long)event.sample_period);
	record = (struct perfmon_log_record){.size = sizeof(record)};
	while ((n = perfmon_log_next(log, &record)) > 0) {
		samples += record.type == PERFMON_LOG_TYPE_SAMPLE;
		ends += record.type == PERFMON_LOG_TYPE_EXIT;
		names += record.type == PERFMON_LOG_TYPE_NAME;
		users += record.type == PERFMON_LOG_TYPE_USER;
	}
	cr_assert_eq(n, 0);
	perfmon_log_close(log);
	cr_assert_gt(samples, 0);
	cr_assert_eq(samples, taken);
	cr_assert_eq(ends, 1);
	cr_assert_geq(names, 1);
	cr_assert_eq(users, 1);
	if (!access("/usr/bin/perf", X_OK))
		cr_assert_eq(perf_samples(path), samples);
	unlink(path);
	close(fd);
}

/* Sleeps until it was taken off the CPU for it: a timer may fire before that. */
static void sleep_off_cpu(void)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	do {
		let_time_pass_ms(1);
		getrusage(RUSAGE_THREAD, &after);
	} while (after.ru_nvcsw == before.ru_nvcsw);
}

/* Row: HW-08: a session logs its counts at each context switch, which is an event as any
 * other: it samples every one, and the samples hold the other counters' values. */
Test(sampling, at_context_switches)
{
	NEEDS_BREAKPOINTS();
	const struct perfmon_buffer_sample *sample = NULL;
	struct perfmon_session *session;
	uint64_t taken, lost, last = 0;
	unsigned int seen = 0;
	char events[200];

	snprintf(events, sizeof(events), "context-switches:uk,%s", watch_event(1));
	session = session_with(events, 0);
	sample_after(session, 0, 1, 2);
	OK(session, perfmon_sampling_set_up(session, &default_format));
	/* It happens in the kernel. */
	if (perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0) == -EACCES) {
		cr_log_info("skip: %s", session_message_of(session));
		perfmon_session_close(session);
		cr_skip_test("kernel.perf_event_paranoid forbids to count switches");
	}
	OK(session, perfmon_session_start(session));
	for (int i = 0; i < 10; i++) {
		touch(1, 7);
		sleep_off_cpu();
	}
	OK(session, perfmon_session_stop(session));
	while ((sample = perfmon_buffer_next(buffer_of(session), sample))) {
		uint64_t value = perfmon_buffer_values(sample)[0];

		cr_assert_eq(sample->index, 0);
		cr_assert_eq(sample->value_count, 1);
		cr_assert_geq(value, last, "%llu after %llu", (unsigned long long)value,
			      (unsigned long long)last);
		/* Others may have taken the CPU away in between. */
		seen += value > last && value % 7 == 0;
		last = value;
	}
	cr_assert_eq(last, 70);
	cr_assert_eq(seen, 10, "%u of 10 sleeps", seen);
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	cr_assert_geq(taken, 10);
	cr_assert_eq(lost, 0);
	perfmon_session_close(session);
}

/* Whether this is Linux MAJOR.MINOR or later. */
static bool kernel_is_from(int major, int minor)
{
	struct utsname name;
	int is_major = 0, is_minor = 0;

	cr_assert_eq(uname(&name), 0);
	cr_assert_eq(sscanf(name.release, "%d.%d", &is_major, &is_minor), 2);
	return is_major > major || (is_major == major && is_minor >= minor);
}

/* Row: HW-07: a log has what each process and thread that the target created has counted,
 * as it ends. */
Test(sampling, counts_at_exit)
{
	NEEDS_BREAKPOINTS();
	char path[] = "/tmp/perfmon-sampling-XXXXXX", message[256];
	struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	struct perfmon_target target = {.flags = PERFMON_TARGET_CHILDREN};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_log_record record = {.size = sizeof(record)};
	uint64_t counts[8] = {0};
	unsigned int records = 0;
	struct perfmon_log *log;
	pid_t children[8];
	int fd = mkstemp(path), n;

	sample_after(session, 0, 1000000, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_log(session, path, -1, 0));
	n = perfmon_session_attach_targets(session, &target, 1, sizeof(target), 0);
	if (n == -EOPNOTSUPP) {
		cr_log_info("skip: %s", session_message_of(session));
		perfmon_session_close(session);
		unlink(path);
		cr_skip_test(
			"this kernel has no ring for breakpoints that children inherit");
	}
	cr_assert_geq(n, 0, "%s", session_message_of(session));
	OK(session, perfmon_session_start(session));
	for (unsigned int i = 0; i < 8; i++) {
		children[i] = fork();
		if (!children[i]) {
			touch(0, 10 * (i + 1));
			_exit(0);
		}
		cr_assert_eq(waitpid(children[i], NULL, 0), children[i]);
	}
	touch(0, 5);
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_sampling_log_close(session));
	cr_assert_eq(count_of(session, 0), -UINT64_C(1000000) + 365);
	perfmon_session_close(session);

	cr_assert_eq(perfmon_log_open(&log, path, message, sizeof(message)), 0, "%s",
		     message);
	while ((n = perfmon_log_next(log, &record)) > 0) {
		struct perfmon_sample_value value = {.size = sizeof(value)};

		if (record.type != PERFMON_LOG_TYPE_READ)
			continue;
		records++;
		cr_assert_eq(perfmon_sample_get_value(record.sample, 0, &value), 0);
		for (unsigned int i = 0; i < 8; i++)
			if (record.pid == children[i])
				counts[i] += value.value;
	}
	cr_assert_eq(n, 0);
	perfmon_log_close(log);
	unlink(path);
	close(fd);
	if (!records && !kernel_is_from(6, 18))
		cr_skip_test("this kernel leaves no counts of threads that end");
	for (unsigned int i = 0; i < 8; i++)
		cr_expect_eq(counts[i], 10 * (i + 1), "child %u: %llu", i,
			     (unsigned long long)counts[i]);
}

/* Row: HW-02, HW-06: what a target creates is sampled along with it. */
Test(sampling, of_children)
{
	struct perfmon_session *session = session_with("page-faults,task-clock", 0);
	struct perfmon_target target = {.flags = PERFMON_TARGET_CHILDREN};
	const struct perfmon_buffer_sample *sample = NULL;
	struct perfmon_value value;
	bool has_own = false, has_childs = false;
	uint64_t taken, lost, overflows;
	pid_t child;

	sample_after(session, 0, 5, 0);
	OK(session, perfmon_sampling_set_up(session, &default_format));
	OK(session,
	   perfmon_session_attach_targets(session, &target, 1, sizeof(target), 0));
	cr_assert_eq(perfmon_session_attach_targets(session, &target, 1, sizeof(target),
						    PERFMON_ATTACH_ADD),
		     -EEXIST);
	OK(session, perfmon_session_start(session));
	child = fork();
	if (!child)
		execl("/bin/true", "true", (char *)NULL);
	waitpid(child, NULL, 0);
	OK(session, perfmon_session_stop(session));
	while ((sample = perfmon_buffer_next(buffer_of(session), sample))) {
		has_own |= sample->pid == getpid();
		has_childs |= sample->pid == child;
	}
	cr_assert(has_own && has_childs);
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	OK(session, perfmon_overflow_last_reset(session, 0, NULL, &overflows));
	cr_assert_eq(taken + lost, overflows);
	value = value_of(session, 1);
	cr_assert_gt(value.running_ns, 0);
	cr_assert_leq(value.running_ns, value.enabled_ns + value.enabled_ns / 10,
		      "its time is counted once for all CPUs: %lu of %lu",
		      value.running_ns, value.enabled_ns);
	OK(session, perfmon_session_detach_target(session, target.kind, target.id));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);

	/* What the kernel does not have for children. */
	sample_after(session, 0, 5, 2);
	cr_assert_eq(
		perfmon_session_attach_targets(session, &target, 1, sizeof(target), 0),
		-EOPNOTSUPP);
	cr_assert(strstr(session_message_of(session), "values"));
	perfmon_session_close(session);
}

static atomic_uint bindings;

static int count_bindings(enum pm_kernel_call call)
{
	if (call == PM_CALL_SCHED_SETAFFINITY)
		bindings++;
	return 0;
}

/* Row: HW-04, DC-05: whatever runs on a CPU is sampled, for those who may, and the helper
 * thread stays near. */
Test(sampling, of_a_cpu)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .scope = PERFMON_SCOPE_CPU};
	struct perfmon_session *session;
	const struct perfmon_buffer_sample *sample;
	int cpu = sched_getcpu(), err;
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	cr_assert_eq(sched_setaffinity(0, sizeof(here), &here), 0);
	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	OK(session, perfmon_session_add_events(session, "page-faults"));
	sample_after(session, 0, 3, 0);
	pm_kernel_fault = count_bindings; /* before there is a helper thread */
	OK(session, perfmon_sampling_set_up(session, &default_format));
	err = perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, cpu);
	if (err == -EACCES || err == -EPERM)
		cr_skip_test("%s", session_message_of(session));
	OK(session, err);
	OK(session, perfmon_session_start(session));
	if (!fork())
		execl("/bin/true", "true", (char *)NULL);
	wait(NULL);
	OK(session, perfmon_session_stop(session));
	sample = perfmon_buffer_next(buffer_of(session), NULL);
	cr_assert_not_null(sample);
	cr_assert_eq(sample->cpu, (uint32_t)cpu);
	while (!bindings)
		pm_session_wake(session);
	cr_assert_eq(bindings, 1);
	perfmon_session_close(session);
	pm_kernel_fault = NULL;
}

/* The pipe that wakes the helper thread has lost its other end, which says nothing of a target
 * that is not watched. */
Test(sampling, a_wake_up_ends_no_target)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .scope = PERFMON_SCOPE_CPU};
	struct perfmon_session *session;
	int err;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	OK(session, perfmon_session_add_events(session, "page-faults"));
	pm_kernel_fault = count_bindings; /* before there is a helper thread */
	OK(session, perfmon_overflow_descriptor(session));
	err = perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, sched_getcpu());
	if (err == -EACCES || err == -EPERM)
		cr_skip_test("%s", session_message_of(session));
	OK(session, err);
	OK(session, perfmon_session_start(session));
	while (!bindings)
		pm_session_wake(session);
	OK(session, perfmon_session_stop(session)); /* behind the helper's work */
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	perfmon_session_close(session);
	pm_kernel_fault = NULL;
}

static atomic_bool refusing;

static int refuse_events(enum pm_kernel_call call)
{
	return refusing && call == PM_CALL_PERF_EVENT_OPEN ? -EBUSY : 0;
}

/* An error of the log is told by the call that succeeds, after others that did not. */
Test(sampling, a_tear_down_that_fails)
{
	const struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (full < 0)
		cr_skip_test("there is no /dev/full here");
	pm_kernel_fault = refuse_events; /* before there is a helper thread */
	sample_after(session, 0, 10, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_log(session, NULL, full, 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	refusing = true;
	for (int i = 0; i < 2; i++)
		cr_assert_eq(perfmon_sampling_tear_down(session), -EBUSY);
	refusing = false;
	OK(session, perfmon_sampling_counts(session, NULL, NULL));
	cr_assert_eq(perfmon_sampling_tear_down(session), -ENOSPC);
	cr_assert(strstr(session_message_of(session), "log"));
	cr_assert_eq(perfmon_sampling_counts(session, NULL, NULL), -EINVAL);
	cr_assert_eq(session->plan->part_count, 1, "no event for a log's other records");
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	OK(session, perfmon_session_stop(session));
	perfmon_session_close(session);
	pm_kernel_fault = NULL;
	close(full);
}

/* The samples in the log at PATH, and what it says was lost. */
static void count_log(const char *path, int fd, uint64_t *samples, uint64_t *lost)
{
	struct perfmon_log_record record = {.size = sizeof(record)};
	char message[256];
	struct perfmon_log *log;
	int n = path ? perfmon_log_open(&log, path, message, sizeof(message))
		     : perfmon_log_open_descriptor(&log, fd, message, sizeof(message));

	cr_assert_eq(n, 0, "%s", message);
	*samples = *lost = 0;
	while ((n = perfmon_log_next(log, &record)) > 0) {
		*samples += record.type == PERFMON_LOG_TYPE_SAMPLE;
		if (record.type == PERFMON_LOG_TYPE_LOST)
			*lost += record.lost;
	}
	/* One whose disk is full has no end. */
	cr_assert(!n || n == -EAGAIN, "%d: %s", n, log_message_of(log));
	perfmon_log_close(log);
}

struct log_reader {
	pthread_t thread;
	int fd;
	uint64_t samples, lost;
};

static void *read_log(void *argument)
{
	struct log_reader *reader = argument;

	count_log(NULL, reader->fd, &reader->samples, &reader->lost);
	return NULL;
}

/* Whether the buffer that is being filled has no room, in *WRITES whether the other is
 * being written. */
static bool is_crowded(struct pm_log *log, bool *writes)
{
	bool crowded;

	pthread_mutex_lock(&log->lock);
	crowded = log->crowded;
	*writes = log->writing.used;
	pthread_mutex_unlock(&log->lock);
	return crowded;
}

/* A running session on this thread with a log into a pipe that nobody reads, which is
 * full and so are the log's buffers: a record waits in the ring. How many it has taken
 * and will. */
static uint64_t fill_up_log(struct perfmon_session *session, const int ends[2])
{
	const struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	uint64_t touched = 0;

	sample_after(session, 0, 1, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_log(session, NULL, ends[1], 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	for (;;) {
		bool writes, crowded = is_crowded(session->sampling->log, &writes);

		if (crowded && writes)
			return touched;
		/* Else the writer is to come first: a ring is not large. */
		if (crowded) {
			let_time_pass_ms(1);
		} else {
			touch(0, 100);
			touched += 100;
		}
		cr_assert_geq(perfmon_session_state(session), 0);
	}
}

/* Row: HW-08: what the log has no room for stays in the ring, and is taken by itself as
 * soon as there is room. */
Test(sampling, a_log_that_is_slow_loses_nothing)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct log_reader reader = {0};
	uint64_t touched, taken, lost, head;
	struct perf_event_mmap_page *page;
	int ends[2];

	cr_assert(!pipe2(ends, O_CLOEXEC));
	touched = fill_up_log(session, ends);
	reader.fd = ends[0];
	cr_assert_eq(pthread_create(&reader.thread, NULL, read_log, &reader), 0);
	/* Behind it come records of this thread's sleep. */
	page = session->plan->targets[0].records->ring.page;
	head = page->data_head;
	WAIT_UNTIL(__atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE) >= head);
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	cr_assert_eq(taken, touched, "%" PRIu64 " of %" PRIu64 ", %" PRIu64 " lost",
		     taken, touched, lost);
	cr_assert_eq(lost, 0);
	OK(session, perfmon_sampling_log_close(session));
	close(ends[1]);
	pthread_join(reader.thread, NULL);
	cr_assert_eq(reader.samples, touched);
	cr_assert_eq(reader.lost, 0);
	perfmon_session_close(session);
	close(ends[0]);
}

/* Row: HW-08: what the log loses is counted, in the log and by the session. */
Test(sampling, a_log_that_is_stuck_says_what_it_lost)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct log_reader reader = {0};
	uint64_t touched, taken, lost;
	int ends[2];

	cr_assert(!pipe2(ends, O_CLOEXEC));
	touched = fill_up_log(session, ends);
	/* The ring takes these, but no buffer of the log. */
	touch(0, 3000);
	touched += 3000;
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	cr_assert_gt(lost, 0);
	cr_assert_eq(taken + lost, touched, "%" PRIu64 " and %" PRIu64 " of %" PRIu64,
		     taken, lost, touched);
	reader.fd = ends[0];
	cr_assert_eq(pthread_create(&reader.thread, NULL, read_log, &reader), 0);
	OK(session, perfmon_sampling_log_close(session));
	close(ends[1]);
	pthread_join(reader.thread, NULL);
	cr_assert_eq(reader.samples, taken);
	cr_assert_geq(reader.lost, lost, "records of sleep, too");
	perfmon_session_close(session);
	close(ends[0]);
}

/* Row: HW-08: rings that are larger than the log's memory is by default. */
Test(sampling, large_rings)
{
	NEEDS_BREAKPOINTS();
	const struct perfmon_sampling sampling = {.size = sizeof(sampling),
						  .ring_pages = 1024};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	char path[] = "/tmp/perfmon-sampling-XXXXXX";
	uint64_t taken, lost, samples, said;
	const unsigned int touched = 60000;
	int err, fd = mkstemp(path);

	sample_after(session, 0, 1, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_log(session, path, -1, 0));
	err = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
	if (err == -EPERM) {
		unlink(path);
		cr_skip_test("%s", session_message_of(session));
	}
	OK(session, err);
	OK(session, perfmon_session_start(session));
	touch(0, touched);
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	OK(session, perfmon_sampling_log_close(session));
	perfmon_session_close(session);
	count_log(path, -1, &samples, &said);
	cr_assert_eq(samples, taken);
	cr_assert_geq(said, lost);
	cr_assert_eq(taken + lost, touched);
	unlink(path);
	close(fd);
}

static atomic_bool disk_is_full;

static int fill_disk(enum pm_kernel_call call)
{
	return disk_is_full && call == PM_CALL_PWRITE ? -ENOSPC : 0;
}

/* Closing a session that runs: the log has what came until then, and may fail even there,
 * where its helper thread has ended. */
Test(sampling, closed_while_it_runs)
{
	NEEDS_BREAKPOINTS();
	const struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	char path[] = "/tmp/perfmon-sampling-XXXXXX";
	uint64_t samples, lost;
	int fd = mkstemp(path);

	for (int full = 0; full < 2; full++) {
		struct perfmon_session *session = session_with(watch_event(0), 0);

		disk_is_full = false;
		pm_kernel_fault = fill_disk;
		sample_after(session, 0, 1, 0);
		OK(session, perfmon_sampling_set_up(session, &sampling));
		OK(session, perfmon_sampling_log(session, path, -1, 0));
		OK(session,
		   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
		OK(session, perfmon_sampling_log_flush(session));
		OK(session, perfmon_session_start(session));
		touch(0, 100);
		disk_is_full = full;
		perfmon_session_close(session);
		pm_kernel_fault = NULL;
		count_log(path, -1, &samples, &lost);
		cr_assert_eq(samples, full ? 0 : 100);
		cr_assert_eq(lost, 0);
	}
	unlink(path);
	close(fd);
}

/* Row: HW-10: the owner is told that the log fails, once, and the error is kept. */
Test(sampling, a_log_that_fails)
{
	struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_message message = {0};
	int full = open("/dev/full", O_WRONLY), n;

	if (full < 0)
		cr_skip_test("there is no /dev/full here");
	sample_after(session, 0, 10, 0);
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_log(session, NULL, full, 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 100);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(perfmon_sampling_log_flush(session), -ENOSPC);
	while ((n = perfmon_overflow_read(session, &message, 1, sizeof(message))) ==
	       -EAGAIN)
		let_time_pass_ms(1);
	cr_assert_eq(n, 1);
	cr_assert_eq(message.type, PERFMON_MESSAGE_TYPE_LOG);
	cr_assert_eq(perfmon_sampling_log_flush(session), -ENOSPC);
	cr_assert_eq(count_of(session, 0), -UINT64_C(10), "counting is not disturbed");
	cr_assert_eq(perfmon_sampling_log_close(session), -ENOSPC);
	perfmon_session_close(session);
	close(full);
}

/* Row: HW-20: the shortest period is a setting, for what samples. */
Test(sampling, no_shorter_period_than_allowed)
{
	struct perfmon_session *session;
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_SAMPLE,
					    .short_reset = -UINT64_C(999)};
	struct perfmon_write first = {.value = -UINT64_C(999)};

	setenv("PERFMON_MIN_PERIOD", "1000", 1);
	session = session_with("page-faults", 0);
	cr_assert_eq(perfmon_overflow_program(session, 0, &overflow), -EINVAL);
	cr_assert(strstr(session_message_of(session), "PERFMON_MIN_PERIOD=1000"));
	overflow.short_reset = -UINT64_C(1000);
	overflow.long_reset = -UINT64_C(1);
	cr_assert_eq(perfmon_overflow_program(session, 0, &overflow), -EINVAL);
	overflow.long_reset = -UINT64_C(1000);
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	cr_assert_eq(perfmon_session_write(session, &first, 1, sizeof(first), 0),
		     -EINVAL);
	cr_assert_eq(count_of(session, 0), -UINT64_C(1000), "nothing was written");
	first.value--;
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	/* What takes no samples may overflow as often as it likes. */
	overflow.flags = PERFMON_OVERFLOW_NOTIFY;
	overflow.short_reset = overflow.long_reset = -UINT64_C(1);
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	perfmon_session_close(session);
	unsetenv("PERFMON_MIN_PERIOD");
}

/* --- programs that close what they do not know, and that end their threads ------------ */

static struct perfmon_session *sampled_session(const char *log, int fd)
{
	const struct perfmon_sampling sampling = {.size = sizeof(sampling),
						  .format = log ? NULL : "default"};
	struct perfmon_session *session = session_with(watch_event(0), 0);

	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session,
	   perfmon_overflow_period(session, 0, 10,
				   PERFMON_OVERFLOW_SAMPLE | PERFMON_OVERFLOW_NOTIFY));
	cr_assert_geq(perfmon_overflow_descriptor(session), 0);
	if (log || fd >= 0)
		OK(session, perfmon_sampling_log(session, log, fd, 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	return session;
}

static void close_descriptors_under(struct perfmon_session *session)
{
	struct own_files files = replace_descriptors();
	struct perfmon_message message;

	touch(0, 35);
	perfmon_session_stop(session);
	perfmon_overflow_restart(session);
	perfmon_overflow_read(session, &message, 1, sizeof(message));
	perfmon_overflow_descriptor(session);
	if (!are_untouched(&files))
		_exit(1);
	perfmon_session_detach(session);
	perfmon_session_close(session);
	if (!are_untouched(&files))
		_exit(2);
	/* A session that is made now has descriptors of the same kinds. */
	session = sampled_session(NULL, -1);
	touch(0, 10);
	if (perfmon_overflow_read(session, &message, 1, sizeof(message)) != 1)
		_exit(3);
	perfmon_session_close(session);
	if (!are_untouched(&files))
		_exit(4);
}

static void close_under_format(void)
{
	close_descriptors_under(sampled_session(NULL, -1));
}

static void close_under_log(void)
{
	close_descriptors_under(sampled_session("/dev/null", -1));
}

/* Row: HW-08: what the program has closed is neither written to nor closed once more. */
Test(sampling, descriptors_that_are_another_s_by_now_are_left_alone)
{
	NEEDS_BREAKPOINTS();
	cr_assert_eq(in_child(close_under_format), 0);
	cr_assert_eq(in_child(close_under_log), 0);
}

static void end_thread_with_session(void)
{
	static struct perfmon_session *kept[2]; /* leak checkers find them here */
	int ends[2];

	cr_assert(!pipe2(ends, O_CLOEXEC));
	kept[0] = sampled_session(NULL, -1);
	kept[1] = sampled_session("/dev/null", -1);
	pthread_exit(kept);
}

/* The library's threads keep no process alive whose own have ended. */
Test(sampling, a_process_ends_with_its_last_thread)
{
	NOT_UNDER_TSAN(
		"the thread sanitizer has a thread of its own, which does not end");
	cr_assert_eq(in_child(end_thread_with_session), 0);
}
/* --- shares ---------------------------------------------------------------------------- */

/* Two instructions a round, and nothing else. */
#ifdef __aarch64__
#define ROUNDS(n)                                                                        \
	do {                                                                             \
		uint64_t rounds_ = (n);                                                  \
		__asm__ __volatile__("1: subs %0, %0, #1\n\tb.ne 1b"                     \
				     : "+r"(rounds_)                                     \
				     :                                                   \
				     : "cc", "memory");                                  \
	} while (0)
#elif defined(__x86_64__)
#define ROUNDS(n)                                                                        \
	do {                                                                             \
		uint64_t rounds_ = (n);                                                  \
		__asm__ __volatile__("1: subq $1, %0\n\tjne 1b"                          \
				     : "+r"(rounds_)                                     \
				     :                                                   \
				     : "cc", "memory");                                  \
	} while (0)
#else
#define ROUNDS(n)                                                                        \
	for (volatile uint64_t rounds_ = (n); rounds_; rounds_--)                        \
		;
#endif

#define PART_BYTES 128
__attribute__((noinline, aligned(PART_BYTES))) static void small_part(uint64_t rounds)
{
	ROUNDS(rounds);
}

__attribute__((noinline, aligned(PART_BYTES))) static void large_part(uint64_t rounds)
{
	ROUNDS(rounds);
}

__attribute__((noinline, aligned(PART_BYTES))) static void behind_parts(void)
{
	__asm__ __volatile__("");
}

static bool is_in(uint64_t ip, void (*part)(uint64_t))
{
	return ip >= (uintptr_t)part && ip < (uintptr_t)part + PART_BYTES;
}

/* The shares of samples in visits that are shorter than a period: a function with a tenth of the
 * instructions, which stands first, has a tenth of the samples, within three standard deviations;
 * and the log has one record an overflow. */
static void check_shares(uint64_t period, uint64_t mask)
{
	enum { VISITS = 30000, SMALL = 1000, LARGE = 9000 };
	static const char path[] = "sampling.shares";
	struct perfmon_buffer_argument argument = {.size = sizeof(argument),
						   .buffer_size = 1 << 22};
	struct perfmon_sampling sampling = {.size = sizeof(sampling),
					    .format = PERFMON_FORMAT_DEFAULT,
					    .data = &argument,
					    .data_size = sizeof(argument)};
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_SAMPLE |
						     (mask ? PERFMON_OVERFLOW_RANDOM : 0),
					    .short_reset = -period,
					    .long_reset = -period,
					    .random_mask = mask};
	struct perfmon_session *session = session_with("instructions:u", 0);
	struct perfmon_write first = {.value = -period};
	struct perfmon_log_record record = {.size = sizeof(record)};
	const struct perfmon_buffer *buffer;
	uint64_t small = 0, large = 0, taken, lost, throttled, logged = 0, overflows;
	struct perfmon_log *log;
	const char *at, *end;
	double sd;

	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_sampling_log(session, path, -1, 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	for (int visit = 0; visit < VISITS; visit++) {
		OK(session, perfmon_session_start(session));
		small_part(SMALL / 2);
		large_part(LARGE / 2);
		OK(session, perfmon_session_stop(session));
	}
	behind_parts();
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	OK(session, perfmon_sampling_throttled(session, &throttled));
	OK(session, perfmon_overflow_last_reset(session, 0, NULL, &overflows));
	buffer = buffer_of(session);
	at = (const char *)buffer + buffer->header_size;
	for (end = at + buffer->used; at < end;) {
		const struct perfmon_buffer_sample *sample = (const void *)at;

		small += is_in(sample->ip, small_part);
		large += is_in(sample->ip, large_part);
		at += sample->size;
	}
	OK(session, perfmon_sampling_tear_down(session));
	perfmon_session_close(session);
	cr_assert_eq(perfmon_log_open(&log, path, NULL, 0), 0);
	while (perfmon_log_next(log, &record) > 0)
		logged += record.type == PERFMON_LOG_TYPE_SAMPLE;
	perfmon_log_close(log);
	unlink(path);
	if (throttled)
		cr_skip_test("this kernel holds back events that overflow so often");
	if (small + large < taken / 2)
		cr_skip_test("this machine's samples are not where their events were");
	cr_log_info("%llu and %llu of %llu samples, %llu lost", (unsigned long long)small,
		    (unsigned long long)large, (unsigned long long)taken,
		    (unsigned long long)lost);
	cr_expect_eq(logged, taken);
	cr_expect_eq(taken + lost, overflows);
	cr_expect_gt(small + large, VISITS * (SMALL + LARGE) / 2 / (period + mask));
	sd = sqrt((double)(small + large) * SMALL * LARGE) / (SMALL + LARGE);
	cr_expect_leq(
		fabs((double)small - (double)(small + large) * SMALL / (SMALL + LARGE)),
		3 * sd, "%llu of %llu, 10 %% is true", (unsigned long long)small,
		(unsigned long long)(small + large));
}

static bool counts_instructions(void)
{
	struct perfmon_session *session;
	bool counts;

	if (perfmon_session_create(&session, NULL, NULL, 0))
		return false;
	counts = perfmon_session_add_events(session, "instructions:u") >= 0 &&
		 !perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
	perfmon_session_close(session);
	return counts;
}

/* Row: PM-25, PM-26 */
Test(sampling, parts_of_short_visits_have_their_shares)
{
	if (!counts_instructions())
		cr_skip_test("this machine does not count instructions");
	check_shares(20011, 0);
	check_shares(20011, 8191);
	check_shares(13001, 4095);
}
