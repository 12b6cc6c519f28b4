/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a session can be attached to, and what becomes of it there. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "core/session/core/core.h"
#include "perfmon/sampling.h"
#include "helpers.h"
#include "session_probe.h"
#include "messages.h"

/* A thread that touches what it is told to, and its session's target. */
struct worker {
	pthread_t thread;
	pid_t tid;
	pthread_barrier_t barrier;
	unsigned int times;
	bool end;
};

static void *work(void *argument)
{
	struct worker *worker = argument;

	worker->tid = own_tid();
	for (;;) {
		pthread_barrier_wait(&worker->barrier);
		if (worker->end)
			return NULL;
		touch(0, worker->times);
		pthread_barrier_wait(&worker->barrier);
	}
}

static void worker_start(struct worker *worker)
{
	worker->end = false;
	worker->times = 0;
	pthread_barrier_init(&worker->barrier, NULL, 2);
	cr_assert_eq(pthread_create(&worker->thread, NULL, work, worker), 0);
	pthread_barrier_wait(&worker->barrier);
	pthread_barrier_wait(&worker->barrier);
}

static void worker_touch(struct worker *worker, unsigned int times)
{
	worker->times = times;
	pthread_barrier_wait(&worker->barrier);
	pthread_barrier_wait(&worker->barrier);
}

static void worker_end(struct worker *worker)
{
	worker->end = true;
	pthread_barrier_wait(&worker->barrier);
	pthread_join(worker->thread, NULL);
}

/* Row: HW-01, HW-05: several targets on one counter, summed; twice the same is EEXIST,
 * and detaching what was not attached EINVAL. */
Test(targets, several_on_one_session)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct worker a, b;
	struct perfmon_target targets[3] = {};
	int before = open_descriptors();

	worker_start(&a);
	worker_start(&b);
	targets[0].id = a.tid;
	targets[1].id = b.tid;
	targets[2].id = a.tid;
	cr_assert_eq(perfmon_session_attach_targets(session, targets,
						    sizeof(targets) / sizeof(targets[0]),
						    sizeof(targets[0]), 0),
		     -EEXIST);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_assert_eq(open_descriptors(), before, "nothing is half attached");
	OK(session,
	   perfmon_session_attach_targets(session, targets, 1, sizeof(targets[0]), 0));
	cr_assert_eq(perfmon_session_attach_targets(session, &targets[1], 1,
						    sizeof(targets[0]), 0),
		     -EBUSY);
	OK(session,
	   perfmon_session_attach_targets(session, &targets[1], 1, sizeof(targets[0]),
					  PERFMON_ATTACH_ADD));
	cr_assert_eq(perfmon_session_attach_targets(session, &targets[2], 1,
						    sizeof(targets[0]),
						    PERFMON_ATTACH_ADD),
		     -EEXIST);
	OK(session, perfmon_session_start(session));
	cr_assert_eq(perfmon_session_attach_targets(session, &targets[2], 1,
						    sizeof(targets[0]),
						    PERFMON_ATTACH_ADD),
		     -EBUSY);
	worker_touch(&a, 10);
	worker_touch(&b, 100);
	touch(0, 1000);
	cr_assert_eq(count_of(session, 0), 110);
	OK(session,
	   perfmon_session_detach_target(session, targets[0].kind, targets[0].id));
	cr_assert_eq(
		perfmon_session_detach_target(session, targets[0].kind, targets[0].id),
		-EINVAL);
	worker_touch(&a, 10);
	worker_touch(&b, 100);
	cr_assert_eq(count_of(session, 0), 210);
	OK(session,
	   perfmon_session_detach_target(session, targets[1].kind, targets[1].id));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	cr_assert_eq(count_of(session, 0), 210);
	cr_assert_gt(count_of(session, PERFMON_COUNTER_VIRTUAL_TIME), 0);
	worker_end(&a);
	worker_end(&b);
	perfmon_session_close(session);
	cr_assert_eq(open_descriptors(), before);
}

