/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The perf.data format, for the writer and the reader. perf documents it in
 * tools/perf/Documentation/perf.data-file-format.txt. It has two forms:
 *
 * - file: a header, the attrs with the IDs of their events, records, features. The header
 *   has the place of each, and is written again when their sizes are known.
 * - stream: a header of 16 bytes, then only records; attrs and features are records, too.
 *   It is for pipes, and for files in which one cannot seek.
 *
 * All numbers have the byte order of the machine that wrote them.
 */
#ifndef PM_SAMPLES_LOG_FORMAT_H
#define PM_SAMPLES_LOG_FORMAT_H

#include <linux/perf_event.h>
#include <stdint.h>

#define PM_LOG_MAGIC	     UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define PM_LOG_MAGIC_SWAPPED UINT64_C(0x50455246494c4532)

/* Limits for damaged logs. The size of a record has 16 bits. */
#define PM_LOG_EVENTS_MAX 4096
#define PM_LOG_RECORD_MAX 65536

struct pm_log_section {
	uint64_t offset, size;
};

struct pm_log_header {
	uint64_t magic;
	uint64_t size; /* of this header; 16 in a stream, which has only so much of it */
	uint64_t attr_size; /* of one entry of the attrs */
	struct pm_log_section attrs;
	struct pm_log_section data; /* size 0: not finished */
	struct pm_log_section event_types;
	/* One bit for each feature. Behind the data there is a section for each. */
	uint64_t features[4];
};
#define PM_LOG_STREAM_HEADER 16

/* An entry of the attrs: the attr, whose size it says itself, and its IDs. */

enum pm_log_feature {
	PM_LOG_HOSTNAME = 3,
	PM_LOG_OSRELEASE = 4,
	PM_LOG_VERSION = 5,
	PM_LOG_ARCH = 6,
	PM_LOG_NRCPUS = 7,
	PM_LOG_CMDLINE = 11,
	PM_LOG_EVENT_DESC = 12,
	PM_LOG_SAMPLE_TIME = 21,
	PM_LOG_FEATURES = 256 /* the number of bits */
};
/* Texts are padded with zeros to a multiple of this. */
#define PM_LOG_TEXT_ALIGN 64

/* Records that perf itself makes. */
enum pm_log_record_type {
	PM_LOG_RECORD_ATTR = 64,
	PM_LOG_RECORD_EVENT_TYPE = 65,
	PM_LOG_RECORD_TRACING_DATA = 66,
	PM_LOG_RECORD_FINISHED_ROUND = 68,
	PM_LOG_RECORD_AUXTRACE = 71,
	PM_LOG_RECORD_EVENT_UPDATE = 78,
	PM_LOG_RECORD_FEATURE = 80
};
#define PM_LOG_UPDATE_NAME 2 /* a kind of EVENT_UPDATE */

/*
 * A record of the program's own. perf rejects unknown types, but ignores the content of
 * EVENT_TYPE, which once had the names of events and has been unused since 2013. The mark
 * distinguishes our records from those.
 */
#define PM_LOG_USER_MARK UINT64_C(0x5253554e4d465250) /* "PRFMNUSR" */
struct pm_log_user_record {
	struct perf_event_header header; /* PM_LOG_RECORD_EVENT_TYPE */
	uint64_t mark;
	uint64_t time_ns;
	uint32_t kind; /* the program's */
	uint32_t size; /* of the data behind it, padded to a multiple of 8 */
};

#endif
