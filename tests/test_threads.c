/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Covering all threads of a process while it creates others: each counts exactly once. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/counters/counters.h"
#include "core/kernel/kernel.h"
#include "core/session/threads/threads.h"
#include "core/text/diag.h"
#include "helpers.h"
#include "storm_child.h"

/* --- what a session does ------------------------------------------------------------ */

#define EVENTS 8
#define ROOM   4096

/* Opens EVENTS page fault events on each thread, as a set would. */
struct opener {
	unsigned int events;
	bool descendants;
	uint64_t watched; /* not 0: the first is a breakpoint on this address */
	bool hardware;	  /* the first counts cycles */
	uint32_t opened, closed;
	int fds[ROOM][EVENTS];
	struct pm_instance *instances[ROOM];
	uint32_t refuse_at; /* this open() gives -EIO */
	const struct child
		*storm;	  /* which has to create a thread after each first open() */
	uint32_t kill_at; /* before this open() the victim is killed */
	pid_t victim;
};

static struct opener opener;

/* Past the library's, which a test makes fail. */
static int open_event(struct perf_event_attr *attr, pid_t tid)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Has an "asked" storm create a thread that lasts. It counts the thread before, and what
 * it has created after that: only then is it there. */
static void have_one_created(const struct child *child)
{
	struct storm *storm = child->storm;
	uint32_t lasting = atomic_load(&storm->lasting);

	atomic_fetch_add(&storm->asked, 1);
	wait_until(child, &storm->lasting, lasting + 1);
	wait_until(child, &storm->created, atomic_load(&storm->created) + 1);
}

static int open_events(void *argument, pid_t tid, void **opened, struct pm_diag *diag)
{
	struct opener *all = argument;
	int *fds = all->fds[all->opened];

	cr_assert_lt(all->opened, ROOM);
	if (all->opened + 1 == all->kill_at) {
		siginfo_t info;

		/* All its threads have ended when it can be waited for. */
		kill(all->victim, SIGKILL);
		waitid(P_PID, (id_t)all->victim, &info, WEXITED | WNOWAIT);
	}
	if (all->opened + 1 == all->refuse_at)
		return pm_diag_set(diag, -EIO, "a test refused");
	for (unsigned int i = 0; i < all->events; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(attr),
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.disabled = 1,
			.inherit = 1,
			.inherit_thread = !all->descendants,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		};

		if (all->watched && !i) {
			attr.type = PERF_TYPE_BREAKPOINT;
			attr.bp_type = HW_BREAKPOINT_W;
			attr.bp_addr = all->watched;
			attr.bp_len = HW_BREAKPOINT_LEN_8;
		}
		if (all->hardware && !i) {
			attr.type = PERF_TYPE_HARDWARE;
			attr.config = PERF_COUNT_HW_CPU_CYCLES;
		}
		fds[i] = open_event(&attr, tid);
		if (fds[i] == -EINVAL) {
			/* Before Linux 5.13. */
			attr.inherit_thread = 0;
			fds[i] = open_event(&attr, tid);
		}
		if (fds[i] < 0) {
			int err = fds[i];

			while (i--)
				close(fds[i]);
			return pm_diag_set(diag, err, "page-faults on %d: %s", tid,
					   strerror(-err));
		}
	}
	all->opened++;
	*opened = fds;
	if (all->storm && all->opened == all->closed + 1)
		have_one_created(all->storm);
	return 0;
}

static void close_events(void *argument, void *opened)
{
	struct opener *all = argument;
	int *fds = opened;

	for (unsigned int i = 0; i < all->events; i++) {
		close(fds[i]);
		fds[i] = -1;
	}
	all->closed++;
}

static struct pm_threads_request request_for(const struct child *child,
					     unsigned int events, bool descendants)
{
	memset(&opener, 0, sizeof(opener));
	opener.events = events;
	opener.descendants = descendants;
	return (struct pm_threads_request){
		.pid = child->pid,
		.descendants = descendants,
		.descriptors = events,
		.argument = &opener,
		.open = open_events,
		.close = close_events,
	};
}

