/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a log meets its descriptor: the thread that writes it, and its completion. */
#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "samples/log_format.h"
#include "samples/log_internal.h"

#define DELAY_NS UINT64_C(1000000000)

/* Writes at OFFSET of a file, or goes on in a stream; how much, or an error in *ERROR. */
static size_t write_all(const struct pm_log *log, const void *data, size_t size,
			uint64_t offset, int *error)
{
	size_t done = 0;

	while (done < size) {
		const char *from = (const char *)data + done;
		ssize_t n = log->stream ? pm_kernel_write(log->fd, from, size - done)
					: pm_kernel_pwrite(log->fd, from, size - done,
							   offset + done);

		if (n == -EAGAIN)
			n = pm_kernel_poll_write(log->fd, -1) < 0 ? -EAGAIN : -EINTR;
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			*error = n ? (int)n : -EIO;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

/* How many of the first LIMIT bytes of BUFFER stand in whole records. */
static size_t whole(const struct pm_log_buffer *buffer, size_t limit)
{
	size_t at = 0;

	while (at < buffer->used) {
		const struct perf_event_header *record =
			(const void *)(buffer->data + at);

		if (at + record->size > limit)
			break;
		at += record->size;
	}
	return at;
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

/* So that what is there is known to be, whatever happens to this process. */
static int write_size(const struct pm_log *log)
{
	const uint64_t size = log->written;
	int err = 0;

	write_all(log, &size, sizeof(size),
		  offsetof(struct pm_log_header, data) +
			  offsetof(struct pm_log_section, size),
		  &err);
	return err;
}

/* With the lock held, which is given away while the owner is told. */
static void fail(struct pm_log *log, int error)
{
	if (!log->error)
		log->error = error;
	pthread_cond_broadcast(&log->done);
	if (!log->told && log->failed) {
		log->told = true;
		pthread_mutex_unlock(&log->lock);
		log->failed(log->argument, error);
		pthread_mutex_lock(&log->lock);
	}
}

/* With the lock held, which is given away meanwhile: all that waits. */
static void write_records(struct pm_log *log)
{
	struct pm_log_buffer full = log->active;
	bool crowded = log->crowded;
	int err = log->error;

	log->active = log->writing;
	log->active.used = 0;
	log->writing = full;
	log->crowded = false;
	if (!err) {
		uint64_t offset = log->data_offset + log->written;
		size_t done;

		pthread_mutex_unlock(&log->lock);
		if (crowded && log->has_room)
			log->has_room(log->argument);
		done = write_all(log, full.data, full.used, offset, &err);
		pthread_mutex_lock(&log->lock);
		log->written += err ? whole(&full, done) : done;
		if (!err && !log->stream)
			err = write_size(log);
		if (err)
			fail(log, err);
	}
	log->writing.used = 0;
	pthread_cond_broadcast(&log->done);
}

/* Whether what waits can wait longer: not if it is much, or old, or asked for. */
static bool can_wait(struct pm_log *log)
{
	struct timespec until;
	uint64_t ns;

	if (log->stop || log->flush_asked != log->flush_done ||
	    log->active.used >= log->capacity / 2)
		return false;
	if (!log->active.used) {
		pthread_cond_wait(&log->work, &log->lock);
		return true;
	}
	ns = log->first_ns + DELAY_NS;
	until = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	return pthread_cond_timedwait(&log->work, &log->lock, &until) != ETIMEDOUT;
}

void *pm_log_run(void *argument)
{
	struct pm_log *log = argument;
	int err = write_head(log);

	pthread_mutex_lock(&log->lock);
	if (err)
		fail(log, err);
	for (;;) {
		uint64_t asked;

		while (can_wait(log))
			;
		asked = log->flush_asked;
		if (log->active.used) {
			write_records(log);
			continue;
		}
		if (asked != log->flush_done) {
			if (!log->stream && !log->error) {
				pthread_mutex_unlock(&log->lock);
				err = write_head(log);
				pthread_mutex_lock(&log->lock);
				if (err)
					fail(log, err);
			}
			log->flush_done = asked;
			pthread_cond_broadcast(&log->done);
			continue;
		}
		if (log->stop)
			break;
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

	err = pm_kernel_ftruncate(log->fd, (off_t)end);
	/* No records at all would be a log that is not finished. */
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
		/* Without features, but with the size of what is there. */
		write_head(log);
	return err;
}
