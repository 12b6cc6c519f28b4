/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two profiles, DIRECTORY/0 and DIRECTORY/1, of ranks in which numbers cannot be trusted
 * in several ways, for the page that shows them:
 *
 *   outer: a visit of 10^9 instructions, of which 150 are its own against a bias of 40
 *   inner: the rest of these
 *   some: 4 of 40 visits are measured in rank 0, none of 40 in rank 1
 *   none: no visit is measured
 *
 * In rank 1 no cycles are counted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../profile_builder.h"

static struct perfmon_profile_node *strided(struct profile_builder *b,
					    struct perfmon_profile_thread *thread,
					    const char *name, uint64_t measured,
					    uint64_t visits)
{
	struct perfmon_profile_node *node =
		builder_node(b, thread, 1, builder_region(b, name));
	struct perfmon_profile_stride *stride = (void *)&node->count[thread->counters];

	stride->stride = 10;
	stride->skipped = node->entered = visits - measured;
	for (uint64_t v = 1; v <= measured; v++) {
		builder_visit(node, 1000 * v);
		stride->time_cubes += pow(1000 * (double)v, 3);
		for (uint32_t c = 0; c < thread->counters; c++) {
			node->count[c].sum += 10000 * v;
			node->count[c].squares += pow(10000 * (double)v, 2);
			stride->cubes[c] += pow(10000 * (double)v, 3);
		}
	}
	return node;
}

static struct perfmon_profile_node *whole(struct profile_builder *b,
					  struct perfmon_profile_thread *thread,
					  uint32_t parent, const char *name,
					  uint64_t ticks, uint64_t instructions)
{
	struct perfmon_profile_node *node =
		builder_node(b, thread, parent, builder_region(b, name));

	builder_visit(node, ticks);
	for (uint32_t c = 0; c < thread->counters; c++)
		node->count[c].sum = c ? ticks : instructions;
	return node;
}

int main(int argc, char **argv)
{
	for (int rank = 0; rank < 2; rank++) {
		uint32_t counters = rank ? 1 : 2;
		struct perfmon_profile_thread *thread;
		struct perfmon_profile_plan *plan;
		struct profile_builder b;
		char path[4096];
		FILE *file;

		builder_begin(&b, 1 << 16);
		builder_header(&b)->pid = 100 + (uint32_t)rank;
		builder_header(&b)->rank = rank;
		builder_header(&b)->ranks = 2;
		plan = builder_plan(&b, 1, counters);
		strcpy(plan->counter[0].name, "instructions:u");
		plan->counter[0].cost.bias = 40;
		plan->counter[0].cost.known = 1;
		if (!rank)
			strcpy(plan->counter[1].name, "cycles:u");
		thread = builder_thread(&b, 100 + (uint32_t)rank, 1, counters);
		thread->flags = PERFMON_PROFILE_THREAD_STRIDE;
		thread->node_size += (uint32_t)(sizeof(struct perfmon_profile_stride) +
						counters * sizeof(double));
		builder_nodes(&b, thread, 5);
		builder_node(&b, thread, 0, 0);
		whole(&b, thread, 1, "outer", 1000000, 1000000000);
		whole(&b, thread, 2, "inner", 900000, 999999850);
		strided(&b, thread, "some", rank ? 0 : 4, 40);
		strided(&b, thread, "none", 0, 40);
		snprintf(path, sizeof(path), "%s/%d", argc > 1 ? argv[1] : ".", rank);
		file = fopen(path, "we");
		if (!file || fwrite(b.base, builder_used(&b), 1, file) != 1 ||
		    fclose(file)) {
			perror(path);
			return 1;
		}
		builder_end(&b);
	}
	return 0;
}
