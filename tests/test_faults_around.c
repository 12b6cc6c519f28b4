/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What goes on around a session, in several threads, with kernel calls that fail: logs,
 * the helper thread, threads that stop at overflows, spreads, the calls of perfmon2. Each
 * use of each call fails, in whatever thread, once and from there on. Afterwards results
 * that say nothing of it are right, a sentence goes with those that do, the session works
 * again and nothing is left behind. A count shows that no call of the kernel is left out.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>

#include "faults.h"
#include "helpers.h"
#include "messages.h"
#include "perfmon/log.h"
#include "perfmon/overflow.h"
#include "perfmon/perfmon2.h"
#include "perfmon/placement.h"
#include "perfmon/region.h"
#include "perfmon/sampling.h"
#include "perfmon/cpuwide.h"
#include "session_probe.h"

#define USES_MAX 40 /* of one call, that are made to fail one by one */

/* Shared with children. */
static struct fault {
	bool armed;
	bool for_good;
	enum pm_kernel_call call;
	unsigned int at;
	int error;
	pthread_t spared; /* with `spares`: the thread whose calls do not fail */
	bool spares;
	unsigned int uses[PM_CALLS]; /* atomic */
	bool hit;
} * fault;

static char where[200];

/* Threads of the library that nobody waits for call it while they end: what they find of
 * a fault that is over does not matter, as nothing is armed. */
#define BESIDE_THREADS __attribute__((no_sanitize("thread")))

BESIDE_THREADS static int fault_hook(enum pm_kernel_call call)
{
	unsigned int n;

	if (!__atomic_load_n(&fault->armed, __ATOMIC_ACQUIRE))
		return 0;
	n = __atomic_fetch_add(&fault->uses[call], 1, __ATOMIC_RELAXED);
	if (call != fault->call || n < fault->at || (n > fault->at && !fault->for_good) ||
	    (fault->spares && pthread_equal(pthread_self(), fault->spared)))
		return 0;
	__atomic_store_n(&fault->hit, true, __ATOMIC_RELAXED);
	return -fault->error;
}

/* Any thread may be the one. */
static bool was_hit(void)
{
	return __atomic_load_n(&fault->hit, __ATOMIC_RELAXED);
}

static void arm(void)
{
	__atomic_store_n(&fault->armed, true, __ATOMIC_RELEASE);
}

static void disarm(void)
{
	__atomic_store_n(&fault->armed, false, __ATOMIC_RELEASE);
}

static bool is_hit(enum pm_kernel_call call)
{
	return fault->call == call && was_hit();
}

/* A call on SESSION: what fails has its sentence. Returns whether it did not. */
static bool went_well(struct perfmon_session *session, int result)
{
	cr_assert(result >= 0 || session_message_of(session)[0], "%s: %d: no sentence",
		  where, result);
	return result >= 0;
}

/* Row: HW-11: a log is as complete as its calls say; the session counts on without it. */
static char log_path[64];

static void read_log(uint64_t wanted)
{
	struct perfmon_log_record record = {.size = sizeof(record)};
	struct perfmon_log *log = NULL;
	uint64_t samples = 0;
	char message[200];
	int n;

	arm();
	n = perfmon_log_open(&log, log_path, message, sizeof(message));
	cr_assert(!n || (was_hit() && message[0]), "%s: %d: %s", where, n, message);
	if (n) {
		disarm();
		return;
	}
	while ((n = perfmon_log_next(log, &record)) == 1)
		samples += record.type == PERFMON_LOG_TYPE_SAMPLE;
	disarm();
	cr_assert(!n || (was_hit() && log_message_of(log)[0]), "%s: %d: %s", where, n,
		  log_message_of(log));
	cr_assert(n || samples == wanted, "%s: %" PRIu64 " samples", where, samples);
	perfmon_log_close(log);
}

