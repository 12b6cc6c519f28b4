/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perfmon2 calls: overflows, messages, and event sets that switch by themselves. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>

#include "perfmon/format.h"
#include "bounds.h"
#include "helpers.h"
#include "perfmon2_probe.h"

TestSuite(perfmon2_overflow, .timeout = 120);

#define AFTER(n) (-(uint64_t)(n))

static struct pfarg_pmd notifying(uint16_t number, uint64_t first, uint64_t next)
{
	return (struct pfarg_pmd){.reg_num = number,
				  .reg_flags = PFM_PMDFL_OVFL_NOTIFY,
				  .reg_value = AFTER(first),
				  .reg_long_reset = AFTER(next)};
}

/* A session of this thread, attached, with PMC0 counting writes to watched[0]. */
static int session_of(int flags, struct pfarg_pmd pmd)
{
	struct pfarg_pmc pmc = writes_to(0, 0, pmd.reg_num);
	int fd = pfm_create_context(flags);

	cr_assert_geq(fd, 0, "%s", strerror(errno));
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	OK(fd, pfm_write_pmds(fd, &pmd, sizeof(pmd)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	return fd;
}

/* Waits for one and reads it. */
static struct pfarg_ovfl_msg next_message(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	union pfarg_msg msg;

	cr_assert_eq(poll(&wait, 1, 60000), 1);
	cr_assert_eq(read(fd, &msg, sizeof(msg)), (ssize_t)sizeof(msg));
	return msg.pfm_ovfl_msg;
}

static bool has_message(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, 0) == 1;
}

/* Row: PM-22, PM-23, PM-30, PM-33, PM-50: after N events, once; masked until the
 * restart. */
Test(perfmon2_overflow, notifies_after_n)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmd pmd = notifying(70, 10, 5), got = {.reg_num = 70};
	struct pfarg_ovfl_msg msg;
	int fd = session_of(0, pmd);

	OK(fd, pfm_start(fd, 0));
	touch(0, 9);
	OK(fd, pfm_read_pmds(fd, &got, sizeof(got)));
	cr_assert_eq(got.reg_last_reset_val, AFTER(10), "what it began with");
	cr_assert_eq(value_of(fd, 0, 70), UINT64_MAX);
	cr_assert(!has_message(fd));
	touch(0, 100);
	msg = next_message(fd);
	cr_assert_eq(msg.msg_type, PFM_MSG_OVFL);
	cr_assert_eq(msg.msg_ovfl_pid, (__u32)getpid());
	cr_assert_eq(msg.msg_ovfl_tid, (__u32)own_tid());
	cr_assert_eq(msg.msg_active_set, 0);
	cr_assert_neq(msg.msg_ovfl_ip, 0);
	cr_assert(!msg.msg_ovfl_pmds[0] && msg.msg_ovfl_pmds[1] == 1 << 6 &&
		  !msg.msg_ovfl_pmds[2] && !msg.msg_ovfl_pmds[3]);
	cr_assert(!has_message(fd), "once");
	cr_assert_eq(value_of(fd, 0, 70), 0, "it stands still");
	FAILS(pfm_start(fd, PFM_STARTFL_RESTART | PFM_STARTFL_SET, 9), EINVAL);
	OK(fd, pfm_start(fd, 0));
	touch(0, 7);
	cr_assert_eq(value_of(fd, 0, 70), 0, "a start is no restart");
	OK(fd, pfm_start(fd, PFM_STARTFL_RESTART));
	OK(fd, pfm_read_pmds(fd, &got, sizeof(got)));
	cr_assert_eq(got.reg_value, AFTER(5));
	cr_assert_eq(got.reg_last_reset_val, AFTER(5));
	FAILS(pfm_start(fd, PFM_STARTFL_RESTART), EBUSY);
	touch(0, 4);
	cr_assert(!has_message(fd));
	touch(0, 1);
	next_message(fd);
	/* Stopped, it waits for no restart. */
	OK(fd, pfm_stop(fd, 0));
	FAILS(pfm_start(fd, PFM_STARTFL_RESTART), EBUSY);
	close(fd);
}

