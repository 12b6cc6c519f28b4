/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forks while locks are held: the table of core/kernel/locks.h, the locks of objects, and those
 * of a liburcu that the program uses, too. */
#include "helpers.h"
#include "region_probe.h"
#include "session_probe.h"
#include "bounds.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#ifdef HAVE_URCU_BP
#include <urcu-bp.h>
#endif

#include "compat/compat.h"
#include "core/events/events.h"
#include "core/kernel/locks.h"
#include "core/samples/log_internal.h"
#include "core/session/calls.h"
#include "core/session/core/core.h"
#include "core/session/overflow/stopped.h"
#include "core/session/targets/targets.h"
#include "core/topology/topology.h"
#include "perfmon/format.h"
#include "perfmon/perfmon2.h"
#include "perfmon/report.h"
#include "messages.h"

TestSuite(locks, .init = probe_quiet, .timeout = 240);

/* A child that hangs is ended, which is its parent's failure. */
#define CHILD_SECONDS 30

static int no_sample(void *state, const struct perfmon_overflow_sample *sample)
{
	(void)state;
	(void)sample;
	return 0;
}

/* Calls that take each lock of the table. */
static int use_all(void)
{
	static struct perfmon_session *notified;
	struct perfmon_format format = {
		.size = sizeof(format), .name = "of-a-child", .sample = no_sample};
	struct probe_values values = {0};
	struct pm_topology *topology;
	struct pm_event_list *list;
	struct pm_diag diag = {0};
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), err;

	PERFMON_REGION_BEGIN("in a child");
	perfmon_region_begin_name("by name");
	perfmon_region_end_name("by name");
	PERFMON_REGION_END("in a child");
	CHILD_CHECK(probe_read("in a child", &values) == 0);
	CHILD_CHECK(perfmon_report_write(fd, 0) == 0);
	close(fd);
	CHILD_CHECK(pm_topology_get(&topology, &diag) == 0);
	pm_topology_put(topology);
	/* Another thread may have had it registered when this process was forked. */
	err = perfmon_format_register(&format);
	CHILD_CHECK(err == 0 || err == -EEXIST);
	CHILD_CHECK(perfmon_format_unregister(format.name) == 0);
	CHILD_CHECK(pm_events_parse("PERF_COUNT_SW_PAGE_FAULTS", 0, &list, &diag) == 0);
	pm_events_free(list);
	if (!notified)
		notified = session_with("dummy", 0);
	CHILD_CHECK(pm_stopped_watch(notified, 3, 0) == 0);
	fd = pfm_create_context(0, NULL, NULL, 0);
	CHILD_CHECK(fd >= 0);
	close(fd);
	return 0;
}

static int child_uses_all(void)
{
	alarm(CHILD_SECONDS);
	for (int i = 0; i < PM_LOCKS; i++) {
		pm_locks_take(i);
		pm_locks_release(i);
	}
	return use_all();
}

/* A thread that holds something while another forks. */
struct holder {
	void (*take)(void);
	void (*release)(void);
	atomic_int state; /* 1: held, 2: about to fork */
};

static void *hold(void *argument)
{
	struct holder *holder = argument;

	holder->take();
	atomic_store(&holder->state, 1);
	WAIT_UNTIL(atomic_load(&holder->state) == 2);
	/* Long enough for fork() to find it held, mostly: at worst nothing is shown. */
	let_time_pass_ms(20);
	holder->release();
	return NULL;
}

static int fork_while_held(void (*take)(void), void (*release)(void), int (*child)(void))
{
	struct holder holder = {.take = take, .release = release};
	pthread_t thread;
	int status;

	cr_assert_eq(pthread_create(&thread, NULL, hold, &holder), 0);
	WAIT_UNTIL(atomic_load(&holder.state) == 1);
	atomic_store(&holder.state, 2);
	status = probe_child(child);
	pthread_join(thread, NULL);
	return status;
}

static const char *const names[PM_LOCKS] = {
#define NAME(name, what) [name] = #name ": " what,
	PM_LOCKS_ALL(NAME)
#undef NAME
};

static enum pm_lock_name which;

static void take_one(void)
{
	pm_locks_take(which);
}

static void release_one(void)
{
	pm_locks_release(which);
}

#define SANITIZED_FORKS                                                                  \
	"a sanitizer leaves its allocator locked, or its threads known, in a forked "    \
	"child"

/* Row: DC-02 */
Test(locks, a_fork_waits_for_each_of_the_table)
{
	NOT_SANITIZED(SANITIZED_FORKS);
	use_all();
	for (int i = 0; i < PM_LOCKS; i++) {
		which = i;
		cr_expect_eq(fork_while_held(take_one, release_one, child_uses_all), 0,
			     "%s", names[i]);
	}
	cr_assert_eq(use_all(), 0);
}

/* The order of the table is that of the library's own calls. */
static atomic_bool stop;

