/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the library tells of the machine, of rights and of itself. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/counters/counters.h"
#include "core/events/events.h"
#include "core/info/info.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
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
	cr_expect(info.features_known & PERFMON_INFO_FEATURE_HARDWARE);
	if (!(info.features & PERFMON_INFO_FEATURE_HARDWARE))
		cr_expect(!(info.features_known & PERFMON_INFO_FEATURE_OVERFLOW),
			  "without a counter nobody knows");
	if (!pm_file_number("/proc/sys/kernel/perf_event_paranoid", &paranoid))
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
	cr_expect(info.features & PERFMON_INFO_FEATURE_SECCOMP);
	cr_expect(!(info.features & PERFMON_INFO_FEATURE_PRIVILEGED));
	cr_expect_eq(info.max_stack, 127);
	cr_expect_eq(info.max_sample_rate, -1);
	cr_expect_eq(info.mlock_kb, 516);
	tree_write("/proc/self/status",
		   "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t0");
	cr_assert_eq(perfmon_info_get(&info), 0);
	cr_expect_eq(info.allows, 15);
	cr_expect_eq(info.user_allows, 3);
	cr_expect(info.features & PERFMON_INFO_FEATURE_PRIVILEGED);
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
	cr_expect_eq(perfmon_info_get(&large.info), -E2BIG);
	memset(large.newer, 0, sizeof(large.newer));
	cr_assert_eq(perfmon_info_get(&large.info), 0);
	cr_expect_eq(large.info.size, sizeof(large));
	large.info.size = sizeof(struct perfmon_info) - 1;
	large.info.kernel[0] = '?';
	cr_expect_eq(perfmon_info_get(&large.info), -EINVAL);
	cr_expect_eq(large.info.kernel[0], '?');
}

static int tell(const struct perfmon_pmu_info *pmu, void *argument)
{
	char *text = argument;

	if (pmu->kind != PERFMON_PMU_KIND_OTHER)
		snprintf(text + strlen(text), 2000 - strlen(text), "%s %s %u %s; ",
			 pmu->name,
			 pmu->kind == PERFMON_PMU_KIND_CORE ? "core" : "uncore",
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
	if (pmu->kind == PERFMON_PMU_KIND_CORE)
		*(struct perfmon_pmu_info *)argument = *pmu;
	return 0;
}

struct places {
	uint32_t count, in[3]; /* in each state */
	int32_t numbers[PM_INFO_COUNTERS + PM_INFO_FIXED];
	uint32_t states[PM_INFO_COUNTERS + PM_INFO_FIXED];
	uint32_t fixed;
};

static int add_place(const struct perfmon_info_counter *counter, void *argument)
{
	struct places *places = argument;

	cr_assert_eq(counter->size, sizeof(*counter));
	cr_assert_lt(counter->state, 3);
	places->fixed += counter->event[0] != 0;
	places->numbers[places->count] = counter->number;
	places->states[places->count++] = counter->state;
	places->in[counter->state]++;
	return 0;
}

static struct places places_of(const char *pmu)
{
	struct places places = {0};

	cr_assert_eq(perfmon_info_counters(pmu, add_place, &places), 0);
	cr_expect_eq(places.in[0] + places.in[1] + places.in[2], places.count);
	return places;
}

static void make_pmu(int counters, int then)
{
	tree_new();
	tree_write("/sys/bus/event_source/devices/cpu/type", "1");
	tree_write("/sys/bus/event_source/devices/cpu/format/event", "config:0-63");
	tree_write("/sys/bus/event_source/devices/cpu/events/sw_incr", "event=9");
	opens = 0;
	fillers_refused = 4; /* perf's generic names, which come before it */
	fits = counters;
	refusal = then;
	pm_kernel_fault = few_counters;
}

static void drop_pmu(void)
{
	pm_kernel_fault = NULL;
	tree_remove();
}

static struct perfmon_pmu_info try_pmu(int counters, int then)
{
	struct perfmon_pmu_info pmu = {0};

	make_pmu(counters, then);
	cr_assert_eq(perfmon_info_pmus(keep, &pmu), 0);
	drop_pmu();
	return pmu;
}

/* Whether a software event opens, and what its page says of the width of counters: on
 * x86 that of the core PMU's. */
static bool software_opens(int32_t *width)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY,
				       .size = sizeof(attr),
				       .exclude_kernel = 1,
				       .exclude_hv = 1};
	int fd = pm_kernel_perf_event_open(&attr, 0, -1, -1, 0);

	struct perf_event_mmap_page *page;
	void *memory;

	if (fd < 0) {
		cr_log_warn("not shown: a software event gives %s", strerror(-fd));
		return false;
	}
	*width = -1;
	if (!pm_kernel_mmap(&memory, pm_kernel_page_size(), PROT_READ, MAP_SHARED, fd,
			    0)) {
		page = memory;
		if (page->pmc_width)
			*width = page->pmc_width;
		pm_kernel_munmap(memory, pm_kernel_page_size());
	}
	close(fd);
	return true;
}

