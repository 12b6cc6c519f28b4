/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The session: its states, its values, its errors. Software events, so that it runs on
 * every machine. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bounds.h"
#include "perfmon/inline.h"
#include "perfmon/session.h"
#include "helpers.h"
#include "kernel_calls.h"
#include "messages.h"

TestSuite(session, .fini = unwatch_calls);

static struct perfmon_session *make(const char *events)
{
	struct perfmon_session *session = NULL;

	cr_assert_eq(perfmon_session_create(&session, NULL, NULL, 0), 0);
	if (events)
		cr_assert_geq(perfmon_session_add_events(session, events), 0, "%s",
			      session_message_of(session));
	return session;
}

static struct perfmon_session *make_attached(const char *events)
{
	struct perfmon_session *session = make(events);

	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0,
		     "%s", session_message_of(session));
	return session;
}

static struct perfmon_value value_of(struct perfmon_session *session, uint32_t index)
{
	struct perfmon_value value = {.index = index};

	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), 1, "%s",
		     session_message_of(session));
	return value;
}

/* Row: PM-01 creating touches no PMU: no descriptor, every counter reads 0 */
Test(session, creating_and_preparing_opens_nothing)
{
	struct perfmon_session *session;
	int before;

	/* Whatever the event tables open for good, they have opened then. */
	perfmon_session_close(make("dummy"));
	before = open_descriptors();
	watch_calls();
	session = make("page-faults,task-clock");
	cr_assert_eq(calls[PM_CALL_PERF_EVENT_OPEN], 0);
	unwatch_calls();
	cr_assert_eq(open_descriptors(), before);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_assert_eq(perfmon_session_counters(session), 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct perfmon_value value = value_of(session, i);

		cr_assert_eq(value.value, 0);
		cr_assert_eq(value.enabled_ns, 0);
		cr_assert_eq(value.status, PERFMON_VALUE_NEVER_OPENED);
	}
	perfmon_session_close(session);
	perfmon_session_close(NULL);
}

Test(session, a_thousand_prepared_sessions_hold_no_descriptor)
{
	struct perfmon_session *sessions[1000];
	int before;

	sessions[0] = make("page-faults");
	before = open_descriptors();
	for (int i = 1; i < 1000; i++)
		sessions[i] = make("page-faults");
	cr_assert_eq(open_descriptors(), before);
	for (int i = 0; i < 1000; i++)
		perfmon_session_close(sessions[i]);
}

/* Row: PM-15 reserved fields and unknown flags must be zero, structures carry their
 * size */
Test(session, options_are_checked)
{
	struct {
		struct perfmon_session_options options;
		uint64_t newer;
	} later = {.options = {.size = sizeof(later)}};
	struct perfmon_session_options options = {.size = sizeof(options)};
	struct perfmon_session *session = (void *)1;

	cr_assert_eq(perfmon_session_create(NULL, NULL, NULL, 0), -EINVAL);
	options.flags = 0x80000000;
	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), -EINVAL);
	options.flags = 0;
	options.scope = 2;
	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), -EINVAL);
	options.scope = 0;
	options.size = 8;
	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), -EINVAL);
	later.newer = 1;
	cr_assert_eq(perfmon_session_create(&session, &later.options, NULL, 0), -E2BIG);
	cr_assert_eq(session, (void *)1, "untouched on failure");
	later.newer = 0;
	cr_assert_eq(perfmon_session_create(&session, &later.options, NULL, 0), 0);
	perfmon_session_close(session);
}

/* --- the state table ---------------------------------------------------------------- */

enum call {
	ADD,
	PROGRAM,
	WRITE,
	READ,
	INFO,
	ATTACH,
	ATTACH_CPU,
	START,
	STOP,
	DETACH,
	CALLS
};

static const char *const call_names[CALLS] = {"add",  "program", "write",      "read",
					      "info", "attach",	 "attach cpu", "start",
					      "stop", "detach"};

static int make_call(struct perfmon_session *session, enum call call)
{
	struct perfmon_value value = {.index = 0};
	struct perfmon_write write = {.index = 0, .value = 5};
	struct perfmon_counter_info info = {.size = sizeof(info)};

	switch (call) {
	case ADD:
		return perfmon_session_add_events(session, "dummy");
	case PROGRAM:
		return perfmon_session_program(session, 1, "page-faults");
	case WRITE:
		return perfmon_session_write(session, &write, 1, sizeof(write), 0);
	case READ:
		return perfmon_session_read(session, &value, 1, sizeof(value), 0);
	case INFO:
		return perfmon_session_get_counter(session, 0, &info);
	case ATTACH:
		return perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
	case ATTACH_CPU:
		return perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, 0);
	case START:
		return perfmon_session_start(session);
	case STOP:
		return perfmon_session_stop(session);
	case DETACH:
		return perfmon_session_detach(session);
	default:
		return -ENOSYS;
	}
}

