/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Libraries that are loaded when they are needed: when that is, and what is said where one is
 * not here. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "core/events/events.h"
#include "core/kernel/library.h"
#include "core/text/diag.h"
#include "perfmon/perfmon.h"
#include "core/topology/topology.h"

#if defined(PFM_SONAME) && defined(HWLOC_SONAME)

/* Stands in front of libc's: what is taken away is looked for where nothing is. */
static const char *absent;
static unsigned int calls;

void *dlopen(const char *name, int flags)
{
	void *(*next)(const char *, int) =
		(void *(*)(const char *, int))(uintptr_t)dlsym(RTLD_NEXT, "dlopen");
	char path[128];

	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	if (!absent || !name || strcmp(name, absent) != 0)
		return next(name, flags);
	snprintf(path, sizeof(path), "/nowhere/%s", name);
	return next(path, flags);
}

static bool is_loaded(const char *soname)
{
	char line[4096];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "r");

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, soname) != NULL;
	fclose(maps);
	return found;
}

static int parse(const char *text, struct pm_diag *diag)
{
	struct pm_event_list *list = NULL;
	int err;

	pm_diag_clear(diag);
	err = pm_events_parse(text, PM_EVENTS_USER_ONLY, &list, diag);
	if (!err)
		pm_events_free(list);
	return err;
}

static void report(void)
{
	FILE *nowhere = fopen("/dev/null", "w");

	cr_assert_not_null(nowhere);
	setenv("PERFMON_OUTPUT", "none", 1);
	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("work");
		PERFMON_REGION_END("work");
	}
	cr_assert_eq(perfmon_report_write(fileno(nowhere), NULL), 0);
	fclose(nowhere);
}

Test(library, regions_and_their_report_need_none)
{
	report();
	cr_expect_not(is_loaded(PFM_SONAME));
	cr_expect_not(is_loaded(HWLOC_SONAME));
}

Test(library, names_of_the_kernel_need_none)
{
	static const char *const names[] = {"page-faults,task-clock:u",
					    "{instructions,cycles}:u",
					    "LLC-load-misses",
					    "cs,faults,L1-icache",
					    "mem:0x1000:w",
					    "cpu-clock;dummy"};
	struct pm_diag diag;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pm_events_prepare(names[i]);
		cr_expect_eq(parse(names[i], &diag), 0, "%s: %s", names[i], diag.text);
		cr_expect_not(is_loaded(PFM_SONAME), "%s", names[i]);
	}
}

Test(library, libpfm4_is_loaded_for_a_name_before_the_lock_of_regions)
{
	unsigned int before = calls;

	/* "perf" is libpfm4's PMU of the kernel's events: it is on each machine. */
	pm_events_prepare("task-clock,perf::PERF_COUNT_SW_PAGE_FAULTS");
	cr_expect(is_loaded(PFM_SONAME));
	cr_expect_eq(calls, before + 1);
	setenv("PERFMON_EVENTS", "perf::PERF_COUNT_SW_PAGE_FAULTS", 1);
	report();
	cr_expect_eq(calls, before + 1, "it is loaded once");
	cr_expect_not(is_loaded(HWLOC_SONAME));
}

Test(library, regions_load_libpfm4_for_a_name)
{
	setenv("PERFMON_EVENTS", "perf::PERF_COUNT_SW_PAGE_FAULTS", 1);
	report();
	cr_expect(is_loaded(PFM_SONAME));
}

Test(library, hwloc_is_loaded_for_a_level)
{
	struct pm_topology *topology;

	cr_assert_eq(pm_topology_get(&topology, NULL), 0);
	cr_expect(is_loaded(HWLOC_SONAME));
	cr_expect_not(topology->plain);
	cr_expect_null(topology->why_plain);
	cr_expect_not(is_loaded(PFM_SONAME));
	pm_topology_put(topology);
}

