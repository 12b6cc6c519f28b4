/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overflows and what they lead to. Breakpoints overflow exactly when told. */
#include <criterion/criterion.h>
#ifndef STANDIN_CRITERION_H
#include <criterion/hooks.h>
#include <criterion/options.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/kernel.h"
#include "core/session/core/core.h"
#include "perfmon/overflow.h"
#include "helpers.h"
#include "session_probe.h"
#include "messages.h"

static struct perfmon_overflow notify_after(uint64_t period)
{
	return (struct perfmon_overflow){.size = sizeof(struct perfmon_overflow),
					 .flags = PERFMON_OVERFLOW_NOTIFY,
					 .long_reset = -period,
					 .short_reset = -period,
					 .event_id = 4711};
}

/* A session on EVENT that notifies after PERIOD, detached. */
static struct perfmon_session *notifying_on(const char *event, uint64_t period)
{
	struct perfmon_session *session = session_with(event, 0);
	struct perfmon_overflow overflow = notify_after(period);
	struct perfmon_write first = {.value = -period};

	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	return session;
}

static struct perfmon_session *notifying(uint64_t period)
{
	return notifying_on(watch_event(0), period);
}

/* Pages for faults, which another thread can have without breakpoints. */
static char *pages;
static size_t next_page;

static void make_pages(size_t count)
{
	pages = mmap(NULL, count * 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(pages, count * 4096, MADV_NOHUGEPAGE);
	next_page = 0;
}

static void fault_in(unsigned int count)
{
	while (count--)
		((volatile char *)pages)[4096 * next_page++] = 1;
}

static int messages(struct perfmon_session *session)
{
	struct perfmon_message message[16];
	int n = perfmon_overflow_read(session, message,
				      sizeof(message) / sizeof(message[0]),
				      sizeof(message[0]));

	return n == -EAGAIN ? 0 : n;
}

/* Row: PM-22, PM-33: a counter written to -N notifies after N events, once, and then all
 * stands still until the restart. */
Test(overflow, notifies_once_and_masks)
{
	NEEDS_BREAKPOINTS();
	char other[64];
	struct perfmon_session *session = notifying(10);
	struct perfmon_message message;
	uint64_t before;

	strcpy(other, watch_event(1));
	OK(session, perfmon_session_add_events(session, other));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(1, 3);
	touch(0, 9);
	cr_assert_eq(messages(session), 0);
	cr_assert_eq(count_of(session, 0), -UINT64_C(1));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	cr_assert_eq(perfmon_overflow_restart(session), -EBUSY);
	touch(0, 1);
	touch(1, 5);
	touch(0, 50);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	cr_assert_eq(perfmon_session_start(session), 0, "stays masked");
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)), 1);
	cr_assert_eq(message.type, PERFMON_MESSAGE_TYPE_OVERFLOW);
	cr_assert_eq(message.flags, 0);
	cr_assert_eq(message.pid, getpid());
	cr_assert_eq(message.tid, own_tid());
	cr_assert_eq(message.index, 0);
	cr_assert_eq(message.event_id, 4711);
	cr_assert_eq(message.set, 0);
	cr_assert(message.ip && message.time_ns);
	cr_assert_eq(messages(session), 0);
	before = count_of(session, 0);
	cr_assert_leq(before, 1, "no more than the skid: %lu", before);
	cr_assert_leq(count_of(session, 1), 4);
	touch(0, 100);
	cr_assert_eq(count_of(session, 0), before);

	/* The long reset comes with the restart, at the overflow itself. */
	OK(session, perfmon_overflow_restart(session));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_RUNNING);
	cr_assert_eq(count_of(session, 0), before - 10);
	touch(0, 30);
	cr_assert_eq(messages(session), 1);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);

	/* A stop takes the mask away and keeps what waits. */
	OK(session, perfmon_overflow_restart(session));
	touch(0, 30);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED);
	cr_assert_eq(perfmon_overflow_restart(session), -EBUSY);
	cr_assert_eq(messages(session), 1);
	OK(session, perfmon_session_start(session));
	touch(0, 30);
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(messages(session), 1, "messages outlive a detach");
	perfmon_session_close(session);
}

/* Messages that nobody reads: the first ones are kept, and the next that is kept says that
 * some before it are not. */
Test(overflow, a_full_queue_says_what_it_has_lost)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = notifying(1);
	struct perfmon_message message;
	uint64_t count;
	int kept = 0;

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	for (int i = 0; i < 1500; i++) {
		touch(0, 1);
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
		OK(session, perfmon_overflow_restart(session));
	}
	OK(session, perfmon_overflow_last_reset(session, 0, NULL, &count));
	cr_assert_eq(count, 1500, "overflows go on: %lu", (unsigned long)count);
	while (perfmon_overflow_read(session, &message, 1, sizeof(message)) == 1) {
		cr_assert_eq(message.flags, 0, "message %d", kept);
		kept++;
	}
	cr_assert(kept > 0 && kept < 1500, "%d", kept);
	for (int i = 0; i < 2; i++) {
		touch(0, 1);
		cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)),
			     1);
		cr_assert_eq(message.flags, i ? 0 : PERFMON_MESSAGE_LOST);
		OK(session, perfmon_overflow_restart(session));
	}
	perfmon_session_close(session);
}

/* The virtual time of a masked session stands still with its counters, from the overflow
 * to the restart. That of a session beside it goes on, as perfctr's does. */
