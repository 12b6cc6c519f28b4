/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Going on with less: whatever is refused, the program runs and its times are right. */
#include "helpers.h"
#include "region_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "core/kernel/clock.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"
#include "fastpath/fastpath.h"

static void unwatch(void)
{
	pm_kernel_fault = NULL;
	pm_file_root = "";
}

TestSuite(region_less, .init = probe_quiet, .fini = unwatch, .timeout = 120);

static enum pm_kernel_call failing = PM_CALLS;
static int failing_error;
static unsigned int failing_from = 1; /* the first call that fails, from 1 */
static unsigned int failing_times = UINT32_MAX;
static __thread unsigned int calls[PM_CALLS];

static int fail(enum pm_kernel_call call)
{
	unsigned int number = ++calls[call];

	return call == failing && number >= failing_from &&
			       number - failing_from < failing_times
		       ? failing_error
		       : 0;
}

static void refuse(enum pm_kernel_call call, int error)
{
	memset(calls, 0, sizeof(calls));
	failing = call;
	failing_error = error;
	pm_kernel_fault = fail;
}

static void work(void)
{
	char name[32];

	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("outer");
		PERFMON_REGION_BEGIN("inner");
		let_time_pass_ms(2);
		PERFMON_REGION_END("inner");
		for (int j = 0; j < 100; j++) {
			snprintf(name, sizeof(name), "name %d", j);
			perfmon_region_begin_name(name);
			perfmon_region_end_name(name);
		}
		PERFMON_REGION_END("outer");
	}
}

static void *work_in_thread(void *unused)
{
	work();
	return unused;
}

/* Visits and times are right, whatever became of the counters. */
static void check_times(const struct pm_snapshot *s)
{
	const struct perfmon_profile_node *inner =
		probe_node(s, &s->threads[0], "outer/inner");
	double ns;

	cr_assert_eq(probe_visits(s, "outer"), 3);
	cr_assert_eq(probe_visits(s, "outer/name 99"), 3);
	cr_assert_eq(pm_node_visits(inner), 3);
	ns = pm_snapshot_ns(s, (double)inner->time_ticks);
	cr_assert_geq(ns, 5.9e6, "%.0f ns", ns);
	cr_assert_lt(ns, 3e9, "%.0f ns", ns);
	cr_assert_eq(inner->defects, 0);
}

static void check_refused(int error)
{
	struct probe_values values = {0};
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "task-clock,page-faults", 1);
	refuse(PM_CALL_PERF_EVENT_OPEN, error);
	work();
	unwatch();
	s = probe_take();
	check_times(s);
	cr_assert_eq(s->counter_count, 2);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(s->threads[0].record.status[i], error);
		cr_assert(s->counters[i].flags & PERFMON_PROFILE_COUNTER_REFUSED);
		cr_assert_eq(s->counters[i].error, error);
	}
	cr_assert_not_null(probe_note(s, "task-clock"), "a note names the event");
	cr_assert_eq(probe_read("outer", &values), 0);
	cr_assert_eq(values.counted, 0, "refused is not counted, and not zero");
	cr_assert_geq(values.time_ns, 5.9e6);
	pm_snapshot_free(s);
}

Test(region_less, perf_event_open_not_permitted)
{
	check_refused(-EACCES);
}

Test(region_less, perf_event_open_not_permitted_by_paranoid_4)
{
	check_refused(-EPERM);
}

/* What the kernel refuses when the plan is made costs no visit and no thread anything. */
Test(region_less, a_refused_event_keeps_the_warm_path)
{
	const struct perfmon_profile_node *node;
	void (*armed)(struct perfmon_region *);
	struct pm_snapshot *s;
	pthread_t thread;
	uint64_t made;

	setenv("PERFMON_EVENTS", "page-faults,dummy", 1);
	setenv("PERFMON_THREADS", "keep", 1);
	refuse(PM_CALL_PERF_EVENT_OPEN, -EOPNOTSUPP);
	PERFMON_REGION_BEGIN("refused");
	PERFMON_REGION_END("refused");
	unwatch();
	armed = perfmon_region_begin_armed;
	pm_region_calls_arm(0, !pm_region_general.monotonic, 0);
	cr_assert_eq(perfmon_region_begin_armed, armed, "of no counters");
	made = pm_kernel_made(PM_CALL_PERF_EVENT_OPEN);
	pthread_create(&thread, NULL, work_in_thread, NULL);
	pthread_join(thread, NULL);
	cr_assert_eq(pm_kernel_made(PM_CALL_PERF_EVENT_OPEN), made);
	s = probe_take();
	cr_assert_eq(s->counter_count, 2);
	cr_assert_eq(s->thread_count, 2);
	cr_assert_not_null(probe_note(s, "page-faults"));
	for (uint32_t t = 0; t < 2; t++) {
		cr_assert_eq(s->threads[t].record.status[0], -EOPNOTSUPP);
		cr_assert_eq(s->threads[t].record.status[1], -EOPNOTSUPP);
	}
	node = probe_node(s, &s->threads[0], "refused");
	cr_assert_eq(pm_node_visits(node), 1);
	cr_assert_eq(node->count[0].lost_ns, 0, "no slow path");
	pm_snapshot_free(s);
}

