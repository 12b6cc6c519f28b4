/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions on all threads of a process: each counts once, and what becomes of them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#include "perfmon/overflow.h"
#include "helpers.h"
#include "kernel_calls.h"
#include "session_probe.h"
#include "storm_child.h"
#include "messages.h"

#define FAULTS "page-faults:u"

static struct perfmon_target process_of(pid_t pid, uint32_t flags)
{
	return (struct perfmon_target){
		.kind = PERFMON_TARGET_KIND_PROCESS, .flags = flags, .id = pid};
}

static int attach(struct perfmon_session *session, pid_t pid, uint32_t flags)
{
	struct perfmon_target target = process_of(pid, flags);

	return perfmon_session_attach_targets(session, &target, 1, sizeof(target), 0);
}

static uint64_t own_count(struct perfmon_session *session, uint32_t index)
{
	struct perfmon_value value = {.index = index};

	cr_assert_eq(
		perfmon_session_read(session, &value, 1, sizeof(value), PERFMON_READ_OWN),
		1);
	return value.value;
}

/* Users may not observe others at all where kernel.perf_event_paranoid is above 2. */
static void needs_events(void)
{
	struct perfmon_session *session = session_with("dummy:u", 0);

	if (perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0))
		cr_skip("%s\n", session_message_of(session));
	perfmon_session_close(session);
}

TestSuite(process, .init = needs_events, .timeout = 600);

/* --- counting ----------------------------------------------------------------------- */

/* Attaches SESSION to a program in full swing; true if the library is certain. */
static bool attach_to_storm(struct perfmon_session *session, const struct child *child,
			    uint32_t flags, unsigned int created)
{
	wait_until(child, &child->storm->created, created);
	OK(session, attach(session, child->pid, flags));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	return !session_message_of(session)[0];
}

static void work_is_counted(struct perfmon_session *session, const struct child *child)
{
	calm_down(child);
	cr_assert_eq(count_of(session, 0), 0, "nothing counts before the start");
	OK(session, perfmon_session_start(session));
	raise_phase(child, STORM_WORK);
	wait_until(child, &child->storm->worked, atomic_load(&child->storm->lasting));
	OK(session, perfmon_session_stop(session));
}

/* Row: HW-01: all threads of a process, each once, while it creates others as fast as it
 * can; an initial value. */
Test(process, each_thread_counts_once_while_others_are_born)
{
	for (unsigned int i = 0; i < 6; i++) {
		struct perfmon_session *session = session_with(FAULTS ",dummy:u", 0);
		struct perfmon_write write = {.index = 0, .value = 5000};
		struct child child = start(3, 60, "threads", NULL);
		struct perfmon_value value;
		int before = open_descriptors();

		if (attach_to_storm(session, &child, 0, 20 + 40 * i)) {
			work_is_counted(session, &child);
			value = value_of(session, 0);
			cr_expect_eq(value.value, atomic_load(&child.storm->faults),
				     "run %u", i);
			cr_expect_eq(value.status & ~PERFMON_VALUE_SYSCALL,
				     PERFMON_VALUE_COUNTED);
			cr_expect_eq(count_of(session, 1), 0);
			cr_expect_gt(count_of(session, PERFMON_COUNTER_VIRTUAL_TIME), 0);
			cr_expect_eq(perfmon_session_write(session, &write, 1,
							   sizeof(write), 0),
				     1);
			cr_expect_eq(count_of(session, 0), 5000);
		}
		OK(session, perfmon_session_detach(session));
		cr_assert_eq(open_descriptors(), before, "nothing is left open");
		stop(&child);
		perfmon_session_close(session);
	}
}

/* Row: HW-06: child processes that are there and those that come. */
Test(process, descendants_count_once)
{
	struct perfmon_session *session = session_with(FAULTS, 0);
	struct child child = start(2, 60, "processes", NULL);

	if (attach_to_storm(session, &child, PERFMON_TARGET_CHILDREN, 60)) {
		work_is_counted(session, &child);
		cr_expect_eq(count_of(session, 0), atomic_load(&child.storm->faults));
	}
	perfmon_session_close(session);
	stop(&child);
}

