/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places: what a text selects on recorded machines and on this one, and what adds up to
 * what. Row: DC-05 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "core/topology/topology.h"
#include "machine.h"
#include "perfmon/placement.h"

TestSuite(placement, .fini = machine_remove);

static char listed[256];

static const char *list_of(const struct pm_cpus *cpus)
{
	return pm_cpus_print(cpus, listed, sizeof(listed));
}

static struct perfmon_placement *place(const char *text)
{
	struct perfmon_placement *placement = NULL;
	struct pm_diag diag = {0};
	int err = pm_placement_parse(text, &placement, &diag);

	cr_assert_eq(err, 0, "'%s': %d: %s", text, err, diag.text);
	return placement;
}

static void covers(const char *text, const char *expected)
{
	struct perfmon_placement *placement = place(text);

	cr_expect_str_eq(list_of(&placement->cpus), expected, "'%s' is %s, not %s", text,
			 listed, expected);
	pm_placement_free(placement);
}

static void fails(int error, const char *text, const char *part, const char *because)
{
	struct perfmon_placement *placement = NULL;
	struct pm_diag diag = {0};

	cr_expect_eq(pm_placement_parse(text, &placement, &diag), error, "'%s': %s", text,
		     diag.text);
	cr_expect_null(placement);
	cr_expect(strstr(diag.text, part), "'%s': '%s' lacks '%s'", text, diag.text,
		  part);
	cr_expect(strstr(diag.text, because), "'%s': '%s' lacks '%s'", text, diag.text,
		  because);
}

Test(placement, words_select_by_logical_number)
{
	machine_unpack("server");
	covers("all", "0-55");
	covers("ALL", "0-55");
	covers("machine", "0-55");
	covers("package:1", "28-55");
	covers("socket:0", "0-27");
	covers("Package:0,1", "0-55");
	covers("numa:1", "28-55");
	covers("node:0", "0-27");
	covers("numa:1.core:0-3", "28-31");
	covers("package:0-1.core:0", "0,28");
	covers("package.core:27", "27,55");
	covers("package:all.core:1", "1,29");
	covers("package:1.l3:0.core:0,2", "28,30");
	covers("pu:5,7", "5,7");
	covers("l3:0", "0-27");
	covers("core:all", "0-55");
	covers("core", "0-55");
	covers("package:1.cpu:30-31,5", "30-31");
}

Test(placement, logical_numbers_are_not_the_kernels)
{
	/* CPUs counted across the packages, as firmware likes to. */
	tree_new();
	machine_object("topology package 0 0,2,4,6");
	machine_object("topology package 1 1,3,5,7");
	machine_object("topology core 0 0");
	machine_object("topology core 1 2");
	machine_object("topology core 2 4");
	machine_object("topology core 3 6");
	machine_object("topology core 4 1");
	machine_object("topology core 5 3");
	machine_object("topology core 6 5");
	machine_object("topology core 7 7");
	setenv("HWLOC_FSROOT", tree_root, 1);
	machine_online("0-7");
	covers("package:1", "1,3,5,7");
	covers("pu:0-3", "0,2,4,6");
	covers("cpu:0-3", "0-3");
	covers("0-3", "0-3");
	covers("package:1.pu:1", "3");
	covers("package:1.core:0-1", "1,3");
	/* partly there */
	covers("pu:6-9", "5,7");
}

Test(placement, dies_and_clusters_are_levels)
{
	tree_new();
	machine_object("topology package 0/8 0-15");
	machine_object("topology die 0/4 0-7");
	machine_object("topology die 0/4 8-15");
	machine_object("topology cluster 0/2 0-15");
	machine_object("topology core 0/1 0-15");
	setenv("HWLOC_FSROOT", tree_root, 1);
	machine_online("0-15");
	covers("die:1", "4-7");
	covers("package:1.die:1", "12-15");
	covers("group:3", "6-7");
	covers("package:1.die:0.cluster:1", "10-11");
	fails(-ENODEV, "l3:0", "'l3:0'", "no level 'l3'; it has pu, core, group, ");
}