Test(overflow, virtual_time_stands_still_until_the_restart)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = notifying(10);
	struct perfmon_session *beside = session_with("dummy", 0);
	uint64_t time, time_beside;

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(beside, perfmon_session_attach(beside, PERFMON_TARGET_KIND_THREAD, 0));
	OK(beside, perfmon_session_start(beside));
	OK(session, perfmon_session_start(session));
	touch(0, 10);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	time = count_of(session, PERFMON_COUNTER_VIRTUAL_TIME);
	time_beside = count_of(beside, PERFMON_COUNTER_VIRTUAL_TIME);
	cr_assert_gt(time, 0);
	spin(20 * 100000);
	cr_assert_eq(count_of(session, PERFMON_COUNTER_VIRTUAL_TIME), time);
	cr_assert_gt(count_of(beside, PERFMON_COUNTER_VIRTUAL_TIME), time_beside);
	OK(session, perfmon_overflow_restart(session));
	spin(20 * 100000);
	cr_assert_gt(count_of(session, PERFMON_COUNTER_VIRTUAL_TIME), time);
	perfmon_session_close(session);
	perfmon_session_close(beside);
}

/* Row: PM-22: many overflows: none is lost, none comes twice. */
Test(overflow, none_is_lost)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = notifying(3);
	uint64_t count;

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	for (int i = 1; i <= 500; i++) {
		touch(0, 3);
		cr_assert_eq(messages(session), 1, "overflow %d", i);
		OK(session, perfmon_overflow_restart(session));
	}
	cr_assert_eq(messages(session), 0);
	OK(session, perfmon_overflow_last_reset(session, 0, NULL, &count));
	cr_assert_eq(count, 500);
	perfmon_session_close(session);
}

/* Row: PM-23, PM-24: without notification the short reset, at once; other counters that
 * are named are set back along with it. */
Test(overflow, resets_itself_and_others)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .short_reset = -UINT64_C(20),
					    .reset_counters = (uint32_t[]){1},
					    .reset_count = 1};
	struct perfmon_write first = {.value = -UINT64_C(5)};
	uint64_t last, count;

	OK(session, perfmon_session_add_events(session, watch_event(1)));
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(1, 7);
	touch(0, 4);
	cr_assert_eq(count_of(session, 1), 7);
	touch(0, 1);
	cr_assert_eq(count_of(session, 0), -UINT64_C(20), "its short reset value");
	cr_assert_eq(count_of(session, 1), 0, "set back, too");
	touch(1, 2);
	touch(0, 19);
	cr_assert_eq(count_of(session, 1), 2);
	touch(0, 3);
	cr_assert_eq(count_of(session, 0), -UINT64_C(18));
	cr_assert_eq(count_of(session, 1), 0);
	OK(session, perfmon_overflow_last_reset(session, 0, &last, &count));
	cr_assert_eq(last, -UINT64_C(20));
	cr_assert_eq(count, 2);
	cr_assert_eq(messages(session), 0);
	perfmon_session_close(session);
}

/* Row: PM-24: counters that overflow at the same event and set each other back do so
 * once, whichever is handled first. */
Test(overflow, resets_meet)
{
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .short_reset = -UINT64_C(20),
					    .reset_counters = (uint32_t[]){0, 1},
					    .reset_count = 2};
	struct perfmon_write first[] = {{.index = 0, .value = -UINT64_C(20)},
					{.index = 1, .value = -UINT64_C(20)}};
	struct perfmon_session *session = session_with(watch_event(0), 0);

	OK(session, perfmon_session_add_events(session, watch_event(0)));
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_overflow_program(session, 1, &overflow));
	OK(session,
	   perfmon_session_write(session, first, sizeof(first) / sizeof(first[0]),
				 sizeof(first[0]), 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	for (int i = 0; i < 5; i++) {
		touch(0, 20);
		cr_assert_eq(count_of(session, 0), -UINT64_C(20));
		cr_assert_eq(count_of(session, 1), -UINT64_C(20));
	}
	perfmon_session_close(session);
}

/* A member of a group whose leader is of another software PMU goes on after a write, and
 * after it has notified. */
Test(overflow, a_member_goes_on)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with("dummy", 0);
	struct perfmon_overflow overflow = notify_after(10);
	struct perfmon_write write = {.index = 1, .value = -UINT64_C(10)};

	OK(session, perfmon_session_add_events(session, watch_event(0)));
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_overflow_program(session, 1, &overflow));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	OK(session, perfmon_session_write(session, &write, 1, sizeof(write), 0));
	for (int i = 0; i < 5; i++) {
		touch(0, 9);
		cr_assert_eq(count_of(session, 1), -UINT64_C(1));
		touch(0, 1);
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
		OK(session, perfmon_overflow_restart(session));
	}
	cr_assert_eq(messages(session), 5);
	perfmon_session_close(session);
}

/* Writing to a counter that overflows, of a set that has no turn, starts nothing. */
Test(overflow, a_write_does_not_start_another_set)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_ONCE};
	struct perfmon_write write = {.index = 1, .value = 5};
	char events[200];
	struct perfmon_session *session;

	snprintf(events, sizeof(events), "%s;%s", watch_event(0), watch_event(0));
	session = session_with(events, 0);
	OK(session, perfmon_overflow_program(session, 1, &overflow));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	OK(session, perfmon_session_write(session, &write, 1, sizeof(write), 0));
	touch(0, 8);
	cr_assert_eq(count_of(session, 1), 5);
	cr_assert_eq(count_of(session, 0), 8);
	perfmon_session_close(session);
}

