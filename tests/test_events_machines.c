/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machines with several kinds of cores, and uncore PMUs by the dozen. */
#include "events_dump.h"
#include "tree.h"
#include "core/kernel/kernel.h"

TestSuite(events_machines, .fini = tree_remove);

static struct pm_event_list *parse(const char *text, unsigned int flags)
{
	struct pm_event_list *list = NULL;
	struct pm_diag diag = {0};
	int err = pm_events_parse(text, flags, &list, &diag);

	cr_assert_eq(err, 0, "'%s': %d: %s", text, err, diag.text);
	return list;
}

static void check(const char *text, const char *expected)
{
	struct pm_event_list *list = parse(text, 0), *again;
	char dump[4096];

	dump_list(list, dump, sizeof(dump));
	cr_expect_str_eq(dump, expected, "'%s' gave\n  %s\nnot\n  %s", text, dump,
			 expected);
	for (size_t i = 0; i < list->count; i++) {
		again = parse(list->events[i].name, 0);
		cr_assert_eq(again->count, 1, "%s", list->events[i].name);
		cr_expect(!memcmp(&again->events[0].attr, &list->events[i].attr,
				  sizeof(list->events[i].attr)),
			  "%s", list->events[i].name);
		pm_events_free(again);
	}
	pm_events_free(list);
}

static int fails(const char *text, const char *part)
{
	struct pm_event_list *list = NULL;
	struct pm_diag diag = {0};
	int err = pm_events_parse(text, 0, &list, &diag);

	cr_expect(err < 0, "'%s' is accepted", text);
	cr_expect_null(list);
	cr_expect(strstr(diag.text, part), "'%s': '%s' lacks '%s'", text, diag.text,
		  part);
	return err;
}

Test(events_machines, an_event_of_two_kinds_of_cores_becomes_two)
{
	tree_unpack("hybrid");
	/* the kernel's own names carry the PMU's type in the upper half */
	check("cycles:u", "cpu_core/cycles/u cpu_core 0:400000000 -k -h; "
			  "cpu_atom/cycles/u cpu_atom 0:a00000000 -k -h");
	check("instructions", "cpu_core/instructions/ cpu_core 0:400000001; "
			      "cpu_atom/instructions/ cpu_atom 0:a00000001");
	check("l1d-load-miss", "cpu_core/L1-dcache-load-misses/ cpu_core 3:400010000; "
			       "cpu_atom/L1-dcache-load-misses/ cpu_atom 3:a00010000");
	check("r1a8", "cpu_core/r1a8/ cpu_core 4:1a8; cpu_atom/r1a8/ cpu_atom 10:1a8");
	/* names of the drivers: each PMU's own encoding, and only where it has one */
	check("mem-loads", "cpu_core/mem-loads/ cpu_core 4:1cd:3; "
			   "cpu_atom/mem-loads/ cpu_atom 10:5d0:3");
	check("slots", "slots cpu_core 4:400");
	check("topdown-retiring:u", "cpu_core/topdown-retiring/u cpu_core 4:8000 -k -h; "
				    "cpu_atom/topdown-retiring/u cpu_atom 10:c2 -k -h");
	/* libpfm4's word for a portable event */
	check("perf::PERF_COUNT_HW_CPU_CYCLES", "cpu_core/cycles/ cpu_core 0:400000000; "
						"cpu_atom/cycles/ cpu_atom 0:a00000000");
	/* precise as can be differs */
	check("cycles:P", "cpu_core/cycles/P cpu_core 0:400000000 -G p3; "
			  "cpu_atom/cycles/P cpu_atom 0:a00000000 -G p2");
	/* software is the same everywhere */
	check("cs", "context-switches software 1:3");
}