/*
 * Row: PM-02 the wrong attach call gives EINVAL
 * Row: PM-07 detach at any time, harmless when repeated
 */
Test(session, every_call_in_every_state)
{
	static const struct {
		int result[3]; /* detached, stopped, running */
		int state[3];
	} table[CALLS] = {
		[ADD] = {{2, 2, -EBUSY}, {0, 1, 2}},
		[PROGRAM] = {{0, 0, -EBUSY}, {0, 1, 2}},
		[WRITE] = {{1, 1, 1}, {0, 1, 2}},
		[READ] = {{1, 1, 1}, {0, 1, 2}},
		[INFO] = {{0, 0, 0}, {0, 1, 2}},
		[ATTACH] = {{0, -EBUSY, -EBUSY}, {1, 1, 2}},
		[ATTACH_CPU] = {{-EINVAL, -EINVAL, -EINVAL}, {0, 1, 2}},
		[START] = {{-EINVAL, 0, 0}, {0, 2, 2}},
		[STOP] = {{-EINVAL, 0, 0}, {0, 1, 1}},
		[DETACH] = {{0, 0, 0}, {0, 0, 0}},
	};

	for (int call = 0; call < CALLS; call++) {
		for (int state = 0; state < 3; state++) {
			struct perfmon_session *session = make("task-clock,dummy");
			int result;

			if (state >= 1)
				cr_assert_eq(
					perfmon_session_attach(
						session, PERFMON_TARGET_KIND_THREAD, 0),
					0);
			if (state == 2)
				cr_assert_eq(perfmon_session_start(session), 0);
			cr_assert_eq(perfmon_session_state(session), state);
			result = make_call(session, (enum call)call);
			cr_assert_eq(result, table[call].result[state],
				     "%s in state %d: %d", call_names[call], state,
				     result);
			cr_assert_eq(perfmon_session_state(session),
				     table[call].state[state], "%s in state %d",
				     call_names[call], state);
			if (result < 0)
				cr_assert_neq(session_message_of(session)[0], '\0',
					      "%s in state %d has no message",
					      call_names[call], state);
			perfmon_session_close(session);
		}
	}
	for (int call = 0; call < CALLS; call++)
		cr_assert_eq(make_call(NULL, (enum call)call), -EINVAL);
}

/* Row: PM-07 re-attach and counts go on from there */
Test(session, values_survive_detaching_and_go_on)
{
	struct perfmon_session *session = make_attached("page-faults");
	struct perfmon_value first, second;
	int before = open_descriptors();

	cr_assert_eq(perfmon_session_start(session), 0);
	fault_pages(100);
	cr_assert_eq(perfmon_session_detach(session), 0);
	cr_assert_lt(open_descriptors(), before);
	first = value_of(session, 0);
	cr_assert_geq(first.value, 100);
	cr_assert_leq(first.value, MOST(110));
	cr_assert_eq(first.status, PERFMON_VALUE_COUNTED);
	cr_assert_gt(first.enabled_ns, 0);
	fault_pages(1000); /* nobody counts this */
	cr_assert_eq(value_of(session, 0).value, first.value);
	cr_assert_eq(perfmon_session_detach(session), 0);

	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);
	cr_assert_eq(value_of(session, 0).value, first.value, "attached means stopped");
	cr_assert_eq(perfmon_session_start(session), 0);
	fault_pages(100);
	cr_assert_eq(perfmon_session_stop(session), 0);
	second = value_of(session, 0);
	cr_assert_geq(second.value, first.value + 100);
	cr_assert_leq(second.value, MOST(first.value + 110));
	cr_assert_gt(second.enabled_ns, first.enabled_ns);
	perfmon_session_close(session);
}

