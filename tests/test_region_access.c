/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions while kernel.perf_user_access is 0. In a program of its own: the setting is the
 * whole machine's, and Criterion runs the tests of a program at the same time.
 */
#include "region_probe.h"

#include <fcntl.h>

TestSuite(region_access, .init = probe_quiet, .timeout = 120);

/* N to 3 N instructions. */
static void block(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		__asm__ __volatile__("nop");
}

static int user_access(int value)
{
	int fd = open("/proc/sys/kernel/perf_user_access", O_WRONLY | O_CLOEXEC);
	int ok = fd >= 0 && dprintf(fd, "%d\n", value) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* User reads not granted: read(2) gives the same, and says so. */
Test(region_access, without_user_access_it_is_read_by_calls)
{
	struct probe_values values = {0};
	struct pm_snapshot *s;

	if (access("/proc/sys/kernel/perf_user_access", F_OK))
		cr_skip_test("this kernel has no kernel.perf_user_access");
	if (!user_access(0))
		cr_skip_test("only root may change kernel.perf_user_access");
	setenv("PERFMON_EVENTS", "instructions", 1);
	for (int i = 0; i < 20; i++) {
		PERFMON_REGION_BEGIN("block");
		block(1000000);
		PERFMON_REGION_END("block");
	}
	user_access(1);
	cr_assert_eq(probe_read("block", &values), 0);
	s = probe_take();
	/* What the calls themselves count is known, and too much for a short region. */
	cr_assert_eq(s->counters[0].cost.known, PERFMON_PROFILE_COST_CALL);
	cr_assert_gt(s->counters[0].cost.call_bias, 100);
	cr_assert_lt(s->counters[0].cost.call_bias, 20000);
	/* The page grants reads (cap_user_rdpmc), but its index stays 0: that is known, and
	 * said, from the beginning. */
	cr_assert_eq(s->threads[0].record.status[0],
		     PERFMON_PROFILE_COUNTER_STATUS_SYSCALL);
	cr_assert_eq(probe_node(s, &s->threads[0], "block")->fallback_reads, 20);
	cr_assert_geq(values.sum[0], 20000000);
	cr_assert_leq(values.sum[0], 4 * 20000000);
	cr_assert_eq(values.counted & 1, 1);
	pm_snapshot_free(s);
}
