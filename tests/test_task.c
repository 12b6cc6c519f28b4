/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits of tasks that are suspended on one thread and go on, perhaps on another one. */
#include "perfmon/report.h"
#include "perfmon/task.h"
#include "perfmon/team.h"
#include "sums_probe.h"
#include "watched.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>

TestSuite(task, .init = probe_quiet, .timeout = 300);

#define WORKERS 8
#define TASKS	64

/* --- tasks that migrate ------------------------------------------------------------------ */

/* A queue of tasks. The worker that takes one resumes it, and gives it back. */
static struct {
	pthread_mutex_t lock;
	struct perfmon_task task[TASKS];
	uint32_t steps[TASKS]; /* of each task so far */
	uint32_t waiting[TASKS], first, count;
	uint32_t left, steps_each;
	uint64_t moves; /* steps on another thread than the one before */
	int last[TASKS];
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t moves(void)
{
	return queue.moves;
}

static bool take(uint32_t *task, int worker)
{
	bool more;

	pthread_mutex_lock(&queue.lock);
	while (queue.left && !queue.count) {
		pthread_mutex_unlock(&queue.lock);
		sched_yield();
		pthread_mutex_lock(&queue.lock);
	}
	more = queue.left;
	if (more) {
		*task = queue.waiting[queue.first];
		queue.first = (queue.first + 1) % TASKS;
		queue.count--;
		queue.moves += queue.last[*task] != worker;
		queue.last[*task] = worker;
	}
	pthread_mutex_unlock(&queue.lock);
	return more;
}

static void give(uint32_t task, bool ended)
{
	pthread_mutex_lock(&queue.lock);
	if (ended)
		queue.left--;
	else
		queue.waiting[(queue.first + queue.count++) % TASKS] = task;
	pthread_mutex_unlock(&queue.lock);
}

/* Step NUMBER of a task: "task" is open in all of them, "inner" from the second to the last but one. */
static void step(uint32_t number)
{
	if (!number)
		PERFMON_REGION_BEGIN("task");
	if (number == 1)
		PERFMON_REGION_BEGIN("inner");
	touch(0, 2);
	if (number + 2 == queue.steps_each)
		PERFMON_REGION_END("inner");
	if (number + 1 == queue.steps_each)
		PERFMON_REGION_END("task");
}

static void run(uint32_t task)
{
	bool ends;

	cr_assert_eq(perfmon_task_resume(&queue.task[task]), 0);
	step(queue.steps[task]);
	ends = ++queue.steps[task] == queue.steps_each;
	if (ends)
		cr_assert_eq(perfmon_task_end(&queue.task[task]), 0);
	else
		cr_assert_eq(perfmon_task_suspend(&queue.task[task]), 0);
	give(task, ends);
}

static void *work(void *number)
{
	uint32_t task;

	/* The odd ones have a region of their own around their work, which has nothing of it. */
	if ((uintptr_t)number & 1)
		PERFMON_REGION_BEGIN("worker");
	touch(0, 1);
	while (take(&task, (int)(uintptr_t)number)) {
		run(task);
		sched_yield(); /* on one CPU, tasks would stay with a thread for its time slice */
	}
	if ((uintptr_t)number & 1)
		PERFMON_REGION_END("worker");
	return NULL;
}

/* Runs TASKS tasks of STEPS steps each below "main". */
static void migrate(uint32_t steps)
{
	pthread_t threads[WORKERS];

	queue.steps_each = steps;
	queue.left = TASKS;
	PERFMON_REGION_BEGIN("main");
	for (uint32_t i = 0; i < TASKS; i++) {
		cr_assert_eq(perfmon_task_begin(&queue.task[i]), 0);
		cr_assert_eq(perfmon_task_suspend(&queue.task[i]), 0);
		queue.last[i] = -1;
		give(i, false);
	}
	for (uintptr_t i = 0; i < WORKERS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (uint32_t i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	PERFMON_REGION_END("main");
}

static uint32_t steps_wanted(uint32_t steps)
{
	if (getenv("PERFMON_TEST_LONG"))
		return 1000000 / TASKS;
	return getenv("PERFMON_TEST_SHORT") ? steps / 10 : steps;
}

/* Row: FO-03: a visit that ends on another thread counts once, and its time is that of its parts. */
/* Row: FO-04: the parts of visits on several threads add up, exactly in events. */
Test(task, parts_on_many_threads_add_up)
{
	uint32_t steps = steps_wanted(500), task, inner;
	struct sums sums;

	setenv("PERFMON_EVENTS", watch_event(0), 1);
	migrate(steps);
	sums_take(&sums);
	check_whole(&sums);
	task = node_at(&sums, "main/task");
	inner = node_at(&sums, "main/task/inner");
	cr_assert(task && inner && node_at(&sums, "worker"));
	cr_expect_eq(pm_path(&sums.tree, task)->visits.ended, TASKS);
	cr_expect_eq(pm_path(&sums.tree, task)->visits.entered, TASKS);
	cr_expect_eq(pm_path(&sums.tree, inner)->visits.ended, TASKS);
	cr_expect_eq(pm_path(&sums.tree, inner)->visits.entered, TASKS);
	cr_expect_gt(moves(), TASKS);
	if (sums.model.event_count && sums.model.events[0].syscall_read) {
		cr_expect_eq(count_at(&sums, "main/task", false),
			     UINT64_C(2) * TASKS * steps);
		cr_expect_eq(count_at(&sums, "main/task/inner", false),
			     UINT64_C(2) * TASKS * (steps - 2));
		/* What a worker did beside them. */
		cr_expect_eq(count_at(&sums, "worker", false), WORKERS / 2);
		cr_expect_eq(pm_report_sums(&sums.tree, 0, 0, false).sum,
			     UINT64_C(2) * TASKS * steps + WORKERS / 2);
	}
	sums_free(&sums);
}

/* Row: FO-04: so it is with a million steps of tasks, where nothing but time is counted. */
Test(task, many_steps_of_time)
{
	uint32_t steps = steps_wanted(4000);
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	migrate(steps);
	sums_take(&sums);
	check_whole(&sums);
	cr_expect_eq(pm_path(&sums.tree, node_at(&sums, "main/task"))->visits.ended,
		     TASKS);
	cr_expect_eq(
		pm_path(&sums.tree, node_at(&sums, "main/task"))->visits.mismatched_ends,
		0);
	sums_free(&sums);
}

/* Row: FO-04: counters that are read in user space are exact, too: each task does the same. */
Test(task, parts_are_exact_to_the_instruction)
{
	uint64_t counts[2] = {0}, first;
	struct probe_values values = {0};
	struct perfmon_task task;

	setenv("PERFMON_EVENTS", "instructions:u", 1);
	/* A visit with none and with ten parts: what is between a suspend and a resume is in
	 * neither. */
	for (int i = 0; i < 40; i++) {
		const char *name = i & 1 ? "in parts" : "whole";

		cr_assert_eq(perfmon_task_begin(&task), 0);
		perfmon_region_begin_name(name);
		for (int part = 0; part < 10; part++) {
			for (volatile int k = 0; k < 1000; k++)
				;
			if (!(i & 1))
				continue;
			cr_assert_eq(perfmon_task_suspend(&task), 0);
			for (volatile int k = 0; k < 10000; k++)
				;
			cr_assert_eq(perfmon_task_resume(&task), 0);
		}
		perfmon_region_end_name(name);
		cr_assert_eq(perfmon_task_end(&task), 0);
	}
	cr_assert_eq(probe_read("whole", &values), 0);
	if (!values.counters || !(values.counted & 1))
		cr_skip_test("no instructions are counted in user space here");
	counts[0] = values.sum[0];
	cr_assert_eq(probe_read("in parts", &values), 0);
	counts[1] = values.sum[0];
	first = counts[0];
	cr_expect_geq(counts[1], first);
	/* What the calls count of themselves, for each part. */
	cr_expect_lt(counts[1], first + UINT64_C(20) * 10 * 400);
}

/* --- what a visit is ---------------------------------------------------------------------- */

/* Row: FO-04: the time for which a visit waits is in no value. The longest visit is a whole one. */
Test(task, waiting_is_not_in_the_time)
{
	struct perfmon_task task = {0};
	struct pm_snapshot *s;
	double ns, longest = 0;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_assert_eq(perfmon_task_begin(&task), 0);
	PERFMON_REGION_BEGIN("waits");
	for (int i = 0; i < 3; i++) {
		work_for_ns(CLOCK_MONOTONIC, 5000000);
		cr_assert_eq(perfmon_task_suspend(&task), 0);
		work_for_ns(CLOCK_MONOTONIC, 100000000);
		cr_assert_eq(perfmon_task_resume(&task), 0);
	}
	PERFMON_REGION_END("waits");
	cr_assert_eq(perfmon_task_end(&task), 0);
	cr_expect_eq(task.id, 0);
	s = probe_take();
	for (uint32_t n = 2; n <= s->threads[0].node_count; n++) {
		const struct perfmon_profile_node *node =
			pm_snapshot_node(&s->threads[0], n);

		if (strcmp(s->regions[node->region], "waits"))
			continue;
		ns = pm_snapshot_ns(s, (double)node->time_ticks);
		longest = pm_snapshot_ns(s, (double)node->time_max);
		cr_expect_eq(node->sequence, 2);
		cr_expect_eq(node->entered, 1);
		cr_expect_eq(node->parts, 3);
		cr_expect_geq(ns, 15e6);
		cr_expect_lt(ns, 100e6);
		/* The last part is part of the sum and of the visit. */
		cr_expect_float_eq(longest, ns, 1e3);
	}
	cr_expect_gt(longest, 0);
	pm_snapshot_free(s);
}

/* Row: FO-04: deeper than a task has room for in itself, and one task inside of another. */
Test(task, many_visits_and_tasks_in_tasks)
{
	struct perfmon_task outer, inner;
	struct sums sums;
	char name[20], path[2000] = "main";

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	cr_assert_eq(perfmon_task_begin(&outer), 0);
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		perfmon_region_begin_name(name);
		if (i == 30)
			cr_assert_eq(perfmon_task_begin(&inner), 0);
	}
	cr_expect_eq(perfmon_task_suspend(&outer), -ENOENT);
	cr_expect_eq(perfmon_region_leave(), -ENOENT);
	cr_assert_eq(perfmon_task_suspend(&inner), 0);
	cr_assert_eq(perfmon_task_suspend(&outer), 0);
	cr_assert_eq(perfmon_task_resume(&inner), 0);
	for (int i = 59; i > 30; i--) {
		snprintf(name, sizeof(name), "r%d", i);
		perfmon_region_end_name(name);
	}
	cr_assert_eq(perfmon_task_end(&inner), 0);
	cr_assert_eq(perfmon_task_resume(&outer), 0);
	for (int i = 30; i >= 0; i--)
		cr_assert_eq(perfmon_region_end_innermost(), 0);
	cr_assert_eq(perfmon_task_end(&outer), 0);
	PERFMON_REGION_END("main");
	cr_expect_eq(unmatched(), 1, "the one call of leave");
	sums_take(&sums);
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "/r%d", i);
		strcat(path, name);
	}
	cr_expect_eq(sums.tree.node_count, 62);
	for (uint32_t n = 1; n < sums.tree.node_count; n++) {
		cr_expect_eq(pm_path(&sums.tree, n)->visits.ended, 1, "%s",
			     pm_path_name(&sums.tree, n));
		cr_expect_eq(pm_path(&sums.tree, n)->visits.mismatched_ends, 0);
	}
	sums_free(&sums);
}

