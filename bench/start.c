/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With START_REGION it has one region, else it does nothing; linked with the library or
 * not. */
#ifdef START_REGION
#include "perfmon/perfmon.h"
#endif

int main(void)
{
#ifdef START_REGION
	PERFMON_REGION_BEGIN("start");
	PERFMON_REGION_END("start");
#endif
	return 0;
}
