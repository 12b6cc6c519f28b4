/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampling formats in use: what a session does with perfmon/format.h.
 *
 *	pm_format_begin(&use, "default", data, size, diag);	with sampling's set-up
 *	if (pm_format_sample(use, &sample) == PERFMON_FORMAT_NOTIFY)
 *		...mask the session, queue a message...		for each drained sample
 *	pm_format_restart(use);					when it is restarted
 *	pm_format_end(use);					with its end
 *
 * All calls for one use by one thread at a time: hold the session's lock.
 */
#ifndef PM_SAMPLES_FORMAT_H
#define PM_SAMPLES_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "core/text/diag.h"
#include "perfmon/format.h"

struct pm_format_use;

/* A use of the format NAME with the SIZE bytes of DATA. 0; -ENOENT: no such format;
 * -ENOMEM; or what its init gives. The format cannot be unregistered meanwhile. */
int pm_format_begin(struct pm_format_use **use, const char *name, const void *data,
		    size_t size, struct pm_diag *diag);

/* Hands it a sample: PERFMON_FORMAT_CONTINUE or _NOTIFY. SAMPLE->size is set here.
 * Allocates nothing but what the format itself does. */
int pm_format_sample(struct pm_format_use *use, struct perfmon_overflow_sample *sample);

void pm_format_restart(struct pm_format_use *use);
const void *pm_format_buffer(const struct pm_format_use *use, size_t *size);

/* Samples that it was given, and of these the ones that it did not take. */
void pm_format_counts(const struct pm_format_use *use, uint64_t *samples, uint64_t *lost);

/* Ends it (NULL: nothing). */
void pm_format_end(struct pm_format_use *use);

/* The built-in one. */
extern const struct perfmon_format pm_format_default;

#endif