static void enable_all(bool enable)
{
	for (uint32_t t = 0; t < opener.opened; t++) {
		for (unsigned int i = 0; i < opener.events && opener.fds[t][i] >= 0; i++)
			pm_kernel_ioctl(opener.fds[t][i],
					enable ? PERF_EVENT_IOC_ENABLE
					       : PERF_EVENT_IOC_DISABLE,
					0);
	}
}

static uint64_t total_of(unsigned int event)
{
	uint64_t total = 0, count;

	for (uint32_t t = 0; t < opener.opened; t++) {
		if (opener.fds[t][event] < 0)
			continue;
		cr_assert_eq(read(opener.fds[t][event], &count, sizeof(count)), 8);
		total += count;
	}
	return total;
}

static void close_rest(void)
{
	for (uint32_t t = 0; t < opener.opened; t++) {
		for (unsigned int i = 0; i < opener.events && opener.fds[t][i] >= 0; i++)
			close(opener.fds[t][i]);
	}
}

static bool may_open(void)
{
	struct child self = {.pid = getpid()};
	struct pm_threads_request request = request_for(&self, 1, false);
	struct pm_threads_result result;
	struct pm_diag diag = {0};
	int err = pm_threads_process(&request, &result, &diag);

	close_rest();
	if (err)
		cr_skip("%s\n", diag.text);
	return !err;
}

/* Lets everyone do his work, and compares. */
static void expect_exact(const struct child *child,
			 const struct pm_threads_result *result, unsigned int first)
{
	struct storm *storm = child->storm;

	calm_down(child);
	enable_all(true);
	raise_phase(child, STORM_WORK);
	wait_until(child, &storm->worked, atomic_load(&storm->lasting));
	enable_all(false);
	for (unsigned int i = first; i < opener.events; i++)
		cr_expect_eq(
			total_of(i), atomic_load(&storm->faults),
			"event %u counted %lu, but %u threads did %lu (%u direct, %u "
			"inherited, %u scans)",
			i, total_of(i), storm->lasting, storm->faults, result->direct,
			result->inherited, result->scans);
	close_rest();
}

