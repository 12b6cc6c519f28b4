/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signal handlers that use regions, whatever they interrupt. */
#include "helpers.h"
#include "region_probe.h"
#include "bounds.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "fastpath/fastpath.h"

TestSuite(region_signals, .init = probe_quiet, .timeout = 120);

static atomic_uint_fast64_t handled;

static void handler(int signal)
{
	(void)signal;
	PERFMON_REGION_BEGIN("handler");
	atomic_fetch_add(&handled, 1);
	PERFMON_REGION_END("handler");
}

static void on(int signal, void (*function)(int), int flags)
{
	struct sigaction action = {.sa_handler = function, .sa_flags = flags};

	sigemptyset(&action.sa_mask);
	cr_assert_eq(sigaction(signal, &action, NULL), 0);
}

static void set_timer(int first, int next)
{
	struct itimerval timer = {.it_interval = {0, next}, .it_value = {0, first}};

	cr_assert_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static void every(int microseconds)
{
	set_timer(microseconds, microseconds);
}

Test(region_signals, a_handler_in_a_thread_that_is_set_up_is_counted)
{
	struct pm_snapshot *s;

	on(SIGUSR1, handler, 0);
	PERFMON_REGION_BEGIN("outer");
	raise(SIGUSR1);
	raise(SIGUSR1);
	PERFMON_REGION_END("outer");
	raise(SIGUSR1);
	s = probe_take();
	cr_assert_eq(probe_visits(s, "outer/handler"), 2);
	cr_assert_eq(probe_visits(s, "handler"), 1);
	cr_assert_eq(probe_all_lost(s), 0);
	pm_snapshot_free(s);
}

static void *only_handlers(void *unused)
{
	for (int i = 0; i < 5; i++)
		pthread_kill(pthread_self(), SIGUSR1);
	return unused;
}

Test(region_signals, the_first_use_in_a_handler_is_dropped_and_counted)
{
	struct pm_snapshot *s;
	pthread_t thread;

	on(SIGUSR1, handler, 0);
	raise(SIGUSR1); /* before the process is set up: nothing to count it in */
	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_END("main");
	pthread_create(&thread, NULL, only_handlers, NULL);
	pthread_join(thread, NULL);
	s = probe_take();
	cr_assert_eq(atomic_load(&handled), 6);
	cr_assert_eq(probe_visits(s, "handler"), 0);
	cr_assert_eq(s->header.lost_first_in_handler, 5);
	cr_assert_eq(s->thread_count, 1);
	pm_snapshot_free(s);
	raise(SIGUSR1);
	cr_assert_eq(probe_now("handler"), 1);
}

static void named_handler(int signal)
{
	char name[32];
	uint64_t number = atomic_fetch_add(&handled, 1);

	(void)signal;
	snprintf(name, sizeof(name), "handler %d", (int)(number % 50));
	perfmon_region_begin_name(name);
	PERFMON_REGION_BEGIN("in handler");
	PERFMON_REGION_END("in handler");
	perfmon_region_end_name(name);
}

/*
 * Handlers at a high rate interrupt everything: warm regions, new paths, new names, the
 * growth of tables, malloc. Every visit is counted, or counted as lost.
 */
static int second_timer; /* of ITIMER_VIRTUAL, in microseconds */
static void (*in_storm)(int);

/* The next signal comes some time after the handler of this one, however long it takes on a
 * slow machine: the program gets on. */
static void storm_handler(int signal)
{
	in_storm(signal);
	set_timer(50, 0);
}

static void storm(void (*function)(int), uint64_t visits_each)
{
	struct itimerval timer = {{0, 0}, {0, 0}};
	uint64_t expected = 0, seen;
	struct pm_snapshot *s;
	char name[32];
	int round;

	PERFMON_REGION_BEGIN("main"); /* an earlier handler is dropped, and not counted */
	PERFMON_REGION_END("main");
	atomic_store(&handled, 0);
	in_storm = function;
	on(SIGALRM, storm_handler, SA_RESTART);
	set_timer(50, 0);
	timer.it_value.tv_usec = timer.it_interval.tv_usec = second_timer;
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	for (round = 0; round < 3000; round++) {
		void *memory[8];

		snprintf(name, sizeof(name), "name %d", round % 1000);
		PERFMON_REGION_BEGIN("storm");
		perfmon_region_begin_name(name);
		for (int i = 0; i < 8; i++)
			memory[i] = malloc(100 + (size_t)(round * i) % 4000);
		for (int i = 0; i < 20; i++) {
			PERFMON_REGION_BEGIN("warm");
			PERFMON_REGION_END("warm");
		}
		for (int i = 0; i < 8; i++)
			free(memory[i]);
		perfmon_region_end_name(name);
		PERFMON_REGION_END("storm");
		expected += 22;
	}
	on(SIGALRM, SIG_IGN, 0); /* no handler sets the timer again */
	every(0);
	timer.it_value.tv_usec = 0;
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	s = probe_take();
	seen = probe_all_visits(s) + probe_all_lost(s);
	expected += 1 + visits_each * atomic_load(&handled);
	cr_assert_geq(atomic_load(&handled), 10, "only %llu signals",
		      (unsigned long long)atomic_load(&handled));
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	cr_assert_eq(seen, expected, "%llu of %llu visits, %llu of them lost",
		     (unsigned long long)seen, (unsigned long long)expected,
		     (unsigned long long)probe_all_lost(s));
	cr_assert_eq(probe_visits(s, "storm"), 3000, "the program's own are all there");
	for (uint32_t n = 2; n <= s->threads[0].node_count; n++) {
		const struct perfmon_profile_node *node =
			pm_snapshot_node(&s->threads[0], n);

		cr_assert_eq(node->defects, 0);
		cr_assert_eq(node->entered, pm_node_visits(node));
	}
	pm_snapshot_free(s);
}

#define TSAN_MASKS "this sanitizer calls handlers also while their signals are blocked"

Test(region_signals, a_storm_of_handlers_balances)
{
	NOT_UNDER_TSAN(TSAN_MASKS);
	storm(handler, 1);
}

Test(region_signals, a_storm_of_handlers_with_new_names_balances)
{
	NOT_UNDER_TSAN(TSAN_MASKS);
	storm(named_handler, 2);
}

/* Handlers that interrupt handlers. */
Test(region_signals, nested_handlers_balance)
{
	NOT_UNDER_TSAN(TSAN_MASKS);
	on(SIGVTALRM, handler, SA_RESTART);
	second_timer = 70;
	storm(handler, 1);
}

static atomic_bool stop;

static void *work(void *unused)
{
	for (int i = 0; !atomic_load(&stop); i++) {
		char name[32];

		PERFMON_REGION_BEGIN("work");
		snprintf(name, sizeof(name), "step %d", i % 300);
		perfmon_region_begin_name(name);
		free(malloc(1000));
		perfmon_region_end_name(name);
		PERFMON_REGION_END("work");
		if (i % 20 == 0)
			let_time_pass_ms(1); /* on few CPUs the others want to run, too */
	}
	return unused;
}

static void *brief(void *unused)
{
	PERFMON_REGION_BEGIN("brief");
	PERFMON_REGION_END("brief");
	return unused;
}

/* Process-wide signals land in any thread: set up or not, coming or going, while another
 * one forks. What would hang, hangs here. */
Test(region_signals, handlers_in_threads_that_come_go_and_fork)
{
	pthread_t threads[2];
	struct pm_snapshot *s;

	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_END("main");
	on(SIGALRM, named_handler, SA_RESTART);
	pthread_create(&threads[0], NULL, work, NULL);
	pthread_create(&threads[1], NULL, work, NULL);
	every(500);
	for (int i = 0; i < 80; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, brief, NULL);
		pthread_join(thread, NULL);
		if (i % 5 == 0) {
			int status;
			pid_t pid = fork();

			if (pid == 0) {
				brief(NULL);
				_exit(0);
			}
			cr_assert_gt(pid, 0);
			cr_assert_eq(waitpid(pid, &status, 0), pid);
			cr_assert_eq(status, 0);
		}
	}
	every(0);
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	s = probe_take();
	cr_assert_geq(probe_visits(s, "brief"), 70, "a few may be lost to handlers");
	pm_snapshot_free(s);
}

