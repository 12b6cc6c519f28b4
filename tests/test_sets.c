/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event sets that the program itself makes and switches. */
#include <errno.h>
#include <string.h>

#include "perfmon/overflow.h"
#include "helpers.h"
#include "session_probe.h"
#include "messages.h"

static struct perfmon_set_info info_of(struct perfmon_session *session, uint16_t id)
{
	struct perfmon_set_info info = {.id = id};

	OK(session, perfmon_set_get_info(session, &info, 1, sizeof(info)));
	return info;
}

/* Row: PM-40, PM-41: set 0 is there; sets are sparse, ordered by number whenever they are
 * made, made and deleted only while detached, and keep their counters when changed. */
Test(sets, are_made_and_deleted_while_detached)
{
	struct perfmon_session *session = session_with(NULL, 0);
	struct perfmon_set three[] = {{.id = 700}, {.id = 65535}, {.id = 3}};
	struct perfmon_set again = {.id = 700}, none = {.id = 4};
	struct perfmon_set bad[] = {{.id = 9}, {.id = 10, .flags = 0x100}};
	uint16_t ids[8];

	cr_assert_eq(perfmon_set_list(session, ids, 8), 1);
	cr_assert_eq(ids[0], 0);
	cr_assert_eq(perfmon_set_create(session, three, sizeof(three) / sizeof(three[0]),
					sizeof(three[0])),
		     3);
	cr_assert_eq(perfmon_set_list(session, ids, 8), 4);
	cr_assert(ids[0] == 0 && ids[1] == 3 && ids[2] == 700 && ids[3] == 65535);
	cr_assert_eq(perfmon_set_create(session, bad, sizeof(bad) / sizeof(bad[0]),
					sizeof(bad[0])),
		     -EINVAL);
	cr_assert_eq(perfmon_set_list(session, NULL, 0), 4,
		     "a bad vector changes nothing");

	cr_assert_eq(perfmon_set_add_events(session, 700, "dummy,page-faults"), 0);
	cr_assert_eq(perfmon_set_add_events(session, 3, "minor-faults"), 2);
	cr_assert_eq(perfmon_set_add_events(session, 65535, "major-faults"), 3);
	cr_assert_eq(perfmon_set_add_events(session, 4, "dummy"), -EINVAL);
	cr_assert_eq(perfmon_set_create(session, &again, 1, sizeof(again)), 1);
	cr_assert_eq(info_of(session, 700).counters, 2, "its registers are kept");

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	cr_assert_eq(perfmon_set_create(session, &none, 1, sizeof(none)), -EBUSY);
	cr_assert_eq(perfmon_set_delete(session, &again, 1, sizeof(again)), -EBUSY);
	cr_assert_eq(perfmon_session_add_events(session, "dummy;dummy"), -EBUSY,
		     "there is no set 1 to add to");
	cr_assert_eq(perfmon_session_counters(session), 4);
	OK(session, perfmon_session_detach(session));

	cr_assert_eq(perfmon_set_delete(session, &none, 1, sizeof(none)), -EINVAL);
	cr_assert_eq(perfmon_set_delete(session, &again, 1, sizeof(again)), 1);
	cr_assert_eq(perfmon_session_counters(session), 2, "counters go with their set");
	cr_assert_eq(info_of(session, 3).counters, 1);
	cr_assert_eq(info_of(session, 65535).counters, 1);
	perfmon_session_close(session);
}

