/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the parts of a log around its records: header, attrs and features. */
#include <ctype.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/machine_id.h"
#include "core/samples/log_format.h"
#include "core/samples/log_internal.h"
#include "perfmon/version.h"

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

/* A stream's record has at most so many IDs. */
#define IDS_MAX 4096

size_t pm_log_record_begin(struct pm_bytes *bytes, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};
	size_t start = bytes->used;

	pm_bytes_add(bytes, &header, sizeof(header));
	return start;
}

void pm_log_record_end(struct pm_bytes *bytes, size_t start, uint32_t trailer_words)
{
	uint16_t size;

	pm_bytes_align(bytes);
	pm_bytes_grow(bytes, (size_t)trailer_words * 8);
	if (bytes->failed)
		return;
	size = (uint16_t)(bytes->used - start);
	memcpy(bytes->data + start + offsetof(struct perf_event_header, size), &size,
	       sizeof(size));
}

static void add_text(struct pm_bytes *bytes, const char *text)
{
	size_t length = strlen(text) + 1;
	size_t padded =
		(length + PM_LOG_TEXT_ALIGN - 1) & ~(size_t)(PM_LOG_TEXT_ALIGN - 1);

	pm_bytes_add_u32(bytes, (uint32_t)padded);
	pm_bytes_add(bytes, text, length);
	pm_bytes_grow(bytes, padded - length);
}

/* Counts the CPUs of a list such as "0-3,8". */
static uint32_t list_length(const char *path)
{
	uint32_t count = 0;
	char *text, *at;

	if (pm_file_read(path, &text) < 0)
		return 0;
	for (at = text; isdigit((unsigned char)*at);) {
		unsigned long first = strtoul(at, &at, 10), last = first;

		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		if (last >= first)
			count += (uint32_t)(last - first + 1);
		if (*at == ',')
			at++;
	}
	free(text);
	return count;
}

static bool add_command(struct pm_bytes *bytes)
{
	size_t count_at = bytes->used;
	uint32_t count = 0;
	ssize_t length;
	char *text;

	length = pm_file_read("/proc/self/cmdline", &text);
	if (length < 0)
		return false;
	pm_bytes_add_u32(bytes, 0);
	/* More would not fit into a record of a stream. */
	for (char *at = text; at < text + length && bytes->used - count_at < 32768;
	     count++) {
		size_t argument = strnlen(at, (size_t)(text + length - at));

		if (argument > 16384)
			break;
		add_text(bytes, at);
		at += argument + 1;
	}
	free(text);
	if (!bytes->failed)
		memcpy(bytes->data + count_at, &count, sizeof(count));
	return count;
}

static void add_events(const struct pm_log *log, struct pm_bytes *bytes)
{
	pm_bytes_add_u32(bytes, (uint32_t)log->count);
	pm_bytes_add_u32(bytes, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < log->count; i++) {
		const struct pm_log_attr *attr = &log->attrs[i];

		pm_bytes_add(bytes, &attr->attr, sizeof(attr->attr));
		pm_bytes_add_u32(bytes, (uint32_t)attr->id_count);
		add_text(bytes, attr->name);
		pm_bytes_add(bytes, attr->ids, attr->id_count * sizeof(uint64_t));
	}
}

static const char *architecture(void)
{
#if defined(__x86_64__)
	return "x86_64";
#elif defined(__aarch64__)
	return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
	return "riscv64";
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return "ppc64le";
#elif defined(__s390x__)
	return "s390x";
#else
	return NULL;
#endif
}

/* Adds the content of a feature, or returns false if there is none. */
static bool add_feature(const struct pm_log *log, unsigned int feature,
			struct pm_bytes *bytes)
{
	char text[256] = "";

	switch (feature) {
	case PM_LOG_HOSTNAME:
		pm_machine_host(text, sizeof(text));
		add_text(bytes, text);
		return text[0];
	case PM_LOG_OSRELEASE:
		pm_file_text("/proc/sys/kernel/osrelease", text, sizeof(text));
		text[strcspn(text, "\n")] = '\0';
		add_text(bytes, text);
		return text[0];
	case PM_LOG_VERSION:
		add_text(
			bytes,
			"libperfmon " STRING(PERFMON_VERSION_MAJOR) "." STRING(
				PERFMON_VERSION_MINOR) "." STRING(PERFMON_VERSION_PATCH));
		return true;
	case PM_LOG_ARCH:
		if (architecture())
			add_text(bytes, architecture());
		return architecture();
	case PM_LOG_NRCPUS:
		pm_bytes_add_u32(bytes, list_length("/sys/devices/system/cpu/present"));
		pm_bytes_add_u32(bytes, list_length("/sys/devices/system/cpu/online"));
		return true;
	case PM_LOG_CMDLINE:
		return add_command(bytes);
	case PM_LOG_EVENT_DESC:
		add_events(log, bytes);
		return true;
	case PM_LOG_SAMPLE_TIME:
		pm_bytes_add_u64(bytes, log->sample_first_ns);
		pm_bytes_add_u64(bytes, log->sample_last_ns);
		return log->sample_last_ns;
	default:
		return false;
	}
}

