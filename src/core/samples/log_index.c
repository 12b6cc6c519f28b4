/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads what a log says about events and the machine, from a file's sections or from
 * records. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/samples/log_read.h"
#include "core/text/bytes.h"
#include "core/text/grow.h"

/* At most this much of a feature is read. */
#define FEATURE_MAX ((uint64_t)16 << 20)

/* The bytes that are left. */
struct bytes {
	const unsigned char *at;
	size_t left;
};

static const void *take(struct bytes *bytes, uint64_t size)
{
	const void *at = bytes->at;

	if (size > bytes->left)
		return NULL;
	bytes->at += size;
	bytes->left -= size;
	return at;
}

static bool take_into(struct bytes *bytes, void *value, size_t size)
{
	const void *at = take(bytes, size);

	if (at)
		memcpy(value, at, size);
	return at;
}

/* Takes a length and so many bytes; the text ends at the first zero. */
static bool take_text(struct bytes *bytes, const char **text, size_t *length)
{
	uint32_t size;

	if (!take_into(bytes, &size, sizeof(size)))
		return false;
	*text = take(bytes, size);
	if (!*text)
		return false;
	*length = strnlen(*text, size);
	return true;
}

static int bad(struct perfmon_log *log, const char *what)
{
	return pm_diag_set(&log->diag, -EBADMSG, "the log is damaged: %s", what);
}

static int no_memory(struct perfmon_log *log)
{
	return pm_diag_set(&log->diag, -ENOMEM,
			   "out of memory while reading the head of the log");
}

static int set_text(struct perfmon_log *log, char **to, const char *text, size_t length)
{
	char *copy = strndup(text, length);

	if (!copy)
		return no_memory(log);
	free(*to);
	*to = copy;
	return 0;
}

bool pm_log_has(struct perfmon_log *log, uint64_t offset, uint64_t size)
{
	struct stat st;
	uint64_t end;

	if (__builtin_add_overflow(offset, size, &end))
		return false;
	/* Its writer may have added them since. */
	if (end > log->file_size && !pm_kernel_fstat(log->fd, &st))
		log->file_size = (uint64_t)st.st_size;
	return end <= log->file_size;
}

static int range_check(struct perfmon_log *log, uint64_t offset, uint64_t size)
{
	if (pm_log_has(log, offset, size))
		return 0;
	return pm_diag_set(&log->diag, -EBADMSG,
			   "the log is damaged: it ends at offset %" PRIu64
			   ", before %" PRIu64 " bytes at offset %" PRIu64,
			   log->file_size, size, offset);
}

int pm_log_read_at(struct perfmon_log *log, uint64_t offset, uint64_t size, void *to)
{
	int err = range_check(log, offset, size);
	ssize_t n;

	if (err)
		return err;
	n = pm_file_read_at(log->fd, to, size, offset);
	if (n < 0 || (uint64_t)n < size)
		return pm_diag_set(&log->diag, n < 0 ? (int)n : -EBADMSG,
				   "cannot read the log at offset %" PRIu64 ": %s",
				   n < 0 ? offset : offset + (uint64_t)n,
				   n < 0 ? strerror((int)-n) : "the file became shorter");
	return 0;
}

/* Reads a part of the file into memory, which the caller frees. */
static int read_section(struct perfmon_log *log, const struct pm_log_section *section,
			unsigned char **bytes)
{
	unsigned char *made;
	/* Checked before memory is allocated. */
	int err = range_check(log, section->offset, section->size);

	if (err)
		return err;
	made = malloc(section->size + 1);
	if (!made)
		return no_memory(log);
	err = pm_log_read_at(log, section->offset, section->size, made);
	if (err)
		free(made);
	else
		*bytes = made;
	return err;
}

