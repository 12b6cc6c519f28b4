/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program of several threads is killed at random moments of its work. It keeps a record
 * of its own, in a shared mapping, of what it has done: the profile must agree with it.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "helpers.h"
#include "kept_probe.h"

TestSuite(kept_kill, .init = kept_begin, .fini = kept_end, .timeout = 600);

#define KILLS	200
#define THREADS 4
#define REGIONS 6 /* below each other, by pairs */

/* What a thread says it has done. */
struct probe {
	uint32_t tid;
	uint32_t doing; /* 1 + the region that it is beginning, in, or ending; 0: between
			 */
	uint64_t ended[REGIONS];
	uint64_t threads; /* that it has seen come and go */
} __attribute__((aligned(64)));

static struct probe *probees;
static int worker_numbers[THREADS];

#define SAY(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#define ORDER()		  __atomic_signal_fence(__ATOMIC_SEQ_CST)

static const char *const names[REGIONS] = {"a", "b", "c", "d", "e", "f"};

static void visit(struct probe *probe, int region)
{
	SAY(probe->doing, (uint32_t)region + 1);
	ORDER();
	perfmon_region_begin_name(names[region]);
	ORDER();
	perfmon_region_end_name(names[region]);
	ORDER();
	SAY(probe->ended[region], probe->ended[region] + 1);
	ORDER();
	SAY(probe->doing, 0);
	ORDER();
}

static void *short_lived(void *unused)
{
	PERFMON_REGION_BEGIN("passing");
	PERFMON_REGION_END("passing");
	return unused;
}

static void *work(void *argument)
{
	int number = *(int *)argument;
	struct probe *probe = &probees[number];
	unsigned int seed = (unsigned int)number;

	SAY(probe->tid, (uint32_t)own_tid());
	perfmon_region_begin_name("worker");
	for (unsigned int round = 1;; round++) {
		for (int i = 0; i < 50; i++)
			visit(probe, rand_r(&seed) % REGIONS);
		/* Others are summed meanwhile, and the profile grows. */
		if (!number && round % 64 == 0) {
			pthread_t thread;
			char name[32];

			if (!pthread_create(&thread, NULL, short_lived, NULL))
				pthread_join(thread, NULL);
			SAY(probe->threads, probe->threads + 1);
			snprintf(name, sizeof(name), "number %u", round % 6400);
			perfmon_region_begin_name(name);
			perfmon_region_end_name(name);
		}
	}
	return NULL;
}

static void start_work(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		worker_numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &worker_numbers[i]))
			_exit(1);
	}
	for (;;)
		pause();
}

static struct {
	unsigned int open, torn, unsaid;
	uint64_t visits;
} seen;

/* One thread's region: what the profile has, what the thread has said. */
static void check_region(const struct pm_snapshot *s,
			 const struct pm_snapshot_thread *thread,
			 const struct probe *probe, int region)
{
	char path[16];
	const struct perfmon_profile_node *node;
	bool doing = probe->doing == (uint32_t)region + 1;
	uint64_t said = probe->ended[region], visits, entered;

	snprintf(path, sizeof(path), "worker/%s", names[region]);
	node = probe_node(s, thread, path);
	visits = node ? pm_node_visits(node) : 0;
	entered = node ? node->entered : 0;
	seen.visits += visits;
	if (!doing) {
		cr_assert_eq(visits, said, "%s: %llu visits, %llu were made", path,
			     (unsigned long long)visits, (unsigned long long)said);
		cr_assert_eq(entered, visits);
		cr_assert(!node || !(node->flags & PM_SNAPSHOT_TORN));
		return;
	}
	/* Not begun; begun, which shows; or ended, and it could not say so any more. */
	cr_assert(visits == said || visits == said + 1, "%s: %llu visits, %llu were made",
		  path, (unsigned long long)visits, (unsigned long long)said);
	cr_assert(entered == visits || entered == visits + 1);
	if (visits > said) {
		cr_assert_eq(entered, visits);
		seen.unsaid++;
	}
	seen.open += entered > visits;
	if (node && node->flags & PM_SNAPSHOT_TORN) {
		cr_assert_eq(entered, visits + 1, "only a visit in flight is marked");
		seen.torn++;
	}
}

static void check_thread(const struct pm_snapshot *s, const struct probe *probe)
{
	const struct pm_snapshot_thread *thread = NULL;

	for (uint32_t t = 0; t < s->thread_count; t++)
		if (s->threads[t].record.tid == probe->tid &&
		    s->threads[t].record.state == PERFMON_PROFILE_THREAD_STATE_LIVE)
			thread = &s->threads[t];
	if (!thread) {
		for (int i = 0; i < REGIONS; i++)
			cr_assert_eq(probe->ended[i], 0);
		return;
	}
	for (int i = 0; i < REGIONS; i++)
		check_region(s, thread, probe, i);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Until all threads are at work; then it is killed up to four milliseconds later, or, one
 * time in eight, not even that far. */
static void kill_at_random(pid_t pid)
{
	bool early = random_next() % 8 == 0;

	for (int i = 0; !early && i < THREADS; i++)
		WAIT_UNTIL(__atomic_load_n(&probees[i].ended[0], __ATOMIC_RELAXED));
	let_time_pass_us((unsigned int)(random_next() % 4000));
	cr_assert_eq(kill(pid, SIGKILL), 0);
}

static void crash(int number)
{
	struct pm_profile_file *file;
	struct pm_diag diag = {0};
	struct pm_snapshot *s;
	char path[128];
	int status;
	pid_t pid;

	memset(probees, 0, THREADS * sizeof(*probees));
	snprintf(path, sizeof(path), "%s/%d", folder, number);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setenv("PERFMON_PROFILE", path, 1);
		start_work();
	}
	cr_assert_gt(pid, 0);
	kill_at_random(pid);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* It may not have come as far as its profile's header. */
	if (pm_profile_file_open(path, &file, &diag)) {
		for (int i = 0; i < THREADS; i++)
			cr_assert_eq(probees[i].ended[0], 0, "%s", diag.text);
		return;
	}
	cr_assert_eq(pm_profile_file_snapshot(file, &s, &diag), 0, "%s", diag.text);
	cr_assert_eq(s->writer, PM_WRITER_GONE);
	/* Killed in the middle of adding a thread's results to those that have ended,
	 * this cannot be told apart, and is said. */
	cr_assert(!s->partial || strstr(s->problem, "threads"), "%s", s->problem);
	for (int i = 0; i < THREADS; i++)
		check_thread(s, &probees[i]);
	pm_snapshot_free(s);
	pm_profile_file_close(file);
	unlink(path);
}

/* Row: DC-02 */
Test(kept_kill, the_profile_has_what_the_program_did)
{
	probees = mmap(NULL, THREADS * sizeof(*probees), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(probees != MAP_FAILED);
	setenv("PERFMON_EVENTS", "none", 1);
	for (int i = 0; i < (getenv("PERFMON_TEST_SHORT") ? KILLS / 5 : KILLS); i++)
		crash(i);
	cr_log_info(
		"%u visits were open, of which %u were being written down; %u had ended "
		"unsaid; %llu in all",
		seen.open, seen.torn, seen.unsaid, (unsigned long long)seen.visits);
	cr_assert_gt(seen.visits, 0);
	munmap(probees, THREADS * sizeof(*probees));
}
