/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perfmon_region_code(). */
#include <errno.h>
#include <string.h>

#include "core/api/export.h"
#include "core/kernel/kernel.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/registry.h"
#include "core/regions/slow/setup.h"
#include "core/regions/threads/state.h"

static bool is_good(const struct pm_registry_code *code)
{
	size_t path = strnlen(code->path, PERFMON_PROFILE_PATH_MAX + 1);
	size_t build = strnlen(code->build_id, PERFMON_PROFILE_BUILD_ID_MAX + 1);

	return path && path <= PERFMON_PROFILE_PATH_MAX &&
	       build <= PERFMON_PROFILE_BUILD_ID_MAX &&
	       strspn(code->build_id, "0123456789abcdef") == build;
}

static bool is_same(const struct pm_registry_code *a, const struct pm_registry_code *b)
{
	return a->offset == b->offset && !strcmp(a->path, b->path) &&
	       !strcmp(a->build_id, b->build_id);
}

/* Under PM_LOCK_REGIONS. */
static int set(uint32_t id, const struct pm_registry_code *code)
{
	const struct pm_registry_code *old = pm_registry_code(id);
	struct pm_registry_code made = *code;
	int err;

	if (old && (!*old->path || is_same(old, code)))
		return 0;
	if (old)
		made = (struct pm_registry_code){.path = "", .build_id = ""};
	/* What is not in the profile is asked for again. Twice there is no harm. */
	err = pm_region_record_code(id, &made);
	if (!err && !pm_registry_set_code(id, &made))
		err = -ENOMEM;
	return err;
}

static int say(const char *name, const struct pm_registry_code *code)
{
	const struct perfmon_region *region;
	struct pm_still still;
	int err = pm_regions_init();

	if (err)
		return err;
	if (!pm_regions_is_ours())
		return -EPERM;
	region = pm_region_of_name(name, true);
	if (!region)
		return -ENOMEM;
	if (region->key == PM_KEY_LEFT_OUT)
		return 0;
	pm_kernel_still_begin(&still);
	pm_thread_busy++;
	pm_regions_acquire();
	err = set(pm_region_id(region->key), code);
	pm_regions_release();
	pm_thread_busy--;
	pm_kernel_still_end(&still);
	return err;
}

PM_EXPORT int perfmon_region_code(struct perfmon_region *region, const char *path,
				  const char *build_id, uint64_t offset)
{
	const struct pm_registry_code code = {offset, build_id ?: "", path ?: ""};
	const char *name = region ? pm_region_name(region) : NULL;

	return name && is_good(&code) ? say(name, &code) : -EINVAL;
}
