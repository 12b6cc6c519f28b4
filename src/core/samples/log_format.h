/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The perf.data format, as writer and reader share it. perf documents it in
 * tools/perf/Documentation/perf.data-file-format.txt. It comes in two forms:
 *
 *   file     header, attrs with the ids of their events, records, features. The header
 *            says where each lies: it is written again when their sizes are known
 *   stream   a header of 16 bytes, then nothing but records; attrs and features are
 *            records, too. For pipes, and for files one cannot go back in
 *
 * All numbers have the byte order of the machine that wrote them.
 */
#ifndef PM_SAMPLES_LOG_FORMAT_H
#define PM_SAMPLES_LOG_FORMAT_H

#include <linux/perf_event.h>
#include <stdint.h>

#define PM_LOG_MAGIC	     UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define PM_LOG_MAGIC_SWAPPED UINT64_C(0x50455246494c4532)

/* No log that makes sense has more; and the size of a record has 16 bits. */
#define PM_LOG_EVENTS_MAX 4096
#define PM_LOG_RECORD_MAX 65536

struct pm_log_section {
	uint64_t offset, size;
};

struct pm_log_header {
	uint64_t magic;
	uint64_t size;	    /* of this; 16 in a stream, where it ends here */
	uint64_t attr_size; /* of one entry of the attrs */
	struct pm_log_section attrs;
	struct pm_log_section data; /* size 0: not finished */
	struct pm_log_section event_types;
	uint64_t features[4]; /* a bit for each feature; behind the data there is a
			       * section for each of them in turn */
};
#define PM_LOG_STREAM_HEADER 16

/* Entries of the attrs: the attr, in as many bytes as its size says, and its ids. */

enum pm_log_feature {
	PM_LOG_HOSTNAME = 3,
	PM_LOG_OSRELEASE = 4,
	PM_LOG_VERSION = 5,
	PM_LOG_ARCH = 6,
	PM_LOG_NRCPUS = 7,
	PM_LOG_CMDLINE = 11,
	PM_LOG_EVENT_DESC = 12,
	PM_LOG_SAMPLE_TIME = 21,
	PM_LOG_FEATURES = 256 /* the most that there can be */
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
 * A record of the program's own. perf refuses types that it does not know, but passes
 * over EVENT_TYPE whatever stands in it: once the names of events, it has been out of
 * use since 2013. The mark tells ours from those.
 */
#define PM_LOG_USER_MARK UINT64_C(0x5253554e4d465250) /* "PRFMNUSR" */
struct pm_log_user_record {
	struct perf_event_header header; /* PM_LOG_RECORD_EVENT_TYPE */
	uint64_t mark;
	uint64_t time_ns;
	uint32_t kind; /* the program's */
	uint32_t size; /* of what follows, filled up to a multiple of 8 */
};

#endif
