/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/samples/log_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/kernel/life.h"
#include "core/kernel/process_maps.h"
#include "core/samples/log_format.h"
#include "core/samples/log_internal.h"
#include "core/samples/sample.h"

#define IDS_RESERVED 64

/* The place of the time in a sample depends only on these fields. */
#define BEFORE_TIME (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID)

static int take_events(struct pm_log *log, const struct pm_log_event *events,
		       size_t count, struct pm_diag *diag)
{
	const struct perf_event_attr *first = events ? events[0].attr : NULL;

	if (!count || count > PM_LOG_EVENTS_MAX || !first)
		return pm_diag_set(diag, -EINVAL, "a log takes 1 to %d events",
				   PM_LOG_EVENTS_MAX);
	log->attrs = calloc(count, sizeof(log->attrs[0]));
	if (!log->attrs)
		return -ENOMEM;
	log->trailer_words = pm_sample_trailer_words(first);
	log->time_word =
		first->sample_type & PERF_SAMPLE_TIME
			? (uint32_t)__builtin_popcountll(first->sample_type & BEFORE_TIME)
			: UINT32_MAX;
	for (; log->count < count; log->count++) {
		const struct pm_log_event *event = &events[log->count];
		struct pm_log_attr *attr = &log->attrs[log->count];

		if (count > 1 && !(event->attr->sample_type & PERF_SAMPLE_IDENTIFIER))
			return pm_diag_set(
				diag, -EINVAL,
				"event '%s' cannot share a log: its records do "
				"not name their event; set "
				"PERF_SAMPLE_IDENTIFIER in sample_type",
				event->name);
		if (event->attr->sample_id_all != first->sample_id_all)
			return pm_diag_set(
				diag, -EINVAL,
				"events '%s' and '%s' cannot share a log: one has "
				"sample_id_all, the other has not; set "
				"sample_id_all in both",
				events[0].name, event->name);
		if ((event->attr->sample_type ^ first->sample_type) &
		    (BEFORE_TIME | PERF_SAMPLE_TIME))
			log->time_word = UINT32_MAX;
		attr->attr = *event->attr;
		attr->attr.size = sizeof(attr->attr);
		attr->id_count = event->id_count;
		attr->id_room = event->id_count * 2 > IDS_RESERVED ? event->id_count * 2
								   : IDS_RESERVED;
		attr->name = strndup(event->name ? event->name : "", 1023);
		attr->ids = calloc(attr->id_room, sizeof(uint64_t));
		if (!attr->name || !attr->ids) {
			log->count++;
			return -ENOMEM;
		}
		if (event->id_count)
			memcpy(attr->ids, event->ids, event->id_count * sizeof(uint64_t));
	}
	return 0;
}

static int take_target(struct pm_log *log, const char *path, int fd, struct pm_diag *diag)
{
	struct stat st;
	int flags, err;

	if (path) {
		fd = pm_kernel_open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (fd < 0)
			return pm_diag_set(diag, fd, "cannot create the log '%s': %s",
					   path, strerror(-fd));
		log->own_fd = true;
	}
	err = pm_owned_learn(&log->file, fd);
	if (err && path)
		pm_kernel_close(fd);
	err = err ?: pm_kernel_fstat(fd, &st);
	flags = err ? err : pm_kernel_fcntl(fd, F_GETFL, 0);
	if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
		flags = -EBADF;
	if (flags < 0)
		return pm_diag_set(diag, flags, "cannot write a log to descriptor %d: %s",
				   fd, strerror(-flags));
	log->stream = !S_ISREG(st.st_mode) || st.st_size || flags & O_APPEND;
	return 0;
}

static int start(struct pm_log *log, struct pm_diag *diag)
{
	pthread_condattr_t monotonic;
	int err;

	err = -pthread_mutex_init(&log->lock, NULL);
	if (err)
		return err;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&log->work, &monotonic);
	pthread_cond_init(&log->done, NULL);
	pthread_condattr_destroy(&monotonic);
	err = pm_kernel_thread_start(&log->thread, pm_log_run, log);
	if (err) {
		pthread_cond_destroy(&log->done);
		pthread_cond_destroy(&log->work);
		pthread_mutex_destroy(&log->lock);
		pm_diag_set(diag, err, "cannot create the thread of the log (error %d)",
			    -err);
	}
	return err;
}