/* Row: PM-23, PM-24: without notification it goes on, and takes others along. */
Test(perfmon2_overflow, resets_itself_and_others)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmc pmcs[] = {writes_to(0, 0, 0), writes_to(1, 0, 1),
				   writes_to(2, 0, 2)};
	struct pfarg_pmd pmds[] = {{.reg_num = 0,
				    .reg_value = AFTER(10),
				    .reg_short_reset = AFTER(20),
				    .reg_reset_pmds = {0x6}},
				   {.reg_num = 1, .reg_value = 3},
				   {.reg_num = 2, .reg_short_reset = 1000}};
	int fd = create();

	/* Named before there is anything to reset. */
	OK(fd, pfm_write_pmds(fd, pmds, sizeof(pmds)));
	OK(fd, pfm_write_pmcs(fd, pmcs, sizeof(pmcs)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	touch(1, 4);
	touch(2, 4);
	touch(0, 9);
	cr_assert_eq(value_of(fd, 0, 1), 7);
	touch(0, 1);
	OK(fd, pfm_read_pmds(fd, pmds, sizeof(pmds)));
	cr_assert_eq(pmds[0].reg_value, AFTER(20));
	cr_assert_eq(pmds[0].reg_last_reset_val, AFTER(20));
	cr_assert_eq(pmds[1].reg_value, 0, "without a reset value of its own");
	cr_assert_eq(pmds[2].reg_value, 1000);
	cr_assert_eq(pmds[2].reg_last_reset_val, 1000);
	touch(0, 20 + 3);
	cr_assert_eq(value_of(fd, 0, 0), AFTER(17));
	close(fd);
}

/* Row: PM-27: fields that need a flag are not looked at without it. */
Test(perfmon2_overflow, flags_gate_their_fields)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmd pmd = {.reg_value = AFTER(10),
				.reg_short_reset = AFTER(10),
				.reg_ovfl_switch_cnt = 1,
				.reg_smpl_pmds = {~0ULL, ~0ULL, ~0ULL, ~0ULL},
				.reg_smpl_eventid = 7,
				.reg_random_mask = 0xff};
	struct pfarg_setdesc sets[] = {{.set_id = 0, .set_flags = PFM_SETFL_OVFL_SWITCH},
				       {.set_id = 1}};
	struct pfarg_setinfo info[] = {{.set_id = 0}, {.set_id = 1}};
	struct pfarg_pmc pmc = writes_to(0, 0, 0);
	int fd = create(), i;

	OK(fd, pfm_create_evtsets(fd, sets, sizeof(sets)));
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	OK(fd, pfm_write_pmds(fd, &pmd, sizeof(pmd)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	for (i = 0; i < 20; i++) {
		touch(0, 10);
		OK(fd, pfm_read_pmds(fd, &pmd, sizeof(pmd)));
		cr_assert_eq(pmd.reg_last_reset_val, AFTER(10), "not random");
	}
	OK(fd, pfm_stop(fd, 0));
	OK(fd, pfm_getinfo_evtsets(fd, info, sizeof(info)));
	cr_assert_eq(info[0].set_flags, PFM_SETFL_OVFL_SWITCH);
	cr_assert_eq(info[0].set_ovfl_pmds[0], 1);
	cr_assert_eq(info[0].set_runs, 1);
	cr_assert_eq(info[1].set_runs, 0, "no switch");
	pmd.reg_flags = PFM_PMDFL_SWITCH;
	pmd.reg_ovfl_switch_cnt = 0;
	FAILS(pfm_write_pmds(fd, &pmd, sizeof(pmd)), EINVAL);
	pmd.reg_flags = PFM_PMDFL_SMPL;
	FAILS(pfm_write_pmds(fd, &pmd, sizeof(pmd)), EINVAL);
	cr_assert(strstr(message(fd), "sampling format"));
	cr_assert_null(pfm_smpl_buffer(fd, NULL));
	close(fd);
}

/* Row: PM-26: periods vary within the mask. */
Test(perfmon2_overflow, random_periods)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmd pmd = {.reg_flags = PFM_PMDFL_RANDOM,
				.reg_value = AFTER(10),
				.reg_short_reset = AFTER(10),
				.reg_random_mask = 0x7};
	int fd = session_of(0, pmd), i;
	bool varies = false;

	OK(fd, pfm_start(fd, 0));
	for (i = 0; i < 40; i++) {
		touch(0, 17);
		OK(fd, pfm_read_pmds(fd, &pmd, sizeof(pmd)));
		cr_assert(-pmd.reg_last_reset_val >= 10 && -pmd.reg_last_reset_val <= 17);
		varies |= pmd.reg_last_reset_val != AFTER(10);
	}
	cr_assert(varies);
	close(fd);
}

/* Row: PM-04: what overflows lead to changes only as a whole, and not while running. */
Test(perfmon2_overflow, a_bad_element_changes_nothing)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmd pmd = notifying(0, 10, 10), pmds[2];
	int fd = session_of(0, pmd);

	pmds[0] = (struct pfarg_pmd){.reg_num = 0, .reg_value = 1};
	pmds[1] = (struct pfarg_pmd){.reg_num = 0, .reg_flags = PFM_PMDFL_SWITCH};
	FAILS(pfm_write_pmds(fd, pmds, sizeof(pmds)), EINVAL);
	cr_assert_eq(value_of(fd, 0, 0), AFTER(10));
	OK(fd, pfm_start(fd, 0));
	FAILS(pfm_write_pmds(fd, pmds, sizeof(pmds[0])), EBUSY);
	touch(0, 5);
	pmd.reg_value = AFTER(20);
	OK(fd, pfm_write_pmds(fd, &pmd, sizeof(pmd)));
	touch(0, 19);
	cr_assert(!has_message(fd));
	touch(0, 1);
	next_message(fd);
	close(fd);
}

