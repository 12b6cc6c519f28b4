/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Logs: what is written reads back, what fails is known, and nothing read is trusted. */
#include "helpers.h"
#include "log_files.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/kernel/files.h"
#include "core/samples/log_internal.h"
#include "core/samples/samples.h"
#include "messages.h"

static struct record record;
static struct perfmon_log_record got;

static int next(struct perfmon_log *log)
{
	memset(&got, 0x5a, sizeof(got));
	got.size = sizeof(got);
	return perfmon_log_next(log, &got);
}

/* Records that found no room; bytes written. */
static void read_counts(struct pm_log *log, uint64_t *dropped, uint64_t *written)
{
	pthread_mutex_lock(&log->lock);
	*dropped = log->dropped;
	*written = log->written;
	pthread_mutex_unlock(&log->lock);
}

TestSuite(log, .init = log_setup, .fini = log_teardown);

/* One record of each type that is taken apart, and one of the program's own. */
static void write_all_types(struct pm_log *log)
{
	log_make_sample(&record, 0, 0);
	cr_assert_eq(pm_log_append(log, &record.header), 0);
	log_make_sample(&record, 1, 1);
	cr_assert_eq(pm_log_append(log, &record.header), 0);

	record_begin(&record, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	record_halves(&record, 1, 2);
	record_word(&record, 0x1000);
	record_word(&record, 0x2000);
	record_word(&record, 0x3000);
	record_bytes(&record, "/lib/a", 7);
	log_add_trailer(&record, 1, 2000);
	cr_assert_eq(pm_log_append(log, &record.header), 0);

	record_begin(&record, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	record_halves(&record, 1, 2);
	record_word(&record, 0x1000);
	record_word(&record, 0x2000);
	record_word(&record, 0x3000);
	record_halves(&record, 8, 1);
	record_word(&record, 4711);
	record_word(&record, 0);
	record_halves(&record, 5, 2);
	record_bytes(&record, "/lib/bcdefgh", 13);
	log_add_trailer(&record, 0, 2001);
	cr_assert_eq(pm_log_append(log, &record.header), 0);

	record_begin(&record, PERF_RECORD_COMM, 0);
	record_halves(&record, 1, 2);
	record_bytes(&record, "program", 8);
	log_add_trailer(&record, 0, 2002);
	cr_assert_eq(pm_log_append(log, &record.header), 0);

	for (unsigned int i = 0; i < 2; i++) {
		record_begin(&record, i ? PERF_RECORD_EXIT : PERF_RECORD_FORK, 0);
		record_halves(&record, 11, 12);
		record_halves(&record, 13, 14);
		record_word(&record, 2003);
		log_add_trailer(&record, 0, 2003);
		cr_assert_eq(pm_log_append(log, &record.header), 0);
	}

	record_begin(&record, PERF_RECORD_LOST, 0);
	record_word(&record, 101);
	record_word(&record, 9);
	log_add_trailer(&record, 0, 2004);
	cr_assert_eq(pm_log_append(log, &record.header), 0);

	record_begin(&record, PERF_RECORD_LOST_SAMPLES, 0);
	record_word(&record, 8);
	log_add_trailer(&record, 0, 2005);
	cr_assert_eq(pm_log_append(log, &record.header), 0);

	record_begin(&record, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
	log_add_trailer(&record, 1, 2006);
	cr_assert_eq(pm_log_append(log, &record.header), 0);

	record_begin(&record, PERF_RECORD_READ, 0);
	record_halves(&record, 21, 22);
	record_word(&record, 123456);
	log_add_trailer(&record, 1, 2007);
	cr_assert_eq(pm_log_append(log, &record.header), 0);

	cr_assert_eq(pm_log_round(log), 0);
	cr_assert_eq(pm_log_user(log, 2008, 42, "my own words", 12), 0);
	cr_assert_eq(pm_log_user(log, 0, 43, NULL, 0), 0);
}

static void is(uint32_t type, uint32_t event, uint64_t time)
{
	cr_assert_eq(got.size, sizeof(got));
	cr_assert_eq(got.type, type);
	cr_assert_eq(got.event, event);
	cr_assert_not_null(got.sample);
	if (time) {
		cr_assert(got.sample->present & PERFMON_SAMPLE_TIME);
		cr_assert_eq(got.sample->time_ns, time);
	}
}

static void read_all_types(struct perfmon_log *log)
{
	struct perfmon_sample_value value = {.size = sizeof(value)};

	cr_assert_eq(next(log), 1, "%s", log_message_of(log));
	is(PERFMON_LOG_TYPE_SAMPLE, 0, 1000);
	cr_assert_eq(got.sample->ip, 0x401000);
	cr_assert_eq(got.sample->id, 101);
	cr_assert_eq(got.sample->period, 5);
	cr_assert_eq(got.pid, 77);
	cr_assert_eq(got.tid, 78);
	cr_assert_not(got.sample->present & PERFMON_SAMPLE_ADDRESS);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_SAMPLE, 1, 1001);
	cr_assert_eq(got.sample->address, 0x7001);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_MAP, 1, 2000);
	cr_assert_str_eq(got.name, "/lib/a");
	cr_assert_eq(got.address, 0x1000);
	cr_assert_eq(got.length, 0x2000);
	cr_assert_eq(got.offset, 0x3000);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_MAP2, 0, 2001);
	cr_assert_str_eq(got.name, "/lib/bcdefgh");
	cr_assert_eq(got.tid, 2);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_NAME, 0, 2002);
	cr_assert_str_eq(got.name, "program");
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(next(log), 1);
		is(i ? PERFMON_LOG_TYPE_EXIT : PERFMON_LOG_TYPE_FORK, 0, 2003);
		cr_assert_eq(got.pid, 11);
		cr_assert_eq(got.parent_pid, 12);
		cr_assert_eq(got.tid, 13);
		cr_assert_eq(got.parent_tid, 14);
	}
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_LOST, 0, 2004);
	cr_assert_eq(got.lost, 9);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_LOST_SAMPLES, 0, 2005);
	cr_assert_eq(got.lost, 8);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_SWITCH, 1, 2006);
	cr_assert(got.misc & PERFMON_LOG_MISC_SWITCH_OUT);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_READ, 1, 2007);
	cr_assert_eq(got.tid, 22);
	cr_assert_eq(perfmon_sample_get_value(got.sample, 0, &value), 0);
	cr_assert_eq(value.value, 123456);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_USER, UINT32_MAX, 2008);
	cr_assert_eq(got.user_kind, 42);
	cr_assert_eq(got.user_size, 12);
	cr_assert_eq(memcmp(got.user_data, "my own words", 12), 0);
	cr_assert_eq(next(log), 1);
	is(PERFMON_LOG_TYPE_USER, UINT32_MAX, 0);
	cr_assert_eq(got.user_kind, 43);
	cr_assert_eq(got.user_size, 0);
	cr_assert_eq(got.sample->present, 0);
}

