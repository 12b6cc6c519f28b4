/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes a log's records by the attr of their event. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/samples/log_read.h"
#include "core/samples/sample.h"

int pm_log_bad_record(struct perfmon_log *log, const struct perf_event_header *record,
		      const char *what)
{
	return pm_diag_set(&log->diag, -EBADMSG,
			   "the log is damaged at %" PRIu64
			   ": a record of type %u and %u bytes %s",
			   log->position, record->type, record->size, what);
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
		*event = pm_log_event_of(log, id);
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

int pm_log_decode(struct perfmon_log *log, const struct perf_event_header *record,
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
		return pm_log_bad_record(log, record,
					 "is too short for the fields of its event");
	if (!take_body(record, body, out))
		return pm_log_bad_record(log, record, "is too short for its type");
	out->sample = attr ? &log->sample : NULL;
	return 1;
}

bool pm_log_decode_user(struct perfmon_log *log, const struct perf_event_header *record,
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