/* Row: PC-01 */
Test(info, counters_are_counted_by_trying)
{
	struct perfmon_pmu_info pmu;
	DIR *before, *after;
	int held = 0;
	int32_t width;

	if (!software_opens(&width))
		cr_skip_test("software events do not open here");
	before = opendir("/proc/self/fd");
	while (readdir(before))
		held++;
	closedir(before);
	pmu = try_pmu(6, -EINVAL);
	cr_expect(pmu.capabilities & PERFMON_PMU_CAPABILITY_OPENS);
	cr_expect_eq(pmu.programmable, 6);
	cr_expect_eq(pmu.fixed, 0);
	cr_expect_eq(pmu.width_bits, width, "%d bits, not %d", pmu.width_bits, width);
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
	cr_expect_eq(pmu.capabilities_known, PERFMON_PMU_CAPABILITY_OPENS);
	cr_expect_eq(pmu.programmable, -1);
	/* nothing is left open */
	after = opendir("/proc/self/fd");
	while (readdir(after))
		held--;
	closedir(after);
	cr_expect_eq(held, 0);
}

static int probe_reads, probes_that_count;

/* Then the group, three events that have no counter of their own, and the probes. */
static int few_places(enum pm_kernel_call call)
{
	/* The probes are read when all of them are open. */
	if (call == PM_CALL_READ && opens == fillers_refused + 8 + 2 * fits &&
	    ++probe_reads > probes_that_count)
		return -EAGAIN;
	if (call != PM_CALL_PERF_EVENT_OPEN)
		return 0;
	opens++;
	if (opens <= fillers_refused)
		return -ENOENT;
	return opens > fillers_refused + 4 + fits &&
			       opens <= fillers_refused + 5 + fits + 3
		       ? -EINVAL
		       : 0;
}

/* Row: HW-19 */
Test(info, counters_are_free_or_held_or_disabled)
{
	struct places places;
	int32_t width;

	if (!software_opens(&width))
		cr_skip_test("software events do not open here");
	for (int counting = 0; counting <= 4; counting += 2) {
		make_pmu(4, -EINVAL);
		pm_kernel_fault = few_places;
		probe_reads = 0;
		probes_that_count = counting;
		places = places_of("cpu");
		drop_pmu();
		cr_expect_eq(places.count, 4);
		cr_expect_eq(places.fixed, 0);
		cr_expect_eq(places.in[PERFMON_INFO_COUNTER_STATE_FREE],
			     (uint32_t)counting);
		cr_expect_eq(places.in[PERFMON_INFO_COUNTER_STATE_HELD],
			     counting ? 4 - (uint32_t)counting : 0);
		cr_expect_eq(places.in[PERFMON_INFO_COUNTER_STATE_DISABLED],
			     counting ? 0u : 4u);
	}
	/* What cannot be opened cannot be told. */
	make_pmu(-4, -EACCES);
	cr_expect_eq(perfmon_info_counters("cpu", add_place, &places), -EACCES);
	cr_expect_eq(perfmon_info_counters("gpu", add_place, &places), -ENOENT);
	drop_pmu();
	machine_unpack("hybrid");
	cr_expect_eq(perfmon_info_counters("power", add_place, &places), -EOPNOTSUPP);
	cr_expect_eq(perfmon_info_counters(NULL, add_place, &places), -EINVAL);
	cr_expect_eq(perfmon_info_counters("power", NULL, &places), -EINVAL);
}

