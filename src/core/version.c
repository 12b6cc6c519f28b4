/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "perfmon/version.h"
#include "core/export.h"

PM_EXPORT int perfmon_version_number(void)
{
	return PERFMON_VERSION_MAJOR * 10000 + PERFMON_VERSION_MINOR * 100 +
	       PERFMON_VERSION_PATCH;
}
