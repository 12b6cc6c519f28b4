/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cost of a pair if the profile is a file, if another process takes snapshots of it
 * as fast as it can, and both; on a disk that writes everything back all the time; and
 * the cost of a path among few and many.
 */
#include <errno.h>
#include <perfmon/inline.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static const char *in_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder ? folder : "/tmp";
}

__attribute__((noinline)) static void pairs(int n)
{
	for (int i = 0; i < n; i++) {
		PERFMON_REGION_BEGIN("pair");
		PERFMON_REGION_END("pair");
	}
}

/* --- watched --- */

/*
 * Becomes bench/watcher, which is beside this program, even where libtool keeps it apart.
 */
static void become_watcher(pid_t pid)
{
	char self[4096], path[4200], number[16];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[length < 0 ? 0 : length] = '\0';
	snprintf(number, sizeof(number), "%d", (int)pid);
	for (int i = 0; i < 2 && (slash = strrchr(self, '/')); i++) {
		*slash = '\0';
		snprintf(path, sizeof(path), "%s/watcher", self);
		execl(path, path, number, (char *)NULL);
	}
	_exit(127);
}

/* Starts the watcher, and waits until it has taken a snapshot. */
static pid_t start_watcher(void)
{
	pid_t self = getpid(), watcher;
	int ends[2];
	char byte;

	if (pipe(ends))
		return -1;
	fflush(NULL);
	watcher = fork();
	if (!watcher) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		become_watcher(self);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1) {
		bench_say("bench/watcher does not run");
		exit(1);
	}
	close(ends[0]);
	return watcher;
}

static void stop_watcher(pid_t watcher)
{
	int status;

	kill(watcher, SIGTERM);
	waitpid(watcher, &status, 0);
	if (!WIFSIGNALED(status)) {
		bench_say("the watcher ended with status %d", WEXITSTATUS(status));
		exit(1);
	}
}

static int pair(const char *mode)
{
	bool watched = strstr(mode, "watched");
	char name[64];
	pid_t watcher = 0;
	double cost;

	pairs(1);
	if (watched)
		watcher = start_watcher();
	cost = bench_user(pairs, NULL, 2000);
	if (watched)
		stop_watcher(watcher);
	snprintf(name, sizeof(name), "region.%s", mode);
	bench_print(name, cost, bench_unit());
	return 0;
}

/* --- written back --- */

#define SAMPLES 4000000
#define MANY	64     /* pairs in a sample, where a tick is too long for one */
#define BINS	100000 /* one tick each; the last has all longer ones */

static uint32_t bin[BINS];
static uint64_t longest;

/* Takes COUNT samples of PER pairs each, in ticks. */
static void take_samples(int count, int per)
{
	memset(bin, 0, sizeof(bin));
	longest = 0;
	pairs(1000);
	for (int i = 0; i < count; i++) {
		uint64_t ticks = perfmon_arch_timestamp();

		pairs(per);
		ticks = perfmon_arch_timestamp() - ticks;
		bin[ticks < BINS ? ticks : BINS - 1]++;
		if (ticks > longest)
			longest = ticks;
	}
}

/* Returns the length that SHARE of COUNT samples do not exceed, in ticks. */
static double percentile(int count, double share)
{
	uint64_t above = 0;
	int i = BINS;

	while (i > 0 && (double)above <= share * count)
		above += bin[--i];
	return i;
}

static double tick_ns(void)
{
	uint64_t ns = bench_now_ns(), ticks = perfmon_arch_timestamp();

	while (bench_now_ns() - ns < 20000000)
		;
	return (double)(bench_now_ns() - ns) / (double)(perfmon_arch_timestamp() - ticks);
}

/* Writes all files back without a pause, and counts how often. */
static pid_t start_sync(uint64_t *syncs)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	while (!child) {
		sync();
		__atomic_add_fetch(syncs, 1, __ATOMIC_RELAXED);
	}
	return child;
}

/* Prints the median, the 99.9th percentile and the maximum in ns, and how often
 * everything was written back meanwhile, for the parent to read. */