/* Row: PM-26: random periods stay within the mask and are not all the same. */
Test(overflow, random_periods)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_overflow overflow = notify_after(8);
	struct perfmon_write first = {.value = -UINT64_C(8)};
	unsigned int seen[16] = {0}, different = 0;

	overflow.flags |= PERFMON_OVERFLOW_RANDOM;
	overflow.random_mask = 7;
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 8);
	for (int i = 0; i < 100; i++) {
		unsigned int period = 0;

		cr_assert_eq(messages(session), 1);
		OK(session, perfmon_overflow_restart(session));
		while (!messages(session)) {
			touch(0, 1);
			period++;
			cr_assert_leq(period, 15);
		}
		cr_assert_geq(period, 8);
		different += !seen[period]++;
		OK(session, perfmon_overflow_restart(session));
		touch(0, 16);
	}
	cr_assert_geq(different, 6);
	perfmon_session_close(session);
}

/* Row: PM-31: poll, select and epoll say readable exactly while a message waits, asked
 * once or often. */
Test(overflow, a_descriptor_follows_the_queue)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = notifying(10);
	int fd = perfmon_overflow_descriptor(session), epoll_fd = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};
	int before = open_descriptors();
	fd_set set;

	cr_assert_geq(fd, 0);
	cr_assert_eq(perfmon_overflow_descriptor(session), fd);
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	for (int round = 0; round < 20; round++) {
		cr_assert(!is_readable(fd));
		touch(0, 10);
		cr_assert(becomes_readable(fd));
		for (int i = 0; i < 3; i++) {
			cr_assert(is_readable(fd));
			cr_assert_eq(epoll_wait(epoll_fd, &event, 1, 0), 1);
			FD_ZERO(&set);
			FD_SET(fd, &set);
			cr_assert_eq(select(fd + 1, &set, NULL, NULL,
					    &(struct timeval){.tv_sec = 10}),
				     1);
		}
		cr_assert_eq(messages(session), 1);
		cr_assert(!is_readable(fd));
		cr_assert_eq(epoll_wait(epoll_fd, &event, 1, 0), 0);
		OK(session, perfmon_overflow_restart(session));
	}
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(open_descriptors(), before);
	perfmon_session_close(session);
	close(epoll_fd);
}

/* Row: PM-06, PM-30, PM-31: a thread of another process. Its end is a message, too. */
Test(overflow, of_another_process)
{
	struct perfmon_session *session = notifying_on("page-faults", 10);
	struct perfmon_message message;
	int fd = perfmon_overflow_descriptor(session), go[2];
	char byte = 0;
	pid_t child;

	cr_assert(!pipe(go));
	make_pages(12 * 10);
	child = fork();
	if (!child) {
		while (read(go[0], &byte, 1) == 1)
			fault_in(12);
		_exit(0);
	}
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, child));
	OK(session, perfmon_session_start(session));
	for (int i = 0; i < 10; i++) {
		cr_assert_eq(write(go[1], &byte, 1), 1);
		cr_assert(becomes_readable(fd));
		cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)),
			     1);
		cr_assert_eq(message.tid, child);
		OK(session, perfmon_overflow_restart(session));
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	cr_assert(becomes_readable(fd));
	cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)), 1);
	cr_assert_eq(message.type, PERFMON_MESSAGE_TYPE_END);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	perfmon_session_close(session);
}

/* A child that touches what watch_event(0) watches, ten times for each word, and sleeps
 * in between. */
struct toucher {
	pid_t pid;
	int go[2], done[2];
};

static void toucher_start(struct toucher *child)
{
	char byte = 0;

	cr_assert(!pipe(child->go) && !pipe(child->done));
	child->pid = fork();
	if (child->pid)
		return;
	/* It ends with its parent, too. */
	close(child->go[1]);
	while (read(child->go[0], &byte, 1) == 1) {
		touch(0, 10);
		if (write(child->done[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void toucher_go(struct toucher *child)
{
	char byte = 0;

	cr_assert_eq(write(child->go[1], &byte, 1), 1);
	cr_assert_eq(read(child->done[0], &byte, 1), 1);
}

static void toucher_end(struct toucher *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(child->go[i]);
		close(child->done[i]);
	}
}

/* Row: PM-33: a breakpoint of a thread that sleeps counts on after each restart, and
 * after a stop and a start. */
Test(overflow, a_breakpoint_of_a_sleeping_thread_goes_on)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = notifying(10);
	int fd = perfmon_overflow_descriptor(session);
	struct toucher child;

	toucher_start(&child);
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, child.pid));
	OK(session, perfmon_session_start(session));
	for (int i = 0; i < 6; i++) {
		toucher_go(&child);
		cr_assert(becomes_readable(fd), "%d", i);
		cr_assert_eq(messages(session), 1);
		cr_assert_eq(count_of(session, 0), 0);
		if (i & 1)
			OK(session, perfmon_session_stop(session));
		OK(session, i & 1 ? perfmon_session_start(session)
				  : perfmon_overflow_restart(session));
		cr_assert_eq(count_of(session, 0), -UINT64_C(10));
	}
	toucher_end(&child);
	perfmon_session_close(session);
}

/* The same where there is no room to open them anew: it goes on, or a sentence says why
 * not, and everything is as it was. */
Test(overflow, a_breakpoint_that_cannot_go_on_is_told)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = notifying(10);
	struct toucher child;
	int fd, err;

	for (unsigned int i = 1; i < 3; i++)
		OK(session, perfmon_session_add_events(session, watch_event(i)));
	fd = perfmon_overflow_descriptor(session);
	toucher_start(&child);
	if (perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, child.pid)) {
		toucher_end(&child);
		cr_skip_test("a thread has fewer than three breakpoints here");
	}
	OK(session, perfmon_session_start(session));
	toucher_go(&child);
	cr_assert(becomes_readable(fd));
	cr_assert_eq(messages(session), 1);
	err = perfmon_overflow_restart(session);
	if (err) {
		cr_assert(strstr(session_message_of(session), "cannot be opened again"));
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
		cr_assert_eq(count_of(session, 0), 0);
		OK(session, perfmon_session_detach(session));
		OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD,
						   child.pid));
		OK(session, perfmon_session_start(session));
	}
	toucher_go(&child);
	cr_assert(becomes_readable(fd));
	cr_assert_eq(messages(session), 1);
	toucher_end(&child);
	perfmon_session_close(session);
}

