/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event strings of every kind and what they encode to, on a recorded server: the same on
 * every machine that the tests run on.
 */
#include "events_dump.h"
#include "tree.h"

#include <locale.h>

#include "core/kernel/kernel.h"
#include "perfmon/event.h"

static void machine(void)
{
	tree_unpack("server");
}

TestSuite(events, .init = machine, .fini = tree_remove);

struct encoding_case {
	const char *text;
	const char *expected;
};

/* What TEXT gives, and that each name it gave encodes to the same again. */
static void check(const char *text, unsigned int flags, const char *expected)
{
	struct pm_event_list *list = NULL, *again;
	struct pm_diag diag = {0};
	char dump[4096], one[512], more[512];
	int err = pm_events_parse(text, flags, &list, &diag);

	cr_assert_eq(err, 0, "'%s': %d: %s", text, err, diag.text);
	cr_assert_eq(diag.text[0], '\0');
	dump_list(list, dump, sizeof(dump));
	cr_expect_str_eq(dump, expected, "'%s' gave\n  %s\nnot\n  %s", text, dump,
			 expected);
	for (size_t i = 0; i < list->count; i++) {
		struct pm_event *event = &list->events[i];

		cr_expect_eq(event->attr.size, sizeof(event->attr));
		cr_expect_eq(event->attr.read_format, 0);
		cr_expect_eq(event->attr.disabled, 0);
		/* only a group's leader may be pinned: alone, a member still may */
		err = pm_events_parse(event->name, flags, &again, &diag);
		cr_assert_eq(err, 0, "'%s' of '%s': %s", event->name, text, diag.text);
		cr_assert_eq(again->count, 1, "'%s' of '%s'", event->name, text);
		dump_event(event, one, sizeof(one));
		dump_event(&again->events[0], more, sizeof(more));
		cr_expect_str_eq(one, more);
		cr_expect(!memcmp(&event->attr, &again->events[0].attr,
				  sizeof(event->attr)),
			  "'%s' is not '%s' again", event->name, text);
		pm_events_free(again);
	}
	pm_events_free(list);
}

static void check_all(const struct encoding_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(cases[i].text, 0, cases[i].expected);
}
#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof(cases[0]))

/* Row: HW-14 (portable aliases, without regard to case) */
Test(events, generic_names)
{
	static const struct encoding_case cases[] = {
		{"cycles", "cycles cpu 0:0"},
		{"cpu-cycles", "cycles cpu 0:0"},
		{"CYCLES", "cycles cpu 0:0"},
		{"Instructions", "instructions cpu 0:1"},
		{"cache-references", "cache-references cpu 0:2"},
		{"cache-misses", "cache-misses cpu 0:3"},
		{"branches", "branches cpu 0:4"},
		{"branch-instructions", "branches cpu 0:4"},
		{"branch-misses", "branch-misses cpu 0:5"},
		{"bus-cycles", "bus-cycles cpu 0:6"},
		{"idle-cycles-frontend", "stalled-cycles-frontend cpu 0:7"},
		{"stalled-cycles-backend", "stalled-cycles-backend cpu 0:8"},
		{"ref-cycles", "ref-cycles cpu 0:9"},
	};

	CHECK_ALL(cases);
}

Test(events, software_names)
{
	static const struct encoding_case cases[] = {
		{"cpu-clock", "cpu-clock software 1:0 *1ns"},
		{"task-clock", "task-clock software 1:1 *1ns"},
		{"faults", "page-faults software 1:2"},
		{"page-faults", "page-faults software 1:2"},
		{"cs", "context-switches software 1:3"},
		{"migrations", "cpu-migrations software 1:4"},
		{"minor-faults", "minor-faults software 1:5"},
		{"major-faults", "major-faults software 1:6"},
		{"alignment-faults", "alignment-faults software 1:7"},
		{"emulation-faults", "emulation-faults software 1:8"},
		{"dummy", "dummy software 1:9"},
		{"bpf-output", "bpf-output software 1:a"},
		{"cgroup-switches", "cgroup-switches software 1:b"},
	};

	CHECK_ALL(cases);
}

