/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What strings encode to is what this very kernel counts. */
#include "events_dump.h"
#include "tree.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "breakpoints.h"
#include "core/events/events.h"
#include "core/kernel/kernel.h"

static volatile long watched[4];

/* Opens the one event TEXT on this thread; its descriptor or a negative errno. */
static int open_event(const char *text, unsigned int flags)
{
	struct pm_event_list *list;
	struct pm_diag diag;
	int err = pm_events_parse(text, flags, &list, &diag), fd;

	cr_assert_eq(err, 0, "'%s': %s", text, diag.text);
	cr_assert_eq(list->count, 1);
	fd = pm_kernel_perf_event_open(&list->events[0].attr, 0, -1, -1, 0);
	pm_events_free(list);
	return fd;
}

static uint64_t read_event(int fd)
{
	uint64_t value = 0;

	cr_assert_eq(read(fd, &value, sizeof(value)), (ssize_t)sizeof(value));
	return value;
}

static int must_open(const char *text)
{
	int fd = open_event(text, PM_EVENTS_USER_ONLY);

	cr_assert_geq(fd, 0, "'%s': %s", text, strerror(-fd));
	return fd;
}

/* Skips where the machine does not count EVENT: the guest does. */
static void need(const char *event)
{
	int fd = open_event(event, PM_EVENTS_USER_ONLY);

	if (fd == -ENOENT || fd == -EOPNOTSUPP)
		cr_skip_test("this machine does not count %s: %s", event, strerror(-fd));
	if (fd == -EACCES || fd == -EPERM)
		cr_skip_test("kernel.perf_event_paranoid forbids %s", event);
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	close(fd);
}

static void need_perf(void)
{
	int fd = open_event("dummy:u", 0);

	if (fd < 0)
		cr_skip_test("perf_event_open refuses even dummy:u: %s", strerror(-fd));
	close(fd);
}

Test(events_open, software)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory;
	uint64_t before;
	int faults, clock;

	need_perf();
	faults = must_open("page-faults");
	clock = must_open("task-clock");
	memory = aligned_alloc(page, 64 * page);
	cr_assert_not_null((void *)memory);
	before = read_event(faults);
	for (size_t i = 0; i < 64; i++)
		memory[i * page] = 1;
	cr_expect_geq(read_event(faults) - before, 1);
	cr_expect_gt(read_event(clock), 1000);
	free((void *)memory);
	close(faults);
	close(clock);
}

Test(events_open, breakpoint)
{
	NEEDS_BREAKPOINTS();
	char text[64];
	int fd;

	need_perf();
	snprintf(text, sizeof(text), "mem:%p/%zu:w", (void *)&watched[1],
		 sizeof(watched[1]));
	fd = open_event(text, PM_EVENTS_USER_ONLY);
	if (fd == -ENOSPC || fd == -EOPNOTSUPP || fd == -ENOENT || fd == -ENODEV)
		cr_skip_test("no hardware breakpoint here: %s", strerror(-fd));
	cr_assert_geq(fd, 0, "'%s': %s", text, strerror(-fd));
	for (int i = 0; i < 17; i++) {
		watched[0] = i;
		watched[1] = i;
		watched[2] = i;
	}
	cr_expect_eq(read_event(fd), 17);
	close(fd);
}

Test(events_open, tracepoint)
{
	uint64_t before;
	int fd;

	if (geteuid())
		cr_skip_test("tracefs is for root");
	/* in a mount namespace of its own: the machine's stays as it is */
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		cr_skip_test("no mount namespace: %s", strerror(errno));
	if (access("/sys/kernel/tracing/events", F_OK) &&
	    mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL))
		cr_skip_test("this kernel has no tracefs: %s", strerror(errno));
	if (access("/sys/kernel/tracing/events/syscalls/sys_enter_getpgid", F_OK))
		cr_skip_test("this kernel has no tracepoints of system calls");
	fd = open_event("syscalls:SYS_enter_getpgid", 0);
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	before = read_event(fd);
	for (int i = 0; i < 5; i++)
		(void)!getpgid(0);
	cr_expect_eq(read_event(fd) - before, 5);
	close(fd);
}

static int same_as(const char *text, const struct perf_event_attr *attr)
{
	struct pm_event_list *list;
	struct pm_diag diag;
	int err = pm_events_parse(text, PM_EVENTS_USER_ONLY, &list, &diag), same;

	cr_assert_eq(err, 0, "'%s': %s", text, diag.text);
	same = list->count == 1 && list->events[0].attr.config == attr->config;
	pm_events_free(list);
	return same;
}

/* A block of exactly N instructions, a loop of two. */
static void block(uint64_t n)
{
#if defined(__aarch64__)
	n /= 2;
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#elif defined(__x86_64__)
	n /= 2;
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
	for (volatile uint64_t i = 0; i < n / 2; i++)
		;
#endif
}

