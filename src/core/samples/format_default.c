/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The built-in format: samples in memory, one behind the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/samples/format.h"

#define SIZE_DEFAULT ((size_t)65536)
#define KEPT                                                                             \
	(PERFMON_SAMPLE_IP | PERFMON_SAMPLE_TID | PERFMON_SAMPLE_TIME |                  \
	 PERFMON_SAMPLE_CPU)

/* STATE is the format's buffer, which only the library writes. */

static int init(void *argument, const void *data, size_t size, void **state)
{
	struct perfmon_buffer_argument wanted = {.size = sizeof(wanted)};
	struct perfmon_buffer *buffer;

	(void)argument;
	if (data) {
		int err;

		/* The structure begins with its size. */
		if (size < sizeof(size) || memcmp(data, &size, sizeof(size)))
			return -EINVAL;
		err = PM_STRUCT_CHECK(data, perfmon_buffer_argument, 16);
		if (err)
			return err;
		pm_struct_take(&wanted, data, sizeof(wanted));
	}
	if (!wanted.buffer_size)
		wanted.buffer_size = SIZE_DEFAULT;
	if (wanted.buffer_size < PERFMON_BUFFER_MIN ||
	    wanted.buffer_size > PERFMON_BUFFER_MAX)
		return -EINVAL;
	/* Samples are whole words. */
	wanted.buffer_size &= ~(size_t)7;
	buffer = calloc(1, wanted.buffer_size);
	if (!buffer)
		return -ENOMEM;
	buffer->version = PERFMON_BUFFER_VERSION;
	buffer->header_size = sizeof(*buffer);
	buffer->size = wanted.buffer_size;
	*state = buffer;
	return 0;
}

static void count(uint64_t *counter)
{
	/* Relaxed, and not a read-modify-write: there is only one writer. */
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* Notifies the program, once for each time that the buffer is full. */
static int fill_up(struct perfmon_buffer *buffer)
{
	if (buffer->full)
		return PERFMON_FORMAT_CONTINUE;
	__atomic_store_n(&buffer->full, 1, __ATOMIC_RELAXED);
	count(&buffer->fills);
	return PERFMON_FORMAT_NOTIFY;
}

static int sample(void *state, const struct perfmon_overflow_sample *overflow)
{
	const struct perfmon_sample *from = overflow->sample;
	struct perfmon_buffer *buffer = state;
	const uint64_t room = buffer->size - buffer->header_size - buffer->used;
	const uint64_t size = sizeof(struct perfmon_buffer_sample) +
			      overflow->value_count * sizeof(uint64_t);
	struct perfmon_buffer_sample *to;

	if (buffer->full || size > room) {
		count(&buffer->lost);
		return fill_up(buffer);
	}
	to = (void *)((char *)buffer + buffer->header_size + buffer->used);
	*to = (struct perfmon_buffer_sample){
		.size = (uint32_t)size,
		.set = overflow->set,
		.present = from->present & KEPT,
		.pid = from->pid,
		.tid = from->tid,
		.cpu = from->cpu,
		.index = overflow->index,
		.event_id = overflow->event_id,
		.ip = from->ip,
		.time_ns = from->time_ns,
		.last_reset = overflow->last_reset,
		.value_count = overflow->value_count,
	};
	if (overflow->value_count)
		memcpy(to + 1, overflow->values,
		       overflow->value_count * sizeof(uint64_t));
	count(&buffer->count);
	count(&buffer->total);
	/* The sample is complete before it is visible. Pairs with the acquire in
	 * perfmon_buffer_next(). */
	__atomic_store_n(&buffer->used, buffer->used + size, __ATOMIC_RELEASE);
	return size <= room - size ? PERFMON_FORMAT_CONTINUE : fill_up(buffer);
}

static void restart(void *state)
{
	struct perfmon_buffer *buffer = state;

	__atomic_store_n(&buffer->full, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&buffer->count, 0, __ATOMIC_RELAXED);
	/* Pairs with the acquire in perfmon_buffer_next(). */
	__atomic_store_n(&buffer->used, 0, __ATOMIC_RELEASE);
}

static const void *get_buffer(void *state, size_t *size)
{
	const struct perfmon_buffer *buffer = state;

	*size = buffer->size;
	return buffer;
}

const struct perfmon_format pm_format_default = {
	.size = sizeof(struct perfmon_format),
	.name = PERFMON_FORMAT_DEFAULT,
	.init = init,
	.sample = sample,
	.restart = restart,
	.buffer = get_buffer,
	.fini = free,
};

PM_EXPORT const struct perfmon_buffer_sample *
perfmon_buffer_next(const struct perfmon_buffer *buffer,
		    const struct perfmon_buffer_sample *previous)
{
	const char *start = (const char *)buffer + buffer->header_size;
	/* Pairs with the release in sample(). */
	const uint64_t used = __atomic_load_n(&buffer->used, __ATOMIC_ACQUIRE);
	const char *at = previous ? (const char *)previous + previous->size : start;

	/* After a restart, PREVIOUS may be behind the used part. */
	return (uint64_t)(at - start) < used ? (const void *)at : NULL;
}

PM_EXPORT const uint64_t *
perfmon_buffer_values(const struct perfmon_buffer_sample *sample)
{
	return (const uint64_t *)(sample + 1);
}
