/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes large profiles: of one process with many threads, in the file PATH, or, if PATH
 * is a directory, of that many ranks with one thread each. Every thread has all of PATHS
 * paths, four below each, with COUNTERS counters. Each may be a sum of two that had
 * ended, on a CPU of its own.
 *
 *   profile_make PATH THREADS-OR-RANKS PATHS COUNTERS [folded]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../profile_builder.h"

static bool folded;

static void thread_make(struct profile_builder *b, uint32_t number, uint32_t paths,
			uint32_t counters)
{
	struct perfmon_profile_thread *thread =
		builder_thread(b, 5000 + number, 1, counters);

	if (folded) {
		thread->state = PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
		thread->aggregated = 2;
		thread->tid = 0;
		thread->cpus[number % PERFMON_PROFILE_CPUS_MAX / 64] = UINT64_C(1)
								       << number % 64;
	}
	builder_nodes(b, thread, paths + 1);
	builder_node(b, thread, 0, 0);
	for (uint32_t p = 1; p <= paths; p++) {
		struct perfmon_profile_node *node =
			builder_node(b, thread, (p + 2) / 4 + (p < 2), p);

		if (folded)
			node->threads = 2;
		for (uint32_t v = 0; v < 3; v++)
			builder_visit(node, 1000000 + 1000 * v + number);
		for (uint32_t c = 0; c < counters; c++)
			node->count[c].sum = 1000 * (c + 1) + p;
	}
}

static void write_out(struct profile_builder *b, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file || fwrite(b->base, builder_used(b), 1, file) != 1 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void make(const char *path, uint32_t threads, uint32_t paths, uint32_t counters,
		 int32_t rank, int32_t ranks)
{
	size_t node = sizeof(struct perfmon_profile_node) +
		      counters * sizeof(struct perfmon_profile_count);
	struct profile_builder b;
	char name[32];

	builder_begin(&b, 65536 + 256 * (size_t)paths +
				  threads * (1024 + (paths + 1) * node));
	builder_header(&b)->pid = 1000 + (uint32_t)(rank < 0 ? 0 : rank);
	builder_header(&b)->rank = rank;
	builder_header(&b)->ranks = ranks;
	builder_plan(&b, 1, counters);
	for (uint32_t p = 1; p <= paths; p++) {
		snprintf(name, sizeof(name), "region%u", p);
		builder_region(&b, name);
	}
	for (uint32_t t = 0; t < threads; t++)
		thread_make(&b, t + (uint32_t)(rank < 0 ? 0 : rank), paths, counters);
	write_out(&b, path);
	builder_end(&b);
}

int main(int argc, char **argv)
{
	uint32_t many, paths, counters;
	struct stat st;
	char path[4096];

	folded = argc == 6 && !strcmp(argv[5], "folded");
	if (argc != 5 + folded) {
		fprintf(stderr,
			"usage: profile_make PATH THREADS-OR-RANKS PATHS COUNTERS "
			"[folded]\n");
		return 2;
	}
	many = (uint32_t)atoi(argv[2]);
	paths = (uint32_t)atoi(argv[3]);
	counters = (uint32_t)atoi(argv[4]);
	if (stat(argv[1], &st) || !S_ISDIR(st.st_mode)) {
		make(argv[1], many, paths, counters, -1, 0);
		return 0;
	}
	for (uint32_t rank = 0; rank < many; rank++) {
		snprintf(path, sizeof(path), "%s/perfmon.%u.profile", argv[1], rank);
		make(path, 1, paths, counters, (int32_t)rank, (int32_t)many);
	}
	return 0;
}
