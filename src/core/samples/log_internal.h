/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parts of the log's writer; see log_write.h. */
#ifndef PM_SAMPLES_LOG_INTERNAL_H
#define PM_SAMPLES_LOG_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "core/kernel/owned.h"
#include "core/samples/log_write.h"
#include "core/text/bytes.h"

struct pm_log_attr {
	struct perf_event_attr attr;
	char *name;
	uint64_t *ids;
	size_t id_count;
	size_t id_room; /* the file's head has room for this many */
};

struct pm_log {
	struct pm_owned
		file; /* the program may have closed its descriptor, and opened another file */
	bool own_fd, stream;
	size_t count;
	struct pm_log_attr *attrs;
	uint32_t trailer_words; /* of the records that the writer makes */
	uint32_t
		time_word; /* of the time in a sample, from its header's end; UINT32_MAX: varies */
	uint64_t data_offset; /* in a file */

	pthread_mutex_t lock;
	pthread_cond_t work; /* signals the log's thread */
	pthread_cond_t done; /* signals threads that wait for the log */
	pthread_t thread;
	bool stop,
		failure_reported; /* stop is atomic: the thread reads it without the lock */
	uint32_t
		unread; /* waits in a row in which no process read the stream; atomic, too */
	bool crowded; /* records had to stay in a ring */
	bool new_ids; /* which the head of the file does not have yet */
	int error;
	/* Records that wait to be written, in options.buffer_size bytes each. */
	struct pm_bytes active, writing;
	uint64_t written;  /* bytes of complete records */
	uint64_t first_ns; /* when the first record of `active` was added */
	uint64_t flush_asked, flush_done;
	uint64_t dropped, dropped_unsaid;
	uint64_t sample_first_ns, sample_last_ns;
	struct pm_log_options options;
};

/* Makes the bytes in front of the records: of a file whose header has DATA_SIZE, or of a
 * stream. */
void pm_log_head(const struct pm_log *log, struct pm_bytes *head, uint64_t data_size);
/* Makes the bytes behind the records of a file, which begin at OFFSET, and the file's
 * final HEAD. */
void pm_log_tail(const struct pm_log *log, struct pm_bytes *tail, uint64_t offset,
		 struct pm_bytes *head);
/* Makes a stream's records for COUNT IDs of an event. */
void pm_log_attr_records(struct pm_bytes *bytes, const struct pm_log_attr *attr,
			 const uint64_t *ids, size_t count);

/* Resets the count of waits without a reader. A thread that begins to wait for the log
 * calls it, with the lock held. */
static inline void pm_log_await_reader(struct pm_log *log)
{
	__atomic_store_n(&log->unread, 0, __ATOMIC_RELAXED);
}
static inline bool pm_log_is_unread(const struct pm_log *log)
{
	/* The first wait may have begun before pm_log_await_reader(). */
	return __atomic_load_n(&log->unread, __ATOMIC_RELAXED) > 1;
}

/* The log's thread: writes records until it is stopped. */
void *pm_log_run(void *log);
/* Completes a file after the thread has ended: cuts off the rest of a failed write, then
 * writes the features, and last the header that announces them. Returns 0 or an error. */
int pm_log_complete(struct pm_log *log);

/* Begins a record in BYTES and returns the offset of its header. */
size_t pm_log_record_begin(struct pm_bytes *bytes, uint32_t type, uint16_t misc);
/* Ends the record at START: pads it, sets its size, and adds the zeroed trailer that the
 * kernel's records have. */
void pm_log_record_end(struct pm_bytes *bytes, size_t start, uint32_t trailer_words);

#endif
