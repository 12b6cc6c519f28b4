/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "core/kernel/locks.h"
#include "core/kernel/owned.h"

#define CHUNK ((size_t)64 << 10)

struct pm_regions pm_regions;
__thread int pm_thread_busy __attribute__((tls_model("initial-exec")));

/* A page with MADV_WIPEONFORK: 1 in the process that made it, 0 in any child. */
static uint32_t *life;

void pm_regions_print(const char *format, ...)
{
	char text[1200];
	va_list args;
	int length;

	if (pm_standard_descriptor(STDERR_FILENO) < 0)
		return;
	va_start(args, format);
	length = vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	if (length < 0)
		return;
	if ((size_t)length > sizeof(text) - 2)
		length = sizeof(text) - 2;
	text[length] = '\n';
	pm_kernel_write_quietly(STDERR_FILENO, text, (size_t)length + 1);
}

void pm_regions_acquire(void)
{
	pm_locks_take(PM_LOCK_REGIONS);
}

void pm_regions_release(void)
{
	pm_locks_release(PM_LOCK_REGIONS);
}

bool pm_regions_try_lock(struct pm_still *still)
{
	pm_kernel_still_begin(still);
	if (pm_locks_try(PM_LOCK_REGIONS))
		return true;
	pm_kernel_still_end(still);
	return false;
}

void pm_regions_unlock(const struct pm_still *still)
{
	pm_regions_release();
	pm_kernel_still_end(still);
}

void *pm_regions_take(size_t size)
{
	static char *chunk;
	static size_t left;
	void *memory;

	size = (size + 15) & ~(size_t)15;
	if (size > left) {
		if (pm_kernel_map(&memory, CHUNK))
			return NULL;
		chunk = memory;
		left = CHUNK;
	}
	memory = chunk;
	chunk += size;
	left -= size;
	return memory;
}

void pm_regions_note_once(bool *noted, const char *text)
{
	struct pm_still still;

	if (pm_regions_phase() != PM_REGIONS_READY || !pm_regions_is_ours() ||
	    !pm_regions_try_lock(&still))
		return;
	if (!*noted)
		pm_profile_note(text);
	__atomic_store_n(noted, true, __ATOMIC_RELAXED);
	pm_regions_unlock(&still);
}

/* The release pairs with the acquire in pm_regions_phase(), for callers without the
 * lock. */
void pm_regions_set_phase(enum pm_regions_phase phase)
{
	__atomic_store_n(&pm_regions.phase, phase, __ATOMIC_RELEASE);
}

bool pm_regions_is_ours(void)
{
	return life && __atomic_load_n(life, __ATOMIC_RELAXED);
}

int pm_regions_make_ours(void)
{
	void *page = life;
	int err = page ? 0 : pm_kernel_map_wiped(&page, pm_kernel_page_size());

	if (err)
		return err;
	life = page;
	__atomic_store_n(life, 1, __ATOMIC_RELAXED);
	return 0;
}

void pm_regions_make_inert(void)
{
	pm_regions_set_phase(PM_REGIONS_INERT);
	pm_region_calls_disarm();
}

void pm_regions_note_use(unsigned int use)
{
	if (use & ~__atomic_load_n(&pm_regions.uses, __ATOMIC_RELAXED))
		__atomic_fetch_or(&pm_regions.uses, use, __ATOMIC_RELAXED);
}

bool pm_regions_want_report(void)
{
	const struct pm_options *options = &pm_regions.options;
	bool counted = pm_regions.refused.error ? options->arm : pm_regions.was_armed;
	unsigned int uses = __atomic_load_n(&pm_regions.uses, __ATOMIC_RELAXED);
	/* A process that armed or disarmed and had no region is quiet, too. */
	bool quiet = __atomic_load_n(&pm_regions.silenced, __ATOMIC_RELAXED) ||
		     uses == PM_REGIONS_QUIET || (!uses && !pm_regions.refused.error);

	return counted && options->output != PM_OUTPUT_NONE &&
	       (options->output_asked || !quiet);
}

int pm_regions_snapshot(struct pm_snapshot **out, struct pm_diag *diag)
{
	struct pm_snapshot *quiet;
	int err;

	/* A profile during its creation cannot be read. */
	if (pm_regions_phase() != PM_REGIONS_READY || !pm_regions_is_ours())
		return pm_diag_set(diag, -ENOENT,
				   "this process has not used a region yet");
	if (pm_regions.renew)
		pm_regions.renew();
	err = pm_profile_snapshot(out, diag);
	/* If threads end all the time, a walk may never find a quiet moment. The lock
	 * makes one. */
	if (!err && (*out)->partial && pm_locks_try(PM_LOCK_REGIONS)) {
		int again = pm_profile_snapshot(&quiet, diag);

		pm_regions_release();
		if (!again) {
			pm_snapshot_free(*out);
			*out = quiet;
		}
	}
	return err;
}
