/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampling formats: what becomes of the samples of a session. A format has a name and is
 * given each sample when a counter has overflowed; it answers whether the program is to
 * be notified. There is one that is built in, `default`, which keeps samples in memory
 * until that is full; a program can register its own. (The model is perfmon2's, whose
 * formats are kernel modules: its text of 2008, section 10 a, and its default format.)
 */
#ifndef PERFMON_FORMAT_H
#define PERFMON_FORMAT_H

#include <perfmon/sample.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A format gets this for each overflow. The struct grows at its end. */
struct perfmon_overflow_sample {
	size_t size; /* how much of this the library has filled in */
	const struct perfmon_sample *sample; /* what the kernel noted */
	uint32_t index;			     /* of the counter that overflowed */
	uint16_t set;			     /* its event set */
	uint16_t reserved;
	uint64_t event_id;   /* the program's own for this counter */
	uint64_t last_reset; /* the value that the counter started from */
	/* The counters that are to stand in this counter's samples, by rising index:
	 * their 64-bit values at the overflow. */
	uint64_t value_count;
	const uint64_t *values;
};

/* The answers of a format. */
#define PERFMON_FORMAT_CONTINUE 0 /* go on counting */
#define PERFMON_FORMAT_NOTIFY	1 /* mask the session and queue a message */

/*
 * A format. SIZE and NAME must be there, and SAMPLE; the rest may be NULL. Each session
 * that uses it has its own state. The library never makes two of these calls at once for
 * one state, but makes them in any thread. None of them may call this library on the
 * session it samples.
 */
struct perfmon_format {
	size_t size;	  /* sizeof(struct perfmon_format) */
	const char *name; /* at most PERFMON_FORMAT_NAME_MAX characters */
	void *argument;	  /* given to init */
	/* Makes *STATE for a session, from the SIZE bytes at DATA that its user gave with
	 * the name (NULL and 0 if he gave none). 0, or a negative errno, which he gets.
	 */
	int (*init)(void *argument, const void *data, size_t size, void **state);
	/* Takes one sample, good for the time of this call only: PERFMON_FORMAT_CONTINUE
	 * or _NOTIFY; a negative errno: it was not taken, and is counted as lost. It runs
	 * while samples wait in the kernel, which drops what comes when its buffer is
	 * full. */
	int (*sample)(void *state, const struct perfmon_overflow_sample *sample);
	/* The program has restarted the session after a notification. */
	void (*restart)(void *state);
	/* Memory that the program may read, and how much; NULL: none. */
	const void *(*buffer)(void *state, size_t *size);
	/* The end of STATE. */
	void (*fini)(void *state);
};
#define PERFMON_FORMAT_NAME_MAX 63

/**
 * perfmon_format_register() - makes FORMAT known by its name in this process. What FORMAT
 * points to is copied, but for the argument and the functions, which must stay until it
 * is unregistered. Allocates; any thread.
 *
 * Return: 0, or
 * -EINVAL: a size below the first version's, a name that is empty, too long or not
 *	made of letters, digits, `-`, `_` and `.`, no sample function
 * -E2BIG: something in the tail of a later version
 * -EEXIST: the name is taken
 * -ENOMEM
 */
int perfmon_format_register(const struct perfmon_format *format);

/**
 * perfmon_format_unregister() - forgets the format NAME. Any thread.
 *
 * Return: 0, or
 * -ENOENT: there is none
 * -EBUSY: a session uses it
 * -EPERM: it is built in
 */
int perfmon_format_unregister(const char *name);

/*
 * The default format. Its buffer begins with a struct perfmon_buffer; then follow
 * samples, each a struct perfmon_buffer_sample and the values of its counters, one behind
 * the other. It is full, and the program is notified, when there is no room for one more
 * of the last sample's size. What comes until the session is restarted is lost, and
 * counted. The restart empties the buffer.
 *
 * Who writes what, and under what order:
 *
 *   field                     writer       order for a reader in another thread
 *   used                      the library  acquire: the samples below it are whole
 *   the counts, full          the library  relaxed
 *   the rest of the header    the library  written before the buffer can be had
 *   samples                   the library  covered by `used`; overwritten after a restart
 */
#define PERFMON_FORMAT_DEFAULT "default"

/* A program can pass this with the name. */
struct perfmon_buffer_argument {
	size_t size;	    /* sizeof(struct perfmon_buffer_argument) */
	size_t buffer_size; /* in bytes, its header included; 0: 64 KiB */
};
#define PERFMON_BUFFER_MIN ((size_t)4096)
#define PERFMON_BUFFER_MAX ((size_t)1 << 30)

#define PERFMON_BUFFER_VERSION 1u

struct perfmon_buffer {
	uint32_t version;     /* PERFMON_BUFFER_VERSION */
	uint32_t header_size; /* the first sample stands so many bytes from here */
	uint64_t size;	      /* of the buffer, in bytes */
	uint64_t used;	      /* bytes of samples */
	uint64_t count;	      /* samples in the buffer */
	uint64_t total;	      /* samples since the beginning */
	uint64_t fills;	      /* how often it was full */
	uint64_t lost;	      /* samples that found no room */
	uint64_t full;	      /* 1 until the restart */
};

struct perfmon_buffer_sample {
	uint32_t size; /* in bytes, the values that follow included */
	uint16_t set;
	uint16_t reserved;
	uint64_t present; /* PERFMON_SAMPLE_: which of IP, TID, TIME and CPU are there */
	pid_t pid;
	pid_t tid;
	uint32_t cpu;
	uint32_t index; /* of the counter that overflowed */
	uint64_t event_id;
	uint64_t ip;
	uint64_t time_ns;
	uint64_t last_reset;
	uint64_t value_count; /* so many uint64_t follow */
};

/**
 * perfmon_buffer_next() - the sample behind PREVIOUS (NULL: the first) of the default
 * format's BUFFER; NULL if there is none. Any thread, also a signal handler.
 */
const struct perfmon_buffer_sample *
perfmon_buffer_next(const struct perfmon_buffer *buffer,
		    const struct perfmon_buffer_sample *previous);

/** perfmon_buffer_values() - the `value_count` values of SAMPLE, by rising index of their
 * counters. */
const uint64_t *perfmon_buffer_values(const struct perfmon_buffer_sample *sample);

#ifdef __cplusplus
}
#endif
#endif