/* --- many tasks, and short threads ---------------------------------------------------------- */

static struct perfmon_task two[2];

/* Goes on with both tasks, three times each, from the one with NUMBER. */
static void *resume_both(void *number)
{
	for (uintptr_t i = 0; i < 6; i++) {
		struct perfmon_task *task = &two[((uintptr_t)number + i / 3) % 2];

		cr_assert_eq(perfmon_task_resume(task), 0);
		touch(0, 1);
		cr_assert_eq(perfmon_task_suspend(task), 0);
	}
	return NULL;
}

/* Lets 40 threads, one after the other, go on with two tasks in either order, and checks what each path
 * has. */
static void come_and_go(const char *events)
{
	const char *const names[] = {"even", "odd"}, *const paths[] = {"main/even",
								       "main/odd"};
	struct sums sums;
	pthread_t thread;

	setenv("PERFMON_EVENTS", events, 1);
	PERFMON_REGION_BEGIN("main");
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(perfmon_task_begin(&two[i]), 0);
		perfmon_region_begin_name(names[i]);
		cr_assert_eq(perfmon_task_suspend(&two[i]), 0);
	}
	for (uintptr_t i = 0; i < 40; i++) {
		cr_assert_eq(pthread_create(&thread, NULL, resume_both, (void *)i), 0);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(perfmon_task_resume(&two[i]), 0);
		perfmon_region_end_name(names[i]);
		cr_assert_eq(perfmon_task_end(&two[i]), 0);
	}
	PERFMON_REGION_END("main");
	sums_take(&sums);
	check_whole(&sums);
	cr_expect_eq(sums.tree.node_count, 4);
	for (int i = 0; i < 2; i++) {
		uint32_t node = node_at(&sums, paths[i]);
		const struct pm_path_visits *visits = &pm_path(&sums.tree, node)->visits;

		cr_expect_eq(visits->entered, 1);
		cr_expect_eq(visits->ended, 1);
		cr_expect_eq(pm_path(&sums.tree, node)->threads.count, 40 + 1);
		if (sums.model.event_count && sums.model.events[0].syscall_read)
			cr_expect_eq(count_at(&sums, paths[i], false), 3 * 40);
	}
	sums_free(&sums);
}