static void *wait_for_word(void *argument)
{
	int *fds = argument;
	pid_t tid = own_tid();
	char byte;

	cr_assert_eq(write(fds[1], &tid, sizeof(tid)), sizeof(tid));
	while (read(fds[0], &byte, 1) < 0)
		;
	return NULL;
}

/* Row: HW-10: the owner is told that the last target has ended, though nothing overflows
 * and nobody asks: of a thread of another process and of this one, and of a process. */
Test(overflow, an_end_without_overflows)
{
	const uint32_t kinds[] = {PERFMON_TARGET_KIND_THREAD, PERFMON_TARGET_KIND_THREAD,
				  PERFMON_TARGET_KIND_PROCESS};

	for (unsigned int i = 0; i < 3 * 2; i++) {
		bool own = i / 2 == 1, early = i % 2;
		struct perfmon_session *session = session_with("page-faults", 0);
		struct perfmon_target target = {.kind = kinds[i / 2]};
		int there[2], back[2], fds[2], fd = -1, before = open_descriptors();
		struct perfmon_message message;
		pthread_t thread;

		cr_assert(!pipe2(there, O_CLOEXEC) && !pipe2(back, O_CLOEXEC));
		fds[0] = there[0];
		fds[1] = back[1];
		if (own) {
			cr_assert(!pthread_create(&thread, NULL, wait_for_word, fds));
			cr_assert_eq(read(back[0], &target.id, sizeof(pid_t)),
				     sizeof(pid_t));
		} else {
			target.id = fork();
			if (!target.id) {
				pause();
				_exit(0);
			}
		}
		if (early)
			fd = perfmon_overflow_descriptor(session);
		OK(session, perfmon_session_attach_targets(session, &target, 1,
							   sizeof(target), 0));
		OK(session, perfmon_session_start(session));
		if (!early)
			fd = perfmon_overflow_descriptor(session);
		OK(session, fd);
		cr_assert(!is_readable(fd));
		if (own) {
			cr_assert_eq(write(there[1], "", 1), 1);
			pthread_join(thread, NULL);
		} else {
			kill(target.id, SIGKILL);
			waitpid(target.id, NULL, 0);
		}
		cr_assert(becomes_readable(fd), "%u", i);
		cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)),
			     1);
		cr_assert_eq(message.type, PERFMON_MESSAGE_TYPE_END);
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
		perfmon_session_close(session);
		for (int end = 0; end < 2; end++) {
			close(there[end]);
			close(back[end]);
		}
		cr_assert_eq(open_descriptors(), before);
	}
}

static int errno_of_pidfd;

static int without_pidfd(enum pm_kernel_call call)
{
	return call == PM_CALL_PIDFD_OPEN ? -errno_of_pidfd : 0;
}

/* Row: HW-10: where a process cannot be watched, the next call finds its end. */
Test(overflow, an_end_of_a_process_that_is_not_watched)
{
	static const int errors[] = {EINVAL, EMFILE, ENFILE, ENODEV,
				     ENOMEM, ESRCH,  ENOSYS};

	pm_kernel_fault = without_pidfd;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct perfmon_session *session = session_with("page-faults", 0);
		struct perfmon_target target = {.kind = PERFMON_TARGET_KIND_PROCESS};
		int before = open_descriptors(), fd;
		struct perfmon_message message;

		errno_of_pidfd = errors[i];
		target.id = fork();
		if (!target.id) {
			pause();
			_exit(0);
		}
		fd = perfmon_overflow_descriptor(session);
		OK(session, fd);
		OK(session, perfmon_session_attach_targets(session, &target, 1,
							   sizeof(target), 0));
		kill(target.id, SIGKILL);
		waitpid(target.id, NULL, 0);
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
		cr_assert(becomes_readable(fd));
		cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)),
			     1);
		cr_assert_eq(message.type, PERFMON_MESSAGE_TYPE_END);
		perfmon_session_close(session);
		cr_assert_eq(open_descriptors(), before);
	}
	pm_kernel_fault = NULL;
}

#ifdef __SANITIZE_THREAD__
#define TESTS_LATE_SIGNALS 1
#else
#define TESTS_LATE_SIGNALS 0
#endif

static struct perfmon_session *signalled;
static volatile sig_atomic_t signals, taken, refused;

static void on_signal(int signo)
{
	struct perfmon_message message;

	(void)signo;
	signals++;
	if (perfmon_overflow_read(signalled, &message, 1, sizeof(message)) == 1 &&
	    message.index == 0)
		taken++;
	if (perfmon_overflow_restart(signalled))
		refused++;
}

/* Row: PM-32, PC-09: any signal, to the thread itself, whose handler finds the counters
 * that overflowed and restarts; it need not. */
