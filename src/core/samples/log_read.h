/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parts of the log's reader; the interface is perfmon/log.h. */
#ifndef PM_SAMPLES_LOG_READ_H
#define PM_SAMPLES_LOG_READ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/samples/log_format.h"
#include "core/text/diag.h"
#include "perfmon/log.h"

/* A limit for damaged logs. */
#define PM_LOG_IDS_LIMIT ((size_t)1 << 20)

struct pm_log_source {
	struct perf_event_attr attr;
	char *name;
	uint64_t ids;
};

/* An ID and its event. */
struct pm_log_id {
	uint64_t id;
	uint32_t event;
};

struct perfmon_log {
	int fd;
	bool own_fd;
	bool seekable; /* the log can be read at any offset */
	bool growing;  /* a file whose writer has not finished */
	bool cut;      /* a finished file that is shorter than its header says */
	int error;     /* the result of every further call */

	uint64_t file_size;
	uint64_t looked_at; /* the size that the file had at the last look at its head */
	uint64_t data_end;  /* the records' end; UINT64_MAX: the end of the bytes */
	size_t at, used;    /* bytes of the buffer from at to used are not read yet */
	uint64_t position;  /* position of the buffer's `at` in the log */
	uint64_t skip;	    /* bytes from there on that are not records */

	struct pm_log_source *sources;
	uint32_t count;
	struct pm_log_id *ids;
	size_t id_count, id_room;
	bool ids_sorted;
	/* identified: PERF_SAMPLE_IDENTIFIER gives a record's event. alike: the records
	 * of all events have the same layout. */
	bool identified, alike;

	char *host, *release, *architecture, *writer, *command;
	uint32_t cpus;
	struct perfmon_sample sample;
	struct pm_diag diag;
	_Alignas(uint64_t) unsigned char buffer[4 * PM_LOG_RECORD_MAX];
};

/* Returns whether the file has SIZE bytes at OFFSET by now. */
bool pm_log_has(struct perfmon_log *log, uint64_t offset, uint64_t size);

/* Reads SIZE bytes at OFFSET of a file. Returns 0, -EBADMSG if the file is too short, or
 * another error. */
int pm_log_read_at(struct perfmon_log *log, uint64_t offset, uint64_t size, void *to);

/* Reads the head of a file: its attrs, whose IDs are more when they are read again, and its
 * features if its writer has finished. */
int pm_log_index_attrs(struct perfmon_log *log, const struct pm_log_header *header);
int pm_log_index_features(struct perfmon_log *log, const struct pm_log_header *header);

/* Reads a record of perf's own. Returns 1 if it is for the user, too, 2 if it is about events
 * or the machine, or an error. */
int pm_log_index_record(struct perfmon_log *log, const struct perf_event_header *record);

/* Returns the event of an ID, or UINT32_MAX. */
uint32_t pm_log_event_of(struct perfmon_log *log, uint64_t id);

#endif