static int refuse_events(enum pm_kernel_call call)
{
	return call == PM_CALL_PERF_EVENT_OPEN ? -ENOENT : 0;
}

/* What counter 0 of SESSION has counted, and how that came about. */
static void is_counted(struct perfmon_session *session, uint64_t count, uint32_t status)
{
	struct perfmon_value value = value_of(session, 0);

	cr_assert_eq(value.value, count);
	cr_assert_eq(value.status & ~PERFMON_VALUE_SYSCALL, status, "0x%x", value.status);
}

/* Row: HW-01: a sum that lacks one of its targets, or one that the session was attached
 * to before, is marked until it is written. */
Test(targets, some_of_which_refuse)
{
	NEEDS_BREAKPOINTS();
	const uint32_t whole = PERFMON_VALUE_COUNTED,
		       partial = PERFMON_VALUE_COUNTED | PERFMON_VALUE_PARTIAL;
	struct perfmon_session *session =
		session_with(watch_event(0), PERFMON_SESSION_PARTIAL);
	struct perfmon_target targets[2] = {};
	struct perfmon_write zero = {.index = 0};
	struct worker a, b;

	worker_start(&a);
	worker_start(&b);
	targets[0].id = a.tid;
	targets[1].id = b.tid;
	OK(session, perfmon_session_attach_targets(session, &targets[0], 1,
						   sizeof(targets[0]), 0));
	OK(session, perfmon_session_start(session));
	worker_touch(&a, 10);
	is_counted(session, 10, whole);
	OK(session, perfmon_session_stop(session));
	pm_kernel_fault = refuse_events;
	cr_assert_eq(perfmon_session_attach_targets(session, &targets[1], 1,
						    sizeof(targets[1]),
						    PERFMON_ATTACH_ADD),
		     1);
	pm_kernel_fault = NULL;
	OK(session, perfmon_session_start(session));
	worker_touch(&a, 10);
	worker_touch(&b, 10);
	is_counted(session, 20, partial);
	/* It goes on without the target. */
	OK(session, perfmon_session_write(session, &zero, 1, sizeof(zero), 0));
	worker_touch(&a, 10);
	is_counted(session, 10, partial);
	OK(session,
	   perfmon_session_detach_target(session, targets[1].kind, targets[1].id));
	is_counted(session, 10, partial);
	OK(session, perfmon_session_write(session, &zero, 1, sizeof(zero), 0));
	worker_touch(&a, 10);
	is_counted(session, 10, whole);

	/* Elsewhere it counts nothing at all. */
	OK(session, perfmon_session_detach(session));
	is_counted(session, 10, whole);
	pm_kernel_fault = refuse_events;
	cr_assert_eq(perfmon_session_attach_targets(session, &targets[1], 1,
						    sizeof(targets[1]), 0),
		     1);
	pm_kernel_fault = NULL;
	is_counted(session, 10, partial);
	OK(session, perfmon_session_detach(session));
	is_counted(session, 10, partial);
	/* Another event goes on from that sum. */
	OK(session, perfmon_session_program(session, 0, watch_event(1)));
	OK(session, perfmon_session_attach_targets(session, &targets[0], 1,
						   sizeof(targets[0]), 0));
	is_counted(session, 10, partial);
	worker_end(&a);
	worker_end(&b);
	perfmon_session_close(session);
}

/* What was refused everywhere leaves no doubt about the event that takes its place. */
Test(targets, that_refuse_are_forgotten_with_the_event)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session =
		session_with(watch_event(1), PERFMON_SESSION_PARTIAL);

	pm_kernel_fault = refuse_events;
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0), 1);
	pm_kernel_fault = NULL;
	is_counted(session, 0, PERFMON_VALUE_NEVER_OPENED);
	OK(session, perfmon_session_program(session, 0, watch_event(0)));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	OK(session, perfmon_session_stop(session));
	is_counted(session, 10, PERFMON_VALUE_COUNTED);
	perfmon_session_close(session);
}

static struct leaving {
	struct perfmon_session *session;
	struct worker *worker;
	pthread_t tester;
	bool armed, late, too_late;
} leaving;

