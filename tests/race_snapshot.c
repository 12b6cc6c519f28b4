/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snapshots against writers that run. A plain program that prints TAP, since Criterion
 * does not start under ThreadSanitizer, which is to see this one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/snapshot.h"
#include "profile_builder.h"

/* A sanitizer slows the reader more than a writer's pause. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SLOWER 20
#else
#define SLOWER 1
#endif

#define CHECK(condition)                                                                 \
	do {                                                                             \
		if (!(condition)) {                                                      \
			printf("not ok - %s:%d: %s\n", __func__, __LINE__, #condition);  \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

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
		double squares = node->time_squares + 49.0;

		ADD(node->entered, 1);
		PUT(node->sequence, sequence + 1);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
#if !defined(__SANITIZE_THREAD__) && !defined(__x86_64__)
		__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
		ADD(node->time_ticks, 7);
		__atomic_store(&node->time_squares, &squares, __ATOMIC_RELAXED);
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
	uint64_t n = pm_snapshot_visits(node);

	CHECK(node->time_ticks == 7 * n);
	CHECK(node->time_squares == 49.0 * (double)n);
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
	builder_header(&live)->state = PERFMON_STATE_RUNNING;
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

			CHECK(pm_snapshot_visits(node) >= last[t]);
			last[t] = pm_snapshot_visits(node);
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

/* Folds: what one record loses the other gains, under an odd fold_sequence. */
static void *folder(void *argument)
{
	struct perfmon_profile_node **nodes = argument;
	struct perfmon_profile_header *header = builder_header(&live);

	for (uint64_t n = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++) {
		uint64_t sequence = header->fold_sequence;

		__atomic_store_n(&header->fold_sequence, sequence + 1, __ATOMIC_SEQ_CST);
#if !defined(__SANITIZE_THREAD__) && !defined(__x86_64__)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
		for (int i = 0; i < 2; i++) {
			struct perfmon_profile_node *node = nodes[i];
			uint64_t visits = (n + (uint64_t)i) % 2 ? 1000 : 0;

			PUT(node->time_ticks, visits);
			PUT(node->sequence, 2 * visits);
		}
		__atomic_store_n(&header->fold_sequence, sequence + 2, __ATOMIC_RELEASE);
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
	await(&builder_header(&live)->fold_sequence);
	for (unsigned int round = 0; round < 5000 / SLOWER; round++) {
		struct pm_snapshot *s;
		uint64_t visits = 0, ticks = 0;

		CHECK(pm_snapshot_take(live.base, live.room, &s, NULL) == 0);
		for (uint32_t t = 0; t < 2; t++) {
			visits += pm_snapshot_visits(pm_snapshot_node(&s->threads[t], 2));
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

int main(void)
{
	puts("1..2");
	nodes_are_whole_while_writers_run();
	puts("ok 1 - nodes are whole while writers run");
	stop = 0;
	a_fold_is_seen_before_or_after();
	puts("ok 2 - a fold is seen before or after");
	return 0;
}