static void log_flow(void)
{
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_SAMPLE,
					    .short_reset = -UINT64_C(10)};
	struct perfmon_sampling sampling = {.size = sizeof(sampling)};
	struct perfmon_write first = {.value = -UINT64_C(10)};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	bool logs, well;

	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	OK(session, perfmon_sampling_set_up(session, &sampling));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	arm();
	well = logs = went_well(session, perfmon_sampling_log(session, log_path, -1, 0));
	if (logs) {
		went_well(session, perfmon_session_start(session));
		touch(0, 100);
		well &= went_well(session, perfmon_session_stop(session));
		well &= went_well(session,
				  perfmon_sampling_log_user(session, 1, "user", 4));
		well &= went_well(session, perfmon_sampling_log_flush(session));
		well &= went_well(session, perfmon_sampling_log_close(session));
	}
	disarm();
	/* What is said not to be an event is not ours to close: no place for another. */
	if (is_hit(PM_CALL_IOCTL) || is_hit(PM_CALL_MUNMAP)) {
		perfmon_session_close(session);
		return;
	}
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_STOPPED, "%s", where);
	cr_assert_eq(count_of(session, 0), -UINT64_C(10), "%s", where);
	if (well)
		read_log(10);
	/* It has told its error. */
	perfmon_sampling_log_close(session);
	OK(session, perfmon_sampling_tear_down(session));
	OK(session, perfmon_session_start(session));
	touch(0, 3);
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(count_of(session, 0) % 10, (-UINT64_C(10) + 3) % 10, "%s", where);
	perfmon_session_close(session);
}

/* Row: PM-31: a message comes to whoever waits for it, or asks. */
static void helper_flow(void)
{
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY,
					    .long_reset = -UINT64_C(10)};
	struct perfmon_write first = {.value = -UINT64_C(10)};
	struct perfmon_session *session = session_with(watch_event(0), 0);
	struct perfmon_message message;
	struct pollfd ready = {.events = POLLIN};

	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	arm();
	ready.fd = perfmon_overflow_descriptor(session);
	if (!went_well(session, ready.fd))
		goto done;
	if (!went_well(session,
		       perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0)) ||
	    !went_well(session, perfmon_session_start(session)))
		goto done;
	touch(0, 10);
	/* A helper that never hears of it, or cannot pass it on, cannot wake anybody. */
	if (!fault->for_good && fault->call != PM_CALL_WRITE &&
	    fault->call != PM_CALL_EPOLL_CTL)
		cr_assert_eq(poll(&ready, 1, 10000), 1, "%s", where);
	cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_MASKED, "%s", where);
	cr_assert_eq(perfmon_overflow_read(session, &message, 1, sizeof(message)), 1,
		     "%s", where);
	went_well(session, perfmon_overflow_restart(session));
done:
	disarm();
	OK(session, perfmon_session_detach(session));
	OK(session, perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	OK(session, perfmon_session_start(session));
	touch(0, 3);
	OK(session, perfmon_session_detach(session));
	cr_assert_eq(count_of(session, 0), -UINT64_C(7), "%s", where);
	perfmon_session_close(session);
}

/* Row: PM-34: a thread that waits for the restart goes on with it, and not before. */
static struct {
	pthread_barrier_t barrier;
	bool goes_on; /* atomic */
	pid_t tid;
	volatile char *pages;
} waiter;

static void *wait_at_overflow(void *unused)
{
	waiter.tid = own_tid();
	pthread_barrier_wait(&waiter.barrier);
	pthread_barrier_wait(&waiter.barrier);
	/* A breakpoint could not start again while its thread sleeps (Linux 6.17). */
	for (int i = 0; i < 12; i++)
		waiter.pages[4096 * i] = 1;
	__atomic_store_n(&waiter.goes_on, true, __ATOMIC_RELEASE);
	return unused;
}

static void block_flow(void)
{
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY,
					    .long_reset = -UINT64_C(1) << 40};
	struct perfmon_write first = {.value = -UINT64_C(10)};
	struct perfmon_session *session = session_with("page-faults", 0);
	pthread_t thread;
	void *pages = mmap(NULL, 12 * 4096, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, 12 * 4096, MADV_NOHUGEPAGE);
	waiter.pages = pages;
	waiter.goes_on = false;
	pthread_barrier_init(&waiter.barrier, NULL, 2);
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	arm();
	if (!went_well(session, perfmon_overflow_block(session, 0))) {
		disarm();
		OK(session, perfmon_overflow_block(session, 0));
	}
	disarm();
	cr_assert_eq(pthread_create(&thread, NULL, wait_at_overflow, NULL), 0);
	pthread_barrier_wait(&waiter.barrier);
	OK(session,
	   perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, waiter.tid));
	OK(session, perfmon_session_start(session));
	/* The one that wakes it up does not fail. */
	fault->spared = pthread_self();
	fault->spares = true;
	arm();
	pthread_barrier_wait(&waiter.barrier);
	while (perfmon_session_state(session) != PERFMON_STATE_MASKED)
		sched_yield();
	for (int i = 0; i < 50; i++) {
		cr_assert(!__atomic_load_n(&waiter.goes_on, __ATOMIC_ACQUIRE), "%s",
			  where);
		sched_yield();
	}
	OK(session, perfmon_overflow_restart(session));
	pthread_join(thread, NULL);
	disarm();
	fault->spares = false;
	cr_assert(waiter.goes_on);
	perfmon_session_close(session);
	munmap(pages, 12 * 4096);
}