/* Row: PM-09 any number of starts and stops, one system call for a whole set */
Test(session, start_and_stop_are_one_call_and_count_only_between)
{
	struct perfmon_session *session =
		make_attached("page-faults,dummy,task-clock,cpu-clock");
	uint64_t before, after;

	for (int i = 0; i < 100; i++) {
		before = value_of(session, 0).value;
		watch_calls();
		cr_assert_eq(perfmon_session_start(session), 0);
		cr_assert_eq(all_calls(), 1);
		cr_assert_eq(calls[PM_CALL_IOCTL], 1);
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
		cr_assert_eq(all_calls(), 1);
		unwatch_calls();
		fault_pages(10);
		watch_calls();
		cr_assert_eq(perfmon_session_stop(session), 0);
		cr_assert_eq(all_calls(), 1);
		unwatch_calls();
		after = value_of(session, 0).value;
		cr_assert_geq(after - before, 10);
		cr_assert_leq(after - before, MOST(15));
		fault_pages(10);
		cr_assert_eq(value_of(session, 0).value, after);
	}
	/* Only the first reading since a stop asks the kernel. */
	watch_calls();
	value_of(session, 1);
	cr_assert_eq(all_calls(), 0);
	perfmon_session_close(session);
}

/* Row: PM-03 events and values are written independently, before or after attach */
Test(session, events_and_values_are_written_independently)
{
	struct perfmon_session *session = make("dummy");
	struct perfmon_write write = {.index = 0, .value = UINT64_C(1) << 60};

	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0), 1);
	cr_assert_eq(value_of(session, 0).value, write.value);
	cr_assert_eq(perfmon_session_program(session, 0, "page-faults"), 0);
	cr_assert_eq(value_of(session, 0).value, write.value,
		     "the event has no say in it");
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);
	cr_assert_eq(perfmon_session_start(session), 0);
	fault_pages(100);
	cr_assert_eq(perfmon_session_stop(session), 0);
	cr_assert_geq(value_of(session, 0).value, write.value + 100);

	/* Attached and stopped: the value falls by a write, and the event changes. */
	write.value = 7;
	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0), 1);
	cr_assert_eq(value_of(session, 0).value, 7);
	cr_assert_eq(value_of(session, 0).enabled_ns, 0);
	cr_assert_eq(perfmon_session_program(session, 0, "dummy"), 0);
	cr_assert_eq(perfmon_session_start(session), 0);
	fault_pages(100);
	cr_assert_eq(value_of(session, 0).value, 7, "dummy counts nothing");
	/* Running: the value is written, counting goes on from there. */
	write.value = 1000;
	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0), 1);
	cr_assert_eq(value_of(session, 0).value, 1000);
	cr_assert_eq(perfmon_session_stop(session), 0);
	cr_assert_eq(perfmon_session_program(session, 0, "page-faults"), 0);
	cr_assert_eq(perfmon_session_start(session), 0);
	fault_pages(100);
	cr_assert_geq(value_of(session, 0).value, 1100);
	write.value = 0;
	cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0), 1);
	fault_pages(10);
	cr_assert_leq(value_of(session, 0).value, MOST(30));
	cr_assert_geq(value_of(session, 0).value, 10);
	perfmon_session_close(session);
}

/* Row: PC-12 the same control again costs no reprogramming */
Test(session, the_same_program_again_costs_nothing)
{
	struct perfmon_session *session = make_attached("page-faults,task-clock");

	watch_calls();
	cr_assert_eq(perfmon_session_program(session, 1, "task-clock"), 0);
	cr_assert_eq(all_calls(), 0);
	/* Said in other words: read anew, but no event is opened. */
	cr_assert_eq(perfmon_session_program(session, 0, "faults"), 0);
	cr_assert_eq(calls[PM_CALL_PERF_EVENT_OPEN], 0);
	cr_assert_eq(calls[PM_CALL_IOCTL], 0);
	/* A group of one event is the event. */
	cr_assert_eq(perfmon_session_program(session, 0, "{faults}"), 0);
	cr_assert_eq(calls[PM_CALL_PERF_EVENT_OPEN], 0);
	/* Attaching again opens the events and looks nothing up. */
	perfmon_session_detach(session);
	watch_calls();
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);
	cr_assert_eq(calls[PM_CALL_PERF_EVENT_OPEN], 2);
	cr_assert_eq(calls[PM_CALL_OPEN], 0);
	perfmon_session_close(session);
}

