/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls that read a profile: of a file that is built by hand, and of a process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept_probe.h"
#include "perfmon/perfmon.h"
#include "profile_builder.h"

TestSuite(profile_reader, .init = kept_begin, .fini = kept_end, .timeout = 60);

/* Writes what has been built to PATH. */
static void write_out(struct profile_builder *b, const char *path)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	cr_assert_eq(fwrite(b->base, 1, builder_used(b), file), builder_used(b));
	fclose(file);
	builder_end(b);
}

/* Two threads of two events: "solve" of two visits with "a;b" of one below it, and a sum
 * of three threads without a node of its own. */
static const char *build(void)
{
	const char *path = in_folder("built");
	struct perfmon_profile_thread *thread, *sum;
	struct perfmon_profile_node *solve, *inner;
	struct perfmon_profile_plan *plan;
	struct profile_builder b;
	uint32_t outer, nested;

	builder_begin(&b, 1 << 20);
	plan = builder_plan(&b, 1, 2);
	plan->counter[1].flags |= PERFMON_PROFILE_COUNTER_KERNEL_ONLY;
	plan->time = (struct perfmon_profile_cost){
		.known = PERFMON_PROFILE_COST_USER, .bias = 10, .pair = 25};
	plan->counter[0].cost = (struct perfmon_profile_cost){
		.known = PERFMON_PROFILE_COST_USER, .bias = 3, .pair = 5};
	outer = builder_region(&b, "solve");
	nested = builder_region(&b, "a;b");
	builder_note(&b, "event1 is not what it seems");
	thread = builder_thread(&b, 42, 1, 2);
	thread->lost_too_deep = 3;
	builder_nodes(&b, thread, 8);
	builder_node(&b, thread, 0, 0);
	solve = builder_node(&b, thread, 1, outer);
	builder_visit(solve, 1000);
	builder_visit(solve, 3000);
	solve->off_cpu_ns = 1000;
	solve->migrations = 1;
	solve->count[0].sum = 500;
	solve->count[0].lost_ns = 750;
	inner = builder_node(&b, thread, 2, nested);
	builder_visit(inner, 200);
	inner->entered++;
	inner->count[0].sum = 7;
	sum = builder_thread(&b, 0, 1, 2);
	sum->state = PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	sum->aggregated = 3;
	sum->status[0] = -ENOENT;
	builder_nodes(&b, sum, 8);
	builder_node(&b, sum, 0, 0);
	inner = builder_node(&b, sum, 1, outer);
	builder_visit(inner, 5);
	inner->threads = 2;

	write_out(&b, path);
	return path;
}

static struct perfmon_profile *open_built(void)
{
	struct perfmon_profile *profile;
	char message[256] = "x";

	cr_assert_eq(perfmon_profile_open(&profile, build(), 0, message, sizeof(message)),
		     0, "%s", message);
	cr_assert_str_eq(message, "");
	return profile;
}