/* Before Linux 6.12 a storm may have to be called uncertain. */
static bool is_older(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_DUMMY,
				       .sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID,
				       .disabled = 1,
				       .inherit = 1,
				       .exclude_kernel = 1};
	int fd = open_event(&attr, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

static unsigned int runs(unsigned int few)
{
	if (getenv("PERFMON_TEST_LONG"))
		return is_older() ? few : 100 * few;
	/* The machine with counters is a slow one, where one attempt takes its time. */
	return is_older() ? 1 : few;
}

struct kind {
	const char *name, *leaves;
	unsigned int creators, events;
	bool descendants;
	unsigned int lasting; /* 0: 60 */
	bool restless;	      /* it has to create a thread after each first open() */
	uint64_t watched;
	const struct perf_event_attr *hardware;
};

/* Covers a process in full swing, and has it counted if it is certain of everything. */
static struct pm_threads_result cover_storm(const struct kind *kind, unsigned int created)
{
	struct child child =
		start(kind->creators, kind->lasting ?: 60, kind->name, kind->leaves);
	struct pm_threads_request request =
		request_for(&child, kind->events, kind->descendants);
	struct pm_threads_result result;
	struct pm_diag diag = {0};
	int before;

	opener.watched = kind->watched;
	opener.hardware = kind->hardware != NULL;
	request.hardware = kind->hardware;
	opener.storm = kind->restless ? &child : NULL;
	wait_until(&child, &child.storm->created, created);
	before = open_descriptors();
	cr_assert_eq(pm_threads_process(&request, &result, &diag), 0, "%s", diag.text);
	cr_assert_eq(open_descriptors() - before,
		     (int)(kind->events * (opener.opened - opener.closed)),
		     "nothing is left of the probe");
	cr_assert_eq(result.direct, opener.opened - opener.closed);
	cr_assert_eq(result.refused, 0);
	cr_assert_eq(result.uncertain != 0, result.reason != NULL);
	if (result.uncertain)
		close_rest();
	else
		expect_exact(&child, &result, kind->watched || kind->hardware ? 1 : 0);
	stop(&child);
	return result;
}

static void cover_storms(const struct kind *kind, unsigned int times)
{
	unsigned int inherited = 0, uncertain = 0;
	bool older = is_older();

	if (!may_open())
		return;
	/* On a busy machine none may be created in that moment, or a thread may stay in the kernel:
	 * then the result is uncertain, as it says, and another run is as good. */
	for (unsigned int i = 0;
	     i < times + uncertain || (!older && !inherited && i < 20 * times); i++) {
		struct pm_threads_result result = cover_storm(kind, 20 + 13 * i % 200);

		inherited += result.inherited;
		uncertain += !older && result.uncertain;
		cr_assert_leq(uncertain, times, "run %u: %s", i, result.reason);
	}
	cr_assert(older || inherited, "some were created meanwhile");
}

TestSuite(threads, .timeout = 3600);

/* Row: HW-01: all threads of a process, each once, whoever creates more meanwhile. */
Test(threads, each_thread_of_a_process_that_creates_them_counts_once)
{
	cover_storms(&(struct kind){.name = "threads", .creators = 3, .events = 1},
		     runs(15));
}

/* Row: HW-01 */
Test(threads, several_events_of_a_thread_are_inherited_whole)
{
	cover_storms(&(struct kind){.name = "threads", .creators = 2, .events = 4},
		     runs(5));
}

/* Row: HW-01: short-lived threads create others; the main thread has ended. */
Test(threads, threads_that_threads_create_are_covered_without_their_main_thread)
{
	cover_storms(
		&(struct kind){
			.name = "relay", .leaves = "leaves", .creators = 2, .events = 1},
		runs(5));
}

/* Row: HW-01: the caller's events may hold breakpoints, which the markers are, too. */
Test(threads, events_that_are_breakpoints_leave_the_probe_its_slots)
{
	cover_storms(
		&(struct kind){
			.name = "threads", .creators = 2, .events = 2, .watched = 0x2000},
		runs(5));
}

/* Row: HW-06: child processes and theirs, those there and those to come. */
Test(threads, descendants_count_once)
{
	cover_storms(&(struct kind){.name = "processes",
				    .creators = 2,
				    .events = 1,
				    .descendants = true},
		     runs(5));
}

/* --- without a probe --------------------------------------------------------------- */

static int no_events(enum pm_kernel_call call)
{
	return call == PM_CALL_PERF_EVENT_OPEN ? -EOPNOTSUPP : 0;
}

/* Row: HW-01: a process that creates no threads needs no probe. */
Test(threads, a_calm_process_is_covered_without_breakpoints)
{
	struct kind kind = {.name = "none", .events = 1};
	struct pm_threads_result result;

	if (!may_open())
		return;
	pm_kernel_fault = no_events;
	result = cover_storm(&kind, 60);
	pm_kernel_fault = NULL;
	cr_assert_eq(result.uncertain, 0, "%s", result.reason);
	cr_assert_eq(result.direct, 61);
	cr_assert_eq(result.inherited, 0);
}

Test(threads, a_storm_without_breakpoints_is_said_to_be_uncertain)
{
	struct kind storm = {.name = "threads", .creators = 3, .events = 1};
	struct kind restless = {
		.name = "asked", .creators = 1, .events = 1, .restless = true};
	struct pm_threads_result result;

	if (!may_open())
		return;
	pm_kernel_fault = no_events;
	result = cover_storm(&restless, 20);
	cr_assert_gt(result.uncertain, 0);
	cr_assert_not_null(strstr(result.reason, "breakpoints"), "%s", result.reason);
	/* Where it calls itself certain, what it counted is compared. */
	for (unsigned int i = 0; i < runs(5); i++)
		cover_storm(&storm, 20 + 20 * i % 400);
	pm_kernel_fault = NULL;
}

/* Kernels before 6.12: exact, or said not to be. */
Test(threads, threads_that_exchange_their_events)
{
	static const struct kind kinds[] = {
		{.name = "threads", .creators = 3, .events = 1},
		{.name = "threads", .creators = 2, .events = 4},
		{.name = "relay", .leaves = "leaves", .creators = 2, .events = 1},
		{.name = "processes", .creators = 2, .events = 1, .descendants = true},
	};

	if (!may_open())
		return;
	pm_threads_as_before_6_12 = true;
	for (unsigned int i = 0; i < runs(12); i++)
		cover_storm(&kinds[i % 4], 20 + 13 * i % 200);
}

/* Row: HW-01: hardware events, which older kernels let threads inherit apart from others,
 * beside one that counts exactly. */
Test(threads, hardware_events_have_a_marker_of_their_own)
{
	struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE,
					 .size = sizeof(cycles),
					 .config = PERF_COUNT_HW_CPU_CYCLES,
					 .disabled = 1,
					 .exclude_kernel = 1,
					 .exclude_hv = 1};
	struct kind kind = {
		.name = "threads", .creators = 2, .events = 2, .hardware = &cycles};
	int fd = open_event(&cycles, 0);

	if (fd < 0)
		cr_skip("no event counts cycles here: %s\n", strerror(-fd));
	close(fd);
	for (unsigned int i = 0; i < runs(5); i++)
		cover_storm(&kind, 20 + 13 * i % 200);
}