Test(placement, parts_are_joined)
{
	machine_unpack("server");
	covers("package:0+package:1", "0-55");
	covers("pu:3 + pu:4", "3-4");
	covers(" pu:3   pu:4\t5 ", "3-5");
	covers("core:0-3+2-5", "0-5");
	covers("0x3+cpu:8", "0-1,8");
}

Test(placement, lists_and_masks_are_the_kernels_numbers)
{
	machine_unpack("server");
	covers("0-3,8", "0-3,8");
	covers("7", "7");
	covers("0x0000000f", "0-3");
	covers("0XF", "0-3");
	covers("0x1,,0x3", "0-1"); /* 64 is absent */
	covers("0x1,0x80000001", "0,31-32");
	covers("0x8,", "35");
	covers("0x00ff000000000000", "48-55"); /* one word of any length */
	covers("50-200", "50-55");
}

Test(placement, mistakes_are_quoted_with_their_place)
{
	machine_unpack("server");
	fails(-EINVAL, "", "empty place", "'all'");
	fails(-EINVAL, " ", "empty place", "'all'");
	fails(-EINVAL, "pakage:0", "'pakage:0' at character 1",
	      "not one of all, cpu, pu");
	fails(-EINVAL, "numa:1.cores:0", "'cores:0' at character 8", "'cores'");
	fails(-EINVAL, "core:x", "'x' at character 6", "numbers such as 0-3,8");
	fails(-EINVAL, "core:", "'core:' at character 1", "numbers");
	fails(-EINVAL, "core:3-1", "'3-1' at character 6", "numbers");
	fails(-EINVAL, "core:1,,2", "'core:1,,2' at character 1", "numbers");
	fails(-EINVAL, "package:0,core:1", "'core:1' at character 11", "'+' joins parts");
	fails(-EINVAL, "0-3,", "'0-3,'", "CPU numbers");
	fails(-EINVAL, "4x", "'4x'", "CPU numbers");
	fails(-EINVAL, "-1", "'-1'", "not one of");
	fails(-EINVAL, "all.core:0", "'all'", "not one of");
	fails(-EINVAL, "core:0.", "'core:0.'", "'' is not one of");
	fails(-EINVAL, "pu:1+", "'+' at character 5", "no place after");
	fails(-EINVAL, "+pu:1", "'+' at character 1", "no place before");
	fails(-EINVAL, "pu:1++pu:2", "'+' at character 6", "no place before");
	fails(-EINVAL, "0x", "'0x'", "hexadecimal");
	fails(-EINVAL, "0xfg", "'0xfg'", "'g' is not a hexadecimal digit");
	fails(-EINVAL, "0x1,3", "'3' at character 5", "hexadecimal");
	fails(-EINVAL, "0x1,0x123456789", "'0x123456789'", "at most 8 digits");
	fails(-ERANGE, "0-9999999", "'0-9999999'", "1048575");
	fails(-ERANGE, "core:99999999999999999999", "'99999999999999999999'", "1048575");
	fails(-EINVAL, "core.core.core.core.core.core.core.core.core", "at character 41",
	      "more than 8 levels");
	fails(-ENODEV, "package:2", "'package:2' at character 1",
	      "has 2 of level 'package'");
	fails(-ENODEV, "pu:1+package:1.core:28-30", "'core:28-30' at character 16",
	      "28 of level 'core'");
	fails(-ENODEV, "core:0.package:0", "'package:0' at character 8",
	      "0 of level 'package'");
	fails(-ENODEV, "die:0", "'die:0'", "no level 'die'; it has pu, core, l1, l3");
	fails(-ENODEV, "64-70", "'64-70'", "this machine's CPUs are 0-55");
	fails(-ENODEV, "0x0", "'0x0'", "has no CPU");
	fails(-ENODEV, "package:1.cpu:3", "'cpu:3' at character 11", "no such CPU");
}