Test(profile_reader, shows_threads_nodes_and_values)
{
	struct perfmon_profile *profile = open_built();
	struct perfmon_profile_thread_info thread = {.size = sizeof(thread)};
	struct perfmon_profile_event event = {.size = sizeof(event)};
	struct perfmon_profile_info info = {.size = sizeof(info)};
	struct perfmon_profile_node_info node = {.size = sizeof(node)};
	struct perfmon_profile_value values[2];
	char text[64];

	cr_assert_eq(perfmon_profile_get_info(profile, &info), 0);
	cr_expect_str_eq(info.host, "node7");
	cr_expect_str_eq(info.program, "/opt/solver");
	cr_expect_eq(info.pid, 4711);
	cr_expect_eq(info.rank, -1);
	cr_expect_eq(info.writer, PERFMON_PROFILE_WRITER_ENDED);
	cr_expect_eq(info.partial, 0);
	cr_expect_eq(info.events, 2);
	cr_expect_eq(info.threads, 2);
	cr_expect_eq(info.notes, 1);
	cr_expect_eq(info.elapsed_ns, 2e9);
	cr_expect_eq(perfmon_profile_get_note(profile, 0, text, 7), 27);
	cr_expect_str_eq(text, "event1");

	cr_assert_eq(perfmon_profile_get_event(profile, 1, &event), 0);
	cr_expect_str_eq(event.name, "event1");
	cr_expect_eq(event.properties,
		     PERFMON_PROFILE_EVENT_HARDWARE | PERFMON_PROFILE_EVENT_KERNEL_ONLY);
	cr_expect_eq(event.config, 1);
	cr_expect_eq(event.kind, PERFMON_PROFILE_EVENT_KIND_KERNEL);

	cr_assert_eq(perfmon_profile_get_thread(profile, 0, &thread), 0);
	cr_expect_str_eq(thread.name, "thread42");
	cr_expect_eq(thread.tid, 42);
	cr_expect_eq(thread.live, 1);
	cr_expect_eq(thread.threads, 1);
	cr_expect_eq(thread.kind, PERFMON_PROFILE_THREAD_KIND_THREAD);
	cr_expect_eq(thread.nodes, 3);
	cr_expect_eq(thread.events, 2);
	cr_expect_eq(thread.lost_visits, 3);

	cr_assert_eq(perfmon_profile_get_node(profile, 0, 1, &node), 0);
	cr_expect_str_eq(node.name, "solve");
	cr_expect_eq(node.parent, 0);
	cr_expect_eq(node.depth, 1);
	cr_expect_eq(node.visits, 2);
	cr_expect_eq(node.measured, 2);
	cr_expect_eq(node.time_ns, 4000);
	cr_expect_eq(node.min_time_ns, 1000);
	cr_expect_eq(node.max_time_ns, 3000);
	cr_expect_eq(node.off_cpu_ns, 1000);
	cr_expect_eq(node.marks, PERFMON_PROFILE_NODE_MIGRATED);
	cr_expect_eq(node.kind, PERFMON_PROFILE_NODE_KIND_REGION);
	cr_expect_eq(node.exclusive_time_ns, 3800);
	cr_expect_eq(node.exclusive_off_cpu_ns, 1000);
	/* two visits with a bias of 10, around one that takes 25 */
	cr_expect_eq(node.bias_ns, 45);
	cr_assert_eq(
		perfmon_profile_get_values(profile, 0, 1, values, 2, sizeof(values[0])),
		2);
	cr_expect_eq(values[0].event, 0);
	cr_expect_eq(values[0].status, PERFMON_VALUE_MULTIPLEXED);
	cr_expect_eq(values[0].value, 500);
	cr_expect_eq(values[0].exclusive, 493);
	cr_expect_eq(values[0].bias, 2 * 3 + 5);
	cr_expect_eq(values[0].enabled_ns, 3000);
	cr_expect_eq(values[0].running_ns, 2250);
	cr_expect_eq(values[1].event, 1);
	cr_expect_eq(values[1].status, PERFMON_VALUE_NOT_COUNTED);

	cr_assert_eq(perfmon_profile_get_node(profile, 0, 2, &node), 0);
	cr_expect_eq(node.parent, 1);
	cr_expect_eq(node.exclusive_time_ns, 200);
	cr_expect_eq(node.bias_ns, 10);
	cr_expect_eq(node.depth, 2);
	cr_expect_eq(node.marks, PERFMON_PROFILE_NODE_IN_FLIGHT);
	cr_expect_eq(perfmon_profile_get_path(profile, 0, 2, text, sizeof(text)), 10);
	cr_expect_str_eq(text, "solve;a\\;b");
	cr_expect_eq(perfmon_profile_get_path(profile, 0, 2, text, 4), 10);
	cr_expect_str_eq(text, "sol");
	cr_expect_eq(perfmon_profile_get_path(profile, 0, 0, text, sizeof(text)), 0);
	cr_expect_eq(
		perfmon_profile_get_values(profile, 0, 2, values, 1, sizeof(values[0])),
		2);
	cr_expect_eq(values[0].status, PERFMON_VALUE_COUNTED);
	cr_expect_eq(values[0].value, 7);
	cr_expect_eq(values[0].exclusive, 7);
	cr_expect_eq(values[0].bias, 3);

	cr_assert_eq(perfmon_profile_get_thread(profile, 1, &thread), 0);
	cr_expect_str_eq(thread.name, "");
	cr_expect_eq(thread.threads, 3);
	cr_expect_eq(thread.kind, PERFMON_PROFILE_THREAD_KIND_SUM);
	cr_expect_eq(thread.live, 0);
	cr_assert_eq(perfmon_profile_get_node(profile, 1, 0, &node), 0);
	cr_expect_eq(node.kind, PERFMON_PROFILE_NODE_KIND_THREAD);
	cr_assert_eq(perfmon_profile_get_node(profile, 1, 1, &node), 0);
	cr_expect_eq(node.threads, 2);
	cr_expect_eq(
		perfmon_profile_get_values(profile, 1, 1, values, 2, sizeof(values[0])),
		2);
	cr_expect_eq(values[0].status, PERFMON_VALUE_NEVER_OPENED);
	perfmon_profile_close(profile);
}

