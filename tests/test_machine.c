/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine's line in reports: its shape and its name, from few files. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "core/topology/topology.h"
#include "machine.h"

TestSuite(machine, .fini = machine_remove);

static void has_shape(uint32_t packages, uint32_t cores, uint32_t cpus)
{
	struct pm_machine machine;

	pm_machine_describe(&machine);
	cr_expect_eq(machine.packages, packages, "%u packages, not %u", machine.packages,
		     packages);
	cr_expect_eq(machine.cores, cores, "%u cores, not %u", machine.cores, cores);
	cr_expect_eq(machine.cpus, cpus, "%u CPUs, not %u", machine.cpus, cpus);
}

static void is_called(const char *name)
{
	struct pm_machine machine;

	pm_machine_describe(&machine);
	cr_expect_str_eq(machine.cpu_model, name);
}

/* hwloc's answer for the same files. */
static void has_hwlocs_shape(void)
{
	struct pm_topology *topology;

	cr_assert_eq(pm_topology_refresh(NULL) < 0, 0);
	cr_assert_eq(pm_topology_get(&topology, NULL), 0);
	cr_assert_not(topology->plain);
	has_shape(topology->levels[PM_LEVEL_PACKAGE].count,
		  topology->levels[PM_LEVEL_CORE].count,
		  pm_cpus_count(&topology->online));
	pm_topology_put(topology);
}

Test(machine, its_shape_is_what_hwloc_sees)
{
	machine_unpack("server");
	has_hwlocs_shape();
	machine_online("0-13,30-40,55");
	has_hwlocs_shape();
	machine_remove();
	machine_unpack("hybrid");
	has_hwlocs_shape();
	machine_remove();
	machine_unpack("biglittle");
	has_hwlocs_shape();
}

static void two_packages(void)
{
	tree_new();
	machine_object("topology package 0 0-3");
	machine_object("topology package 1 4-7");
	machine_object("topology core 0/2 0-7");
	machine_online("0-7");
}

Test(machine, cores_with_several_threads_are_counted_once)
{
	two_packages();
	has_shape(2, 4, 8);
	machine_online("0-4,6");
	has_shape(2, 4, 6);
	machine_online("1");
	has_shape(1, 1, 1);
}

Test(machine, what_a_control_group_forbids_is_not_ours)
{
	two_packages();
	machine_allow("0-2");
	has_shape(1, 2, 3);
	machine_allow("3-4");
	has_shape(2, 2, 2);
	/* a group that does not divide CPUs has those of the one above */
	tree_write("/proc/self/cgroup", "0::/job/step/task");
	has_shape(2, 2, 2);
	/* the first version of control groups */
	tree_write("/proc/self/cgroup", "3:cpu:/other\n2:cpuset:/old\n0::/");
	tree_write("/sys/fs/cgroup/cpuset/old/cpuset.cpus", "6-7");
	has_shape(1, 1, 2);
	/* what cannot be read forbids nothing */
	tree_write("/proc/self/cgroup", "nothing of the kind\n:\n0::");
	has_shape(2, 4, 8);
}

Test(machine, what_is_not_told_is_not_known)
{
	tree_new();
	tree_write("/sys/devices/system/cpu/online", "0-2");
	has_shape(0, 0, 3);
	machine_write(0, "topology/core_siblings_list", "0-2");
	has_shape(1, 0, 3);
	/* one core of three tells: the number of cores would be wrong */
	machine_write(0, "topology/thread_siblings_list", "0");
	has_shape(1, 0, 3);
	tree_write("/sys/devices/system/cpu/online", "none");
	has_shape(0, 0, 0);
}

Test(machine, its_name_is_that_of_its_first_cpu)
{
	tree_new();
	is_called("");
	tree_write("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\n"
				    "cpu family\t: 6\nmodel\t\t: 85\n"
				    "model name\t: Intel(R) Xeon(R)\nstepping\t: 4\n\n"
				    "processor\t: 1\nmodel name\t: another\n");
	is_called("Intel(R) Xeon(R)");
	tree_write("/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9 (raw)\n");
	is_called("POWER9 (raw)");
	tree_write("/proc/cpuinfo",
		   "processor\t: 0\nBogoMIPS\t: 125.00\nCPU implementer\t: 0x41\n"
		   "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd07\n"
		   "CPU revision\t: 0\n");
	is_called("ARM implementer 0x41 part 0xd07 r1p0");
}

static unsigned int opened;

static int count_opens(enum pm_kernel_call call)
{
	opened += call == PM_CALL_OPEN;
	return 0;
}

Test(machine, one_file_is_read_for_each_package_and_core)
{
	struct pm_machine machine;

	pm_kernel_fault = count_opens;
	pm_machine_describe(&machine);
	pm_kernel_fault = NULL;
	cr_expect_eq(machine.cpus, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	cr_expect(machine.kernel[0]);
	/* The release, /proc/cpuinfo (twice for a CPU that does not tell of itself), the CPUs
	 * that are online; a thread that may not run on all of them reads two or three files
	 * of control groups. An old kernel has other names. */
	cr_expect_leq(opened, 10 + 2 * (machine.packages + machine.cores), "%u", opened);
}
