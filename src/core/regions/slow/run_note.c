/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notes of the run: those of the environment, and those of the program, which it may give before
 * its first region. */
#include "core/regions/slow/prepare.h"

#include <errno.h>

#include "core/api/export.h"
#include "core/kernel/kernel.h"
#include "core/settings/run_note.h"
#include "perfmon/profile.h"

/* A profile keeps each change. */
#define CHANGES_MOST 1000

/* Under PM_LOCK_REGIONS. A forked child has its parent's, in a profile of its own. */
static struct {
	struct pm_run_notes notes;
	uint32_t changes;
} run;

void pm_regions_run_notes(const char *environment)
{
	struct pm_slice rest = pm_slice_of(environment ?: ""), item, key, value;
	struct pm_run_note *note;

	while (pm_run_note_next(&rest, &item, &key, &value)) {
		note = pm_run_note_set(&run.notes, key, value);
		if (note)
			note->fixed = true;
	}
	for (uint32_t i = 0; i < run.notes.count; i++)
		pm_profile_run_note(&run.notes.at[i]);
}

/* Under PM_LOCK_REGIONS. */
static int set(struct pm_slice key, struct pm_slice value)
{
	const struct pm_run_note *old = pm_run_note_find(&run.notes, key);
	enum pm_regions_phase phase = pm_regions_phase();
	struct pm_run_note *note;

	if (phase == PM_REGIONS_INERT ||
	    (phase == PM_REGIONS_READY && !pm_regions_is_ours()))
		return -EPERM;
	if (old && (old->fixed || pm_slice_is(value, old->value)))
		return 0;
	if (run.changes == CHANGES_MOST)
		return -ENOSPC;
	note = pm_run_note_set(&run.notes, key, value);
	if (!note)
		return -ENOSPC;
	run.changes++;
	return phase == PM_REGIONS_READY ? pm_profile_run_note(note) : 0;
}

PM_EXPORT int perfmon_profile_note(const char *key, const char *value)
{
	struct pm_still still;
	int err;

	if (!key || !value || !pm_run_note_is_good(pm_slice_of(key), pm_slice_of(value)))
		return -EINVAL;
	pm_kernel_still_begin(&still);
	pm_thread_busy++;
	pm_regions_acquire();
	err = set(pm_slice_of(key), pm_slice_of(value));
	pm_regions_release();
	pm_thread_busy--;
	pm_kernel_still_end(&still);
	return err;
}