/* Row: FO-04: threads that use the memory of ended ones have none of their tasks' paths. */
Test(task, on_threads_that_come_and_go)
{
	come_and_go(watch_event(0));
}

/* Row: FO-04: nor in the short ways, which time alone takes on every machine. */
Test(task, on_threads_that_come_and_go_in_time)
{
	come_and_go("none");
}

/* Row: FO-04: so many tasks that they are not all found at once. */
Test(task, very_many_at_a_time)
{
	enum { MANY = 40000 };
	struct perfmon_task *task = calloc(MANY, sizeof(*task)), bad;
	struct probe_values values = {0};

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	for (int i = 0; i < MANY; i++) {
		cr_assert_eq(perfmon_task_begin(&task[i]), 0);
		PERFMON_REGION_BEGIN("visit");
		cr_assert_eq(perfmon_task_suspend(&task[i]), 0);
	}
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < MANY; i++) {
			cr_assert_eq(perfmon_task_resume(&task[i]), 0);
			cr_assert_eq(perfmon_task_suspend(&task[i]), 0);
		}
	}
	/* One that has the place of another, and ones that nobody has. */
	bad.id = task[5].id + (UINT64_C(1) << 32);
	cr_expect_eq(perfmon_task_resume(&bad), -ESTALE);
	bad.id = UINT64_MAX - 1;
	cr_expect_eq(perfmon_task_resume(&bad), -ESTALE);
	/* Those that are found at once are used again first, in whatever order they end. */
	for (int i = 0; i < MANY; i++) {
		cr_assert_eq(perfmon_task_resume(&task[i]), 0);
		PERFMON_REGION_END("visit");
		cr_assert_eq(perfmon_task_end(&task[i]), 0);
	}
	cr_assert_eq(perfmon_task_begin(&task[0]), 0);
	cr_expect_lt((uint32_t)task[0].id, 16384);
	cr_assert_eq(perfmon_task_end(&task[0]), 0);
	PERFMON_REGION_END("main");
	cr_assert_eq(probe_read("visit", &values), 0);
	cr_expect_eq(values.visits, MANY);
	cr_expect_eq(unmatched(), 0);
	free(task);
}