/* A visit of as many seconds as fit a number. */
Test(profile_reader, times_beyond_their_type_are_the_largest)
{
	struct perfmon_profile_node_info info = {.size = sizeof(info)};
	const char *path = in_folder("long");
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_value value;
	struct perfmon_profile *profile;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	uint32_t region;

	builder_begin(&b, 1 << 20);
	builder_header(&b)->clock = PERFMON_PROFILE_CLOCK_TIMESTAMP;
	builder_header(&b)->ticks_hz = 1;
	builder_plan(&b, 1, 1);
	region = builder_region(&b, "long");
	thread = builder_thread(&b, 42, 1, 1);
	builder_nodes(&b, thread, 2);
	builder_node(&b, thread, 0, 0);
	node = builder_node(&b, thread, 1, region);
	builder_visit(node, UINT64_MAX);
	node->count[0].sum = 5;
	write_out(&b, path);

	cr_assert_eq(perfmon_profile_open(&profile, path, 0, NULL, 0), 0);
	cr_assert_eq(perfmon_profile_get_node(profile, 0, 1, &info), 0);
	cr_expect_eq(info.time_ns, UINT64_MAX);
	cr_assert_eq(perfmon_profile_get_values(profile, 0, 1, &value, 1, sizeof(value)),
		     1);
	cr_expect_eq(value.status, PERFMON_VALUE_COUNTED);
	cr_expect_eq(value.enabled_ns, UINT64_MAX);
	cr_expect_eq(value.running_ns, UINT64_MAX);
	perfmon_profile_close(profile);
}

/* A sum of processes stops there, and is read with the visits that were measured. */
Test(profile_reader, visits_beyond_their_type_are_the_largest)
{
	struct perfmon_profile_node_info info = {.size = sizeof(info)};
	const char *path = in_folder("many");
	struct perfmon_profile_stride *stride;
	struct perfmon_profile_thread *thread;
	struct perfmon_profile *profile;
	struct perfmon_profile_node *node;
	struct profile_builder b;
	uint32_t region;

	builder_begin(&b, 1 << 20);
	region = builder_region(&b, "many");
	thread = builder_thread(&b, 42, 1, 0);
	thread->flags |= PERFMON_PROFILE_THREAD_STRIDE;
	thread->node_size += sizeof(*stride);
	builder_nodes(&b, thread, 2);
	builder_node(&b, thread, 0, 0);
	node = builder_node(&b, thread, 1, region);
	builder_visit(node, 7);
	stride = (void *)&node->count[0];
	stride->skipped = UINT64_MAX;
	stride->weight = 1;
	write_out(&b, path);

	cr_assert_eq(perfmon_profile_open(&profile, path, 0, NULL, 0), 0);
	cr_assert_eq(perfmon_profile_get_node(profile, 0, 1, &info), 0);
	cr_expect_eq(info.measured, 1);
	cr_expect_eq(info.visits, UINT64_MAX);
	perfmon_profile_close(profile);
}

