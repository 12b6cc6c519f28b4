/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits that are kept by steps (PERFMON_STEPS): marks, windows, threads, ends, damage. */
#include "helpers.h"
#include "region_probe.h"
#include "report_text.h"
#include "watched.h"

#include "perfmon/team.h"

static void set_up(void)
{
	probe_quiet();
	setenv("PERFMON_EVENTS", "none", 1);
	setenv("PERFMON_STEPS", "st?p,rest*", 1);
}

TestSuite(steps, .init = set_up, .timeout = 240);

/* Returns the steps of the only path that ends with REGION. */
static const struct pm_snapshot_steps *steps_of(const struct pm_snapshot *s,
						const char *region)
{
	const struct pm_snapshot_steps *found = NULL;

	for (uint32_t i = 0; i < s->steps_count; i++) {
		const struct pm_snapshot_steps *at = &s->steps[i];

		if (strcmp(s->regions[at->path[at->depth - 1]], region) != 0)
			continue;
		cr_assert_null(found, "two paths have steps of %s", region);
		found = at;
	}
	cr_assert_not_null(found, "%s has no steps", region);
	return found;
}

static const struct perfmon_profile_node *node_of(const struct pm_snapshot_steps *steps,
						  uint32_t i)
{
	return pm_snapshot_node(&steps->thread, i + 2);
}

/* Checks that the steps are those of visits 1 to VISITS without a gap: 100 of one, 100 of two and so on. */
static void expect_grid(const struct pm_snapshot_steps *steps, uint64_t visits)
{
	uint64_t next = 1, width = 1;
	uint32_t i;

	for (i = 0; i < steps->count; i++) {
		if (i && i % 100 == 0)
			width *= 2;
		cr_assert_eq(steps->step[i].first, next);
		next = steps->step[i].last + 1;
		cr_assert_eq(pm_node_visits(node_of(steps, i)),
			     next - steps->step[i].first);
		cr_assert(next - steps->step[i].first == width || next == visits + 1,
			  "step %u: %llu to %llu", i,
			  (unsigned long long)steps->step[i].first,
			  (unsigned long long)steps->step[i].last);
	}
	cr_assert_eq(next, visits + 1);
}

/* Checks that times and counts of all steps are those of NODE. */
static void expect_sums(const struct pm_snapshot_steps *steps,
			const struct perfmon_profile_node *node, uint32_t counters)
{
	uint64_t ticks = 0, visits = 0, sum[PERFMON_PROFILE_COUNTERS_MAX] = {0};
	unsigned __int128 squares = 0, all;

	for (uint32_t i = 0; i < steps->count; i++) {
		const struct perfmon_profile_node *step = node_of(steps, i);

		ticks += step->time_ticks;
		visits += pm_node_visits(step);
		squares += (unsigned __int128)step->time_squares_high << 64 |
			   step->time_squares;
		for (uint32_t c = 0; c < counters; c++)
			sum[c] += step->count[c].sum;
	}
	all = (unsigned __int128)node->time_squares_high << 64 | node->time_squares;
	cr_assert_eq(visits, pm_node_visits(node));
	cr_assert_eq(ticks, node->time_ticks);
	cr_assert(squares == all);
	for (uint32_t c = 0; c < counters; c++)
		cr_assert_eq(sum[c], node->count[c].sum);
}

static void step(void)
{
	PERFMON_REGION_BEGIN("step");
	PERFMON_REGION_END("step");
}

static void many(uint64_t times)
{
	PERFMON_REGION_BEGIN("loop");
	while (times--)
		step();
	PERFMON_REGION_END("loop");
}

/* --- counts ---------------------------------------------------------------------------- */

/* Row: FO-05: each step has the counts of its own visits, exactly. */
Test(steps, each_step_has_its_own_counts)
{
	const struct pm_snapshot_steps *steps;
	struct pm_snapshot *s;

	setenv("PERFMON_EVENTS", watch_event(0), 1);
	PERFMON_REGION_BEGIN("loop");
	for (unsigned int i = 1; i <= 350; i++) {
		PERFMON_REGION_BEGIN("step");
		touch(0, i == 37 ? 5000 : i);
		PERFMON_REGION_END("step");
		touch(0, 3);
	}
	PERFMON_REGION_END("loop");
	s = probe_take();
	steps = steps_of(s, "step");
	cr_assert_eq(steps->depth, 2);
	cr_assert_str_eq(s->regions[steps->path[0]], "loop");
	expect_grid(steps, 350);
	if (steps->thread.record.counters != 1 || steps->thread.record.status[0] <= 0) {
		pm_snapshot_free(s);
		cr_skip_test("no write to memory is counted here");
	}
	for (uint32_t i = 0; i < steps->count; i++) {
		uint64_t wanted = 0;

		for (uint64_t n = steps->step[i].first; n <= steps->step[i].last; n++)
			wanted += n == 37 ? 5000 : n;
		cr_assert_eq(node_of(steps, i)->count[0].sum, wanted, "step %u", i);
	}
	expect_sums(steps, probe_node(s, &s->threads[0], "loop/step"), 1);
	pm_snapshot_free(s);
}

