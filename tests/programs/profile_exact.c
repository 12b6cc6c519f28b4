/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profile_exact FILE INSTRUCTIONS [counters|refused]: a profile that was counted exactly by
 * translation, of a visit of "run" with two of "step", which have INSTRUCTIONS each, and
 * one of "io", which has nearly all of the time. 400 instructions are outside of regions.
 * With "counters" the same was counted by the machine. With "refused" both events were refused.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../profile_builder.h"

static void visits(struct profile_builder *b, struct perfmon_profile_thread *thread,
		   uint32_t parent, const char *name, uint32_t count, uint64_t ticks,
		   uint64_t instructions)
{
	struct perfmon_profile_node *node =
		builder_node(b, thread, parent, builder_region(b, name));

	for (uint32_t v = 0; v < count; v++) {
		builder_visit(node, ticks);
		node->count[0].sum += instructions;
		node->count[1].sum += instructions / 10;
	}
}

int main(int argc, char **argv)
{
	bool exact = argc < 4 || strcmp(argv[3], "counters");
	uint64_t step = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t run = 2 * step + 300, totals[2] = {run + 400, run / 10 + 40};
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	FILE *file;

	builder_begin(&b, 1 << 16);
	builder_header(&b)->parent_pid = 0;
	builder_header(&b)->pid = (uint32_t)getpid();
	/* Runs are told apart by when they began. */
	builder_header(&b)->begin_realtime_ns += step * 1000000000;
	plan = exact ? builder_exact_plan(&b, 1, 2) : builder_plan(&b, 1, 2);
	if (!exact)
		strcpy(plan->counter[0].name, "instructions:u");
	for (int c = 0; exact && argc > 3 && c < 2; c++)
		plan->counter[c].flags |= PERFMON_PROFILE_COUNTER_REFUSED;
	thread = builder_tree(&b, builder_header(&b)->pid, 1, 2, 5);
	visits(&b, thread, 1, "run", 1, 2000000, run);
	visits(&b, thread, 2, "step", 2, 1000, step);
	visits(&b, thread, 2, "io", 1, 1900000, 100);
	if (exact)
		builder_totals(&b, 1, totals, 2);
	file = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!file || fwrite(b.base, builder_used(&b), 1, file) != 1 || fclose(file)) {
		perror("profile_exact");
		return EXIT_FAILURE;
	}
	builder_end(&b);
	return EXIT_SUCCESS;
}