static int written_back(void)
{
	uint64_t *syncs = mmap(NULL, sizeof(*syncs), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = syncs == MAP_FAILED ? -1 : start_sync(syncs);
	double tick = tick_ns();

	if (child < 0)
		return 1;
	take_samples(SAMPLES / MANY, MANY);
	printf("%g ", tick * percentile(SAMPLES / MANY, 0.5) / MANY);
	take_samples(SAMPLES, 1);
	printf("%g %g %g\n", tick * percentile(SAMPLES, 0.001), tick * (double)longest,
	       (double)__atomic_load_n(syncs, __ATOMIC_RELAXED));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

/* --- paths --- */

static struct perfmon_region *regions;
static int paths_each;
static pthread_barrier_t all;

static void *make_paths(void *unused)
{
	for (int i = 0; i < paths_each; i++) {
		bench_begin(&regions[i]);
		bench_end(&regions[i]);
	}
	/* All threads exist at the same time. */
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&all);
	return unused;
}

/* Measures THREADS threads with PATHS paths each, by path. */
static int paths(const char *mode)
{
	int threads = atoi(mode), started = 0;
	pthread_attr_t attributes;
	pthread_t *ids;
	uint64_t before;
	char name[64];

	paths_each = atoi(strchr(mode, 'x') + 1);
	regions = calloc((size_t)paths_each, sizeof(*regions));
	ids = calloc((size_t)threads, sizeof(*ids));
	for (int i = 0; i < paths_each; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		regions[i].name = strdup(name);
		/* The cost of a name is not part of the cost of a path. */
		bench_begin(&regions[i]);
		bench_end(&regions[i]);
	}
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	pthread_barrier_init(&all, NULL, (unsigned int)threads + 1);
	before = bench_threads_now();
	while (started < threads &&
	       !pthread_create(&ids[started], &attributes, make_paths, NULL))
		started++;
	if (started < threads) {
		bench_say("only %d threads of %d", started, threads);
		return 1;
	}
	pthread_barrier_wait(&all);
	printf("%g\n", (double)(bench_threads_now() - before) / threads / paths_each);
	pthread_barrier_wait(&all);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

/* --- */

static int again(const char *mode, bool kept, const char *events)
{
	char path[256];
	int status;

	snprintf(path, sizeof(path), "%s/perfmon-bench.%d", in_folder(), (int)getpid());
	unlink(path);
	if (kept)
		setenv("PERFMON_PROFILE", path, 1);
	else
		unsetenv("PERFMON_PROFILE");
	status = bench_again(mode, events);
	unlink(path);
	return status;
}

/* Does the same, and reads COUNT numbers from its output. */
static int numbers(const char *mode, bool kept, double *number, int count)
{
	int own = dup(STDOUT_FILENO), status, ends[2];
	FILE *input;

	if (own < 0 || pipe(ends))
		return 1;
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	status = again(mode, kept, "none");
	dup2(own, STDOUT_FILENO);
	close(own);
	input = fdopen(ends[0], "r");
	for (int i = 0; i < count && !status; i++)
		status = fscanf(input, "%lf", &number[i]) != 1;
	fclose(input);
	return status;
}

/* The two alternate, since the machine may be shared. The result is the median ratio. */
#define REPEATS 3
static int compare_written_back(void)
{
	double memory[4], kept[4], ratio[REPEATS], late[2][REPEATS], most = 0, syncs = 0;

	for (int i = 0; i < REPEATS; i++) {
		if (numbers("synced", false, memory, 4) ||
		    numbers("synced", true, kept, 4))
			return 1;
		ratio[i] = kept[0] / memory[0];
		late[0][i] = memory[1];
		late[1][i] = kept[1];
		if (kept[2] > most)
			most = kept[2];
		syncs += kept[3];
	}
	bench_print("region.kept.synced.over.memory", bench_median(ratio, REPEATS),
		    "ratio");
	bench_print("region.memory.synced.p999", bench_median(late[0], REPEATS), "ns");
	bench_print("region.kept.synced.p999", bench_median(late[1], REPEATS), "ns");
	bench_print("region.kept.synced.most", most, "ns");
	bench_say("everything was written back %g times while the file was written",
		  syncs);
	return 0;
}

static int compare_paths(void)
{
	double few, many_paths, many_threads;

	if (numbers("16x250", false, &few, 1) ||
	    numbers("16x4000", false, &many_paths, 1) ||
	    numbers("256x250", false, &many_threads, 1))
		return 1;
	bench_print("region.path", few, bench_unit());
	bench_print("region.path.many.over.few", many_paths / few, "ratio");
	bench_print("region.path.threads.over.few", many_threads / few, "ratio");
	if (bench_counts_instructions())
		return 0;
	if (numbers("1000x1000", true, &many_threads, 1))
		return 1;
	bench_print("region.path.million", many_threads, "ns");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *mode;
		bool kept;
		int counters;
	} modes[] = {
		{"kept.pair.0", true, 0},	  {"kept.pair.4", true, 4},
		{"watched.pair.0", false, 0},	  {"watched.pair.4", false, 4},
		{"kept_watched.pair.0", true, 0}, {"kept_watched.pair.4", true, 4},
	};
	int worst = 0;

	if (argc > 1)
		return strchr(argv[1], 'x')	    ? paths(argv[1])
		       : !strcmp(argv[1], "synced") ? written_back()
						    : pair(argv[1]);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!modes[i].counters || bench_counts_instructions())
			worst |= again(modes[i].mode, modes[i].kept,
				       bench_events(modes[i].counters));
	/* The guest's disk is memory. */
	if (!bench_counts_instructions())
		worst |= compare_written_back();
	return worst | compare_paths();
}
