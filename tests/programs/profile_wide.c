/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile, at the path that is given, of more paths than a page opens by itself: main,
 * which has not ended, has 20 phases of two parts each, and part b of phase 13 has the
 * kernel, where most of the time is spent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../profile_builder.h"

int main(int argc, char **argv)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	uint32_t below, part[2];
	FILE *file;

	if (argc != 2)
		return 2;
	builder_begin(&b, 1 << 20);
	builder_plan(&b, 1, 0);
	thread = builder_tree(&b, 100, 1, 0, 100);
	builder_node(&b, thread, 1, builder_region(&b, "main"))->entered++;
	below = thread->node_count;
	part[0] = builder_region(&b, "part a");
	part[1] = builder_region(&b, "part b");
	for (int n = 0; n < 20; n++) {
		uint32_t phase;
		char name[32];

		snprintf(name, sizeof(name), "phase %d", n);
		builder_visit(builder_node(&b, thread, below, builder_region(&b, name)),
			      n == 13 ? 900000 : 1000000);
		phase = thread->node_count;
		for (int p = 0; p < 2; p++)
			builder_visit(builder_node(&b, thread, phase, part[p]),
				      n == 13 && p ? 450000 : 330000);
		if (n == 13)
			builder_visit(builder_node(&b, thread, thread->node_count,
						   builder_region(&b, "kernel")),
				      449000);
	}
	file = fopen(argv[1], "we");
	if (!file || fwrite(b.base, builder_used(&b), 1, file) != 1 || fclose(file)) {
		perror(argv[1]);
		return 1;
	}
	builder_end(&b);
	return 0;
}
