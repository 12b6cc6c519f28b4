/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/samples/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/kernel/kernel.h"
#include "core/kernel/locks.h"

/* The built-in format: samples in memory, one behind the other. STATE is its buffer, which only
 * the library writes. */
#define SIZE_DEFAULT ((size_t)65536)
#define KEPT                                                                             \
	(PERFMON_SAMPLE_IP | PERFMON_SAMPLE_TID | PERFMON_SAMPLE_TIME |                  \
	 PERFMON_SAMPLE_CPU)

static int default_init(void *argument, const void *data, size_t size, void **state)
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

static int default_sample(void *state, const struct perfmon_overflow_sample *overflow)
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

static void default_restart(void *state)
{
	struct perfmon_buffer *buffer = state;

	__atomic_store_n(&buffer->full, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&buffer->count, 0, __ATOMIC_RELAXED);
	/* Pairs with the acquire in perfmon_buffer_next(). */
	__atomic_store_n(&buffer->used, 0, __ATOMIC_RELEASE);
}

static const void *default_buffer(void *state, size_t *size)
{
	const struct perfmon_buffer *buffer = state;

	*size = buffer->size;
	return buffer;
}

/* A registered format; the list is in order of registration. */
struct entry {
	struct entry *next;
	struct perfmon_format format;
	uint64_t uses;
	char name[PERFMON_FORMAT_NAME_MAX + 1];
};

static struct entry built_in = {
	.format = {.size = sizeof(struct perfmon_format),
		   .name = built_in.name,
		   .init = default_init,
		   .sample = default_sample,
		   .restart = default_restart,
		   .buffer = default_buffer,
		   .fini = free},
	.name = PERFMON_FORMAT_DEFAULT,
};

struct pm_format_use {
	struct entry *entry;
	const struct perfmon_format *format; /* that of the entry */
	void *state;
	uint64_t samples, lost;
};

/* PM_LOCK_FORMATS guards the list. The lock is not held during a call of a format. */
static struct entry *entries = &built_in;

static void begin_locked(struct pm_quiet *quiet)
{
	pm_kernel_quiet_begin(quiet);
	pm_locks_take(PM_LOCK_FORMATS);
}

static void end_locked(const struct pm_quiet *quiet)
{
	pm_locks_release(PM_LOCK_FORMATS);
	pm_kernel_quiet_end(quiet);
}

/* Returns the link to the entry NAME, or the link where it belongs. */
static struct entry **find(const char *name)
{
	struct entry **at = &entries;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

static int check(const struct perfmon_format *format)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	int err = PM_STRUCT_CHECK(format, perfmon_format, 64);
	size_t length;

	if (err || !format->name || !format->sample)
		return err ?: -EINVAL;
	length = strnlen(format->name, PERFMON_FORMAT_NAME_MAX + 1);
	if (!length || length > PERFMON_FORMAT_NAME_MAX ||
	    strspn(format->name, allowed) != length)
		return -EINVAL;
	return 0;
}

PM_EXPORT int perfmon_format_register(const struct perfmon_format *format)
{
	struct entry *entry, **at;
	struct pm_quiet quiet;
	int err = check(format);

	if (err)
		return err;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	pm_struct_take(&entry->format, format, sizeof(entry->format));
	strcpy(entry->name, format->name);
	entry->format.name = entry->name;
	begin_locked(&quiet);
	at = find(entry->name);
	if (*at)
		err = -EEXIST;
	else
		*at = entry;
	end_locked(&quiet);
	if (err)
		free(entry);
	return err;
}

PM_EXPORT int perfmon_format_unregister(const char *name)
{
	struct entry *entry, **at;
	struct pm_quiet quiet;
	int err = 0;

	if (!name)
		return -EINVAL;
	begin_locked(&quiet);
	at = find(name);
	entry = *at;
	if (!entry)
		err = -ENOENT;
	else if (entry == &built_in)
		err = -EPERM;
	else if (entry->uses)
		err = -EBUSY;
	else
		*at = entry->next;
	end_locked(&quiet);
	if (!err)
		free(entry);
	return err;
}

/* Adds the names of all formats to the message. */
static void add_names(struct pm_diag *diag)
{
	struct pm_quiet quiet;

	pm_diag_add(diag, "; the formats are %s", built_in.name);
	begin_locked(&quiet);
	for (const struct entry *entry = built_in.next; entry; entry = entry->next)
		pm_diag_add(diag, ", %s", entry->name);
	end_locked(&quiet);
}

static void release(struct entry *entry)
{
	struct pm_quiet quiet;

	begin_locked(&quiet);
	entry->uses--;
	end_locked(&quiet);
}

int pm_format_begin(struct pm_format_use **use, const char *name, const void *data,
		    size_t size, struct pm_diag *diag)
{
	struct pm_format_use *made = calloc(1, sizeof(*made));
	struct pm_quiet quiet;
	int err = 0;

	if (!made)
		return -ENOMEM;
	begin_locked(&quiet);
	made->entry = *find(name);
	if (made->entry)
		made->entry->uses++;
	end_locked(&quiet);
	if (!made->entry) {
		free(made);
		pm_diag_set(diag, -ENOENT, "unknown sampling format '%.63s'", name);
		add_names(diag);
		return -ENOENT;
	}
	made->format = &made->entry->format;
	if (made->format->init)
		err = made->format->init(made->format->argument, data, size,
					 &made->state);
	if (err) {
		/* A positive number breaks the format's contract. */
		err = err < 0 ? err : -EINVAL;
		pm_diag_set(
			diag, err,
			"the sampling format '%s' refused its argument of %zu bytes: %s",
			made->format->name, size, strerror(-err));
		release(made->entry);
		free(made);
		return err;
	}
	*use = made;
	return 0;
}

int pm_format_sample(struct pm_format_use *use, struct perfmon_overflow_sample *sample)
{
	int answer;

	sample->size = sizeof(*sample);
	answer = use->format->sample(use->state, sample);
	use->samples++;
	if (answer < 0)
		use->lost++;
	return answer == PERFMON_FORMAT_NOTIFY ? PERFMON_FORMAT_NOTIFY
					       : PERFMON_FORMAT_CONTINUE;
}

void pm_format_restart(struct pm_format_use *use)
{
	if (use->format->restart)
		use->format->restart(use->state);
}

const void *pm_format_buffer(const struct pm_format_use *use, size_t *size)
{
	size_t found = 0;
	const void *buffer =
		use->format->buffer ? use->format->buffer(use->state, &found) : NULL;

	*size = buffer ? found : 0;
	return buffer;
}

void pm_format_counts(const struct pm_format_use *use, uint64_t *samples, uint64_t *lost)
{
	*samples = use->samples;
	*lost = use->lost;
	/* The built-in format counts losses in its buffer. */
	if (use->entry == &built_in)
		*lost = ((const struct perfmon_buffer *)use->state)->lost;
}

void pm_format_end(struct pm_format_use *use)
{
	if (!use)
		return;
	if (use->format->fini)
		use->format->fini(use->state);
	release(use->entry);
	free(use);
}

PM_EXPORT const struct perfmon_buffer_sample *
perfmon_buffer_next(const struct perfmon_buffer *buffer,
		    const struct perfmon_buffer_sample *previous)
{
	const char *start = (const char *)buffer + buffer->header_size;
	/* Pairs with the release in default_sample(). */
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
