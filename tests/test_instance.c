/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instances: groups, readings, refusals, descriptors that are not ours. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bounds.h"
#include "helpers.h"
#include "kernel_calls.h"
#include "core/counters/counters.h"
#include "core/kernel/files.h"
#include "core/text/diag.h"

static struct pm_event software(const char *name, uint64_t config)
{
	return (struct pm_event){
		.name = (char *)name,
		.pmu = (char *)"software",
		.cpus = (char *)"",
		.scale = 1,
		.attr = {.type = PERF_TYPE_SOFTWARE,
			 .size = sizeof(struct perf_event_attr),
			 .config = config,
			 .exclude_kernel = 1,
			 .exclude_hv = 1},
	};
}

#define FAULTS software("page-faults", PERF_COUNT_SW_PAGE_FAULTS)
#define CLOCK  software("task-clock", PERF_COUNT_SW_TASK_CLOCK)
#define DUMMY  software("dummy", PERF_COUNT_SW_DUMMY)

/* No machine has it. */
static struct pm_event unknown(void)
{
	struct pm_event event = software("no-such-event", 0);

	event.attr.type = 9999;
	event.hardware = true;
	return event;
}

static struct pm_instance *room(uint32_t count)
{
	return calloc(1, pm_instance_size(count));
}

TestSuite(instance, .fini = unwatch_calls);

Test(instance, software_events_are_one_group_of_one_ioctl_and_one_read)
{
	struct pm_event events[] = {FAULTS, CLOCK, DUMMY};
	struct pm_instance *instance = room(3);
	struct pm_reading readings[3] = {{0}};
	struct pm_diag diag = {0};

	cr_assert_eq(pm_instance_open(instance, events, 3, 0, -1, 0, &diag), 3, "%s",
		     diag.text);
	for (uint32_t i = 0; i < 3; i++) {
		cr_assert_eq(instance->counters[i].leader, 0);
		cr_assert_eq(instance->counters[i].position, i);
		cr_assert_neq(instance->counters[i].id, 0);
	}
	cr_assert_eq(pm_instance_read(instance, readings), 0);
	cr_assert_eq(readings[0].value, 0);
	cr_assert_eq(readings[0].enabled_ns, 0, "it is stopped until it is enabled");

	watch_calls();
	cr_assert_eq(pm_instance_enable(instance), 0);
	cr_assert_eq(calls[PM_CALL_IOCTL], 1);
	fault_pages(100);
	cr_assert_eq(pm_instance_disable(instance), 0);
	cr_assert_eq(calls[PM_CALL_IOCTL], 2);
	cr_assert_eq(pm_instance_read(instance, readings), 0);
	cr_assert_eq(calls[PM_CALL_READ], 1);
	unwatch_calls();
	cr_assert_geq(readings[0].value, 100);
	cr_assert_leq(readings[0].value, MOST(110));
	cr_assert_gt(readings[1].value, 0);
	cr_assert_eq(readings[2].value, 0);
	cr_assert_eq(readings[0].enabled_ns, readings[0].running_ns);

	fault_pages(50);
	struct pm_reading again[3];
	cr_assert_eq(pm_instance_read(instance, again), 0);
	cr_assert_eq(memcmp(readings, again, sizeof(again)), 0, "stopped is stopped");
	cr_assert_eq(pm_instance_read_counter(instance, 1, &again[0]), 0);
	cr_assert_eq(again[0].value, readings[1].value);
	pm_instance_close(instance);
	free(instance);
}

Test(instance, explicit_groups_are_not_joined_and_splitting_keeps_all_apart)
{
	struct pm_event events[] = {FAULTS, CLOCK, DUMMY, DUMMY};
	struct pm_instance *instance = room(4);

	events[1].in_explicit_group = events[2].in_explicit_group = true;
	events[1].group = events[2].group = 1;
	events[2].attr.pinned = 1;
	events[3].group = 2;
	cr_assert_eq(pm_instance_open(instance, events, 4, 0, -1, 0, NULL), 4);
	cr_assert_eq(instance->counters[1].leader, 1);
	cr_assert_eq(instance->counters[2].leader, 1);
	cr_assert_eq(instance->counters[3].leader, 0);
	cr_assert_eq(instance->counters[0].members, 2);
	pm_instance_close(instance);

	cr_assert_eq(pm_instance_open(instance, events, 4, 0, -1, PM_OPEN_SPLIT, NULL),
		     4);
	for (uint32_t i = 0; i < 4; i++)
		cr_assert_eq(instance->counters[i].leader, i);
	pm_instance_close(instance);
	free(instance);
}