static void forking_handler(int signal)
{
	int saved = atomic_fetch_add(&handled, 1) % 8 != 0;
	pid_t pid;

	(void)signal;
	if (saved)
		return;
	pid = fork();
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

Test(region_signals, a_handler_may_fork_whatever_it_interrupts)
{
	struct pm_snapshot *s;
	char name[32];

	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_END("main");
	on(SIGALRM, forking_handler, SA_RESTART);
	every(1000);
	for (int i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
	every(0);
	s = probe_take();
	cr_assert_eq(probe_visits(s, "name 9999"), 1);
	cr_assert_eq(probe_all_visits(s), 10001);
	pm_snapshot_free(s);
}

/* Growing the profile is a call that signals interrupt. */
Test(region_signals, the_profile_grows_under_signals)
{
	struct pm_snapshot *s;
	char name[32];

	on(SIGALRM, handler, 0);
	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_END("main");
	/* A handler that has interrupted a region call unwinds, some 100,000 instructions: where
	 * time passes by instructions the program must get on in between. */
	every(getenv("PERFMON_TEST_SHORT") ? 1000 : 50);
	for (int i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
	every(0);
	s = probe_take();
	cr_assert_null(probe_note(s, "could not grow"));
	pm_snapshot_free(s);
}

/* --- jumps out of handlers ---------------------------------------------------------- */

static sigjmp_buf back;
static volatile sig_atomic_t may_jump, jumps;

static void need_prompt_signals(void)
{
#ifdef PM_TSAN
	cr_skip_test(
		"the thread sanitizer holds signals back until a call that may wait");
#endif
}

static void jump(int signal)
{
	(void)signal;
	if (!may_jump)
		return;
	may_jump = 0;
	jumps++;
	siglongjmp(back, 1);
}

/*
 * The visit of the call that is left is lost, and no other. Each round has one alarm: where a
 * signal takes longer than its period, those of a periodic timer would leave no time for calls.
 */
Test(region_signals, a_jump_out_of_a_region_call_costs_its_visit)
{
	enum { ROUNDS = 300 };
	static volatile uint64_t ended;
	const struct perfmon_profile_node *node;
	uint64_t lost;
	struct pm_snapshot *s;

	need_prompt_signals();
	on(SIGALRM, jump, 0);
	PERFMON_REGION_BEGIN("outer");
	for (volatile int round = 0; round < ROUNDS; round++) {
		PERFMON_REGION_BEGIN("round");
		if (!sigsetjmp(back, 1)) {
			for (may_jump = 1, set_timer(300, 0);; ended++) {
				PERFMON_REGION_BEGIN("x");
				PERFMON_REGION_END("x");
			}
		}
		PERFMON_REGION_END("round");
	}
	PERFMON_REGION_END("outer");
	for (int i = 0; i < 1000; i++) {
		PERFMON_REGION_BEGIN("after");
		PERFMON_REGION_END("after");
	}
	s = probe_take();
	lost = probe_sum(s, lost_other);
	cr_assert_eq(jumps, ROUNDS);
	cr_assert_gt(lost, 0, "no jump came out of a region call");
	cr_assert_leq(lost, ROUNDS);
	probe_expect(s, {"outer", 1}, {"outer/round", ROUNDS}, {"after", 1000});
	cr_assert_eq(probe_sum(s, lost_in_handler), 0);
	cr_assert_eq(probe_sum(s, unmatched_ends), 0);
	node = probe_node(s, &s->threads[0], "outer/round/x");
	cr_assert_leq(pm_node_visits(node), ended + ROUNDS);
	cr_assert_geq(pm_node_visits(node), ended);
	cr_assert_leq(node->entered, ended + ROUNDS);
	cr_assert(!(node->sequence & 1));
	pm_snapshot_free(s);
}

static atomic_bool names_enough;

static void *register_names(void *unused)
{
	char name[32];

	for (int i = 0; !atomic_load(&names_enough); i++) {
		snprintf(name, sizeof(name), "other %d", i % 1000);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
	return unused;
}

/* No other thread ever waits for what the jump left behind. */
Test(region_signals, a_jump_out_of_a_new_name_holds_nobody_up)
{
	/* In the guest time passes by instructions: a round makes many names there. */
	const int rounds = getenv("PERFMON_TEST_SHORT") ? 30 : 300;
	static volatile int number;
	pthread_t thread;
	sigset_t alarm;
	struct pm_snapshot *s;
	char name[32];

	need_prompt_signals();
	on(SIGALRM, jump, 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	pthread_create(&thread, NULL, register_names, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	PERFMON_REGION_BEGIN("outer");
	for (volatile int round = 0; round < rounds; round++) {
		if (!sigsetjmp(back, 1)) {
			for (may_jump = 1, set_timer(300, 0);; number++) {
				snprintf(name, sizeof(name), "name %d", number % 20000);
				perfmon_region_begin_name(name);
				perfmon_region_end_name(name);
			}
		}
	}
	PERFMON_REGION_END("outer");
	atomic_store(&names_enough, true);
	pthread_join(thread, NULL);
	perfmon_region_begin_name("after");
	perfmon_region_end_name("after");
	s = probe_take();
	cr_assert_eq(probe_visits(s, "outer"), 1);
	cr_assert_eq(probe_visits(s, "after"), 1);
	pm_snapshot_free(s);
}
