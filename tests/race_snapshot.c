/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snapshots against writers that run. A plain program that prints TAP, since Criterion
 * does not start under ThreadSanitizer, which is to see this one.
 *
 * race_snapshot [SECONDS]: that long for each of the two with real regions
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/regions/threads/state.h"
#include "perfmon/region.h"
#include "core/text/diag.h"
#include "helpers.h"
#include "profile_builder.h"

/* A sanitizer slows the reader more than a writer's pause. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SLOWER 20
#else
#define SLOWER 1
#endif

/* Writers: each visit adds fixed amounts, so that whole nodes keep fixed ratios. */
#define WRITERS 2

static struct profile_builder live;
static int stop;

#define PUT(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#define ADD(field, n)	  PUT(field, __atomic_load_n(&(field), __ATOMIC_RELAXED) + (n))

/* Until another thread has written COUNTER. */
static void await(const uint64_t *counter)
{
	while (!__atomic_load_n(counter, __ATOMIC_RELAXED))
		sched_yield();
}

static void *writer(void *argument)
{
	struct perfmon_profile_node *node = argument;
	unsigned int pause = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t sequence = node->sequence;

		ADD(node->entered, 1);
		PUT(node->sequence, sequence + 1);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
#if !defined(__SANITIZE_THREAD__) && !defined(__x86_64__)
		__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
		ADD(node->time_ticks, 7);
		ADD(node->time_squares, 49);
		ADD(node->histogram[2], 1);
		ADD(node->histogram[47], 2);
		ADD(node->count[0].sum, 3);
		ADD(node->count[1].sum, 5);
		__atomic_store_n(&node->sequence, sequence + 2, __ATOMIC_RELEASE);
		/* The work between two visits of a short region. */
		for (pause = 0; pause < 50 * SLOWER; pause++)
			__asm__ __volatile__("" ::: "memory");
	}
	return NULL;
}

static void check_node(const struct perfmon_profile_node *node)
{
	uint64_t n = pm_node_visits(node);

	CHECK(node->time_ticks == 7 * n);
	CHECK(node->time_squares == 49 * n);
	CHECK(node->histogram[2] == (uint32_t)n);
	CHECK(node->histogram[47] == (uint32_t)(2 * n));
	CHECK(node->count[0].sum == 3 * n);
	CHECK(node->count[1].sum == 5 * n);
	CHECK(node->entered - n <= 1);
}

/* Row: DC-02 (a reader walks the nodes while threads write them) */
static void nodes_are_whole_while_writers_run(void)
{
	unsigned int rounds = getenv("PERFMON_TEST_LONG") ? 2000000 : 20000 / SLOWER;
	struct perfmon_profile_node *nodes[WRITERS];
	pthread_t threads[WRITERS];
	uint64_t torn = 0, seen = 0, last[WRITERS] = {0};

	builder_begin(&live, 1 << 18);
	builder_header(&live)->state = PERFMON_PROFILE_STATE_RUNNING;
	builder_plan(&live, 1, 2);
	builder_region(&live, "hot");
	for (int i = 0; i < WRITERS; i++) {
		struct perfmon_profile_thread *thread =
			builder_thread(&live, (uint32_t)i + 1, 1, 2);

		builder_nodes(&live, thread, 2);
		builder_node(&live, thread, 0, 0);
		nodes[i] = builder_node(&live, thread, 1, 1);
		nodes[i]->time_min = 7;
	}
	for (int i = 0; i < WRITERS; i++)
		CHECK(pthread_create(&threads[i], NULL, writer, nodes[i]) == 0);
	for (int i = 0; i < WRITERS; i++)
		await(&nodes[i]->sequence);
	for (unsigned int round = 0; round < rounds; round++) {
		struct pm_snapshot *s;

		CHECK(pm_snapshot_take(live.base, live.room, &s, NULL) == 0);
		CHECK(!s->partial);
		for (uint32_t t = 0; t < WRITERS; t++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(&s->threads[t], 2);

			CHECK(pm_node_visits(node) >= last[t]);
			last[t] = pm_node_visits(node);
			if (node->flags & PM_SNAPSHOT_TORN) {
				torn++;
			} else {
				check_node(node);
				seen++;
			}
		}
		pm_snapshot_free(s);
	}
	PUT(stop, 1);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	printf("# %llu nodes whole, %llu torn\n", (unsigned long long)seen,
	       (unsigned long long)torn);
	/* A writer may lose its CPU inside a node: how often depends on the machine. */
	CHECK(seen > rounds / 10);
	builder_end(&live);
}