Test(events, cache_names)
{
	static const struct encoding_case cases[] = {
		{"L1-dcache-loads", "L1-dcache-loads cpu 3:0"},
		{"l1-dcache-load-misses", "L1-dcache-load-misses cpu 3:10000"},
		{"L1-dcache-stores", "L1-dcache-stores cpu 3:100"},
		{"L1-icache-load-misses", "L1-icache-load-misses cpu 3:10001"},
		{"LLC-loads", "LLC-loads cpu 3:2"},
		{"LLC-store-misses", "LLC-store-misses cpu 3:10102"},
		{"LLC-prefetches", "LLC-prefetches cpu 3:202"},
		{"dTLB-load-misses", "dTLB-load-misses cpu 3:10003"},
		{"iTLB-loads", "iTLB-loads cpu 3:4"},
		{"branch-loads", "branch-loads cpu 3:5"},
		{"branch-load-misses", "branch-load-misses cpu 3:10005"},
		{"node-store-misses", "node-store-misses cpu 3:10106"},
		{"l1d-misses-read", "L1-dcache-load-misses cpu 3:10000"},
		{"L1-data-speculative-read-miss",
		 "L1-dcache-prefetch-misses cpu 3:10200"},
		{"LLC-refs", "LLC-loads cpu 3:2"},
		{"Data-TLB-write", "dTLB-stores cpu 3:103"},
	};

	CHECK_ALL(cases);
}

Test(events, modifiers)
{
	static const struct encoding_case cases[] = {
		{"cycles:u", "cycles:u cpu 0:0 -k -h"},
		{"cycles:k", "cycles:k cpu 0:0 -u -h"},
		{"cycles:h", "cycles:h cpu 0:0 -u -k"},
		{"cycles:ku", "cycles:uk cpu 0:0 -h"},
		{"cycles:ukh", "cycles:ukh cpu 0:0"},
		{"cycles:G", "cycles:G cpu 0:0 -H"},
		{"cycles:H", "cycles:H cpu 0:0 -G"},
		{"cycles:GH", "cycles:GH cpu 0:0"},
		{"cycles:I", "cycles:I cpu 0:0 -I"},
		{"cycles:p", "cycles:p cpu 0:0 -G p1"},
		{"cycles:Hpp", "cycles:Hpp cpu 0:0 -G p2"},
		{"cycles:Gppp", "cycles:Gppp cpu 0:0 -H p3"},
		/* the PMU's caps/max_precise says 3; software has none */
		{"cycles:P", "cycles:P cpu 0:0 -G p3"},
		{"task-clock:P", "task-clock:P software 1:1 *1ns"},
		{"cycles:D", "cycles:D cpu 0:0 D"},
		{"cycles:e", "cycles:e cpu 0:0 e"},
		{"cycles:Dpu", "cycles:upD cpu 0:0 -k -h -G p1 D"},
		{"cpu/cpu-cycles/u", "cpu/cpu-cycles/u cpu 4:3c -k -h"},
		{"cpu/cpu-cycles/:u", "cpu/cpu-cycles/u cpu 4:3c -k -h"},
	};

	CHECK_ALL(cases);
}

/* Row: PM-16 (raw encodings wherever names are), Row: PC-16 */
Test(events, raw_codes)
{
	static const struct encoding_case cases[] = {
		{"r1a8", "r1a8 cpu 4:1a8"},
		{"R01A8:u", "r1a8:u cpu 4:1a8 -k -h"},
		{"r0", "r0 cpu 4:0"},
		{"rffffffffffffffff", "rffffffffffffffff cpu 4:ffffffffffffffff"},
		{"cpu/r1a8/", "cpu/r1a8/ cpu 4:1a8"},
		{"cpu/config=0x1a8,config1=0x1,config2=2/",
		 "cpu/config=0x1a8,config1=0x1,config2=2/ cpu 4:1a8:1:2"},
		{"cpu/event=0xc0,umask=1,edge,inv=1,cmask=255/",
		 "cpu/event=0xc0,umask=1,edge,inv=1,cmask=255/ cpu 4:ff8401c0"},
		{"cpu/event=0xb7,umask=1,offcore_rsp=0xffffffffffffffff/",
		 "cpu/event=0xb7,umask=1,offcore_rsp=0xffffffffffffffff/ cpu "
		 "4:1b7:ffffffffffffffff"},
		{"{r1a8,cycles};{cpu/r2/}",
		 "r1a8 cpu 4:1a8; cycles cpu 0:0; cpu/r2/ cpu 4:2"},
		{"software/config=3/", "software/config=3/ software 1:3"},
	};

	CHECK_ALL(cases);
}