/* Row: PM-30, PM-31: whole messages, several in one read; readable while one waits. */
Test(perfmon2_overflow, messages_wait_their_turn)
{
	NEEDS_BREAKPOINTS();
	enum { MANY = 700 };
	int fd = session_of(0, notifying(0, 1, 1)), i, n, got = 0, poller;
	struct timeval now = {0, 0};
	struct epoll_event event = {.events = EPOLLIN};
	union pfarg_msg msgs[16];
	fd_set set;

	poller = epoll_create1(EPOLL_CLOEXEC);
	cr_assert_eq(epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event), 0);
	cr_assert_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	OK(fd, pfm_start(fd, 0));
	cr_assert_eq(epoll_wait(poller, &event, 1, 0), 0);
	FAILS((int)read(fd, msgs, sizeof(msgs)), EAGAIN);
	/* More than the socket holds: the rest waits behind it. */
	for (i = 0; i < MANY; i++) {
		touch(0, 1);
		while (pfm_start(fd, PFM_STARTFL_RESTART))
			cr_assert_eq(errno, EBUSY);
	}
	OK(fd, pfm_stop(fd, 0));
	cr_assert_eq(epoll_wait(poller, &event, 1, 60000), 1);
	while (got < MANY) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};

		cr_assert_eq(poll(&wait, 1, 60000), 1, "after %d", got);
		FD_ZERO(&set);
		FD_SET(fd, &set);
		cr_assert_eq(select(fd + 1, &set, NULL, NULL, &now), 1);
		n = (int)pfm_read_msg(fd, msgs, sizeof(msgs));
		cr_assert(n > 0 && n % (int)sizeof(msgs[0]) == 0, "%d", n);
		for (i = 0; i < n / (int)sizeof(msgs[0]); i++, got++)
			cr_assert(msgs[i].type == PFM_MSG_OVFL &&
				  msgs[i].pfm_ovfl_msg.msg_ovfl_pmds[0] == 1);
	}
	cr_assert_eq(got, MANY);
	cr_assert(!has_message(fd));
	cr_assert_eq(epoll_wait(poller, &event, 1, 0), 0);
	FAILS((int)read(fd, msgs, sizeof(msgs)), EAGAIN);
	close(poller);
	close(fd);
}