/* --- refusals ----------------------------------------------------------------------- */

static int cover_again(const struct child *child, struct pm_diag *diag)
{
	struct pm_threads_request request = request_for(child, 2, false);
	struct pm_threads_result result = {.direct = 4711};
	int before = open_descriptors(), err;

	*diag = (struct pm_diag){0};
	err = pm_threads_process(&request, &result, diag);
	if (err) {
		cr_assert_eq(result.direct, 4711, "untouched");
		cr_assert_eq(opener.opened, opener.closed);
		cr_assert_eq(open_descriptors(), before, "nothing is left open");
		cr_assert_eq(diag->error, err);
		cr_assert(diag->text[0]);
	} else {
		close_rest();
	}
	return err;
}

Test(threads, a_process_that_is_not_there)
{
	struct child nobody = {.pid = fork()}, zero = {.pid = 0};
	struct pm_diag diag;

	if (!nobody.pid)
		_exit(0);
	/* A zombie has no thread that lives. */
	siginfo_t info;
	waitid(P_PID, (id_t)nobody.pid, &info, WEXITED | WNOWAIT);
	cr_assert_eq(cover_again(&nobody, &diag), -ESRCH, "%s", diag.text);
	waitpid(nobody.pid, NULL, 0);
	cr_assert_eq(cover_again(&nobody, &diag), -ESRCH);
	cr_assert_not_null(strstr(diag.text, "there is no process"), "%s", diag.text);
	cr_assert_eq(cover_again(&zero, &diag), -EINVAL);
}

Test(threads, a_thread_stands_for_its_process)
{
	struct child child, thread;
	char path[64];
	struct pm_diag diag;
	struct dirent *entry;
	DIR *dir;

	if (!may_open())
		return;
	child = start(0, 5, "none", NULL);
	wait_until(&child, &child.storm->created, 5);
	snprintf(path, sizeof(path), "/proc/%d/task", child.pid);
	dir = opendir(path);
	while ((entry = readdir(dir)))
		thread.pid =
			atoi(entry->d_name) > child.pid ? atoi(entry->d_name) : child.pid;
	closedir(dir);
	cr_assert_eq(cover_again(&thread, &diag), 0, "%s", diag.text);
	cr_assert_eq(opener.opened, 6);
	stop(&child);
}