static int keep_name(const struct perfmon_pmu_info *pmu, void *argument)
{
	if (pmu->kind != PERFMON_PMU_KIND_CORE)
		return 0;
	snprintf(argument, 64, "%s", pmu->name);
	return 1;
}

/* Row: HW-19: a pinned event, whosever it is, holds a counter. */
Test(info, a_pinned_event_holds_a_counter)
{
	struct perfmon_info info = {.size = sizeof(info)};
	struct perfmon_pmu_info pmu = {0};
	struct pm_event_list *list;
	struct places before, held, after;
	char name[64];
	int fd;

	cr_assert_eq(perfmon_info_get(&info), 0);
	if (!(info.features & PERFMON_INFO_FEATURE_HARDWARE))
		cr_skip_test("no hardware event opens here");
	cr_assert_eq(perfmon_info_pmus(keep_name, name), 1);
	cr_assert_eq(perfmon_info_pmus(keep, &pmu), 0);
	before = places_of(name);
	cr_expect_eq(before.count, (uint32_t)(pmu.programmable + pmu.fixed));
	cr_expect_eq(before.fixed, (uint32_t)pmu.fixed);
	if (before.in[PERFMON_INFO_COUNTER_STATE_FREE] < 2)
		cr_skip_test("something holds all counters but one here");
	cr_assert_eq(pm_events_parse("branches:uD", 0, &list, NULL), 0);
	fd = pm_info_open(&list->events[0].attr, -1, false);
	pm_events_free(list);
	if (fd < 0)
		cr_skip_test("branches do not open here: %s", strerror(-fd));
	held = places_of(name);
	close(fd);
	after = places_of(name);
	cr_expect_eq(held.in[PERFMON_INFO_COUNTER_STATE_FREE],
		     before.in[PERFMON_INFO_COUNTER_STATE_FREE] - 1);
	cr_expect_eq(held.in[PERFMON_INFO_COUNTER_STATE_HELD],
		     before.in[PERFMON_INFO_COUNTER_STATE_HELD] + 1);
	cr_expect_eq(after.in[PERFMON_INFO_COUNTER_STATE_FREE],
		     before.in[PERFMON_INFO_COUNTER_STATE_FREE]);
	/* Numbers, where the pages tell them, are each one's own. */
	for (uint32_t i = 0; i < held.count; i++)
		for (uint32_t k = 0; k < i && held.numbers[i] >= 0; k++)
			cr_expect_neq(held.numbers[i], held.numbers[k]);
}

