/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Children: by fork, _Fork, clone, vfork and posix_spawn, also from busy parents. */
#include "helpers.h"
#include "region_probe.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "core/kernel/kernel.h"
#include "core/kernel/machine_id.h"

TestSuite(region_fork, .init = probe_quiet, .timeout = 120);

static struct pm_snapshot *take(void)
{
	struct pm_snapshot *s;

	return pm_regions_snapshot(&s, NULL) ? NULL : s;
}

static void three(void)
{
	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("three");
		PERFMON_REGION_END("three");
	}
}

static uint32_t parent_pid;
static uint64_t parent_start;

/* Open at the fork: outer/inner. */
static int child_counts_itself(void)
{
	struct pm_snapshot *s = take();

	CHILD_CHECK(s); /* the open regions have set it up */
	CHILD_CHECK(s->thread_count == 1);
	CHILD_CHECK(probe_all_visits(s) == 0);
	CHILD_CHECK(probe_entered(s, "outer") == 1);
	CHILD_CHECK(probe_entered(s, "outer/inner") == 1);
	CHILD_CHECK(s->header.pid == (uint32_t)getpid());
	CHILD_CHECK(s->header.parent_pid == parent_pid);
	CHILD_CHECK(s->header.parent_start_time == parent_start);
	CHILD_CHECK(probe_node(s, &s->threads[0], "outer")->time_ticks == 0);
	three();
	PERFMON_REGION_END("inner");
	PERFMON_REGION_BEGIN("the child's");
	PERFMON_REGION_END("the child's");
	PERFMON_REGION_END("outer");
	s = take();
	CHILD_CHECK(probe_visits(s, "outer/inner/three") == 3);
	CHILD_CHECK(probe_visits(s, "outer/inner") == 1);
	CHILD_CHECK(probe_visits(s, "outer/the child's") == 1);
	CHILD_CHECK(probe_visits(s, "outer") == 1);
	/* Since the fork, not since the parent's BEGIN a tenth of a second before. */
	CHILD_CHECK(pm_snapshot_ns(s, (double)probe_node(s, &s->threads[0], "outer")
					      ->time_ticks) < 90e6);
	CHILD_CHECK(probe_sum(s, unmatched_ends) + probe_all_lost(s) == 0);
	return 0;
}

/* Row: DC-02 */
Test(region_fork, a_child_has_its_own_numbers)
{
	struct pm_snapshot *s;
	int descriptors;

	three();
	PERFMON_REGION_BEGIN("outer");
	PERFMON_REGION_BEGIN("inner");
	let_time_pass_ms(100);
	s = probe_take();
	parent_pid = s->header.pid;
	parent_start = s->header.start_time;
	pm_snapshot_free(s);
	cr_assert_eq(parent_pid, (uint32_t)getpid());
	cr_assert_eq(parent_start, pm_machine_start_time());
	descriptors = open_descriptors();
	for (int i = 0; i < 3; i++)
		cr_assert_eq(probe_child(child_counts_itself), 0);
	cr_assert_eq(open_descriptors(), descriptors);
	PERFMON_REGION_END("inner");
	PERFMON_REGION_END("outer");
	s = probe_take();
	cr_assert_eq(probe_visits(s, "outer/inner"), 1);
	cr_assert_eq(probe_visits(s, "three"), 3);
	cr_assert_eq(probe_all_visits(s), 5);
	cr_assert_eq(probe_node(s, &s->threads[0], "outer")->defects, 0);
	pm_snapshot_free(s);
}

static int without_regions(void)
{
	struct pm_snapshot *s;

	CHILD_CHECK(pm_regions_snapshot(&s, NULL) == -ENOENT);
	three();
	s = take();
	CHILD_CHECK(s && probe_visits(s, "three") == 3);
	return 0;
}

static int grandchild(void)
{
	struct pm_snapshot *s;

	three();
	s = take();
	CHILD_CHECK(s && probe_visits(s, "outer/three") == 3);
	CHILD_CHECK(s->header.parent_pid == (uint32_t)getppid());
	return 0;
}

static int child_of_child(void)
{
	three();
	return probe_child(grandchild);
}

static int descriptors_in_parent;
static int gives_descriptors_back(void)
{
	/* Not more than the parent has: what was the parent's is closed. */
	CHILD_CHECK(open_descriptors() <= descriptors_in_parent);
	three();
	CHILD_CHECK(open_descriptors() <= descriptors_in_parent);
	return 0;
}