/* Row: PM-12: the end of another's thread is noticed, by a mapped event or else by asking
 * for its number. */
static void other_flow(void)
{
	struct perfmon_session *session = session_with("dummy", 0);
	pid_t child = fork();
	bool attached;

	if (!child) {
		pause();
		_exit(0);
	}
	arm();
	attached = went_well(
		session,
		perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, child));
	cr_assert_eq(perfmon_session_state(session),
		     attached ? PERFMON_STATE_STOPPED : PERFMON_STATE_DETACHED, "%s",
		     where);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	perfmon_session_state(session);
	disarm();
	if (!is_hit(PM_CALL_IOCTL))
		cr_assert_eq(perfmon_session_state(session), PERFMON_STATE_DETACHED, "%s",
			     where);
	perfmon_session_close(session);
}

/* Row: PM-20: as the calls of a session, through errno. */
static bool pfm_went_well(int fd, int result)
{
	char message[300] = "";

	if (result >= 0)
		return true;
	cr_assert_neq(errno, 0, "%s", where);
	if (fd >= 0)
		pfm_message(fd, message, sizeof(message));
	return false;
}

/* A message; where the fault has come, it need not. */
static bool comes(struct pollfd *ready)
{
	for (int i = 0; i < 2000; i++) {
		bool hit = was_hit();

		if (poll(ready, 1, 5) == 1)
			return true;
		if (hit)
			return false;
	}
	return false;
}

static unsigned int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void *stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void perfmon2_flow(void)
{
	static pthread_t first;
	unsigned int threads;
	struct pfarg_pmc pmc = {.reg_flags = PFM_PMCFL_WRITES,
				.reg_value = (uintptr_t)&watched[0]};
	struct pfarg_pmd pmd = {.reg_num = 0};
	struct pfarg_pmd notifies = {.reg_flags = PFM_PMDFL_OVFL_NOTIFY,
				     .reg_value = -UINT64_C(5)};
	bool well = false, started = false;
	union pfarg_msg msgs[2];
	struct pollfd ready = {.events = POLLIN};
	int fd;

	/* With the first thread a sanitizer may start one of its own, which stays. */
	if (!first)
		cr_assert_eq(pthread_create(&first, NULL, stay, NULL), 0);
	threads = count_threads();
	arm();
	fd = pfm_create_context(0);
	if (pfm_went_well(-1, fd) &&
	    pfm_went_well(fd, pfm_write_pmcs(fd, &pmc, sizeof(pmc))) &&
	    pfm_went_well(fd, pfm_write_pmds(fd, &notifies, sizeof(notifies))) &&
	    pfm_went_well(fd, pfm_load_context(fd, 0, own_tid()))) {
		started = pfm_went_well(fd, pfm_start(fd, 0));
		touch(0, 5);
		/* A message that cannot be passed on is not there. */
		ready.fd = fd;
		if (started && comes(&ready))
			cr_assert(pfm_read_msg(fd, msgs, sizeof(msgs)) ==
						  (ssize_t)sizeof(msgs[0]) ||
					  was_hit(),
				  "%s", where);
		else
			cr_assert(!started || was_hit(), "%s", where);
		well = started && pfm_went_well(fd, pfm_stop(fd, 0));
		if (well && pfm_went_well(fd, pfm_read_pmds(fd, &pmd, sizeof(pmd))))
			cr_assert_eq(pmd.reg_value, 0, "%s", where);
		well &= pfm_went_well(fd, pfm_unload_context(fd, 0));
	}
	disarm();
	if (well && !is_hit(PM_CALL_IOCTL)) {
		pmd.reg_value = 77;
		cr_assert_eq(pfm_read_pmds(fd, &pmd, sizeof(pmd)), 0, "%s", where);
		cr_assert_eq(pmd.reg_value, 0, "%s", where);
	}
	if (fd >= 0)
		cr_assert_eq(close(fd), 0);
	/* The watcher ends with the last context, when it sees one end. */
	fd = pfm_create_context(0);
	cr_assert_geq(fd, 0, "%s", where);
	close(fd);
	for (int i = 0; count_threads() > threads && i < 10000; i++)
		poll(NULL, 0, 1);
	/* One that had just been joined may have been among those before. */
	cr_assert_leq(count_threads(), threads, "%s", where);
}