/* The target's thread counts on while it is being detached, and after that. */
static int work_meanwhile(enum pm_kernel_call call)
{
	/* Not the session's helper thread. */
	if (!pthread_equal(pthread_self(), leaving.tester) || !leaving.armed)
		return 0;
	if (call == PM_CALL_IOCTL && !leaving.late) {
		leaving.late = true;
		worker_touch(leaving.worker, 5);
	}
	if (call == PM_CALL_READ && leaving.session->plan->targets[0].lost) {
		leaving.too_late = true;
		worker_touch(leaving.worker, 100);
	}
	return 0;
}

/* Row: HW-05: what a target did until it was detached is counted and sampled, and nothing
 * that its overflows ask for starts it again. */
Test(targets, that_leave_while_they_overflow)
{
	NEEDS_BREAKPOINTS();
	const struct perfmon_sampling sampling = {.size = sizeof(sampling),
						  .format = "default"};
	const struct perfmon_overflow overflow = {.size = sizeof(overflow),
						  .flags = PERFMON_OVERFLOW_SAMPLE,
						  .short_reset = -UINT64_C(1)};
	/* Its first period is another than the ones after it. */
	const struct perfmon_write first = {.index = 0, .value = -UINT64_C(12)};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_target targets[2] = {};
	uint64_t taken, lost;
	struct worker a, b;

	worker_start(&a);
	worker_start(&b);
	targets[0].id = a.tid;
	targets[1].id = b.tid;
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	leaving = (struct leaving){
		.session = session, .worker = &a, .tester = pthread_self()};
	pm_kernel_fault = work_meanwhile; /* before there is a helper thread */
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_session_attach_targets(session, targets,
						   sizeof(targets) / sizeof(targets[0]),
						   sizeof(targets[0]), 0));
	OK(session, perfmon_session_start(session));
	worker_touch(&a, 10);
	leaving.armed = true;
	OK(session,
	   perfmon_session_detach_target(session, targets[0].kind, targets[0].id));
	leaving.armed = false;
	cr_assert(leaving.late && leaving.too_late);
	OK(session, perfmon_sampling_counts(session, &taken, &lost));
	cr_assert_eq(taken, 1, "%" PRIu64, taken);
	cr_assert_eq(count_of(session, 0), -UINT64_C(1),
		     "set back, and stopped there: %lld",
		     (long long)count_of(session, 0));
	worker_end(&a);
	worker_end(&b);
	perfmon_session_close(session);
	pm_kernel_fault = NULL;
}

/* Row: PM-12: a thread that ends leaves a detached session, whose values stay, and which
 * can be attached elsewhere. */
Test(targets, a_thread_that_ends)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct worker worker;

	worker_start(&worker);
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, worker.tid));
	OK(session, perfmon_session_start(session));
	worker_touch(&worker, 7);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	worker_end(&worker);
	wait_for_loss(session);
	cr_assert_eq(count_of(session, 0), 7);
	cr_assert_eq(perfmon_session_start(session), -EINVAL);
	cr_assert(strstr(session_message_of(session), "ended"));
	OK(session, perfmon_session_detach(session));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 3);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(count_of(session, 0), 10);
	perfmon_session_close(session);
}

/* Two threads, one after the other, on one stack: they have one thread pointer. */
static struct {
	struct perfmon_session *session;
	const struct perfmon_reader *reader;
	pthread_t first, second;
	pid_t tid; /* of the first */
	int state, start;
	uint64_t value;
} heir;

