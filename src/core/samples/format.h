/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampling formats in use: a session uses perfmon/format.h through these calls.
 *
 *   pm_format_begin(&use, "default", data, size, diag);
 *   if (pm_format_sample(use, &sample) == PERFMON_FORMAT_NOTIFY)
 *           ...mask the session, queue a message...
 *   pm_format_restart(use);
 *   pm_format_end(use);
 *
 * The caller holds the session's lock.
 */
#ifndef PM_SAMPLES_FORMAT_H
#define PM_SAMPLES_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "core/text/diag.h"
#include "perfmon/format.h"

struct pm_format_use;

/*
 * Begins a use of the format NAME with the SIZE bytes of DATA. Returns 0, -ENOENT (there
 * is no such format), -ENOMEM, or the result of the format's init. The format cannot be
 * unregistered while it is in use.
 */
int pm_format_begin(struct pm_format_use **use, const char *name, const void *data,
		    size_t size, struct pm_diag *diag);

/* Gives the format a sample and sets SAMPLE->size. Returns PERFMON_FORMAT_CONTINUE or
 * _NOTIFY. Allocates only what the format allocates. */
int pm_format_sample(struct pm_format_use *use, struct perfmon_overflow_sample *sample);

void pm_format_restart(struct pm_format_use *use);
const void *pm_format_buffer(const struct pm_format_use *use, size_t *size);

/*
 * Sets the number of samples that the format got, and how many of them it did not keep.
 */
void pm_format_counts(const struct pm_format_use *use, uint64_t *samples, uint64_t *lost);

/* Ends the use; NULL is accepted. */
void pm_format_end(struct pm_format_use *use);

#endif