/* Reports whether nothing came between the reads of a step's counters, which would add to them. */
static bool undisturbed(const struct pm_snapshot_steps *steps, uint32_t step)
{
	const struct perfmon_profile_node *node = node_of(steps, step);

	return !node->retries && !node->fallback_reads && !node->migrations;
}

/* Row: FO-05: with counters that are read in user space, too, and marks are not in what is around. */
Test(steps, equal_steps_have_equal_instructions)
{
	const struct pm_snapshot_steps *steps;
	const struct perfmon_profile_node *loop, *node;
	struct pm_snapshot *s;
	uint64_t each = UINT64_MAX, twice, thrice;
	uint32_t equal = 0, more = 0;

	setenv("PERFMON_EVENTS", "instructions:u", 1);
	PERFMON_REGION_BEGIN("loop");
	for (int i = 1; i <= 300; i++) {
		int times = i == 37 ? 2000 : i == 38 ? 3000 : 1000;

		PERFMON_REGION_BEGIN("step");
		for (volatile int k = 0; k < times; k++)
			;
		PERFMON_REGION_END("step");
	}
	PERFMON_REGION_END("loop");
	s = probe_take();
	steps = steps_of(s, "step");
	if (steps->thread.record.counters != 1 || steps->thread.record.status[0] != 1) {
		pm_snapshot_free(s);
		cr_skip_test("no instructions are read in user space here");
	}
	expect_grid(steps, 300);
	for (uint32_t i = 1; i < 36; i++)
		if (undisturbed(steps, i) && node_of(steps, i)->count[0].sum < each)
			each = node_of(steps, i)->count[0].sum;
	twice = node_of(steps, 36)->count[0].sum;
	thrice = node_of(steps, 37)->count[0].sum;
	cr_expect_gt(twice, each + 1000);
	if (undisturbed(steps, 36) && undisturbed(steps, 37))
		cr_expect_eq(twice - each, thrice - twice);
	/* What is first done in a path may add a few. */
	if (undisturbed(steps, 0))
		cr_expect_lt(node_of(steps, 0)->count[0].sum, each + 10);
	cr_expect_gt(node_of(steps, 0)->count[0].sum, each - 10);
	/* An emulated CPU also counts what another one does while it stands still, so few steps
	 * may have more. None has less. */
	for (uint32_t i = 1; i < steps->count; i++) {
		uint64_t wanted = pm_node_visits(node_of(steps, i)) * each;

		if (i == 36 || i == 37 || !undisturbed(steps, i))
			continue;
		cr_expect_geq(node_of(steps, i)->count[0].sum, wanted, "step %u", i);
		equal += node_of(steps, i)->count[0].sum == wanted;
		more += node_of(steps, i)->count[0].sum > wanted;
	}
	cr_expect_gt(equal, steps->count / 2);
	cr_expect_lt(more, 4);
	loop = probe_node(s, &s->threads[0], "loop");
	node = probe_node(s, &s->threads[0], "loop/step");
	expect_sums(steps, node, 1);
	/* 200 marks, each with less than what it takes besides what is taken out. */
	cr_expect_lt(loop->count[0].sum, node->count[0].sum + 300 * 300 + 200 * 250);
	pm_snapshot_free(s);
}

/* --- memory ---------------------------------------------------------------------------- */

