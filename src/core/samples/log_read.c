/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/samples/log_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/api/message.h"
#include "core/kernel/kernel.h"
#include "core/samples/sample.h"

/* Fills the buffer until it has NEED bytes. Returns 1, 0 if the log has no more, or an
 * error. */
static int fill(struct perfmon_log *log, size_t need)
{
	/* Records are read in place, so they must be aligned. */
	if (log->at % 8 || log->at + need > sizeof(log->buffer)) {
		memmove(log->buffer, log->buffer + log->at, log->used - log->at);
		log->used -= log->at;
		log->at = 0;
	}
	while (log->used - log->at < need) {
		const uint64_t next = log->position + (log->used - log->at);
		uint64_t room = sizeof(log->buffer) - log->used;
		ssize_t n;

		if (next >= log->data_end)
			return 0;
		if (room > log->data_end - next)
			room = log->data_end - next;
		n = log->seekable
			    ? pm_kernel_pread(log->fd, log->buffer + log->used, room,
					      next)
			    : pm_kernel_read(log->fd, log->buffer + log->used, room);
		if (n == -EINTR)
			continue;
		if (n == -EAGAIN)
			return -EAGAIN;
		if (n < 0)
			return pm_diag_set(&log->diag, (int)n,
					   "cannot read the log at offset %" PRIu64
					   ": %s",
					   next, strerror((int)-n));
		if (!n)
			return 0;
		log->used += (size_t)n;
	}
	return 1;
}

static void advance(struct perfmon_log *log, size_t size)
{
	log->at += size;
	log->position += size;
}

/* Sets the place of the records from a header. */
static int place(struct perfmon_log *log, const struct pm_log_header *header)
{
	uint64_t end;

	if (header->size != sizeof(*header))
		return pm_diag_set(&log->diag, -EBADMSG,
				   "the log is damaged: the header has %" PRIu64
				   " bytes, not %zu",
				   header->size, sizeof(*header));
	log->growing = !header->data.size || !(header->features[0] | header->features[1] |
					       header->features[2] | header->features[3]);
	if (__builtin_add_overflow(header->data.offset, header->data.size, &end) ||
	    end > INT64_MAX || header->data.offset < sizeof(*header))
		return pm_diag_set(&log->diag, -EBADMSG,
				   "the log is damaged: the header puts the records at "
				   "offset %" PRIu64 ", with %" PRIu64 " bytes",
				   header->data.offset, header->data.size);
	/* Asked for behind the header: what that speaks of is there by now. */
	log->cut =
		!log->growing && !pm_log_has(log, header->data.offset, header->data.size);
	if (!log->position)
		log->position = header->data.offset;
	/* perf record writes the size only when it ends. */
	log->data_end = header->data.size ? end : UINT64_MAX;
	return 0;
}

/* Reads the head of a file; again if it was not finished: it may have grown, or be finished
 * now. */
static int read_head(struct perfmon_log *log)
{
	struct pm_log_header header;
	struct stat st;
	int err = pm_kernel_fstat(log->fd, &st);

	if (err)
		return pm_diag_set(&log->diag, err, "cannot read the log: %s",
				   strerror(-err));
	err = pm_log_read_at(log, 0, sizeof(header), &header);
	err = err ?: place(log, &header);
	err = err ?: pm_log_index_attrs(log, &header);
	err = err ?: pm_log_index_features(log, &header);
	if (!err)
		log->looked_at = (uint64_t)st.st_size;
	return err;
}