/* Row: HW-03: what was refused on a CPU is said, and is never a zero. */
static int count_whole(const struct perfmon_cpuwide_value *value, void *argument)
{
	uint64_t *counted = argument;

	cr_assert(value->counted || value->refused || value->missing, "%s", where);
	*counted += value->counted;
	return 0;
}

static void spread_flow(void)
{
	struct perfmon_placement *place = NULL;
	struct perfmon_cpuwide *cpuwide = NULL;
	uint64_t counted = 0;
	char message[300];
	int n;

	cr_assert_eq(perfmon_placement_parse(&place, "pu:0", NULL, 0), 0);
	arm();
	n = perfmon_cpuwide_open(&cpuwide, place, "cpu-clock,dummy", 0, message,
				 sizeof(message));
	cr_assert_eq(n == 0, cpuwide != NULL, "%s: %d", where, n);
	cr_assert(n >= 0 || message[0], "%s: %d: no sentence", where, n);
	if (cpuwide) {
		perfmon_cpuwide_start(cpuwide);
		perfmon_cpuwide_stop(cpuwide);
		n = perfmon_cpuwide_read(cpuwide, "machine", 0, count_whole, &counted);
		cr_assert(n || counted == 2 || was_hit(), "%s", where);
	}
	disarm();
	if (cpuwide) {
		counted = 0;
		if (!is_hit(PM_CALL_IOCTL)) {
			cr_assert_eq(perfmon_cpuwide_start(cpuwide), 0, "%s", where);
			cr_assert_eq(perfmon_cpuwide_stop(cpuwide), 0, "%s", where);
		}
		n = perfmon_cpuwide_read(cpuwide, "machine", 0, count_whole, &counted);
		cr_assert_eq(n, 0, "%s: %d", where, n);
		cr_assert_eq(counted, 2, "%s", where);
	}
	perfmon_cpuwide_close(cpuwide);
	perfmon_placement_free(place);
}

/* A helper thread near the CPU that it serves. */
static void cpu_flow(void)
{
	/* Idle time, too. */
	struct perfmon_session_options options = {.size = sizeof(options),
						  .scope = PERFMON_SCOPE_CPU,
						  .flags = PERFMON_SESSION_ALL_MODES};
	struct perfmon_overflow overflow = {.size = sizeof(overflow),
					    .flags = PERFMON_OVERFLOW_NOTIFY,
					    .long_reset = -UINT64_C(1000000)};
	struct perfmon_write first = {.value = -UINT64_C(1000000)};
	struct perfmon_session *session;
	struct pollfd ready = {.events = POLLIN};

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	OK(session, perfmon_session_add_events(session, "cpu-clock"));
	OK(session, perfmon_overflow_program(session, 0, &overflow));
	OK(session, perfmon_session_write(session, &first, 1, sizeof(first), 0));
	arm();
	ready.fd = perfmon_overflow_descriptor(session);
	if (went_well(session, ready.fd) &&
	    went_well(session,
		      perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, 0)) &&
	    went_well(session, perfmon_session_start(session)) && !fault->for_good &&
	    fault->call != PM_CALL_WRITE && fault->call != PM_CALL_EPOLL_CTL) {
		cr_assert_eq(poll(&ready, 1, 10000), 1, "%s", where);
		/* The helper thread has the lock until it has been bound, too. */
		perfmon_session_state(session);
	}
	disarm();
	perfmon_session_close(session);
}

/* What regions do with failures: tests/test_region_less.c. */
static void region_flow(void)
{
	char profile[96];
	int status;
	pid_t child = fork();

	if (!child) {
		setenv("PERFMON_OUTPUT", "relative", 1);
		setenv("PERFMON_FORMAT", "none", 1);
		setenv("PERFMON_PROFILE", log_path, 1);
		arm();
		PERFMON_REGION_BEGIN("outer");
		touch(0, 1);
		PERFMON_REGION_END("outer");
		disarm();
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	disarm();
	/* Each program has a file of its own. */
	snprintf(profile, sizeof(profile), "%s.%d", log_path, child);
	unlink(profile);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "%s: %d", where, status);
}