Test(region_fork, children_of_children_and_of_idle_parents)
{
	cr_assert_eq(probe_child(without_regions), 0);
	PERFMON_REGION_BEGIN("outer");
	cr_assert_eq(probe_child(child_of_child), 0);
	descriptors_in_parent = open_descriptors();
	cr_assert_eq(probe_child(gives_descriptors_back), 0);
	PERFMON_REGION_END("outer");
}

static atomic_bool stop;

static void *busy(void *unused)
{
	char name[32];

	for (int i = 0; !atomic_load(&stop); i++) {
		snprintf(name, sizeof(name), "busy %d", i % 500);
		perfmon_region_begin_name(name);
		free(malloc((size_t)i % 5000));
		perfmon_region_end_name(name);
		if (i % 50 == 0)
			let_time_pass_ms(1); /* on few CPUs the others want to run, too */
	}
	return unused;
}

static void *three_in_thread(void *unused)
{
	three();
	return unused;
}

static void *in_and_out(void *unused)
{
	while (!atomic_load(&stop)) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, three_in_thread, NULL))
			pthread_join(thread, NULL);
		let_time_pass_us(500);
	}
	return unused;
}

static int from_busy(void)
{
	struct pm_snapshot *s;

	three();
	s = take();
	CHILD_CHECK(s && s->thread_count == 1);
	CHILD_CHECK(probe_visits(s, "forking/three") == 3);
	CHILD_CHECK(probe_all_visits(s) == 3);
	return 0;
}

Test(region_fork, from_a_thread_among_busy_ones)
{
	pthread_t threads[3];

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	cr_skip_test("a sanitizer's allocator takes no part in a fork: its lock may stay "
		     "held in the child");
#endif
	pthread_create(&threads[0], NULL, busy, NULL);
	pthread_create(&threads[1], NULL, busy, NULL);
	pthread_create(&threads[2], NULL, in_and_out, NULL);
	PERFMON_REGION_BEGIN("forking");
	for (int i = 0; i < 30; i++)
		cr_assert_eq(probe_child(from_busy), 0);
	PERFMON_REGION_END("forking");
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(probe_now("forking"), 1);
}

static int from_another(void)
{
	struct pm_snapshot *s;

	three();
	s = take();
	CHILD_CHECK(s && s->thread_count == 1);
	CHILD_CHECK(probe_visits(s, "three") == 3);
	CHILD_CHECK(probe_all_visits(s) == 3);
	return 0;
}

/* --- a fork while another thread ends ------------------------------------------------- */

static atomic_int closing; /* 1: is about to close, 2: was forked */
static __thread bool ends;

static int stop_at_close(enum pm_kernel_call call)
{
	if (call == PM_CALL_CLOSE && ends && !atomic_exchange(&closing, 1))
		WAIT_UNTIL(atomic_load(&closing) == 2);
	return 0;
}

static void *count_and_end(void *unused)
{
	three();
	ends = true;
	return unused;
}

static unsigned int open_events(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 1024; fd++) {
		char path[32], target[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) > 0)
			count += !strcmp(target, "anon_inode:[perf_event]");
	}
	return count;
}

static int has_no_events(void)
{
	CHILD_CHECK(open_events() == 0);
	return 0;
}

/* A descriptor that stays in the child keeps the event on the hardware. */
Test(region_fork, a_thread_that_ends_leaves_no_descriptor_to_a_child)
{
	pthread_t thread;

	setenv("PERFMON_EVENTS", "page-faults", 1);
	pm_kernel_fault = stop_at_close;
	cr_assert_eq(pthread_create(&thread, NULL, count_and_end, NULL), 0);
	WAIT_UNTIL(atomic_load(&closing) == 1);
	cr_assert_eq(open_events(), 1);
	cr_assert_eq(probe_child(has_no_events), 0);
	atomic_store(&closing, 2);
	pthread_join(thread, NULL);
	cr_assert_eq(open_events(), 0);
}

static void *fork_too(void *unused)
{
	for (int i = 0; i < 20; i++)
		if (probe_child(from_another))
			return "a child went wrong";
	return unused;
}

