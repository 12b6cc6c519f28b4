/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Logs: samples and other records of sessions, in the perf.data format. These calls read
 * them, whether this library wrote them or perf record did, from a file that may still
 * grow or from a pipe.
 *
 *	struct perfmon_log *log;
 *	struct perfmon_log_record record = { .size = sizeof(record) };
 *
 *	if (perfmon_log_open(&log, "perf.data", message, sizeof(message)) == 0) {
 *		while (perfmon_log_next(log, &record) > 0)
 *			if (record.type == PERFMON_LOG_TYPE_SAMPLE)
 *				use(record.sample);
 *		perfmon_log_close(log);
 *	}
 *
 * Nothing in a log is trusted: what is cut off, damaged or made up gives an error. Logs
 * of machines of the other byte order are refused. What perf has compressed is given as
 * it is.
 *
 * Threads: one at a time for each log. All calls but perfmon_log_message() may allocate
 * and make system calls; none is for signal handlers.
 */
#ifndef PERFMON_LOG_H
#define PERFMON_LOG_H

#include <perfmon/sample.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perfmon_log;

/* Types of records: the kernel's (PERF_RECORD_ in linux/perf_event.h), of which these are
 * the ones whose fields are taken apart, and perf's own, from 64 upwards. */
enum perfmon_log_type {
	PERFMON_LOG_TYPE_MAP = 1,  /* pid, tid, address, length, offset, name */
	PERFMON_LOG_TYPE_LOST = 2, /* lost */
	PERFMON_LOG_TYPE_NAME = 3, /* pid, tid, name; what an exec(2) or prctl(2) set */
	PERFMON_LOG_TYPE_EXIT = 4, /* pid, tid, parent_pid, parent_tid */
	PERFMON_LOG_TYPE_THROTTLE = 5, /* the kernel holds an event back */
	PERFMON_LOG_TYPE_UNTHROTTLE = 6,
	PERFMON_LOG_TYPE_FORK = 7,   /* as EXIT */
	PERFMON_LOG_TYPE_READ = 8,   /* pid, tid, sample: counts of a thread that ended */
	PERFMON_LOG_TYPE_SAMPLE = 9, /* sample */
	PERFMON_LOG_TYPE_MAP2 = 10,  /* as MAP */
	PERFMON_LOG_TYPE_LOST_SAMPLES = 13, /* lost */
	PERFMON_LOG_TYPE_SWITCH = 14,	  /* PERFMON_LOG_MISC_SWITCH_OUT in misc, or in */
	PERFMON_LOG_TYPE_SWITCH_CPU = 15, /* the same; pid, tid of the other thread */
	PERFMON_LOG_TYPE_USER = 65	  /* user_: the program's own */
};
#define PERFMON_LOG_MISC_SWITCH_OUT 0x2000u /* of `misc` */

/* A field that a type does not have is 0. Grows at its end. */
struct perfmon_log_record {
	size_t size;	/* in: sizeof(struct perfmon_log_record) */
	uint32_t type;	/* enum perfmon_log_type, or another */
	uint32_t misc;	/* flags of the type: PERF_RECORD_MISC_ */
	uint32_t event; /* see perfmon_log_get_event(); UINT32_MAX: none, or not known */
	pid_t pid;
	pid_t tid;
	pid_t parent_pid;
	pid_t parent_tid;
	uint32_t user_kind;
	uint64_t user_size;
	const void *user_data;
	uint64_t address;
	uint64_t length;
	uint64_t offset;
	const char *name;
	uint64_t lost;
	/* A sample; with every other type, whose and when the record is, as far as
	 * `present` says so. NULL: the log does not tell how it is laid out. */
	const struct perfmon_sample *sample;
	uint64_t position; /* in bytes from the log's beginning */
	const void *data;  /* the record as it stands in the log, its header included */
	uint64_t data_size;
};