static const struct flow {
	const char *name;
	void (*run)(void);
	bool counts_cpus;
	bool counts_writes;  /* by a breakpoint, which must fire */
	unsigned int one_in; /* so many of the errors, in a short test */
} flows[] = {
	{"log", log_flow, false, true, ALIKE_IN},
	{"helper thread", helper_flow, false, true, ALIKE_IN},
	{"stopped thread", block_flow, false, false, ALIKE_IN},
	/* Which waits for threads to end. */
	{"perfmon2", perfmon2_flow, false, true, 60 * ALIKE_IN},
	{"cpuwide", spread_flow, true, false, ALIKE_IN},
	{"helper thread of a CPU", cpu_flow, true, false, ALIKE_IN},
	{"region", region_flow, false, false, 0},
	{"another's thread", other_flow, false, false, ALIKE_IN},
};

#define FLOWS (sizeof(flows) / sizeof(flows[0]))

/* --- going through them ------------------------------------------------------------- */

static bool may_count_cpus(void)
{
	struct perfmon_session_options options = {.size = sizeof(options),
						  .scope = PERFMON_SCOPE_CPU};
	struct perfmon_session *session;
	int n;

	cr_assert_eq(perfmon_session_create(&session, &options, NULL, 0), 0);
	OK(session, perfmon_session_add_events(session, "cpu-clock"));
	n = perfmon_session_attach(session, PERFMON_TARGET_KIND_CPU, 0);
	cr_assert(!n || n == -EACCES || n == -EPERM, "%d", n);
	perfmon_session_close(session);
	return !n;
}

static void run_flow(const struct flow *flow, enum pm_kernel_call call, unsigned int at,
		     int error, bool for_good)
{
	bool not_ours =
		call == PM_CALL_IOCTL || call == PM_CALL_CLOSE || call == PM_CALL_MUNMAP;
	/* The sets that a watcher of contexts is told not to have: the first, and the one
	 * that it made instead. They are not ours to close. */
	int sets = call == PM_CALL_EPOLL_WAIT && flow->run == perfmon2_flow ? 2 : 0;
	struct mappings before, left;

	snprintf(where, sizeof(where), "%s: %s (use %u) fails%s with %s", flow->name,
		 call < PM_CALLS ? kinds[call].name : "nothing", at,
		 for_good ? " from then on" : "", strerror(error));
	memset(fault, 0, sizeof(*fault));
	fault->call = call;
	fault->at = at;
	fault->error = error;
	fault->for_good = for_good;
	learn_descriptors();
	before = mappings_beside(NULL);
	flow->run();
	left = mappings_beside(&before);
	cr_assert(call == PM_CALL_MUNMAP || !left.count, "%s: mappings are left", where);
	while (left.count--)
		munmap((void *)left.at[left.count],
		       left.end[left.count] - left.at[left.count]);
	cr_assert(not_ours || new_descriptors(false) <= sets,
		  "%s: %d descriptors are left", where, new_descriptors(false));
	new_descriptors(true);
}

static void set_up(void)
{
	fault = mmap(NULL, sizeof(*fault), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(fault, MAP_FAILED);
	strcpy(log_path, "/tmp/perfmon-faults-XXXXXX");
	close(mkstemp(log_path));
	pm_kernel_fault = fault_hook;
}

BESIDE_THREADS static void clean_up(void)
{
	pm_kernel_fault = NULL;
	unlink(log_path);
}

/* Skips where breakpoints are refused, and holds one open: the kernel patches itself
 * for the first and the last. */
static struct perfmon_session *keep_breakpoint(void)
{
	struct perfmon_session *session = session_with(watch_event(3), 0);
	int n = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0);

	if (n == -EACCES || n == -EPERM || n == -ENOSPC || n == -EOPNOTSUPP) {
		clean_up();
		cr_skip_test("%s", session_message_of(session));
	}
	OK(session, n);
	return session;
}

/* Skips where none fires. */
static void need_breakpoints(void)
{
	if (breakpoints_fire())
		return;
	clean_up();
	cr_skip_test("%s", BREAKPOINTS_SILENT);
}