Test(placement, a_long_text_is_refused_and_a_strange_one_harmless)
{
	char *text = malloc(PM_PLACEMENT_TEXT_MAX + 2);
	uint64_t seed = 88172645463325252u;

	machine_unpack("biglittle");
	memset(text, '1', PM_PLACEMENT_TEXT_MAX + 1);
	text[PM_PLACEMENT_TEXT_MAX + 1] = '\0';
	fails(-E2BIG, text, "111", "longer than 4096");
	for (int round = 0; round < 3000; round++) {
		static const char letters[] = "0123x,,--..::++ allpucorenumal3";
		struct perfmon_placement *placement = NULL;
		struct pm_diag diag = {0};
		int length, err;

		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		length = (int)(seed % 24);
		for (int i = 0; i < length; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			text[i] = letters[seed % (sizeof(letters) - 1)];
		}
		text[length] = '\0';
		err = pm_placement_parse(text, &placement, &diag);
		cr_assert((err == 0) == (placement != NULL), "%s", text);
		cr_assert(!err || diag.text[0], "%s", text);
		cr_assert(err || pm_cpus_next(&placement->cpus, 0) >= 0, "%s", text);
		pm_placement_free(placement);
	}
	free(text);
}

Test(placement, what_is_offline_is_left_out)
{
	struct perfmon_placement *placement, *before;

	machine_unpack("server");
	before = place("package:0");
	machine_online("0-1,4-55");
	/* noticed without a refresh; what is held stays */
	placement = place("0-5");
	cr_expect_str_eq(list_of(&placement->cpus), "0-1,4-5");
	cr_expect_str_eq(list_of(&placement->dropped), "2-3");
	cr_expect_str_eq(list_of(&before->cpus), "0-27");
	pm_placement_free(before);
	pm_placement_free(placement);
	covers("package:0", "0-1,4-27");
	fails(-ENODEV, "pu:1 + 2-3", "'2-3' at character 8", "offline (CPUs 2-3)");
	cr_expect_eq(pm_topology_refresh(NULL), 0);
	machine_online("0-55");
	cr_expect_eq(pm_topology_refresh(NULL), 1);
	covers("0-5", "0-5");
}

Test(placement, what_a_cgroup_forbids_is_left_out_and_keeps_its_number)
{
	struct perfmon_placement *placement;

	machine_unpack("server");
	machine_allow("26-31");
	placement = place("package:0");
	cr_expect_str_eq(list_of(&placement->cpus), "26-27");
	cr_expect_str_eq(list_of(&placement->dropped), "0-25");
	pm_placement_free(placement);
	covers("all", "26-31");
	covers("core:27-30", "27-30");
	fails(-ENODEV, "core:0-3", "'core:0-3'",
	      "may not run on CPUs 0-3 (the cgroup allows 26-31)");
	machine_allow("0-3");
	covers("core:28", "28"); /* nobody looked */
	cr_expect_eq(pm_topology_refresh(NULL), 1);
	covers("core:0-3", "0-3");
}

/* Where EVENT is opened for PLACE, where not, and at which level each value is known. */
static void targets(const char *where, const char *event, const char *open,
		    const char *forbidden, const char *unit)
{
	struct perfmon_placement *placement = place(where);
	struct pm_targets found = {0};
	struct pm_event_list *list;
	struct pm_diag diag = {0};
	int count;

	cr_assert_eq(pm_events_parse(event, 0, &list, &diag), 0, "%s", diag.text);
	count = pm_placement_targets(placement, &list->events[0], &found, &diag);
	cr_assert_geq(count, 0, "%s", diag.text);
	cr_expect_str_eq(list_of(&found.open), open, "%s on %s opens on %s", event, where,
			 listed);
	cr_expect_eq((unsigned int)count, pm_cpus_count(&found.open));
	cr_expect_str_eq(list_of(&found.forbidden), forbidden, "%s on %s forbids %s",
			 event, where, listed);
	cr_expect_eq(found.uncore, *unit != '\0');
	if (*unit)
		cr_expect_str_eq(pm_level_name(found.unit), unit, "%s", event);
	pm_targets_free(&found);
	pm_events_free(list);
	pm_placement_free(placement);
}