/* Row: PM-04 vectors: bad sizes, the limit, one bad element changes nothing */
Test(session, vectors_are_all_or_nothing)
{
	struct perfmon_session *session = make_attached("page-faults,task-clock");
	struct perfmon_write writes[3] = {{.index = 0, .value = 5},
					  {.index = 9, .value = 6},
					  {.index = 1, .value = 7}};
	struct perfmon_value values[3] = {{.index = 0, .value = 77},
					  {.index = 2, .value = 77},
					  {.index = 1, .value = 77}};
	static struct perfmon_value many[PERFMON_SESSION_VECTOR_MAX + 1];
	static struct perfmon_write many_writes[PERFMON_SESSION_VECTOR_MAX + 1];

	cr_assert_eq(perfmon_session_read(session, values, 0, sizeof(values[0]), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_read(session, NULL, 2, sizeof(values[0]), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_read(session, values, 1, sizeof(values[0]) - 8, 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_read(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), 0),
		     -EINVAL);
	cr_assert_eq(values[0].value, 77);
	cr_assert_eq(values[2].value, 77);
	values[1].index = 1;
	values[2].reserved = 1;
	cr_assert_eq(perfmon_session_read(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), 0),
		     -EINVAL);
	cr_assert_eq(values[0].value, 77);
	values[2].reserved = 0;
	cr_assert_eq(perfmon_session_read(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), 0),
		     3);
	cr_assert_eq(perfmon_session_read(session, many, sizeof(many) / sizeof(many[0]),
					  sizeof(many[0]), 0),
		     -E2BIG);
	cr_assert_eq(perfmon_session_read(session, many,
					  sizeof(many) / sizeof(many[0]) - 1,
					  sizeof(many[0]), 0),
		     PERFMON_SESSION_VECTOR_MAX);

	cr_assert_eq(perfmon_session_write(session, writes, 0, sizeof(writes[0]), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_write(session, NULL, 2, sizeof(writes[0]), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_write(session, writes, 1, 7, 0), -EINVAL);
	cr_assert_eq(perfmon_session_write(session, writes,
					   sizeof(writes) / sizeof(writes[0]),
					   sizeof(writes[0]), 0),
		     -EINVAL);
	cr_assert_eq(value_of(session, 0).value, 0);
	cr_assert_eq(value_of(session, 1).value, 0);
	writes[1].index = 1;
	cr_assert_eq(perfmon_session_write(session, writes,
					   sizeof(writes) / sizeof(writes[0]),
					   sizeof(writes[0]), 2),
		     -EINVAL);
	writes[2].reserved = 1;
	cr_assert_eq(perfmon_session_write(session, writes,
					   sizeof(writes) / sizeof(writes[0]),
					   sizeof(writes[0]), 0),
		     -EINVAL);
	cr_assert_eq(value_of(session, 0).value, 0);
	writes[2].reserved = 0;
	cr_assert_eq(perfmon_session_write(session, writes,
					   sizeof(writes) / sizeof(writes[0]),
					   sizeof(writes[0]), 0),
		     3);
	cr_assert_eq(value_of(session, 0).value, 5);
	cr_assert_eq(value_of(session, 1).value, 7);
	cr_assert_eq(perfmon_session_write(session, many_writes,
					   sizeof(many_writes) / sizeof(many_writes[0]),
					   sizeof(many_writes[0]), 0),
		     -E2BIG);

	/* A reading that fails half way hands out nothing. */
	cr_assert_eq(perfmon_session_start(session), 0);
	values[0].value = values[1].value = values[2].value = 77;
	fail_calls(PM_CALL_READ, -EIO, 0);
	cr_assert_eq(perfmon_session_read(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), 0),
		     -EIO);
	unwatch_calls();
	cr_assert_eq(values[0].value, 77);
	cr_assert_eq(values[2].value, 77);
	perfmon_session_close(session);
}

Test(session, all_is_read_in_order)
{
	struct perfmon_session *session = make_attached("page-faults,task-clock,dummy");
	struct perfmon_value values[4];

	memset(values, 0xee, sizeof(values));
	cr_assert_eq(perfmon_session_read(session, values, 2, sizeof(values[0]),
					  PERFMON_READ_ALL),
		     -ENOSPC);
	cr_assert_eq(perfmon_session_read(session, values,
					  sizeof(values) / sizeof(values[0]),
					  sizeof(values[0]), PERFMON_READ_ALL),
		     3);
	for (uint32_t i = 0; i < 3; i++)
		cr_assert_eq(values[i].index, i);
	perfmon_session_close(session);
}

/*
 * Row: PC-08 read sums, control, or both
 * Row: PM-10 reads name only the counters wanted; attached or detached
 */
Test(session, a_read_asks_only_for_what_is_named)
{
	struct perfmon_session *session =
		make_attached("{page-faults,dummy},{task-clock,dummy}");
	struct perfmon_counter_info info = {.size = sizeof(info)};

	cr_assert_eq(perfmon_session_start(session), 0);
	watch_calls();
	value_of(session, 0);
	cr_assert_eq(calls[PM_CALL_READ], 1);
	cr_assert_eq(value_of(session, 2).status,
		     PERFMON_VALUE_COUNTED | PERFMON_VALUE_SYSCALL);
	cr_assert_eq(calls[PM_CALL_READ], 2);
	unwatch_calls();
	cr_assert_eq(perfmon_session_get_counter(session, 2, &info), 0);
	cr_assert(strstr(info.name, "task-clock"), "%s", info.name);
	cr_assert_eq(info.type, PERF_TYPE_SOFTWARE);
	cr_assert_eq(info.config, PERF_COUNT_SW_TASK_CLOCK);
	cr_assert_eq(info.leader, 2);
	cr_assert_eq(info.hardware_counter, -1);
	cr_assert_eq(info.user_read, 0);
	cr_assert_eq(perfmon_session_get_counter(session, 3, &info), 0);
	cr_assert_eq(info.leader, 2);
	cr_assert_eq(perfmon_session_get_counter(session, 4, &info), -EINVAL);
	info.size = 8;
	cr_assert_eq(perfmon_session_get_counter(session, 0, &info), -EINVAL);
	cr_assert_eq(perfmon_session_get_counter(session, 0, NULL), -EINVAL);
	perfmon_session_close(session);
}

/* Row: PC-17 the thread's virtual time, summed like a counter */
Test(session, virtual_time_is_the_thread_s_own)
{
	static const char *const events[] = {"task-clock,page-faults", NULL};

	for (int k = 0; k < 2; k++) {
		struct perfmon_session *session = make_attached(events[k]);
		uint64_t t0, t1, c0, c1, first, second;
		struct perfmon_write write = {.index = PERFMON_COUNTER_VIRTUAL_TIME,
					      .value = 5};

		cr_assert_eq(value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value, 0);
		pm_kernel_clock_ns(CLOCK_MONOTONIC, &c0);
		cr_assert_eq(perfmon_session_start(session), 0);
		let_time_pass_ms(20); /* asleep it does not pass */
		fault_pages(2000);
		t0 = value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value;
		fault_pages(2000);
		t1 = value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value;
		cr_assert_eq(perfmon_session_stop(session), 0);
		pm_kernel_clock_ns(CLOCK_MONOTONIC, &c1);
		first = value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value;
		cr_assert_gt(t0, 0);
		cr_assert_gt(t1, t0);
		cr_assert_geq(first, t1);
		/* Not while it slept. (Not the CPU time clock, which leaves out what the
		 * host of a virtual machine stole.) */
		cr_assert_leq(first + 15000000, c1 - c0);
		fault_pages(1000);
		cr_assert_eq(value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value,
			     first);
		cr_assert_eq(perfmon_session_detach(session), 0);
		cr_assert_eq(value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value,
			     first);
		cr_assert_eq(
			perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
			0);
		cr_assert_eq(perfmon_session_start(session), 0);
		fault_pages(1000);
		cr_assert_eq(perfmon_session_detach(session), 0);
		second = value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value;
		cr_assert_gt(second, first);
		cr_assert_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0),
			     1);
		cr_assert_eq(value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value, 5);
		perfmon_session_close(session);
	}
}