Test(overflow, signals_the_thread)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = notifying(10);

	signalled = session;
	signal(SIGRTMIN + 3, on_signal);
	cr_assert_eq(perfmon_overflow_signal(session, 9999), -EINVAL);
	OK(session, perfmon_overflow_signal(session, SIGRTMIN + 3));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 1000);
	OK(session, perfmon_session_stop(session));
	/* The thread sanitizer holds signals back, until others are handled. */
	if (!TESTS_LATE_SIGNALS) {
		cr_assert_geq(signals, 99);
		cr_assert_eq(taken, signals);
		cr_assert_eq(refused, 0);
	}

	/* No longer asked for; or another one while it is attached. */
	OK(session, perfmon_overflow_signal(session, 0));
	signals = 0;
	OK(session, perfmon_session_start(session));
	touch(0, 100);
	if (!TESTS_LATE_SIGNALS)
		cr_assert_eq(signals, 0);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	OK(session, perfmon_session_stop(session));
	messages(session);
	signal(SIGUSR1, on_signal);
	OK(session, perfmon_overflow_signal(session, SIGUSR1));
	OK(session, perfmon_session_start(session));
	touch(0, 100);
	cr_assert_geq(signals, TESTS_LATE_SIGNALS ? 0 : 9);
	perfmon_session_close(session);
}

/* What the handler's siginfo said last. */
static volatile struct perfmon_overflow_signal told;
static volatile int told_code, tellings;

static void on_telling(int signo, siginfo_t *info, void *context)
{
	(void)signo;
	(void)context;
	told = *(const struct perfmon_overflow_signal *)info->si_value.sival_ptr;
	told_code = info->si_code;
	tellings++;
	perfmon_overflow_restart(told.session);
}

/* Row: PC-19: a handler is told by its siginfo which counter of which session
 * overflowed. */
Test(overflow, a_handler_is_told_what_overflowed)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *sessions[2] = {notifying(10),
					       notifying_on(watch_event(2), 10)};
	struct perfmon_session *session = sessions[0];
	struct perfmon_overflow overflow = notify_after(5);
	struct perfmon_write first = {.index = 1, .value = -UINT64_C(5)};
	const int signo = SIGRTMIN + 4;

	if (TESTS_LATE_SIGNALS)
		cr_skip_test("this sanitizer holds signals back");
	overflow.event_id = 77;
	OK(session, perfmon_session_add_events(session, watch_event(1)));
	OK(session, perfmon_overflow_program(session, 1, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	cr_assert_eq(perfmon_overflow_handler(session, signo, NULL), -EINVAL);
	cr_assert_eq(perfmon_overflow_handler(session, 0, on_telling), -EINVAL);
	signal(signo, on_signal);
	cr_assert_eq(perfmon_overflow_handler(session, signo, on_telling), -EBUSY);
	signal(signo, SIG_DFL);
	for (int i = 0; i < 2; i++) {
		OK(sessions[i], perfmon_overflow_handler(sessions[i], signo, on_telling));
		OK(sessions[i],
		   perfmon_session_attach(sessions[i], PERFMON_TARGET_KIND_THREAD, 0));
		OK(sessions[i], perfmon_session_start(sessions[i]));
	}
	cr_assert_eq(perfmon_overflow_block(session, signo), -EBUSY);
	touch(1, 5);
	cr_assert_eq(tellings, 1);
	cr_assert_eq(told_code, PERFMON_OVERFLOW_SI_CODE);
	cr_assert_eq(told.session, session);
	cr_assert(told.size == sizeof(told) && told.index == 1 && told.event_id == 77);
	touch(0, 10);
	cr_assert_eq(tellings, 2);
	cr_assert(told.session == session && told.index == 0 && told.event_id == 4711);
	touch(2, 20);
	cr_assert_eq(tellings, 4);
	cr_assert(told.session == sessions[1] && told.index == 0);
	/* Another way, while it is attached; and none. */
	OK(session, perfmon_overflow_signal(session, 0));
	touch(0, 10);
	cr_assert_eq(tellings, 4);
	perfmon_session_close(session);
	touch(2, 10);
	cr_assert_eq(tellings, 5);
	perfmon_session_close(sessions[1]);
}

/* A blocked thread and what it has done. */
struct stopped {
	pthread_t thread;
	pid_t tid;
	atomic_int ready, go;
	atomic_uint touched;
	unsigned int times;
};

static void *be_stopped(void *argument)
{
	struct stopped *self = argument;

	self->tid = own_tid();
	atomic_store(&self->ready, 1);
	while (!atomic_load(&self->go))
		;
	for (unsigned int i = 0; i < self->times; i++) {
		fault_in(1);
		atomic_fetch_add(&self->touched, 1);
	}
	return NULL;
}

static void start_thread(struct stopped *self, unsigned int times)
{
	memset(self, 0, sizeof(*self));
	self->times = times;
	make_pages(times);
	cr_assert_eq(pthread_create(&self->thread, NULL, be_stopped, self), 0);
	while (!atomic_load(&self->ready))
		;
}

/* Row: PM-34: the monitored thread of the own process waits until the restart; another
 * process's cannot. */
Test(overflow, blocks_the_thread)
{
	struct perfmon_session *session = notifying_on("page-faults", 10);
	int fd = perfmon_overflow_descriptor(session);
	struct stopped thread;
	unsigned int before = 0;
	pid_t child;

	OK(session, perfmon_overflow_block(session, 0));
	start_thread(&thread, 55);
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, thread.tid));
	OK(session, perfmon_session_start(session));
	atomic_store(&thread.go, 1);
	for (int i = 0; i < 5; i++) {
		unsigned int touched;

		cr_assert(becomes_readable(fd));
		let_time_pass_ms(2);
		touched = atomic_load(&thread.touched);
		let_time_pass_ms(2);
		cr_assert_eq(atomic_load(&thread.touched), touched, "it stands still");
		cr_assert_leq(touched, before + 10);
		before = touched;
		cr_assert_eq(messages(session), 1);
		OK(session, perfmon_overflow_restart(session));
	}
	while (perfmon_session_state(session) != PERFMON_STATE_DETACHED) {
		if (perfmon_session_state(session) == PERFMON_STATE_MASKED)
			perfmon_overflow_restart(session);
		let_time_pass_ms(1);
	}
	pthread_join(thread.thread, NULL);
	cr_assert_eq(atomic_load(&thread.touched), 55);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	cr_assert_eq(perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, child),
		     -EOPNOTSUPP);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	perfmon_session_close(session);
}

