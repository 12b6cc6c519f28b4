/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Noticing the end of threads and processes, without asking now and then. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel.h"
#include "core/target_watch.h"

/* A process of two threads, of which each ends when it is told. */
struct two {
	_Atomic int first, second, tid;
};

static void *second_thread(void *argument)
{
	struct two *two = argument;

	atomic_store(&two->tid, pm_kernel_gettid());
	while (!atomic_load(&two->second))
		usleep(500);
	return NULL;
}

static pid_t start(struct two **out)
{
	struct two *two = mmap(NULL, sizeof(*two), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, second_thread, two);
		while (!atomic_load(&two->first))
			usleep(500);
		pthread_exit(NULL);
	}
	while (!atomic_load(&two->tid))
		usleep(500);
	*out = two;
	return pid;
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Waits as long as it takes. */
static void expect_end(const struct pm_target_watch *watch)
{
	struct pollfd poll_fd = {.fd = watch->fd, .events = POLLIN};

	cr_assert_eq(poll(&poll_fd, 1, -1), 1);
	cr_assert(pm_target_watch_ended(watch));
	cr_assert(pm_target_watch_ended(watch), "it stays ready");
}

static int refused[PM_CALLS];

static int refuse(enum pm_kernel_call call)
{
	return refused[call];
}

static void take_away(enum pm_kernel_call call, int error)
{
	refused[call] = error;
	pm_kernel_fault = refuse;
}

TestSuite(target_watch, .timeout = 60);

static void watch_two(void)
{
	struct pm_target_watch first = PM_TARGET_WATCH_NONE,
			       second = PM_TARGET_WATCH_NONE;
	struct pm_diag diag = {0};
	int before = count_descriptors(), err;
	struct two *two;
	pid_t pid = start(&two);

	err = pm_target_watch_thread(&second, two->tid, &diag);
	if (err == -EACCES || err == -EPERM) {
		kill(pid, SIGKILL);
		cr_skip("%s\n", diag.text);
	}
	cr_assert_eq(err, 0, "%s", diag.text);
	cr_assert_eq(pm_target_watch_thread(&first, pid, &diag), 0, "%s", diag.text);
	cr_assert_not(pm_target_watch_ended(&first));
	cr_assert_not(pm_target_watch_ended(&second));
	/* The first thread is a zombie then, as long as there is a second. */
	atomic_store(&two->first, 1);
	expect_end(&first);
	cr_assert_not(pm_target_watch_ended(&second));
	atomic_store(&two->second, 1);
	expect_end(&second);
	pm_target_watch_close(&first);
	pm_target_watch_close(&second);
	pm_target_watch_close(&second);
	cr_assert_eq(second.fd, -1);
	cr_assert_not(pm_target_watch_ended(&second));
	cr_assert_eq(count_descriptors(), before);
	/* A sanitizer's thread may keep it alive. */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Row: PM-12, HW-10: the end of a thread of another process is told by a descriptor. */
Test(target_watch, a_thread_by_its_pidfd_or_what_stands_in_for_it)
{
	watch_two();
}

/* The same, before Linux 6.9. */
Test(target_watch, a_thread_by_an_event)
{
	take_away(PM_CALL_PIDFD_OPEN, -EINVAL);
	watch_two();
	take_away(PM_CALL_PIDFD_OPEN, -ENOSYS);
	watch_two();
}

/* Row: PM-12, HW-10: the end of a process is that of its last thread. */
Test(target_watch, a_process)
{
	struct pm_target_watch watch = PM_TARGET_WATCH_NONE;
	struct pm_diag diag = {0};
	struct two *two;
	pid_t pid = start(&two);
	int err = pm_target_watch_process(&watch, pid, &diag);

	if (err == -ENOSYS) {
		kill(pid, SIGKILL);
		cr_skip("%s\n", diag.text);
	}
	cr_assert_eq(err, 0, "%s", diag.text);
	cr_assert_eq(pm_target_watch_process(&watch, two->tid, &diag), -EINVAL);
	cr_assert_not_null(strstr(diag.text, "no process"), "%s", diag.text);
	cr_assert_not(pm_target_watch_ended(&watch));
	kill(pid, SIGKILL);
	expect_end(&watch);
	pm_target_watch_close(&watch);
	waitpid(pid, NULL, 0);
}

Test(target_watch, refusals_leave_nothing)
{
	struct pm_target_watch watch = PM_TARGET_WATCH_NONE;
	struct pm_diag diag = {0};
	int before = count_descriptors();
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	cr_assert_eq(pm_target_watch_thread(&watch, gone, &diag), -ESRCH, "%s",
		     diag.text);
	cr_assert_not_null(strstr(diag.text, "there is no thread"), "%s", diag.text);
	cr_assert_eq(pm_target_watch_process(&watch, -1, &diag), -EINVAL);
	take_away(PM_CALL_PIDFD_OPEN, -ENOSYS);
	cr_assert_eq(pm_target_watch_process(&watch, getpid(), &diag), -ENOSYS);
	cr_assert_not_null(strstr(diag.text, "Linux 5.3"), "%s", diag.text);
	take_away(PM_CALL_PIDFD_OPEN, -EMFILE);
	cr_assert_eq(pm_target_watch_thread(&watch, getpid(), &diag), -EMFILE);
	/* An event whose page is refused would seem to have ended. */
	take_away(PM_CALL_PIDFD_OPEN, -EINVAL);
	take_away(PM_CALL_MMAP, -EPERM);
	cr_assert_lt(pm_target_watch_thread(&watch, getpid(), &diag), 0);
	take_away(PM_CALL_PERF_EVENT_OPEN, -EACCES);
	cr_assert_eq(pm_target_watch_thread(&watch, getpid(), &diag), -EACCES);
	pm_kernel_fault = NULL;
	cr_assert_eq(watch.fd, -1);
	cr_assert_eq(count_descriptors(), before);
}