/* Row: PM-30: PMDs that overflow at one event are in one message, and none is left for
 * after the restart. */
Test(perfmon2_overflow, one_message_for_what_overflows_at_once)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_pmc pmcs[] = {writes_to(0, 0, 3), writes_to(0, 0, 66)};
	struct pfarg_pmd pmds[] = {notifying(3, 10, 10), notifying(66, 10, 10)};
	struct pfarg_ovfl_msg msg;
	int fd = pfm_create_context(0);

	OK(fd, pfm_write_pmcs(fd, pmcs, sizeof(pmcs)));
	OK(fd, pfm_write_pmds(fd, pmds, sizeof(pmds)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	for (int i = 0; i < 20; i++) {
		cr_assert(!has_message(fd));
		touch(0, 10);
		msg = next_message(fd);
		cr_assert_eq(msg.msg_ovfl_pmds[0], 1u << 3, "round %d", i);
		cr_assert_eq(msg.msg_ovfl_pmds[1], 1u << 2, "round %d", i);
		OK(fd, pfm_start(fd, PFM_STARTFL_RESTART));
	}
	cr_assert(!has_message(fd));
	close(fd);
}

static bool is_overflow(const union pfarg_msg *msg)
{
	return msg->type == PFM_MSG_OVFL &&
	       msg->pfm_ovfl_msg.msg_ovfl_tid == (__u32)own_tid();
}

/* Row: PM-30: reads of any size leave the messages after them whole. */
Test(perfmon2_overflow, messages_keep_their_bounds)
{
	NEEDS_BREAKPOINTS();
	enum { MESSAGES = 6 };
	int fd = session_of(0, notifying(0, 1, 1));
	union pfarg_msg msgs[MESSAGES];
	const size_t size = sizeof(msgs[0]);

	OK(fd, pfm_start(fd, 0));
	for (int i = 0; i < MESSAGES; i++) {
		touch(0, 1);
		while (pfm_start(fd, PFM_STARTFL_RESTART))
			cr_assert_eq(errno, EBUSY);
	}
	OK(fd, pfm_stop(fd, 0));
	cr_assert(becomes_readable(fd));
	cr_assert_eq(read(fd, msgs, 10), 10);
	cr_assert_eq(read(fd, msgs, size + size / 2), (ssize_t)size);
	cr_assert(is_overflow(&msgs[0]));
	cr_assert_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (size_t got = 2, n; got < MESSAGES; got += n) {
		cr_assert(becomes_readable(fd));
		n = (size_t)pfm_read_msg(fd, msgs, sizeof(msgs)) / size;
		cr_assert(n > 0 && n <= MESSAGES - got, "%zu", n);
		for (size_t i = 0; i < n; i++)
			cr_assert(is_overflow(&msgs[i]));
	}
	FAILS((int)pfm_read_msg(fd, msgs, sizeof(msgs)), EAGAIN);
	close(fd);
}

static void close_descriptors_under_session(void)
{
	int fd = session_of(0, notifying(0, 10, 10));
	struct own_files files;

	OK(fd, pfm_start(fd, 0));
	files = replace_descriptors();
	touch(0, 35);
	/* A new one finds the counters of the lost one free. */
	fd = session_of(0, notifying(0, 10, 10));
	OK(fd, pfm_start(fd, 0));
	touch(0, 10);
	next_message(fd);
	close(fd);
	if (!are_untouched(&files))
		_exit(1);
}

/* Row: PM-14: what the program has closed is neither written to nor closed once more. */
Test(perfmon2_overflow, descriptors_that_are_another_s_by_now_are_left_alone)
{
	NEEDS_BREAKPOINTS();
	cr_assert_eq(in_child(close_descriptors_under_session), 0);
}

static void end_thread_with_session(void)
{
	int fd = session_of(0, notifying(0, 10, 10));

	OK(fd, pfm_start(fd, 0));
	pthread_exit(NULL);
}

/* Row: PM-14: the library's threads keep no process alive whose own have ended. */
Test(perfmon2_overflow, a_process_ends_with_its_last_thread)
{
	NOT_UNDER_TSAN(
		"the thread sanitizer has a thread of its own, which does not end");
	cr_assert_eq(in_child(end_thread_with_session), 0);
}

static int sampled;
static volatile int samples, wrong;

static void on_sample(int signo, siginfo_t *info, void *context)
{
	struct pfarg_pmd pmd = {.reg_num = 0};
	union pfarg_msg msg;
	int saved = errno;

	(void)context;
	wrong |= signo != SIGRTMIN + 2 || info->si_fd != sampled;
	while (read(sampled, &msg, sizeof(msg)) == (ssize_t)sizeof(msg)) {
		samples++;
		wrong |= msg.pfm_ovfl_msg.msg_ovfl_tid != (__u32)own_tid();
		wrong |= pfm_read_pmds(sampled, &pmd, sizeof(pmd)) || pmd.reg_value;
		wrong |= pfm_start(sampled, PFM_STARTFL_RESTART) != 0;
	}
	errno = saved;
}

/* Row: PM-32: a thread samples itself in the signal that it has chosen for the
 * descriptor, also within calls on the session. */
Test(perfmon2_overflow, self_sampling_by_signal)
{
	NEEDS_BREAKPOINTS();
	struct sigaction action = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO};
	struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = own_tid()};
	int fd = session_of(0, notifying(0, 10, 10)), i;

	sampled = fd;
	cr_assert_eq(sigaction(SIGRTMIN + 2, &action, NULL), 0);
	cr_assert_eq(fcntl(fd, F_SETSIG, SIGRTMIN + 2), 0);
	cr_assert_eq(fcntl(fd, F_SETOWN_EX, &owner), 0);
	cr_assert_eq(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK), 0);
	OK(fd, pfm_start(fd, 0));
	for (i = 0; i < 20; i++) {
		touch(0, 10);
		value_of(fd, 0, 0);
		WAIT_UNTIL(samples > i);
		cr_assert_eq(samples, i + 1);
	}
	cr_assert_eq(wrong, 0);
	OK(fd, pfm_stop(fd, 0));
	cr_assert_eq(value_of(fd, 0, 0), AFTER(10));
	close(fd);
}