Test(events, breakpoints)
{
	static const struct encoding_case cases[] = {
		{"mem:0x1000", "mem:0x1000/4:rw breakpoint 5:0:1000:4 bp3"},
		{"MEM:4096/8", "mem:0x1000/8:rw breakpoint 5:0:1000:8 bp3"},
		{"mem:0x1000/1:w", "mem:0x1000/1:w breakpoint 5:0:1000:1 bp2"},
		{"mem:0x1000:r:u", "mem:0x1000/4:r:u breakpoint 5:0:1000:4 -k -h bp1"},
		{"mem:0x1000:x", "mem:0x1000/8:x breakpoint 5:0:1000:8 bp4"},
		{"mem:0x1000:u", "mem:0x1000/4:rw:u breakpoint 5:0:1000:4 -k -h bp3"},
		{"mem:0xffffffffffffffff/2:wr",
		 "mem:0xffffffffffffffff/2:rw breakpoint 5:0:ffffffffffffffff:2 bp3"},
		{"{mem:0x10/2,cs}",
		 "mem:0x10/2:rw breakpoint 5:0:10:2 bp3; context-switches software 1:3"},
	};

	CHECK_ALL(cases);
}

Test(events, tracepoints)
{
	static const struct encoding_case cases[] = {
		{"sched:sched_switch", "sched:sched_switch tracepoint 2:13c"},
		{"SCHED:Sched_Wakeup:k", "sched:sched_wakeup:k tracepoint 2:13e -u -h"},
		{"syscalls:sys_enter_openat",
		 "syscalls:sys_enter_openat tracepoint 2:28c"},
	};

	CHECK_ALL(cases);
}

Test(events, tracepoints_where_only_debugfs_has_them)
{
	tree_remove();
	tree_new();
	tree_write("/sys/kernel/debug/tracing/events/sched/sched_switch/id", "7");
	check("sched:sched_switch", 0, "sched:sched_switch tracepoint 2:7");
}

Test(events, libpfm4_names)
{
	/* perf is the one PMU of libpfm4's that is everywhere */
	static const struct encoding_case cases[] = {
		{"perf::PERF_COUNT_HW_CPU_CYCLES",
		 "perf::PERF_COUNT_HW_CPU_CYCLES cpu 0:0"},
		{"PERF_COUNT_HW_CPU_CYCLES:u",
		 "PERF_COUNT_HW_CPU_CYCLES:u cpu 0:0 -k -h"},
		{"perf_count_hw_instructions:ukH",
		 "PERF_COUNT_HW_INSTRUCTIONS:ukH cpu 0:1 -h -G"},
		{"perf::PERF_COUNT_HW_CPU_CYCLES:u=1:k=1",
		 "perf::PERF_COUNT_HW_CPU_CYCLES:u=1:k=1 cpu 0:0 -h"},
		{"perf::PERF_COUNT_HW_CPU_CYCLES:precise=2",
		 "perf::PERF_COUNT_HW_CPU_CYCLES:precise=2 cpu 0:0 p2"},
		{"perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS:k",
		 "perf::PERF_COUNT_HW_CACHE_L1D:READ:MISS:k cpu 3:10000 -u -h"},
		{"perf::PERF_COUNT_SW_TASK_CLOCK",
		 "perf::PERF_COUNT_SW_TASK_CLOCK software 1:1 *1ns"},
		{"perf_raw::r1a8", "perf_raw::r1a8 cpu 4:1a8"},
	};

	CHECK_ALL(cases);
}

