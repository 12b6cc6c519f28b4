/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What perfmon export writes of profiles that have more than sums: export_work EXTRA. "solve" has ten
 * visits of "step", one overlapping visit of "section" over some of these, and one of EXTRA.
 */
#include <perfmon/overlap.h>
#include <perfmon/region.h>

static void work(unsigned long count)
{
	for (volatile unsigned long i = 0; i < count; i++)
		;
}

int main(int argc, char **argv)
{
	struct perfmon_overlap section = {0};

	PERFMON_REGION_BEGIN("solve");
	for (int i = 0; i < 10; i++) {
		if (i == 2)
			perfmon_overlap_begin(&section, "section");
		PERFMON_REGION_BEGIN("step");
		work(100000);
		PERFMON_REGION_END("step");
		if (i == 7)
			perfmon_overlap_end(&section);
	}
	if (argc > 1) {
		perfmon_region_begin_name(argv[1]);
		work(100000);
		perfmon_region_end_name(argv[1]);
	}
	PERFMON_REGION_END("solve");
	return 0;
}