static void check_flow(const struct flow *flow)
{
	unsigned int uses[PM_CALLS];

	run_flow(flow, PM_CALLS, 0, 0, false); /* what is learnt once is known then */
	run_flow(flow, PM_CALLS, 0, 0, false);
	memcpy(uses, fault->uses, sizeof(uses));
	for (int call = 0; call < PM_CALLS; call++) {
		cr_assert(!uses[call] || kinds[call].name, "%s: call %d", flow->name,
			  call);
		for (unsigned int at = 0; at < uses[call] && at < USES_MAX; at++) {
			for (int e = 0; uses[call] && kinds[call].errors[e]; e++) {
				int error = kinds[call].errors[e];
				bool thorough = getenv("PERFMON_TEST_LONG");

				if (!thorough &&
				    (at * 20 + (unsigned int)e) % flow->one_in)
					continue;
				run_flow(flow, call, at, error, false);
				/* No kernel interrupts for good. */
				if (error != EINTR &&
				    (thorough || (!at && flow->one_in == ALIKE_IN)))
					run_flow(flow, call, at, error, true);
			}
		}
	}
}

TestSuite(around, .init = set_up, .fini = clean_up);

#define FLOW_TEST(test, number)                                                          \
	Test(around, test)                                                               \
	{                                                                                \
		struct perfmon_session *kept;                                            \
                                                                                         \
		if (flows[number].counts_writes)                                         \
			need_breakpoints();                                              \
		kept = keep_breakpoint();                                                \
		if (flows[number].counts_cpus && !may_count_cpus()) {                    \
			perfmon_session_close(kept);                                     \
			clean_up();                                                      \
			cr_skip_test("whole CPUs may not be counted here");              \
		}                                                                        \
		check_flow(&flows[number]);                                              \
		perfmon_session_close(kept);                                             \
	}

FLOW_TEST(of_a_log, 0)
FLOW_TEST(of_the_helper_thread, 1)
FLOW_TEST(of_a_thread_that_waits, 2)
FLOW_TEST(of_perfmon2, 3)
FLOW_TEST(of_a_spread, 4)
FLOW_TEST(of_a_cpu, 5)
FLOW_TEST(of_anothers_thread, 7)

static void add_uses(unsigned int *uses)
{
	for (int call = 0; call < PM_CALLS; call++)
		uses[call] += fault->uses[call];
}

/* Each call that the library makes is in one of the flows above, where it is made to
 * fail, or it is named here with the test that does so. */
Test(around, no_call_is_left_out)
{
	need_breakpoints();
	static const char *const elsewhere[PM_CALLS] = {
		[PM_CALL_GETSOCKNAME] =
			"of perfmon2's descriptors alone: tests/test_perfmon2.c",
		[PM_CALL_PIDFD_OPEN] =
			"of processes alone: tests/test_overflow.c, test_stat.sh",
		[PM_CALL_RENAME] = "of reports alone: tests/test_report.c",
		[PM_CALL_MKDIR] = "of folders alone: tests/test_report.c",
		[PM_CALL_FCHMOD] = "of reports alone: tests/test_report.c",
		[PM_CALL_FCHOWN] = "of reports alone: tests/test_report.c",
	};
	struct perfmon_session *kept = keep_breakpoint();
	unsigned int uses[PM_CALLS] = {0};
	bool counts_cpus = may_count_cpus();

	for (size_t f = 0; f < FLOWS; f++) {
		if (flows[f].counts_cpus && !counts_cpus)
			continue;
		run_flow(&flows[f], PM_CALLS, 0, 0, false);
		add_uses(uses);
	}
	/* A restart may come before the thread has begun to wait. */
	for (int i = 0; i < 100 && !uses[PM_CALL_FUTEX]; i++) {
		run_flow(&flows[2], PM_CALLS, 0, 0, false);
		add_uses(uses);
	}
	/* What is only called where another call has failed. */
	run_flow(&flows[7], PM_CALL_MMAP, 0, EPERM, true);
	add_uses(uses);
	run_flow(&flows[6], PM_CALL_FALLOCATE, 0, ENOSPC, true);
	add_uses(uses);
	for (int call = 0; call < PM_CALLS; call++) {
		if (call == PM_CALL_SCHED_SETAFFINITY && !counts_cpus)
			continue;
		cr_expect_eq(!uses[call], elsewhere[call] != NULL, "call %d: %u uses",
			     call, uses[call]);
	}
	perfmon_session_close(kept);
}