/* Recognises the form and reads the head. */
static int open_log(struct perfmon_log *log)
{
	uint64_t lead[2];
	struct stat st;
	int err;

	err = pm_kernel_fstat(log->fd, &st);
	if (err)
		return pm_diag_set(&log->diag, err,
				   "cannot read a log from descriptor %d: %s", log->fd,
				   strerror(-err));
	log->seekable = S_ISREG(st.st_mode);
	log->file_size = (uint64_t)st.st_size;
	log->data_end = UINT64_MAX;
	err = fill(log, sizeof(lead));
	if (err == -EAGAIN)
		return pm_diag_set(&log->diag, err,
				   "the log is still empty; try again later");
	if (err < 0)
		return err;
	if (!err)
		return pm_diag_set(&log->diag, -EBADMSG,
				   "not a log: the file has only %zu bytes", log->used);
	memcpy(lead, log->buffer, sizeof(lead));
	if (lead[0] == PM_LOG_MAGIC_SWAPPED)
		return pm_diag_set(&log->diag, -EOPNOTSUPP,
				   "the log comes from a machine with the other byte "
				   "order; read it on such a machine");
	if (lead[0] != PM_LOG_MAGIC)
		return pm_diag_set(&log->diag, -EBADMSG,
				   "not a log: the file does not begin with PERFILE2");
	if (lead[1] == PM_LOG_STREAM_HEADER) {
		advance(log, sizeof(lead));
		return 0;
	}
	if (!log->seekable)
		return pm_diag_set(&log->diag, -ESPIPE,
				   "cannot read this form of log from a pipe; write the "
				   "log to a file first");
	log->at = log->used = 0;
	return read_head(log);
}

static int make(struct perfmon_log **log, const char *path, int fd, char *message,
		size_t message_size)
{
	struct perfmon_log *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return pm_message_end(-ENOMEM, "out of memory", message, message_size);
	made->fd = fd;
	if (path) {
		made->fd = pm_kernel_open(path, O_RDONLY, 0);
		made->own_fd = made->fd >= 0;
	}
	err = made->fd >= 0
		      ? open_log(made)
		      : pm_diag_set(&made->diag, made->fd, "cannot open the log '%s': %s",
				    path, strerror(-made->fd));
	pm_message_end(err, made->diag.text, message, message_size);
	if (err)
		perfmon_log_close(made);
	else
		*log = made;
	return err;
}

PM_EXPORT int perfmon_log_open(struct perfmon_log **log, const char *path, char *message,
			       size_t message_size)
{
	if (log && path)
		return make(log, path, -1, message, message_size);
	return pm_message_end(-EINVAL, "the handle or the path is NULL", message,
			      message_size);
}

PM_EXPORT int perfmon_log_open_descriptor(struct perfmon_log **log, int fd, char *message,
					  size_t message_size)
{
	if (log && fd >= 0)
		return make(log, NULL, fd, message, message_size);
	return pm_message_end(log ? -EBADF : -EINVAL,
			      log ? "the descriptor is negative" : "the handle is NULL",
			      message, message_size);
}

PM_EXPORT void perfmon_log_close(struct perfmon_log *log)
{
	if (!log)
		return;
	if (log->own_fd)
		pm_kernel_close(log->fd);
	for (uint32_t i = 0; i < log->count; i++)
		free(log->sources[i].name);
	free(log->sources);
	free(log->ids);
	free(log->host);
	free(log->release);
	free(log->architecture);
	free(log->writer);
	free(log->command);
	free(log);
}

PM_EXPORT int perfmon_log_message(const struct perfmon_log *log, char *buffer,
				  size_t size)
{
	return log ? pm_message_copy(log->diag.text, buffer, size) : -EINVAL;
}

/* Returns the result for the end of the records: 0, -EAGAIN, or an error. LEFT bytes are
 * not a complete record. */
static int at_end(struct perfmon_log *log, size_t left)
{
	if (log->growing)
		return -EAGAIN;
	if (log->cut || log->skip || left)
		return pm_diag_set(&log->diag, -EBADMSG,
				   "the log is truncated: it ends at offset %" PRIu64
				   ", within its records",
				   log->position + left);
	return 0;
}

/* Fills the buffer with SIZE bytes of a record. Returns 1, or as at_end(). */
static int need(struct perfmon_log *log, size_t size)
{
	int some = fill(log, size);

	return some ? some : at_end(log, log->used - log->at);
}