/* A thread whose calls on one session overflow another: what they write inside of a call,
 * with the lock held, is watched. */
static struct {
	struct perfmon_session *watching, *watched;
	atomic_int returned;
} inside;

static void *overflow_inside_a_call(void *unused)
{
	(void)unused;
	OK(inside.watched,
	   perfmon_session_attach(inside.watched, PERFMON_TARGET_KIND_THREAD, 0));
	OK(inside.watching,
	   perfmon_session_attach(inside.watching, PERFMON_TARGET_KIND_THREAD, 0));
	OK(inside.watching, perfmon_session_start(inside.watching));
	OK(inside.watched, perfmon_session_start(inside.watched));
	atomic_store(&inside.returned, 1);
	return NULL;
}

/* Row: PM-34: and never with the lock of another session that it is in a call on. */
Test(overflow, a_blocked_thread_holds_no_other_sessions_lock, .timeout = 60)
{
	NEEDS_BREAKPOINTS();
	char event[64];
	pthread_t thread;
	int fd;

	inside.watched = session_with("task-clock:u", 0);
	snprintf(event, sizeof(event), "mem:0x%" PRIxPTR "/8:w",
		 (uintptr_t)&inside.watched->stamp);
	inside.watching = notifying_on(event, 1);
	fd = perfmon_overflow_descriptor(inside.watching);
	OK(inside.watching, perfmon_overflow_block(inside.watching, 0));
	cr_assert_eq(pthread_create(&thread, NULL, overflow_inside_a_call, NULL), 0);
	cr_assert(becomes_readable(fd));
	cr_assert_eq(messages(inside.watching), 1);
	/* This takes the lock. */
	cr_assert_eq(perfmon_session_state(inside.watched), PERFMON_STATE_RUNNING);
	let_time_pass_ms(2);
	cr_assert_eq(atomic_load(&inside.returned), 0, "it stands still");
	cr_assert_eq(perfmon_session_state(inside.watching), PERFMON_STATE_MASKED);
	OK(inside.watching, perfmon_session_stop(inside.watching));
	pthread_join(thread, NULL);
	cr_assert_eq(atomic_load(&inside.returned), 1);
	perfmon_session_close(inside.watching);
	perfmon_session_close(inside.watched);
}

static void *be_stopped_at_work(void *argument)
{
	struct stopped *self = argument;

	self->tid = own_tid();
	atomic_store(&self->ready, 1);
	while (atomic_load(&self->go) < 2) {
		if (atomic_load(&self->go))
			atomic_fetch_add(&self->touched, 1);
	}
	return NULL;
}

/* Row: PM-34: at overflows of a clock, and of the hardware, in the midst of its work. */
Test(overflow, blocks_a_thread_at_work)
{
	static const struct {
		const char *event;
		uint64_t period;
	} cases[] = {{"task-clock", 1000000}, {"cycles:u", 1000000}};
	unsigned int i, shown = 0;

	for (i = 0; i < 2; i++) {
		struct perfmon_session *session =
			notifying_on(cases[i].event, cases[i].period);
		int fd = perfmon_overflow_descriptor(session);
		struct stopped thread = {.times = 0};
		unsigned int touched;

		OK(session, perfmon_overflow_block(session, 0));
		cr_assert_eq(
			pthread_create(&thread.thread, NULL, be_stopped_at_work, &thread),
			0);
		while (!atomic_load(&thread.ready))
			;
		if (perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD,
					   thread.tid) < 0) {
			atomic_store(&thread.go, 2);
			pthread_join(thread.thread, NULL);
			perfmon_session_close(session);
			continue;
		}
		OK(session, perfmon_session_start(session));
		atomic_store(&thread.go, 1);
		for (int round = 0; round < 5; round++) {
			cr_assert(becomes_readable(fd), "%s", cases[i].event);
			let_time_pass_ms(2);
			touched = atomic_load(&thread.touched);
			let_time_pass_ms(2);
			cr_assert_eq(atomic_load(&thread.touched), touched,
				     "%s: it stands still", cases[i].event);
			cr_assert_eq(messages(session), 1);
			OK(session, perfmon_overflow_restart(session));
		}
		atomic_store(&thread.go, 2);
		OK(session, perfmon_session_stop(session));
		pthread_join(thread.thread, NULL);
		perfmon_session_close(session);
		shown++;
	}
	cr_assert_geq(shown, 1);
	if (shown < 2)
		cr_log_info("no PMU here: blocked by a clock alone");
}