/* Faults, which a restart never has to open anew, as it may a breakpoint that has stopped
 * another thread (Linux 6.17 and later). */
struct worker {
	pthread_t thread;
	volatile char *memory;
	pthread_barrier_t begin;
	int tid;
	atomic_int steps;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	int i;

	worker->tid = own_tid();
	pthread_barrier_wait(&worker->begin);
	pthread_barrier_wait(&worker->begin);
	for (i = 0; i < 30; i++) {
		worker->memory[i * 65536] = 1;
		atomic_store(&worker->steps, i + 1);
		poll(NULL, 0, 0); /* where a sanitizer lets a handler run */
	}
	return NULL;
}

static void start_worker(struct worker *worker)
{
	worker->memory = mmap(NULL, 30 * 65536, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)worker->memory, 30 * 65536, MADV_NOHUGEPAGE);
	pthread_barrier_init(&worker->begin, NULL, 2);
	pthread_create(&worker->thread, NULL, work, worker);
	pthread_barrier_wait(&worker->begin);
}

/* Row: PM-34: the thread itself waits until the restart. */
Test(perfmon2_overflow, a_thread_waits_for_the_restart)
{
	struct pfarg_pmc pmc = {.reg_flags = PFM_PMCFL_SOFTWARE,
				.reg_value = PERF_COUNT_SW_PAGE_FAULTS};
	struct pfarg_pmd pmd = notifying(0, 10, 10);
	int fd = pfm_create_context(PFM_FL_NOTIFY_BLOCK), steps, stops = 0;
	struct pfarg_ovfl_msg msg;
	struct worker worker;
	pid_t child;

	cr_assert_geq(fd, 0, "%s", strerror(errno));
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	OK(fd, pfm_write_pmds(fd, &pmd, sizeof(pmd)));
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	FAILS(pfm_load_context(fd, 0, child), EOPNOTSUPP);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	start_worker(&worker);
	OK(fd, pfm_load_context(fd, 0, worker.tid));
	OK(fd, pfm_start(fd, 0));
	pthread_barrier_wait(&worker.begin);
	/* Row: PM-12: the thread's end is told, too. The library's and the compiler's own
	 * faults count as well. */
	for (msg = next_message(fd); msg.msg_type != PFM_MSG_END;
	     msg = next_message(fd)) {
		cr_assert_eq(msg.msg_ovfl_tid, (__u32)worker.tid);
		let_time_pass_ms(20);
		steps = atomic_load(&worker.steps);
		let_time_pass_ms(20);
		cr_assert_eq(atomic_load(&worker.steps), steps, "it waits");
		cr_assert_leq(steps, 10 * ++stops);
		/* It cannot wait while it ends. */
		if (pfm_start(fd, PFM_STARTFL_RESTART))
			cr_assert(errno == EBUSY && steps == 30, "%d: %s", steps,
				  message(fd));
	}
	cr_assert_geq(stops, 3);
	pthread_join(worker.thread, NULL);
	cr_assert_eq(atomic_load(&worker.steps), 30);
	close(fd);
	munmap((void *)worker.memory, 30 * 65536);
}