static void free_log(struct pm_log *log)
{
	for (size_t i = 0; i < log->count; i++) {
		free(log->attrs[i].name);
		free(log->attrs[i].ids);
	}
	free(log->attrs);
	free(log->active.data);
	free(log->writing.data);
	free(log);
}

int pm_log_create(struct pm_log **log, const char *path, int fd,
		  const struct pm_log_event *events, size_t count,
		  const struct pm_log_options *options, struct pm_diag *diag)
{
	size_t capacity = options && options->buffer_size ? options->buffer_size
							  : PM_LOG_BUFFER_DEFAULT;
	struct pm_bytes head = {0};
	struct pm_log *made;
	int err;

	if (capacity < PM_LOG_BUFFER_MIN || capacity > PM_LOG_BUFFER_MAX)
		return pm_diag_set(diag, -EINVAL,
				   "a log cannot have a buffer of %zu bytes; use %zu to "
				   "%zu bytes",
				   capacity, PM_LOG_BUFFER_MIN, PM_LOG_BUFFER_MAX);
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	if (options)
		made->options = *options;
	made->options.buffer_size = capacity;
	made->file = PM_OWNED_NONE;
	made->active.data = malloc(capacity);
	made->writing.data = malloc(capacity);
	err = take_events(made, events, count, diag);
	if (!err && (!made->active.data || !made->writing.data))
		err = -ENOMEM;
	err = err ?: take_target(made, path, fd, diag);
	if (!err && !made->stream) {
		/* The head's length does not change later. */
		pm_log_head(made, &head, 0);
		made->data_offset = head.used;
		err = head.failed ? -ENOMEM : 0;
		pm_bytes_free(&head);
	}
	err = err ?: start(made, diag);
	if (err)
		pm_log_forget(made);
	else
		*log = made;
	return err;
}

static void note_time(struct pm_log *log, const struct perf_event_header *record)
{
	uint64_t ns;

	if (record->type != PERF_RECORD_SAMPLE || log->time_word == UINT32_MAX ||
	    record->size < sizeof(*record) + (log->time_word + 1) * sizeof(ns))
		return;
	memcpy(&ns, (const char *)(record + 1) + log->time_word * sizeof(ns), sizeof(ns));
	if (!log->sample_last_ns || ns < log->sample_first_ns)
		log->sample_first_ns = ns;
	if (ns > log->sample_last_ns)
		log->sample_last_ns = ns;
}

static bool has_room(const struct pm_log *log, size_t size)
{
	return log->options.buffer_size - log->active.used >= size;
}

static void copy(struct pm_log *log, const struct perf_event_header *record)
{
	struct pm_bytes *active = &log->active;
	size_t half = log->options.buffer_size / 2;

	/* With empty buffers the thread sleeps without a limit: wake it for the delay. */
	if (!active->used) {
		if (pm_kernel_clock_ns(CLOCK_MONOTONIC, &log->first_ns))
			log->first_ns = 0;
		pthread_cond_signal(&log->work);
	}
	memcpy(active->data + active->used, record, record->size);
	if (active->used < half && active->used + record->size >= half)
		pthread_cond_signal(&log->work);
	active->used += record->size;
	note_time(log, record);
}

/* Adds a record about the records dropped since the last one. */
static void say_dropped(struct pm_log *log)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost, trailer[16];
	} lost = {
		.header = {.type = PERF_RECORD_LOST},
		.lost = log->dropped_unsaid,
	};

	lost.header.size = (uint16_t)(offsetof(__typeof__(lost), trailer) +
				      log->trailer_words * sizeof(uint64_t));
	if (!log->dropped_unsaid || !has_room(log, lost.header.size))
		return;
	log->dropped_unsaid = 0;
	copy(log, &lost.header);
}

int pm_log_append(struct pm_log *log, const struct perf_event_header *record)
{
	int err;

	if (record->size < sizeof(*record) || record->size % 8)
		return -EBADMSG;
	pthread_mutex_lock(&log->lock);
	err = log->error;
	if (!err)
		say_dropped(log);
	if (!err && !has_room(log, record->size)) {
		log->dropped++;
		log->dropped_unsaid++;
		err = -ENOBUFS;
	}
	if (!err)
		copy(log, record);
	pthread_mutex_unlock(&log->lock);
	return err;
}