/**
 * perfmon_log_open() - opens the log at PATH and reads its head.
 *
 * MESSAGE gets one sentence that says what is wrong, or "" on success; it may be NULL
 * with MESSAGE_SIZE 0, and a longer sentence is cut.
 *
 * Return: 0, or
 * - what open(2) and read(2) give
 * -EBADMSG: it is no log, or a damaged one
 * -EOPNOTSUPP: of another byte order, or with fields that this library does not know
 * -ENOMEM
 *
 * *LOG is untouched on failure.
 */
int perfmon_log_open(struct perfmon_log **log, const char *path, char *message,
		     size_t message_size);

/**
 * perfmon_log_open_descriptor() - the same for descriptor FD, which stays the caller's
 * and must stay open: a file, read from its beginning whatever its offset, or a pipe or
 * socket, read from where it is.
 *
 * Return: as perfmon_log_open(), and
 * -EAGAIN: a pipe that does not block has not given the head yet
 */
int perfmon_log_open_descriptor(struct perfmon_log **log, int fd, char *message,
				size_t message_size);

/**
 * perfmon_log_next() - the next record in *RECORD, whose pointers are good until the next
 * call on LOG.
 *
 * Return: 1; 0 when the log has ended; or
 * -EAGAIN: its writer has not finished it, and there is no more for now: ask again later
 * -EINVAL: RECORD's size is smaller than its first version's
 * -E2BIG: RECORD is longer than this library's, and not zero there
 * -EBADMSG: there is no record, or the log was cut off
 * -EOPNOTSUPP: a sample with fields that this library does not know
 * -ENOMEM
 * - what read(2) gives
 *
 * After any other error than -EAGAIN and -EINVAL each call gives it again.
 */
int perfmon_log_next(struct perfmon_log *log, struct perfmon_log_record *record);

/**
 * perfmon_log_message() - copies the sentence about LOG's last error into BUFFER of SIZE
 * bytes; "" if there was none. BUFFER may be NULL with SIZE 0.
 *
 * The length of the whole sentence, as snprintf(3) returns it; -EINVAL: a NULL.
 */
int perfmon_log_message(const struct perfmon_log *log, char *buffer, size_t size);

/* An event of a log. Grows at its end. */
struct perfmon_log_event {
	size_t size;	  /* in: sizeof(struct perfmon_log_event) */
	const char *name; /* "": not known; until the next call on the log */
	uint64_t ids;	  /* how many instances it had */
	/* Its encoding and what was asked of it, as in perf_event_attr. */
	uint32_t type;
	uint32_t frequency; /* 1: sample_period is a frequency in Hz */
	uint64_t config;
	uint64_t sample_period;
	uint64_t sample_type;
	uint64_t read_format;
};

/**
 * perfmon_log_get_event() - what is known of event INDEX, from 0, in *EVENT. A log from a
 * pipe tells its events before their records, but only as it is read.
 *
 * Return: 0, or
 * -EINVAL: a size below the first version's, or there is no such event
 * -E2BIG: EVENT is longer than this library's, and not zero there
 */
int perfmon_log_get_event(struct perfmon_log *log, uint32_t index,
			  struct perfmon_log_event *event);

/* Where a log comes from; "" and 0 for what it does not say. Grows at its end. */
struct perfmon_log_info {
	size_t size;	     /* in: sizeof(struct perfmon_log_info) */
	uint32_t events;     /* how many */
	uint32_t cpus;	     /* that were online */
	const char *host;    /* these belong to the log, until the next call on it */
	const char *release; /* of its kernel */
	const char *architecture;
	const char *writer;  /* who wrote it, with its version */
	const char *command; /* its arguments, with blanks between them */
};

/** perfmon_log_get_info() - the same as for events: as far as LOG was read. 0; -EINVAL;
 * -E2BIG. */
int perfmon_log_get_info(struct perfmon_log *log, struct perfmon_log_info *info);

/** perfmon_log_close() - frees LOG (NULL: does nothing) and closes what it has opened. */
void perfmon_log_close(struct perfmon_log *log);

#ifdef __cplusplus
}
#endif
#endif