/* Row: PM-04: sizes of vectors. */
Test(sets, vectors_are_checked)
{
	struct perfmon_session *session = session_with("dummy;dummy", 0);
	struct perfmon_set all[] = {{.id = 0}, {.id = 1}},
			   twice[] = {{.id = 1}, {.id = 1}};
	struct perfmon_set_info info = {.id = 0, .reserved = 1}, missing = {.id = 2};
	static struct perfmon_set many[PERFMON_SESSION_VECTOR_MAX + 1];

	cr_assert_eq(perfmon_set_create(session, all, 0, sizeof(all[0])), -EINVAL);
	cr_assert_eq(perfmon_set_create(session, all, 1, sizeof(all[0]) - 1), -EINVAL);
	cr_assert_eq(perfmon_set_create(session, NULL, 1, sizeof(all[0])), -EINVAL);
	cr_assert_eq(perfmon_set_create(session, many, sizeof(many) / sizeof(many[0]),
					sizeof(many[0])),
		     -E2BIG);
	for (uint16_t i = 0; i < PERFMON_SESSION_SETS_MAX + 1; i++)
		many[i].id = i;
	cr_assert_eq(perfmon_set_create(session, many, (PERFMON_SESSION_SETS_MAX + 1),
					sizeof(many[0])),
		     -E2BIG);
	cr_assert_eq(perfmon_set_list(session, NULL, 0), 2);
	cr_assert_eq(perfmon_set_delete(session, all, sizeof(all) / sizeof(all[0]),
					sizeof(all[0])),
		     -EINVAL, "one set stays");
	cr_assert_eq(perfmon_set_delete(session, twice, sizeof(twice) / sizeof(twice[0]),
					sizeof(twice[0])),
		     -EINVAL);
	cr_assert_eq(perfmon_set_get_info(session, &info, 1, sizeof(info)), -EINVAL);
	cr_assert_eq(perfmon_set_get_info(session, &missing, 1, sizeof(missing)),
		     -EINVAL);
	cr_assert(strstr(session_message_of(session), "event set 2"));
	cr_assert_eq(perfmon_set_delete(session, all, 1, sizeof(all[0])), 1,
		     "set 0 is a set as any other");
	perfmon_session_close(session);
}

/* Row: PM-29, PM-40, PM-45: it starts at the lowest, then at the last active one, or at
 * the one that is named; only the active set counts; what each was active is
 * what its counters ran, and no more than the session. */
Test(sets, one_is_active_at_a_time)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_session *session;
	struct perfmon_set_info first, second;
	uint64_t total;

	snprintf(events, sizeof(events), "%s;%s", watch_event(0), watch_event(0));
	session = session_with(events, 0);
	cr_assert_eq(perfmon_set_start(session, 1), -EINVAL, "detached");
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	touch(0, 5);
	OK(session, perfmon_session_start(session));
	cr_assert(info_of(session, 0).is_active);
	touch(0, 10);
	spin(20 * 100000);
	cr_assert_eq(perfmon_set_start(session, 7), -EINVAL);
	OK(session, perfmon_set_start(session, 1));
	cr_assert(info_of(session, 1).is_active && !info_of(session, 0).is_active);
	touch(0, 100);
	spin(20 * 100000);
	cr_assert_eq(count_of(session, 0), 10);
	cr_assert_eq(count_of(session, 1), 100);
	OK(session, perfmon_session_stop(session));
	touch(0, 5);
	OK(session, perfmon_session_start(session));
	touch(0, 1000); /* set 1 was the last */
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(count_of(session, 0), 10);
	cr_assert_eq(count_of(session, 1), 1100);

	first = info_of(session, 0);
	second = info_of(session, 1);
	cr_assert_eq(first.runs, 1);
	cr_assert_eq(second.runs, 2);
	cr_assert(first.active_ns > 0 && second.active_ns > 0);
	total = count_of(session, PERFMON_COUNTER_VIRTUAL_TIME);
	cr_assert_leq(first.active_ns + second.active_ns, total);
	cr_assert_eq(first.active_ns, value_of(session, 0).running_ns);
	cr_assert_eq(second.active_ns, value_of(session, 1).running_ns);
	cr_assert_eq(value_of(session, 0).enabled_ns, total,
		     "a counter was enabled for as long as the session ran");
	cr_assert(value_of(session, 0).status & PERFMON_VALUE_MULTIPLEXED);

	/* All that survives a detach, and the next attach begins with the last set. */
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(count_of(session, 1), 1100);
	cr_assert_eq(info_of(session, 1).runs, 2);
	cr_assert_eq(info_of(session, 0).active_ns, first.active_ns);
	cr_assert_eq(info_of(session, 1).active_ns, second.active_ns);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 1);
	OK(session, perfmon_set_start(session, 0));
	touch(0, 2);
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(count_of(session, 1), 1101);
	cr_assert_eq(count_of(session, 0), 12);
	perfmon_session_close(session);
}