/* Row: PC-03 */
Test(placement, an_event_is_opened_where_its_pmu_is_and_nowhere_else)
{
	machine_unpack("hybrid");
	targets("all", "cpu_core/slots/", "0-7", "8-15", "");
	targets("all", "cpu_atom/cycles/", "8-15", "0-7", "");
	targets("core:0", "cpu_atom/cycles/", "none", "0-1", "");
	targets("l2:4", "cpu_atom/cycles/", "8-11", "none", "");
	targets("6-9", "cpu_core/cycles/", "6-7", "8-9", "");
	targets("all", "task-clock", "0-15", "none", "");
	targets("12", "msr/tsc/", "12", "none", "");
	/* the CPUs that it counts for are those of its package */
	targets("12", "power/energy-pkg/", "0", "none", "package");
	targets("all", "power/energy-pkg/", "0", "none", "package");
}

Test(placement, uncore_events_are_opened_on_the_agents_of_what_is_covered)
{
	machine_unpack("server");
	targets("all", "uncore_imc_0/clockticks/", "0,28", "none", "package");
	targets("package:1", "uncore_imc_0/clockticks/", "28", "none", "package");
	targets("core:3-4", "uncore_imc_0/clockticks/", "0", "none", "package");
	targets("pu:27-28", "uncore_imc_0/clockticks/", "0,28", "none", "package");
	/* an agent is asked although the process may not run there */
	machine_allow("4-5");
	pm_topology_refresh(NULL);
	targets("all", "uncore_imc_0/clockticks/", "0", "none", "package");
	targets("all", "task-clock", "4-5", "none", "");
}

Test(placement, the_agents_tell_what_they_are_agents_of)
{
	/* one in each cluster says which CPUs; one in each die doesn't */
	machine_unpack("biglittle");
	tree_write("/sys/bus/event_source/devices/arm_dsu_0/associated_cpus", "0-3");
	targets("all", "arm_dsu_0/cycles/", "0", "4-5", "package");
	targets("2", "arm_dsu_0/cycles/", "0", "none", "package");
	targets("4-5", "arm_dsu_0/cycles/", "none", "4-5", "package");
	tree_write("/sys/bus/event_source/devices/arm_dsu_0/associated_cpus", "0-5");
	tree_write("/sys/bus/event_source/devices/arm_ccn/type", "30");
	tree_write("/sys/bus/event_source/devices/arm_ccn/cpumask", "0,4");
	tree_write("/sys/bus/event_source/devices/arm_ccn/events/x", "config=1");
	tree_write("/sys/bus/event_source/devices/arm_ccn/format/e", "config:0-7");
	targets("5", "arm_ccn/x/", "4", "none", "l2");
	targets("4-5", "arm_ccn/x/", "4", "none", "l2");
	/* sysfs that makes no sense */
	tree_write("/sys/bus/event_source/devices/arm_ccn/cpumask", "zero");
	{
		struct perfmon_placement *placement = place("all");
		struct pm_targets found = {0};
		struct pm_event_list *list;
		struct pm_diag diag = {0};

		cr_assert_eq(pm_events_parse("arm_ccn/x/", 0, &list, &diag), 0);
		cr_expect_eq(pm_placement_targets(placement, list->events, &found, &diag),
			     -EINVAL);
		cr_expect(strstr(diag.text, "'zero'"), "%s", diag.text);
		pm_events_free(list);
		pm_placement_free(placement);
	}
}

