/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/unmatched.h"

#include <string.h>

#include "core/profile/profile.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/registry.h"
#include "core/regions/threads/state.h"

/* The limit of a name, and of the names around it. */
#define NAME_MOST  128
#define PLACE_MOST 512

/* PM_LOCK_REGIONS guards this. */
static struct {
	struct perfmon_profile_unmatched *at[PERFMON_PROFILE_UNMATCHED_MAX];
	uint32_t count;
} kinds;

/* Appends TEXT to TO, which has USED bytes of SIZE, and returns the new number of bytes.
 * A character that does not fit is left out completely. */
static size_t append(char *to, size_t used, size_t size, const char *text)
{
	const char *begin = text;

	while (*text && used + 1 < size)
		to[used++] = *text++;
	while (*text && text > begin && ((unsigned char)*text & 0xc0) == 0x80) {
		used--;
		text--;
	}
	to[used] = '\0';
	return used;
}

/* Stores the names of the open visits, outermost first. */
static size_t place_of(const struct pm_thread_block *block, const struct pm_frame *frame,
		       char place[PLACE_MOST])
{
	struct pm_frame *at = block ? block->frames : NULL;
	size_t used = 0;

	place[0] = '\0';
	while (block && at != frame) {
		at = pm_frame_at(at, block->frame_size, 1);
		if (pm_key_is_adopted(at->region_key))
			continue;
		if (used)
			used = append(place, used, PLACE_MOST, " > ");
		used = append(place, used, PLACE_MOST,
			      pm_registry_name(pm_region_id(at->region_key)));
	}
	return used;
}

/* TEXT is the name and behind it the place. */
static void count(const char *text, size_t name_length, size_t place_length)
{
	struct perfmon_profile_unmatched *kind;
	size_t length = name_length + place_length;

	for (uint32_t i = 0; i < kinds.count; i++) {
		kind = kinds.at[i];
		if (kind->name_length == name_length &&
		    kind->place_length == place_length &&
		    !memcmp(kind->text, text, length)) {
			PM_ADD(kind->count, 1);
			return;
		}
	}
	if (kinds.count == PERFMON_PROFILE_UNMATCHED_MAX)
		return;
	kind = pm_profile_reserve(PERFMON_PROFILE_TYPE_UNMATCHED, sizeof(*kind) + length);
	if (!kind)
		return;
	kind->count = 1;
	kind->name_length = (uint32_t)name_length;
	kind->place_length = (uint32_t)place_length;
	memcpy(kind->text, text, length);
	kinds.at[kinds.count++] = kind;
	pm_profile_publish();
}

void pm_unmatched_count(const char *name, const struct pm_thread_block *block,
			const struct pm_frame *frame)
{
	char text[NAME_MOST + PLACE_MOST];
	size_t name_length, place_length;
	struct pm_still still;

	if (!name)
		return;
	name_length = append(text, 0, NAME_MOST, name);
	if (!pm_regions_try_lock(&still))
		return;
	place_length = place_of(block, frame, text + name_length);
	count(text, name_length, place_length);
	pm_regions_unlock(&still);
}

void pm_unmatched_forget(void)
{
	kinds.count = 0;
}