/* Row: FO-05 */
Test(steps, memory_grows_with_the_logarithm_of_visits)
{
	uint64_t most = getenv("PERFMON_TEST_SHORT") ? 100000 : 1000000, before, after;
	const struct pm_snapshot_steps *steps;
	struct pm_snapshot *s;

	many(100);
	before = pm_profile_header()->used;
	many(most - 100);
	after = pm_profile_header()->used;
	s = probe_take();
	steps = steps_of(s, "step");
	expect_grid(steps, most);
	/* 100 + 200 + 400 ...: 14 parts have room for a million. */
	cr_expect_leq(steps->count, 1400);
	cr_expect_leq(after - before, 13 * 10000);
	expect_sums(steps, probe_node(s, &s->threads[0], "loop/step"), 0);
	pm_snapshot_free(s);
}

/* Row: FO-05 */
Test(steps, more_paths_than_there_is_room_for_are_told)
{
	struct pm_snapshot *s;
	char name[20];

	for (int i = 0; i < PERFMON_PROFILE_STEPS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "rest %d", i);
		for (int n = 0; n < 3; n++) {
			perfmon_region_begin_name(name);
			perfmon_region_end_name(name);
		}
	}
	s = probe_take();
	cr_assert_eq(s->steps_count, PERFMON_PROFILE_STEPS_MAX);
	for (uint32_t i = 0; i < s->steps_count; i++)
		expect_grid(&s->steps[i], 3);
	cr_assert(probe_note(s, "more than 256 paths match"));
	pm_snapshot_free(s);
}

/* --- paths and threads ------------------------------------------------------------------ */

/* Row: FO-05: a region has steps below each of its parents, and where it is called by itself. */
Test(steps, each_path_has_its_own)
{
	struct pm_snapshot *s;
	uint64_t visits[4] = {0};

	many(5);
	step();
	step();
	PERFMON_REGION_BEGIN("step");
	step();
	PERFMON_REGION_END("step");
	s = probe_take();
	cr_assert_eq(s->steps_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct pm_snapshot_steps *at = &s->steps[i];

		visits[at->depth] += at->step[at->count - 1].last;
		expect_grid(at, at->step[at->count - 1].last);
	}
	cr_assert_eq(visits[1], 3);
	cr_assert_eq(visits[2], 5 + 1);
	pm_snapshot_free(s);
}

/* The visit that is open has a step that says so. */
Test(steps, an_open_visit_is_entered)
{
	const struct pm_snapshot_steps *steps;
	struct pm_snapshot *s;

	many(2);
	PERFMON_REGION_BEGIN("loop");
	PERFMON_REGION_BEGIN("step");
	s = probe_take();
	steps = steps_of(s, "step");
	cr_assert_eq(steps->count, 3);
	cr_assert_eq(steps->step[2].first, 3);
	cr_assert_eq(steps->step[2].last, 3);
	cr_assert_eq(node_of(steps, 2)->entered, 1);
	cr_assert_eq(pm_node_visits(node_of(steps, 2)), 0);
	PERFMON_REGION_END("step");
	PERFMON_REGION_END("loop");
	pm_snapshot_free(s);
}

static void *worker(void *times)
{
	many(*(const uint64_t *)times);
	return NULL;
}

static void run_thread(uint64_t times)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, worker, &times), 0);
	pthread_join(thread, NULL);
}

/* Row: FO-05: the steps of a thread stay when it has ended and was summed, and its memory is another's. */
static void check_ends(const char *threads)
{
	const struct pm_snapshot_steps *steps;
	struct pm_snapshot *s;

	setenv("PERFMON_THREADS", threads, 1);
	run_thread(123);
	for (int i = 0; i < 5; i++)
		run_thread(1000);
	many(7);
	s = probe_take();
	steps = steps_of(s, "step");
	expect_grid(steps, 123);
	cr_assert_neq(steps->thread.record.tid, (uint32_t)getpid());
	cr_assert_eq(probe_visits(s, "loop/step"), 123 + 5 * 1000 + 7);
	pm_snapshot_free(s);
}

Test(steps, the_first_thread_has_them)
{
	check_ends("fold");
}

Test(steps, the_first_thread_has_them_where_threads_are_kept)
{
	check_ends("keep");
}

static int child(void)
{
	const struct pm_snapshot_steps *steps = NULL;
	struct pm_snapshot *s = NULL;
	struct pm_diag diag = {0};

	PERFMON_REGION_END("loop");
	many(150);
	CHILD_CHECK(!pm_regions_snapshot(&s, &diag) && !s->partial);
	CHILD_CHECK(s->steps_count == 1);
	steps = &s->steps[0];
	CHILD_CHECK(steps->count == 125 && steps->step[124].last == 150);
	CHILD_CHECK(steps->thread.record.tid == (uint32_t)getpid());
	pm_snapshot_free(s);
	return 0;
}