Test(region_fork, from_several_threads_at_once)
{
	pthread_t threads[3];
	void *wrong;

	three();
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, fork_too, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &wrong);
		cr_assert_null(wrong, "%s", (char *)wrong);
	}
}

/* A child that no fork handler has seen: its regions do nothing and harm nobody. */
static int inert(void)
{
	struct probe_values values = {0};
	struct pm_snapshot *s;

	PERFMON_REGION_END("outer");
	three();
	perfmon_region_begin_name("three");
	perfmon_region_end_name("three");
	CHILD_CHECK(probe_read("three", &values) == -ENOENT);
	CHILD_CHECK(pm_regions_snapshot(&s, NULL) == -ENOENT);
	perfmon_region_disarm();
	perfmon_region_arm();
	CHILD_CHECK(perfmon_region_disarmed() == -EPERM);
	three();
	CHILD_CHECK(pm_regions_snapshot(&s, NULL) == -ENOENT);
	return 0;
}

static int inert_and_more(void)
{
	/* Before any region: fork() finds the state that its parent's fork() left. */
	CHILD_CHECK(probe_child(inert) == 0);
	CHILD_CHECK(inert() == 0);
	CHILD_CHECK(probe_child(inert) == 0);
	return 0;
}

static int status_of(pid_t pid)
{
	int status = 0;

	cr_assert_gt(pid, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

extern pid_t _Fork(void) __attribute__((weak));

static void unseen(pid_t (*make)(void))
{
	struct pm_snapshot *s;

	three();
	PERFMON_REGION_BEGIN("outer");
	for (int i = 0; i < 4; i++) {
		pid_t pid = make();

		if (!pid)
			_exit(i & 1 ? inert_and_more() : inert());
		cr_assert_eq(status_of(pid), 0);
		three();
	}
	PERFMON_REGION_END("outer");
	s = probe_take();
	cr_assert_eq(probe_visits(s, "three"), 3);
	cr_assert_eq(probe_visits(s, "outer/three"), 12);
	cr_assert_eq(probe_all_visits(s), 16);
	cr_assert_eq(probe_node(s, &s->threads[0], "outer")->defects, 0);
	pm_snapshot_free(s);
}

static pid_t by_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

Test(region_fork, a_child_by_underscore_fork_is_inert)
{
	if (!_Fork)
		cr_skip_test("this libc has no _Fork()");
	unseen(_Fork);
}

Test(region_fork, a_child_by_clone_is_inert)
{
	unseen(by_clone);
}

extern char **environ;

/* Row: DC-02: between vfork and exec no region is used, and nothing is disturbed. */
Test(region_fork, vfork_and_spawn_disturb_nothing)
{
	char *arguments[] = {"sh", "-c", "exit 7", NULL};
	struct pm_snapshot *s;
	pid_t pid;

	PERFMON_REGION_BEGIN("outer");
	three();
	pid = vfork();
	if (pid == 0) {
		execv("/bin/sh", arguments);
		_exit(127);
	}
	cr_assert_eq(status_of(pid), 7);
	cr_assert_eq(posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ), 0);
	cr_assert_eq(status_of(pid), 7);
	cr_assert_eq(WEXITSTATUS(system("exit 3")), 3);
	three();
	PERFMON_REGION_END("outer");
	s = probe_take();
	cr_assert_eq(probe_visits(s, "outer/three"), 6);
	cr_assert_eq(probe_visits(s, "outer"), 1);
	cr_assert_eq(probe_node(s, &s->threads[0], "outer")->defects, 0);
	pm_snapshot_free(s);
}

static int fork_disarmed(void)
{
	struct pm_snapshot *s;

	three();
	CHILD_CHECK(pm_regions_snapshot(&s, NULL) == -ENOENT);
	CHILD_CHECK(perfmon_region_disarmed() == 2);
	perfmon_region_arm();
	perfmon_region_arm();
	three();
	s = take();
	CHILD_CHECK(s && probe_visits(s, "three") == 3);
	return 0;
}

Test(region_fork, the_child_of_a_disarmed_parent_is_disarmed)
{
	three();
	perfmon_region_disarm();
	perfmon_region_disarm();
	cr_assert_eq(probe_child(fork_disarmed), 0);
	perfmon_region_arm();
	perfmon_region_arm();
	three();
	cr_assert_eq(probe_now("three"), 6);
}
