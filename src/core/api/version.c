/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "perfmon/version.h"

#include <errno.h>

#include "core/api/export.h"

PM_EXPORT int perfmon_version_number(void)
{
	return PERFMON_VERSION_NUMBER;
}

PM_EXPORT int perfmon_version_check(int compiled)
{
	if (compiled <= 0)
		return -EINVAL;
	return compiled / 10000 == PERFMON_VERSION_MAJOR &&
			       compiled / 100 % 100 <= PERFMON_VERSION_MINOR
		       ? 0
		       : -EOPNOTSUPP;
}
