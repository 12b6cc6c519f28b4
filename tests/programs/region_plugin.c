/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that uses regions, to be loaded and unloaded. */
#include <perfmon/perfmon.h>

__attribute__((visibility("default"))) void plugin_work(int inner);

void plugin_work(int inner)
{
	PERFMON_REGION_BEGIN("plugin");
	while (inner--) {
		PERFMON_REGION_SCOPE("plugin's inner");
	}
	PERFMON_REGION_END("plugin");
}

__attribute__((destructor)) static void unload(void)
{
	PERFMON_REGION_BEGIN("unload");
	PERFMON_REGION_END("unload");
}
