/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A CPU that goes and comes back: in the guest alone (scripts/guest), whose CPUs nobody
 * else needs. By itself in this program, since it disturbs every other test. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel.h"
#include "core/placement.h"
#include "core/spread.h"
#include "perfmon/info.h"
#include "perfmon/placement.h"

#define CPU1 "/sys/devices/system/cpu/cpu1/online"

static bool set_online(const char *value)
{
	FILE *file = fopen(CPU1, "w");

	return file && fputs(value, file) >= 0 && !fclose(file);
}

static void put_back(void)
{
	if (!access("/guest/sysctl", F_OK))
		set_online("1");
}

TestSuite(guest_hotplug, .fini = put_back);

static const char *covered(const char *text)
{
	static char list[64];
	struct pm_placement *placement;
	struct pm_diag diag = {0};

	if (pm_placement_parse(text, &placement, &diag))
		snprintf(list, sizeof(list), "%s", strrchr(diag.text, ':') + 2);
	else
		pm_cpus_print(&placement->cpus, list, sizeof(list));
	if (!diag.error)
		pm_placement_free(placement);
	return list;
}

static unsigned long forbidden(void)
{
	unsigned long mask[16] = {0};
	size_t size = sizeof(mask);

	cr_assert_geq(perfmon_info_cpus(PERFMON_INFO_CPUS_FORBIDDEN, NULL, mask, &size),
		      0);
	return mask[0];
}

static void needs_the_guest(void)
{
	if (access("/guest/sysctl", F_OK))
		cr_skip_test("takes a CPU away: only in the guest");
	if (geteuid())
		cr_skip_test("only root takes a CPU away");
	if (access(CPU1, F_OK))
		cr_skip_test("this guest has one CPU");
}

/* Row: PC-03 */
Test(guest_hotplug, a_cpu_that_goes_and_comes_back_is_noticed)
{
	struct pm_placement *before;
	uint32_t cpu;

	needs_the_guest();
	cr_assert_eq(pm_placement_parse("all", &before, NULL), 0);
	cr_expect(pm_cpus_has(&before->cpus, 1));
	cr_expect_eq(forbidden() & 2, 0);

	cr_assert(set_online("0"));
	cr_expect_str_eq(covered("0-1"), "0");
	cr_expect_str_eq(covered("all"), "0");
	cr_expect_str_eq(covered("cpu:1"), "offline (CPUs 1)");
	cr_expect_eq(forbidden(), 2);
	cr_expect_eq(pm_topology_refresh(NULL), 0, "it had been noticed");
	/* what is held is as it was */
	cr_expect(pm_cpus_has(&before->cpus, 1));
	cpu = pm_topology_group_of(before->topology, 1, PM_LEVEL_PU);
	cr_expect_eq(cpu, 1);

	cr_assert(set_online("1"));
	cr_expect_eq(perfmon_placement_refresh(), 1);
	cr_expect_str_eq(covered("cpu:1"), "1");
	cr_expect_str_eq(covered("0-1"), "0-1");
	cr_expect_eq(forbidden() & 2, 0);
	pm_placement_free(before);
}

Test(guest_hotplug, what_a_lost_cpu_counted_is_marked)
{
	struct pm_placement *placement;
	struct pm_event_list *list;
	struct pm_spread *spread;
	struct pm_spread_sum sum;
	struct pm_diag diag = {0};
	uint64_t before;

	needs_the_guest();
	cr_assert_eq(pm_placement_parse("all", &placement, NULL), 0);
	cr_assert_eq(pm_events_parse("cpu-clock", 0, &list, NULL), 0);
	cr_assert_eq(pm_spread_open(&spread, placement, list, 0, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(pm_spread_start(spread), 0);
	usleep(20000);
	cr_assert_eq(pm_spread_read(spread), 0);
	cr_assert_eq(pm_spread_sum(spread, 0, PM_LEVEL_MACHINE, 0, &sum), 0);
	cr_expect(sum.counted == 2 && sum.gone == 0);
	cr_assert_eq(pm_spread_sum(spread, 0, PM_LEVEL_PU, 1, &sum), 0);
	before = sum.reading.value;
	cr_expect_gt(before, 0);

	cr_assert(set_online("0"));
	cr_assert_eq(pm_spread_read(spread), 0);
	cr_assert(set_online("1"));
	usleep(20000);
	cr_assert_eq(pm_spread_read(spread), 0);
	cr_assert_eq(pm_spread_sum(spread, 0, PM_LEVEL_PU, 1, &sum), 0);
	cr_expect_eq(sum.gone, 1);
	cr_expect_geq(sum.reading.value, before, "what it had counted is kept");
	cr_assert_eq(pm_spread_sum(spread, 0, PM_LEVEL_MACHINE, 0, &sum), 0);
	cr_expect(sum.counted == 2 && sum.gone == 1);
	pm_spread_close(spread);
	pm_events_free(list);
	pm_placement_free(placement);
}