/* Row: FO-04: the short ways are taken from the first task on, whatever was called before. */
Test(task, short_ways_are_chosen)
{
	int (*const slow)(const struct perfmon_task *, void *) =
		perfmon_task_calls.suspend;
	struct perfmon_task task;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_assert_eq(perfmon_region_disarmed(), 0);
	PERFMON_REGION_BEGIN("main");
	cr_assert_eq(perfmon_region_disarmed(), 0);
	cr_assert_eq(perfmon_task_begin(&task), 0);
	cr_expect(perfmon_task_calls.suspend != slow);
	cr_assert_eq(perfmon_task_end(&task), 0);
	PERFMON_REGION_END("main");
}

/* --- wrong use --------------------------------------------------------------------------- */

static uint64_t lost(void)
{
	struct pm_snapshot *s = probe_take();
	uint64_t count = probe_sum(s, lost_other);

	pm_snapshot_free(s);
	return count;
}

static bool has_note(const char *text)
{
	struct pm_snapshot *s = probe_take();
	bool found = false;

	for (uint32_t i = 0; i < s->note_count; i++)
		found |= strstr(s->notes[i], text) != NULL;
	pm_snapshot_free(s);
	return found;
}

static struct perfmon_task elsewhere;

static void *use_elsewhere(void *unused)
{
	(void)unused;
	PERFMON_REGION_BEGIN("other");
	cr_expect_eq(perfmon_task_suspend(&elsewhere), -ENOENT);
	cr_expect_eq(perfmon_task_end(&elsewhere), -ENOENT);
	PERFMON_REGION_END("other");
	return NULL;
}