Test(events, names_of_the_pmus_driver)
{
	static const struct encoding_case cases[] = {
		{"cpu/instructions/", "cpu/instructions/ cpu 4:c0"},
		{"CPU/Instructions/", "cpu/instructions/ cpu 4:c0"},
		/* a generic name that the folder lacks */
		{"cpu/cycles/", "cpu/cycles/ cpu 0:0"},
		{"cpu/L1d-load-miss/", "cpu/L1-dcache-load-misses/ cpu 3:10000"},
		/* bare: the core PMU's own */
		{"el-abort", "el-abort cpu 4:4c8"},
		{"EL-ABORT:u", "el-abort:u cpu 4:4c8 -k -h"},
		{"mem-loads:P", "mem-loads:P cpu 4:1cd:3 -G p3"},
		/* with terms of the user's, which win */
		{"cpu/mem-loads,ldlat=30/", "cpu/mem-loads,ldlat=30/ cpu 4:1cd:1e"},
		{"cpu/ldlat=0x40,mem-loads/", "cpu/mem-loads,ldlat=0x40/ cpu 4:1cd:40"},
		/* unit and scale */
		{"power/energy-pkg/", "power/energy-pkg/ power 60:2 *2.32831e-10Joules"},
		{"msr/tsc/", "msr/tsc/ msr 11:0"},
		/* a name of one's own */
		{"cpu/event=0xc0,name=retired/", "cpu/event=0xc0,name=retired/ cpu 4:c0"},
		/* bits in two places, and in the other words */
		{"uncore_cha_0/event=0x34,umask=0x1fff/",
		 "uncore_cha_0/event=0x34,umask=0x1fff/ uncore_cha_0 40:1f0000ff34"},
		{"uncore_cha_1/llc_lookup/",
		 "uncore_cha_1/llc_lookup/ uncore_cha_1 41:1f0000ff34"},
		{"uncore_cha_0/llc_state,filter_tid=5/",
		 "uncore_cha_0/llc_state,filter_tid=5/ uncore_cha_0 40:34:5"},
		{"uncore_cha_0/filter_opc=0xfff/",
		 "uncore_cha_0/filter_opc=0xfff/ uncore_cha_0 40:0:0:8ffe00"},
		{"uncore_cha_0/plain/", "uncore_cha_0/plain/ uncore_cha_0 40:77:3"},
		{"cha_1/event=1/", "cha_1/event=1/ uncore_cha_1 41:1"},
	};

	CHECK_ALL(cases);
}

Test(events, a_label_of_ones_own_is_kept_beside_the_name)
{
	struct pm_event_list *list;

	cr_assert_eq(pm_events_parse("cpu/event=0xc0,name=retired/u", 0, &list, NULL), 0);
	cr_expect_str_eq(list->events[0].label, "retired:u");
	cr_expect_str_eq(list->events[0].name, "cpu/event=0xc0,name=retired/u");
	pm_events_free(list);
}

Test(events, user_mode_by_default_where_a_pmu_can_tell)
{
	check("cycles", PM_EVENTS_USER_ONLY, "cycles:u cpu 0:0 -k -h");
	check("cycles:k", PM_EVENTS_USER_ONLY, "cycles:k cpu 0:0 -u -h");
	check("cycles:p", PM_EVENTS_USER_ONLY, "cycles:up cpu 0:0 -k -h -G p1");
	check("r1a8", PM_EVENTS_USER_ONLY, "r1a8:u cpu 4:1a8 -k -h");
	check("el-abort", PM_EVENTS_USER_ONLY, "el-abort:u cpu 4:4c8 -k -h");
	check("perf::PERF_COUNT_HW_CPU_CYCLES", PM_EVENTS_USER_ONLY,
	      "perf::PERF_COUNT_HW_CPU_CYCLES:u cpu 0:0 -k -h");
	check("perf::PERF_COUNT_HW_CPU_CYCLES:k=1:u=0", PM_EVENTS_USER_ONLY,
	      "perf::PERF_COUNT_HW_CPU_CYCLES:k=1:u=0 cpu 0:0 -u -h");
	check("cpu/event=0xc0/", PM_EVENTS_USER_ONLY, "cpu/event=0xc0/u cpu 4:c0 -k -h");
	/* their drivers refuse the bits */
	check("msr/tsc/", PM_EVENTS_USER_ONLY, "msr/tsc/ msr 11:0");
	check("uncore_cha_0/event=1/", PM_EVENTS_USER_ONLY,
	      "uncore_cha_0/event=1/ uncore_cha_0 40:1");
	check("msr/tsc/u", PM_EVENTS_USER_ONLY, "msr/tsc/u msr 11:0 -k -h");
}