static void *touch_from_thread(void *times)
{
	touch(0, (unsigned int)(uintptr_t)times);
	return NULL;
}

static void touch_in_thread(unsigned int times)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, touch_from_thread,
				    (void *)(uintptr_t)times),
		     0);
	pthread_join(thread, NULL);
}

/* A program of one thread that touches, in itself, a thread, and a child process. */
struct family {
	pid_t pid;
	int go[2], done[2];
};

static void work_for(int go, int done, unsigned int times, bool forks)
{
	char byte;

	while (read(go, &byte, 1) == 1 && byte != 'q') {
		touch(0, times);
		touch_in_thread(times);
		if (forks) {
			pid_t pid = fork();

			if (!pid) {
				touch(0, 100 * times);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
		if (write(done, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static struct family family_start(unsigned int times, bool forks)
{
	struct family family;

	cr_assert(!pipe(family.go) && !pipe(family.done));
	family.pid = fork();
	if (!family.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(family.go[1]);
		work_for(family.go[0], family.done[1], times, forks);
	}
	close(family.go[0]);
	close(family.done[1]);
	return family;
}

static void family_work(const struct family *family)
{
	char byte = 0;

	cr_assert_eq(write(family->go[1], &byte, 1), 1);
	cr_assert_eq(read(family->done[0], &byte, 1), 1);
}

/* It exits when it likes. */
static void family_quit(const struct family *family)
{
	cr_assert_eq(write(family->go[1], "q", 1), 1);
	close(family->go[1]);
	close(family->done[0]);
}

static void family_end(const struct family *family)
{
	int status;

	family_quit(family);
	cr_assert_eq(waitpid(family->pid, &status, 0), family->pid);
	cr_expect_eq(status, 0, "it was harmed: %x", status);
}

/* Row: HW-06: threads alone, with descendants, and both apart. */
Test(process, descendants_are_left_out_included_or_told_apart)
{
	NEEDS_BREAKPOINTS();
	const struct {
		uint32_t flags;
		uint64_t all, own;
	} cases[] = {
		{0, 20, 20},
		{PERFMON_TARGET_APART, 20, 20},
		{PERFMON_TARGET_CHILDREN, 1020, 1020},
		{PERFMON_TARGET_CHILDREN | PERFMON_TARGET_APART, 1020, 20},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct perfmon_session *session = session_with(watch_event(0), 0);
		struct family family = family_start(10, true);

		OK(session, attach(session, family.pid, cases[i].flags));
		if (session_message_of(session)[0])
			cr_skip("%s\n", session_message_of(session));
		OK(session, perfmon_session_start(session));
		family_work(&family);
		OK(session, perfmon_session_stop(session));
		family_work(&family);
		cr_expect_eq(count_of(session, 0), cases[i].all);
		cr_expect_eq(own_count(session, 0), cases[i].own);
		OK(session, perfmon_session_detach(session));
		cr_expect_eq(count_of(session, 0), cases[i].all);
		cr_expect_eq(own_count(session, 0), cases[i].own);
		family_end(&family);
		perfmon_session_close(session);
	}
}

static int no_inherit_thread(enum pm_kernel_call call)
{
	static bool asked;

	if (call != PM_CALL_PERF_EVENT_OPEN || asked)
		return 0;
	asked = true;
	return -EINVAL;
}

/* Before Linux 5.13. */
Test(process, a_kernel_that_cannot_leave_children_out_is_told)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct family family = family_start(10, true);

	pm_kernel_fault = no_inherit_thread;
	OK(session, attach(session, family.pid, 0));
	cr_expect(strstr(session_message_of(session), "Linux 5.13"), "%s",
		  session_message_of(session));
	OK(session, perfmon_session_start(session));
	family_work(&family);
	OK(session, perfmon_session_stop(session));
	cr_expect_eq(count_of(session, 0), 1020);
	cr_expect(value_of(session, 0).status & PERFMON_VALUE_UNCERTAIN);
	family_end(&family);
	perfmon_session_close(session);
}

/* By when it began, a later process of the same number is told from it. */
Test(process, one_whose_beginning_cannot_be_read_is_refused)
{
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct family family = family_start(10, false);
	int err = 0;

	/* Which of its files is read when is the library's. */
	for (unsigned int at = 1; at < 20 && err != -EMFILE; at++) {
		fail_calls(PM_CALL_OPEN, -EMFILE, at);
		err = attach(session, family.pid, 0);
		unwatch_calls();
		if (!err)
			OK(session, perfmon_session_detach(session));
		else if (!strstr(session_message_of(session), "began"))
			err = 0;
	}
	cr_expect_eq(err, -EMFILE);
	OK(session, attach(session, family.pid, 0));
	family_end(&family);
	perfmon_session_close(session);
}

/* Row: HW-01, PM-06: the caller's own process; with other targets; each once. */
Test(process, the_own_process_and_others)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_target targets[3] = {process_of(0, 0)};
	struct family a = family_start(10, false), b = family_start(100, false);
	struct perfmon_target bad = process_of(a.pid, PERFMON_TARGET_ON_EXEC);
	int before = open_descriptors();

	targets[1] = process_of(a.pid, 0);
	targets[2] = process_of(getpid(), 0);
	cr_expect_eq(perfmon_session_attach_targets(session, targets,
						    sizeof(targets) / sizeof(targets[0]),
						    sizeof(targets[0]), 0),
		     -EEXIST);
	cr_expect_eq(open_descriptors(), before, "nothing is half attached");
	cr_expect_eq(perfmon_session_attach_targets(session, &bad, 1, sizeof(bad), 0),
		     -EINVAL);
	cr_expect_eq(attach(session, 0x3ffffff, 0), -ESRCH);
	cr_expect(strstr(session_message_of(session), "no process"), "%s",
		  session_message_of(session));
	cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	targets[2] = process_of(b.pid, 0);
	OK(session, perfmon_session_attach_targets(session, targets,
						   sizeof(targets) / sizeof(targets[0]),
						   sizeof(targets[0]), 0));
	cr_expect_eq(attach(session, b.pid, 0), -EBUSY);
	OK(session, perfmon_session_start(session));
	touch(0, 3);
	touch_in_thread(4);
	family_work(&a);
	family_work(&b);
	cr_expect_eq(count_of(session, 0), 7 + 20 + 200);
	OK(session,
	   perfmon_session_detach_target(session, targets[1].kind, targets[1].id));
	cr_expect_eq(
		perfmon_session_detach_target(session, targets[1].kind, targets[1].id),
		-EINVAL);
	touch(0, 3);
	family_work(&a);
	family_work(&b);
	cr_expect_eq(count_of(session, 0), 10 + 20 + 400);
	OK(session,
	   perfmon_session_detach_target(session, targets[2].kind, targets[2].id));
	OK(session,
	   perfmon_session_detach_target(session, targets[0].kind, targets[0].id));
	cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_expect_eq(count_of(session, 0), 430);
	cr_expect_eq(open_descriptors(), before);
	perfmon_session_close(session);
	family_end(&a);
	family_end(&b);

	session = session_with("dummy:u", PERFMON_SESSION_EXCLUSIVE);
	cr_expect_eq(attach(session, 0, 0), -EINVAL);
	perfmon_session_close(session);
}

/* Events that are added while a process is attached are opened on threads that are there
 * by inheritance alone, too. */
Test(process, is_attached_anew_when_events_change)
{
	struct perfmon_session *session = session_with("dummy:u", 0);
	struct child child = start(2, 40, "threads", NULL);

	if (attach_to_storm(session, &child, 0, 30)) {
		calm_down(&child);
		OK(session, perfmon_session_add_events(session, FAULTS));
		OK(session, perfmon_session_start(session));
		raise_phase(&child, STORM_WORK);
		wait_until(&child, &child.storm->worked,
			   atomic_load(&child.storm->lasting));
		OK(session, perfmon_session_stop(session));
		cr_expect_eq(count_of(session, 1), atomic_load(&child.storm->faults));
	}
	stop(&child);
	perfmon_session_close(session);
}

/* --- uncertain ---------------------------------------------------------------------- */

static const struct child *restless;

static void ask_for(const struct child *child, uint32_t threads)
{
	uint32_t lasting = atomic_load(&child->storm->lasting);

	atomic_fetch_add(&child->storm->asked, threads);
	wait_until(child, &child->storm->lasting, lasting + threads);
}

/* Has RESTLESS create one thread while events are opened on some five of the others, of
 * which it has more. */
static int wait_for_birth(enum pm_kernel_call call)
{
	static unsigned int opens;

	if (call == PM_CALL_PERF_EVENT_OPEN && opens++ % 30 == 0)
		ask_for(restless, 1);
	return 0;
}

#ifdef __x86_64__
#define SLOTS	  4
#define ALL_SLOTS "mem:0x2000/8:w,mem:0x2008/8:w,mem:0x2010/8:w,mem:0x2018/8:w"
#else /* the arm64 CPUs that are about have 6 for instructions */
#define SLOTS 6
#define ALL_SLOTS                                                                        \
	"mem:0x2000/4:x,mem:0x2004/4:x,mem:0x2008/4:x,mem:0x200c/4:x,mem:0x2010/4:x,"    \
	"mem:0x2014/4:x"
#endif

/* Breakpoints in all slots leave none for the probe that tells who has inherited. */
Test(process, what_may_be_missing_is_said_and_marked)
{
	char text[300];
	struct perfmon_session *session;
	struct perfmon_write write = {.index = SLOTS};
	struct child child = start(1, 4000, "asked", NULL);
	struct family calm = family_start(1, false);
	struct rlimit descriptors;
	uint32_t status;

	snprintf(text, sizeof(text), "%s,%s", ALL_SLOTS, FAULTS);
	session = session_with(text, 0);
	wait_until(&child, &child.storm->lasting, 2);
	ask_for(&child, 6);
	restless = &child;
	/* It grows with each of the tries. */
	getrlimit(RLIMIT_NOFILE, &descriptors);
	descriptors.rlim_cur = descriptors.rlim_max;
	setrlimit(RLIMIT_NOFILE, &descriptors);
	pm_kernel_fault = wait_for_birth;
	OK(session, attach(session, child.pid, 0));
	pm_kernel_fault = NULL;
	cr_expect(strstr(session_message_of(session), "twice"), "%s",
		  session_message_of(session));
	cr_expect_eq(value_of(session, SLOTS).status & ~PERFMON_VALUE_SYSCALL, 0,
		     "it has never been enabled");
	calm_down(&child);
	OK(session, perfmon_session_start(session));
	raise_phase(&child, STORM_WORK);
	wait_until(&child, &child.storm->worked, 1);
	OK(session, perfmon_session_stop(session));
	status = value_of(session, SLOTS).status;
	cr_expect(status & PERFMON_VALUE_COUNTED && status & PERFMON_VALUE_UNCERTAIN);
	OK(session, perfmon_session_detach(session));
	cr_expect(value_of(session, SLOTS).status & PERFMON_VALUE_UNCERTAIN, "it stays");
	cr_expect_eq(perfmon_session_write(session, &write, 1, sizeof(write), 0), 1);
	cr_expect_eq(value_of(session, SLOTS).status & ~PERFMON_VALUE_SYSCALL, 0,
		     "and goes with a write");
	OK(session, attach(session, calm.pid, 0));
	cr_expect_str_eq(session_message_of(session), "");
	OK(session, perfmon_session_start(session));
	family_work(&calm);
	status = value_of(session, SLOTS).status;
	cr_expect(status & PERFMON_VALUE_COUNTED && !(status & PERFMON_VALUE_UNCERTAIN));
	perfmon_session_close(session);
	family_end(&calm);
	stop(&child);
}

/* --- limits ------------------------------------------------------------------------- */

/* Row: HW-01, PM-06: a thousand threads of another process, within the usual limit of
 * descriptors and above it. */
Test(process, a_thousand_threads_work_or_the_limit_is_named)
{
	static const uint32_t flags[] = {0, PERFMON_SESSION_PARTIAL};
	struct perfmon_session *session;
	struct rlimit limit, usual;
	struct child child = start(0, 999, "none", NULL);
	int before;

	wait_until(&child, &child.storm->created, 999);
	before = open_descriptors();
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	usual = limit;
	usual.rlim_cur = 1024;
	for (size_t i = 0; i < 2; i++) {
		session = session_with(FAULTS ",dummy:u", flags[i]);
		cr_assert_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
		cr_assert_eq(attach(session, child.pid, 0), -EMFILE, "%s",
			     session_message_of(session));
		cr_expect(strstr(session_message_of(session), "RLIMIT_NOFILE is 1024"),
			  "%s", session_message_of(session));
		cr_expect(strstr(session_message_of(session), "1000 threads of process"));
		cr_expect(
			strstr(session_message_of(session), "need 2 each, 2000 in all"));
		cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
		cr_expect_eq(perfmon_session_start(session), -EINVAL);
		cr_assert_eq(open_descriptors(), before, "nothing is half attached");
		if (i == 0)
			perfmon_session_close(session);
	}
	if (limit.rlim_max < 2100)
		cr_skip("RLIMIT_NOFILE may be raised to %lu only\n", limit.rlim_max);
	usual.rlim_cur = 2100;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
	OK(session, attach(session, child.pid, 0));
	cr_expect_str_eq(session_message_of(session), "");
	work_is_counted(session, &child);
	cr_expect_eq(count_of(session, 0), atomic_load(&child.storm->faults));
	cr_expect_eq(open_descriptors(), before + 2000);
	perfmon_session_close(session);
	cr_expect_eq(open_descriptors(), before);
	stop(&child);
}

/* The threads of process PID in TIDS; how many they are. */
static int threads_of(pid_t pid, pid_t *tids, int room)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	cr_assert_not_null(dir);
	while ((entry = readdir(dir)) && n < room) {
		if (entry->d_name[0] != '.')
			tids[n++] = (pid_t)atoi(entry->d_name);
	}
	closedir(dir);
	return n;
}

/* Row: PM-06: a session for each of a thousand threads of another process, within the
 * usual limit of descriptors: those that have room count, each other says what limit it
 * met and holds nothing. */
Test(process, a_thousand_sessions_work_or_name_the_limit)
{
	static struct perfmon_session *sessions[1000];
	static pid_t tids[1000];
	struct rlimit usual = {.rlim_cur = 1024, .rlim_max = 1024};
	struct child child = start(0, 999, "none", NULL);
	int before, spare, attached = 0;

	wait_until(&child, &child.storm->created, 999);
	cr_assert_eq(threads_of(child.pid, tids, 1000), 1000);
	/* Prepared sessions hold no descriptor. */
	for (int i = 0; i < 1000; i++)
		sessions[i] = session_with(FAULTS ",dummy:u", 0);
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cr_assert_geq(spare, 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
	before = open_descriptors();
	for (int i = 0; i < 1000; i++) {
		int n = perfmon_session_attach(sessions[i], PERFMON_TARGET_KIND_THREAD,
					       tids[i]);

		if (!n && i == attached) {
			attached++;
			continue;
		}
		cr_assert_eq(n, -EMFILE, "session %d: %d", i, n);
		cr_assert(
			strstr(session_message_of(sessions[i]), "RLIMIT_NOFILE is 1024"),
			"%s", session_message_of(sessions[i]));
		cr_assert_eq(perfmon_session_state(sessions[i]), PERFMON_STATE_DETACHED);
		cr_assert_eq(perfmon_session_start(sessions[i]), -EINVAL);
	}
	/* Two for each, and hardly one is left over. */
	cr_assert_geq(attached, (1024 - before) / 2 - 1);
	cr_assert_lt(attached, 512);
	/* The test needs one, too. */
	close(spare);
	calm_down(&child);
	cr_assert_eq(open("/dev/null", O_RDONLY | O_CLOEXEC), spare);
	for (int i = 0; i < attached; i++)
		OK(sessions[i], perfmon_session_start(sessions[i]));
	raise_phase(&child, STORM_WORK);
	/* The main thread works, too. */
	wait_until(&child, &child.storm->worked, 1000);
	/* A closed session makes room for this, and for one that had none. */
	perfmon_session_close(sessions[0]);
	cr_assert_eq(open_descriptors(), before + 2 * (attached - 1),
		     "nothing is half attached");
	OK(sessions[999],
	   perfmon_session_attach(sessions[999], PERFMON_TARGET_KIND_THREAD, tids[999]));
	for (int i = 1; i < 1000; i++) {
		uint64_t wanted = tids[i] == child.pid ? 0 : 1 + (uint64_t)tids[i] % 7;

		if (i < attached)
			cr_assert_eq(count_of(sessions[i], 0), wanted, "thread %d: %lu",
				     tids[i], count_of(sessions[i], 0));
		perfmon_session_close(sessions[i]);
	}
	cr_expect_eq(open_descriptors(), before);
	stop(&child);
}

/* --- ends --------------------------------------------------------------------------- */

static void expect_lost(struct perfmon_session *session)
{
	int before = open_descriptors();

	cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_expect_lt(open_descriptors(), before);
	cr_expect_eq(perfmon_session_start(session), -EINVAL);
	cr_expect(strstr(session_message_of(session), "has ended"), "%s",
		  session_message_of(session));
}

/* Until it has ended; nobody has asked for its status then. */
static void wait_for_zombie(pid_t pid)
{
	siginfo_t info;

	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* Row: PM-12: the process exits; what it counted stays, and can be added to elsewhere. */
Test(process, that_exits)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct family family = family_start(10, false), other = family_start(5, false);

	OK(session, attach(session, family.pid, 0));
	OK(session, perfmon_session_start(session));
	family_work(&family);
	cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	family_quit(&family);
	wait_for_zombie(family.pid);
	cr_expect_eq(count_of(session, 0), 20);
	expect_lost(session);
	cr_expect_eq(count_of(session, 0), 20);
	OK(session, attach(session, other.pid, 0));
	OK(session, perfmon_session_start(session));
	family_work(&other);
	cr_expect_eq(count_of(session, 0), 30);
	waitpid(family.pid, NULL, 0);
	cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	perfmon_session_close(session);
	family_end(&other);
}

/* Row: PM-12: it is killed, with all its threads; its main thread had gone before. */
Test(process, that_is_killed)
{
	static const char *const leaves[] = {NULL, "leaves"};

	for (size_t i = 0; i < 2; i++) {
		struct perfmon_session *session = session_with(FAULTS, 0);
		struct child child = start(2, 20, "threads", leaves[i]);

		if (attach_to_storm(session, &child, 0, 30)) {
			work_is_counted(session, &child);
			OK(session, perfmon_session_start(session));
			kill(child.pid, SIGKILL);
			wait_for_zombie(child.pid);
			expect_lost(session);
			cr_expect_eq(count_of(session, 0),
				     atomic_load(&child.storm->faults));
		}
		stop(&child);
		perfmon_session_close(session);
	}
}

/* Row: PM-12: threads that were there at the attach end, others that they created go on:
 * the process is not lost. */
Test(process, whose_threads_end_one_by_one)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct family family = family_start(10, false);
	int i;

	OK(session, attach(session, family.pid, 0));
	OK(session, perfmon_session_start(session));
	for (i = 1; i <= 3; i++) {
		family_work(&family);
		cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
		cr_expect_eq(count_of(session, 0), 20U * (unsigned int)i);
	}
	family_end(&family);
	expect_lost(session);
	perfmon_session_close(session);
}

static void *wait_in_thread(void *unused)
{
	pause();
	return unused;
}

/* Row: PM-12: it executes another program, by which all other threads end. */
Test(process, that_executes_another_program)
{
	struct perfmon_session *session = session_with(FAULTS, 0);
	int go[2], ready[2];
	uint64_t before;
	pthread_t thread;
	char byte = 0;
	pid_t pid;

	cr_assert(!pipe(go) && !pipe(ready));
	pid = fork();
	if (!pid) {
		pthread_create(&thread, NULL, wait_in_thread, NULL);
		if (write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1)
			execl("/bin/sh", "sh", "-c", "exec sh -c :", (char *)NULL);
		_exit(1);
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	OK(session, attach(session, pid, 0));
	OK(session, perfmon_session_start(session));
	before = count_of(session, 0);
	cr_assert_eq(write(go[1], &byte, 1), 1);
	wait_for_zombie(pid);
	cr_expect_gt(count_of(session, 0), before + 20, "it counted in the new program");
	expect_lost(session);
	cr_expect_gt(count_of(session, 0), before + 20);
	waitpid(pid, NULL, 0);
	perfmon_session_close(session);
}

/* --- a monitor that is killed ------------------------------------------------------- */

static void monitor(pid_t pid, bool masks, int ready)
{
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY,
					    .long_reset = -UINT64_C(5),
					    .short_reset = -UINT64_C(5)};
	struct perfmon_write first = {.value = masks ? -UINT64_C(5) : 0};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	int state = PERFMON_STATE_RUNNING;
	char byte = 1;

	if (masks && perfmon_overflow_program(session, 0, &overflow))
		_exit(1);
	if (perfmon_session_write(session, &first, 1, sizeof(first), 0) != 1)
		_exit(2);
	if (masks ? perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, pid)
		  : attach(session, pid, PERFMON_TARGET_CHILDREN))
		_exit(3);
	if (perfmon_session_start(session) || write(ready, &byte, 1) != 1)
		_exit(4);
	while (masks && state == PERFMON_STATE_RUNNING) {
		let_time_pass_us(500);
		state = perfmon_session_state(session);
	}
	if (masks && (state != PERFMON_STATE_MASKED || write(ready, &byte, 1) != 1))
		_exit(5);
	pause();
	_exit(6);
}

/* Row: PM-11: a monitor that is killed while its session runs, or is masked, leaves the
 * monitored process running as if nothing had been, and nothing on it. */
Test(process, a_killed_monitor_harms_nobody)
{
	NEEDS_BREAKPOINTS();
	for (int masks = 0; masks < 2; masks++) {
		struct family family = family_start(10, false);
		struct perfmon_session *session;
		int ready[2], status;
		char byte;
		pid_t pid;

		cr_assert_eq(pipe(ready), 0);
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			monitor(family.pid, masks, ready[1]);
		}
		close(ready[1]);
		cr_assert_eq(read(ready[0], &byte, 1), 1, "the monitor gave up");
		family_work(&family);
		if (masks)
			cr_assert_eq(read(ready[0], &byte, 1), 1);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		cr_assert(WIFSIGNALED(status), "it ended by itself: %x", status);
		family_work(&family);
		family_work(&family);

		/* All that it held is free again: four breakpoints fit a thread. */
		session = session_with(watch_event(0), 0);
		for (int i = 1; i < 4; i++)
			OK(session, perfmon_session_add_events(session, watch_event(0)));
		OK(session, attach(session, family.pid, 0));
		OK(session, perfmon_session_start(session));
		family_work(&family);
		cr_expect_eq(count_of(session, 3), 20);
		perfmon_session_close(session);
		family_end(&family);
		close(ready[0]);
	}
}

/* --- what cannot be ----------------------------------------------------------------- */

/* The kernel writes no records of what is inherited. */
Test(process, that_cannot_overflow)
{
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY |
						     PERFMON_OVERFLOW_ONCE};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_write first = {.value = -UINT64_C(5)};
	struct family family = family_start(10, false);
	int before = open_descriptors();

	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	cr_expect_eq(attach(session, family.pid, 0), -EOPNOTSUPP, "%s",
		     session_message_of(session));
	cr_expect(strstr(session_message_of(session), "inherit"), "%s",
		  session_message_of(session));
	cr_expect_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_expect_eq(open_descriptors(), before);
	perfmon_session_close(session);
	family_end(&family);
}
