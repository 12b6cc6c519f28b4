/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the log's writer share; see log_write.h. */
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
	size_t id_room; /* for so many the file's head has room */
};

/* Records that wait. */
struct pm_log_buffer {
	unsigned char *data;
	size_t used;
};

struct pm_log {
	struct pm_owned file; /* the program's, too, may be another by now */
	bool own_fd, stream;
	size_t count;
	struct pm_log_attr *attrs;
	uint32_t trailer_words; /* of the records that are made here */
	uint32_t time_word;   /* of a sample, from its header's end; UINT32_MAX: varies */
	uint64_t data_offset; /* in a file */

	pthread_mutex_t lock;
	pthread_cond_t work; /* for the log's thread */
	pthread_cond_t done; /* for who waits for it */
	pthread_t thread;
	bool stop, told; /* stop: atomic, the thread looks at it without the lock */
	uint32_t
		unread; /* the same; waits for a reader of the stream that were in vain */
	bool crowded;	/* a ring had to keep records */
	int error;
	size_t capacity;
	struct pm_log_buffer active, writing;
	uint64_t appended, written; /* bytes; written: in whole records */
	uint64_t first_ns;	    /* when the first of `active` came */
	uint64_t flush_asked, flush_done;
	uint64_t dropped, dropped_unsaid;
	uint64_t sample_first_ns, sample_last_ns;
	void (*failed)(void *argument, int error);
	void (*has_room)(void *argument);
	void (*lost)(void *argument, uint64_t samples);
	void *argument;
};

/* What comes before the records: of a file with DATA_SIZE in its header, of a stream. */
void pm_log_head(const struct pm_log *log, struct pm_bytes *head, uint64_t data_size);
/* What comes behind the records of a file at OFFSET, and its header for the front. */
void pm_log_tail(const struct pm_log *log, struct pm_bytes *tail, uint64_t offset,
		 struct pm_bytes *head);
/* A stream's records for COUNT ids, at most PM_LOG_IDS_MAX, of an event. */
#define PM_LOG_IDS_MAX 4096
void pm_log_attr_records(struct pm_bytes *bytes, const struct pm_log_attr *attr,
			 const uint64_t *ids, size_t count);

/* Who waits for the log begins to wait for a reader of the stream, too, with the lock;
 * whether that was in vain for a second. */
static inline void pm_log_await_reader(struct pm_log *log)
{
	__atomic_store_n(&log->unread, 0, __ATOMIC_RELAXED);
}
static inline bool pm_log_is_unread(const struct pm_log *log)
{
	/* The first may have begun before. */
	return __atomic_load_n(&log->unread, __ATOMIC_RELAXED) > 1;
}

/* The log's thread: writes what waits until it is told to stop. */
void *pm_log_run(void *log);
/* After its end, for a file: what a failed write has left behind is cut off; then the
 * features, and last the header that says that they are there. 0 or an error. */
int pm_log_complete(struct pm_log *log);

/* pm_log_append() that waits for room. */
int pm_log_append_patiently(struct pm_log *log, const struct perf_event_header *record);

/* A record being made: its header at *START of BYTES until its end is known. */
size_t pm_log_record_begin(struct pm_bytes *bytes, uint32_t type, uint16_t misc);
/* Fills it up and sets its size, with the trailer of a record of the kernel, all zero. */
void pm_log_record_end(struct pm_bytes *bytes, size_t start, uint32_t trailer_words);

#endif