static int kernel_errno;

static int refuse_the_kernel(enum pm_kernel_call call)
{
	return call == PM_CALL_PERF_EVENT_OPEN ? -kernel_errno : 0;
}

static void check_software(int error, const char *faults, const char *breakpoint,
			   const char *clock)
{
	kernel_errno = error;
	pm_kernel_fault = refuse_the_kernel;
	check("page-faults", PM_EVENTS_USER_ONLY, faults);
	check("mem:0x1000", PM_EVENTS_USER_ONLY, breakpoint);
	check("task-clock", PM_EVENTS_USER_ONLY, clock);
	/* Said, or of no use in user mode: never changed. */
	check("page-faults:k", PM_EVENTS_USER_ONLY, "page-faults:k software 1:2 -u -h");
	check("cs", PM_EVENTS_USER_ONLY, "context-switches software 1:3");
	check("sched:sched_switch", PM_EVENTS_USER_ONLY,
	      "sched:sched_switch tracepoint 2:13c");
	check("page-faults", 0, "page-faults software 1:2");
	pm_kernel_fault = NULL;
}

Test(events, software_events_count_all_modes_where_nothing_forbids_it)
{
	check_software(EMFILE, "page-faults software 1:2",
		       "mem:0x1000/4:rw breakpoint 5:0:1000:4 bp3",
		       "task-clock software 1:1 *1ns");
}

Test(events, software_events_are_labelled_where_user_mode_alone_is_allowed)
{
	check_software(EACCES, "page-faults:u software 1:2 -k -h",
		       "mem:0x1000/4:rw:u breakpoint 5:0:1000:4 -k -h bp3",
		       "task-clock software 1:1 -k -h *1ns");
}