static int compare_ids(const void *a, const void *b)
{
	const struct pm_log_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t pm_log_event_of(struct perfmon_log *log, uint64_t id)
{
	const struct pm_log_id key = {.id = id}, *found;

	if (!log->id_count)
		return UINT32_MAX;
	if (!log->ids_sorted)
		qsort(log->ids, log->id_count, sizeof(key), compare_ids);
	log->ids_sorted = true;
	found = bsearch(&key, log->ids, log->id_count, sizeof(key), compare_ids);
	return found ? found->event : UINT32_MAX;
}

static int add_ids(struct perfmon_log *log, uint32_t event, const void *ids, size_t count)
{
	if (count > PM_LOG_IDS_LIMIT - log->id_count)
		return bad(log, "too many events");
	if (log->id_count + count > log->id_room) {
		size_t room = log->id_count * 2 + count;
		struct pm_log_id *larger = realloc(log->ids, room * sizeof(larger[0]));

		if (!larger)
			return no_memory(log);
		log->ids = larger;
		log->id_room = room;
	}
	for (size_t i = 0; i < count; i++) {
		struct pm_log_id *to = &log->ids[log->id_count++];

		memcpy(&to->id, (const char *)ids + i * sizeof(to->id), sizeof(to->id));
		to->event = event;
		/* The kernel's own numbers grow, so that there is nothing to sort. */
		log->ids_sorted &= log->id_count == 1 || to[-1].id <= to->id;
	}
	log->sources[event].ids += count;
	return 0;
}

/* Takes an attr, of the version that its size says. */
static int take_attr(struct perfmon_log *log, struct bytes *bytes,
		     struct perf_event_attr *attr)
{
	uint32_t sizes[2]; /* type and size are its first fields */
	size_t size;
	const void *at;

	if (bytes->left < sizeof(sizes))
		return bad(log, "an event is truncated");
	memcpy(sizes, bytes->at, sizeof(sizes));
	size = sizes[1] ? sizes[1] : PERF_ATTR_SIZE_VER0;
	at = size < PERF_ATTR_SIZE_VER0 ? NULL : take(bytes, size);
	if (!at)
		return bad(log, "the size of an event is invalid");
	memset(attr, 0, sizeof(*attr));
	memcpy(attr, at, size < sizeof(*attr) ? size : sizeof(*attr));
	return 0;
}

static int add_source(struct perfmon_log *log, struct bytes *bytes)
{
	struct perf_event_attr attr;
	const struct perf_event_attr *first = &attr;
	bool same_trailers;
	int err = take_attr(log, bytes, &attr);

	if (err)
		return err;
	/* A stream has an event anew for IDs that came later. */
	if (log->count == PM_LOG_IDS_LIMIT)
		return bad(log, "too many events");
	if (!PM_GROW(log->sources, log->count))
		return no_memory(log);
	if (log->count)
		first = &log->sources[0].attr;
	else
		log->identified = log->alike = true;
	same_trailers = attr.sample_id_all == first->sample_id_all;
	log->identified &= same_trailers && attr.sample_type & PERF_SAMPLE_IDENTIFIER;
	log->alike &= same_trailers && attr.sample_type == first->sample_type;
	log->sources[log->count++] = (struct pm_log_source){.attr = attr};
	return 0;
}

static int index_ids(struct perfmon_log *log, uint32_t event,
		     const struct pm_log_section *section)
{
	const uint64_t count = section->size / sizeof(uint64_t);
	unsigned char *ids;
	int err;

	if (section->size % sizeof(uint64_t) || count > PM_LOG_IDS_LIMIT)
		return bad(log, "the size of an event's ID list is invalid");
	err = read_section(log, section, &ids);
	if (err)
		return err;
	err = add_ids(log, event, ids, count);
	free(ids);
	return err;
}

int pm_log_index_attrs(struct perfmon_log *log, const struct pm_log_header *header)
{
	const uint64_t each = header->attr_size;
	struct pm_log_section section;
	unsigned char *attrs;
	int err;

	if (each < PERF_ATTR_SIZE_VER0 + sizeof(section) || each > 65536 ||
	    header->attrs.size % each || header->attrs.size / each > PM_LOG_EVENTS_MAX)
		return bad(log, "the size of the event list is invalid");
	if (!header->attrs.size)
		return bad(log, "the event list is empty");
	err = read_section(log, &header->attrs, &attrs);
	if (err)
		return err;
	log->id_count = 0;
	for (uint32_t event = 0; !err && event < header->attrs.size / each; event++) {
		struct bytes bytes = {attrs + event * each, each - sizeof(section)};

		memcpy(&section, bytes.at + bytes.left, sizeof(section));
		if (event == log->count)
			err = add_source(log, &bytes);
		else
			log->sources[event].ids = 0;
		if (!err && section.size)
			err = index_ids(log, event, &section);
	}
	free(attrs);
	return err;
}

static int index_events(struct perfmon_log *log, struct bytes *bytes)
{
	uint32_t count, size, ids;
	const char *name;
	size_t length;
	int err = 0;

	if (!take_into(bytes, &count, sizeof(count)) ||
	    !take_into(bytes, &size, sizeof(size)))
		return bad(log, "the event names are truncated");
	for (uint32_t i = 0; i < count && !err; i++) {
		const unsigned char *id;
		uint32_t event = count == log->count ? i : UINT32_MAX;
		uint64_t first;

		if (!take(bytes, size) || !take_into(bytes, &ids, sizeof(ids)) ||
		    !take_text(bytes, &name, &length) ||
		    !(id = take(bytes, (uint64_t)ids * sizeof(uint64_t))))
			return bad(log, "the event names are truncated");
		if (event == UINT32_MAX && ids) {
			memcpy(&first, id, sizeof(first));
			event = pm_log_event_of(log, first);
		}
		if (event != UINT32_MAX)
			err = set_text(log, &log->sources[event].name, name, length);
	}
	return err;
}

static int index_command(struct perfmon_log *log, struct bytes *bytes)
{
	struct pm_bytes line = {0};
	size_t length;
	const char *text;
	uint32_t count;

	if (!take_into(bytes, &count, sizeof(count)))
		return bad(log, "the command line is truncated");
	while (count--) {
		if (!take_text(bytes, &text, &length)) {
			pm_bytes_free(&line);
			return bad(log, "the command line is truncated");
		}
		if (line.used)
			pm_bytes_add(&line, " ", 1);
		pm_bytes_add(&line, text, length);
	}
	pm_bytes_add(&line, "", 1);
	if (line.failed) {
		pm_bytes_free(&line);
		return no_memory(log);
	}
	free(log->command);
	log->command = (char *)line.data;
	return 0;
}

static int index_feature(struct perfmon_log *log, uint64_t feature, struct bytes *bytes)
{
	char **const texts[] = {[PM_LOG_HOSTNAME] = &log->host,
				[PM_LOG_OSRELEASE] = &log->release,
				[PM_LOG_VERSION] = &log->writer,
				[PM_LOG_ARCH] = &log->architecture};
	const char *text;
	size_t length;

	switch (feature) {
	case PM_LOG_HOSTNAME:
	case PM_LOG_OSRELEASE:
	case PM_LOG_VERSION:
	case PM_LOG_ARCH:
		if (!take_text(bytes, &text, &length))
			return bad(log, "a text about the machine is truncated");
		return set_text(log, texts[feature], text, length);
	case PM_LOG_NRCPUS:
		/* The number of possible CPUs, and of online CPUs. */
		if (!take(bytes, sizeof(uint32_t)) ||
		    !take_into(bytes, &log->cpus, sizeof(log->cpus)))
			return bad(log, "the number of CPUs is truncated");
		return 0;
	case PM_LOG_CMDLINE:
		return index_command(log, bytes);
	case PM_LOG_EVENT_DESC:
		return index_events(log, bytes);
	default:
		return 0;
	}
}

int pm_log_index_features(struct perfmon_log *log, const struct pm_log_header *header)
{
	/* The reader of the header has checked this for overflow. */
	uint64_t at = header->data.offset + header->data.size;
	struct pm_log_section section;
	unsigned char *bytes;
	int err = 0;

	if (log->growing || log->cut)
		return 0;
	for (unsigned int feature = 0; feature < PM_LOG_FEATURES && !err; feature++) {
		if (!(header->features[feature / 64] >> feature % 64 & 1))
			continue;
		err = pm_log_read_at(log, at, sizeof(section), &section);
		if (err)
			break;
		at += sizeof(section);
		if (!pm_log_has(log, section.offset, section.size))
			return bad(log, "the texts about the machine are truncated");
		if (feature > PM_LOG_EVENT_DESC || section.size > FEATURE_MAX)
			continue;
		err = read_section(log, &section, &bytes);
		if (err)
			break;
		err = index_feature(log, feature, &(struct bytes){bytes, section.size});
		free(bytes);
	}
	return err;
}

static int index_update(struct perfmon_log *log, struct bytes *bytes)
{
	uint64_t kind, id;
	uint32_t event;

	if (!take_into(bytes, &kind, sizeof(kind)) || !take_into(bytes, &id, sizeof(id)))
		return bad(log, "a record about an event is truncated");
	event = kind == PM_LOG_UPDATE_NAME ? pm_log_event_of(log, id) : UINT32_MAX;
	if (event == UINT32_MAX)
		return 0;
	return set_text(log, &log->sources[event].name, (const char *)bytes->at,
			strnlen((const char *)bytes->at, bytes->left));
}

int pm_log_index_record(struct perfmon_log *log, const struct perf_event_header *record)
{
	struct bytes bytes = {(const unsigned char *)(record + 1),
			      record->size - sizeof(*record)};
	uint64_t feature;
	int err;

	switch (record->type) {
	case PM_LOG_RECORD_ATTR:
		err = add_source(log, &bytes);
		err = err
			      ?: add_ids(log, log->count - 1, bytes.at,
					 bytes.left / sizeof(uint64_t));
		return err ?: 2;
	case PM_LOG_RECORD_EVENT_UPDATE:
		return index_update(log, &bytes) ?: 2;
	case PM_LOG_RECORD_FEATURE:
		if (!take_into(&bytes, &feature, sizeof(feature)))
			return bad(log, "a record about the machine is truncated");
		return index_feature(log, feature, &bytes) ?: 2;
	case PM_LOG_RECORD_FINISHED_ROUND:
		return 2;
	default:
		return 1;
	}
}