static void *attach_and_end(void *unused)
{
	(void)unused;
	heir.first = pthread_self();
	heir.tid = own_tid();
	OK(heir.session,
	   perfmon_session_attach(heir.session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(heir.session, perfmon_session_start(heir.session));
	touch(0, 5);
	OK(heir.session, perfmon_reader_read(heir.reader, 0, &heir.value));
	cr_assert_eq(heir.value, 5);
	return NULL;
}

static void *use_it_too(void *unused)
{
	(void)unused;
	heir.second = pthread_self();
	touch(0, 100);
	OK(heir.session, perfmon_reader_read(heir.reader, 0, &heir.value));
	heir.start = perfmon_session_start(heir.session);
	heir.state = perfmon_session_state(heir.session);
	return NULL;
}

static void run_on(void *stack, size_t size, void *(*what)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	cr_assert_eq(pthread_attr_setstack(&attributes, stack, size), 0);
	cr_assert_eq(pthread_create(&thread, &attributes, what, NULL), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
}

/* Row: PM-12 */
Test(targets, a_thread_in_a_dead_ones_place_is_not_taken_for_it)
{
	NEEDS_BREAKPOINTS();
	const size_t size = 1 << 20;
	void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	cr_assert_neq(stack, MAP_FAILED);
	heir.session = session_with(watch_event(0), 0);
	OK(heir.session, perfmon_session_reader(heir.session, &heir.reader));
	run_on(stack, size, attach_and_end);
	/* Not by the session, which would notice. */
	WAIT_UNTIL(syscall(SYS_tgkill, getpid(), heir.tid, 0));
	run_on(stack, size, use_it_too);
	cr_assert(pthread_equal(heir.first, heir.second));
	cr_assert_eq(heir.value, 5, "%" PRIu64, heir.value);
	cr_assert_eq(heir.start, -EINVAL, "%d", heir.start);
	cr_assert(strstr(session_message_of(heir.session), "ended"));
	cr_assert_eq(heir.state, PERFMON_STATE_DETACHED);
	perfmon_session_close(heir.session);
	munmap(stack, size);
}

/* Row: PM-12: the same when a signal ends it, in another process; it is noticed by the
 * very call that attaches elsewhere. */
Test(targets, a_process_that_is_killed)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	int go[2], done[2];
	char byte = 0;
	pid_t child;

	cr_assert(!pipe(go) && !pipe(done));
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) == 1)
			touch(0, 12);
		if (write(done[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, child));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(write(go[1], &byte, 1), 1);
	cr_assert_eq(read(done[0], &byte, 1), 1);
	cr_assert_eq(count_of(session, 0), 12);
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0),
		     -EBUSY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	cr_assert_eq(count_of(session, 0), 12);
	perfmon_session_close(session);
}

static void *touch_five(void *unused)
{
	(void)unused;
	touch(0, 5);
	return NULL;
}

/* Row: HW-06, PC-14: what the target creates counts with it, and apart from it. */
Test(targets, children_with_and_apart)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_target target = {.flags = PERFMON_TARGET_CHILDREN |
						 PERFMON_TARGET_APART};
	struct perfmon_value own = {.index = 0};
	pthread_t thread;
	pid_t child;

	OK(session,
	   perfmon_session_attach_targets(session, &target, 1, sizeof(target), 0));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	cr_assert_eq(pthread_create(&thread, NULL, touch_five, NULL), 0);
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		touch(0, 100);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(count_of(session, 0), 115);
	OK(session,
	   perfmon_session_read(session, &own, 1, sizeof(own), PERFMON_READ_OWN));
	cr_assert_eq(own.value, 10);
	OK(session, perfmon_session_detach(session));
	OK(session,
	   perfmon_session_read(session, &own, 1, sizeof(own), PERFMON_READ_OWN));
	cr_assert_eq(own.value, 10);
	cr_assert_eq(count_of(session, 0), 115);
	perfmon_session_close(session);
}

/* A child that faults FAULTS pages in, then executes a program; what it counts from there
 * on, and what it counted up to there. */
static pid_t faulting_child(int go[2], unsigned int faults)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, faults * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;
	char byte;
	pid_t child;

	cr_assert_neq(memory, MAP_FAILED);
	madvise((void *)memory, faults * page, MADV_NOHUGEPAGE);
	cr_assert_eq(pipe(go), 0);
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) == 1)
			for (i = 0; i < faults; i++)
				memory[i * page] = 1;
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	munmap((void *)memory, faults * page);
	return child;
}