Test(events_machines, a_pmu_that_is_named_is_the_only_one)
{
	tree_unpack("hybrid");
	check("cpu_core/instructions/", "cpu_core/instructions/ cpu_core 0:400000001");
	check("cpu_atom/cpu-cycles/", "cpu_atom/cycles/ cpu_atom 0:a00000000");
	check("cpu_atom/event=0x3c/", "cpu_atom/event=0x3c/ cpu_atom 10:3c");
	check("cpu_core/mem-loads,ldlat=9/",
	      "cpu_core/mem-loads,ldlat=9/ cpu_core 4:1cd:9");
	cr_expect_eq(fails("cpu/cycles/", "cpu_core"), -ENOENT);
	cr_expect_eq(fails("cpu_atom/slots/", "'cpu_atom' has no term or event 'slots'"),
		     -EINVAL);
	cr_expect_eq(fails("cpu_atom/offcore_rsp=1/", "'cpu_atom' has no term"), -EINVAL);
}

Test(events_machines, its_parts_share_one_number_and_one_label)
{
	struct pm_event_list *list;

	tree_unpack("hybrid");
	list = parse("{cycles,instructions}:u,cs", 0);
	cr_assert_eq(list->count, 5);
	cr_expect_eq(list->logical_count, 3);
	cr_expect_eq(list->group_count, 2);
	for (size_t i = 0; i < 5; i++) {
		struct pm_event *event = &list->events[i];

		cr_expect_eq(event->logical, i / 2);
		cr_expect_eq(event->group, i == 4);
		cr_expect_eq(event->in_explicit_group, i < 4);
		cr_expect_eq(event->hardware, i < 4);
		cr_expect_str_eq(event->label, i < 2   ? "cycles:u"
					       : i < 4 ? "instructions:u"
						       : "context-switches");
		cr_expect_str_eq(event->cpus, i == 4 ? "" : i % 2 ? "8-15" : "0-7");
	}
	pm_events_free(list);
}

Test(events_machines, an_arm_board_with_large_and_small_cores)
{
	tree_unpack("biglittle");
	check("inst_retired", "armv8_cortex_a53/inst_retired/ armv8_cortex_a53 8:8; "
			      "armv8_cortex_a72/inst_retired/ armv8_cortex_a72 9:8");
	check("INST_RETIRED:u",
	      "armv8_cortex_a53/inst_retired/u armv8_cortex_a53 8:8 -k -h; "
	      "armv8_cortex_a72/inst_retired/u armv8_cortex_a72 9:8 -k -h");
	check("bus_access", "bus_access armv8_cortex_a72 9:19");
	check("cycles", "armv8_cortex_a53/cycles/ armv8_cortex_a53 0:800000000; "
			"armv8_cortex_a72/cycles/ armv8_cortex_a72 0:900000000");
	check("r8", "armv8_cortex_a53/r8/ armv8_cortex_a53 8:8; "
		    "armv8_cortex_a72/r8/ armv8_cortex_a72 9:8");
	/* user access is the opener's to ask for; a user may all the same */
	check("armv8_cortex_a72/event=0x11,long,rdpmc/",
	      "armv8_cortex_a72/event=0x11,long,rdpmc/ armv8_cortex_a72 9:11:3");
	check("arm_dsu_0/cycles/", "arm_dsu_0/cycles/ arm_dsu_0 10:11");
}

Test(events_machines, topdown_events_are_known_where_the_driver_names_slots)
{
	static const struct {
		const char *text;
		enum pm_topdown topdown[2];
	} cases[] = {
		{"slots", {PM_TOPDOWN_SLOTS}},
		{"cpu_core/event=0,umask=4/u", {PM_TOPDOWN_SLOTS}},
		/* the small cores count it like any other */
		{"topdown-retiring", {PM_TOPDOWN_METRIC, PM_TOPDOWN_NO}},
		{"cpu_core/event=0,umask=0x87/", {PM_TOPDOWN_METRIC}},
		{"cpu_core/r8300/", {PM_TOPDOWN_METRIC}},
		{"cpu_core/r8800/", {PM_TOPDOWN_NO}},
		{"cpu_atom/r8000/", {PM_TOPDOWN_NO}},
		{"cycles", {PM_TOPDOWN_NO, PM_TOPDOWN_NO}},
		{"page-faults", {PM_TOPDOWN_NO}},
	};

	tree_unpack("hybrid");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_event_list *list = parse(cases[i].text, 0);

		for (size_t e = 0; e < list->count; e++)
			cr_expect_eq(list->events[e].topdown, cases[i].topdown[e], "%s",
				     list->events[e].name);
		pm_events_free(list);
	}
	tree_remove();
	/* The same code means another thing where nobody names slots. */
	tree_unpack("server");
	for (int i = 0; i < 2; i++) {
		struct pm_event_list *list = parse(i ? "r8000" : "r400", 0);

		cr_expect_eq(list->events[0].topdown, PM_TOPDOWN_NO);
		pm_events_free(list);
	}
}