/* Row: FO-04: wrong use is counted as lost with a sentence, and changes nothing. */
Test(task, wrong_use)
{
	struct perfmon_task never = {0}, ended, bad = {UINT64_C(77) << 32 | 1};
	struct probe_values values = {0};
	pthread_t thread;

	setenv("PERFMON_EVENTS", "none", 1);
	PERFMON_REGION_BEGIN("main");
	cr_expect_eq(perfmon_task_begin(NULL), -EINVAL);
	cr_expect_eq(perfmon_task_resume(NULL), -EINVAL);
	cr_expect_eq(perfmon_task_resume(&never), -EINVAL);
	cr_expect_eq(perfmon_task_suspend(&never), -EINVAL);
	cr_expect_eq(perfmon_task_end(&never), -EINVAL);
	cr_expect_eq(perfmon_task_resume(&bad), -ESTALE);
	cr_expect_eq(lost(), 6);
	cr_assert(has_note(
		"perfmon_task_resume() was called for a task that was never begun"));
	cr_assert_eq(perfmon_task_begin(&elsewhere), 0);
	PERFMON_REGION_BEGIN("visit");
	cr_expect_eq(perfmon_task_resume(&elsewhere), -EALREADY);
	cr_assert_eq(perfmon_task_suspend(&elsewhere), 0);
	cr_expect_eq(unmatched(), 0);
	PERFMON_REGION_END("visit");
	cr_expect_eq(unmatched(), 1, "it is suspended");
	cr_assert_eq(perfmon_task_resume(&elsewhere), 0);
	cr_expect_eq(perfmon_task_resume(&elsewhere), -EALREADY);
	cr_assert(has_note("was not suspended"));
	pthread_create(&thread, NULL, use_elsewhere, NULL);
	pthread_join(thread, NULL);
	PERFMON_REGION_END("visit");
	ended = elsewhere;
	cr_assert_eq(perfmon_task_end(&elsewhere), 0);
	cr_expect_eq(perfmon_task_resume(&ended), -ESTALE);
	cr_expect_eq(perfmon_task_suspend(&ended), -ESTALE);
	cr_expect_eq(perfmon_task_end(&ended), -ESTALE);
	PERFMON_REGION_END("main");
	cr_expect_eq(lost(), 13);
	cr_assert_eq(probe_read("visit", &values), 0);
	cr_expect_eq(values.visits, 1);
	cr_assert_eq(probe_read("main", &values), 0);
	cr_expect_eq(values.visits, 1);
}

/* Row: FO-04: a task is refused in a child, and goes on in its parent. */
Test(task, is_refused_in_a_child)
{
	struct perfmon_task waits, runs;
	int status;
	pid_t pid;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_assert_eq(perfmon_task_begin(&waits), 0);
	PERFMON_REGION_BEGIN("waits");
	cr_assert_eq(perfmon_task_suspend(&waits), 0);
	cr_assert_eq(perfmon_task_begin(&runs), 0);
	PERFMON_REGION_BEGIN("runs");
	pid = fork();
	if (!pid) {
		struct perfmon_task own;
		int failed = perfmon_task_resume(&waits) != -ESTALE;

		failed |= 2 * (perfmon_task_suspend(&runs) != -ESTALE);
		/* Its visit goes on as one of the thread. */
		PERFMON_REGION_END("runs");
		failed |= 4 * (perfmon_task_begin(&own) != 0);
		failed |= 8 * (perfmon_task_resume(&waits) != -ESTALE);
		failed |= 16 * (perfmon_task_suspend(&own) != 0);
		failed |= 32 * (perfmon_task_resume(&own) != 0);
		failed |= 64 * (perfmon_task_end(&own) != 0);
		_exit(failed);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "%x", status);
	PERFMON_REGION_END("runs");
	cr_assert_eq(perfmon_task_end(&runs), 0);
	cr_assert_eq(perfmon_task_resume(&waits), 0);
	PERFMON_REGION_END("waits");
	cr_assert_eq(perfmon_task_end(&waits), 0);
	cr_expect_eq(lost(), 0);
	cr_expect_eq(unmatched(), 0);
}