/* IDs for which the head has no room are behind the records, if those have an end. */
static void add_file_head(const struct pm_log *log, struct pm_bytes *head,
			  const struct pm_log_header *header, struct pm_bytes *behind,
			  uint64_t behind_offset)
{
	const uint64_t at = sizeof(*header) + header->attrs.size;
	struct pm_bytes room = {0}; /* for the IDs */

	pm_bytes_add(head, header, sizeof(*header));
	for (size_t i = 0; i < log->count; i++) {
		const struct pm_log_attr *attr = &log->attrs[i];
		const bool fits = attr->id_count <= attr->id_room;
		const size_t here = fits ? attr->id_count : attr->id_room;
		struct pm_log_section ids = {at + room.used, here * sizeof(uint64_t)};

		pm_bytes_add(&room, attr->ids, ids.size);
		pm_bytes_grow(&room, (attr->id_room - here) * sizeof(uint64_t));
		if (!fits && behind) {
			ids.offset = behind_offset + behind->used;
			ids.size = attr->id_count * sizeof(uint64_t);
			pm_bytes_add(behind, attr->ids, ids.size);
		}
		pm_bytes_add(head, &attr->attr, sizeof(attr->attr));
		pm_bytes_add(head, &ids, sizeof(ids));
	}
	pm_bytes_add(head, room.data, room.used);
	head->failed |= room.failed;
	pm_bytes_free(&room);
}

void pm_log_attr_records(struct pm_bytes *bytes, const struct pm_log_attr *attr,
			 const uint64_t *ids, size_t count)
{
	size_t done = 0, part;

	do {
		size_t start = pm_log_record_begin(bytes, PM_LOG_RECORD_ATTR, 0);

		part = count - done < IDS_MAX ? count - done : IDS_MAX;
		pm_bytes_add(bytes, &attr->attr, sizeof(attr->attr));
		pm_bytes_add(bytes, ids + done, part * sizeof(uint64_t));
		pm_log_record_end(bytes, start, 0);
		if (!part)
			return;
		start = pm_log_record_begin(bytes, PM_LOG_RECORD_EVENT_UPDATE, 0);
		pm_bytes_add_u64(bytes, PM_LOG_UPDATE_NAME);
		pm_bytes_add_u64(bytes, ids[done]);
		pm_bytes_add(bytes, attr->name, strlen(attr->name) + 1);
		pm_log_record_end(bytes, start, 0);
		done += part;
	} while (done < count);
}

static void add_stream_head(const struct pm_log *log, struct pm_bytes *head)
{
	pm_bytes_add_u64(head, PM_LOG_MAGIC);
	pm_bytes_add_u64(head, PM_LOG_STREAM_HEADER);
	for (size_t i = 0; i < log->count; i++)
		pm_log_attr_records(head, &log->attrs[i], log->attrs[i].ids,
				    log->attrs[i].id_count);
	for (unsigned int feature = 0; feature < PM_LOG_FEATURES; feature++) {
		size_t start = head->used;

		/* The attrs carried the names; the times are not known. */
		if (feature == PM_LOG_EVENT_DESC || feature == PM_LOG_SAMPLE_TIME)
			continue;
		pm_log_record_begin(head, PM_LOG_RECORD_FEATURE, 0);
		pm_bytes_add_u64(head, feature);
		if (add_feature(log, feature, head))
			pm_log_record_end(head, start, 0);
		else
			head->used = start;
	}
}

static struct pm_log_header header_of(const struct pm_log *log, uint64_t data_size)
{
	return (struct pm_log_header){
		.magic = PM_LOG_MAGIC,
		.size = sizeof(struct pm_log_header),
		.attr_size =
			sizeof(struct perf_event_attr) + sizeof(struct pm_log_section),
		.attrs = {sizeof(struct pm_log_header),
			  log->count * (sizeof(struct perf_event_attr) +
					sizeof(struct pm_log_section))},
		.data = {log->data_offset, data_size},
	};
}

void pm_log_head(const struct pm_log *log, struct pm_bytes *head, uint64_t data_size)
{
	struct pm_log_header header = header_of(log, data_size);

	if (log->stream)
		add_stream_head(log, head);
	else
		add_file_head(log, head, &header, NULL, 0);
}

void pm_log_tail(const struct pm_log *log, struct pm_bytes *tail, uint64_t offset,
		 struct pm_bytes *head)
{
	struct pm_log_header header = header_of(log, log->written);
	struct pm_log_section sections[PM_LOG_FEATURES];
	struct pm_bytes contents = {0};
	size_t count = 0;

	for (unsigned int feature = 0; feature < PM_LOG_FEATURES; feature++) {
		size_t start = contents.used;

		if (!add_feature(log, feature, &contents)) {
			contents.used = start;
			continue;
		}
		pm_bytes_align(&contents);
		header.features[feature / 64] |= UINT64_C(1) << feature % 64;
		sections[count++] = (struct pm_log_section){start, contents.used - start};
	}
	for (size_t i = 0; i < count; i++) {
		sections[i].offset += offset + count * sizeof(sections[0]);
		pm_bytes_add(tail, &sections[i], sizeof(sections[i]));
	}
	pm_bytes_add(tail, contents.data, contents.used);
	tail->failed |= contents.failed;
	pm_bytes_free(&contents);
	add_file_head(log, head, &header, tail, offset);
}