/* Skips bytes that are not records, which follow some of perf's own. Returns as need(). */
static int skip(struct perfmon_log *log)
{
	while (log->skip) {
		uint64_t part;
		int some = need(log, 1);

		if (some <= 0)
			return some;
		part = log->used - log->at;
		if (part > log->skip)
			part = log->skip;
		advance(log, part);
		log->skip -= part;
	}
	return 1;
}

/* Sets a message about RECORD, which is the log's next, and returns -EBADMSG. */
static int bad_record(struct perfmon_log *log, const struct perf_event_header *record,
		      const char *what)
{
	return pm_diag_set(&log->diag, -EBADMSG,
			   "the log is damaged at %" PRIu64
			   ": a record of type %u and %u bytes %s",
			   log->position, record->type, record->size, what);
}

/* Returns the event of the next record's ID. A growing file has it in its head before it has the
 * record, which may be newer than the last look at the head. */
static uint32_t event_of(struct perfmon_log *log, uint64_t id)
{
	uint32_t event = pm_log_event_of(log, id);

	if (event != UINT32_MAX || !log->growing || log->position < log->looked_at)
		return event;
	/* An error comes back with the next record. */
	if (read_head(log))
		pm_diag_clear(&log->diag);
	return pm_log_event_of(log, id);
}

/* Finds RECORD's event, and returns the attr that describes the record's layout, or NULL
 * if it is unknown. */
static const struct perf_event_attr *
attr_of(struct perfmon_log *log, const struct perf_event_header *record, uint32_t *event)
{
	const bool sample = record->type == PERF_RECORD_SAMPLE;
	struct perfmon_sample found;
	uint64_t id = 0;
	int err;

	*event = UINT32_MAX;
	if (!log->count)
		return NULL;
	if (log->count == 1) {
		*event = 0;
		return &log->sources[0].attr;
	}
	if (log->identified) {
		err = pm_sample_identify(&log->sources[0].attr, record, &id);
	} else if (log->alike) {
		err = sample ? pm_sample_decode(&log->sources[0].attr, record, &found)
			     : pm_sample_decode_trailer(&log->sources[0].attr, record,
							&found, NULL);
		id = found.id;
		if (!err && !(found.present & PERFMON_SAMPLE_ID))
			err = -ENODATA;
	} else {
		return NULL;
	}
	if (!err)
		*event = event_of(log, id);
	if (*event != UINT32_MAX)
		return &log->sources[*event].attr;
	/* perf's own records have the ID 0 and the layout of the first event. */
	return sample && !log->alike ? NULL : &log->sources[0].attr;
}

/* Takes the text that begins at byte OFFSET of a record whose body ends at byte BODY. */
static bool take_name(const struct perf_event_header *record, uint32_t offset,
		      uint32_t body, const char **name)
{
	const char *at = (const char *)record + offset;

	if (offset >= body || !memchr(at, '\0', body - offset))
		return false;
	*name = at;
	return true;
}

/* Decodes a record up to its trailer. Returns false if the record is too short. */
static bool take_body(const struct perf_event_header *record, uint32_t body,
		      struct perfmon_log_record *out)
{
	const uint32_t at = sizeof(*record), left = body - at;
	const unsigned char *bytes = (const unsigned char *)(record + 1);
	uint32_t halves[4] = {0};
	uint64_t words[4] = {0};