/* Row: PM-16, Row: PC-16 (the vendor's code, by number or name, is what is counted) */
Test(events_open, every_way_to_say_instructions_retired_counts_the_same)
{
	struct pm_sysfs *sysfs;
	struct pm_sysfs_pmu *pmu;
	char texts[8][128];
	uint64_t counts[8];
	size_t n = 0;

	need("instructions");
	cr_assert_eq(pm_sysfs_load(&sysfs), 0);
	pmu = pm_sysfs_core(sysfs, 0);
	cr_assert_not_null(pmu);
	strcpy(texts[n++], "instructions");
#if defined(__aarch64__)
	strcpy(texts[n++], "INST_RETIRED");
	strcpy(texts[n++], "r8");
	snprintf(texts[n++], sizeof(texts[0]), "%s/inst_retired/", pmu->name);
	snprintf(texts[n++], sizeof(texts[0]), "%s/event=0x8/", pmu->name);
	snprintf(texts[n++], sizeof(texts[0]), "%s/config=8/", pmu->name);
	snprintf(texts[n++], sizeof(texts[0]), "%s/r8/", pmu->name);
	/* libpfm4 knows the guest's CPU */
	strcpy(texts[n++], "arm_ac57::INST_RETIRED");
	if (strstr(pmu->name, "armv8") == NULL)
		cr_skip_test("PMU %s is not an ARMv8 one", pmu->name);
#else
	snprintf(texts[n++], sizeof(texts[0]), "%s/event=0xc0/", pmu->name);
	strcpy(texts[n++], "rc0");
	snprintf(texts[n++], sizeof(texts[0]), "%s/instructions/", pmu->name);
#endif
	for (size_t i = 0; i < n; i++) {
		struct pm_event_list *list;
		struct pm_diag diag;
		int err = pm_events_parse(texts[i], PM_EVENTS_USER_ONLY, &list, &diag),
		    fd;
		uint64_t before;

		if (err == -ENOENT && strstr(texts[i], "::")) {
			cr_log_info("%s", diag.text);
			counts[i] = counts[0];
			continue;
		}
		cr_assert_eq(err, 0, "'%s': %s", texts[i], diag.text);
		cr_expect(list->events[0].hardware);
		fd = pm_kernel_perf_event_open(&list->events[0].attr, 0, -1, -1, 0);
		cr_assert_geq(fd, 0, "'%s': %s", texts[i], strerror(-fd));
		/* the least of a few: a tick of the clock may fall into one */
		counts[i] = UINT64_MAX;
		for (int repeat = 0; repeat < 5; repeat++) {
			uint64_t count;

			before = read_event(fd);
			block(100000);
			count = read_event(fd) - before;
			if (count < counts[i])
				counts[i] = count;
		}
		close(fd);
		pm_events_free(list);
		cr_expect(counts[i] >= 100000 && counts[i] < 101000, "'%s' counted %llu",
			  texts[i], (unsigned long long)counts[i]);
	}
	pm_sysfs_free(sysfs);
}

/* Every name that this machine's core PMU and perf give can be opened, or is refused with
 * the kernel's word for "not on this hardware". */
Test(events_open, what_the_driver_names_opens)
{
	struct pm_sysfs *sysfs;
	struct pm_sysfs_pmu *pmu;

	need("cycles");
	cr_assert_eq(pm_sysfs_load(&sysfs), 0);
	pmu = pm_sysfs_core(sysfs, 0);
	cr_assert_eq(pm_sysfs_pmu_load(pmu), 0);
	cr_expect_gt(pmu->alias_count, 0);
	for (size_t i = 0; i < pmu->alias_count; i++) {
		char text[256];
		int fd;

		snprintf(text, sizeof(text), "%s/%s/", pmu->name, pmu->aliases[i]);
		fd = open_event(text, PM_EVENTS_USER_ONLY);
		cr_expect(fd >= 0 || fd == -ENOENT || fd == -EINVAL || fd == -EOPNOTSUPP,
			  "'%s': %s", text, strerror(-fd));
		if (fd >= 0)
			close(fd);
	}
	pm_sysfs_free(sysfs);
}

#if defined(__aarch64__)
/* The guest's CPU: libpfm4's table for it and the driver's names must agree. */
Test(events_open, libpfm4_and_the_driver_agree)
{
	/* What the driver calls it, libpfm4's name, and the label for user mode. */
	static const char *const names[][3] = {
		{"INST_RETIRED", "arm_ac57::INST_RETIRED", "arm_ac57::INST_RETIRED:u"},
		{"CPU_CYCLES", "arm_ac57::CPU_CYCLES", "arm_ac57::CPU_CYCLES:u"},
		{"L1D_CACHE_REFILL", "arm_ac57::L1D_CACHE_REFILL",
		 "arm_ac57::L1D_CACHE_REFILL:u"},
		{"INST_RETIRED:uH", "arm_ac57::INST_RETIRED:uH",
		 "arm_ac57::INST_RETIRED:uH"},
	};
	struct pm_event_list *list;

	need("cycles");
	if (pm_events_parse("arm_ac57::INST_RETIRED", 0, &list, NULL))
		cr_skip_test("this CPU is not a Cortex-A57");
	pm_events_free(list);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct pm_diag diag;
		int err = pm_events_parse(names[i][1], PM_EVENTS_USER_ONLY, &list, &diag);

		cr_assert_eq(err, 0, "'%s': %s", names[i][1], diag.text);
		cr_expect_eq(list->events[0].attr.type, PERF_TYPE_RAW);
		cr_expect_str_eq(list->events[0].name, names[i][2]);
		cr_expect(list->events[0].attr.exclude_kernel);
		cr_expect(same_as(names[i][0], &list->events[0].attr), "%s", names[i][0]);
		pm_events_free(list);
	}
}
#else
Test(events_open, the_real_trees_names_and_numbers_agree)
{
	struct pm_event_list *list;

	if (pm_events_parse("msr/tsc/", 0, &list, NULL))
		cr_skip_test("this machine has no msr PMU");
	cr_expect(same_as("msr/event=0/", &list->events[0].attr));
	pm_events_free(list);
}
#endif
