/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The catalogue of events. */
#include "events_dump.h"
#include "tree.h"

#include "perfmon/event.h"

TestSuite(events_list, .fini = tree_remove);

struct found {
	size_t count, umasks, absent, by_source[8];
	char names[4096];
	size_t stop_after;
};

static int collect(const struct perfmon_event_info *info, void *argument)
{
	struct found *found = argument;
	size_t n = strlen(found->names);

	cr_assert_eq(info->size, sizeof(*info));
	cr_assert(info->name[0] && info->alias && info->pmu[0] && info->description &&
		  info->unit);
	found->count++;
	found->umasks += info->is_umask;
	found->absent += !info->is_present;
	found->by_source[info->source]++;
	if (n + strlen(info->name) + 2 < sizeof(found->names))
		sprintf(found->names + n, "%s%s", n ? " " : "", info->name);
	return found->stop_after && found->count == found->stop_after ? 99 : 0;
}

static struct found list(const char *pattern, unsigned int flags)
{
	struct found found = {0};
	char message[200];

	cr_assert_eq(perfmon_event_list(pattern, flags, collect, &found, message,
					sizeof(message)),
		     0, "%s", message);
	return found;
}

/* Row: HW-14 (lists by pattern) */
Test(events_list, names_are_found_by_a_part_or_a_glob)
{
	tree_unpack("server");
	cr_expect_str_eq(list("BRANCH-MISS", 0).names, "branch-misses");
	cr_expect_str_eq(list("cpu-cycles", 0).names, "cycles cpu/cpu-cycles/");
	cr_expect_str_eq(list("*-faults", 0).names,
			 "page-faults minor-faults major-faults alignment-faults "
			 "emulation-faults");
	cr_expect_str_eq(list("faul*", 0).names, "page-faults"); /* by its short form */
	cr_expect_str_eq(list("l1-dcache*miss*", 0).names,
			 "L1-dcache-load-misses L1-dcache-store-misses "
			 "L1-dcache-prefetch-misses");
	cr_expect_str_eq(list("energy-pkg", 0).names, "power/energy-pkg/");
	cr_expect_str_eq(list("uncore_imc_1?/clockticks/", 0).names,
			 "uncore_imc_10/clockticks/ uncore_imc_11/clockticks/");
	cr_expect_str_eq(list("el-abort", 0).names, "cpu/el-abort/");
	cr_expect_eq(list("no such event", 0).count, 0);
}

Test(events_list, everything_is_listed_but_tracepoints)
{
	struct found all;

	tree_unpack("server");
	all = list(NULL, 0);
	/* 10 hardware names and the cache names that make sense */
	cr_expect_eq(all.by_source[PERFMON_EVENT_SOURCE_GENERIC],
		     10 + 2 * (4 * 3 + 2 + 1 + 1));
	cr_expect_eq(all.by_source[PERFMON_EVENT_SOURCE_SOFTWARE], 12);
	/* what cannot be read as an event is left out: two of cha's seven, twice */
	cr_expect_eq(all.by_source[PERFMON_EVENT_SOURCE_SYSFS],
		     5 + 11 * 2 + 1 + 2 * 5 + 1 + 2);
	cr_expect_eq(all.by_source[PERFMON_EVENT_SOURCE_TRACEPOINT], 0);
	cr_expect_eq(all.absent, 0);
	cr_expect_eq(list("", 0).count, all.count);
	tree_remove();
	tree_new();
	/* no PMU: the portable names stay, marked */
	cr_expect_eq(list("cycles", 0).absent,
		     list("cycles", 0).count -
			     list("cycles", 0).by_source[PERFMON_EVENT_SOURCE_LIBPFM]);
}

Test(events_list, tracepoints_are_listed_when_asked_for)
{
	char message[200];
	struct found found = {0};

	tree_unpack("server");
	cr_expect_str_eq(list("sched:*", 0).names,
			 "sched:sched_switch sched:sched_wakeup");
	cr_expect_str_eq(list("D:SCHED_sw", 0).names, "sched:sched_switch");
	cr_expect_eq(list("tracepoint", 0).count, 4);
	cr_expect_eq(list("sched_switch", 0).count, 0);
	tree_remove();
	tree_new();
	cr_expect_eq(perfmon_event_list("tracepoint", 0, collect, &found, message,
					sizeof(message)),
		     -ENOENT);
	cr_expect(strstr(message, "tracefs is not mounted"), "%s", message);
}

Test(events_list, libpfm4_tables_of_absent_pmus_on_request)
{
	struct found present, all, masks;

	tree_new();
	present = list("*::*", 0);
	all = list("*::*", PERFMON_EVENT_ALL_PMUS);
	masks = list("*::*", PERFMON_EVENT_ALL_PMUS | PERFMON_EVENT_UMASKS);
	cr_expect_eq(present.absent, 0);
	cr_expect_gt(all.absent, 1000);
	cr_expect_gt(all.count, present.count);
	cr_expect_eq(all.umasks, 0);
	cr_expect_gt(masks.umasks, 0);
	cr_expect_eq(masks.count - masks.umasks, all.count);
	cr_expect_gt(list("perf::perf_count_hw_cache_l1d:*",
			  PERFMON_EVENT_ALL_PMUS | PERFMON_EVENT_UMASKS)
			     .umasks,
		     3);
}

/* Whatever the list names on this very machine can be encoded. */
static int encode_it(const struct perfmon_event_info *info, void *argument)
{
	struct pm_event_list *events;
	struct pm_diag diag;
	int err = pm_events_parse(info->name, 0, &events, &diag);

	++*(size_t *)argument;
	/* libpfm4 has events that need a unit mask; drivers have some with open terms */
	if (err == -EINVAL && (info->source == PERFMON_EVENT_SOURCE_LIBPFM ||
			       strchr(info->description, '?')))
		return 0;
	cr_expect_eq(err, 0, "'%s': %s", info->name, diag.text);
	if (!err)
		pm_events_free(events);
	return 0;
}

Test(events_list, what_is_listed_can_be_encoded)
{
	size_t count = 0;

	cr_assert_eq(perfmon_event_list(NULL, PERFMON_EVENT_UMASKS, encode_it, &count,
					NULL, 0),
		     0);
	cr_expect_gt(count, 50);
}

Test(events_list, a_visitor_may_stop_and_mistakes_are_refused)
{
	char message[100], pattern[300];
	struct found found = {.stop_after = 3};

	tree_unpack("hybrid");
	cr_expect_eq(perfmon_event_list(NULL, 0, collect, &found, message, 100), 99);
	cr_expect_eq(found.count, 3);
	cr_expect_eq(perfmon_event_list(NULL, 0x40, collect, &found, message, 100),
		     -EINVAL);
	cr_expect_eq(perfmon_event_list(NULL, PERFMON_EVENT_USER_ONLY, collect, &found,
					NULL, 0),
		     -EINVAL);
	cr_expect_eq(perfmon_event_list(NULL, 0, NULL, NULL, NULL, 0), -EINVAL);
	memset(pattern, 'x', sizeof(pattern));
	pattern[256] = '\0';
	cr_expect_eq(perfmon_event_list(pattern, 0, collect, &found, message, 100),
		     -E2BIG);
	cr_expect(strstr(message, "'xxxxxxxx"), "%s", message);
	pattern[255] = '\0';
	cr_expect_eq(perfmon_event_list(pattern, 0, collect, &found, message, 100), 0);
}