static void *use_until_stopped(void *unused)
{
	while (!atomic_load(&stop) && !use_all())
		let_time_pass_us(500);
	return unused;
}

Test(locks, a_fork_and_calls_do_not_wait_for_each_other)
{
	NOT_SANITIZED(SANITIZED_FORKS);
	const int forks = getenv("PERFMON_TEST_SHORT") ? 8 : 30;
	pthread_t thread;

	/* In one thread: in two, one would find the other's format registered. */
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	pthread_create(&thread, NULL, use_until_stopped, NULL);
	for (int i = 0; i < forks; i++) {
		let_time_pass_ms(1);
		cr_assert_eq(probe_child(child_uses_all), 0);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
}

/* --- a handler that forks ----------------------------------------------------------- */

static atomic_int handler_status;

static int child_ends(void)
{
	alarm(CHILD_SECONDS);
	PERFMON_REGION_BEGIN("nothing is counted");
	PERFMON_REGION_END("nothing is counted");
	return 0;
}

static void fork_in_handler(int number)
{
	(void)number;
	atomic_store(&handler_status, probe_child(child_ends));
}

Test(locks, a_handler_forks_that_interrupted_a_holder)
{
	signal(SIGUSR1, fork_in_handler);
	PERFMON_REGION_BEGIN("first");
	PERFMON_REGION_END("first");
	for (int i = 0; i < PM_LOCKS; i++) {
		atomic_store(&handler_status, -1);
		pm_locks_take(i);
		raise(SIGUSR1);
		pm_locks_release(i);
		cr_expect_eq(atomic_load(&handler_status), 0, "%s", names[i]);
	}
	cr_assert_eq(probe_child(child_uses_all), 0);
}

static sigset_t mask_before;

static int mask_is_as_before(void)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (int i = 1; i < NSIG; i++)
		CHILD_CHECK(sigismember(&now, i) == sigismember(&mask_before, i));
	return 0;
}

Test(locks, a_fork_leaves_the_mask_of_signals)
{
	PERFMON_REGION_BEGIN("open");
	sigaddset(&mask_before, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &mask_before, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	cr_assert_eq(probe_child(mask_is_as_before), 0);
	cr_assert_eq(mask_is_as_before(), 0);
	PERFMON_REGION_END("open");
}

/* --- the locks of objects ----------------------------------------------------------- */

static struct perfmon_session *session;
static struct pm2_context *context;
static struct pm_log *log_there;
static int context_fd;

static void take_session(void)
{
	pm_session_enter(session);
}
static void release_session(void)
{
	pm_session_leave(session, 0);
}
static int child_closes_session(void)
{
	alarm(CHILD_SECONDS);
	CHILD_CHECK(perfmon_session_start(session) == -ECHILD);
	CHILD_CHECK(session_message_of(session));
	perfmon_session_close(session);
	return 0;
}

static void take_log(void)
{
	pthread_mutex_lock(&log_there->lock);
}
static void release_log(void)
{
	pthread_mutex_unlock(&log_there->lock);
}
static int child_forgets_log(void)
{
	alarm(CHILD_SECONDS);
	pm_log_forget(log_there);
	return 0;
}

static void take_context(void)
{
	context = pm2_context_enter(context_fd, PM2_CALL);
}
static void release_context(void)
{
	pm2_context_leave(context, 0);
}
static int child_leaves_context(void)
{
	alarm(CHILD_SECONDS);
	CHILD_CHECK(pfm_start(context_fd, 0, NULL) == -1 && errno == ECHILD);
	close(context_fd);
	return use_all();
}

/* The list of exclusive sessions has a lock that only its file knows: it is taken all the
 * time. */
static pid_t claimed;
static void *claim_until_stopped(void *unused)
{
	while (!atomic_load(&stop)) {
		pm_exclusive_claim(session, claimed);
		pm_exclusive_release(session);
	}
	return unused;
}
static int child_claims(void)
{
	struct perfmon_session_options options = {.size = sizeof(options)};
	struct perfmon_session *own;

	alarm(CHILD_SECONDS);
	CHILD_CHECK(perfmon_session_create(&own, &options, NULL, 0) == 0);
	CHILD_CHECK(pm_exclusive_claim(own, claimed) == 0);
	pm_exclusive_release(own);
	perfmon_session_close(own);
	return 0;
}

Test(locks, a_child_takes_no_lock_of_an_object)
{
	NOT_SANITIZED(SANITIZED_FORKS);
	static const struct perf_event_attr attr = {.size = sizeof(attr),
						    .type = PERF_TYPE_SOFTWARE};
	struct pm_log_event event = {.attr = &attr, .name = "cpu-clock"};
	struct perfmon_session_options options = {.size = sizeof(options)};
	char path[] = "/tmp/perfmon-locks-XXXXXX";
	struct pm_diag diag = {0};
	pthread_t thread;
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	unlink(path);
	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	context_fd = pfm_create_context(0, NULL, NULL, 0);
	cr_assert_geq(context_fd, 0);
	cr_assert_eq(pm_log_create(&log_there, NULL, fd, &event, 1, NULL, &diag), 0, "%s",
		     diag.text);
	cr_expect_eq(fork_while_held(take_session, release_session, child_closes_session),
		     0);
	cr_expect_eq(fork_while_held(take_context, release_context, child_leaves_context),
		     0);
	cr_expect_eq(fork_while_held(take_log, release_log, child_forgets_log), 0);
	claimed = getpid();
	pthread_create(&thread, NULL, claim_until_stopped, NULL);
	for (int i = 0; i < 30; i++)
		cr_expect_eq(probe_child(child_claims), 0);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	cr_assert_eq(pm_log_close(log_there), 0);
	close(context_fd);
	perfmon_session_close(session);
	close(fd);
}

/* --- a program that uses liburcu ---------------------------------------------------- */

#ifdef HAVE_URCU_BP
/* What urcu-bp asks of a program that forks. Switched on by a test, since a handler is
 * registered for good. */
static bool urcu_early, urcu_late;

static void urcu_before(void)
{
	urcu_bp_call_rcu_before_fork();
	urcu_bp_before_fork();
}
static void urcu_parent(void)
{
	urcu_bp_after_fork_parent();
	urcu_bp_call_rcu_after_fork_parent();
}
static void urcu_child(void)
{
	urcu_bp_after_fork_child();
	urcu_bp_call_rcu_after_fork_child();
}

#define HANDLER(when, what)                                                              \
	static void when##_##what(void)                                                  \
	{                                                                                \
		if (urcu_##when)                                                         \
			urcu_##what();                                                   \
	}
HANDLER(early, before)
HANDLER(early, parent)
HANDLER(early, child)
HANDLER(late, before)
HANDLER(late, parent)
HANDLER(late, child)

/* Before the library's own. */
__attribute__((constructor(101))) static void register_early(void)
{
	pthread_atfork(early_before, early_parent, early_child);
}

static void *read_and_wait(void *unused)
{
	while (!atomic_load(&stop)) {
		urcu_bp_read_lock();
		urcu_bp_read_unlock();
		urcu_bp_synchronize_rcu();
		let_time_pass_us(100);
	}
	return unused;
}

static void *short_thread(void *unused)
{
	PERFMON_REGION_BEGIN("short");
	PERFMON_REGION_END("short");
	return unused;
}

static void *short_threads(void *unused)
{
	while (!atomic_load(&stop)) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, short_thread, NULL))
			pthread_join(thread, NULL);
	}
	return unused;
}