/* Row: FO-05 */
Test(steps, a_forked_child_begins_anew)
{
	struct pm_snapshot *s;

	many(40);
	PERFMON_REGION_BEGIN("loop");
	cr_assert_eq(probe_child(child), 0);
	for (int i = 0; i < 10; i++)
		step();
	PERFMON_REGION_END("loop");
	s = probe_take();
	expect_grid(steps_of(s, "step"), 50);
	pm_snapshot_free(s);
}

/* Row: FO-05: who is killed leaves all steps; the last one is open. */
Test(steps, a_killed_program_leaves_them)
{
	const struct pm_snapshot_steps *steps;
	char path[64] = "/tmp/perfmon-steps-XXXXXX";
	struct pm_profile_file *file;
	struct pm_diag diag = {0};
	struct pm_snapshot *s;
	int fd = mkstemp(path), status;
	pid_t pid;

	cr_assert_geq(fd, 0);
	close(fd);
	unlink(path);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setenv("PERFMON_PROFILE", path, 1);
		PERFMON_REGION_BEGIN("loop");
		for (int i = 0; i < 111; i++)
			step();
		PERFMON_REGION_BEGIN("step");
		raise(SIGKILL);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cr_assert_eq(pm_profile_file_open(path, &file, &diag), 0, "%s", diag.text);
	cr_assert_eq(pm_profile_file_snapshot(file, &s, &diag), 0, "%s", diag.text);
	unlink(path);
	cr_assert(!s->partial, "%s", s->problem);
	steps = steps_of(s, "step");
	/* 100, five of two, and the last, which has an open one. */
	cr_assert_eq(steps->count, 106);
	cr_assert_eq(steps->step[105].first, 111);
	cr_assert_eq(steps->step[105].last, 112);
	cr_assert_eq(pm_node_visits(node_of(steps, 105)), 1);
	cr_assert_eq(node_of(steps, 105)->entered, 2);
	pm_snapshot_free(s);
	pm_profile_file_close(file);
}

/* Row: FO-05: the profile is read while its threads run, begin and end. */
Test(steps, a_running_program_is_read)
{
	uint64_t times = 300000, seen = 0;
	pthread_t thread;

	many(1);
	for (int round = 0; round < 3; round++) {
		cr_assert_eq(pthread_create(&thread, NULL, worker, &times), 0);
		for (int i = 0; i < 30; i++) {
			struct pm_snapshot *s = probe_take();
			const struct pm_snapshot_steps *steps = steps_of(s, "step");
			uint64_t last = steps->step[steps->count - 1].last;

			for (uint32_t n = 0; n + 1 < steps->count; n++)
				cr_assert_eq(steps->step[n].last + 1,
					     steps->step[n + 1].first);
			cr_assert_geq(last, seen);
			seen = last;
			pm_snapshot_free(s);
			many(1);
		}
		pthread_join(thread, NULL);
	}
	cr_assert_geq(seen, 1);
}

static void *reads(void *stop)
{
	uint64_t seen = 0;

	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED) || !seen) {
		struct pm_snapshot *s = probe_take();
		const struct pm_snapshot_steps *steps;
		uint64_t visits = 0;

		if (!s->steps_count) {
			pm_snapshot_free(s);
			continue;
		}
		steps = steps_of(s, "step");
		for (uint32_t n = 0; n < steps->count; n++) {
			cr_assert_eq(steps->step[n].first,
				     n ? steps->step[n - 1].last + 1 : 1);
			if (n + 1 < steps->count)
				cr_assert_eq(pm_node_visits(node_of(steps, n)),
					     node_of(steps, n)->entered);
			visits += pm_node_visits(node_of(steps, n));
		}
		cr_assert_geq(visits, seen);
		seen = visits;
		pm_snapshot_free(s);
	}
	return NULL;
}