/* Row: PM-21: notified without a message. */
Test(perfmon2_overflow, no_messages)
{
	NEEDS_BREAKPOINTS();
	int fd = session_of(PFM_FL_OVFL_NO_MSG, notifying(0, 10, 10));

	OK(fd, pfm_start(fd, 0));
	touch(0, 15);
	cr_assert_eq(value_of(fd, 0, 0), 0, "it is masked");
	let_time_pass_ms(20);
	cr_assert(!has_message(fd));
	OK(fd, pfm_start(fd, PFM_STARTFL_RESTART));
	touch(0, 3);
	cr_assert_eq(value_of(fd, 0, 0), AFTER(7));
	close(fd);
}

/* Row: PM-29: a restart at another set. */
Test(perfmon2_overflow, restarts_at_a_set)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_setdesc set = {.set_id = 1};
	struct pfarg_pmc pmcs[] = {writes_to(0, 0, 0), writes_to(0, 1, 0)};
	struct pfarg_pmd pmd = notifying(0, 10, 10);
	int fd = create();

	OK(fd, pfm_create_evtsets(fd, &set, sizeof(set)));
	OK(fd, pfm_write_pmcs(fd, pmcs, sizeof(pmcs)));
	OK(fd, pfm_write_pmds(fd, &pmd, sizeof(pmd)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	touch(0, 10);
	cr_assert_eq(next_message(fd).msg_active_set, 0);
	touch(0, 100);
	OK(fd, pfm_start(fd, PFM_STARTFL_RESTART | PFM_STARTFL_SET, 1));
	touch(0, 6);
	OK(fd, pfm_stop(fd, 0));
	cr_assert_eq(value_of(fd, 0, 0), AFTER(10));
	cr_assert_eq(value_of(fd, 1, 0), 6);
	close(fd);
}

static void burn_ms(int ms)
{
	uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID);

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) - from < (uint64_t)ms * 1000000)
		touch(1, 100);
}

/* Row: PM-42, PM-45: sets take turns by the thread's own time; the effective time-out is
 * told. */
