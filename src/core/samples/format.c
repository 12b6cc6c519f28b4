/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/samples/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/export.h"
#include "core/api/export_struct.h"
#include "core/kernel/kernel.h"
#include "core/kernel/locks.h"

/* A registered format; the list is in order of registration. */
struct entry {
	struct entry *next;
	struct perfmon_format format;
	uint64_t uses;
	char name[PERFMON_FORMAT_NAME_MAX + 1];
};

struct pm_format_use {
	struct entry *entry; /* NULL: the built-in one */
	const struct perfmon_format *format;
	void *state;
	uint64_t samples, lost;
};

/* PM_LOCK_FORMATS guards the list. The lock is not held during a call of a format. */
static struct entry *entries;

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
	return strcmp(format->name, PERFMON_FORMAT_DEFAULT) ? 0 : -EEXIST;
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
	if (!strcmp(name, PERFMON_FORMAT_DEFAULT))
		return -EPERM;
	begin_locked(&quiet);
	at = find(name);
	entry = *at;
	if (!entry)
		err = -ENOENT;
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

	pm_diag_add(diag, "; the formats are " PERFMON_FORMAT_DEFAULT);
	begin_locked(&quiet);
	for (const struct entry *entry = entries; entry; entry = entry->next)
		pm_diag_add(diag, ", %s", entry->name);
	end_locked(&quiet);
}

static void release(struct entry *entry)
{
	struct pm_quiet quiet;

	if (!entry)
		return;
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
	made->format = &pm_format_default;
	if (strcmp(name, PERFMON_FORMAT_DEFAULT)) {
		begin_locked(&quiet);
		made->entry = *find(name);
		if (made->entry)
			made->entry->uses++;
		end_locked(&quiet);
		if (!made->entry) {
			free(made);
			pm_diag_set(diag, -ENOENT, "unknown sampling format '%.63s'",
				    name);
			add_names(diag);
			return -ENOENT;
		}
		made->format = &made->entry->format;
	}
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
	if (!use->entry)
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
