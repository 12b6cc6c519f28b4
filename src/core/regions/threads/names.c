/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/names.h"

#include <errno.h>
#include <string.h>

#include "core/profile/profile.h"
#include "core/regions/threads/state.h"

_Static_assert((uint32_t)(PERFMON_REGION_KEY_QUIET_ *PM_KEY_INVERSE) > PM_REGIONS_MAX,
	       "no region has the key of one that is not registered");
_Static_assert((uint32_t)(PERFMON_REGION_KEY_LATER_ *PM_KEY_INVERSE) > PM_REGIONS_MAX,
	       "no region has the key that is reserved");

void pm_region_record_name(const struct perfmon_region *region)
{
	size_t length = strlen(region->name);
	struct perfmon_profile_header *header = pm_profile_header();
	struct perfmon_profile_region *record;

	if (region->key == PM_KEY_LEFT_OUT) {
		PM_ADD(header->left_out_regions, 1);
		return;
	}
	record = pm_profile_reserve(PERFMON_PROFILE_TYPE_REGION,
				    sizeof(*record) + length + 1);
	if (!record)
		return;
	record->id = pm_region_id(region->key);
	record->length = (uint32_t)length;
	memcpy(record->name, region->name, length);
	pm_profile_publish();
	pm_region_record_code(pm_region_id(region->key),
			      pm_registry_code(pm_region_id(region->key)));
}

int pm_region_record_code(uint32_t id, const struct pm_registry_code *code)
{
	struct perfmon_profile_code *record;
	size_t build, path;

	if (!code)
		return 0;
	build = strlen(code->build_id);
	path = strlen(code->path);
	record = pm_profile_reserve(PERFMON_PROFILE_TYPE_CODE,
				    sizeof(*record) + build + path);
	if (!record)
		return -ENOMEM;
	record->region = id;
	record->build_length = (uint32_t)build;
	record->offset = code->offset;
	record->path_length = (uint32_t)path;
	memcpy(record->text, code->build_id, build);
	memcpy(record->text + build, code->path, path);
	pm_profile_publish();
	return 0;
}

struct perfmon_region *pm_region_of_name(const char *name, bool filtered)
{
	struct perfmon_region *region = name ? pm_registry_find(name) : NULL;
	struct pm_still still;

	if (!name || region || !pm_regions_try_lock(&still))
		return region;
	region = pm_registry_find(name);
	if (!region) {
		region = pm_registry_add(
			name,
			filtered && pm_options_leave_out(&pm_regions.options, name));
		if (region)
			pm_region_record_name(region);
	}
	pm_regions_unlock(&still);
	return region;
}

bool pm_region_is_registered(uint64_t key)
{
	uint32_t id = pm_region_id(key);

	return id && PM_REGION_KEY(id) == key && id <= pm_registry_count();
}

void pm_region_note_use(const char *name, uint64_t key)
{
	if (name && key != PM_KEY_LEFT_OUT && !pm_region_is_registered(key))
		pm_regions_note_use(key == PERFMON_REGION_KEY_QUIET_
					    ? PM_REGIONS_QUIET
					    : PM_REGIONS_REPORTED);
}

const char *pm_region_name(const struct perfmon_region *region)
{
	return PM_GET(region->key) == PERFMON_REGION_KEY_LATER_ ? NULL : region->name;
}

uint64_t pm_region_known_key(struct perfmon_region *region)
{
	const char *name = pm_region_name(region);
	uint64_t key = PM_GET(region->key);
	const struct perfmon_region *known;

	if (pm_region_is_registered(key) || key == PM_KEY_LEFT_OUT)
		return key;
	if (!name)
		return 0;
	known = pm_registry_find(name);
	if (!known)
		return 0;
	__atomic_store_n(&region->key, known->key, __ATOMIC_RELAXED);
	return known->key;
}