/* Each CPU counts 1 (an agent: 1000 for its package); the sums per level. */
static void rolls_up(const char *event, enum pm_level level, const char *expected)
{
	struct perfmon_placement *placement = place("all");
	struct pm_targets found = {0};
	struct pm_event_list *list;
	uint64_t sums[64] = {0}, unplaced = 0;
	char text[256] = "";
	size_t used = 0;

	cr_assert_eq(pm_events_parse(event, 0, &list, NULL), 0);
	cr_assert_gt(pm_placement_targets(placement, list->events, &found, NULL), 0);
	pm_cpus_each (cpu, &found.open) {
		uint32_t group = pm_targets_group(placement, &found, cpu, level);
		uint64_t value = found.uncore ? 1000 : 1;

		if (group == PM_GROUP_NONE)
			unplaced += value;
		else
			sums[group] += value;
	}
	for (int i = 0; i < 64; i++)
		if (sums[i])
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%d=%lu ", i, (unsigned long)sums[i]);
	snprintf(text + used, sizeof(text) - used, "left %lu", (unsigned long)unplaced);
	cr_expect_str_eq(text, expected, "%s by %s: %s", event, pm_level_name(level),
			 text);
	pm_targets_free(&found);
	pm_events_free(list);
	pm_placement_free(placement);
}

Test(placement, values_add_up_by_any_level_and_uncore_ones_once)
{
	machine_unpack("server");
	rolls_up("task-clock", PM_LEVEL_PACKAGE, "0=28 1=28 left 0");
	rolls_up("task-clock", PM_LEVEL_MACHINE, "0=56 left 0");
	rolls_up("task-clock", PM_LEVEL_L3, "0=28 1=28 left 0");
	rolls_up("uncore_imc_0/clockticks/", PM_LEVEL_MACHINE, "0=2000 left 0");
	rolls_up("uncore_imc_0/clockticks/", PM_LEVEL_PACKAGE, "0=1000 1=1000 left 0");
	rolls_up("uncore_imc_0/clockticks/", PM_LEVEL_NUMA, "0=1000 1=1000 left 0");
	rolls_up("uncore_imc_0/clockticks/", PM_LEVEL_L3, "left 2000");
	rolls_up("uncore_imc_0/clockticks/", PM_LEVEL_CORE, "left 2000");
	rolls_up("uncore_imc_0/clockticks/", PM_LEVEL_DIE, "left 2000"); /* none here */
	machine_remove();

	machine_unpack("hybrid");
	rolls_up("cpu_core/cycles/", PM_LEVEL_CORE, "0=2 1=2 2=2 3=2 left 0");
	rolls_up("cpu_atom/cycles/", PM_LEVEL_L2, "4=4 5=4 left 0");
	rolls_up("power/energy-pkg/", PM_LEVEL_NUMA, "0=1000 left 0");
}

Test(placement, helpers_go_near_what_they_serve)
{
	struct perfmon_placement *placement;
	struct pm_cpus near = {0};

	machine_unpack("server");
	machine_allow("10-40");
	placement = place("package:1.core:3");
	cr_assert_eq(pm_placement_near(placement->topology, &placement->cpus, &near), 0);
	cr_expect_str_eq(list_of(&near), "28-40");
	/* nothing allowed there: anywhere */
	machine_allow("0-3");
	pm_placement_free(placement);
	pm_topology_refresh(NULL);
	placement = place("0");
	{
		struct pm_cpus far = machine_list("40");

		cr_assert_eq(pm_placement_near(placement->topology, &far, &near), 0);
		pm_cpus_free(&far);
	}
	cr_expect_str_eq(list_of(&near), "0-3");
	pm_cpus_free(&near);
	pm_placement_free(placement);
}

static void *helper(void *argument)
{
	return (void *)(intptr_t)pm_placement_bind_helper(argument);
}

Test(placement, only_the_helper_itself_is_bound)
{
	struct perfmon_placement *placement = place("all");
	struct pm_cpus one = {0};
	cpu_set_t before, after;
	pthread_t thread;
	void *result;

	cr_assert_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && pm_cpus_count(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &before))
			pm_cpus_add(&one, (unsigned int)cpu);
	cr_assert_eq(pthread_create(&thread, NULL, helper, &one), 0);
	pthread_join(thread, &result);
	cr_expect_eq((int)(intptr_t)result, 0);
	cr_assert_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	cr_expect(CPU_EQUAL(&before, &after));
	pm_cpus_free(&one);
	pm_placement_free(placement);
}