Test(session, values_never_fall)
{
	struct perfmon_session *session =
		make_attached("task-clock,page-faults,cpu-clock");
	struct perfmon_value values[3], last[3] = {{0}};
	uint64_t last_time = 0;

	for (int i = 0; i < 200; i++) {
		switch (i % 10) {
		case 1:
			perfmon_session_start(session);
			break;
		case 7:
			perfmon_session_stop(session);
			break;
		case 8:
			perfmon_session_detach(session);
			break;
		case 9:
			perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
			break;
		default:
			fault_pages(3);
		}
		cr_assert_eq(perfmon_session_read(session, values,
						  sizeof(values) / sizeof(values[0]),
						  sizeof(values[0]), PERFMON_READ_ALL),
			     3);
		for (int k = 0; k < 3; k++) {
			cr_assert_geq(values[k].value, last[k].value);
			cr_assert_geq(values[k].enabled_ns, last[k].enabled_ns);
			cr_assert_geq(values[k].running_ns, last[k].running_ns);
		}
		memcpy(last, values, sizeof(values));
		cr_assert_geq(value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value,
			      last_time);
		last_time = value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value;
	}
	perfmon_session_close(session);
}

/* --- refusals ----------------------------------------------------------------------- */

Test(session, a_failed_attach_leaves_it_detached)
{
	struct perfmon_session *session = make("page-faults,task-clock");
	int before = open_descriptors();

	fail_calls(PM_CALL_PERF_EVENT_OPEN, -EMFILE, 0);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
		     -EMFILE);
	unwatch_calls();
	cr_assert(strstr(session_message_of(session), "RLIMIT_NOFILE"));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_assert_eq(open_descriptors(), before);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, -1),
		     -EINVAL);
	cr_assert_eq(
		perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0x3fffffff),
		-ESRCH);
	cr_assert(strstr(session_message_of(session), "no such thread"));
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);

	/* A new event that is refused leaves the old ones as they were. */
	perfmon_session_start(session);
	fault_pages(10);
	perfmon_session_stop(session);
	fail_calls(PM_CALL_PERF_EVENT_OPEN, -EBUSY, 0);
	cr_assert_eq(perfmon_session_add_events(session, "dummy"), -EBUSY);
	cr_assert_eq(perfmon_session_program(session, 0, "dummy"), -EBUSY);
	unwatch_calls();
	cr_assert_eq(perfmon_session_counters(session), 2);
	cr_assert_geq(value_of(session, 0).value, 10);
	perfmon_session_start(session);
	fault_pages(10);
	cr_assert_geq(value_of(session, 0).value, 20);
	cr_assert_eq(open_descriptors(), before + 2);
	perfmon_session_close(session);
}