static int child_uses_both(void)
{
	alarm(CHILD_SECONDS);
	urcu_bp_synchronize_rcu();
	CHILD_CHECK(use_all() == 0);
	short_thread(NULL);
	urcu_bp_synchronize_rcu();
	return 0;
}

/* By hand, as a program without atfork handlers does. */
static int forked_by_hand(void)
{
	int status = 0;
	pid_t pid;

	urcu_before();
	pid = fork();
	if (!pid) {
		urcu_child();
		_exit(child_uses_both());
	}
	urcu_parent();
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

Test(locks, a_program_uses_the_same_liburcu)
{
	pthread_t threads[2];

	NOT_SANITIZED(SANITIZED_FORKS);
	pthread_atfork(late_before, late_parent, late_child);
	pthread_create(&threads[0], NULL, read_and_wait, NULL);
	pthread_create(&threads[1], NULL, short_threads, NULL);
	PERFMON_REGION_BEGIN("open");
	for (int i = 0; i < 10; i++) {
		urcu_early = true;
		cr_assert_eq(probe_child(child_uses_both), 0);
		urcu_early = false;
		urcu_late = true;
		cr_assert_eq(probe_child(child_uses_both), 0);
		urcu_late = false;
		cr_assert_eq(forked_by_hand(), 0);
	}
	PERFMON_REGION_END("open");
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(probe_now("open"), 1);
}

static int child_of_a_reader(void)
{
	alarm(CHILD_SECONDS);
	CHILD_CHECK(use_all() == 0);
	urcu_bp_read_unlock();
	return 0;
}

/* A grace period would wait for the forking thread itself. */
Test(locks, a_fork_and_an_end_of_a_thread_inside_a_read_side_section)
{
	pthread_t thread;

	urcu_bp_read_lock();
	pthread_create(&thread, NULL, short_thread, NULL);
	pthread_join(thread, NULL);
	urcu_late = true;
	cr_assert_eq(probe_child(child_of_a_reader), 0);
	urcu_late = false;
	urcu_bp_read_unlock();
}
#else
Test(locks, a_program_uses_the_same_liburcu)
{
	cr_skip_test("there is no liburcu-bp");
}
#endif