Test(threads, what_fails_in_the_middle_leaves_nothing)
{
	struct child child;
	struct pm_threads_request request;
	struct pm_threads_result result;
	struct pm_diag diag = {0};

	if (!may_open())
		return;
	child = start(0, 20, "none", NULL);
	wait_until(&child, &child.storm->created, 20);
	request = request_for(&child, 1, false);
	opener.refuse_at = 12;
	cr_assert_eq(pm_threads_process(&request, &result, &diag), -EIO);
	cr_assert_str_eq(diag.text, "a test refused");
	cr_assert_eq(opener.opened, 11);
	cr_assert_eq(opener.closed, 11);

	request = request_for(&child, 1, false);
	opener.kill_at = 12;
	opener.victim = child.pid;
	cr_assert_eq(pm_threads_process(&request, &result, &diag), -ESRCH, "%s",
		     diag.text);
	cr_assert_not_null(strstr(diag.text, "has ended"), "%s", diag.text);
	cr_assert_eq(opener.opened, opener.closed);
	stop(&child);
}

Test(threads, the_limit_of_descriptors_is_named)
{
	struct rlimit limit, small;
	struct child child;
	struct pm_diag diag;
	char want[32];

	if (!may_open())
		return;
	child = start(0, 30, "none", NULL);
	wait_until(&child, &child.storm->created, 30);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	small = limit;
	small.rlim_cur = (rlim_t)open_descriptors() + 25;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &small), 0);
	cr_assert_eq(cover_again(&child, &diag), -EMFILE);
	cr_assert_not_null(strstr(diag.text, "31 threads"), "%s", diag.text);
	cr_assert_not_null(strstr(diag.text, "need 2 each, 62 in all"), "%s", diag.text);
	snprintf(want, sizeof(want), "raised to %llu",
		 (unsigned long long)limit.rlim_max);
	cr_assert_not_null(strstr(diag.text, want), "%s", diag.text);
	setrlimit(RLIMIT_NOFILE, &limit);
	cr_assert_eq(cover_again(&child, &diag), 0, "%s", diag.text);
	stop(&child);
}

/* --- instances ---------------------------------------------------------------------- */

/* A session's own: an instance for each thread. */
static int open_instance(void *argument, pid_t tid, void **opened, struct pm_diag *diag)
{
	static const char *const names[] = {"page-faults", "dummy"};
	const uint64_t configs[] = {PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_DUMMY};
	struct opener *all = argument;
	struct pm_instance *instance = calloc(1, pm_instance_size(2));
	struct pm_event *events = calloc(2, sizeof(events[0]));
	int n;

	for (unsigned int i = 0; i < 2; i++) {
		events[i].name = (char *)names[i];
		events[i].pmu = (char *)"software";
		events[i].cpus = (char *)"";
		events[i].scale = 1;
		events[i].attr.type = PERF_TYPE_SOFTWARE;
		events[i].attr.size = sizeof(events[i].attr);
		events[i].attr.config = configs[i];
		events[i].attr.exclude_kernel = 1;
		events[i].attr.exclude_hv = 1;
	}
	n = pm_instance_open(instance, events, all->events, tid, -1, PM_OPEN_INHERIT,
			     diag);
	if (n < 0) {
		free(events);
		free(instance);
		return n;
	}
	all->instances[all->opened++] = instance;
	*opened = instance;
	return 0;
}

static void close_instance(void *argument, void *opened)
{
	struct pm_instance *instance = opened;
	struct opener *all = argument;

	pm_instance_close(instance);
	free((void *)instance->counters[0].event);
	free(instance);
	all->closed++;
}

static struct pm_threads_request request_instances(const struct child *child,
						   unsigned int events)
{
	struct pm_threads_request request = request_for(child, events, false);

	request.open = open_instance;
	request.close = close_instance;
	return request;
}

/* Row: HW-01: the instances of a thousand threads of another process, each of one
 * event. */