Test(events_machines, boxes_of_an_uncore_pmu_are_summed)
{
	struct pm_event_list *list;

	tree_unpack("server");
	list = parse("uncore_imc/cas_count_read/,cs", PM_EVENTS_USER_ONLY);
	/* eleven of twelve have the event, in the order of their numbers */
	cr_assert_eq(list->count, 12);
	cr_expect_eq(list->logical_count, 2);
	for (size_t i = 0; i < 11; i++) {
		struct pm_event *event = &list->events[i];
		char name[64];

		snprintf(name, sizeof(name), "uncore_imc_%zu/cas_count_read/", i);
		cr_expect_str_eq(event->name, name);
		cr_expect_str_eq(event->label, "uncore_imc/cas_count_read/");
		cr_expect_eq(event->attr.type, 20 + i);
		cr_expect_eq(event->attr.config, 0x304);
		cr_expect(event->uncore && !event->hardware &&
			  !event->attr.exclude_kernel);
		cr_expect_str_eq(event->cpus, "0,28");
		cr_expect_str_eq(event->unit, "MiB");
		cr_expect_float_eq(event->scale, 6.103515625e-5, 1e-15);
		cr_expect_eq(event->logical, 0);
	}
	pm_events_free(list);

	list = parse("imc/clockticks/", 0);
	cr_expect_eq(list->count, 12);
	pm_events_free(list);
	list = parse("uncore_*/event=1/", 0);
	cr_expect_eq(list->count, 15);
	pm_events_free(list);
	list = parse("UNCORE_IMC_1?/event=1/", 0);
	cr_expect_eq(list->count, 2);
	pm_events_free(list);
	/* the PMU's own name is that PMU alone: 1 is not 10 and 11 too */
	check("uncore_imc_1/clockticks/", "uncore_imc_1/clockticks/ uncore_imc_1 21:0");
	cr_expect_eq(fails("uncore_imc/nosuch/",
			   "'uncore_imc_0' has no term or event 'nosuch'"),
		     -EINVAL);
	cr_expect_eq(fails("uncore_im/clockticks/", "no PMU 'uncore_im'"), -ENOENT);
	tree_remove();

	tree_unpack("hybrid");
	check("uncore_imc_free_running/data_read/",
	      "uncore_imc_free_running_0/data_read/ uncore_imc_free_running_0 17:20ff "
	      "*6.10352e-05MiB; uncore_imc_free_running_1/data_read/ "
	      "uncore_imc_free_running_1 18:20ff *6.10352e-05MiB");
	cr_expect_eq(fails("uncore_imc/data_read/", "no PMU 'uncore_imc'"), -ENOENT);
}