/* Row: FO-05 */
Test(steps, a_thread_is_read_while_it_makes_marks)
{
	int stop = 0;
	pthread_t thread;
	struct pm_snapshot *s;

	many(1);
	cr_assert_eq(pthread_create(&thread, NULL, reads, &stop), 0);
	for (int i = 0; i < 200; i++)
		many(1000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	s = probe_take();
	expect_grid(steps_of(s, "step"), 200001);
	pm_snapshot_free(s);
}

/* --- settings -------------------------------------------------------------------------- */

Test(steps, a_program_without_a_match_has_none)
{
	struct pm_snapshot *s;

	setenv("PERFMON_STEPS", "other", 1);
	many(10);
	s = probe_take();
	cr_assert_eq(s->steps_count, 0);
	probe_expect(s, {"loop/step", 10});
	pm_snapshot_free(s);
}

Test(steps, a_program_asks_for_them_itself)
{
	struct pm_snapshot *s;

	unsetenv("PERFMON_STEPS");
	cr_assert_eq(perfmon_region_configure("steps", "step", 0, NULL, 0), 0);
	many(10);
	s = probe_take();
	expect_grid(steps_of(s, "step"), 10);
	pm_snapshot_free(s);
}

Test(steps, strides_exclude_them)
{
	struct pm_snapshot *s;

	setenv("PERFMON_STRIDE", "loop=2", 1);
	many(10);
	s = probe_take();
	cr_assert_eq(s->steps_count, 0);
	cr_assert(probe_note(s, "cannot be combined with PERFMON_STRIDE"));
	pm_snapshot_free(s);
}

/* Visits that are left out have no steps, and those before stay. */
Test(steps, filters_work_beside_them)
{
	const struct pm_snapshot_steps *steps;
	struct pm_snapshot *s;

	setenv("PERFMON_SKIP", "loop", 1);
	setenv("PERFMON_MIN_MEAN", "1s", 1);
	many(3000);
	s = probe_take();
	steps = steps_of(s, "step");
	cr_assert_eq(steps->depth, 1);
	expect_grid(steps, 1023);
	cr_assert_eq(probe_sum(s, left_out[PERFMON_PROFILE_LEFT_OUT_MEAN]), 3000 - 1023);
	pm_snapshot_free(s);
}

/* --- reports --------------------------------------------------------------------------- */

#define VISITS 8

/* A path of one thread with a counter, whose visits took these ticks (ns), and half as many counts. */
static const uint64_t ticks[VISITS] = {3000, 1000, 1010, 9000, 1000, 990, 1000, 1000};

static struct perfmon_profile_steps *build(struct profile_builder *b)
{
	const size_t mark_size =
		sizeof(struct perfmon_profile_mark) + 2 * sizeof(uint64_t);
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_steps *steps;
	struct perfmon_profile_node *node;
	struct perfmon_profile_mark *mark;

	builder_begin(b, 1 << 16);
	builder_plan(b, 1, 1);
	builder_region(b, "loop");
	builder_region(b, "step");
	thread = builder_tree(b, 7, 1, 1, 3);
	builder_visit(builder_node(b, thread, 1, 1), 20000);
	node = builder_node(b, thread, 2, 2);
	steps = builder_record(b, PERFMON_PROFILE_TYPE_STEPS,
			       sizeof(*steps) + 8 + VISITS * mark_size);
	steps->thread = (uint64_t)((unsigned char *)thread - b->base);
	steps->node = 3;
	steps->series = 1;
	steps->capacity = VISITS;
	steps->mark_size = (uint32_t)mark_size;
	steps->depth = 2;
	steps->generation = steps->counters = 1;
	steps->tid = 7;
	strcpy(steps->name, "thread7");
	steps->status[0] = PERFMON_PROFILE_COUNTER_STATUS_USER;
	steps->region[0] = 1;
	steps->region[1] = 2;
	mark = (void *)(steps->region + 2);
	for (int i = 0; i < VISITS; i++) {
		mark->ticks = 1000 + 1000 * (uint64_t)i;
		mark->sequence = node->sequence;
		mark->entered = node->entered;
		mark->time_ticks = node->time_ticks;
		mark->time_squares = node->time_squares;
		mark->time_max = node->time_max;
		mark->count[0].sum = node->count[0].sum;
		mark = (void *)((char *)mark + mark_size);
		builder_visit(node, ticks[i]);
		node->count[0].sum += ticks[i] / 2;
	}
	steps->count = VISITS;
	return steps;
}

/* Row: FO-05: text says which steps were slow, with their counts beside those of the others. */
Test(steps, text_names_the_slow_ones)
{
	struct pm_report_options options = {.format = PM_FORMAT_TEXT};
	struct profile_builder b;
	char *text;

	build(&b);
	text = report_built(&b, &options);
	has(text, "steps of loop > step: 8 visits of thread 7 (thread7)");
	has(text, "\n1        3.000      3.00    1500\n"
		  "4        9.000      9.00    4500\n"
		  "other 6  1.000      1.00     500\n");
	free(text);
	options.format = PM_FORMAT_FLAT;
	text = report_built(&b, &options);
	has(text, "steps of loop > step: 8 visits");
	free(text);
	builder_end(&b);
}

/* Row: FO-05: a mark may be missing, so that a step has several visits. */
Test(steps, json_and_csv_have_all)
{
	struct pm_report_options options = {.format = PM_FORMAT_JSON};
	const struct perfmon_profile_steps *steps;
	struct perfmon_profile_mark *mark;
	struct profile_builder b;
	char *text;

	steps = build(&b);
	/* That before the second visit: as if it were a second one before the first. */
	mark = (void *)((char *)(uintptr_t)(steps->region + 2) + steps->mark_size);
	mark->entered = 0;
	text = report_built(&b, &options);
	has(text, "\"first\":1,\"last\":2,\"visits\":2,\"begin_ns\":0,\"time_ns\":4000,"
		  "\"longest_ns\":3000");
	has(text, "\"first\":4,\"last\":4,\"visits\":1,\"begin_ns\":3000,"
		  "\"time_ns\":9000,\"longest_ns\":9000");
	has(text, "\"first\":5,\"last\":5,\"visits\":1,\"begin_ns\":4000,"
		  "\"time_ns\":1000,\"longest_ns\":null");
	has(text, "\"counts\":[{\"value\":4500,\"marks\":[]}]");
	free(text);
	options.format = PM_FORMAT_CSV;
	text = report_built(&b, &options);
	has(text, "\r\nstep,1-2,1,0,1,loop;step,step,2,2,4000,,2000,1414.213562373095");
	has(text, "\r\nstep,4,3,0,1,loop;step,step,1,1,9000,,9000,,9000,9000,");
	free(text);
	builder_end(&b);
}

/* --- damage ---------------------------------------------------------------------------- */

/* Row: FO-05: each rule of doc/profile-layout.md. */
Test(steps, damaged_ones_are_refused)
{
	static const struct {
		size_t field;
		uint32_t value;
	} cases[] = {
#define CASE(field, value) {offsetof(struct perfmon_profile_steps, field), value}
		CASE(series, 0),     CASE(series, PERFMON_PROFILE_STEPS_MAX + 1),
		CASE(part, 1),	     CASE(part, PERFMON_PROFILE_PARTS_MAX),
		CASE(capacity, 129), CASE(count, VISITS + 1),
		CASE(depth, 0),	     CASE(depth, 257),
		CASE(depth, 200),    CASE(capacity, VISITS + 1),
		CASE(counters, 2),   CASE(counters, 33),
		CASE(mark_size, 8),  CASE(mark_size, 108),
		CASE(region[0], 0),  CASE(region[1], 3),
#undef CASE
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile_builder b;
		struct pm_diag diag = {0};
		struct pm_snapshot *s;

		memcpy((char *)build(&b) + cases[i].field, &cases[i].value,
		       sizeof(cases[i].value));
		cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
		cr_expect(s->partial, "case %zu", i);
		cr_expect(!strncmp(s->problem, "the profile has bad steps at byte", 33),
			  "case %zu: %s", i, s->problem);
		cr_expect_eq(s->steps_count, 0, "case %zu", i);
		pm_snapshot_free(s);
		builder_end(&b);
	}
}

/* The thread may be gone, and another may have its record: then the marks alone tell. */
Test(steps, marks_tell_without_their_thread)
{
	static const struct {
		size_t field;
		uint32_t value;
	} cases[] = {
#define CASE(field, value) {offsetof(struct perfmon_profile_steps, field), value}
		CASE(flags, PERFMON_PROFILE_STEPS_ENDED),
		CASE(thread, 16),
		CASE(node, 0),
		CASE(node, 2),
		CASE(node, 4),
		CASE(tid, 8),
#undef CASE
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile_builder b;
		struct pm_diag diag = {0};
		struct pm_snapshot *s;

		memcpy((char *)build(&b) + cases[i].field, &cases[i].value,
		       sizeof(cases[i].value));
		cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
		cr_expect(!s->partial, "case %zu: %s", i, s->problem);
		cr_assert_eq(s->steps_count, 1, "case %zu", i);
		expect_grid(&s->steps[0], VISITS - 1);
		pm_snapshot_free(s);
		builder_end(&b);
	}
}