/* Does the same as pm_log_append(), but waits for room. */
static int append_patiently(struct pm_log *log, const struct perf_event_header *record)
{
	struct pm_quiet quiet;
	int err;

	pm_kernel_quiet_begin(&quiet);
	pthread_mutex_lock(&log->lock);
	pm_log_await_reader(log);
	while (!log->error && !pm_log_is_unread(log) && !has_room(log, record->size))
		pthread_cond_wait(&log->done, &log->lock);
	err = log->error;
	if (!err && !has_room(log, record->size))
		err = -ETIMEDOUT;
	if (!err)
		copy(log, record);
	pthread_mutex_unlock(&log->lock);
	pm_kernel_quiet_end(&quiet);
	return err;
}

int pm_log_drain(struct pm_log *log, struct pm_ring *ring,
		 bool (*visit)(void *argument, const struct perf_event_header *record),
		 void *argument)
{
	const struct perf_event_header *record;
	int moved = 0, err;

	pthread_mutex_lock(&log->lock);
	err = log->error;
	if (!err)
		say_dropped(log);
	while (!err && has_room(log, PM_LOG_RECORD_MAX)) {
		err = pm_ring_next(ring, &record);
		if (err <= 0)
			break;
		err = 0;
		if (visit && !visit(argument, record))
			continue;
		copy(log, record);
		moved++;
	}
	log->crowded |= !err && !has_room(log, PM_LOG_RECORD_MAX);
	pthread_mutex_unlock(&log->lock);
	pm_ring_release(ring);
	return err ? err : moved;
}

int pm_log_round(struct pm_log *log)
{
	const struct perf_event_header round = {.type = PM_LOG_RECORD_FINISHED_ROUND,
						.size = sizeof(round)};

	return pm_log_append(log, &round);
}

int pm_log_user(struct pm_log *log, uint64_t time_ns, uint32_t kind, const void *data,
		size_t size)
{
	union {
		struct pm_log_user_record head;
		unsigned char bytes[PM_LOG_RECORD_MAX];
	} record;

	if (size > PM_LOG_USER_MAX)
		return -E2BIG;
	record.head = (struct pm_log_user_record){
		.header = {.type = PM_LOG_RECORD_EVENT_TYPE,
			   .size = (uint16_t)(sizeof(record.head) + (size + 7) / 8 * 8)},
		.mark = PM_LOG_USER_MARK,
		.time_ns = time_ns,
		.kind = kind,
		.size = (uint32_t)size,
	};
	memset(record.bytes + record.head.header.size - 8, 0, size ? 8 : 0);
	if (size)
		memcpy(record.bytes + sizeof(record.head), data, size);
	return pm_log_append(log, &record.head.header);
}

/* Writes a stream's records for later IDs. */
static int send_ids(struct pm_log *log, const struct pm_log_attr *attr,
		    const uint64_t *ids, size_t count)
{
	struct pm_bytes records = {0};
	int err = 0;

	pm_log_attr_records(&records, attr, ids, count);
	if (records.failed)
		err = -ENOMEM;
	for (size_t at = 0; !err && at < records.used;) {
		const struct perf_event_header *record =
			(const void *)(records.data + at);

		at += record->size;
		err = append_patiently(log, record);
	}
	pm_bytes_free(&records);
	return err;
}

int pm_log_add_ids(struct pm_log *log, size_t event, const uint64_t *ids, size_t count)
{
	struct pm_log_attr *attr;
	uint64_t *larger;
	int err;

	if (event >= log->count)
		return -EINVAL;
	attr = &log->attrs[event];
	pthread_mutex_lock(&log->lock);
	err = log->error;
	if (!err && attr->id_count + count > attr->id_room) {
		larger = realloc(attr->ids, (attr->id_count + count) * sizeof(uint64_t));
		if (larger)
			attr->ids = larger;
		else
			err = -ENOMEM;
	}
	if (!err && count) {
		memcpy(attr->ids + attr->id_count, ids, count * sizeof(uint64_t));
		attr->id_count += count;
		log->new_ids = !log->stream;
	}
	pthread_mutex_unlock(&log->lock);
	return err || !log->stream || !count ? err : send_ids(log, attr, ids, count);
}

/* The state of a process before the log began: its threads' names, and the files that it
 * executes. */
struct adding {
	struct pm_log *log;
	pid_t pid;
	struct pm_bytes bytes; /* of one record */
	int err;	       /* of a mapping */
};

static int add_record(struct adding *to)
{
	int err;

	pm_log_record_end(&to->bytes, 0, to->log->trailer_words);
	if (to->bytes.failed)
		return -ENOMEM;
	err = append_patiently(to->log, (const void *)to->bytes.data);
	to->bytes.used = 0;
	return err;
}