Test(instance, a_member_that_does_not_fit_begins_a_group)
{
	struct pm_event events[] = {DUMMY, DUMMY, DUMMY, DUMMY};
	struct pm_instance *instance = room(4);
	struct pm_reading readings[4];

	fail_calls(PM_CALL_PERF_EVENT_OPEN, -EINVAL, 3);
	cr_assert_eq(pm_instance_open(instance, events, 4, 0, -1, 0, NULL), 4);
	unwatch_calls();
	cr_assert_eq(instance->counters[1].leader, 0);
	cr_assert_eq(instance->counters[2].leader, 2);
	cr_assert_eq(instance->counters[3].leader, 2,
		     "later events join the newer group");
	cr_assert_eq(instance->counters[3].position, 1);
	watch_calls();
	cr_assert_eq(pm_instance_enable(instance), 0);
	cr_assert_eq(calls[PM_CALL_IOCTL], 2);
	cr_assert_eq(pm_instance_read(instance, readings), 0);
	cr_assert_eq(calls[PM_CALL_READ], 2);
	pm_instance_close(instance);
	free(instance);
}

Test(instance, a_group_never_outgrows_its_read)
{
	enum { N = PM_GROUP_MAX + 3 };
	struct pm_event events[N];
	struct pm_instance *instance = room(N);
	struct pm_reading readings[N];

	for (uint32_t i = 0; i < N; i++)
		events[i] = DUMMY;
	cr_assert_eq(pm_instance_open(instance, events, N, 0, -1, 0, NULL), N);
	cr_assert_eq(instance->counters[0].members, PM_GROUP_MAX);
	cr_assert_eq(instance->counters[N - 1].leader, PM_GROUP_MAX);
	cr_assert_eq(pm_instance_read(instance, readings), 0);
	pm_instance_close(instance);
	free(instance);
}

Test(instance, a_refusal_closes_all_or_only_itself)
{
	struct pm_event events[] = {FAULTS, unknown(), DUMMY};
	struct pm_instance *instance = room(3);
	struct pm_reading readings[3] = {{0}, {7, 7, 7}, {0}};
	struct pm_diag diag = {0};
	int before = open_descriptors();

	cr_assert_eq(pm_instance_open(instance, events, 3, 0, -1, 0, &diag), -ENOENT);
	cr_assert_eq(open_descriptors(), before);
	cr_assert_eq(diag.error, -ENOENT);
	cr_assert(strstr(diag.text, "'no-such-event'"), "%s", diag.text);
	cr_assert(strstr(diag.text, "no PMU"), "%s", diag.text);

	cr_assert_eq(pm_instance_open(instance, events, 3, 0, -1, PM_OPEN_PARTIAL, &diag),
		     2);
	cr_assert_eq(instance->counters[1].error, -ENOENT);
	cr_assert_eq(instance->counters[1].fd, -1);
	cr_assert_eq(diag.error, -ENOENT);
	cr_assert_eq(pm_instance_read(instance, readings), 0);
	cr_assert_eq(readings[1].value, 7, "untouched");
	cr_assert_eq(pm_instance_read_counter(instance, 1, &readings[1]), -ENOENT);
	pm_instance_close(instance);
	cr_assert_eq(open_descriptors(), before);
	free(instance);
}

