/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions that are prepared in a batch, before the threads and processes are there that
 * they will count. The linker has this program's calls of malloc() go through here. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>

#include "core/kernel/kernel.h"
#include "session_targets.h"
#include "messages.h"

#define BATCH 300

static __thread unsigned int allocations;
static __thread unsigned int calls[PM_CALLS];

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocations++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	allocations++;
	return __real_realloc(old, size);
}

static int count_calls(enum pm_kernel_call call)
{
	calls[call]++;
	return 0;
}

static void forget_hook(void)
{
	pm_kernel_fault = NULL;
}

TestSuite(prepared, .fini = forget_hook);

static struct perfmon_session *batch[BATCH];

/* COUNT of them, that hold no descriptor and have opened no event. */
static void prepare(unsigned int count)
{
	char events[128];
	int before;

	snprintf(events, sizeof(events), "%s,dummy", watch_event(0));
	batch[0] = session_with(events, 0);
	before = open_descriptors();
	/* The first one may have tried what this machine counts. */
	memset(calls, 0, sizeof(calls));
	pm_kernel_fault = count_calls;
	allocations = 0;
	for (unsigned int i = 1; i < count; i++)
		batch[i] = session_with(events, 0);
	pm_kernel_fault = NULL;
	cr_assert_gt(allocations, 0, "they are counted");
	cr_assert_gt(calls[PM_CALL_MMAP], 0, "so are calls");
	cr_assert_eq(calls[PM_CALL_PERF_EVENT_OPEN], 0);
	cr_assert_eq(open_descriptors(), before);
}

static void skip_if_refused(struct perfmon_session *session, int n)
{
	if (n == -EACCES || n == -EPERM || n == -ENOSPC || n == -EOPNOTSUPP)
		cr_skip_test("%s", session_message_of(session));
	OK(session, n);
}

static unsigned int sum_of_calls(void)
{
	unsigned int sum = 0;

	for (int i = 0; i < PM_CALLS; i++)
		sum += calls[i];
	return sum;
}

/* What a thread made by the wrapper of pthread_create() begins with. */
struct beginning {
	unsigned int number;
	void *(*function)(void *);
	int attached;
	unsigned int allocations, calls, opens, known;
};

static void *begin(void *argument)
{
	struct beginning *beginning = argument;
	struct perfmon_session *session = batch[beginning->number];

	allocations = 0;
	memset(calls, 0, sizeof(calls));
	beginning->attached =
		perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);
	beginning->opens = calls[PM_CALL_PERF_EVENT_OPEN];
	/* One reads the group to learn its members, and a page may be looked at. */
	beginning->known = beginning->opens + calls[PM_CALL_READ] + calls[PM_CALL_MMAP] +
			   calls[PM_CALL_MUNMAP];
	beginning->calls = sum_of_calls();
	perfmon_session_start(session);
	beginning->allocations = allocations;
	return beginning->function(&beginning->number);
}

static void *work(void *argument)
{
	touch(0, 1 + *(unsigned int *)argument);
	return NULL;
}

/* Row: PM-08: hundreds, prepared before the threads are there, are attached as the first
 * thing that these do: that makes its system calls, and allocates nothing. */
Test(prepared, threads_begin_with_an_attach)
{
	NEEDS_BREAKPOINTS();
	static struct beginning beginnings[BATCH];
	static pthread_t threads[BATCH];
	int n;

	prepare(BATCH);
	n = perfmon_session_attach(batch[0], PERFMON_TARGET_KIND_THREAD, 0);
	skip_if_refused(batch[0], n);
	OK(batch[0], perfmon_session_detach(batch[0]));
	pm_kernel_fault = count_calls;
	for (unsigned int i = 0; i < BATCH; i++) {
		beginnings[i].number = i;
		beginnings[i].function = work;
		cr_assert_eq(pthread_create(&threads[i], NULL, begin, &beginnings[i]), 0);
	}
	for (unsigned int i = 0; i < BATCH; i++) {
		const struct beginning *beginning = &beginnings[i];

		pthread_join(threads[i], NULL);
		cr_assert_eq(beginning->attached, 0, "%s", session_message_of(batch[i]));
		cr_assert_eq(beginning->opens, 2);
		cr_assert_eq(beginning->calls, beginning->known);
		cr_assert_leq(beginning->calls, 7);
		cr_assert_eq(beginning->allocations, 0);
	}
	pm_kernel_fault = NULL;
	for (unsigned int i = 0; i < BATCH; i++) {
		cr_assert_eq(count_of(batch[i], 0), i + 1);
		perfmon_session_close(batch[i]);
	}
}

/* Row: PM-08: the same for processes, which their parent attaches to when they are
 * there. */
Test(prepared, processes_are_attached_to_after_the_fork)
{
	NEEDS_BREAKPOINTS();
	unsigned int number;
	int before;

	prepare(10);
	before = open_descriptors();
	for (number = 0; number < 10; number++) {
		int ready[2], status;
		pid_t child;
		char byte = 0;

		cr_assert_eq(pipe(ready), 0);
		child = fork();
		if (!child) {
			close(ready[1]);
			if (read(ready[0], &byte, 1) == 1)
				work(&number);
			_exit(0);
		}
		memset(calls, 0, sizeof(calls));
		allocations = 0;
		pm_kernel_fault = count_calls;
		status = perfmon_session_attach(batch[number], PERFMON_TARGET_KIND_THREAD,
						child);
		pm_kernel_fault = NULL;
		cr_assert_eq(allocations, 0);
		if (status)
			kill(child, SIGKILL);
		skip_if_refused(batch[number], status);
		cr_assert_eq(sum_of_calls(), 3, "two events, and their numbers");
		OK(batch[number], perfmon_session_start(batch[number]));
		cr_assert_eq(write(ready[1], &byte, 1), 1);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0);
		OK(batch[number], perfmon_session_detach(batch[number]));
		cr_assert_eq(count_of(batch[number], 0), number + 1);
		perfmon_session_close(batch[number]);
		close(ready[0]);
		close(ready[1]);
	}
	cr_assert_eq(open_descriptors(), before);
}