Test(library, without_libpfm4_its_names_are_refused_with_the_reason)
{
	struct pm_diag diag;

	absent = PFM_SONAME;
	cr_expect_eq(parse("perf::PERF_COUNT_SW_PAGE_FAULTS", &diag), -ENOENT);
	cr_expect(strstr(diag.text,
			 "event 'perf::PERF_COUNT_SW_PAGE_FAULTS' is libpfm4's: "
			 "cannot load " PFM_SONAME " ("),
		  "%s", diag.text);
	cr_expect(strstr(diag.text, ": install libpfm (Debian's package is libpfm4)"),
		  "%s", diag.text);
	cr_expect_eq(parse("no_such_event", &diag), -EINVAL);
	cr_expect(strstr(diag.text, "unknown event 'no_such_event'"), "%s", diag.text);
	cr_expect(strstr(diag.text, "cannot load " PFM_SONAME), "%s", diag.text);
	cr_expect_eq(parse("page-fults", &diag), -EINVAL);
	cr_expect(strstr(diag.text, "did you mean 'page-faults'"), "%s", diag.text);
	cr_expect_eq(parse("page-faults,dummy", &diag), 0, "%s", diag.text);
	cr_expect_not(is_loaded(PFM_SONAME));
}

static int visit(const struct perfmon_event_info *info, void *argument)
{
	*(unsigned int *)argument += info->source == PERFMON_EVENT_SOURCE_LIBPFM;
	return 0;
}

Test(library, without_libpfm4_the_list_says_that_it_is_short)
{
	struct pm_diag diag = {0};
	unsigned int count = 0;

	absent = PFM_SONAME;
	cr_expect_eq(pm_events_list("", PERFMON_EVENT_ALL_PMUS, visit, &count, &diag), 0);
	cr_expect_eq(count, 0);
	cr_expect(strstr(diag.text, "libpfm4's events are not listed: cannot load"), "%s",
		  diag.text);
}

Test(library, with_libpfm4_the_list_says_nothing)
{
	struct pm_diag diag = {0};
	unsigned int count = 0;

	cr_expect_eq(pm_events_list("", PERFMON_EVENT_ALL_PMUS, visit, &count, &diag), 0);
	cr_expect_gt(count, 1000);
	cr_expect_str_empty(diag.text);
}

Test(library, without_hwloc_levels_are_refused_with_the_reason)
{
	struct perfmon_placement *placement = NULL;
	struct pm_topology *topology;
	struct pm_diag diag = {0};

	absent = HWLOC_SONAME;
	cr_expect_eq(pm_placement_parse("core:0", &placement, &diag), -ENODEV);
	cr_expect(strstr(diag.text,
			 "no level 'core' visible without hwloc; it has pu, machine; "
			 "cannot load " HWLOC_SONAME " ("),
		  "%s", diag.text);
	cr_assert_eq(pm_placement_parse("cpu:0", &placement, &diag), 0, "%s", diag.text);
	pm_placement_free(placement);
	cr_assert_eq(pm_topology_get(&topology, NULL), 0);
	cr_expect(topology->plain);
	pm_topology_put(topology);
}

static void *parses(void *argument)
{
	struct pm_diag diag;

	(void)argument;
	return (void *)(uintptr_t)(parse("perf::PERF_COUNT_SW_PAGE_FAULTS", &diag) != 0);
}

Test(library, threads_load_at_the_same_time)
{
	pthread_t threads[8];
	void *failed;

	for (size_t i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, parses, NULL), 0);
	for (size_t i = 0; i < 8; i++) {
		pthread_join(threads[i], &failed);
		cr_expect_null(failed);
	}
}

#define NAMES(X) X(pm_no_such_function)
extern int pm_no_such_function(void);
PM_LIBRARY_LOADED(old, NAMES, PM_LOCK_FORMATS, "libc.so.6", "a newer one");

Test(library, one_without_a_function_is_refused)
{
	cr_expect_eq(pm_library_need(&old_library), -ELIBACC);
	cr_expect(strstr(old_library.refused.text, "pm_no_such_function"), "%s",
		  old_library.refused.text);
	cr_expect(strstr(old_library.refused.text, "install a newer one"), "%s",
		  old_library.refused.text);
	cr_expect_null(old.pm_no_such_function);
	cr_expect_eq(pm_library_need(&old_library), -ELIBACC, "and again");
}
#else
Test(library, both_are_linked)
{
	cr_skip("libpfm4 and hwloc are here as archives: they are linked");
}
#endif