/* Row: PM-34: stopping, detaching and closing let it go. */
Test(overflow, blocked_threads_are_released)
{
	for (int how = 0; how < 3; how++) {
		struct perfmon_session *session = notifying_on("page-faults", 10);
		int fd = perfmon_overflow_descriptor(session);
		struct stopped thread;

		OK(session, perfmon_overflow_block(session, 0));
		start_thread(&thread, 30);
		OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD,
						   thread.tid));
		OK(session, perfmon_session_start(session));
		atomic_store(&thread.go, 1);
		cr_assert(becomes_readable(fd));
		if (how == 0)
			OK(session, perfmon_session_stop(session));
		else if (how == 1)
			OK(session, perfmon_session_detach(session));
		if (how < 2)
			pthread_join(thread.thread, NULL);
		perfmon_session_close(session);
		if (how == 2)
			pthread_join(thread.thread, NULL);
		cr_assert_eq(atomic_load(&thread.touched), 30);
	}
}

/* Row: PM-43, PM-44: the n-th overflow goes on to the next set. */
Test(overflow, switches_sets)
{
	NEEDS_BREAKPOINTS();
	char events[200];
	struct perfmon_session *session;
	struct perfmon_set sets[] = {
		{.id = 0, .flags = PERFMON_SET_OVERFLOW_SWITCH},
		{.id = 1, .flags = PERFMON_SET_OVERFLOW_SWITCH},
		{.id = 2},
	};
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_SWITCH,
					    .short_reset = -UINT64_C(10),
					    .switch_count = 3};
	struct perfmon_write writes[] = {{.index = 0, .value = -UINT64_C(10)},
					 {.index = 1, .value = -UINT64_C(10)}};

	snprintf(events, sizeof(events), "%s;%s;%s", watch_event(0), watch_event(0),
		 watch_event(0));
	session = session_with(events, 0);
	OK(session, perfmon_set_create(session, sets, sizeof(sets) / sizeof(sets[0]),
				       sizeof(sets[0])));
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	overflow.switch_count = 1;
	OK(session, perfmon_overflow_program(session, 1, &overflow));
	OK(session,
	   perfmon_session_write(session, writes, sizeof(writes) / sizeof(writes[0]),
				 sizeof(writes[0]), 0));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 29);
	perfmon_session_state(session);
	touch(0, 1);
	perfmon_session_state(session); /* a call notices what has happened */
	touch(0, 10);
	perfmon_session_state(session);
	touch(0, 77);
	OK(session, perfmon_session_stop(session));
	cr_assert_eq(count_of(session, 0), -UINT64_C(10));
	cr_assert_eq(count_of(session, 1), -UINT64_C(10));
	cr_assert_eq(count_of(session, 2), 77);
	perfmon_session_close(session);
}

/* Row: PM-03, MU-01: programmed while attached, after its value was written, it overflows
 * where that value says, also behind counters that stand before it in the session. */
Test(overflow, programmed_while_attached)
{
	NEEDS_BREAKPOINTS();
	char other[64];
	struct perfmon_session *session;
	struct perfmon_overflow overflow = notify_after(10);
	struct perfmon_write first = {.index = 1, .value = -UINT64_C(10)};

	strcpy(other, watch_event(1));
	session = session_with(other, 0);
	OK(session, perfmon_session_add_events(session, watch_event(0)));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	OK(session, perfmon_session_start(session));
	touch(0, 4);
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_overflow_program(session, 1, &overflow));
	OK(session, perfmon_session_start(session));
	touch(0, 5);
	cr_assert_eq(messages(session), 0);
	touch(0, 1);
	cr_assert_eq(messages(session), 1);
	perfmon_session_close(session);
}

/* Row: PM-23: a notification that was not restarted after is not forgotten: its long
 * reset comes with the next start, after a stop and on another target as well. */
Test(overflow, a_reset_that_is_due_comes_with_the_next_start)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = notifying(10);

	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	for (int how = 0; how < 3; how++) {
		OK(session, perfmon_session_start(session));
		touch(0, 12);
		cr_assert_eq(messages(session), 1, "%d", how);
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
		OK(session, how == 0 ? perfmon_session_stop(session)
				     : perfmon_session_detach(session));
		if (how > 0)
			OK(session, perfmon_session_attach(
					    session, PERFMON_TARGET_KIND_THREAD, 0));
		/* Events that are opened anew keep it in mind as well. */
		if (how == 1)
			OK(session, perfmon_session_add_events(session, "dummy"));
	}
	OK(session, perfmon_session_start(session));
	touch(0, 12);
	cr_assert_eq(messages(session), 1);
	perfmon_session_close(session);
}