static int add_thread(struct adding *to, const char *tid)
{
	char path[64], name[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", (int)to->pid, tid);
	n = pm_file_text(path, name, sizeof(name));
	if (n <= 0)
		return 0; /* it has ended */
	name[strcspn(name, "\n")] = '\0';
	pm_log_record_begin(&to->bytes, PERF_RECORD_COMM, 0);
	pm_bytes_add_u32(&to->bytes, (uint32_t)to->pid);
	pm_bytes_add_u32(&to->bytes, (uint32_t)strtoul(tid, NULL, 10));
	pm_bytes_add(&to->bytes, name, strlen(name) + 1);
	return add_record(to);
}

static bool add_mapping(const struct pm_process_map *map, void *argument)
{
	const char *path = map->path[0] ? map->path : "//anon";
	struct adding *to = argument;
	struct pm_bytes *bytes = &to->bytes;

	if (!map->executable)
		return false;
	pm_log_record_begin(bytes, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	pm_bytes_add_u32(bytes, (uint32_t)to->pid);
	pm_bytes_add_u32(bytes, (uint32_t)to->pid);
	pm_bytes_add_u64(bytes, map->from);
	pm_bytes_add_u64(bytes, map->to - map->from);
	pm_bytes_add_u64(bytes, map->offset);
	pm_bytes_add_u32(bytes, major(map->device));
	pm_bytes_add_u32(bytes, minor(map->device));
	pm_bytes_add_u64(bytes, map->inode);
	pm_bytes_add_u64(bytes, 0);
	pm_bytes_add_u32(bytes, (map->readable ? PROT_READ : 0) |
					(map->writable ? PROT_WRITE : 0) | PROT_EXEC);
	pm_bytes_add_u32(bytes, map->shared ? MAP_SHARED : MAP_PRIVATE);
	pm_bytes_add(bytes, path, strlen(path) + 1);
	to->err = add_record(to);
	return to->err;
}

int pm_log_process(struct pm_log *log, pid_t pid)
{
	struct adding to = {.log = log, .pid = pm_process_id(pid)};
	char path[64];
	char **threads = NULL;
	size_t count = 0;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)to.pid);
	err = pm_dir_list(path, &threads, &count);
	for (size_t i = 0; i < count && !err; i++)
		err = add_thread(&to, threads[i]);
	free(threads);
	if (!err)
		err = pm_process_maps(to.pid, add_mapping, &to);
	pm_bytes_free(&to.bytes);
	if (err == -ENOENT)
		return -ESRCH;
	return err < 0 ? err : to.err;
}

int pm_log_flush(struct pm_log *log)
{
	struct pm_quiet quiet;
	uint64_t asked;
	int err;

	pm_kernel_quiet_begin(&quiet);
	pthread_mutex_lock(&log->lock);
	pm_log_await_reader(log);
	asked = ++log->flush_asked;
	pthread_cond_signal(&log->work);
	while (log->flush_done < asked && !pm_log_is_unread(log))
		pthread_cond_wait(&log->done, &log->lock);
	err = log->error;
	if (!err && log->flush_done < asked)
		err = -ETIMEDOUT;
	pthread_mutex_unlock(&log->lock);
	pm_kernel_quiet_end(&quiet);
	return err;
}

int pm_log_close(struct pm_log *log)
{
	struct pm_quiet quiet;
	int err, more;

	if (!log)
		return 0;
	pm_kernel_quiet_begin(&quiet);
	pthread_mutex_lock(&log->lock);
	pm_log_await_reader(log);
	while (!log->error && !pm_log_is_unread(log) && log->dropped_unsaid &&
	       !has_room(log, PM_LOG_RECORD_MAX))
		pthread_cond_wait(&log->done, &log->lock);
	say_dropped(log);
	__atomic_store_n(&log->stop, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&log->work);
	pthread_mutex_unlock(&log->lock);
	pthread_join(log->thread, NULL);
	more = log->stream ? 0 : pm_log_complete(log);
	err = log->error ?: more;
	more = log->own_fd ? pm_owned_close(&log->file) : 0;
	err = err ?: more;
	pthread_cond_destroy(&log->done);
	pthread_cond_destroy(&log->work);
	pthread_mutex_destroy(&log->lock);
	free_log(log);
	pm_kernel_quiet_end(&quiet);
	return err;
}

void pm_log_forget(struct pm_log *log)
{
	if (!log)
		return;
	if (log->own_fd)
		pm_owned_close(&log->file);
	free_log(log);
}
