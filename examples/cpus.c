/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts everything on the CPUs of a place for a second, and sums by a level of the
 * machine: cpus [PLACE [LEVEL [EVENTS]]] */
#include <inttypes.h>
#include <perfmon/perfmon.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int print(const struct perfmon_cpuwide_value *value, void *level)
{
	char where[32];

	if (value->group == PERFMON_CPUWIDE_WHOLE)
		snprintf(where, sizeof(where), "all");
	else
		snprintf(where, sizeof(where), "%s:%u", (const char *)level,
			 value->group);
	if (!value->counted)
		printf("%-12s %20s  %s\n", where, "not counted", value->event);
	else if (*value->unit)
		printf("%-12s %20.1f  %s %s\n", where,
		       (double)value->value * value->scale, value->unit, value->event);
	else
		printf("%-12s %20" PRIu64 "  %s\n", where, value->value, value->event);
	/* CPUs on which nothing was counted. */
	if (value->counted && value->missing)
		printf("%-12s %20s  without %u of its CPUs\n", "", "", value->missing);
	if (value->refused || value->gone)
		printf("%-12s %20s  refused: %u, ended with their CPU: %u\n", "", "",
		       value->refused, value->gone);
	if (value->running_ns < value->enabled_ns)
		printf("%-12s %20s  in %.0f %% of the time\n", "", "",
		       100.0 * (double)value->running_ns / (double)value->enabled_ns);
	return 0;
}

int main(int argc, char **argv)
{
	const char *place = argc > 1 ? argv[1] : "all";
	char level[16] = "core";
	const char *events = argc > 3 ? argv[3] : "context-switches,page-faults";
	struct perfmon_placement *placement;
	struct perfmon_cpuwide *cpuwide;
	char why[1000];
	int err;

	if (argc > 2)
		snprintf(level, sizeof(level), "%s", argv[2]);
	if (perfmon_placement_parse(&placement, place, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		return 2;
	}
	err = perfmon_cpuwide_open(&cpuwide, placement, events,
				   PERFMON_CPUWIDE_PARTIAL | PERFMON_CPUWIDE_ALL_MODES,
				   why, sizeof(why));
	if (err)
		fprintf(stderr, "%s\n", why);
	if (err < 0)
		return 1;
	perfmon_cpuwide_start(cpuwide);
	sleep(1);
	perfmon_cpuwide_stop(cpuwide);
	err = perfmon_cpuwide_read(cpuwide, level, 0, print, level);
	if (err)
		fprintf(stderr, "by '%s': %s\n", level, strerror(-err));
	perfmon_cpuwide_close(cpuwide);
	perfmon_placement_free(placement);
	return err != 0;
}