/* Aggregates: what one record loses the other gains, under an odd aggregate_sequence. */
static void *folder(void *argument)
{
	struct perfmon_profile_node **nodes = argument;
	struct perfmon_profile_header *header = builder_header(&live);

	for (uint64_t n = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		uint64_t sequence = header->aggregate_sequence;

		__atomic_store_n(&header->aggregate_sequence, sequence + 1,
				 __ATOMIC_SEQ_CST);
#if !defined(__SANITIZE_THREAD__) && !defined(__x86_64__)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
		for (int i = 0; i < 2; i++) {
			struct perfmon_profile_node *node = nodes[i];
			uint64_t visits = (n + (uint64_t)i) % 2 ? 1000 : 0;

			PUT(node->time_ticks, visits);
			PUT(node->sequence, 2 * visits);
		}
		__atomic_store_n(&header->aggregate_sequence, sequence + 2,
				 __ATOMIC_RELEASE);
		for (unsigned int pause = 0; pause < 20000 * SLOWER; pause++)
			__asm__ __volatile__("" ::: "memory");
	}
	return NULL;
}

static void a_fold_is_seen_before_or_after(void)
{
	struct perfmon_profile_node *nodes[2];
	unsigned int whole = 0;
	pthread_t thread;

	builder_begin(&live, 1 << 18);
	builder_region(&live, "r");
	for (uint32_t i = 0; i < 2; i++) {
		struct perfmon_profile_thread *record =
			builder_thread(&live, i + 1, 1, 0);

		builder_nodes(&live, record, 2);
		builder_node(&live, record, 0, 0);
		nodes[i] = builder_node(&live, record, 1, 1);
	}
	nodes[0]->sequence = 2000;
	nodes[0]->time_ticks = 1000;
	CHECK(pthread_create(&thread, NULL, folder, nodes) == 0);
	await(&builder_header(&live)->aggregate_sequence);
	for (unsigned int round = 0; round < 5000 / SLOWER; round++) {
		struct pm_snapshot *s;
		uint64_t visits = 0, ticks = 0;

		CHECK(pm_snapshot_take(live.base, live.room, &s, NULL) == 0);
		for (uint32_t t = 0; t < 2; t++) {
			visits += pm_node_visits(pm_snapshot_node(&s->threads[t], 2));
			ticks += pm_snapshot_node(&s->threads[t], 2)->time_ticks;
		}
		if (!s->partial) {
			CHECK(visits == 1000);
			CHECK(ticks == 1000);
			whole++;
		}
		pm_snapshot_free(s);
	}
	PUT(stop, 1);
	pthread_join(thread, NULL);
	CHECK(whole > 500 / SLOWER);
	builder_end(&live);
}

/* --- real regions, on all CPUs
 * ---------------------------------------------------------- */

#define REAL_MOST 16
static int real_writers;
static double seconds = 1;

static void *real_writer(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		PERFMON_REGION_BEGIN("outer");
		for (int i = 0; i < 10; i++) {
			PERFMON_REGION_BEGIN("inner");
			PERFMON_REGION_END("inner");
		}
		PERFMON_REGION_END("outer");
	}
	return unused;
}

static void start_real_writers(pthread_t *threads)
{
	for (int i = 0; i < real_writers; i++)
		CHECK(pthread_create(&threads[i], NULL, real_writer, NULL) == 0);
}

/* What holds between the fields of a node that one thread writes, whatever the times
 * are. */
static void check_real(const struct perfmon_profile_node *node)
{
	uint64_t n = pm_node_visits(node), binned = node->spilled;
	int first = -1, last = -1;
	double mean;

	CHECK(node->entered - n <= 1);
	for (int i = 0; i < PERFMON_PROFILE_BINS; i++) {
		binned += node->histogram[i];
		if (!node->histogram[i])
			continue;
		last = i;
		if (first < 0)
			first = i;
	}
	CHECK(binned == n);
	if (!n) {
		CHECK(!node->time_ticks && node->time_squares == 0);
		CHECK(node->time_min == UINT64_MAX && !node->time_max);
		return;
	}
	CHECK(node->time_min <= node->time_max);
	CHECK(node->time_min * n <= node->time_ticks);
	CHECK(node->time_ticks <= node->time_max * n);
	CHECK(first == 63 - __builtin_clzll(node->time_min | 1));
	CHECK(last == 63 - __builtin_clzll(node->time_max | 1));
	mean = (double)node->time_ticks / (double)n;
	CHECK(pm_node_squares(node) >= (double)node->time_ticks * mean * (1 - 1e-6));
	CHECK(pm_node_squares(node) <=
	      (double)node->time_ticks * (double)node->time_max * (1 + 1e-6));
}

struct tally {
	uint64_t snapshots, whole, torn;
	uint64_t last[REAL_MOST][4]; /* visits by thread and node */
};

static void check_real_snapshot(const struct pm_snapshot *s, struct tally *tally)
{
	uint32_t met = 0;

	CHECK(!s->partial);
	tally->snapshots++;
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct pm_snapshot_thread *thread = &s->threads[t];
		uint32_t place = met;

		if (thread->record.state != PERFMON_PROFILE_THREAD_STATE_LIVE)
			continue;
		CHECK(met++ < (uint32_t)real_writers && thread->node_count <= 3);
		for (uint32_t n = 2; n <= thread->node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(thread, n);

			CHECK(pm_node_visits(node) >= tally->last[place][n]);
			tally->last[place][n] = pm_node_visits(node);
			if (node->flags & PM_SNAPSHOT_TORN) {
				tally->torn++;
			} else {
				check_real(node);
				tally->whole++;
			}
		}
	}
}