Test(threads, a_thousand_instances_work_or_the_limit_is_named)
{
	struct rlimit limit;
	struct child child;
	struct pm_threads_request request;
	struct pm_threads_result result;
	struct pm_reading reading;
	struct pm_diag diag = {0};
	uint64_t total = 0;
	int before;

	if (!may_open())
		return;
	child = start(0, 999, "none", NULL);
	wait_until(&child, &child.storm->created, 999);
	before = open_descriptors();
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 1024;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	request = request_instances(&child, 2);
	cr_assert_eq(pm_threads_process(&request, &result, &diag), -EMFILE);
	cr_assert_not_null(strstr(diag.text, "RLIMIT_NOFILE is 1024"), "%s", diag.text);
	cr_assert_not_null(strstr(diag.text, "need 2 each, 2000 in all"), "%s",
			   diag.text);
	cr_assert_eq(opener.opened, opener.closed);
	cr_assert_eq(open_descriptors(), before);

	if (limit.rlim_max < 2100)
		cr_skip("RLIMIT_NOFILE may be raised to %lu only\n", limit.rlim_max);
	limit.rlim_cur = 2100;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	diag = (struct pm_diag){0};
	request = request_instances(&child, 2);
	cr_assert_eq(pm_threads_process(&request, &result, &diag), 0, "%s", diag.text);
	cr_assert_eq(result.direct, 1000);
	cr_assert_eq(result.uncertain, 0, "%s", result.reason);
	calm_down(&child);
	for (uint32_t i = 0; i < opener.opened; i++)
		cr_assert_eq(pm_instance_enable(opener.instances[i]), 0);
	raise_phase(&child, STORM_WORK);
	wait_until(&child, &child.storm->worked, 1000);
	for (uint32_t i = 0; i < opener.opened; i++) {
		cr_assert_eq(pm_instance_disable(opener.instances[i]), 0);
		cr_assert_eq(pm_instance_read_counter(opener.instances[i], 0, &reading),
			     0);
		total += reading.value;
		close_instance(&opener, opener.instances[i]);
	}
	cr_assert_eq(total, atomic_load(&child.storm->faults));
	cr_assert_eq(open_descriptors(), before);
	stop(&child);
}

Test(threads, a_thousand_threads_within_the_usual_limit)
{
	struct kind kind = {.name = "none", .events = 1};
	struct rlimit limit;
	struct child child;
	struct pm_threads_request request;
	struct pm_threads_result result;
	struct pm_diag diag = {0};

	if (!may_open())
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 1024;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	child = start(0, 999, "none", NULL);
	wait_until(&child, &child.storm->created, 999);
	request = request_for(&child, kind.events, false);
	cr_assert_eq(pm_threads_process(&request, &result, &diag), 0, "%s", diag.text);
	cr_assert_eq(result.direct, 1000);
	cr_assert_eq(result.uncertain, 0, "%s", result.reason);
	expect_exact(&child, &result, 0);

	request = request_for(&child, 2, false);
	cr_assert_eq(pm_threads_process(&request, &result, &diag), -EMFILE);
	cr_assert_not_null(strstr(diag.text, "need 2 each, 2000 in all"), "%s",
			   diag.text);
	cr_assert_eq(opener.opened, opener.closed);
	stop(&child);
}

/* In a process of its own, since threads of a process share their namespaces. */
static int cover_inside(void)
{
	struct child first = {.pid = 1};
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID))
		return errno;
	pid = fork();
	if (!pid) {
		struct pm_threads_request request = request_for(&first, 1, false);
		struct pm_threads_result result;
		struct pm_diag diag = {0};

		_exit(pm_threads_process(&request, &result, &diag) != -EXDEV ||
		      !strstr(diag.text, "another pid namespace"));
	}
	waitpid(pid, &status, 0);
	return status ? 255 : 0;
}

/* /proc of the namespace outside shows other numbers than perf_event_open(2) takes. */
Test(threads, the_proc_of_another_namespace_is_refused)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(cover_inside());
	waitpid(pid, &status, 0);
	cr_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) && WEXITSTATUS(status) != 255)
		cr_skip("unshare(2) of a user and a pid namespace: %s\n",
			strerror(WEXITSTATUS(status)));
	cr_assert_eq(WEXITSTATUS(status), 0);
}