/* The others are counted, from the first column on. With modifiers, what opens is asked for
 * the plan alone. */
Test(region_less, one_refused_event_of_three)
{
	struct probe_values values = {0};
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "page-faults:u,dummy:u,task-clock:u", 1);
	failing_from = 1;
	failing_times = 1;
	refuse(PM_CALL_PERF_EVENT_OPEN, -EOPNOTSUPP);
	work();
	unwatch();
	s = probe_take();
	check_times(s);
	cr_assert_eq(s->counter_count, 3);
	cr_assert_eq(strncmp(s->counters[2].name, "page-faults", 11), 0);
	cr_assert_eq(s->counters[2].error, -EOPNOTSUPP);
	cr_assert(s->counters[2].flags & PERFMON_PROFILE_COUNTER_REFUSED);
	cr_assert_eq(s->threads[0].record.status[2], -EOPNOTSUPP);
	cr_assert_eq(probe_read("outer", &values), 0);
	cr_assert_eq(values.counters, 3);
	cr_assert_eq(values.counted, 3);
	cr_assert_eq(strncmp(perfmon_region_counter(2), "page-faults", 11), 0);
	pm_snapshot_free(s);
}

/* A lack of descriptors is none of the event's: later threads may have some. */
Test(region_less, a_lack_is_no_refusal)
{
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "page-faults:u", 1);
	failing_from = 1;
	failing_times = 1;
	refuse(PM_CALL_PERF_EVENT_OPEN, -EMFILE);
	work();
	unwatch();
	s = probe_take();
	cr_assert_gt(s->threads[0].record.status[0], 0);
	pm_snapshot_free(s);
}

Test(region_less, no_perf_event_open)
{
	check_refused(-ENOSYS);
}

Test(region_less, default_events_that_are_all_refused)
{
	struct pm_snapshot *s;

	refuse(PM_CALL_PERF_EVENT_OPEN, -EACCES);
	work();
	unwatch();
	s = probe_take();
	check_times(s);
	cr_assert_gt(s->note_count, 0, "a note says why");
	pm_snapshot_free(s);
}

static int filter_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	CHILD_CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? 77 : 0;
}

static int in_a_sandbox(void)
{
	struct pm_snapshot *s = NULL;
	int err = filter_calls();

	setenv("PERFMON_EVENTS", "task-clock", 1);
	if (err)
		return err;
	work();
	CHILD_CHECK(!pm_regions_snapshot(&s, NULL));
	CHILD_CHECK(probe_visits(s, "outer/inner") == 3);
	CHILD_CHECK(s->threads[0].record.status[0] == -EPERM);
	CHILD_CHECK(probe_note(s, "task-clock"));
	CHILD_CHECK(probe_note(s, "seccomp"));
	return 0;
}

Test(region_less, a_system_call_filter)
{
	int status = probe_child(in_a_sandbox);

	if (status == 77)
		cr_skip_test("this kernel has no seccomp filters");
	cr_assert_eq(status, 0);
}

/* No event is offered that is refused as well. */
static int by_default_in_a_sandbox(void)
{
	struct pm_snapshot *s = NULL;
	int err = filter_calls();

	unsetenv("PERFMON_EVENTS");
	if (err)
		return err;
	work();
	CHILD_CHECK(!pm_regions_snapshot(&s, NULL));
	CHILD_CHECK(probe_note(s, "seccomp"));
	CHILD_CHECK(probe_note(s, "perfmon run --exact"));
	CHILD_CHECK(!probe_note(s, "PERFMON_EVENTS="));
	return 0;
}

Test(region_less, a_system_call_filter_by_default)
{
	int status = probe_child(by_default_in_a_sandbox);

	if (status == 77)
		cr_skip_test("this kernel has no seccomp filters");
	cr_assert_eq(status, 0);
}

/* Only the thread that finds no descriptor is concerned. */
Test(region_less, descriptors_exhausted)
{
	struct rlimit limit, none;
	struct pm_snapshot *s;
	int32_t refused = 0, counted = 0;
	pthread_t thread;

	setenv("PERFMON_EVENTS", "task-clock,page-faults", 1);
	setenv("PERFMON_THREADS", "keep", 1);
	work();
	getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	pthread_create(&thread, NULL, work_in_thread, NULL);
	pthread_join(thread, NULL);
	setrlimit(RLIMIT_NOFILE, &limit);
	pthread_create(&thread, NULL, work_in_thread, NULL);
	pthread_join(thread, NULL);
	s = probe_take();
	cr_assert_eq(s->thread_count, 3);
	cr_assert_eq(probe_visits(s, "outer/inner"), 9);
	for (uint32_t i = 0; i < 3; i++) {
		refused += s->threads[i].record.status[0] == -EMFILE;
		counted += s->threads[i].record.status[0] > 0;
	}
	cr_assert_eq(refused, 1);
	cr_assert_eq(counted, 2);
	cr_assert_not_null(probe_note(s, "RLIMIT_NOFILE"));
	pm_snapshot_free(s);
}