Test(events_machines, sysfs_is_not_trusted)
{
	tree_unpack("server");
	cr_expect_eq(fails("uncore_cha_0/broken/", "'broken'"), -ERANGE);
	cr_expect_eq(fails("uncore_cha_0/stranger/", "'nosuch' does not match"), -EINVAL);
	cr_expect_eq(fails("uncore_cha_0/skewed/", "holds '2,5', which is not a scale"),
		     -EINVAL);
	cr_expect_eq(fails("uncore_cha_0/empty/", "not a scale"), -EINVAL);
	cr_expect_eq(
		fails("uncore_cha_0/llc_state/", "needs a value for term 'filter_tid'"),
		-EINVAL);
	cr_expect_eq(fails("uncore_cha_0/later=1/", "a later word"), -EOPNOTSUPP);
	/* formats that say nothing sensible are no terms, and PMUs without a type no
	 * PMUs */
	cr_expect_eq(fails("uncore_upi_0/broken=1/", "its terms are event, config"),
		     -EINVAL);
	cr_expect_eq(fails("uncore_upi_0/wide=1/", "no term or event 'wide'"), -EINVAL);
	cr_expect_eq(fails("typeless/event=1/", "no PMU"), -ENOENT);
	cr_expect_eq(fails("untyped/event=1/", "no PMU"), -ENOENT);
}

Test(events_machines, config3_where_this_build_has_it)
{
	struct pm_event_list *list;
	struct pm_diag diag;
	int err;

	tree_unpack("server");
	err = pm_events_parse("uncore_cha_0/spill=9/", 0, &list, &diag);
	if (err) {
		cr_expect_eq(err, -EOPNOTSUPP);
		cr_expect(strstr(diag.text, "config3"), "%s", diag.text);
		return;
	}
	cr_expect_eq(((const uint64_t *)&list->events[0].attr)[16], 9);
	pm_events_free(list);
}

/* A call that fails must fail the parse, or leave out what it would have told. */
static int failing_call, calls;
static enum pm_kernel_call failing_kind;
static int fail_once(enum pm_kernel_call call)
{
	if (call != failing_kind)
		return 0;
	return calls++ == failing_call ? -EMFILE : 0;
}

Test(events_machines, every_file_may_fail_to_open_or_be_read)
{
	static const enum pm_kernel_call kinds[] = {PM_CALL_OPEN, PM_CALL_READ};

	tree_unpack("biglittle");
	for (size_t k = 0; k < 2; k++) {
		failing_kind = kinds[k];
		for (failing_call = 0;; failing_call++) {
			struct pm_event_list *list = NULL;
			struct pm_diag diag = {0};
			int err;

			calls = 0;
			pm_kernel_fault = fail_once;
			err = pm_events_parse("armv8_cortex_a72/inst_retired/P,cycles", 0,
					      &list, &diag);
			pm_kernel_fault = NULL;
			if (err)
				cr_expect(!list && diag.text[0] && diag.error == err);
			else
				cr_expect(list->count >= 2 && list->logical_count == 2);
			pm_events_free(list);
			if (calls <= failing_call)
				break;
		}
		cr_expect_gt(failing_call, 10);
	}
}

static unsigned int opens_for(const char *text)
{
	struct pm_event_list *list = NULL;

	failing_kind = PM_CALL_OPEN;
	failing_call = -1;
	calls = 0;
	pm_kernel_fault = fail_once;
	cr_expect_eq(pm_events_parse(text, 0, &list, NULL), 0, "%s", text);
	pm_kernel_fault = NULL;
	pm_events_free(list);
	return (unsigned int)calls;
}

/* A server has a hundred PMUs, and a name of the kernel concerns its core PMUs alone. */
Test(events_machines, the_kernels_names_read_little_of_other_pmus)
{
	unsigned int alone, all;
	char path[600];
	struct pm_sysfs *sysfs;

	tree_unpack("server");
	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path),
			 "/sys/bus/event_source/devices/uncore_more_%d/type", i);
		tree_write(path, "77");
	}
	cr_assert_eq(pm_sysfs_load(&sysfs), 0);
	alone = opens_for("instructions,cycles,page-faults");
	/* One to see that it is not a core PMU, and a few for the core PMU. */
	cr_expect_leq(alone, sysfs->count + 6, "%u files for %zu PMUs", alone,
		      sysfs->count);
	all = opens_for("instructions,uncore_imc_0/cas_count_read/");
	cr_expect_geq(all, alone + 2 * 40, "%u", all);
	pm_sysfs_free(sysfs);
}
