/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by tests of logs: a folder, a log of known content, reading a whole log. */
#ifndef PM_TESTS_LOG_FILES_H
#define PM_TESTS_LOG_FILES_H

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "core/samples/samples.h"
#include "core/text/diag.h"
#include "perfmon/log.h"
#include "helpers.h"
#include "messages.h"
#include "record.h"

static char log_folder[64], log_path[96];

static inline void log_setup(void)
{
	make_folder(log_folder, sizeof(log_folder));
	snprintf(log_path, sizeof(log_path), "%s/log", log_folder);
}

static inline void log_teardown(void)
{
	pm_kernel_fault = NULL;
	remove_folder(log_folder);
}

/* A test that is skipped is not torn down. */
#define log_skip(...)                                                                    \
	do {                                                                             \
		log_teardown();                                                          \
		cr_skip_test(__VA_ARGS__);                                               \
	} while (0)

/* Two events, whose samples and other records have an ID. */
#define LOG_SAMPLE_TYPE                                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
	 PERF_SAMPLE_PERIOD)
static const struct perf_event_attr log_attrs[2] = {
	{.type = PERF_TYPE_SOFTWARE,
	 .size = sizeof(struct perf_event_attr),
	 .config = PERF_COUNT_SW_TASK_CLOCK,
	 .sample_period = 100000,
	 .sample_type = LOG_SAMPLE_TYPE,
	 .sample_id_all = 1},
	{.type = PERF_TYPE_SOFTWARE,
	 .size = sizeof(struct perf_event_attr),
	 .config = PERF_COUNT_SW_PAGE_FAULTS,
	 .sample_period = 1,
	 .sample_type = LOG_SAMPLE_TYPE | PERF_SAMPLE_ADDR,
	 .sample_id_all = 1},
};
static const uint64_t log_ids[2][2] = {{101, 102}, {201, 202}};
static const struct pm_log_event log_events[2] = {
	{.attr = &log_attrs[0], .name = "task-clock:u", .ids = log_ids[0], .id_count = 2},
	{.attr = &log_attrs[1],
	 .name = "page-faults:u",
	 .ids = log_ids[1],
	 .id_count = 2},
};

/* Makes sample I of event EVENT of the two. */
static inline void log_make_sample(struct record *record, unsigned int event, uint64_t i)
{
	record_begin(record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	record_word(record, log_ids[event][i % 2]);
	record_word(record, 0x401000 + i);
	record_halves(record, 77, 78);
	record_word(record, 1000 + i);
	if (event)
		record_word(record, 0x7000 + i);
	record_word(record, 5);
}

/* Adds the pid, tid, time and ID of EVENT that its other records have. */
static inline void log_add_trailer(struct record *record, unsigned int event,
				   uint64_t time)
{
	record_halves(record, 77, 78);
	record_word(record, time);
	record_word(record, log_ids[event][0]);
}

static inline struct pm_log *log_begin(const char *path, int fd, size_t buffer_size)
{
	const struct pm_log_options options = {.buffer_size = buffer_size};
	struct pm_diag diag = {0};
	struct pm_log *log;

	cr_assert_eq(pm_log_create(&log, path, fd, log_events, 2, &options, &diag), 0,
		     "%s", diag.text);
	return log;
}

static inline struct perfmon_log *log_reopen(const char *path)
{
	struct perfmon_log *log;
	char message[512];

	cr_assert_eq(perfmon_log_open(&log, path, message, sizeof(message)), 0, "%s",
		     message);
	cr_assert_str_empty(message);
	return log;
}

#endif