/* A page that may not be mapped is read by read(2). */
Test(region_less, locked_memory_used_up)
{
	struct probe_values values = {0};
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "instructions", 1);
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	s = probe_take();
	if (s->threads[0].record.status[0] != PERFMON_PROFILE_COUNTER_STATUS_USER)
		cr_skip_test("no counter's page is mapped here: %s",
			     s->note_count ? s->notes[0] : "no hardware counter");
	pm_snapshot_free(s);
	pthread_t thread;

	setenv("PERFMON_THREADS", "keep", 1);
	failing_from = 2; /* the first mapping is the thread's own memory */
	failing_times = 1;
	refuse(PM_CALL_MMAP, -EPERM);
	pthread_create(&thread, NULL, work_in_thread, NULL);
	pthread_join(thread, NULL);
	unwatch();
	work();
	cr_assert_eq(probe_read("outer", &values), 0);
	cr_assert_eq(values.counted, 1, "this thread's page is still there");
	s = probe_take();
	cr_assert_eq(probe_visits(s, "outer/inner"), 6);
	cr_assert_not_null(probe_note(s, "RLIMIT_MEMLOCK"));
	cr_assert_gt(probe_sum(s, status[0]), PERFMON_PROFILE_COUNTER_STATUS_USER,
		     "one by read(2)");
	pm_snapshot_free(s);
}

Test(region_less, an_event_with_a_mistake)
{
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "task-clock,pgae-faults", 1);
	work();
	s = probe_take();
	check_times(s);
	cr_assert_not_null(probe_note(s, "pgae-faults"), "the mistake is quoted");
	cr_assert_not_null(probe_note(s, "PERFMON_EVENTS"));
	cr_assert(s->counter_count > 0 || probe_note(s, "timed only"),
		  "what is counted is the default");
	pm_snapshot_free(s);
}

Test(region_less, no_events_at_all)
{
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", "none", 1);
	work();
	s = probe_take();
	check_times(s);
	cr_assert_eq(s->counter_count, 0);
	cr_assert_eq(probe_node(s, &s->threads[0], "outer")->dropped_counts, 0);
	pm_snapshot_free(s);
}

Test(region_less, a_timestamp_counter_that_is_not_stable)
{
#if defined(__x86_64__)
	char root[64];
	struct pm_snapshot *s;

	make_folder(root, sizeof(root));
	make_file(root,
		  "sys/devices/system/clocksource/clocksource0/available_clocksource",
		  "hpet acpi_pm\n");
	pm_file_root = root;
	work();
	pm_file_root = "";
	remove_folder(root);
	cr_assert(pm_clock.monotonic);
	s = probe_take();
	cr_assert_eq(s->header.clock, PERFMON_PROFILE_CLOCK_MONOTONIC);
	cr_assert_not_null(probe_note(s, "TSC"));
	check_times(s);
	pm_snapshot_free(s);
#else
	cr_skip_test("only x86 has timestamp counters that may be unstable");
#endif
}

Test(region_less, no_memfd)
{
	struct pm_snapshot *s;

	refuse(PM_CALL_MEMFD_CREATE, -ENOSYS);
	work();
	unwatch();
	s = probe_take();
	check_times(s);
	cr_assert_not_null(probe_note(s, "memfd_create"));
	pm_snapshot_free(s);
}

Test(region_less, a_profile_that_may_not_grow_from_the_start)
{
	struct pm_snapshot *s;

	refuse(PM_CALL_FALLOCATE, -ENOSPC);
	work();
	unwatch();
	s = probe_take();
	check_times(s);
	cr_assert_not_null(probe_note(s, "could not grow"));
	pm_snapshot_free(s);
}

static void names(int count)
{
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "one of many %d", i);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
}

static void many_names(void)
{
	names(5000);
}

Test(region_less, a_profile_that_may_not_grow_on)
{
	struct pm_snapshot *s;

	work();
	refuse(PM_CALL_FALLOCATE, -ENOSPC);
	many_names();
	unwatch();
	s = probe_take();
	check_times(s);
	cr_assert_eq(probe_visits(s, "one of many 4999"), 1);
	cr_assert_not_null(probe_note(s, "could not grow"));
	cr_assert_eq(probe_all_lost(s), 0);
	pm_snapshot_free(s);
}