Test(events, what_happens_in_the_kernel_alone_is_marked)
{
	static const struct {
		const char *text;
		bool marked;
	} cases[] = {
		{"cs", true},
		{"cpu-migrations", true},
		{"bpf-output", true},
		{"cgroup-switches", true},
		{"sched:sched_switch", true},
		{"cs:u", true},
		{"software/config=3/", true},
		{"page-faults", false},
		{"minor-faults", false},
		{"task-clock", false},
		{"cycles", false},
		{"mem:0x10", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_event_list *list;

		cr_assert_eq(pm_events_parse(cases[i].text, 0, &list, NULL), 0);
		cr_expect_eq(list->events[0].kernel_only, cases[i].marked, "%s",
			     cases[i].text);
		pm_events_free(list);
	}
}

Test(events, sets_and_groups_are_numbered)
{
	static const struct {
		const char *name;
		unsigned int set, group, logical;
		bool grouped;
	} expected[] = {
		{"cycles", 0, 0, 0, false},
		{"instructions", 0, 1, 1, true},
		{"branches", 0, 1, 2, true},
		{"page-faults", 0, 2, 3, false},
		{"cycles", 1, 3, 4, true},
		{"cpu/instructions/", 1, 3, 5, true},
		{"context-switches", 2, 4, 6, false},
	};
	const size_t count = sizeof(expected) / sizeof(expected[0]);
	struct pm_event_list *list;
	struct pm_diag diag;
	int err = pm_events_parse(" cycles , { instructions,\tbranches } , faults ;\n"
				  "{cycles,cpu/instructions/};cs ",
				  0, &list, &diag);

	cr_assert_eq(err, 0, "%s", diag.text);
	cr_assert_eq(list->count, count);
	cr_expect_eq(list->logical_count, 7);
	cr_expect_eq(list->group_count, 5);
	cr_expect_eq(list->set_count, 3);
	for (size_t i = 0; i < count; i++) {
		struct pm_event *event = &list->events[i];

		cr_expect_str_eq(event->name, expected[i].name);
		cr_expect_eq(event->set, expected[i].set);
		cr_expect_eq(event->group, expected[i].group);
		cr_expect_eq(event->logical, expected[i].logical);
		cr_expect_eq(event->in_explicit_group, expected[i].grouped);
	}
	pm_events_free(list);
}

Test(events, a_groups_modifiers_are_added_to_those_of_its_events)
{
	static const struct encoding_case cases[] = {
		{"{cycles,instructions}:u",
		 "cycles:u cpu 0:0 -k -h; instructions:u cpu 0:1 -k -h"},
		{"{cycles:k,instructions}:u , cs",
		 "cycles:uk cpu 0:0 -h; instructions:u cpu 0:1 -k -h; context-switches "
		 "software "
		 "1:3"},
		{"{cycles,cpu/instructions/p}:k",
		 "cycles:k cpu 0:0 -u -h; cpu/instructions/kp cpu 4:c0 -u -h -G p1"},
		/* the kernel lets only a leader be pinned */
		{"{cycles,instructions}:D", "cycles:D cpu 0:0 D; instructions cpu 0:1"},
		{"{cycles:D,instructions}", "cycles:D cpu 0:0 D; instructions cpu 0:1"},
	};

	CHECK_ALL(cases);
}

Test(events, hardware_is_what_a_core_counts)
{
	static const char text[] =
		"cycles,LLC-loads,r1,cpu/event=1/,cs,mem:0x10,msr/tsc/,"
		"uncore_cha_0/event=1/,el-abort";
	static const bool hardware[] = {1, 1, 1, 1, 0, 0, 0, 0, 1};
	struct pm_event_list *list;

	cr_assert_eq(pm_events_parse(text, 0, &list, NULL), 0);
	for (size_t i = 0; i < list->count; i++) {
		cr_expect_eq(list->events[i].hardware, hardware[i], "%s",
			     list->events[i].name);
		cr_expect_eq(list->events[i].uncore, i == 7);
	}
	cr_expect_str_eq(list->events[7].cpus, "0,28");
	cr_expect_str_eq(list->events[0].cpus, "");
	pm_events_free(list);
}

/* A decimal comma or a Turkish i must change nothing. */
Test(events, the_programs_locale_does_not_matter)
{
	static const char *const locales[] = {"de_DE.UTF-8", "tr_TR.UTF-8",
					      "tr_TR.ISO-8859-9"};

	for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
		if (!setlocale(LC_ALL, locales[i]))
			continue;
		check("INSTRUCTIONS", 0, "instructions cpu 0:1");
		check("MIGRATIONS", 0, "cpu-migrations software 1:4");
	}
	setlocale(LC_ALL, "C");
}

Test(events, generic_names_encode_without_a_pmu)
{
	tree_remove();
	tree_new();
	check("cycles:u", 0, "cycles:u cpu 0:0 -k -h");
	check("LLC-loads", 0, "LLC-loads cpu 3:2");
	check("r1a8", 0, "r1a8 cpu 4:1a8");
	check("cs", 0, "context-switches software 1:3");
}

/* --- what is counted by default ----------------------------------------------------- */

static int opens_all(const struct pm_event *event, void *argument)
{
	(void)event;
	++*(int *)argument;
	return 0;
}

static int opens_cycles(const struct pm_event *event, void *argument)
{
	(void)argument;
	return strncmp(event->name, "cycles", 6) ? -ENOENT : 0;
}

static int opens_none(const struct pm_event *event, void *argument)
{
	(void)event;
	(void)argument;
	return -EACCES;
}

static void check_auto(int (*opens)(const struct pm_event *event, void *argument),
		       const char *expected)
{
	struct pm_event_list *list;
	char dump[512];
	int asked = 0;

	cr_assert_eq(pm_events_auto(PM_EVENTS_USER_ONLY, opens, &asked, &list, NULL), 0);
	dump_list(list, dump, sizeof(dump));
	cr_expect_str_eq(dump, expected);
	cr_expect_eq(list->logical_count, list->count);
	for (size_t i = 0; i < list->count; i++)
		cr_expect_eq(list->events[i].logical, i);
	pm_events_free(list);
}