Test(perfmon2_overflow, sets_switch_by_time)
{
	struct pfarg_setdesc sets[] = {
		{.set_id = 0, .set_flags = PFM_SETFL_TIME_SWITCH, .set_timeout = 1999999},
		{.set_id = 9,
		 .set_flags = PFM_SETFL_TIME_SWITCH,
		 .set_timeout = 1000000}};
	struct pfarg_setinfo info[] = {{.set_id = 0}, {.set_id = 9}};
	struct pfarg_pmc pmc = {.reg_set = 9,
				.reg_flags = PFM_PMCFL_SOFTWARE,
				.reg_value = PERF_COUNT_SW_PAGE_FAULTS};
	int fd = create();

	OK(fd, pfm_create_evtsets(fd, sets, sizeof(sets)));
	cr_assert_geq(sets[0].set_timeout, 1999999);
	cr_assert_geq(sets[1].set_timeout, 1000000);
	OK(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	do {
		burn_ms(5);
		OK(fd, pfm_getinfo_evtsets(fd, info, sizeof(info)));
	} while (info[0].set_runs < 2 || info[1].set_runs < 2);
	OK(fd, pfm_stop(fd, 0));
	OK(fd, pfm_getinfo_evtsets(fd, info, sizeof(info)));
	cr_assert_eq(info[0].set_flags, PFM_SETFL_TIME_SWITCH);
	cr_assert_eq(info[0].set_timeout, sets[0].set_timeout, "%llu %llu",
		     info[0].set_timeout, sets[0].set_timeout);
	cr_assert_geq(info[0].set_runs, 2);
	cr_assert_geq(info[1].set_runs, 2);
	cr_assert_gt(info[0].set_act_duration, 0);
	cr_assert_gt(info[1].set_act_duration, 0);
	close(fd);
}

/* Row: PM-43: the n-th overflow goes on to the next set. */
Test(perfmon2_overflow, sets_switch_by_overflow)
{
	NEEDS_BREAKPOINTS();
	struct pfarg_setdesc sets[] = {{.set_id = 0, .set_flags = PFM_SETFL_OVFL_SWITCH},
				       {.set_id = 5}};
	struct pfarg_pmc pmcs[] = {writes_to(0, 0, 0), writes_to(1, 5, 0)};
	struct pfarg_pmd pmd = {.reg_flags = PFM_PMDFL_SWITCH,
				.reg_value = AFTER(10),
				.reg_short_reset = AFTER(10),
				.reg_ovfl_switch_cnt = 3};
	struct pfarg_setinfo info[] = {{.set_id = 0}, {.set_id = 5}};
	int fd = create();

	OK(fd, pfm_create_evtsets(fd, sets, sizeof(sets)));
	OK(fd, pfm_write_pmcs(fd, pmcs, sizeof(pmcs)));
	OK(fd, pfm_write_pmds(fd, &pmd, sizeof(pmd)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	touch(0, 29);
	OK(fd, pfm_getinfo_evtsets(fd, info, sizeof(info)));
	cr_assert_eq(info[1].set_runs, 0);
	touch(0, 1);
	while (!info[1].set_runs)
		OK(fd, pfm_getinfo_evtsets(fd, info, sizeof(info)));
	cr_assert_eq(info[1].set_runs, 1);
	cr_assert_eq(info[0].set_ovfl_pmds[0], 1);
	touch(0, 50);
	touch(1, 4);
	OK(fd, pfm_stop(fd, 0));
	cr_assert_eq(value_of(fd, 0, 0), AFTER(10));
	cr_assert_eq(value_of(fd, 5, 0), 4);
	close(fd);
}

/* Row: PM-22, PM-23, PM-33: the hardware's overflows. Between stop and restart nothing is
 * counted, so that what has been counted is what the overflows say. */
Test(perfmon2_overflow, hardware_counters_notify)
{
	struct pfarg_pmc pmcs[] = {{.reg_num = 0, .reg_value = RAW_CYCLES},
				   {.reg_num = 1, .reg_value = RAW_CYCLES}};
	struct pfarg_pmd pmds[] = {notifying(0, 100000, 100000), {.reg_num = 1}};
	int fd = create(), i;
	uint64_t all;

	OK(fd, pfm_write_pmds(fd, pmds, sizeof(pmds)));
	load_raw(fd, pmcs, sizeof(pmcs));
	OK(fd, pfm_start(fd, 0));
	for (i = 0; i < 10; i++) {
		while (!has_message(fd))
			touch(1, 1000);
		cr_assert_eq(next_message(fd).msg_ovfl_pmds[0], 1);
		all = value_of(fd, 0, 1);
		touch(1, 1000);
		cr_assert_eq(value_of(fd, 0, 1), all, "masked");
		OK(fd, pfm_start(fd, PFM_STARTFL_RESTART));
	}
	OK(fd, pfm_stop(fd, 0));
	cr_assert_geq(all, 10 * 100000);
	cr_assert_lt(all, 10 * 150000, "%llu", (unsigned long long)all);
	close(fd);
}

/* Row: PM-21, PM-25, PM-47: samples go to the format that was named, with the values of
 * other PMDs and the program's number; when its buffer is full a message comes. */
Test(perfmon2_overflow, samples_go_to_a_format)
{
	NEEDS_BREAKPOINTS();
	struct perfmon_buffer_argument argument = {.size = sizeof(argument),
						   .buffer_size = 4096};
	char name[] = "default", none[] = "no-such-format";
	int fd = pfm_create_context(PFM_FL_SMPL_FMT, name, &argument, sizeof(argument));
	struct pfarg_pmc pmcs[] = {writes_to(0, 0, 2), writes_to(1, 0, 9)};
	struct pfarg_pmd pmds[] = {{.reg_num = 2,
				    .reg_flags = PFM_PMDFL_SMPL,
				    .reg_value = AFTER(10),
				    .reg_short_reset = AFTER(10),
				    .reg_long_reset = AFTER(10),
				    .reg_smpl_eventid = 4711,
				    .reg_smpl_pmds = {1 << 9}},
				   {.reg_num = 9}};
	const struct perfmon_buffer_sample *sample = NULL;
	const struct perfmon_buffer *buffer;
	uint64_t n = 0;
	size_t size;
	int i;

	cr_assert_geq(fd, 0, "%s", strerror(errno));
	FAILS(pfm_create_context(PFM_FL_SMPL_FMT, none, NULL, 0), ENOENT);
	FAILS(pfm_create_context(PFM_FL_SMPL_FMT), EINVAL);
	OK(fd, pfm_write_pmcs(fd, pmcs, sizeof(pmcs)));
	OK(fd, pfm_write_pmds(fd, pmds, sizeof(pmds)));
	OK(fd, pfm_load_context(fd, 0, own_tid()));
	OK(fd, pfm_start(fd, 0));
	for (i = 0; i < 3; i++) {
		touch(1, 1);
		touch(0, 10);
		value_of(fd, 0, 2);
	}
	buffer = pfm_smpl_buffer(fd, &size);
	cr_assert_not_null(buffer);
	cr_assert_eq(size, 4096);
	cr_assert_eq(__atomic_load_n(&buffer->count, __ATOMIC_ACQUIRE), 3);
	while ((sample = perfmon_buffer_next(buffer, sample))) {
		n++;
		cr_assert_eq(sample->event_id, 4711);
		cr_assert_eq(sample->tid, own_tid());
		cr_assert_eq(sample->value_count, 1);
		cr_assert_eq(*perfmon_buffer_values(sample), n);
	}
	cr_assert_eq(n, 3);
	for (i = 0; i < 1000 && !has_message(fd); i++) {
		touch(0, 10);
		value_of(fd, 0, 2);
	}
	cr_assert_eq(next_message(fd).msg_ovfl_pmds[0], 1 << 2);
	cr_assert_geq(__atomic_load_n(&buffer->fills, __ATOMIC_ACQUIRE), 1);
	OK(fd, pfm_start(fd, PFM_STARTFL_RESTART));
	cr_assert_eq(__atomic_load_n(&buffer->used, __ATOMIC_ACQUIRE), 0);
	touch(0, 10);
	OK(fd, pfm_stop(fd, 0));
	cr_assert_eq(__atomic_load_n(&buffer->count, __ATOMIC_ACQUIRE), 1);
	/* A sanitizer does not see that the library's thread frees the buffer after the
	 * close, but that this call is before that. */
	OK(fd, pfm_unload_context(fd, 0));
	close(fd);
}