/* RLIMIT_FSIZE is answered with a signal by the kernel; it must not come to that. */
Test(region_less, a_limit_on_file_sizes)
{
	struct rlimit limit = {64 << 10, 64 << 10};
	struct pm_snapshot *s;

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	work();
	s = probe_take();
	check_times(s);
	cr_assert_not_null(probe_note(s, "could not grow"));
	pm_snapshot_free(s);
}

/* The numbers that were ours belong to the program's own files then. */
static int closes_all(void)
{
	char path[] = "/tmp/perfmon-test-XXXXXX";
	struct pm_snapshot *s = NULL;
	int fd, status;
	struct stat st;
	pid_t pid;

	setenv("PERFMON_EVENTS", "task-clock,page-faults", 1);
	work();
	if (syscall(SYS_close_range, 3, 8191, 0))
		for (fd = 3; fd < 8192; fd++)
			close(fd);
	fd = mkostemp(path, O_CLOEXEC);
	CHILD_CHECK(fd >= 3);
	unlink(path);
	CHILD_CHECK(write(fd, "mine", 4) == 4);
	for (int i = 0; i < 32; i++)
		CHILD_CHECK(dup(fd) >= 0);
	work();
	many_names(); /* makes the profile grow */
	pid = fork();
	if (pid == 0) {
		work();
		_exit(fstat(fd, &st) || st.st_size != 4);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHILD_CHECK(!fstat(fd, &st));
	CHILD_CHECK(st.st_size == 4);
	CHILD_CHECK(lseek(fd, 0, SEEK_CUR) == 4);
	CHILD_CHECK(!pm_regions_snapshot(&s, NULL));
	CHILD_CHECK(probe_visits(s, "outer/inner") == 6);
	CHILD_CHECK(probe_visits(s, "one of many 4999") == 1);
	return 0;
}

Test(region_less, a_program_that_closes_all_descriptors)
{
	cr_assert_eq(probe_child(closes_all), 0);
}

Test(region_less, no_memory_for_a_thread)
{
	struct pm_snapshot *s;
	pthread_t thread;

	work();
	refuse(PM_CALL_MMAP, -ENOMEM);
	pthread_create(&thread, NULL, work_in_thread, NULL);
	pthread_join(thread, NULL);
	unwatch();
	s = probe_take();
	check_times(s);
	cr_assert_eq(s->header.lost_threads, 1, "one thread, however many visits");
	pm_snapshot_free(s);
}

Test(region_less, no_memory_for_paths)
{
	struct pm_snapshot *s;

	work();
	refuse(PM_CALL_MMAP, -ENOMEM);
	many_names();
	unwatch();
	s = probe_take();
	check_times(s);
	cr_assert_gt(probe_all_lost(s), 0);
	cr_assert_eq(probe_all_visits(s) + probe_all_lost(s), 3 + 3 + 300 + 5000);
	pm_snapshot_free(s);
	many_names();
	cr_assert_eq(probe_now("one of many 4999"), 1, "it recovers");
}

static int any_fault(void)
{
	struct pm_snapshot *s = NULL;
	pthread_t thread;
	pm_kernel_fault = fail;
	PERFMON_REGION_BEGIN("outer");
	names(200);
	PERFMON_REGION_END("outer");
	if (!pthread_create(&thread, NULL, work_in_thread, NULL))
		pthread_join(thread, NULL);
	if (!pm_regions_snapshot(&s, NULL)) {
		const struct perfmon_profile_node *node =
			s->thread_count ? probe_node(s, &s->threads[0], "outer") : NULL;

		/* A clock that fails is no clock of this world. */
		CHILD_CHECK(!s->partial || failing == PM_CALL_CLOCK_GETTIME);
		CHILD_CHECK(!node || pm_node_visits(node) <= 4);
		pm_snapshot_free(s);
	}
	return 0;
}

/* Each call of the library fails, once and for ever, at each time, with what it can give:
 * the program goes on. */
Test(region_less, every_call_fails)
{
	static const int errors[] = {-ENOMEM, -EPERM, -EINTR, -EINVAL, -ENOSYS};

	setenv("PERFMON_EVENTS", "task-clock,page-faults", 1);
	for (int call = 0; call < PM_CALLS; call++) {
		for (unsigned int at = 1; at <= 4; at++) {
			failing = (enum pm_kernel_call)call;
			failing_error = errors[(at + (unsigned int)call) % 5];
			failing_from = at;
			failing_times = at & 1 ? UINT32_MAX : 1;
			/* EINTR for ever is no kernel's answer. */
			if (failing_error == -EINTR)
				failing_times = 3;
			cr_assert_eq(probe_child(any_fault), 0,
				     "call %d, time %u, error %d", call, at,
				     failing_error);
		}
	}
}