Test(events, by_default_what_opens_is_counted)
{
	kernel_errno = EPERM;
	pm_kernel_fault = refuse_the_kernel;
	check_auto(opens_all, "instructions:u cpu 0:1 -k -h; cycles:u cpu 0:0 -k -h");
	check_auto(opens_cycles, "cycles:u cpu 0:0 -k -h");
	check_auto(opens_none, "");
}

/* --- the public face ---------------------------------------------------------------- */

static int count_two(const struct perfmon_event_encoding *event, void *argument)
{
	int *seen = argument;

	cr_expect_eq(event->size, sizeof(*event));
	cr_expect_eq(event->attr->size, sizeof(*event->attr));
	cr_expect_eq(event->logical, (uint32_t)*seen);
	return ++*seen == 2 ? 17 : 0;
}

Test(events, a_visitor_sees_each_event_and_may_stop)
{
	char message[100] = "untouched";
	int seen = 0;

	cr_expect_eq(perfmon_event_expand("cycles", 0, count_two, &seen, message, 100),
		     0);
	cr_expect(seen == 1 && !message[0]);
	seen = 0;
	cr_expect_eq(
		perfmon_event_expand("cycles,cs,r1", 0, count_two, &seen, message, 100),
		17);
	cr_expect_eq(seen, 2);
	seen = 0;
	cr_expect_eq(
		perfmon_event_expand("cycles,nosuch", 0, count_two, &seen, message, 12),
		-EINVAL);
	cr_expect_eq(seen, 0);
	cr_expect_str_eq(message, "unknown eve");
	cr_expect_eq(perfmon_event_expand("nosuch", 0, count_two, &seen, NULL, 0),
		     -EINVAL);
	cr_expect_eq(perfmon_event_expand("cs", 0x80, count_two, &seen, NULL, 0),
		     -EINVAL);
	cr_expect_eq(perfmon_event_expand("cs", 0, NULL, NULL, NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_event_expand(NULL, 0, count_two, &seen, NULL, 0), -EINVAL);
}

Test(events, one_event_is_encoded_in_as_much_attr_as_the_caller_has)
{
	struct perf_event_attr attr;
	char message[200];

	memset(&attr, 0xff, sizeof(attr));
	attr.size = sizeof(attr);
	cr_assert_eq(perfmon_event_encode("r1a8:u", 0, &attr, message, sizeof(message)),
		     0);
	cr_expect(attr.type == PERF_TYPE_RAW && attr.config == 0x1a8 &&
		  attr.exclude_kernel && !attr.exclude_user && !attr.sample_period &&
		  attr.size == sizeof(attr));

	memset(&attr, 0xff, sizeof(attr));
	attr.size = PERF_ATTR_SIZE_VER0;
	cr_assert_eq(perfmon_event_encode("cycles", 0, &attr, message, sizeof(message)),
		     0);
	cr_expect_eq(attr.size, PERF_ATTR_SIZE_VER0);
	cr_expect_eq(((unsigned char *)&attr)[PERF_ATTR_SIZE_VER0], 0xff);

	/* config2 lies beyond the first published struct */
	memset(&attr, 0, sizeof(attr));
	attr.size = PERF_ATTR_SIZE_VER0;
	cr_expect_eq(perfmon_event_encode("mem:0x10", 0, &attr, message, sizeof(message)),
		     -E2BIG);
	cr_expect_eq(attr.type, 0);
	attr.size = PERF_ATTR_SIZE_VER0 - 1;
	cr_expect_eq(perfmon_event_encode("cs", 0, &attr, NULL, 0), -EINVAL);
	attr.size = sizeof(attr);
	cr_expect_eq(
		perfmon_event_encode("cs,cycles", 0, &attr, message, sizeof(message)),
		-ENOTUNIQ);
	cr_expect(strstr(message, "2 events") && strstr(message, "'cycles'"), "%s",
		  message);
	cr_expect_eq(perfmon_event_encode("cs", 0, NULL, NULL, 0), -EINVAL);
}
