/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public call that sets from the program what the environment sets. */
#include <errno.h>

#include "core/api/export.h"
#include "core/api/message.h"
#include "core/kernel/kernel.h"
#include "core/regions/threads/state.h"
#include "core/settings/variables.h"
#include "fastpath/fastpath.h"
#include "perfmon/region.h"

/* Under PM_LOCK_REGIONS. The options of a forked child are its parent's. */
static int set(int number, const char *value, struct pm_diag *diag)
{
	if (pm_regions.phase != PM_REGIONS_NEW || pm_regions.options.sample_pages)
		return pm_diag_set(diag, -EBUSY,
				   "a region has been used; configure regions before the "
				   "first one");
	return pm_setting_set(number, value) ? pm_diag_set(diag, -ENOMEM, "out of memory")
					     : 0;
}

PM_EXPORT int perfmon_region_configure(const char *name, const char *value,
				       uint32_t flags, char *message, size_t message_size)
{
	struct pm_diag diag = {0};
	struct pm_still still;
	int result;

	if (!value)
		value = "";
	if (!name)
		result = pm_diag_set(&diag, -EINVAL, "the name is NULL");
	else if (flags)
		result = pm_diag_set(&diag, -EINVAL, "unknown flags 0x%x", flags);
	else
		result = pm_setting_check(name, value, &diag);
	if (result >= 0) {
		pm_kernel_still_begin(&still);
		pm_thread_busy++;
		pm_regions_acquire();
		result = set(result, value, &diag);
		pm_regions_release();
		pm_thread_busy--;
		pm_kernel_still_end(&still);
	}
	pm_message_tell(result ? diag.text : "", message, message_size);
	return result;
}