/* Without an event the kernel is not asked whether the target is there. */
Test(session, without_counters_its_target_must_exist)
{
	struct perfmon_session_options cpus = {.size = sizeof(cpus),
					       .scope = PERFMON_SCOPE_CPU};
	struct perfmon_session *session;

	cr_assert_eq(perfmon_session_create(&session, NULL, NULL, 0), 0);
	cr_assert_eq(
		perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, INT32_MAX),
		-ESRCH);
	cr_assert(strstr(session_message_of(session), "no thread"));
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);
	perfmon_session_close(session);
	cr_assert_eq(perfmon_session_create(&session, &cpus, NULL, 0), 0);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, 100000),
		     -ENODEV);
	cr_assert(strstr(session_message_of(session), "not online"));
	perfmon_session_close(session);
}

Test(session, a_partial_session_goes_on_without_what_is_refused)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .flags = PERFMON_SESSION_PARTIAL};
	struct perfmon_session *session;
	struct perfmon_counter_info info = {.size = sizeof(info)};
	const struct perfmon_reader *reader;
	struct perfmon_value value;
	uint64_t fast = 77;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	/* A tracepoint or a PMU may be there; a config of this software type is not. */
	cr_assert_eq(perfmon_session_add_events(session, "page-faults"), 0);
	cr_assert_eq(perfmon_session_add_events(session, "task-clock"), 1);
	fail_calls(PM_CALL_PERF_EVENT_OPEN, -ENOENT, 0);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 2);
	unwatch_calls();
	cr_assert(strstr(session_message_of(session), "page-faults"));
	cr_assert_eq(perfmon_session_start(session), 0);
	value = value_of(session, 0);
	cr_assert_eq(value.status, PERFMON_VALUE_NEVER_OPENED);
	cr_assert_eq(perfmon_session_get_counter(session, 0, &info), 0);
	cr_assert_eq(info.error, -ENOENT);
	cr_assert_eq(perfmon_session_reader(session, &reader), 0);
	cr_assert_eq(perfmon_reader_read(reader, 0, &fast), -ENOENT);
	cr_assert_eq(fast, 77);
	cr_assert_gt(value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value, 0,
		     "time goes on");
	perfmon_session_close(session);
}

Test(session, texts_that_name_nothing_are_refused)
{
	struct perfmon_session *session = make("page-faults");
	char many[4096] = "dummy";

	cr_assert_eq(perfmon_session_add_events(session, NULL), -EINVAL);
	cr_assert_eq(perfmon_session_add_events(session, "no-such-event"), -EINVAL);
	cr_assert(strstr(session_message_of(session), "no-such-event"));
	cr_assert_eq(perfmon_session_add_events(session, ""), -EINVAL);
	for (int i = 0; i < PERFMON_SESSION_COUNTERS_MAX - 1; i++)
		strcat(many, ",dummy");
	cr_assert_eq(perfmon_session_add_events(session, many), -E2BIG);
	cr_assert_eq(perfmon_session_counters(session), 1);
	many[strlen(many) - strlen(",dummy")] = '\0';
	cr_assert_eq(perfmon_session_add_events(session, many), 1);
	cr_assert_eq(perfmon_session_counters(session), PERFMON_SESSION_COUNTERS_MAX);
	cr_assert_eq(perfmon_session_program(session, 256, "dummy"), -EINVAL);
	cr_assert_eq(perfmon_session_program(session, 0, "dummy,page-faults"), -EINVAL);
	cr_assert_eq(perfmon_session_program(session, 0, NULL), -EINVAL);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);
	cr_assert_eq(perfmon_session_detach(session), 0);
	perfmon_session_close(session);
}

