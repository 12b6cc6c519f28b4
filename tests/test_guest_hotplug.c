/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A CPU that goes and comes back: in the guest alone (scripts/guest), whose CPUs nobody
 * else needs. By itself in this program, since it disturbs every other test. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/cpuwide/cpuwide.h"
#include "core/text/diag.h"
#include "core/topology/topology.h"
#include "perfmon/info.h"
#include "perfmon/placement.h"
#include "helpers.h"
#include "session_probe.h"
#include "messages.h"

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

/* Tests run beside each other, but a CPU can go for one alone: until its process ends. */
static void take_turns(void)
{
	int fd = open("/guest/sysctl", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		flock(fd, LOCK_EX);
}

TestSuite(guest_hotplug, .init = take_turns, .fini = put_back);

static const char *covered(const char *text)
{
	static char list[64];
	struct perfmon_placement *placement;
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

	cr_assert_geq(
		perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_FORBIDDEN, NULL, mask, &size),
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
	struct perfmon_placement *before;
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
	struct perfmon_placement *placement;
	struct pm_event_list *list;
	struct pm_cpuwide *spread;
	struct pm_cpuwide_sum sum;
	struct pm_diag diag = {0};
	uint64_t before;

	needs_the_guest();
	cr_assert_eq(pm_placement_parse("all", &placement, NULL), 0);
	cr_assert_eq(pm_events_parse("cpu-clock", 0, &list, NULL), 0);
	cr_assert_eq(pm_cpuwide_open(&spread, placement, list, 0, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(pm_cpuwide_start(spread), 0);
	let_time_pass_ms(20);
	cr_assert_eq(pm_cpuwide_read(spread), 0);
	cr_assert_eq(pm_cpuwide_sum(spread, 0, PM_LEVEL_MACHINE, 0, &sum), 0);
	cr_expect(sum.counted == 2 && sum.gone == 0);
	cr_assert_eq(pm_cpuwide_sum(spread, 0, PM_LEVEL_PU, 1, &sum), 0);
	before = sum.reading.value;
	cr_expect_gt(before, 0);

	cr_assert(set_online("0"));
	cr_assert_eq(pm_cpuwide_read(spread), 0);
	cr_assert(set_online("1"));
	let_time_pass_ms(20);
	cr_assert_eq(pm_cpuwide_read(spread), 0);
	cr_assert_eq(pm_cpuwide_sum(spread, 0, PM_LEVEL_PU, 1, &sum), 0);
	cr_expect_eq(sum.gone, 1);
	cr_expect_geq(sum.reading.value, before, "what it had counted is kept");
	cr_assert_eq(pm_cpuwide_sum(spread, 0, PM_LEVEL_MACHINE, 0, &sum), 0);
	cr_expect(sum.counted == 2 && sum.gone == 1);
	pm_cpuwide_close(spread);
	pm_events_free(list);
	pm_placement_free(placement);
}

/* Row: PM-13: the session of a CPU that goes offline is detached at the next call that
 * depends on its state, also if the CPU is back by then; its values stay, and it can be
 * attached again. */
Test(guest_hotplug, the_session_of_a_cpu_that_goes_is_detached)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .scope = PERFMON_SCOPE_CPU};
	int before = open_descriptors();

	needs_the_guest();
	for (int returns = 0; returns < 2; returns++) {
		struct perfmon_session *session;
		uint64_t counted;

		cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
		OK(session, perfmon_session_add_events(session, "cpu-clock,cycles"));
		OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, 1));
		OK(session, perfmon_session_start(session));
		let_time_pass_ms(20);
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
		counted = count_of(session, 0);
		cr_expect_gt(counted, 0);

		cr_assert(set_online("0"));
		if (returns)
			cr_assert(set_online("1"));
		cr_expect_eq(perfmon_session_stop(session), -EINVAL);
		cr_expect(strstr(session_message_of(session), "ended"), "%s",
			  session_message_of(session));
		cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
		cr_expect_eq(open_descriptors(), before);
		cr_expect_geq(count_of(session, 0), counted, "its values stay");
		counted = count_of(session, 0);
		if (!returns) {
			cr_expect_eq(perfmon_session_attach(session,
							    PERFMON_TARGET_KIND_CPU, 1),
				     -ENODEV);
			cr_expect(strstr(session_message_of(session), "offline"));
			cr_expect_eq(perfmon_session_state(session),
				     PERFMON_STATE_DETACHED);
			cr_assert(set_online("1"));
		}
		OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, 1));
		OK(session, perfmon_session_start(session));
		let_time_pass_ms(20);
		cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
		OK(session, perfmon_session_stop(session));
		cr_expect_gt(count_of(session, 0), counted);
		perfmon_session_close(session);
		cr_expect_eq(open_descriptors(), before);
	}
}
