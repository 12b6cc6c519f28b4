/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that writes a log to its descriptor, and the completion of the log. */
#include <errno.h>
#include <limits.h>

#include "core/kernel/kernel.h"
#include "core/kernel/life.h"
#include "core/samples/log_format.h"
#include "core/samples/log_internal.h"

#define DELAY_NS UINT64_C(1000000000)

/* The thread waits this long for a reader of a stream before it counts once more. */
#define PATIENCE_MS 1000

/*
 * Counts consecutive waits without a reader, and wakes the threads that wait for the log.
 */
static void count_unread(struct pm_log *log, bool unread)
{
	if (!unread && !__atomic_load_n(&log->unread, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&log->lock);
	__atomic_store_n(&log->unread, unread ? log->unread + 1 : 0, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&log->done);
	pthread_mutex_unlock(&log->lock);
}

/*
 * Returns whether the thread must end: the log is being closed, or the program has ended.
 */
static bool is_over(const struct pm_log *log)
{
	return __atomic_load_n(&log->stop, __ATOMIC_RELAXED) ||
	       pm_life_program_has_ended();
}

/*
 * Writes to a stream when it is being read. A pipe that accepts anything accepts PIPE_BUF
 * bytes without a wait, whether it is non-blocking or not. Returns -ETIMEDOUT if there is
 * no reader and the thread must end.
 */
static ssize_t write_stream(struct pm_log *log, const void *data, size_t size)
{
	int n = pm_kernel_poll_write(log->file.fd, PATIENCE_MS);

	if (n < 0)
		return n;
	if (n) {
		count_unread(log, false);
		return pm_kernel_write(log->file.fd, data,
				       size < PIPE_BUF ? size : PIPE_BUF);
	}
	count_unread(log, true);
	return pm_log_is_unread(log) && is_over(log) ? -ETIMEDOUT : -EAGAIN;
}

/* Writes at OFFSET of a file, or at the end of a stream. Returns how much was written,
 * and sets *ERROR. */
static size_t write_all(struct pm_log *log, const void *data, size_t size,
			uint64_t offset, int *error)
{
	size_t done = 0;

	if (pm_owned_is_foreign(&log->file)) {
		*error = -EBADF;
		return 0;
	}
	while (done < size) {
		const char *from = (const char *)data + done;
		ssize_t n = log->stream ? write_stream(log, from, size - done)
					: pm_kernel_pwrite(log->file.fd, from,
							   size - done, offset + done);

		if (n == -EINTR || (n == -EAGAIN && log->stream))
			continue;
		if (n <= 0) {
			*error = n ? (int)n : -EIO;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

static int write_head(struct pm_log *log)
{
	struct pm_bytes head = {0};
	int err = 0;

	pthread_mutex_lock(&log->lock);
	pm_log_head(log, &head, log->stream ? 0 : log->written);
	pthread_mutex_unlock(&log->lock);
	if (head.failed)
		err = -ENOMEM;
	else
		write_all(log, head.data, head.used, 0, &err);
	pm_bytes_free(&head);
	return err;
}

/* The lock is held, but released while the owner is called. */
static void fail(struct pm_log *log, int error)
{
	if (!log->error)
		log->error = error;
	pthread_cond_broadcast(&log->done);
	if (!log->failure_reported && log->options.failed) {
		log->failure_reported = true;
		pthread_mutex_unlock(&log->lock);
		log->options.failed(log->options.argument, error);
		pthread_mutex_lock(&log->lock);
	}
}

/* Returns how many of the first LIMIT bytes of BUFFER are complete records, and reports the
 * samples behind them as lost. */
static size_t whole(struct pm_log *log, const struct pm_bytes *buffer, size_t limit)
{
	uint64_t samples = 0;
	size_t done = 0;

	for (size_t at = 0; at < buffer->used;) {
		const struct perf_event_header *record =
			(const void *)(buffer->data + at);

		at += record->size;
		if (at <= limit)
			done = at;
		else
			samples += record->type == PERF_RECORD_SAMPLE;
	}
	if (samples && log->options.lost)
		log->options.lost(log->options.argument, samples);
	return done;
}

/* Writes BUFFER. Returns how much of it was written. */
static size_t write_buffer(struct pm_log *log, const struct pm_bytes *buffer, int *err)
{
	size_t done = write_all(log, buffer->data, buffer->used,
				log->data_offset + log->written, err);
	const uint64_t size = log->written + done;

	/* The file says how much there is, in case this process ends. */
	if (!*err && !log->stream)
		write_all(log, &size, sizeof(size),
			  offsetof(struct pm_log_header, data.size), err);
	return done;
}

/* Writes all records that wait. The lock is held, but released meanwhile. */
static void write_records(struct pm_log *log)
{
	struct pm_bytes full = log->active;
	bool crowded = log->crowded;
	int err = log->error;
	size_t done = 0;

	log->active = log->writing;
	log->active.used = 0;
	log->writing = full;
	log->crowded = false;
	pthread_mutex_unlock(&log->lock);
	if (crowded && log->options.has_room)
		log->options.has_room(log->options.argument);
	if (!err)
		done = write_buffer(log, &full, &err);
	if (err)
		done = whole(log, &full, done);
	pthread_mutex_lock(&log->lock);
	log->written += done;
	if (err)
		fail(log, err);
	log->writing.used = 0;
	pthread_cond_broadcast(&log->done);
}

/* Waits for work with the lock held. Returns false if there is much to write, if the
 * first record is old, or on a request. */
static bool can_wait(struct pm_log *log)
{
	struct timespec until;
	uint64_t ns;

	if (log->stop || log->flush_asked != log->flush_done ||
	    log->active.used >= log->options.buffer_size / 2)
		return false;
	if (log->active.used) {
		ns = log->first_ns;
	} else if (pm_kernel_clock_ns(CLOCK_MONOTONIC, &ns)) {
		pthread_cond_wait(&log->work, &log->lock);
		return true;
	}
	ns += DELAY_NS;
	until = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	return pthread_cond_timedwait(&log->work, &log->lock, &until) != ETIMEDOUT;
}

/* Writes the head. The lock is held, but released meanwhile. */
static void renew_head(struct pm_log *log)
{
	int err;

	log->new_ids = false;
	pthread_mutex_unlock(&log->lock);
	err = write_head(log);
	pthread_mutex_lock(&log->lock);
	if (err)
		fail(log, err);
}

void *pm_log_run(void *argument)
{
	struct pm_log *log = argument;

	pthread_mutex_lock(&log->lock);
	renew_head(log);
	for (;;) {
		uint64_t asked;

		while (can_wait(log))
			;
		asked = log->flush_asked;
		/* IDs come before their records. */
		if (log->new_ids && !log->error) {
			renew_head(log);
		} else if (log->active.used) {
			write_records(log);
		} else if (asked != log->flush_done) {
			if (!log->stream && !log->error)
				renew_head(log);
			log->flush_done = asked;
			pthread_cond_broadcast(&log->done);
		} else if (is_over(log)) {
			break;
		}
	}
	pthread_mutex_unlock(&log->lock);
	return NULL;
}

int pm_log_complete(struct pm_log *log)
{
	const struct perf_event_header nothing = {.type = PM_LOG_RECORD_FINISHED_ROUND,
						  .size = sizeof(nothing)};
	struct pm_bytes head = {0}, tail = {0};
	uint64_t end = log->data_offset + log->written;
	int err;

	err = pm_owned_is_foreign(&log->file)
		      ? -EBADF
		      : pm_kernel_ftruncate(log->file.fd, (off_t)end);
	/* A file without any records would look unfinished. */
	if (!err && !log->written) {
		log->written = write_all(log, &nothing, sizeof(nothing), end, &err);
		end += log->written;
	}
	pm_log_tail(log, &tail, end, &head);
	if (head.failed || tail.failed)
		err = err ? err : -ENOMEM;
	if (!err)
		write_all(log, tail.data, tail.used, end, &err);
	if (!err)
		write_all(log, head.data, head.used, 0, &err);
	pm_bytes_free(&head);
	pm_bytes_free(&tail);
	if (err)
		/* The header has the size of the records, but no features. */
		write_head(log);
	return err;
}