Test(profile_reader, refuses_what_is_not_there)
{
	struct perfmon_profile *profile = NULL, *open = open_built();
	struct perfmon_profile_node_info node = {.size = sizeof(node)};
	struct perfmon_profile_event event = {.size = sizeof(event)};
	char text[200];

	cr_expect_eq(perfmon_profile_open(&profile, "/dev/null", 0, text, sizeof(text)),
		     -EINVAL);
	cr_expect_str_neq(text, "");
	cr_expect_eq(perfmon_profile_open(&profile, in_folder("none"), 0, NULL, 0),
		     -ENOENT);
	cr_expect_eq(perfmon_profile_open(NULL, "x", 0, NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_profile_open(&profile, NULL, 0, NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_profile_open_process(&profile, 0, 0, NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_profile_open(&profile, "x", 1, text, sizeof(text)), -EINVAL);
	cr_expect_str_eq(text, "unknown flags 0x1");
	cr_expect_eq(
		perfmon_profile_open_process(&profile, getpid(), 2, text, sizeof(text)),
		-EINVAL);
	cr_expect_str_eq(text, "unknown flags 0x2");
	cr_expect_null(profile);
	perfmon_profile_close(NULL);

	cr_expect_eq(perfmon_profile_get_node(open, 0, 3, &node), -EINVAL);
	cr_expect_eq(perfmon_profile_get_node(open, 2, 0, &node), -EINVAL);
	cr_expect_eq(perfmon_profile_get_event(open, 2, &event), -EINVAL);
	cr_expect_eq(perfmon_profile_get_note(open, 1, NULL, 0), -EINVAL);
	cr_expect_eq(perfmon_profile_get_path(open, 0, 1, NULL, 4), -EINVAL);
	cr_expect_eq(perfmon_profile_get_path(open, 0, 1, NULL, 0), 5);
	cr_expect_eq(perfmon_profile_get_values(open, 0, 1, NULL, 0, 47), -EINVAL);
	cr_expect_eq(perfmon_profile_get_values(open, 0, 1, NULL, 0, 48), 2);
	perfmon_profile_close(open);
}

/* What a program of a later version gives: longer structures, longer elements. */
Test(profile_reader, takes_longer_structures)
{
	struct perfmon_profile *profile = open_built();
	struct {
		struct perfmon_profile_value known;
		uint64_t more;
	} values[2] = {{.more = 1}, {.more = 1}};
	struct {
		struct perfmon_profile_node_info known;
		uint64_t more;
	} node = {.known.size = sizeof(node)};

	cr_expect_eq(perfmon_profile_get_values(profile, 0, 1,
						(struct perfmon_profile_value *)values, 2,
						sizeof(values[0])),
		     2);
	cr_expect_eq(values[1].known.event, 1);
	cr_expect_eq(values[0].more, 0);
	cr_expect_eq(values[1].more, 0);
	cr_expect_eq(perfmon_profile_get_node(profile, 0, 1, &node.known), 0);
	node.more = 1;
	cr_expect_eq(perfmon_profile_get_node(profile, 0, 1, &node.known), -E2BIG);
	node.known.size = 87;
	cr_expect_eq(perfmon_profile_get_node(profile, 0, 1, &node.known), -EINVAL);
	perfmon_profile_close(profile);
}

/* Visits of the only region of the only thread that has one. */
static uint64_t visits_of(struct perfmon_profile *profile)
{
	struct perfmon_profile_info info = {.size = sizeof(info)};
	uint64_t visits = 0;

	cr_assert_eq(perfmon_profile_get_info(profile, &info), 0);
	for (uint32_t t = 0; t < info.threads; t++) {
		struct perfmon_profile_node_info node = {.size = sizeof(node)};

		if (!perfmon_profile_get_node(profile, t, 1, &node) &&
		    !strcmp(node.name, "work"))
			visits += node.visits;
	}
	return visits;
}

/* Row: DC-02 (another process watches a program that runs) */
Test(profile_reader, a_process_is_read_while_it_runs)
{
	struct perfmon_profile_info info = {.size = sizeof(info)};
	struct perfmon_profile *profile;
	int orders[2], answers[2];
	char message[256], byte = 'x';
	pid_t pid;

	cr_assert(!pipe(orders) && !pipe(answers));
	fflush(NULL);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		close(orders[1]);
		do {
			PERFMON_REGION_BEGIN("work");
			PERFMON_REGION_END("work");
		} while (write(answers[1], &byte, 1) == 1 &&
			 read(orders[0], &byte, 1) == 1);
		_exit(0);
	}
	close(orders[0]);
	cr_assert_eq(read(answers[0], &byte, 1), 1);
	cr_assert_eq(
		perfmon_profile_open_process(&profile, pid, 0, message, sizeof(message)),
		0, "%s", message);
	cr_assert_eq(perfmon_profile_get_info(profile, &info), 0);
	cr_expect_eq(info.pid, pid);
	cr_expect_eq(info.writer, PERFMON_PROFILE_WRITER_RUNS);
	cr_expect_eq(visits_of(profile), 1);
	cr_assert_eq(write(orders[1], &byte, 1), 1);
	cr_assert_eq(read(answers[0], &byte, 1), 1);
	cr_expect_eq(visits_of(profile), 1);
	cr_assert_eq(perfmon_profile_refresh(profile), 0);
	cr_expect_eq(visits_of(profile), 2);
	close(orders[1]);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(perfmon_profile_refresh(profile), 0);
	cr_expect_eq(visits_of(profile), 2);
	perfmon_profile_get_info(profile, &info);
	cr_expect_eq(info.writer, PERFMON_PROFILE_WRITER_GONE);
	cr_expect_eq(perfmon_profile_message(profile, NULL, 0), 0);
	perfmon_profile_close(profile);
	cr_expect_eq(
		perfmon_profile_open_process(&profile, pid, 0, message, sizeof(message)),
		-ESRCH);
}

/* Opens the profile of this process. */
static struct perfmon_profile *open_own(void)
{
	struct perfmon_profile *profile;
	char message[256];

	cr_assert_eq(perfmon_profile_open_process(&profile, getpid(), 0, message,
						  sizeof(message)),
		     0, "%s", message);
	return profile;
}

/* Returns the number of the only thread of KIND. */
static uint32_t thread_of_kind(const struct perfmon_profile *profile, uint32_t kind,
			       struct perfmon_profile_thread_info *thread)
{
	struct perfmon_profile_info info = {.size = sizeof(info)};
	uint32_t found = UINT32_MAX;

	cr_assert_eq(perfmon_profile_get_info(profile, &info), 0);
	for (uint32_t t = 0; t < info.threads; t++) {
		cr_assert_eq(perfmon_profile_get_thread(profile, t, thread), 0);
		if (thread->kind != kind)
			continue;
		cr_assert_eq(found, UINT32_MAX, "two threads have kind %u", kind);
		found = t;
	}
	cr_assert_neq(found, UINT32_MAX, "no thread has kind %u", kind);
	cr_assert_eq(perfmon_profile_get_thread(profile, found, thread), 0);
	return found;
}

/* Row: FO-05: the steps of a path, 100 of one visit and then of two, with the visits of the path. */
Test(profile_reader, shows_steps)
{
	struct perfmon_profile_thread_info thread = {.size = sizeof(thread)};
	struct perfmon_profile_node_info node = {.size = sizeof(node)};
	struct perfmon_profile_value values[4];
	uint64_t time_ns = 0, began_ns = 0, path_ns;
	struct perfmon_profile *profile;
	char path[64];
	uint32_t t;

	setenv("PERFMON_EVENTS", "page-faults", 1);
	setenv("PERFMON_STEPS", "st;ep", 1);
	setenv("PERFMON_PROFILE", in_folder("steps"), 1);
	PERFMON_REGION_BEGIN("loop");
	for (int i = 0; i < 150; i++) {
		PERFMON_REGION_BEGIN("st;ep");
		PERFMON_REGION_END("st;ep");
	}
	PERFMON_REGION_END("loop");
	profile = open_own();
	t = thread_of_kind(profile, PERFMON_PROFILE_THREAD_KIND_THREAD, &thread);
	cr_assert_eq(perfmon_profile_get_node(profile, t, 2, &node), 0);
	cr_assert_str_eq(node.name, "st;ep");
	cr_expect_eq(node.first_visit, 0);
	path_ns = node.time_ns;

	t = thread_of_kind(profile, PERFMON_PROFILE_THREAD_KIND_STEPS, &thread);
	cr_expect_eq(thread.tid, gettid());
	cr_expect_eq(thread.threads, 1);
	cr_expect_eq(thread.events, 1);
	cr_assert_eq(thread.nodes, 126);
	for (uint32_t n = 1; n < thread.nodes; n++) {
		uint64_t first = n <= 100 ? n : 101 + 2 * (n - 101);

		cr_assert_eq(perfmon_profile_get_node(profile, t, n, &node), 0);
		cr_assert_eq(node.kind, PERFMON_PROFILE_NODE_KIND_STEP);
		cr_assert_str_eq(node.name, "st;ep");
		cr_assert_eq(node.depth, 2);
		cr_assert_eq(node.first_visit, first, "%u", n);
		cr_assert_eq(node.last_visit, n <= 100 ? first : first + 1);
		cr_assert_eq(node.visits, n <= 100 ? 1 : 2);
		cr_assert_eq(node.exclusive_time_ns, 0);
		cr_assert_eq(node.min_time_ns, n <= 100 ? node.time_ns : 0);
		cr_assert_geq(node.begin_ns, began_ns);
		cr_assert_eq(
			perfmon_profile_get_values(profile, t, n, PERFMON_VECTOR(values)),
			1);
		cr_assert_eq(values[0].exclusive, 0);
		began_ns = node.begin_ns;
		time_ns += node.time_ns;
	}
	/* Each step is rounded to nanoseconds. */
	cr_expect(time_ns + 126 > path_ns && time_ns < path_ns + 126, "%llu of %llu ns",
		  (unsigned long long)time_ns, (unsigned long long)path_ns);
	cr_assert_eq(perfmon_profile_get_path(profile, t, 7, path, sizeof(path)), 11);
	cr_expect_str_eq(path, "loop;st\\;ep");
	cr_assert_eq(perfmon_profile_get_path(profile, t, 0, path, sizeof(path)), 0);
	cr_expect_eq(perfmon_profile_get_node(profile, t, 126, &node), -EINVAL);
	perfmon_profile_close(profile);
}

/* Row: FO-08: what a user leaves out is counted. */
Test(profile_reader, shows_visits_that_were_left_out)
{
	struct perfmon_profile_thread_info thread = {.size = sizeof(thread)};
	struct perfmon_profile_info info = {.size = sizeof(info)};
	struct perfmon_profile *profile;

	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_SKIP", "small*", 1);
	setenv("PERFMON_DEPTH", "1", 1);
	setenv("PERFMON_PROFILE", in_folder("less"), 1);
	PERFMON_REGION_BEGIN("work");
	for (int i = 0; i < 5; i++) {
		PERFMON_REGION_BEGIN("deep");
		PERFMON_REGION_END("deep");
	}
	PERFMON_REGION_END("work");
	for (int i = 0; i < 3; i++) {
		PERFMON_REGION_BEGIN("small");
		PERFMON_REGION_END("small");
	}
	profile = open_own();
	cr_assert_eq(perfmon_profile_get_info(profile, &info), 0);
	cr_expect_eq(info.left_out_regions, 1);
	thread_of_kind(profile, PERFMON_PROFILE_THREAD_KIND_THREAD, &thread);
	cr_expect_eq(thread.nodes, 2);
	cr_expect_eq(thread.left_out_by_name, 3);
	cr_expect_eq(thread.left_out_by_depth, 5);
	cr_expect_eq(thread.left_out_by_mean, 0);
	perfmon_profile_close(profile);
}