/* Row: PM-46: a written value goes on from there in any set. */
Test(sets, values_are_written_in_any_set)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_session *session;
	struct perfmon_write write = {.index = 1, .value = 50};

	snprintf(events, sizeof(events), "%s;%s", watch_event(0), watch_event(0));
	session = session_with(events, 0);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_set_start(session, 1));
	touch(0, 3);
	OK(session, perfmon_session_write(session, &write, 1, sizeof(write), 0));
	touch(0, 4);
	OK(session, perfmon_set_start(session, 0));
	write.value = 80;
	touch(0, 5);
	cr_assert_eq(count_of(session, 1), 54);
	OK(session, perfmon_session_write(session, &write, 1, sizeof(write), 0));
	OK(session, perfmon_set_start(session, 1));
	touch(0, 6);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(count_of(session, 1), 86);
	cr_assert_eq(count_of(session, 0), 5);
	perfmon_session_close(session);
}

/* An estimate is of what was counted: the value that the program wrote has no rate. */
Test(sets, an_estimate_is_without_what_was_written)
{
	NEEDS_BREAKPOINTS();
	const struct perfmon_write write = {.index = 0, .value = UINT64_C(1) << 60};
	struct perfmon_estimate estimate = {.index = 0};
	struct perfmon_session *session;
	char events[200];

	snprintf(events, sizeof(events), "%s;dummy", watch_event(0));
	session = session_with(events, 0);
	OK(session, perfmon_session_write(session, &write, 1, sizeof(write), 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	OK(session, perfmon_set_start(session, 1));
	spin(20000);
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_set_estimate(session, &estimate, 1, sizeof(estimate)));
	cr_assert_geq(estimate.value, 10);
	cr_assert_lt(estimate.value, 1e12);
	perfmon_session_close(session);
}

/* The kernel's own rotation: all sets are enabled, and what fits counts all the time. */
Test(sets, the_kernel_may_rotate)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_session *session;

	snprintf(events, sizeof(events), "%s;%s", watch_event(0), watch_event(1));
	session = session_with(events, PERFMON_SESSION_ROTATE);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	touch(1, 20);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(count_of(session, 0), 10);
	cr_assert_eq(count_of(session, 1), 20);
	cr_assert(value_of(session, 1).status & PERFMON_VALUE_COUNTED);
	perfmon_session_close(session);
}

/* Row: PM-45: the next set's time begins when it is started, not with the last stop of
 * another one. */
Test(sets, a_set_is_chosen_while_stopped)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_session *session;
	uint64_t active_ns;

	snprintf(events, sizeof(events), "%s;%s", watch_event(0), watch_event(0));
	session = session_with(events, 0);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 100);
	OK(session, perfmon_session_stop(session));
	active_ns = info_of(session, 0).active_ns;
	cr_assert_gt(active_ns, 0);
	OK(session, perfmon_set_start(session, 1));
	touch(0, 10);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(info_of(session, 0).active_ns, active_ns);
	cr_assert_gt(info_of(session, 1).active_ns, 0);
	cr_assert_leq(info_of(session, 1).active_ns + active_ns,
		      count_of(session, PERFMON_COUNTER_VIRTUAL_TIME));
	cr_assert_eq(count_of(session, 0), 100);
	cr_assert_eq(count_of(session, 1), 10);
	perfmon_session_close(session);
}

/* A set that goes takes its counters with it: what names the others by their numbers
 * names them still. */
Test(sets, deleting_renumbers_what_overflows_set_back)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .short_reset = -UINT64_C(10),
					    .reset_counters = (uint32_t[]){3},
					    .reset_count = 1};
	struct perfmon_write first[] = {{.index = 0, .value = -UINT64_C(10)},
					{.index = 2, .value = 70},
					{.index = 3, .value = 80}};
	struct perfmon_set set = {.id = 1};
	struct perfmon_session *session;

	snprintf(events, sizeof(events), "%s;dummy", watch_event(0));
	session = session_with(events, 0);
	OK(session, perfmon_set_add_events(session, 0, "dummy"));
	OK(session, perfmon_set_add_events(session, 0, "dummy"));
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session,
	   perfmon_session_write(session, first, sizeof(first) / sizeof(first[0]),
				 sizeof(first[0]), 0));
	OK(session, perfmon_set_delete(session, &set, 1, sizeof(set)));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	cr_assert_eq(count_of(session, 0), -UINT64_C(10));
	cr_assert_eq(count_of(session, 1), 70);
	cr_assert_eq(count_of(session, 2), 0);
	perfmon_session_close(session);
}
