/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thousand threads with a thousand paths each, at the same time: the profile holds
 * them, another process reads them, and its size grows by the same for each thread and is
 * bounded for each path. A plain program that prints TAP; what it takes is said.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/profile/profile.h"
#include "perfmon/region.h"
#include "core/text/diag.h"
#include "helpers.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FEWER 10
#else
#define FEWER 1
#endif

#define PATHS 1000

/* --- the program that is watched --- */

static int paths;
static pthread_barrier_t all_visited;
static int *ready; /* shared with the parent */

/* Half of them below the first, half beside it. */
static void *visit_all(void *unused)
{
	char name[32];

	perfmon_region_begin_name("path 0");
	for (int i = 1; i < paths; i++) {
		snprintf(name, sizeof(name), "path %d", i);
		if (i == paths / 2)
			perfmon_region_end_name("path 0");
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
	pthread_barrier_wait(&all_visited);
	for (;;)
		pause();
	return unused;
}

static void be_watched(int threads)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	pthread_barrier_init(&all_visited, NULL, (unsigned int)threads + 1);
	for (int i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attributes, visit_all, NULL)) {
			__atomic_store_n(ready, -1, __ATOMIC_RELEASE);
			_exit(1);
		}
	}
	pthread_barrier_wait(&all_visited);
	__atomic_store_n(ready, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

/* --- */

static void check_all(const struct pm_snapshot *s, int threads)
{
	CHECK(!s->partial);
	CHECK(s->thread_count == (uint32_t)threads);
	CHECK(s->region_count == (uint32_t)paths);
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct pm_snapshot_thread *thread = &s->threads[t];

		CHECK(thread->node_count == (uint32_t)paths + 1);
		CHECK(!thread->record.lost_no_memory);
		for (uint32_t n = 2; n <= thread->node_count; n++)
			CHECK(pm_node_visits(pm_snapshot_node(thread, n)) == 1);
	}
}

/* Bytes used by the profile of THREADS threads with PATHS_EACH paths; 0 if the machine
 * does not allow so many threads. */
static uint64_t measure(int threads, int paths_each)
{
	struct pm_profile_file *file;
	struct pm_diag diag = {0};
	struct pm_snapshot *s;
	double begun = now_s(), visited, read;
	uint64_t used;
	int state;
	pid_t child;

	paths = paths_each;
	*ready = 0;
	fflush(NULL);
	child = fork();
	if (!child)
		be_watched(threads);
	CHECK(child > 0);
	WAIT_UNTIL((state = __atomic_load_n(ready, __ATOMIC_ACQUIRE)) != 0);
	visited = now_s();
	if (state < 0) {
		CHECK(waitpid(child, NULL, 0) == child);
		return 0;
	}
	if (pm_profile_file_open_pid(child, &file, &diag) ||
	    pm_profile_file_snapshot(file, &s, &diag))
		printf("# %s\n", diag.text);
	CHECK(!diag.error);
	read = now_s();
	check_all(s, threads);
	used = s->header.used;
	printf("# %d threads with %d paths: %.1f MB; %.0f ns to visit and %.0f ns to "
	       "read each "
	       "path\n",
	       threads, paths, (double)used / 1e6,
	       (visited - begun) * 1e9 / threads / paths,
	       (read - visited) * 1e9 / threads / paths);
	pm_snapshot_free(s);
	pm_profile_file_close(file);
	kill(child, SIGKILL);
	CHECK(waitpid(child, NULL, 0) == child);
	return used;
}

/* Row: DC-02 */
int main(void)
{
	int threads = 1000 / (getenv("PERFMON_TEST_SHORT") ? 10 : FEWER);
	uint64_t used[3], quarter, most;

	puts("1..2");
	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_OUTPUT", "none", 1);
	ready = mmap(NULL, sizeof(*ready), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(ready != MAP_FAILED);
	used[2] = measure(threads, PATHS);
	if (!used[2]) {
		puts("ok 1 - # SKIP the machine does not allow a thousand threads");
		puts("ok 2 - # SKIP the machine does not allow a thousand threads");
		return 0;
	}
	puts("ok 1 - the profile holds a thousand paths in each of many threads");
	used[1] = measure(threads / 2, PATHS);
	used[0] = measure(threads / 4, PATHS);
	CHECK(used[2] - used[1] == 2 * (used[1] - used[0]));
	/* Nodes come in records that double: there are less than twice as many as paths,
	 * and sixteen. */
	quarter = measure(threads, PATHS / 4);
	most = (uint64_t)threads *
		       (sizeof(struct perfmon_profile_thread) +
			16 * sizeof(struct perfmon_profile_nodes) +
			(2 * PATHS + 16) * sizeof(struct perfmon_profile_node)) +
	       (1 << 20);
	CHECK(quarter < used[2] / 2 + (1 << 20) && used[2] < most);
	puts("ok 2 - its size grows with paths times threads");
	return 0;
}