/* Row: PC-01 */
Test(info, the_guests_counters_are_found)
{
	struct perfmon_info info = {.size = sizeof(info)};
	struct perfmon_pmu_info pmu = {0};

	cr_assert_eq(perfmon_info_get(&info), 0);
	if (!(info.features & PERFMON_INFO_FEATURE_HARDWARE))
		cr_skip_test("no hardware event opens here");
	cr_assert_eq(perfmon_info_pmus(keep, &pmu), 0);
	cr_expect_gt(pmu.programmable, 0);
	cr_expect_leq(pmu.programmable, 32);
	cr_expect_geq(pmu.fixed, 0);
	cr_expect(info.features_known & PERFMON_INFO_FEATURE_OVERFLOW);
	if (info.features & PERFMON_INFO_FEATURE_USER_READ) {
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
	cr_expect(info.features & PERFMON_INFO_FEATURE_OVERFLOW);
}

/* Row: PC-02 */
Test(info, cpu_sets_say_what_they_need)
{
	unsigned long mask[3];
	size_t size = 0;

	machine_unpack("hybrid");
	machine_online("0-2,4-15");
	machine_allow("0-13");
	cr_expect_eq(
		perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_ONLINE, NULL, NULL, &size),
		-EOVERFLOW);
	cr_expect_eq(size, 8);
	cr_expect_eq(
		perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_ONLINE, NULL, mask, &size),
		15);
	cr_expect_eq(mask[0], 0xfff7);
	size = sizeof(mask);
	cr_expect_eq(
		perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_ALLOWED, NULL, mask, &size),
		13);
	cr_expect(mask[0] == 0x3ff7 && !mask[1] && !mask[2]);
	/* Row: PC-03 */
	cr_expect_eq(
		perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_FORBIDDEN, NULL, mask, &size),
		3);
	cr_expect_eq(mask[0], 0xc008);
	cr_expect_eq(perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_FORBIDDEN, "cpu_atom",
					   mask, &size),
		     10);
	cr_expect_eq(mask[0], 0xc0ff);
	cr_expect_eq(
		perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_PMU, "cpu_atom", mask, &size),
		6);
	cr_expect_eq(mask[0], 0x3f00);
	cr_expect_eq(
		perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_PMU, "power", mask, &size), 1);
	cr_expect_eq(mask[0], 1);
	cr_expect_eq(
		perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_PMU, "cpu_gone", mask, &size),
		-ENOENT);
	cr_expect_eq(perfmon_info_get_cpus(9, NULL, mask, &size), -EINVAL);
	cr_expect_eq(perfmon_info_get_cpus(0, NULL, mask, NULL), -EINVAL);
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

	cr_assert_eq(perfmon_info_get_statistics(&before), 0);
	cr_expect_eq(before.events_opened + before.events_refused, 0);
	cr_assert_eq(pm_events_parse("page-faults:u", 0, &list, NULL), 0);
	err = pm_instance_open(instance, list->events, 1, 0, -1, 0, NULL);
	cr_assert_eq(perfmon_info_get_statistics(&after), 0);
	cr_expect_eq(after.events_opened, err >= 0);
	cr_expect_eq(after.events_refused, err < 0);
	if (err >= 0)
		pm_instance_close(instance);
	pm_events_free(list);
	free(instance);
	cr_assert_eq(perfmon_info_get(&info), 0);
	cr_expect_eq(perfmon_info_get_cpus(PERFMON_INFO_CPU_SET_ONLINE, NULL, NULL,
					   &(size_t){0}),
		     -EOVERFLOW);
	cr_assert_eq(perfmon_info_get_statistics(&after), 0);
	cr_expect_eq(after.topology_loads, 1);
	after.size = 8;
	cr_expect_eq(perfmon_info_get_statistics(&after), -EINVAL);
	cr_expect_eq(perfmon_info_get_statistics(NULL), -EINVAL);
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

static int collect(const char *sentence, void *argument)
{
	char *text = argument;

	strcat(strcat(text, sentence), "\n");
	return strstr(sentence, "stop here") ? 7 : 0;
}

Test(info, the_environment_is_checked_for_programs_without_a_report)
{
	char text[4096] = "";

	cr_assert_eq(perfmon_info_environment(collect, text), 0);
	cr_assert_str_empty(text);
	setenv("PERFMON_MIN_PERIOD", "0", 1);
	setenv("PERFMON_SAMPLE_PAGE", "8", 1);
	cr_assert_eq(perfmon_info_environment(collect, text), 0);
	cr_assert(strstr(text, "PERFMON_MIN_PERIOD=\"0\" is below the bound: using 1"),
		  "%s", text);
	cr_assert(strstr(text, "did you mean PERFMON_SAMPLE_PAGES?"), "%s", text);
	setenv("PERFMON_FORMAT", "stop here", 1);
	text[0] = '\0';
	cr_assert_eq(perfmon_info_environment(collect, text), 7);
	cr_assert_eq(perfmon_info_environment(NULL, text), -EINVAL);
}
