/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report of very many ranks without MPI: the tree of libperfmon-mpi, all of whose ranks this process
 * is in turn. Each rank adds its own profile and the sums of its children, and packs the sum.
 *
 *   bench_merge [RANKS [PATHS]]
 *
 * The time is that of the ranks which wait for each other, as if each had a CPU: a rank begins to add
 * the sum of a child when both are there. It is printed for fewer ranks, too, since it is to grow as
 * the tree's levels do. Memory is what a rank holds at most, in profiles of one rank.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <perfmon/merge.h>
#include <perfmon/profile_layout.h>
#include <perfmon/region.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define RANKS_OF_HOST 64

static struct perfmon_profile_header *profile; /* of this process, and then of any rank */
static size_t profile_size;

/* What a rank hands to its parent. */
struct handed {
	void *bytes;
	size_t size;
	double ready_ns;
	int adds; /* one after the other, until it was ready */
};

static double held_most; /* bytes that a rank has */

static void check(int err, const char *what)
{
	if (!err)
		return;
	bench_say("%s: %s", what, strerror(-err));
	exit(1);
}

/* CPU time of this thread: others do not disturb it. */
static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void become(int rank, int ranks)
{
	profile->rank = rank;
	profile->ranks = ranks;
	profile->pid = 1000 + (uint32_t)rank;
	snprintf(profile->host, sizeof(profile->host), "node%d", rank / RANKS_OF_HOST);
	snprintf(profile->boot_id, sizeof(profile->boot_id), "boot-of-node%d",
		 rank / RANKS_OF_HOST);
}

/* RANK adds what it has and what its children hand over. Returns the merge. */
static struct perfmon_merge *gather(int rank, int ranks, struct handed *out);

static void hand_over(int rank, int ranks, struct handed *out)
{
	struct perfmon_merge *merge;
	double begin;

	/* A leaf sends its profile. */
	if (rank & 1 || rank + 1 >= ranks) {
		become(rank, ranks);
		*out = (struct handed){malloc(profile_size), profile_size, 0, 0};
		if (!out->bytes)
			check(-ENOMEM, "profile");
		memcpy(out->bytes, profile, profile_size);
		return;
	}
	merge = gather(rank, ranks, out);
	begin = cpu_ns();
	check(perfmon_merge_pack_sum(merge, &out->bytes, &out->size, 0), "pack");
	out->ready_ns += cpu_ns() - begin;
	perfmon_merge_free(merge);
}

static double add(struct perfmon_merge *merge, const void *bytes, size_t size)
{
	double begin = cpu_ns();

	check(perfmon_merge_add(merge, bytes, size), "add");
	return cpu_ns() - begin;
}

static struct perfmon_merge *gather(int rank, int ranks, struct handed *out)
{
	struct perfmon_merge *merge;
	size_t before = mallinfo2().uordblks, held;

	check(perfmon_merge_create(&merge, NULL, 0), "create");
	become(rank, ranks);
	*out = (struct handed){.ready_ns = add(merge, profile, profile_size), .adds = 1};
	for (int step = 1; !(rank & step) && rank + step < ranks; step *= 2) {
		struct handed child;

		hand_over(rank + step, ranks, &child);
		if (child.ready_ns > out->ready_ns)
			out->ready_ns = child.ready_ns;
		if (child.adds > out->adds)
			out->adds = child.adds;
		out->ready_ns += add(merge, child.bytes, child.size);
		out->adds++;
		held = mallinfo2().uordblks - before;
		if ((double)held > held_most)
			held_most = (double)held;
		free(child.bytes);
	}
	return merge;
}

/* Returns the time of one of the adds which wait for each other. */
static double simulate(int ranks, int paths)
{
	double begin = cpu_ns(), printed, all;
	struct perfmon_merge *merge;
	struct handed root;
	char name[64];

	held_most = 0;
	merge = gather(0, ranks, &root);
	all = cpu_ns() - begin;
	begin = cpu_ns();
	check(perfmon_merge_print(merge), "print");
	printed = cpu_ns() - begin;
	perfmon_merge_free(merge);
	bench_say("%d ranks, %d paths: %d adds one after the other, %.1f ms; all ranks' "
		  "work "
		  "%.2f s; report %.2f s; at most %.1f profiles of %.0f kB",
		  ranks, paths, root.adds, root.ready_ns / 1e6, all / 1e9, printed / 1e9,
		  held_most / (double)profile_size, (double)profile_size / 1000);
	snprintf(name, sizeof(name), "merge.adds.%d", ranks);
	bench_print(name, root.adds, "adds");
	snprintf(name, sizeof(name), "merge.tree.%d", ranks);
	bench_print(name, root.ready_ns, "ns");
	snprintf(name, sizeof(name), "merge.report.%d", ranks);
	bench_print(name, printed, "ns");
	snprintf(name, sizeof(name), "merge.held.%d", ranks);
	bench_print(name, held_most / (double)profile_size, "profiles");
	return root.ready_ns / root.adds;
}

int main(int argc, char **argv)
{
	/* The guest emulates each instruction. */
	int most = argc > 1 ? atoi(argv[1]) : bench_counts_instructions() ? 8 : 1024;
	int paths = argc > 2 ? atoi(argv[2]) : 200;
	char output[] = "/tmp/perfmon-bench.XXXXXX";
	double few = 0, many;
	void *packed;
	char name[32];

	if (most < 1 || paths < 1) {
		bench_say("usage: bench_merge [RANKS [PATHS]]");
		return 2;
	}
	setenv("PERFMON_EVENTS", "none", 1);
	close(mkstemp(output));
	setenv("PERFMON_OUTPUT", output, 1);
	for (int i = 0; i < paths; i++) {
		snprintf(name, sizeof(name), "region%d", i);
		perfmon_region_begin_name(name);
		perfmon_region_end_name(name);
	}
	check(perfmon_merge_pack(&packed, &profile_size, 0), "pack");
	profile = packed;
	for (int ranks = 8; ranks < most; ranks *= 8) {
		many = simulate(ranks, paths);
		few = few > 0 ? few : many;
	}
	many = simulate(most, paths);
	if (few > 0)
		bench_print("merge.add.many.over.few", many / few, "ratio");
	unlink(output);
	free(packed);
	check(perfmon_merge_done(), "done");
	return 0;
}
