/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the library tells of the machine, of rights and of itself. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/events.h"
#include "core/info.h"
#include "core/instance.h"
#include "machine.h"
#include "perfmon/info.h"
#include "perfmon/version.h"

TestSuite(info, .fini = machine_remove);

/* Row: PC-01 */
Test(info, the_machine_is_described)
{
	struct perfmon_info info = {.size = sizeof(info)};
	struct rlimit files;
	int64_t paranoid;

	cr_assert_eq(perfmon_info_get(&info), 0);
	cr_expect(info.cpu_model[0]);
	cr_expect(info.architecture[0]);
	cr_expect(info.kernel[0]);
	cr_expect_geq(info.cpus, 1);
	cr_expect_leq(info.cpus, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	cr_expect_gt(info.pmus, info.core_pmus);
	cr_expect(!(info.features & ~info.features_known));
	cr_expect(info.features_known & PERFMON_INFO_HARDWARE);
	if (!(info.features & PERFMON_INFO_HARDWARE))
		cr_expect(!(info.features_known & PERFMON_INFO_OVERFLOW),
			  "without a counter nobody knows");
	if (!pm_kernel_file_number("/proc/sys/kernel/perf_event_paranoid", &paranoid))
		cr_expect_eq(info.paranoid, paranoid);
	cr_expect_eq(info.user_allows, pm_info_paranoid_allows(info.paranoid));
	cr_expect_eq(info.user_allows & ~info.allows, 0);
	getrlimit(RLIMIT_NOFILE, &files);
	cr_expect_eq(info.files_soft, files.rlim_cur == RLIM_INFINITY
					      ? PERFMON_INFO_UNLIMITED
					      : files.rlim_cur);
}

Test(info, paranoia_is_translated)
{
	static const struct {
		int level;
		uint32_t allows;
	} levels[] = {{4, 0}, {3, 0}, {2, 1}, {1, 3}, {0, 7}, {-1, 15}};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		cr_expect_eq(pm_info_paranoid_allows(levels[i].level), levels[i].allows,
			     "%d", levels[i].level);
}

Test(info, an_unprivileged_user_is_told_what_the_setting_leaves)
{
	struct perfmon_info info = {.size = sizeof(info)};

	machine_unpack("server");
	tree_write("/proc/self/status",
		   "Name:\tx\nCapEff:\t0000000000000000\nSeccomp:\t2");
	tree_write("/proc/sys/kernel/perf_event_paranoid", "1");
	tree_write("/proc/sys/kernel/perf_event_max_stack", "127");
	tree_write("/proc/sys/kernel/perf_event_mlock_kb", "516");
	cr_assert_eq(perfmon_info_get(&info), 0);
	cr_expect_eq(info.allows, 3);
	cr_expect_eq(info.user_allows, 3);
	cr_expect(info.features & PERFMON_INFO_SECCOMP);
	cr_expect(!(info.features & PERFMON_INFO_PRIVILEGED));
	cr_expect_eq(info.max_stack, 127);
	cr_expect_eq(info.max_sample_rate, -1);
	cr_expect_eq(info.mlock_kb, 516);
	tree_write("/proc/self/status",
		   "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t0");
	cr_assert_eq(perfmon_info_get(&info), 0);
	cr_expect_eq(info.allows, 15);
	cr_expect_eq(info.user_allows, 3);
	cr_expect(info.features & PERFMON_INFO_PRIVILEGED);
	cr_expect(info.packages == 2 && info.cpus == 56 && info.core_pmus == 1,
		  "%u packages, %u CPUs, %u core PMUs", info.packages, info.cpus,
		  info.core_pmus);
}

Test(info, sizes_are_respected)
{
	struct {
		struct perfmon_info info;
		char newer[8];
	} large = {.info.size = sizeof(large), .newer = "newer"};

	cr_expect_eq(perfmon_info_get(NULL), -EINVAL);
	cr_assert_eq(perfmon_info_get(&large.info), 0);
	cr_expect_eq(large.info.size, sizeof(large));
	cr_expect_eq(large.newer[0], 0);
	large.info.size = sizeof(struct perfmon_info) - 1;
	large.info.kernel[0] = '?';
	cr_expect_eq(perfmon_info_get(&large.info), -EINVAL);
	cr_expect_eq(large.info.kernel[0], '?');
}

static int tell(const struct perfmon_pmu_info *pmu, void *argument)
{
	char *text = argument;

	if (pmu->kind != PERFMON_PMU_OTHER)
		snprintf(text + strlen(text), 2000 - strlen(text), "%s %s %u %s; ",
			 pmu->name, pmu->kind == PERFMON_PMU_CORE ? "core" : "uncore",
			 pmu->type, pmu->cpus);
	cr_expect_eq(pmu->size, sizeof(*pmu));
	return 0;
}

static int stop(const struct perfmon_pmu_info *pmu, void *argument)
{
	(void)pmu;
	return ++*(int *)argument == 2 ? 42 : 0;
}

Test(info, each_pmu_is_visited)
{
	char text[2000] = "";
	int visits = 0;

	machine_unpack("hybrid");
	cr_assert_eq(perfmon_info_pmus(tell, text), 0);
	cr_expect_str_eq(text, "cpu_core core 4 0-7; cpu_atom core 10 8-15; "
			       "power uncore 8 0; uncore_imc_free_running_0 uncore 17 0; "
			       "uncore_imc_free_running_1 uncore 18 0; ");
	cr_expect_eq(perfmon_info_pmus(stop, &visits), 42);
	cr_expect_eq(visits, 2);
	cr_expect_eq(perfmon_info_pmus(NULL, NULL), -EINVAL);
}

/* --- counting counters ---------------------------------------------------------------
 * A PMU of software events, of which a hook lets so many into a group.
 */

static int opens, fillers_refused, fits, refusal;

static int few_counters(enum pm_kernel_call call)
{
	if (call != PM_CALL_PERF_EVENT_OPEN)
		return 0;
	opens++;
	if (opens <= fillers_refused)
		return -ENOENT;
	/* found, its width, its overflow, the leader: then the group */
	return opens > fillers_refused + 4 + fits ? refusal : 0;
}

static int keep(const struct perfmon_pmu_info *pmu, void *argument)
{
	if (pmu->kind == PERFMON_PMU_CORE)
		*(struct perfmon_pmu_info *)argument = *pmu;
	return 0;
}

static struct perfmon_pmu_info try_pmu(int counters, int then)
{
	struct perfmon_pmu_info pmu = {0};

	tree_new();
	tree_write("/sys/bus/event_source/devices/cpu/type", "1");
	tree_write("/sys/bus/event_source/devices/cpu/format/event", "config:0-63");
	tree_write("/sys/bus/event_source/devices/cpu/events/sw_incr", "event=9");
	opens = 0;
	fillers_refused = 4; /* perf's generic names, which come before it */
	fits = counters;
	refusal = then;
	pm_kernel_fault = few_counters;
	cr_assert_eq(perfmon_info_pmus(keep, &pmu), 0);
	pm_kernel_fault = NULL;
	tree_remove();
	return pmu;
}

static bool software_opens(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .size = sizeof(attr),
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = pm_kernel_perf_event_open(&attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	else
		cr_log_warn("not shown: a software event gives %s", strerror(-fd));
	return fd >= 0;
}

/* Row: PC-01 */
Test(info, counters_are_counted_by_trying)
{
	struct perfmon_pmu_info pmu;
	DIR *before, *after;
	int held = 0;

	if (!software_opens())
		cr_skip_test("software events do not open here");
	before = opendir("/proc/self/fd");
	while (readdir(before))
		held++;
	closedir(before);
	pmu = try_pmu(6, -EINVAL);
	cr_expect(pmu.capabilities & PERFMON_PMU_OPENS);
	cr_expect_eq(pmu.programmable, 6);
	cr_expect_eq(pmu.fixed, 0);
	cr_expect_eq(pmu.width_bits, -1, "a software event has none");
	/* another limit says nothing of the PMU */
	pmu = try_pmu(6, -EMFILE);
	cr_expect_eq(pmu.programmable, -1);
	cr_expect_eq(pmu.fixed, -1);
	/* nor does a group without end */
	pmu = try_pmu(1000, -EINVAL);
	cr_expect_eq(pmu.programmable, -1);
	/* nothing opens */
	pmu = try_pmu(-4, -EACCES);
	cr_expect_eq(pmu.capabilities, 0);
	cr_expect_eq(pmu.capabilities_known, PERFMON_PMU_OPENS);
	cr_expect_eq(pmu.programmable, -1);
	/* nothing is left open */
	after = opendir("/proc/self/fd");
	while (readdir(after))
		held--;
	closedir(after);
	cr_expect_eq(held, 0);
}

/* Row: PC-01 */
Test(info, the_guests_counters_are_found)
{
	struct perfmon_info info = {.size = sizeof(info)};
	struct perfmon_pmu_info pmu = {0};

	cr_assert_eq(perfmon_info_get(&info), 0);
	if (!(info.features & PERFMON_INFO_HARDWARE))
		cr_skip_test("no hardware event opens here");
	cr_assert_eq(perfmon_info_pmus(keep, &pmu), 0);
	cr_expect_gt(pmu.programmable, 0);
	cr_expect_leq(pmu.programmable, 32);
	cr_expect_geq(pmu.fixed, 0);
	cr_expect(info.features_known & PERFMON_INFO_OVERFLOW);
	if (info.features & PERFMON_INFO_USER_READ) {
		cr_expect(pmu.width_bits >= 32 && pmu.width_bits <= 64, "%d",
			  pmu.width_bits);
		cr_expect(!pmu.fixed || pmu.fixed_width_bits >= 32);
	}
	if (strcmp(info.architecture, "aarch64") || !strstr(info.cpu_model, "0xd07"))
		return;
	/* The machine of scripts/guest: Cortex-A57, by the architecture's manual. */
	cr_expect_eq(pmu.programmable, 6);
	cr_expect_eq(pmu.fixed, 1);
	cr_expect_eq(pmu.width_bits, 32);
	cr_expect_eq(pmu.fixed_width_bits, 64);
	cr_expect(info.features & PERFMON_INFO_OVERFLOW);
}

/* Row: PC-02 */
Test(info, cpu_sets_say_what_they_need)
{
	unsigned long mask[3];
	size_t size = 0;

	machine_unpack("hybrid");
	machine_online("0-2,4-15");
	machine_allow("0-13");
	cr_expect_eq(perfmon_info_cpus(PERFMON_INFO_CPUS_ONLINE, NULL, NULL, &size),
		     -EOVERFLOW);
	cr_expect_eq(size, 8);
	cr_expect_eq(perfmon_info_cpus(PERFMON_INFO_CPUS_ONLINE, NULL, mask, &size), 15);
	cr_expect_eq(mask[0], 0xfff7);
	size = sizeof(mask);
	cr_expect_eq(perfmon_info_cpus(PERFMON_INFO_CPUS_ALLOWED, NULL, mask, &size), 13);
	cr_expect(mask[0] == 0x3ff7 && !mask[1] && !mask[2]);
	/* Row: PC-03 */
	cr_expect_eq(perfmon_info_cpus(PERFMON_INFO_CPUS_FORBIDDEN, NULL, mask, &size),
		     3);
	cr_expect_eq(mask[0], 0xc008);
	cr_expect_eq(
		perfmon_info_cpus(PERFMON_INFO_CPUS_FORBIDDEN, "cpu_atom", mask, &size),
		10);
	cr_expect_eq(mask[0], 0xc0ff);
	cr_expect_eq(perfmon_info_cpus(PERFMON_INFO_CPUS_PMU, "cpu_atom", mask, &size),
		     6);
	cr_expect_eq(mask[0], 0x3f00);
	cr_expect_eq(perfmon_info_cpus(PERFMON_INFO_CPUS_PMU, "power", mask, &size), 1);
	cr_expect_eq(mask[0], 1);
	cr_expect_eq(perfmon_info_cpus(PERFMON_INFO_CPUS_PMU, "cpu_gone", mask, &size),
		     -ENOENT);
	cr_expect_eq(perfmon_info_cpus(9, NULL, mask, &size), -EINVAL);
	cr_expect_eq(perfmon_info_cpus(0, NULL, mask, NULL), -EINVAL);
}

/* Row: HW-12 */
Test(info, the_librarys_own_statistics_move)
{
	struct perfmon_statistics before = {.size = sizeof(before)},
				  after = {.size = sizeof(after)};
	struct pm_instance *instance = calloc(1, pm_instance_size(1));
	struct pm_event_list *list;
	struct perfmon_info info = {.size = sizeof(info)};
	int err;

	cr_assert_eq(perfmon_info_statistics(&before), 0);
	cr_expect_eq(before.events_opened + before.events_refused, 0);
	cr_assert_eq(pm_events_parse("page-faults:u", 0, &list, NULL), 0);
	err = pm_instance_open(instance, list->events, 1, 0, -1, 0, NULL);
	cr_assert_eq(perfmon_info_statistics(&after), 0);
	cr_expect_eq(after.events_opened, err >= 0);
	cr_expect_eq(after.events_refused, err < 0);
	if (err >= 0)
		pm_instance_close(instance);
	pm_events_free(list);
	free(instance);
	cr_assert_eq(perfmon_info_get(&info), 0);
	cr_expect_eq(
		perfmon_info_cpus(PERFMON_INFO_CPUS_ONLINE, NULL, NULL, &(size_t){0}),
		-EOVERFLOW);
	cr_assert_eq(perfmon_info_statistics(&after), 0);
	cr_expect_eq(after.topology_loads, 1);
	after.size = 8;
	cr_expect_eq(perfmon_info_statistics(&after), -EINVAL);
	cr_expect_eq(perfmon_info_statistics(NULL), -EINVAL);
}

/* Row: HW-12 */
Test(info, a_program_can_check_the_version)
{
	cr_expect_eq(perfmon_version_number(), PERFMON_VERSION_NUMBER);
	cr_expect_eq(perfmon_version_check(PERFMON_VERSION_NUMBER), 0);
	cr_expect_eq(perfmon_version_check(PERFMON_VERSION_NUMBER + 99 -
					   PERFMON_VERSION_PATCH),
		     0);
	cr_expect_eq(perfmon_version_check(PERFMON_VERSION_NUMBER + 100), -EOPNOTSUPP);
	cr_expect_eq(perfmon_version_check(PERFMON_VERSION_NUMBER + 10000), -EOPNOTSUPP);
	cr_expect_eq(perfmon_version_check(0), -EINVAL);
	cr_expect_eq(perfmon_version_check(-5), -EINVAL);
}