/* --- tasks that end early, and regions that are disarmed ----------------------------------- */

/* Row: FO-04: a task may end while it is suspended, or with visits open. */
Test(task, ends_with_visits_open)
{
	struct perfmon_task task;
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(perfmon_task_begin(&task), 0);
		PERFMON_REGION_BEGIN("never ends");
		cr_assert_eq(perfmon_task_suspend(&task), 0);
		cr_assert_eq(perfmon_task_end(&task), 0);
		cr_assert_eq(perfmon_task_begin(&task), 0);
		PERFMON_REGION_BEGIN("left open");
		cr_assert_eq(perfmon_task_end(&task), 0);
	}
	cr_expect_eq(lost(), 100);
	PERFMON_REGION_BEGIN("after");
	PERFMON_REGION_END("after");
	sums_take(&sums);
	cr_expect_neq(node_at(&sums, "after"), 0);
	cr_expect_eq(
		pm_path(&sums.tree, node_at(&sums, "left open"))->visits.mismatched_ends,
		100);
	cr_expect_eq(pm_path(&sums.tree, node_at(&sums, "never ends"))->visits.ended, 0);
	sums_free(&sums);
}

Test(task, across_a_disarm)
{
	struct perfmon_task task, nothing;
	struct sums sums;

	setenv("PERFMON_EVENTS", "none", 1);
	cr_assert_eq(perfmon_task_begin(&task), 0);
	PERFMON_REGION_BEGIN("dropped");
	cr_assert_eq(perfmon_task_suspend(&task), 0);
	perfmon_region_disarm();
	perfmon_region_arm();
	cr_assert_eq(perfmon_task_resume(&task), 0);
	PERFMON_REGION_BEGIN("kept");
	cr_assert_eq(perfmon_task_suspend(&task), 0);
	perfmon_region_disarm();
	cr_expect_eq(perfmon_task_begin(&nothing), 0);
	cr_expect_eq(perfmon_task_end(&nothing), 0);
	perfmon_region_arm();
	cr_assert_eq(perfmon_task_resume(&task), 0);
	PERFMON_REGION_BEGIN("last");
	cr_assert_eq(perfmon_task_suspend(&task), 0);
	cr_assert_eq(perfmon_task_resume(&task), 0);
	PERFMON_REGION_END("last");
	/* It runs while regions are disarmed. */
	perfmon_region_disarm();
	perfmon_region_arm();
	cr_assert_eq(perfmon_task_suspend(&task), 0);
	cr_assert_eq(perfmon_task_resume(&task), 0);
	cr_assert_eq(perfmon_task_end(&task), 0);
	cr_expect_eq(lost(), 2);
	sums_take(&sums);
	cr_expect_eq(pm_path(&sums.tree, node_at(&sums, "last"))->visits.ended, 1);
	cr_expect_eq(pm_path(&sums.tree, node_at(&sums, "last"))->visits.entered, 1);
	sums_free(&sums);
}

/* Row: FO-04: visits that a stride passes over are suspended, too, and what is known of the others has
 * its mark. */
Test(task, with_a_stride)
{
	struct perfmon_task task;
	struct sums sums;
	uint32_t node;

	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_STRIDE", "10", 1);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(perfmon_task_begin(&task), 0);
		PERFMON_REGION_BEGIN("strided");
		cr_assert_eq(perfmon_task_suspend(&task), 0);
		cr_assert_eq(perfmon_task_resume(&task), 0);
		PERFMON_REGION_END("strided");
		cr_assert_eq(perfmon_task_end(&task), 0);
	}
	sums_take(&sums);
	node = node_at(&sums, "strided");
	cr_expect_eq(pm_path(&sums.tree, node)->visits.ended, 1000);
	cr_expect_eq(pm_path(&sums.tree, node)->visits.entered, 1000);
	cr_expect_lt(pm_path(&sums.tree, node)->visits.measured, 1000);
	cr_expect(pm_report_time(&sums.tree, node, false).error == INFINITY);
	sums_free(&sums);
}