/* Each errno becomes a sentence that names what refused. */
Test(instance, each_refusal_has_its_sentence)
{
	static const struct {
		int error;
		const char *says;
	} cases[] = {
		{-EACCES, "not permitted"},
		{-EPERM, "not permitted"},
		{-ENOSYS, "seccomp"},
		{-ENOENT, "does not count the event"},
		{-EOPNOTSUPP, "does not count the event"},
		{-EINVAL, "encoding"},
		{-EMFILE, "RLIMIT_NOFILE is "},
		{-ENFILE, "fs.file-max"},
		{-ESRCH, "no such thread"},
		{-ENOSPC, "breakpoints"},
		{-EBUSY, "exclusively"},
		{-E2BIG, "too old"},
		{-ENOMEM, "emory"},
	};
	struct pm_event events[] = {FAULTS, DUMMY};
	struct pm_instance *instance = room(2);
	int before = open_descriptors();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned int at = 1; at <= 2; at++) {
			struct pm_diag diag = {0};
			int n;

			/* Two refusals: a member that is refused with EINVAL tries
			 * alone. */
			fail_calls(PM_CALL_PERF_EVENT_OPEN, cases[i].error,
				   cases[i].error == -EINVAL ? 0 : at);
			n = pm_instance_open(instance, events, 2, 0, -1, 0, &diag);
			unwatch_calls();
			cr_assert_eq(n, cases[i].error);
			cr_assert_eq(diag.error, cases[i].error);
			cr_assert(strstr(diag.text, cases[i].says), "%d: %s",
				  -cases[i].error, diag.text);
			cr_assert(strstr(diag.text, "the calling thread"), "%s",
				  diag.text);
			cr_assert_eq(open_descriptors(), before);
		}
	}
	free(instance);
}

/* Intel's metrics want slots to lead their group, wherever the list has it. */
Test(instance, slots_lead_the_group_of_their_metrics)
{
	struct pm_event events[5] = {CLOCK, FAULTS, DUMMY, FAULTS, CLOCK};
	struct pm_instance *instance = room(5);
	struct pm_reading readings[5];
	int before = open_descriptors();

	events[1].topdown = events[4].topdown = PM_TOPDOWN_METRIC;
	events[3].topdown = PM_TOPDOWN_SLOTS;
	for (int way = 0; way < 3; way++) {
		/* Any list, one group as written, every event on its own. */
		for (int i = 0; i < 5; i++)
			events[i].in_explicit_group = way == 1;
		cr_assert_eq(pm_instance_open(instance, events, 5, 0, -1,
					      way == 2 ? PM_OPEN_SPLIT : 0, NULL),
			     5);
		for (uint32_t i = 0; i < 5; i++) {
			bool free = way == 2 && !events[i].topdown;

			cr_expect_eq(instance->counters[i].leader, free ? i : 3, "%u", i);
		}
		cr_expect_eq(instance->counters[3].position, 0);
		cr_expect_eq(instance->counters[3].members, way == 2 ? 3 : 5);
		cr_assert_eq(pm_instance_enable(instance), 0);
		fault_pages(100);
		cr_assert_eq(pm_instance_read(instance, readings), 0);
		/* Each has its own reading, whoever leads. */
		cr_expect_geq(readings[1].value, 100);
		cr_expect_geq(readings[3].value, 100);
		cr_expect_eq(readings[2].value, 0);
		cr_expect_gt(readings[0].value, readings[1].value);
		cr_expect_gt(readings[4].value, readings[1].value);
		pm_instance_close(instance);
		cr_assert_eq(open_descriptors(), before);
	}
	free(instance);
}

Test(instance, a_metric_without_slots_is_refused_with_a_sentence)
{
	struct pm_event metric = FAULTS;
	struct pm_diag diag = {0};

	metric.topdown = PM_TOPDOWN_METRIC;
	pm_diagnosis_open(&diag, -EINVAL, &metric, 0, -1);
	cr_expect(strstr(diag.text, "'{slots,page-faults}'"), "%s", diag.text);
}

/* What a settings file says, without the machine's own. */
static char root[64];

static void make_root(const char *paranoid, const char *status)
{
	char text[4096];

	make_folder(root, sizeof(root));
	snprintf(text, sizeof(text), "%s\n", paranoid);
	make_file(root, "proc/sys/kernel/perf_event_paranoid", text);
	snprintf(text, sizeof(text), "Name:\tx\n%s", status);
	make_file(root, "proc/self/status", text);
	pm_file_root = root;
}

static void drop_root(void)
{
	pm_file_root = "";
	remove_folder(root);
}