Test(placement, loading_binds_nobody_and_this_machine_is_told_right)
{
	cpu_set_t before, after;
	char *online;

	cr_assert_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	cr_assert_gt(pm_file_read("/sys/devices/system/cpu/online", &online), 0);
	cr_assert_geq(pm_topology_refresh(NULL), 0);
	{
		struct pm_topology *topology;

		cr_assert_eq(pm_topology_get(&topology, NULL), 0);
		cr_expect_str_eq(list_of(&topology->online), online);
		cr_expect_not(topology->plain);
		pm_topology_put(topology);
	}
	free(online);
	cr_assert_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	cr_expect(CPU_EQUAL(&before, &after));
}

Test(placement, another_machines_topology_in_the_environment_is_not_ours)
{
	struct pm_topology *topology;
	struct pm_machine machine;

	setenv("HWLOC_SYNTHETIC", "package:4 core:8 pu:2", 1);
	pm_machine_describe(&machine);
	cr_expect_neq(machine.packages, 4);
	cr_expect_eq(machine.cpus, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	cr_assert_eq(pm_topology_get(&topology, NULL), 0);
	cr_expect(topology->plain);
	cr_expect_eq(pm_cpus_count(&topology->online),
		     (unsigned int)sysconf(_SC_NPROCESSORS_ONLN));
	covers("cpu:0", "0");
	fails(-ENODEV, "core:0", "'core:0'", "without hwloc; it has pu, machine");
	pm_topology_put(topology);
}

static int no_files(enum pm_kernel_call call)
{
	return call == PM_CALL_OPEN ? -EACCES : 0;
}

Test(placement, a_machine_that_tells_nothing_is_an_error)
{
	struct pm_topology *topology = NULL;
	struct pm_diag diag = {0};

	setenv("HWLOC_SYNTHETIC", "package:4 core:8 pu:2", 1);
	pm_kernel_fault = no_files;
	cr_expect_eq(pm_topology_get(&topology, &diag), -EACCES);
	cr_expect(strstr(diag.text, "cannot list this machine's CPUs"), "%s", diag.text);
	cr_expect_null(topology);
	pm_kernel_fault = NULL;
	cr_expect_eq(pm_topology_get(&topology, &diag), 0);
	pm_topology_put(topology);
}

static void *asks(void *argument)
{
	for (int i = 0; i < 50; i++) {
		struct perfmon_placement *placement = place(i % 2 ? "all" : "pu:0");

		if (i % 10 == 9)
			pm_topology_refresh(NULL);
		pm_placement_free(placement);
	}
	return argument;
}

Test(placement, threads_and_children_may_ask_at_once)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, asks, NULL), 0);
	for (int i = 0; i < 5; i++) {
		int status;
		pid_t child = fork();

		cr_assert_geq(child, 0);
		if (!child) {
			struct perfmon_placement *placement;

			/* Not by _exit(): there the sanitizer looks for the parent's
			 * threads, which are not here. */
			syscall(SYS_exit_group,
				pm_placement_parse("all", &placement, NULL) ? 1 : 0);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_expect_eq(status, 0);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void *is_cancelled(void *argument)
{
	pthread_cancel(pthread_self());
	pm_topology_refresh(NULL);
	*(bool *)argument = true;
	pthread_testcancel();
	return NULL;
}

Test(placement, a_cancelled_thread_leaves_no_lock_behind, .timeout = 20)
{
	bool came_back = false;
	pthread_t thread;
	void *result;

	cr_assert_eq(pthread_create(&thread, NULL, is_cancelled, &came_back), 0);
	pthread_join(thread, &result);
	cr_expect(came_back);
	cr_expect_eq(result, PTHREAD_CANCELED);
	cr_expect_eq(pm_topology_refresh(NULL), 0);
}

/* Row: PC-02 */
Test(placement, masks_say_what_they_need)
{
	struct perfmon_placement *placement;
	unsigned long mask[4];
	size_t size = 0;
	char message[200];

	machine_unpack("server");
	tree_write("/sys/devices/system/cpu/present", "0-55");
	cr_assert_eq(perfmon_placement_parse(&placement, "package:1+0", message,
					     sizeof(message)),
		     0);
	cr_expect_str_empty(message);
	cr_expect_eq(perfmon_placement_get_cpus(placement, PERFMON_PLACEMENT_SET_COVERED,
						NULL, &size),
		     -EOVERFLOW);
	cr_expect_eq(size, 8);
	size = 4;
	mask[0] = 0x5555;
	cr_expect_eq(perfmon_placement_get_cpus(placement, PERFMON_PLACEMENT_SET_COVERED,
						mask, &size),
		     -EOVERFLOW);
	cr_expect_eq(size, 8);
	cr_expect_eq(mask[0], 0x5555);
	cr_expect_eq(perfmon_placement_get_cpus(placement, PERFMON_PLACEMENT_SET_COVERED,
						mask, &size),
		     29);
	cr_expect_eq(mask[0], 0xfffffff0000001ul);
	memset(mask, 0xff, sizeof(mask));
	size = sizeof(mask);
	cr_expect_eq(perfmon_placement_get_cpus(placement, PERFMON_PLACEMENT_SET_ONLINE,
						mask, &size),
		     56);
	cr_expect_eq(size, 8);
	cr_expect(mask[0] == 0xfffffffffffffful && !mask[1] && !mask[2] && !mask[3]);
	/* an empty set needs nothing */
	size = 0;
	cr_expect_eq(perfmon_placement_get_cpus(placement, PERFMON_PLACEMENT_SET_DROPPED,
						NULL, &size),
		     0);
	cr_expect_eq(size, 0);
	cr_expect_eq(perfmon_placement_get_cpus(placement, 9, NULL, &size), -EINVAL);
	cr_expect_eq(perfmon_placement_get_cpus(NULL, 0, NULL, &size), -EINVAL);
	perfmon_placement_free(placement);
	perfmon_placement_free(NULL);
	cr_expect_eq(
		perfmon_placement_parse(&placement, "core:99", message, sizeof(message)),
		-ENODEV);
	cr_expect(strstr(message, "'core:99'"), "%s", message);
	cr_expect_eq(perfmon_placement_parse(NULL, "all", NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_placement_parse(&placement, NULL, NULL, 0), -EINVAL);
}

Test(placement, sets_grow_beyond_any_fixed_size)
{
	struct pm_cpus set = {0}, other = {0};
	unsigned long mask[200];
	size_t size = sizeof(mask);
	char text[16];

	cr_assert_eq(pm_cpus_add(&set, 9000), 0);
	cr_assert_eq(pm_cpus_add(&set, 3), 0);
	cr_expect_eq(pm_cpus_add(&set, PM_CPUS_MAX + 1), -ERANGE);
	cr_expect_eq(pm_cpus_export(&set, mask, &size), 2);
	cr_expect_eq(size, 1128);
	cr_expect_eq(pm_cpus_next(&set, 4), 9000);
	cr_expect_eq(pm_cpus_next(&set, 9001), -1);
	cr_assert_eq(pm_cpus_add(&other, 3), 0);
	cr_expect(pm_cpus_within(&other, &set) && !pm_cpus_within(&set, &other));
	pm_cpus_remove(&set, 9000);
	pm_cpus_remove(&set, 20000);
	cr_expect(pm_cpus_equal(&other, &set));
	pm_cpus_clear(&set);
	cr_expect_str_eq(list_of(&set), "none");
	for (unsigned int cpu = 0; cpu < 20; cpu += 2)
		pm_cpus_add(&set, cpu);
	cr_expect_str_eq(pm_cpus_print(&set, text, sizeof(text)), "0,2,4,6,8,...");
	pm_cpus_free(&set);
	pm_cpus_free(&other);
}

/* Row: PC-03 */
Test(placement, forbidden_cpus_are_told_by_mask)
{
	struct perfmon_placement *placement;
	unsigned long open = 0, forbidden = 0;
	size_t size = 8, forbidden_size = 8;
	char message[300];

	machine_unpack("hybrid");
	machine_online("0-2,4-15");
	cr_assert_eq(perfmon_placement_parse(&placement, "3-9", NULL, 0), 0);
	cr_expect_eq(perfmon_placement_get_event(placement, "cpu_core/slots/", &open,
						 &size, &forbidden, &forbidden_size,
						 message, sizeof(message)),
		     4);
	cr_expect_eq(open, 0xf0);
	cr_expect_eq(forbidden, 0x308);
	/* the event that both kinds have is counted by both */
	cr_expect_eq(perfmon_placement_get_event(placement, "cycles", &open, &size,
						 &forbidden, &forbidden_size, NULL, 0),
		     6);
	cr_expect_eq(open, 0x3f0);
	cr_expect_eq(forbidden, 0x8);
	size = 0;
	cr_expect_eq(perfmon_placement_get_event(placement, "cycles", NULL, &size,
						 &forbidden, &forbidden_size, message,
						 sizeof(message)),
		     -EOVERFLOW);
	cr_expect(size == 8 && forbidden_size == 8 && strstr(message, "8 and 8 bytes"));
	perfmon_placement_free(placement);
	cr_assert_eq(perfmon_placement_parse(&placement, "core:0", NULL, 0), 0);
	cr_expect_eq(perfmon_placement_get_event(placement, "cpu_atom/cycles/", &open,
						 &size, &forbidden, &forbidden_size,
						 message, sizeof(message)),
		     -ENODEV);
	cr_expect_eq(open, 0x3f0);
	cr_expect(strstr(message, "'cpu_atom' has CPUs 8-15"), "%s", message);
	cr_expect_eq(perfmon_placement_get_event(placement, "cycles,cs", &open, &size,
						 &forbidden, &forbidden_size, message,
						 sizeof(message)),
		     -EINVAL);
	cr_expect_eq(perfmon_placement_get_event(placement, "cycels", &open, &size,
						 &forbidden, &forbidden_size, message,
						 sizeof(message)),
		     -EINVAL);
	perfmon_placement_free(placement);
}

Test(placement, levels_and_groups_can_be_asked)
{
	struct perfmon_placement *placement;
	struct perfmon_placement_level_info level = {.size = sizeof(level)};
	struct perfmon_placement_group_info group = {.size = sizeof(group)};
	struct {
		struct perfmon_placement_group_info group;
		uint64_t newer;
	} large = {{.size = sizeof(large)}, 0};
	static const char *const names[] = {"pu",   "core",    "l1",	 "l3",
					    "numa", "package", "machine"};
	uint32_t i;

	machine_unpack("server");
	cr_assert_eq(perfmon_placement_parse(&placement, "all", NULL, 0), 0);
	for (i = 0; !perfmon_placement_get_level(placement, i, &level); i++) {
		cr_assert_lt(i, sizeof(names) / sizeof(names[0]));
		cr_expect_str_eq(level.name, names[i]);
	}
	cr_expect_eq(i, sizeof(names) / sizeof(names[0]));
	cr_expect_eq(level.groups, 1);
	cr_expect_str_eq(level.noun, "machine");
	level.size--;
	cr_expect_eq(perfmon_placement_get_level(placement, 0, &level), -EINVAL);
	cr_expect_eq(perfmon_placement_get_group(placement, 30, "numa", &group), 0);
	cr_expect(group.index == 1 && group.os_index == 1 && group.cpus == 28);
	cr_expect_eq(perfmon_placement_get_group(placement, 30, "core", &large.group), 0);
	cr_expect(large.group.index == 30 && large.newer == 0 &&
		  large.group.size == sizeof(large));
	cr_expect_eq(perfmon_placement_get_group(placement, 56, "numa", &group), -ENOENT);
	cr_expect_eq(perfmon_placement_get_group(placement, 3, "die", &group), -ENOENT);
	cr_expect_eq(perfmon_placement_get_group(placement, 3, "dye", &group), -EINVAL);
	perfmon_placement_free(placement);
	cr_expect_eq(perfmon_placement_refresh(), 0);
}