/* One call in the place of a program and a first write. */
Test(overflow, a_period_is_one_call)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_session *session = session_with(watch_event(0), 0);
	const uint64_t half = UINT64_C(1) << 63;
	struct perfmon_message message[2];
	uint64_t last, count;

	cr_assert_eq(perfmon_overflow_period(session, 0, 0, 0), -EINVAL);
	cr_assert(strstr(session_message_of(session), "1 or more"));
	cr_assert_eq(perfmon_overflow_period(session, 0, half, 0), -EINVAL);
	cr_assert_eq(perfmon_overflow_period(session, 0, -UINT64_C(10), 0), -EINVAL);
	cr_assert_eq(perfmon_overflow_period(session, 0, 10, PERFMON_OVERFLOW_RANDOM),
		     -EINVAL);
	cr_assert_eq(perfmon_overflow_period(session, 1, 10, 0), -EINVAL);
	cr_assert_eq(perfmon_overflow_period(NULL, 0, 10, 0), -EINVAL);
	OK(session, perfmon_overflow_period(session, 0, half - 1, 0));
	OK(session, perfmon_overflow_period(session, 0, 10, 0));
	cr_assert_eq(value_of(session, 0).value, -UINT64_C(10));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(perfmon_overflow_period(session, 0, 10, 0), -EBUSY);
	touch(0, 25);
	OK(session, perfmon_session_stop(session));
	OK(session, perfmon_overflow_last_reset(session, 0, &last, &count));
	cr_assert_eq(count, 2);
	cr_assert_eq(value_of(session, 0).value, -UINT64_C(5));
	/* Of a counter that has counted: it begins anew. */
	OK(session, perfmon_overflow_period(session, 0, 4, PERFMON_OVERFLOW_NOTIFY));
	cr_assert_eq(value_of(session, 0).value, -UINT64_C(4));
	OK(session, perfmon_session_start(session));
	touch(0, 9);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED);
	cr_assert_eq(perfmon_overflow_read(session, message, 2, sizeof(message[0])), 1);
	OK(session, perfmon_overflow_restart(session));
	touch(0, 4);
	cr_assert_eq(perfmon_overflow_read(session, message, 2, sizeof(message[0])), 1);
	cr_assert_eq(perfmon_overflow_read(session, message, 2, 48), -EINVAL);
	perfmon_session_close(session);
}

/* Row: PM-15, PM-27: what cannot be asked for. */
Test(overflow, is_checked)
{
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_overflow good = notify_after(10), bad;

	bad = good;
	bad.size--;
	cr_assert_eq(perfmon_overflow_program(session, 0, &bad), -EINVAL);
	bad = good;
	bad.flags |= 0x100;
	cr_assert_eq(perfmon_overflow_program(session, 0, &bad), -EINVAL);
	bad = good;
	bad.reset_counters = (uint32_t[]){1};
	bad.reset_count = 1;
	cr_assert_eq(perfmon_overflow_program(session, 0, &bad), -EINVAL);
	bad = good;
	bad.sample_count = 1;
	cr_assert_eq(perfmon_overflow_program(session, 0, &bad), -EINVAL);
	bad = good;
	bad.long_reset = 0;
	cr_assert_eq(perfmon_overflow_program(session, 0, &bad), -EINVAL);
	cr_assert(strstr(session_message_of(session), "long_reset"));
	bad.flags = 0;
	bad.long_reset = good.long_reset;
	bad.short_reset = UINT64_C(1) << 63;
	cr_assert_eq(perfmon_overflow_program(session, 0, &bad), -EINVAL);
	bad = good;
	bad.random_mask = 1;
	cr_assert_eq(perfmon_overflow_program(session, 0, &bad), -EINVAL);
	bad = good;
	bad.flags |= PERFMON_OVERFLOW_SWITCH;
	cr_assert_eq(perfmon_overflow_program(session, 0, &bad), -EINVAL);
	cr_assert_eq(perfmon_overflow_program(session, 1, &good), -EINVAL);
	OK(session, perfmon_overflow_program(session, 0, &good));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_overflow_program(session, 0, NULL));
	OK(session, perfmon_overflow_program(session, 0, &good));
	OK(session, perfmon_session_start(session));
	cr_assert_eq(perfmon_overflow_program(session, 0, &good), -EBUSY);
	cr_assert_eq(perfmon_overflow_block(session, 0), -EBUSY);
	perfmon_session_close(session);
}

static bool has_hardware(void)
{
	struct perfmon_session *session = session_with("cycles:u", 0);
	int err = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);

	perfmon_session_close(session);
	return !err;
}

/* Row: PM-22, PM-33: overflows of a real counter, 100,000 of them in a long run: each sets
 * the value back by one period, none comes twice, and between an overflow and the restart
 * counting stands still. A second counter of the same event and group says what there was to
 * count. How far the value goes past 2^64 before the interrupt is the machine's: in an
 * emulated one a counter goes on with the clock while another CPU is at work. */
Test(overflow, many_thousand_on_cycles, .timeout = 600)
{
	const uint64_t period = 8000;
	const uint64_t overflows = getenv("PERFMON_TEST_SHORT") ? 20000 : 100000;
	struct perfmon_session *session;
	uint64_t notified = 0, total;

	if (!has_hardware())
		cr_skip_test("no PMU here: runs in the guest");
	session = notifying_on("cycles:u", period);
	OK(session, perfmon_session_add_events(session, "cycles:u"));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	while (notified < overflows) {
		for (volatile int i = 0; i < 500; i++)
			;
		if (!messages(session))
			continue;
		if (!(notified++ % 1000)) {
			total = count_of(session, 1);
			for (volatile int i = 0; i < 1000; i++)
				;
			cr_assert_eq(count_of(session, 1), total);
			cr_assert_geq(total, notified * period);
			cr_assert_eq(count_of(session, 0), total - notified * period,
				     "%lu cycles, %lu overflows", total, notified);
		}
		OK(session, perfmon_overflow_restart(session));
	}
	OK(session, perfmon_session_stop(session));
	total = count_of(session, 1);
	/* A last one that the stop has met is not set back yet. */
	cr_assert_geq(total, notified * period);
	cr_assert_eq(count_of(session, 0), total - (notified + 1) * period,
		     "%lu cycles, %lu overflows", total, notified);
	perfmon_session_close(session);
}

#ifndef STANDIN_CRITERION_H
/* One at a time: they take the CPU's time from each other, and tell what it was spent
 * on. */
ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
	(void)tests;
	criterion_options.jobs = 1;
}
#endif