Test(instance, permission_is_explained_by_the_setting_that_refused)
{
	static const struct {
		const char *paranoid, *status;
		bool user_only;
		pid_t tid;
		const char *says;
	} cases[] = {
		{"3", "CapEff:\t0000000000000000\nSeccomp:\t0\n", true, 0,
		 "kernel.perf_event_paranoid is 3, which forbids users every event; "
		 "ask an "
		 "administrator for sysctl kernel.perf_event_paranoid=2"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t0\n", false, 0,
		 "kernel.perf_event_paranoid is 2; user mode alone (modifier ':u')"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t0\n", true, -1,
		 "sysctl kernel.perf_event_paranoid=0 or for CAP_PERFMON"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t2\n", true, 0, "seccomp"},
		{"4", "CapEff:\t0000004000000000\nSeccomp:\t2\n", true, 0, "seccomp"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t0\n", true, 77,
		 "you need the same user"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t0\n", true, 0,
		 "a security module"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_event event = FAULTS;
		struct pm_diag diag = {0};

		event.attr.exclude_kernel = cases[i].user_only;
		make_root(cases[i].paranoid, cases[i].status);
		cr_assert_eq(pm_diagnosis_open(&diag, -EACCES, &event, cases[i].tid, 3),
			     -EACCES);
		drop_root();
		cr_assert(strstr(diag.text, cases[i].says), "%s", diag.text);
	}
	cr_assert_eq(pm_diagnosis_open(NULL, -EPERM, &(struct pm_event){0}, 0, -1),
		     -EPERM);
}

/* A filter or another user's thread refuses user mode as well, whatever the level is. */
Test(instance, what_refuses_user_mode_too_is_not_the_level)
{
	static const struct {
		const char *paranoid, *status;
		pid_t tid;
		int error;
		unsigned int at; /* which try of the least is refused; 0: all */
		const char *says;
	} cases[] = {
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t2\n", 0, -EPERM, 0,
		 "seccomp"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t2\n", 77, -EPERM, 0,
		 "seccomp"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t2\n", -1, -EPERM, 0,
		 "seccomp"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t2\n", 0, -ENOSYS, 0,
		 "forbids perf_event_open"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t0\n", 0, -EACCES, 0,
		 "a security module"},
		{"2", "CapEff:\t0000000000000000\nSeccomp:\t0\n", 77, -EACCES, 2,
		 "you need the same user"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_event event = FAULTS;
		struct pm_diag diag = {0};
		int error = cases[i].error;

		event.attr.exclude_kernel = 0;
		make_root(cases[i].paranoid, cases[i].status);
		fail_calls(PM_CALL_PERF_EVENT_OPEN, error, cases[i].at);
		cr_assert_eq(pm_diagnosis_open(&diag, error, &event, cases[i].tid, 3),
			     error);
		unwatch_calls();
		drop_root();
		cr_assert(strstr(diag.text, cases[i].says), "%s", diag.text);
		cr_assert_null(strstr(diag.text, ":u"), "%s", diag.text);
	}
}

Test(instance, a_refused_page_leaves_the_counter_to_the_system_call)
{
	struct pm_event events[] = {FAULTS};
	struct pm_instance *instance = room(1);
	struct pm_reading reading;
	struct perfmon_counter_view view;
	struct pm_diag diag = {0};

	events[0].hardware = true; /* as if: so that a page is asked for */
	fail_calls(PM_CALL_MMAP, -EPERM, 0);
	cr_assert_eq(
		pm_instance_open(instance, events, 1, 0, -1, PM_OPEN_USER_READ, &diag),
		1);
	unwatch_calls();
	cr_assert_eq(instance->counters[0].page_error, -EPERM);
	cr_assert_eq(diag.error, -EPERM);
	cr_assert(strstr(diag.text, "RLIMIT_MEMLOCK"), "%s", diag.text);
	cr_assert(strstr(diag.text, "reads use a system call"), "%s", diag.text);
	pm_instance_view(instance, 0, 0, &view);
	cr_assert_eq(pm_view_refresh(&view), -EAGAIN);
	cr_assert_eq(pm_instance_read(instance, &reading), 0);
	pm_instance_close(instance);
	free(instance);
}

Test(instance, descriptors_that_the_program_closed_are_left_alone)
{
	struct pm_event events[] = {FAULTS, DUMMY, CLOCK};
	struct pm_instance *instance = room(3);
	struct pm_reading readings[3] = {{0}, {7, 7, 7}, {0}};
	int pipes[2], theirs;
	char byte;

	cr_assert_eq(pm_instance_open(instance, events, 3, 0, -1, 0, NULL), 3);
	cr_assert_eq(pipe(pipes), 0);
	cr_assert_eq(write(pipes[1], "x", 1), 1);

	/* A sibling: the others of its group still read. */
	theirs = instance->counters[1].fd;
	cr_assert_eq(dup2(pipes[0], theirs), theirs);
	cr_assert_eq(pm_instance_read(instance, readings), -EBADF);
	cr_assert_eq(readings[1].value, 7);
	cr_assert_eq(pm_instance_read_counter(instance, 2, &readings[2]), 0);

	/* The leader: nothing is read from what stands in its place. */
	theirs = instance->counters[0].fd;
	cr_assert_eq(dup2(pipes[0], theirs), theirs);
	cr_assert_eq(pm_instance_read(instance, readings), -EBADF);
	pm_instance_close(instance);
	cr_assert_eq(read(theirs, &byte, 1), 1, "it is open and nobody read from it");
	close(theirs);
	close(pipes[0]);
	close(pipes[1]);
	free(instance);
}

Test(instance, inherited_events_count_children_and_read_alone)
{
	struct pm_event events[] = {FAULTS, DUMMY};
	struct pm_instance *instance = room(2);
	struct pm_reading before[2], after[2];
	pid_t child;

	cr_assert_eq(pm_instance_open(instance, events, 2, 0, -1,
				      PM_OPEN_INHERIT | PM_OPEN_USER_READ, NULL),
		     2);
	cr_assert_null(instance->counters[0].page);
	cr_assert_eq(pm_instance_enable(instance), 0);
	cr_assert_eq(pm_instance_read(instance, before), 0);
	child = fork();
	if (!child) {
		fault_pages(1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	cr_assert_eq(pm_instance_disable(instance), 0);
	cr_assert_eq(pm_instance_read(instance, after), 0);
	cr_assert_geq(after[0].value - before[0].value, 1000);
	pm_instance_close(instance);
	free(instance);
}

Test(instance, a_forked_child_forgets_without_disturbing_its_parent)
{
	struct pm_event events[] = {FAULTS};
	struct pm_instance *instance = room(1);
	struct pm_reading reading;
	int status, before = open_descriptors();
	pid_t child;

	cr_assert_eq(pm_instance_open(instance, events, 1, 0, -1, 0, NULL), 1);
	cr_assert_eq(pm_instance_enable(instance), 0);
	child = fork();
	if (!child) {
		pm_instance_forget(instance);
		_exit(open_descriptors() == before ? 0 : 1);
	}
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
	fault_pages(100);
	cr_assert_eq(pm_instance_read(instance, &reading), 0);
	cr_assert_geq(reading.value, 100);
	pm_instance_close(instance);
	free(instance);
}

Test(instance, a_group_that_never_ran_is_found)
{
	struct pm_event events[] = {DUMMY, DUMMY, FAULTS};
	struct pm_instance *instance = room(3);
	struct pm_reading readings[3] = {{0, 10, 10}, {0, 10, 10}, {0, 10, 10}};

	cr_assert_eq(pm_instance_open(instance, events, 3, 0, -1, 0, NULL), 3);
	cr_assert_eq(pm_instance_starved(instance, readings), -1);
	readings[0].running_ns = 0;
	cr_assert_eq(pm_instance_starved(instance, readings), 0);
	readings[0].enabled_ns = 0;
	cr_assert_eq(pm_instance_starved(instance, readings), -1, "it was never enabled");
	pm_instance_close(instance);
	free(instance);
}

Test(instance, a_cpu_is_a_target_for_those_who_may)
{
	struct pm_event events[] = {CLOCK};
	struct pm_instance *instance = room(1);
	struct pm_diag diag = {0};
	struct pm_reading reading;
	int n;

	events[0].attr.config = PERF_COUNT_SW_CPU_CLOCK;
	n = pm_instance_open(instance, events, 1, -1, 0, PM_OPEN_USER_READ, &diag);
	if (n < 0) {
		struct pm_permissions have;

		pm_permissions_get(&have);
		cr_assert_eq(n, -EACCES);
		cr_assert(!have.perfmon || have.seccomp);
		cr_assert(strstr(diag.text, "on CPU 0: not permitted"), "%s", diag.text);
		free(instance);
		return;
	}
	cr_assert_null(instance->counters[0].page);
	cr_assert_eq(pm_instance_enable(instance), 0);
	fault_pages(10);
	cr_assert_eq(pm_instance_read(instance, &reading), 0);
	cr_assert_gt(reading.value, 0);
	pm_instance_close(instance);
	free(instance);
}
