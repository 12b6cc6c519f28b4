/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the log's reader share; the interface is perfmon/log.h. */
#ifndef PM_SAMPLES_LOG_READ_H
#define PM_SAMPLES_LOG_READ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/samples/log_format.h"
#include "core/text/diag.h"
#include "perfmon/log.h"

/* No log that makes sense has more. */
#define PM_LOG_IDS_LIMIT ((size_t)1 << 20)

struct pm_log_source {
	struct perf_event_attr attr;
	char *name;
	uint64_t ids;
};

/* An id and whose it is. */
struct pm_log_id {
	uint64_t id;
	uint32_t event;
};

struct perfmon_log {
	int fd;
	bool own_fd;
	bool seekable; /* read by offset */
	bool stream;   /* the form, see log_format.h */
	bool growing;  /* a file that its writer has not finished */
	bool cut;      /* a finished file that is shorter than its header says */
	int error;     /* given by every further call */

	uint64_t file_size;
	uint64_t data_end; /* of the records; UINT64_MAX: where the bytes end */
	unsigned char *buffer;
	size_t at, used;   /* in the buffer: not yet taken from `at` on */
	uint64_t position; /* of the buffer's `at` in the log */
	uint64_t skip;	   /* bytes from there on that are no records */

	struct pm_log_source *sources;
	uint32_t count;
	struct pm_log_id *ids;
	size_t id_count, id_room;
	bool ids_sorted;
	/* All events have these alike, or are told by PERF_SAMPLE_IDENTIFIER. */
	bool identified, alike;

	char *host, *release, *architecture, *writer, *command;
	uint32_t cpus;
	struct perfmon_sample sample;
	struct pm_diag diag;
};

/* Bytes at OFFSET of a file into a new block, one zero more behind them. -EBADMSG: there
 * are not so many. */
int pm_log_bytes(struct perfmon_log *log, uint64_t offset, uint64_t size,
		 unsigned char **bytes);

/* The head of a file that has been recognised: its attrs, and its features. */
int pm_log_index(struct perfmon_log *log, const struct pm_log_header *header);
int pm_log_index_features(struct perfmon_log *log, const struct pm_log_header *header);

/* A record of perf's own that tells of events or of the machine. 0 or an error. */
int pm_log_index_record(struct perfmon_log *log, const struct perf_event_header *record);

/* Takes a record of the kernel's types apart. 0 or an error. */
int pm_log_decode(struct perfmon_log *log, const struct perf_event_header *record,
		  struct perfmon_log_record *out);

/* A record of the program's own, or false: one of old perfs'. */
bool pm_log_decode_user(struct perfmon_log *log, const struct perf_event_header *record,
			struct perfmon_log_record *out);

/* -EBADMSG, with a sentence about RECORD, which is the log's next. */
int pm_log_bad_record(struct perfmon_log *log, const struct perf_event_header *record,
		      const char *what);

/* Whose id this is, or UINT32_MAX. */
uint32_t pm_log_event_of(struct perfmon_log *log, uint64_t id);

#endif