Test(session, a_program_that_closes_descriptors_loses_counts_and_no_more)
{
	struct perfmon_session *session = make("page-faults");
	struct perfmon_value value = {.index = 0};
	int fd = dup(0);

	close(fd);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);
	perfmon_session_start(session);
	fault_pages(10);
	close(fd); /* the lowest that was free is the event's */
	cr_assert_eq(perfmon_session_read(session, &value, 1, sizeof(value), 0), -EBADF);
	cr_assert_lt(perfmon_session_stop(session), 0);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	cr_assert_lt(perfmon_session_start(session), 0);
	cr_assert(strstr(session_message_of(session), "closed file descriptors"));
	cr_assert_eq(perfmon_session_detach(session), -EBADF);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 0);
	perfmon_session_start(session);
	fault_pages(10);
	cr_assert_geq(value_of(session, 0).value, 10);
	perfmon_session_close(session);
}

/* --- other threads and children
 * --------------------------------------------------------- */

static struct perfmon_session *shared;
static const struct perfmon_reader *shared_reader;
static uint64_t seen, seen_fast;
static int result, result_fast;

static void *read_elsewhere(void *unused)
{
	struct perfmon_value value = {.index = 0};

	fault_pages(1000); /* not counted: another thread's */
	result = perfmon_session_read(shared, &value, 1, sizeof(value), 0);
	seen = value.value;
	result_fast = perfmon_reader_read(shared_reader, 0, &seen_fast);
	return unused;
}

Test(session, another_thread_reads_the_same_values)
{
	pthread_t thread;
	uint64_t own;

	shared = make_attached("page-faults");
	cr_assert_eq(perfmon_session_reader(shared, &shared_reader), 0);
	perfmon_session_start(shared);
	fault_pages(100);
	pthread_create(&thread, NULL, read_elsewhere, NULL);
	pthread_join(thread, NULL);
	cr_assert_eq(result, 1);
	cr_assert_eq(result_fast, 0);
	cr_assert_geq(seen, 100);
	cr_assert_leq(seen, MOST(150));
	cr_assert_geq(seen_fast, seen);
	cr_assert_eq(perfmon_reader_read(shared_reader, 0, &own), 0);
	cr_assert_geq(own, seen_fast);
	perfmon_session_stop(shared);
	cr_assert_eq(perfmon_reader_read(shared_reader, 0, &own), 0);
	seen = own;
	cr_assert_eq(perfmon_session_detach(shared), 0);
	cr_assert_eq(perfmon_reader_read(shared_reader, 0, &own), 0,
		     "values stay available");
	cr_assert_eq(own, seen);
	cr_assert_eq(perfmon_reader_read_all(shared_reader, &own), 0);
	cr_assert_eq(own, seen);
	perfmon_session_close(shared);
}

static pthread_barrier_t barrier;
static pid_t other_tid;

static void *be_counted(void *unused)
{
	other_tid = own_tid();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	fault_pages(100);
	pthread_barrier_wait(&barrier);
	return unused;
}

Test(session, another_thread_is_a_target)
{
	struct perfmon_session *session = make("page-faults");
	struct perfmon_value value;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, be_counted, NULL);
	pthread_barrier_wait(&barrier);
	cr_assert_eq(
		perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, other_tid), 0,
		"%s", session_message_of(session));
	/* Whether it is there is asked once for each call, after the first. */
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	watch_calls();
	cr_assert_eq(perfmon_session_start(session), 0);
	cr_assert_eq(all_calls(), 2);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	cr_assert_eq(all_calls(), 3);
	cr_assert_eq(calls[PM_CALL_POLL], 2);
	unwatch_calls();
	fault_pages(1000);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	value = value_of(session, 0);
	cr_assert_geq(value.value, 100);
	cr_assert_leq(value.value, MOST(200));
	cr_assert_gt(value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value, 0);
	cr_assert_eq(perfmon_session_detach(session), 0,
		     "its thread is gone, its values stay");
	cr_assert_eq(value_of(session, 0).value, value.value);
	perfmon_session_close(session);
}