/* Row: PC-13: a program is counted from its first instruction, and what prepared it is
 * not. */
Test(targets, from_the_exec_on)
{
	struct perfmon_session *session = session_with("page-faults", 0);
	struct perfmon_target target = {.flags = PERFMON_TARGET_ON_EXEC |
						 PERFMON_TARGET_CHILDREN |
						 PERFMON_TARGET_APART};
	struct perfmon_value own = {.index = 0};
	uint64_t with;
	int go[2], status;

	target.id = faulting_child(go, 20000);
	OK(session,
	   perfmon_session_attach_targets(session, &target, 1, sizeof(target), 0));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(count_of(session, 0), 0);
	cr_assert_eq(write(go[1], "", 1), 1);
	cr_assert_eq(waitpid(target.id, &status, 0), target.id);
	cr_assert_eq(status, 0);
	cr_assert_gt(count_of(session, 0), 0);
	cr_assert_lt(count_of(session, 0), 20000);
	OK(session,
	   perfmon_session_read(session, &own, 1, sizeof(own), PERFMON_READ_OWN));
	cr_assert_eq(own.value, count_of(session, 0));
	OK(session, perfmon_session_detach(session));

	/* A common start counts all. */
	with = count_of(session, 0);
	target.flags = 0;
	target.id = faulting_child(go, 20000);
	OK(session,
	   perfmon_session_attach_targets(session, &target, 1, sizeof(target), 0));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(write(go[1], "", 1), 1);
	cr_assert_eq(waitpid(target.id, &status, 0), target.id);
	cr_assert_gt(count_of(session, 0), with + 20000);
	perfmon_session_close(session);
}

Test(targets, that_cannot_wait_for_an_exec)
{
	struct perfmon_session *session = session_with("dummy", 0);
	struct perfmon_target self = {.flags = PERFMON_TARGET_ON_EXEC}, other = self;
	struct worker worker;

	worker_start(&worker);
	other.id = worker.tid;
	cr_assert_eq(perfmon_session_attach_targets(session, &self, 1, sizeof(self), 0),
		     -EINVAL);
	self.id = own_tid();
	cr_assert_eq(perfmon_session_attach_targets(session, &self, 1, sizeof(self), 0),
		     -EINVAL);
	OK(session, perfmon_session_attach_targets(session, &other, 1, sizeof(other), 0));
	OK(session, perfmon_session_detach(session));
	OK(session, perfmon_session_add_events(session, "dummy;dummy"));
	cr_assert_eq(perfmon_session_attach_targets(session, &other, 1, sizeof(other), 0),
		     -EINVAL);
	cr_assert(strstr(session_message_of(session), "are switched"));
	worker_end(&worker);
	perfmon_session_close(session);
}

/* Row: PM-02: the wrong kind of target. */
Test(targets, are_checked)
{
	struct perfmon_session *session = session_with("dummy", 0);
	struct perfmon_target cpu = {.kind = PERFMON_TARGET_KIND_CPU};
	struct perfmon_target bad = {.kind = 77}, flags = {.flags = 0x80},
			      reserved = {.reserved = 1}, none = {.id = -1},
			      missing = {.id = 0x3ffffff};

	cr_assert_eq(perfmon_session_attach_targets(session, &cpu, 1, sizeof(cpu), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_attach_targets(session, &bad, 1, sizeof(bad), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_attach_targets(session, &flags, 1, sizeof(flags), 0),
		     -EINVAL);
	cr_assert_eq(
		perfmon_session_attach_targets(session, &reserved, 1, sizeof(bad), 0),
		-EINVAL);
	cr_assert_eq(perfmon_session_attach_targets(session, &none, 1, sizeof(none), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_attach_targets(session, &missing, 1, sizeof(bad), 0),
		     -ESRCH);
	cr_assert_eq(perfmon_session_attach_targets(session, &cpu, 1, 3, 0), -EINVAL);
	cr_assert_eq(perfmon_session_attach_targets(session, NULL, 0, sizeof(cpu), 0),
		     -EINVAL);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	perfmon_session_close(session);
}