static uint64_t tally_visits(const struct tally *tally)
{
	uint64_t visits = 0;

	for (int i = 0; i < real_writers; i++)
		visits += tally->last[i][2] + tally->last[i][3];
	return visits;
}

static int is_enough(const struct tally *tally)
{
	return tally_visits(tally) > 0 && tally->snapshots > 10 &&
	       /* A writer that has lost its CPU inside of a node leaves that one marked. */
	       tally->whole > tally->torn;
}

/* A writer that waits for a CPU may not have begun when the time is over: it gets a minute
 * more, after which end_tally() says what is missing. */
static int goes_on(const struct tally *tally, double until)
{
	double over = now_s() - until;

	return over < 0 || (over < 60 && !is_enough(tally));
}

static void end_tally(const struct tally *tally)
{
	printf("# %d writers, %llu visits; %llu snapshots, %llu nodes whole, %llu torn\n",
	       real_writers, (unsigned long long)tally_visits(tally),
	       (unsigned long long)tally->snapshots, (unsigned long long)tally->whole,
	       (unsigned long long)tally->torn);
	CHECK(is_enough(tally));
}

/* Row: DC-02 (watched by another process) */
static void real_nodes_are_whole_from_outside(const char *path)
{
	struct pm_profile_file *file = NULL;
	struct pm_diag diag = {0};
	struct tally tally = {0};
	double until;
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (!child) {
		pthread_t threads[REAL_MOST];

		/* Not to be left behind where a check ends the test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (path)
			setenv("PERFMON_PROFILE", path, 1);
		start_real_writers(threads);
		pthread_join(threads[0], NULL);
		_exit(1);
	}
	CHECK(child > 0);
	while (pm_profile_file_open_pid(child, &file, &diag)) {
		if (diag.error != -ENOENT && diag.error != -ENODATA)
			printf("# %s\n", diag.text);
		CHECK(diag.error == -ENOENT || diag.error == -ENODATA);
		sched_yield();
	}
	if (path) {
		/* What somebody else may write is read, not mapped. */
		pm_profile_file_close(file);
		CHECK(!chmod(path, 0666));
		CHECK(!pm_profile_file_open(path, &file, NULL));
	}
	for (until = now_s() + seconds; goes_on(&tally, until);) {
		struct pm_snapshot *s;

		CHECK(pm_profile_file_snapshot(file, &s, &diag) == 0);
		CHECK(s->writer == PM_WRITER_RUNS);
		check_real_snapshot(s, &tally);
		pm_snapshot_free(s);
	}
	pm_profile_file_close(file);
	kill(child, SIGKILL);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status));
	end_tally(&tally);
}

static void real_nodes_are_whole_in_a_file(void)
{
	char folder[32], path[64];

	make_folder(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/profile", folder);
	real_nodes_are_whole_from_outside(path);
	remove_folder(folder);
}

/* In one process, for ThreadSanitizer to see both sides. */
static void real_nodes_are_whole_from_inside(void)
{
	pthread_t threads[REAL_MOST];
	struct tally tally = {0};
	struct pm_snapshot *s;
	double until;

	stop = 0;
	start_real_writers(threads);
	while (pm_regions_snapshot(&s, NULL))
		sched_yield();
	pm_snapshot_free(s);
	for (until = now_s() + seconds; goes_on(&tally, until);) {
		CHECK(pm_regions_snapshot(&s, NULL) == 0);
		check_real_snapshot(s, &tally);
		pm_snapshot_free(s);
	}
	PUT(stop, 1);
	for (int i = 0; i < real_writers; i++)
		pthread_join(threads[i], NULL);
	end_tally(&tally);
}

int main(int count, char **arguments)
{
	if (count > 1)
		seconds = strtod(arguments[1], NULL);
	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_OUTPUT", "none", 1);
	real_writers = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (real_writers < 2)
		real_writers = 2;
	if (real_writers > REAL_MOST)
		real_writers = REAL_MOST;
	puts("1..5");
	nodes_are_whole_while_writers_run();
	puts("ok 1 - nodes are whole while writers run");
	stop = 0;
	a_fold_is_seen_before_or_after();
	puts("ok 2 - a fold is seen before or after");
	stop = 0;
	real_nodes_are_whole_from_outside(NULL);
	puts("ok 3 - nodes of regions are whole, seen from another process");
	real_nodes_are_whole_in_a_file();
	puts("ok 4 - nodes of regions are whole, read from a file");
	real_nodes_are_whole_from_inside();
	puts("ok 5 - nodes of regions are whole, seen from the same process");
	return 0;
}