static void knows_its_origin(struct perfmon_log *log)
{
	struct perfmon_log_event event = {.size = sizeof(event)};
	struct perfmon_log_info info = {.size = sizeof(info)};
	char host[256], program[512];

	cr_assert_eq(perfmon_log_get_info(log, &info), 0);
	cr_assert_eq(info.events, 2);
	cr_assert_eq(info.cpus, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	cr_assert_eq(gethostname(host, sizeof(host)), 0);
	cr_assert_str_eq(info.host, host);
	cr_assert_str_not_empty(info.release);
	cr_assert_str_not_empty(info.architecture);
	cr_assert_not_null(strstr(info.writer, "libperfmon"));
	cr_assert_geq(pm_file_text("/proc/self/cmdline", program, sizeof(program)), 0);
	cr_assert_eq(strncmp(info.command, program, strlen(program)), 0, "'%s'",
		     info.command);
	cr_assert_eq(perfmon_log_get_event(log, 1, &event), 0);
	cr_assert_str_eq(event.name, "page-faults:u");
	cr_assert_eq(event.ids, 2);
	cr_assert_eq(event.type, PERF_TYPE_SOFTWARE);
	cr_assert_eq(event.config, PERF_COUNT_SW_PAGE_FAULTS);
	cr_assert_eq(event.sample_period, 1);
	cr_assert_eq(perfmon_log_get_event(log, 2, &event), -EINVAL);
	event.size--;
	cr_assert_eq(perfmon_log_get_event(log, 1, &event), -EINVAL);
}

/* Row: HW-18 (records, then the end, and the end again) */
Test(log, a_file_reads_back)
{
	struct pm_log *log = log_begin(log_path, -1, 0);
	struct perfmon_log *reader;
	struct stat st;

	write_all_types(log);
	cr_assert_eq(pm_log_flush(log), 0);
	cr_assert_eq(pm_log_close(log), 0);
	cr_assert_eq(stat(log_path, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0600, "samples are nobody else's business");
	reader = log_reopen(log_path);
	knows_its_origin(reader);
	read_all_types(reader);
	cr_assert_eq(next(reader), 0);
	cr_assert_eq(next(reader), 0);
	cr_assert_str_empty(log_message_of(reader));
	perfmon_log_close(reader);
}

/* Row: HW-18 (a pipe: no more for now, records, the end) */
Test(log, a_pipe_reads_back)
{
	struct perfmon_log *reader = NULL;
	struct pm_log *log;
	int ends[2], err;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	cr_assert_eq(perfmon_log_open_descriptor(&reader, ends[0], NULL, 0), -EAGAIN);
	log = log_begin(NULL, ends[1], 0);
	cr_assert_eq(pm_log_flush(log), 0);
	cr_assert_eq(perfmon_log_open_descriptor(&reader, ends[0], NULL, 0), 0);
	cr_assert_eq(next(reader), -EAGAIN);
	write_all_types(log);
	cr_assert_eq(pm_log_flush(log), 0);
	read_all_types(reader);
	knows_its_origin(reader);
	cr_assert_eq(next(reader), -EAGAIN);
	log_make_sample(&record, 0, 4);
	cr_assert_eq(pm_log_append(log, &record.header), 0);
	cr_assert_eq(pm_log_close(log), 0);
	cr_assert_eq(next(reader), 1);
	is(PERFMON_LOG_TYPE_SAMPLE, 0, 1004);
	cr_assert_eq(next(reader), -EAGAIN, "somebody could still write");
	close(ends[1]);
	cr_assert_eq(next(reader), 0);
	perfmon_log_close(reader);

	/* A descriptor that cannot go back gets a stream, and so can a file. */
	err = open(log_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	cr_assert_geq(err, 0);
	log = log_begin(NULL, err, 0);
	write_all_types(log);
	cr_assert_eq(pm_log_close(log), 0);
	cr_assert_eq(perfmon_log_open_descriptor(&reader, err, NULL, 0), 0);
	read_all_types(reader);
	cr_assert_eq(next(reader), 0);
	perfmon_log_close(reader);
	close(err);
	close(ends[0]);
}

/* Row: HW-18 (need more data) */
Test(log, a_growing_file_is_followed)
{
	struct pm_log *log = log_begin(log_path, -1, 0);
	struct perfmon_log_info info = {.size = sizeof(info)};
	struct perfmon_log *reader;

	cr_assert_eq(pm_log_flush(log), 0);
	reader = log_reopen(log_path);
	cr_assert_eq(next(reader), -EAGAIN);
	for (uint64_t i = 0; i < 20; i++) {
		log_make_sample(&record, 0, i);
		cr_assert_eq(pm_log_append(log, &record.header), 0);
		cr_assert_eq(pm_log_flush(log), 0);
		cr_assert_eq(next(reader), 1, "%s", log_message_of(reader));
		cr_assert_eq(got.sample->time_ns, 1000 + i);
		cr_assert_eq(next(reader), -EAGAIN);
	}
	cr_assert_eq(perfmon_log_get_info(reader, &info), 0);
	cr_assert_str_empty(info.host);
	cr_assert_eq(pm_log_close(log), 0);
	cr_assert_eq(next(reader), 0);
	knows_its_origin(reader);
	perfmon_log_close(reader);
}

static void has_event_1(const struct perfmon_log *log)
{
	cr_assert_eq(got.type, PERFMON_LOG_TYPE_SAMPLE, "%s", log_message_of(log));
	cr_assert_eq(got.event, 1);
	cr_assert_eq(got.sample->address, 0x7000);
}

/* The same while the file is followed, and nobody flushes it. */
Test(log, ids_come_while_a_file_is_followed)
{
	struct perfmon_log_event event = {.size = sizeof(event)};
	struct pm_log *log = log_begin(log_path, -1, 0);
	struct perfmon_log *reader;
	int err;

	cr_assert_eq(pm_log_flush(log), 0);
	reader = log_reopen(log_path);
	cr_assert_eq(next(reader), -EAGAIN);
	cr_assert_eq(pm_log_add_ids(log, 1, &(uint64_t){999}, 1), 0);
	log_make_sample(&record, 1, 0);
	record.words[1] = 999;
	cr_assert_eq(pm_log_append(log, &record.header), 0);
	WAIT_UNTIL((err = next(reader)) != -EAGAIN);
	cr_assert_eq(err, 1);
	has_event_1(reader);
	/* The head has no room for so many: they come with the end. */
	for (uint64_t id = 1000; id < 1200; id++)
		cr_assert_eq(pm_log_add_ids(log, 1, &id, 1), 0);
	log_make_sample(&record, 1, 0);
	record.words[1] = 1199;
	cr_assert_eq(pm_log_append(log, &record.header), 0);
	cr_assert_eq(pm_log_close(log), 0);
	cr_assert_eq(next(reader), 1);
	has_event_1(reader);
	cr_assert_eq(next(reader), 0);
	cr_assert_eq(perfmon_log_get_event(reader, 1, &event), 0);
	cr_assert_eq(event.ids, 203);
	cr_assert_eq(perfmon_log_get_event(reader, 2, &event), -EINVAL);
	perfmon_log_close(reader);
}

static unsigned int reads_made;

static int count_reads(enum pm_kernel_call call)
{
	reads_made += call == PM_CALL_PREAD;
	return 0;
}

/* The head of a file may be long, and there may be many such records. */
Test(log, an_id_that_no_event_has_is_looked_for_once)
{
	struct pm_log *log = log_begin(log_path, -1, 0);
	struct perfmon_log *reader;

	for (uint64_t i = 0; i < 1000; i++) {
		log_make_sample(&record, 1, i);
		record.words[1] = 999;
		cr_assert_eq(pm_log_append(log, &record.header), 0);
	}
	cr_assert_eq(pm_log_flush(log), 0);
	reader = log_reopen(log_path);
	reads_made = 0;
	pm_kernel_fault = count_reads;
	for (uint64_t i = 0; i < 1000; i++) {
		cr_assert_eq(next(reader), 1, "%s", log_message_of(reader));
		cr_assert_eq(got.event, UINT32_MAX);
	}
	pm_kernel_fault = NULL;
	cr_expect_lt(reads_made, 100);
	perfmon_log_close(reader);
	cr_assert_eq(pm_log_close(log), 0);
}

/* A stream has an event once more for each instance that was opened later. */
Test(log, a_stream_of_many_instances)
{
	int fd = open(log_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct perfmon_log_event event = {.size = sizeof(event)};
	const uint64_t most = PM_LOG_EVENTS_MAX + 10;
	struct pm_log *log = log_begin(NULL, fd, 0);
	struct perfmon_log *reader;

	for (uint64_t id = 1000; id <= 1000 + most; id++)
		cr_assert_eq(pm_log_add_ids(log, 1, &id, 1), 0);
	/* The kernel's IDs grow, but nothing may rely on that. */
	cr_assert_eq(pm_log_add_ids(log, 0, &(uint64_t){7}, 1), 0);
	for (uint64_t i = 0; i < 2; i++) {
		log_make_sample(&record, i == 0, i);
		record.words[1] = i ? 7 : 1000 + most;
		cr_assert_eq(pm_log_append(log, &record.header), 0);
	}
	cr_assert_eq(pm_log_close(log), 0);
	reader = log_reopen(log_path);
	for (uint64_t i = 0; i < 2; i++) {
		cr_assert_eq(next(reader), 1, "%s", log_message_of(reader));
		cr_assert_eq(perfmon_log_get_event(reader, got.event, &event), 0);
		cr_assert_str_eq(event.name, log_events[i == 0].name);
	}
	cr_assert_eq(next(reader), 0);
	perfmon_log_close(reader);
	close(fd);
}

/* The writer of a file finishes it before the reader's read number CLOSING_IN; 0: never. */
static struct pm_log *closing;
static atomic_int closing_in;

static int close_now(enum pm_kernel_call call)
{
	if (call != PM_CALL_PREAD || !closing_in || --closing_in)
		return 0;
	cr_assert_eq(pm_log_close(closing), 0);
	return 0;
}

static void close_within(int reads)
{
	struct perfmon_log *reader;
	char message[512];
	int err;

	pm_kernel_fault = close_now;
	closing = log_begin(log_path, -1, 0);
	/* At the end they do not stand where they stood. */
	for (uint64_t id = 1000; id < 1100; id++)
		cr_assert_eq(pm_log_add_ids(closing, 1, &id, 1), 0);
	log_make_sample(&record, 0, 0);
	cr_assert_eq(pm_log_append(closing, &record.header), 0);
	cr_assert_eq(pm_log_flush(closing), 0);
	log_make_sample(&record, 0, 1);
	cr_assert_eq(pm_log_append(closing, &record.header), 0);
	closing_in = reads;
	cr_assert_eq(perfmon_log_open(&reader, log_path, message, sizeof(message)), 0,
		     "%s", message);
	for (int samples = 0; samples < 2;) {
		err = next(reader);
		cr_assert(err == 1 || (err == -EAGAIN && samples), "read %d: %s", reads,
			  log_message_of(reader));
		samples += err == 1;
	}
	while ((err = next(reader)) == -EAGAIN && closing_in)
		;
	pm_kernel_fault = NULL;
	cr_assert_eq(err, 0, "read %d: %s", reads, log_message_of(reader));
	perfmon_log_close(reader);
}

Test(log, a_file_may_be_finished_at_any_read)
{
	for (int reads = 1; reads < 20; reads++)
		close_within(reads);
}

static atomic_int thread_id, thread_may_end;

static void *stay(void *unused)
{
	atomic_store(&thread_id, gettid());
	WAIT_UNTIL(atomic_load(&thread_may_end));
	return unused;
}

/* perf looks for the names of functions in the mappings of a sample's process. */
Test(log, a_thread_stands_for_its_process)
{
	struct pm_log *log = log_begin(log_path, -1, 0);
	unsigned int names = 0, maps = 0;
	struct perfmon_log *reader;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, stay, NULL), 0);
	WAIT_UNTIL(atomic_load(&thread_id));
	cr_assert_eq(pm_log_process(log, atomic_load(&thread_id)), 0);
	atomic_store(&thread_may_end, 1);
	pthread_join(thread, NULL);
	cr_assert_eq(pm_log_close(log), 0);
	reader = log_reopen(log_path);
	while (next(reader) == 1) {
		cr_assert_eq(got.pid, getpid());
		names += got.type == PERFMON_LOG_TYPE_NAME && got.tid == thread_id;
		maps += got.type == PERFMON_LOG_TYPE_MAP2;
	}
	cr_assert_eq(names, 1);
	cr_assert_gt(maps, 1);
	perfmon_log_close(reader);
}

Test(log, many_events_leave_room_for_the_command)
{
	int fd = open(log_path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct perfmon_log_info info = {.size = sizeof(info)};
	struct pm_log_event events[300];
	struct perfmon_log *reader;
	struct pm_log *log;

	for (size_t i = 0; i < 300; i++)
		events[i] = log_events[i % 2];
	cr_assert_eq(pm_log_create(&log, NULL, fd, events, 300, NULL, NULL), 0);
	cr_assert_eq(pm_log_close(log), 0);
	close(fd);
	reader = log_reopen(log_path);
	cr_assert_eq(next(reader), 0);
	cr_assert_eq(perfmon_log_get_info(reader, &info), 0);
	cr_assert_eq(info.events, 300);
	cr_assert_str_not_empty(info.command);
	perfmon_log_close(reader);
}

/* Row: HW-11 (written in the background: nobody flushes and nobody closes) */
Test(log, what_is_appended_is_written_by_itself)
{
	struct pm_log *log = log_begin(log_path, -1, PM_LOG_BUFFER_MIN);
	uint64_t dropped = 0, written = 0;
	struct perfmon_log *reader;
	uint64_t count = 0;

	/* Half of the buffer is enough to begin, without waiting for the second half. */
	for (uint64_t i = 0; i < PM_LOG_BUFFER_MIN / 2 / 48 + 1; i++) {
		log_make_sample(&record, 0, i);
		cr_assert_eq(pm_log_append(log, &record.header), 0);
	}
	while (!written)
		read_counts(log, &dropped, &written);
	/* Also little is, in time. */
	log_make_sample(&record, 0, 0);
	cr_assert_eq(pm_log_append(log, &record.header), 0);
	for (uint64_t before = written; written == before;)
		read_counts(log, &dropped, &written);
	cr_assert_eq(dropped, 0);
	reader = log_reopen(log_path);
	while (next(reader) == 1)
		count++;
	cr_assert_eq(count, PM_LOG_BUFFER_MIN / 2 / 48 + 2);
	perfmon_log_close(reader);
	cr_assert_eq(pm_log_close(log), 0);
}

/* Ids of instances that were opened later: beyond what the head of a file has room
 * for. */
Test(log, ids_come_later)
{
	uint64_t ids[500];
	struct perfmon_log_event event = {.size = sizeof(event)};

	for (uint64_t i = 0; i < 500; i++)
		ids[i] = 1000 + i;
	for (int stream = 0; stream < 2; stream++) {
		int fd = open(log_path,
			      O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC |
				      (stream ? O_APPEND : 0),
			      0600);
		struct pm_log *log = log_begin(NULL, fd, 0);
		struct perfmon_log *reader;

		cr_assert_eq(pm_log_add_ids(log, 1, ids, 500), 0);
		cr_assert_eq(pm_log_add_ids(log, 2, ids, 500), -EINVAL);
		for (uint64_t i = 0; i < 500; i++) {
			log_make_sample(&record, 1, i);
			record.words[1] = ids[i];
			cr_assert_eq(pm_log_append(log, &record.header), 0);
		}
		cr_assert_eq(pm_log_flush(log), 0);
		cr_assert_eq(pm_log_close(log), 0);
		reader = log_reopen(log_path);
		for (uint64_t i = 0; i < 500; i++) {
			cr_assert_eq(next(reader), 1, "%s", log_message_of(reader));
			cr_assert_eq(perfmon_log_get_event(reader, got.event, &event), 0);
			cr_assert_eq(event.config, PERF_COUNT_SW_PAGE_FAULTS);
			cr_assert_eq(got.sample->address, 0x7000 + i);
		}
		cr_assert_eq(next(reader), 0);
		perfmon_log_close(reader);
		close(fd);
	}
}

/* Row: HW-08 (losses are said: what found no room is counted in the log itself) */
Test(log, what_is_dropped_is_said)
{
	uint64_t appended = 0, refused = 0, dropped, written, seen = 0, lost = 0;
	struct perfmon_log *reader;
	struct pm_log *log;
	int ends[2], err;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	log = log_begin(NULL, ends[1], PM_LOG_BUFFER_MIN);
	/* Nobody reads: the pipe fills, then the buffers. */
	while (refused < 100) {
		log_make_sample(&record, 0, appended);
		err = pm_log_append(log, &record.header);
		cr_assert(!err || err == -ENOBUFS);
		appended += !err;
		refused += !!err;
	}
	read_counts(log, &dropped, &written);
	cr_assert_eq(dropped, refused);
	cr_assert_eq(perfmon_log_open_descriptor(&reader, ends[0], NULL, 0), 0);
	while (seen + 1000 < appended && next(reader) == 1) {
		seen += got.type == PERFMON_LOG_TYPE_SAMPLE;
		if (got.type == PERFMON_LOG_TYPE_LOST)
			lost += got.lost;
	}
	/* There is room again: what was dropped is the first that comes. */
	do {
		log_make_sample(&record, 0, 0);
		err = pm_log_append(log, &record.header);
		appended += !err;
		refused += !!err;
	} while (err);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	cr_assert_eq(pm_log_close(log), 0);
	close(ends[1]);
	while ((err = next(reader)) == 1) {
		seen += got.type == PERFMON_LOG_TYPE_SAMPLE;
		if (got.type == PERFMON_LOG_TYPE_LOST)
			lost += got.lost;
	}
	cr_assert_eq(err, 0, "%s", log_message_of(reader));
	cr_assert_eq(seen, appended);
	cr_assert_eq(lost, refused);
	perfmon_log_close(reader);
	close(ends[0]);
}

static atomic_int told;

static void tell(void *argument, int error)
{
	*(atomic_int *)argument = error;
}

static struct pm_log *begin_telling(const char *path, int fd)
{
	const struct pm_log_options options = {.failed = tell, .argument = &told};
	struct pm_log *log;

	told = 0;
	cr_assert_eq(pm_log_create(&log, path, fd, log_events, 2, &options, NULL), 0);
	return log;
}

/* Row: HW-11 (flush gives the saved error) */
Test(log, a_full_device_is_a_saved_error)
{
	struct pm_log *log;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	log = begin_telling(NULL, fd);
	cr_assert_eq(pm_log_flush(log), -ENOSPC);
	cr_assert_eq(told, -ENOSPC);
	log_make_sample(&record, 0, 0);
	cr_assert_eq(pm_log_append(log, &record.header), -ENOSPC);
	cr_assert_eq(pm_log_user(log, 0, 1, "x", 1), -ENOSPC);
	cr_assert_eq(pm_log_process(log, getpid()), -ENOSPC);
	cr_assert_eq(pm_log_flush(log), -ENOSPC);
	cr_assert_eq(pm_log_close(log), -ENOSPC);
	close(fd);
}

Test(log, a_broken_pipe_is_a_saved_error)
{
	struct pm_log *log;
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	log = begin_telling(NULL, ends[1]);
	cr_assert_eq(pm_log_flush(log), -EPIPE);
	cr_assert_eq(told, -EPIPE);
	cr_assert_eq(pm_log_close(log), -EPIPE);
	close(ends[1]);
}

static atomic_ullong lost_samples;

static void count_lost(void *argument, uint64_t samples)
{
	(void)argument;
	atomic_fetch_add(&lost_samples, samples);
}

/* Row: HW-08, HW-11: a pipe that nobody reads keeps nobody waiting, and what is lost by the
 * close is counted. */
static void check_unread_pipe(int flags)
{
	const struct pm_log_options options = {.buffer_size = PM_LOG_BUFFER_MIN,
					       .lost = count_lost};
	uint64_t appended = 0, seen = 0;
	struct perfmon_log *reader;
	struct pm_log *log;
	int ends[2];

	atomic_store(&lost_samples, 0);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(fcntl(ends[1], F_SETFL, flags), 0);
	cr_assert_eq(pm_log_create(&log, NULL, ends[1], log_events, 2, &options, NULL),
		     0);
	do
		log_make_sample(&record, 0, appended);
	while (!pm_log_append(log, &record.header) && ++appended);
	cr_assert_eq(pm_log_flush(log), -ETIMEDOUT);
	cr_assert_eq(lost_samples, 0);
	cr_assert_eq(pm_log_close(log), -ETIMEDOUT);
	close(ends[1]);
	cr_assert_eq(perfmon_log_open_descriptor(&reader, ends[0], NULL, 0), 0);
	while (next(reader) == 1)
		seen += got.type == PERFMON_LOG_TYPE_SAMPLE;
	cr_assert_gt(seen, 0);
	cr_assert_gt(lost_samples, 0);
	cr_assert_eq(seen + lost_samples, appended);
	perfmon_log_close(reader);
	close(ends[0]);
}

Test(log, nobody_waits_for_a_pipe_that_is_not_read, .timeout = 60)
{
	check_unread_pipe(0);
	check_unread_pipe(O_NONBLOCK);
}

static atomic_int writes_left;

static int fill_up(enum pm_kernel_call call)
{
	if (call != PM_CALL_PWRITE)
		return 0;
	return atomic_fetch_sub(&writes_left, 1) > 0 ? 0 : -ENOSPC;
}

/* A disk that becomes full at any write leaves a file that reads up to there. */
Test(log, a_full_disk_keeps_what_was_written)
{
	for (int full_at = 0; full_at < 12; full_at++) {
		struct pm_log *log;
		struct perfmon_log *reader;
		uint64_t written = 0, dropped, count = 0;
		int err = 0;

		writes_left = full_at;
		pm_kernel_fault = fill_up;
		log = begin_telling(log_path, -1);
		for (uint64_t i = 0; i < 8 && !err; i++) {
			log_make_sample(&record, 0, i);
			err = pm_log_append(log, &record.header);
			if (!err)
				err = pm_log_flush(log);
		}
		cr_assert_eq(err, -ENOSPC);
		cr_assert_eq(told, -ENOSPC);
		read_counts(log, &dropped, &written);
		pm_kernel_fault = NULL;
		cr_assert_eq(pm_log_close(log), -ENOSPC);
		reader = log_reopen(log_path);
		while ((err = next(reader)) == 1) {
			cr_assert_eq(got.sample->time_ns, 1000 + count);
			count++;
		}
		cr_assert_eq(err, 0, "%s", log_message_of(reader));
		cr_assert_eq(count, written / 48);
		perfmon_log_close(reader);
	}
}

/* A write that stops in the middle of a record: the half is cut off. */
Test(log, a_file_size_limit_cuts_between_records)
{
	const rlim_t limit = 16384;
	struct rlimit old, small;
	struct perfmon_log *reader;
	struct pm_log *log;
	uint64_t count = 0;
	int err;

	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = limit;
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	log = begin_telling(log_path, -1);
	for (uint64_t i = 0; i < 1000; i++) {
		log_make_sample(&record, 0, i);
		cr_assert_eq(pm_log_append(log, &record.header), 0);
	}
	cr_assert_eq(pm_log_flush(log), -EFBIG);
	cr_assert_eq(pm_log_close(log), -EFBIG);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	reader = log_reopen(log_path);
	while ((err = next(reader)) == 1) {
		cr_assert_eq(got.sample->time_ns, 1000 + count);
		count++;
	}
	/* There was no room for the features, either: it does not say that it is
	 * whole. */
	cr_assert_eq(err, -EAGAIN, "%s", log_message_of(reader));
	cr_assert_gt(count, 200);
	cr_assert_lt(count, limit / 48);
	perfmon_log_close(reader);
}

Test(log, wrong_arguments)
{
	const struct pm_log_options small = {.buffer_size = 4096};
	struct perf_event_attr plain = log_attrs[0];
	struct pm_log_event events[2] = {log_events[0], log_events[1]};
	struct pm_diag diag = {0};
	struct pm_log *log = NULL;
	char large[PM_LOG_USER_MAX + 1] = {0};

	cr_assert_eq(pm_log_create(&log, log_path, -1, events, 0, NULL, &diag), -EINVAL);
	cr_assert_eq(pm_log_create(&log, log_path, -1, events, 2, &small, &diag),
		     -EINVAL);
	cr_assert_not_null(strstr(diag.text, "4096"));
	plain.sample_type = PERF_SAMPLE_IP;
	events[1].attr = &plain;
	cr_assert_eq(pm_log_create(&log, log_path, -1, events, 2, NULL, &diag), -EINVAL);
	cr_assert_not_null(strstr(diag.text, "page-faults:u"));
	events[1] = log_events[1];
	cr_assert_eq(pm_log_create(&log, "/nonexistent/log", -1, events, 2, NULL, &diag),
		     -ENOENT);
	cr_assert_not_null(strstr(diag.text, "/nonexistent/log"));
	cr_assert_eq(pm_log_create(&log, NULL, 9999, events, 2, NULL, &diag), -EBADF);
	cr_assert_null(log);
	log = log_begin(log_path, -1, 0);
	cr_assert_eq(pm_log_user(log, 0, 1, large, sizeof(large)), -E2BIG);
	cr_assert_eq(pm_log_user(log, 0, 1, large, sizeof(large) - 1), 0);
	record_begin(&record, 9, 0);
	record.header.size = 4;
	cr_assert_eq(pm_log_append(log, &record.header), -EBADMSG);
	record.header.size = 12;
	cr_assert_eq(pm_log_append(log, &record.header), -EBADMSG);
	cr_assert_eq(pm_log_process(log, 999999999), -ESRCH);
	cr_assert_eq(pm_log_close(log), 0);
	cr_assert_eq(pm_log_close(NULL), 0);
}

static int no_thread(enum pm_kernel_call call)
{
	return call == PM_CALL_THREAD_START ? -EAGAIN : 0;
}

Test(log, without_a_thread_there_is_no_log)
{
	struct pm_log *log = NULL;

	pm_kernel_fault = no_thread;
	cr_assert_eq(pm_log_create(&log, log_path, -1, log_events, 2, NULL, NULL),
		     -EAGAIN);
	cr_assert_null(log);
}

Test(log, a_forked_child_forgets_the_log)
{
	struct pm_log *log = log_begin(log_path, -1, 0);
	struct perfmon_log *reader;
	int status;
	pid_t child;

	write_all_types(log);
	child = fork();
	if (!child) {
		pm_log_forget(log);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	cr_assert_eq(pm_log_close(log), 0);
	reader = log_reopen(log_path);
	read_all_types(reader);
	cr_assert_eq(next(reader), 0);
	perfmon_log_close(reader);
}

static void *append_many(void *argument)
{
	struct record mine;

	for (uint64_t i = 0; i < 2000; i++) {
		log_make_sample(&mine, 0, i);
		cr_assert_eq(pm_log_append(argument, &mine.header), 0);
	}
	return NULL;
}

Test(log, threads_share_a_log)
{
	struct pm_log *log = log_begin(log_path, -1, 0);
	struct perfmon_log *reader;
	pthread_t threads[3];
	uint64_t count = 0;

	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, append_many, log), 0);
	for (int i = 0; i < 5; i++)
		cr_assert_eq(pm_log_flush(log), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(pm_log_close(log), 0);
	reader = log_reopen(log_path);
	while (next(reader) == 1)
		count++;
	cr_assert_eq(count, 6000);
	perfmon_log_close(reader);
}

/* Damage. */

static unsigned char *good;
static size_t good_size;

/* A small file, or stream, with everything in it. */
static void make_good(bool stream)
{
	int fd = open(log_path,
		      O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | (stream ? O_APPEND : 0),
		      0600);
	struct pm_log *log = log_begin(NULL, fd, 0);
	struct stat st;

	write_all_types(log);
	cr_assert_eq(pm_log_close(log), 0);
	cr_assert_eq(fstat(fd, &st), 0);
	good_size = (size_t)st.st_size;
	good = realloc(good, good_size);
	cr_assert_eq(pread(fd, good, good_size, 0), (ssize_t)good_size);
	close(fd);
}

/* Reads SIZE bytes of what stands in memory file FD as a log: an error's number, 0 for
 * the end, -EAGAIN; how many records in COUNT. Whatever stands there it must come to an
 * end. */
static int read_through(int fd, uint64_t *count)
{
	struct perfmon_log *log = NULL;
	char message[256];
	int err = perfmon_log_open_descriptor(&log, fd, message, sizeof(message));

	*count = 0;
	if (err) {
		cr_assert_null(log);
		cr_assert_str_not_empty(message);
		return err;
	}
	while ((err = next(log)) == 1)
		++*count;
	if (err && err != -EAGAIN) {
		cr_assert_str_not_empty(log_message_of(log));
		cr_assert_eq(next(log), err, "an error stays");
	}
	perfmon_log_close(log);
	return err;
}

/* Row: HW-18 (error: wherever it is cut off) */
Test(log, truncated_anywhere)
{
	int fd = memfd_create("log", MFD_CLOEXEC), err;
	uint64_t count, whole;

	for (int stream = 0; stream < 2; stream++) {
		struct pm_log_header header;
		size_t head;

		make_good(stream);
		memcpy(&header, good, sizeof(header));
		head = stream ? 16 : header.data.offset + header.data.size;
		cr_assert_eq(pwrite(fd, good, good_size, 0), (ssize_t)good_size);
		cr_assert_eq(ftruncate(fd, (off_t)good_size), 0);
		cr_assert_eq(read_through(fd, &whole), 0);
		cr_assert_eq(whole, 13);
		for (size_t size = good_size; size-- > 0;) {
			cr_assert_eq(ftruncate(fd, (off_t)size), 0);
			err = read_through(fd, &count);
			cr_assert_leq(count, whole);
			/* A stream that ends between two records has ended. */
			if (!stream || size < head)
				cr_assert(err < 0 && err != -EAGAIN, "%zu bytes: %d",
					  size, err);
		}
	}
	close(fd);
}

/* Data behind a record of perf's own that is cut off: the message says where. */
Test(log, truncated_behind_a_record)
{
	const uint64_t stream[] = {PM_LOG_MAGIC, PM_LOG_STREAM_HEADER,
				   PM_LOG_RECORD_AUXTRACE | UINT64_C(16) << 48,
				   64 /* bytes follow */, 1};
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct perfmon_log *log;

	cr_assert_eq(write(fd, stream, sizeof(stream)), (ssize_t)sizeof(stream));
	cr_assert_eq(perfmon_log_open_descriptor(&log, fd, NULL, 0), 0);
	cr_assert_eq(next(log), 1);
	cr_assert_eq(got.type, PM_LOG_RECORD_AUXTRACE);
	cr_assert_eq(next(log), -EBADMSG);
	cr_assert_str_eq(
		log_message_of(log),
		"the log is truncated: it ends at offset 40, within its records");
	perfmon_log_close(log);
	close(fd);
}

static uint64_t random_state = 88172645463325252;

static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Any bytes changed give records, an end or an error, and nothing else. */
Test(log, damaged_anywhere)
{
	static const uint64_t words[] = {0,
					 1,
					 8,
					 UINT64_MAX,
					 UINT64_MAX - 7,
					 UINT64_C(1) << 63,
					 UINT64_C(1) << 32,
					 INT64_MAX,
					 0xffff,
					 0xfff8};
	int fd = memfd_create("log", MFD_CLOEXEC);
	const unsigned int rounds = getenv("PERFMON_TEST_LONG") ? 300000 : 6000;
	unsigned char *bytes;
	uint64_t count, errors = 0, ends = 0;

	for (int stream = 0; stream < 2; stream++) {
		make_good(stream);
		bytes = malloc(good_size);
		cr_assert_not_null(bytes);
		for (unsigned int round = 0; round < rounds; round++) {
			int err;

			memcpy(bytes, good, good_size);
			for (uint64_t n = random_number() % 3 + 1; n; n--) {
				size_t at = random_number() % good_size;

				if (random_number() % 2) {
					bytes[at] = (unsigned char)random_number();
					continue;
				}
				at &= ~(size_t)7;
				if (at + 8 <= good_size)
					memcpy(bytes + at, &words[random_number() % 10],
					       8);
			}
			cr_assert_eq(pwrite(fd, bytes, good_size, 0), (ssize_t)good_size);
			err = read_through(fd, &count);
			errors += err < 0;
			ends += !err;
		}
		free(bytes);
		cr_assert_eq(ftruncate(fd, 0), 0);
	}
	cr_assert_gt(errors, 1000);
	cr_assert_gt(ends, 100);
	close(fd);
}

Test(log, what_is_no_log)
{
	struct perfmon_log *log = NULL;
	char message[256];
	int fd = memfd_create("log", MFD_CLOEXEC), ends[2];
	uint64_t lead[13] = {0x50455246494c4532, 104};

	cr_assert_eq(perfmon_log_open(&log, "/nonexistent/log", message, sizeof(message)),
		     -ENOENT);
	cr_assert_not_null(strstr(message, "/nonexistent/log"));
	cr_assert_eq(perfmon_log_open(&log, "/dev/null", message, sizeof(message)),
		     -EBADMSG);
	cr_assert_eq(perfmon_log_open(&log, "/proc/self/exe", message, sizeof(message)),
		     -EBADMSG);
	cr_assert_not_null(strstr(message, "PERFILE2"));
	cr_assert_eq(perfmon_log_open(&log, NULL, NULL, 0), -EINVAL);
	cr_assert_eq(perfmon_log_open_descriptor(&log, -1, NULL, 0), -EBADF);
	cr_assert_eq(write(fd, lead, sizeof(lead)), (ssize_t)sizeof(lead));
	cr_assert_eq(perfmon_log_open_descriptor(&log, fd, message, sizeof(message)),
		     -EOPNOTSUPP);
	cr_assert_not_null(strstr(message, "byte order"));
	close(fd);
	/* The form of a file, through a pipe. */
	lead[0] = PM_LOG_MAGIC;
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(write(ends[1], lead, sizeof(lead)), (ssize_t)sizeof(lead));
	cr_assert_eq(perfmon_log_open_descriptor(&log, ends[0], message, sizeof(message)),
		     -ESPIPE);
	close(ends[0]);
	close(ends[1]);
	cr_assert_null(log);
	perfmon_log_close(NULL);
	cr_assert_eq(perfmon_log_next(NULL, &got), -EINVAL);
}

/* Every kernel call in turn, at each of its uses, in every thread. */
static atomic_int failing_call, failing_at, failing_errno, calls_seen;

static int fail_one(enum pm_kernel_call call)
{
	if ((int)call != failing_call)
		return 0;
	return atomic_fetch_add(&calls_seen, 1) == failing_at ? failing_errno : 0;
}

/* Writes a log and reads it; the first error. */
static int whole_life(uint64_t *count)
{
	struct perfmon_log *reader;
	struct pm_log *log;
	int err, more;

	*count = 0;
	err = pm_log_create(&log, log_path, -1, log_events, 2, NULL, NULL);
	if (err)
		return err;
	for (uint64_t i = 0; i < 50 && !err; i++) {
		log_make_sample(&record, 0, i);
		err = pm_log_append(log, &record.header);
	}
	more = pm_log_process(log, getpid());
	err = err ? err : more;
	more = pm_log_flush(log);
	err = err ? err : more;
	more = pm_log_close(log);
	err = err ? err : more;
	more = perfmon_log_open(&reader, log_path, NULL, 0);
	if (more)
		return err ? err : more;
	while ((more = next(reader)) == 1)
		*count += got.type == PERFMON_LOG_TYPE_SAMPLE;
	perfmon_log_close(reader);
	return err ? err : more;
}

Test(log, every_kernel_call_may_fail)
{
	static const struct {
		enum pm_kernel_call call;
		bool must_tell; /* else it can be done without, or is made good */
	} calls[] = {
		/* also of files that say which machine this is */
		{PM_CALL_OPEN, false},		{PM_CALL_FSTAT, false},
		{PM_CALL_FCNTL, false},		{PM_CALL_THREAD_START, true},
		{PM_CALL_PWRITE, true},		{PM_CALL_FTRUNCATE, true},
		{PM_CALL_CLOSE, false},		{PM_CALL_PREAD, true},
		{PM_CALL_CLOCK_GETTIME, false}, {PM_CALL_READ, false},
	};
	static const int errors[] = {-EIO, -ENOMEM};
	uint64_t count;

	for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
		for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++)
			for (int at = 0;; at++) {
				const int before = open_descriptors();
				int err;

				failing_call = (int)calls[c].call;
				failing_errno = errors[e];
				failing_at = at;
				calls_seen = 0;
				pm_kernel_fault = fail_one;
				err = whole_life(&count);
				pm_kernel_fault = NULL;
				if (calls_seen <= at) {
					cr_assert_eq(err, 0);
					cr_assert_eq(count, 50);
					break;
				}
				if (calls[c].must_tell)
					cr_assert_eq(err, errors[e],
						     "call %d, use %d: %d",
						     (int)calls[c].call, at, err);
				else
					cr_assert(!err || err == errors[e]);
				cr_assert(err || count == 50);
				if (calls[c].call != PM_CALL_CLOSE)
					cr_assert_eq(open_descriptors(), before);
			}
}

/* A caller with a larger structure than ours, or a smaller one. */
Test(log, sizes_of_records)
{
	struct {
		struct perfmon_log_record record;
		uint64_t more;
	} larger;
	struct pm_log *log = log_begin(log_path, -1, 0);
	struct perfmon_log *reader;

	write_all_types(log);
	cr_assert_eq(pm_log_close(log), 0);
	reader = log_reopen(log_path);
	memset(&larger, 0x77, sizeof(larger));
	larger.record.size = sizeof(larger);
	cr_assert_eq(perfmon_log_next(reader, &larger.record), -E2BIG);
	larger.more = 0;
	cr_assert_eq(perfmon_log_next(reader, &larger.record), 1);
	cr_assert_eq(larger.record.size, sizeof(larger));
	cr_assert_eq(larger.record.type, PERFMON_LOG_TYPE_SAMPLE);
	cr_assert_eq(larger.more, 0);
	larger.record.size = sizeof(larger.record) - 1;
	cr_assert_eq(perfmon_log_next(reader, &larger.record), -EINVAL);
	larger.record.size = sizeof(larger.record);
	cr_assert_eq(perfmon_log_next(reader, &larger.record), 1);
	cr_assert_eq(larger.record.event, 1);
	perfmon_log_close(reader);
}