Test(session, a_cpu_is_a_target_of_its_own_scope)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .scope = PERFMON_SCOPE_CPU};
	struct perfmon_session *session;
	int n;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	cr_assert_eq(perfmon_session_add_events(session, "cpu-clock"), 0);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, -1),
		     -EINVAL);
	cr_assert_lt(perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, 100000), 0);
	cr_assert(strstr(session_message_of(session), "this machine has no such CPU"));
	n = perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, 0);
	if (n == -EACCES || n == -EPERM) {
		cr_assert(strstr(session_message_of(session), "on CPU 0"));
		perfmon_session_close(session);
		cr_skip_test("counting a CPU needs privilege");
	}
	cr_assert_eq(n, 0, "%s", session_message_of(session));
	cr_assert_eq(perfmon_session_start(session), 0);
	let_time_pass_ms(20);
	cr_assert_eq(perfmon_session_stop(session), 0);
	cr_assert_geq(value_of(session, PERFMON_COUNTER_VIRTUAL_TIME).value, 15000000);
	cr_assert_gt(value_of(session, 0).value, 0);
	perfmon_session_close(session);
}

/* What a child of the process may do with the handle: nothing but close it. */
static int check_child(void)
{
	struct perfmon_value value = {.index = 0, .value = 77};
	uint64_t fast = 77;
	int before = open_descriptors();

	for (int call = 0; call < CALLS; call++) {
		if (make_call(shared, (enum call)call) != -ECHILD)
			return 10 + call;
	}
	if (perfmon_session_read(shared, &value, 1, sizeof(value), 0) != -ECHILD ||
	    value.value != 77)
		return 2;
	if (perfmon_reader_read(shared_reader, 0, &fast) != -ECHILD ||
	    perfmon_reader_read_call(shared_reader, 0, &fast) != -ECHILD ||
	    perfmon_reader_read_all(shared_reader, &fast) != -ECHILD || fast != 77)
		return 3;
	perfmon_session_close(shared);
	if (open_descriptors() >= before)
		return 4;
	return 0;
}

static int run_in_child(void *unused)
{
	(void)unused;
	_exit(check_child());
}

static pid_t by_fork(void)
{
	pid_t child = fork();

	if (!child)
		run_in_child(NULL);
	return child;
}

static pid_t by_quiet_fork(void)
{
	/* Without atfork handlers; glibc 2.34 calls it _Fork(). */
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!child)
		run_in_child(NULL);
	return child;
}

static pid_t by_clone(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(run_in_child, stack + sizeof(stack), SIGCHLD, NULL);
}

Test(session, children_are_refused_and_disturb_nothing)
{
	static pid_t (*const ways[])(void) = {by_fork, by_quiet_fork, by_clone};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int status;
		uint64_t before;
		pid_t child;

		shared = make_attached("page-faults");
		cr_assert_eq(perfmon_session_reader(shared, &shared_reader), 0);
		perfmon_session_start(shared);
		fault_pages(10);
		before = value_of(shared, 0).value;
		child = ways[i]();
		cr_assert_gt(child, 0);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0, "way %zu: %#x", i, status);
		fault_pages(10);
		cr_assert_geq(value_of(shared, 0).value, before + 10);
		cr_assert_eq(perfmon_session_stop(shared), 0);
		perfmon_session_close(shared);
	}
}

Test(session, readers_of_another_layout_are_refused)
{
	struct perfmon_session *session = make("page-faults");
	const struct perfmon_reader *reader = (void *)1;

	cr_assert_eq(perfmon_session_reader_layout(session, 2, &reader), -EOPNOTSUPP);
	cr_assert_eq(perfmon_session_reader(session, NULL), -EINVAL);
	cr_assert_eq(perfmon_session_reader(NULL, &reader), -EINVAL);
	cr_assert_eq(reader, (void *)1);
	perfmon_session_close(session);
}

/* --- many threads on one session ---------------------------------------------------- */

static bool enough;

static void *control(void *unused)
{
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		perfmon_session_start(shared);
		perfmon_session_stop(shared);
		let_time_pass_us(200);
	}
	return unused;
}

Test(session, threads_may_control_and_read_at_once)
{
	pthread_t threads[2];
	uint64_t last = 0;

	shared = make_attached("page-faults,task-clock");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, control, NULL);
	for (int i = 0; i < 500; i++) {
		struct perfmon_value values[2] = {{.index = 1}, {.index = 0}};

		cr_assert_eq(perfmon_session_read(shared, values,
						  sizeof(values) / sizeof(values[0]),
						  sizeof(values[0]), 0),
			     2);
		cr_assert_geq(values[0].value, last);
		last = values[0].value;
		fault_pages(1);
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	perfmon_session_close(shared);
}