	memcpy(halves, bytes, left < sizeof(halves) ? left : sizeof(halves));
	memcpy(words, bytes, left < sizeof(words) ? left : sizeof(words));
	switch (record->type) {
	case PERFMON_LOG_TYPE_MAP:
	case PERFMON_LOG_TYPE_MAP2:
		out->pid = halves[0];
		out->tid = halves[1];
		out->address = words[1];
		out->length = words[2];
		out->offset = words[3];
		/* pid and tid, three words; MAP2: device, inode, protection and flags. */
		return take_name(record,
				 record->type == PERFMON_LOG_TYPE_MAP ? at + 32 : at + 64,
				 body, &out->name);
	case PERFMON_LOG_TYPE_NAME:
		out->pid = halves[0];
		out->tid = halves[1];
		return take_name(record, at + 8, body, &out->name);
	case PERFMON_LOG_TYPE_FORK:
	case PERFMON_LOG_TYPE_EXIT:
		out->pid = halves[0];
		out->parent_pid = halves[1];
		out->tid = halves[2];
		out->parent_tid = halves[3];
		return left >= 24;
	case PERFMON_LOG_TYPE_LOST:
		out->lost = words[1];
		return left >= 16;
	case PERFMON_LOG_TYPE_LOST_SAMPLES:
		out->lost = words[0];
		return left >= 8;
	case PERFMON_LOG_TYPE_SWITCH_CPU:
		out->pid = halves[0];
		out->tid = halves[1];
		return left >= 8;
	default:
		return true;
	}
}

/* Decodes a record of one of the kernel's types by the attr of its event. Returns 1 or an
 * error. */
static int decode(struct perfmon_log *log, const struct perf_event_header *record,
		  struct perfmon_log_record *out)
{
	const struct perf_event_attr *attr = attr_of(log, record, &out->event);
	uint32_t body = record->size;
	int err = 0;

	if (record->type == PERFMON_LOG_TYPE_SAMPLE ||
	    record->type == PERFMON_LOG_TYPE_READ) {
		if (!attr)
			return 1;
		err = record->type == PERFMON_LOG_TYPE_SAMPLE
			      ? pm_sample_decode(attr, record, &log->sample)
			      : pm_sample_decode_read(attr, record, &log->sample);
		if (err == -EOPNOTSUPP)
			return pm_diag_set(
				&log->diag, err,
				"the log has samples with fields unknown to this "
				"version of the library (sample_type 0x%" PRIx64
				", read_format 0x%" PRIx64
				"); read the log with a later version",
				(uint64_t)attr->sample_type, (uint64_t)attr->read_format);
		out->pid = log->sample.pid;
		out->tid = log->sample.tid;
	} else if (attr) {
		err = pm_sample_decode_trailer(attr, record, &log->sample, &body);
	}
	if (err)
		return bad_record(log, record,
				  "is too short for the fields of its event");
	if (!take_body(record, body, out))
		return bad_record(log, record, "is too short for its type");
	out->sample = attr ? &log->sample : NULL;
	return 1;
}

/* Decodes a record of the program's own. Returns false if an old perf made it. */
static bool decode_user(struct perfmon_log *log, const struct perf_event_header *record,
			struct perfmon_log_record *out)
{
	struct pm_log_user_record user;

	if (record->size < sizeof(user))
		return false;
	memcpy(&user, record, sizeof(user));
	if (user.mark != PM_LOG_USER_MARK || user.size > record->size - sizeof(user))
		return false;
	out->user_kind = user.kind;
	out->user_size = user.size;
	out->user_data = (const char *)record + sizeof(user);
	log->sample = (struct perfmon_sample){.size = sizeof(log->sample)};
	if (user.time_ns) {
		log->sample.present = PERFMON_SAMPLE_TIME;
		log->sample.time_ns = user.time_ns;
	}
	out->sample = &log->sample;
	return true;
}

/* Finds the next record in the buffer. Returns 1, or as at_end(). */
static int next_record(struct perfmon_log *log, const struct perf_event_header **out)
{
	const struct perf_event_header *record;
	int some;

	if (log->growing && (log->data_end == UINT64_MAX ||
			     log->position + sizeof(*record) > log->data_end)) {
		some = read_head(log);
		if (some)
			return some;
	}
	if (log->position >= log->data_end)
		return at_end(log, 0);
	some = skip(log);
	if (some > 0)
		some = need(log, sizeof(*record));
	if (some <= 0)
		return some;
	record = (const void *)(log->buffer + log->at);
	if (record->size < sizeof(*record))
		return bad_record(log, record, "is shorter than its header");
	if (record->type < PM_LOG_RECORD_ATTR && record->size % 8)
		return bad_record(log, record, "has a size that is not a multiple of 8");
	some = need(log, record->size);
	*out = (const void *)(log->buffer + log->at);
	return some;
}

