/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prints a profile: a line for each path of each thread, with its visits, its time and
 * the count of each event.
 *
 *   PERFMON_PROFILE=run.profile ./heat
 *   ./profile run.profile
 *   ./profile 4711                  # a running process
 */
#include <perfmon/perfmon.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENTS 32

static void print_values(const struct perfmon_profile *profile, uint32_t thread,
			 uint32_t node)
{
	struct perfmon_profile_value values[EVENTS];
	int count =
		perfmon_profile_get_values(profile, thread, node, PERFMON_VECTOR(values));

	for (int i = 0; i < count && i < EVENTS; i++) {
		struct perfmon_profile_event event = {.size = sizeof(event)};
		double value = (double)values[i].value;

		perfmon_profile_get_event(profile, values[i].event, &event);
		if (values[i].status &
		    (PERFMON_VALUE_NEVER_OPENED | PERFMON_VALUE_NOT_COUNTED)) {
			printf("  %s -", event.name);
			continue;
		}
		/* Counted for a part of the time only: scale it. */
		if (values[i].status & PERFMON_VALUE_MULTIPLEXED && values[i].running_ns)
			value *= (double)values[i].enabled_ns /
				 (double)values[i].running_ns;
		printf("  %s %.0f%s", event.name, value * event.scale, event.unit);
	}
}

static void print_thread(const struct perfmon_profile *profile, uint32_t index)
{
	struct perfmon_profile_thread_info thread = {.size = sizeof(thread)};

	perfmon_profile_get_thread(profile, index, &thread);
	/* Steps have visits that are in paths, too, and other runs have other times. */
	if (thread.kind != PERFMON_PROFILE_THREAD_KIND_THREAD &&
	    thread.kind != PERFMON_PROFILE_THREAD_KIND_SUM)
		return;
	if (thread.threads == 1)
		printf("thread %d %s\n", thread.tid, thread.name);
	else
		printf("%u threads that have ended\n", thread.threads);
	for (uint32_t n = 1; n < thread.nodes; n++) {
		struct perfmon_profile_node_info node = {.size = sizeof(node)};

		perfmon_profile_get_node(profile, index, n, &node);
		printf("%*s%s: %llu visits, %.3f ms", 2 * (int)node.depth, "", node.name,
		       (unsigned long long)node.visits, node.time_ns / 1e6);
		print_values(profile, index, n);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct perfmon_profile_info info = {.size = sizeof(info)};
	struct perfmon_profile *profile;
	char message[256], *end = "";
	long pid = argc > 1 ? strtol(argv[1], &end, 10) : 0;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: profile FILE | PID\n");
		return 2;
	}
	err = *end ? perfmon_profile_open(&profile, argv[1], 0, message, sizeof(message))
		   : perfmon_profile_open_process(&profile, (pid_t)pid, 0, message,
						  sizeof(message));
	if (err) {
		fprintf(stderr, "profile: %s\n", message);
		return 1;
	}
	perfmon_profile_get_info(profile, &info);
	printf("%s, process %d on %s\n", info.program, info.pid, info.host);
	if (info.partial)
		printf("parts are missing: %s\n", message);
	for (uint32_t t = 0; t < info.threads; t++)
		print_thread(profile, t);
	perfmon_profile_close(profile);
	return 0;
}