/* Returns how many bytes follow RECORD that are not records. */
static uint64_t trailing(const struct perf_event_header *record)
{
	uint64_t size = 0;
	uint32_t small;

	if (record->type == PM_LOG_RECORD_AUXTRACE &&
	    record->size >= sizeof(*record) + sizeof(size)) {
		memcpy(&size, record + 1, sizeof(size));
	} else if (record->type == PM_LOG_RECORD_TRACING_DATA &&
		   record->size >= sizeof(*record) + sizeof(small)) {
		memcpy(&small, record + 1, sizeof(small));
		size = small;
	}
	return size;
}

/* Reads one record. Returns 1 if it is for the user, 2 if it is not, 0, -EAGAIN or an
 * error. */
static int step(struct perfmon_log *log, struct perfmon_log_record *out)
{
	const struct perf_event_header *record = NULL;
	int err = next_record(log, &record);

	if (err <= 0)
		return err;
	*out = (struct perfmon_log_record){
		.size = sizeof(*out),
		.type = record->type,
		.misc = record->misc,
		.event = UINT32_MAX,
		.position = log->position,
		.data = record,
		.data_size = record->size,
	};
	if (record->type < PM_LOG_RECORD_ATTR)
		err = decode(log, record, out);
	else if (record->type == PM_LOG_RECORD_EVENT_TYPE)
		err = decode_user(log, record, out) ? 1 : 2;
	else
		err = pm_log_index_record(log, record);
	log->skip = trailing(record);
	advance(log, record->size);
	return err;
}

PM_EXPORT int perfmon_log_next(struct perfmon_log *log, struct perfmon_log_record *record)
{
	int err = PM_STRUCT_CHECK(record, perfmon_log_record, 128);
	struct perfmon_log_record made;

	if (!log || err)
		return err ?: -EINVAL;
	if (log->error)
		return log->error;
	do
		err = step(log, &made);
	while (err == 2);
	if (err < 0 && err != -EAGAIN)
		log->error = err;
	if (err == 1)
		pm_struct_fill(record, &made, sizeof(made));
	return err;
}

PM_EXPORT int perfmon_log_get_event(struct perfmon_log *log, uint32_t index,
				    struct perfmon_log_event *event)
{
	const struct pm_log_source *source;
	struct perfmon_log_event made;
	int err = PM_STRUCT_CHECK(event, perfmon_log_event, 64);

	if (!log || err || index >= log->count)
		return err ?: -EINVAL;
	source = &log->sources[index];
	made = (struct perfmon_log_event){
		.name = source->name ?: "",
		.ids = source->ids,
		.type = source->attr.type,
		.frequency = source->attr.freq,
		.config = source->attr.config,
		.sample_period = source->attr.sample_period,
		.sample_type = source->attr.sample_type,
		.read_format = source->attr.read_format,
	};
	pm_struct_fill(event, &made, sizeof(made));
	return 0;
}

PM_EXPORT int perfmon_log_get_info(struct perfmon_log *log, struct perfmon_log_info *info)
{
	struct perfmon_log_info made;
	int err = PM_STRUCT_CHECK(info, perfmon_log_info, 56);

	if (!log || err)
		return err ?: -EINVAL;
	made = (struct perfmon_log_info){
		.events = log->count,
		.cpus = log->cpus,
		.host = log->host ?: "",
		.release = log->release ?: "",
		.architecture = log->architecture ?: "",
		.writer = log->writer ?: "",
		.command = log->command ?: "",
	};
	pm_struct_fill(info, &made, sizeof(made));
	return 0;
}
