/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions by where their threads might run: NUMA nodes, packages, cores. */
#include "core/report/model/groups.h"
#include "core/report/model/path.h"
#include "region_probe.h"

#include <pthread.h>
#include <sched.h>

#include "core/kernel/machine_id.h"
#include "machine.h"
#include "perfmon/report.h"
#include "profile_builder.h"

TestSuite(region_levels, .init = probe_quiet, .fini = machine_remove, .timeout = 120);

/* --- on a machine of two packages --------------------------------------------------- */

static void may_run(struct perfmon_profile_thread *thread, unsigned int first,
		    unsigned int last)
{
	for (; first <= last; first++)
		thread->cpus[first / 64] |= UINT64_C(1) << first % 64;
}

/* A thread with VISITS of "work", of 10 ticks each. */
static struct perfmon_profile_thread *worker(struct profile_builder *b, uint32_t tid,
					     uint64_t visits)
{
	struct perfmon_profile_thread *thread = builder_thread(b, tid, 1, 0);
	struct perfmon_profile_node *node;

	builder_nodes(b, thread, 2);
	builder_node(b, thread, 0, 0);
	node = builder_node(b, thread, 1, 1);
	while (visits--)
		builder_visit(node, 10);
	return thread;
}

/* Six threads of a server with CPUs 0-27 and 28-55. */
static struct pm_snapshot *of_a_server(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread;
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};

	machine_unpack("server");
	tree_write("/proc/sys/kernel/random/boot_id", "here");
	builder_begin(b, 1 << 16);
	pm_machine_boot_id(builder_header(b)->boot_id,
			   sizeof(builder_header(b)->boot_id));
	builder_plan(b, 1, 0);
	builder_region(b, "work");
	may_run(worker(b, 1, 1), 0, 27);
	may_run(worker(b, 2, 2), 3, 3);
	may_run(worker(b, 3, 4), 28, 28);
	may_run(worker(b, 4, 8), 27, 28);
	worker(b, 5, 16);
	thread = worker(b, 6, 32);
	may_run(thread, 40, 41);
	thread->state = PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	thread->aggregated = 3;
	cr_assert_eq(pm_snapshot_take(b->base, builder_used(b), &snapshot, &diag), 0);
	cr_assert(!snapshot->partial, "%s", snapshot->problem);
	return snapshot;
}

static void expect_group(const struct pm_report_groups *groups,
			 const struct pm_report_model *model, uint32_t g,
			 const char *name, const char *cpus, uint64_t threads,
			 uint64_t visits)
{
	const struct pm_report_group *group = &groups->groups[g];
	struct pm_report_tree tree;

	cr_assert_lt(g, groups->count);
	cr_expect_str_eq(group->name, name);
	cr_expect_str_eq(group->cpus, cpus);
	cr_expect_eq(group->weight, threads, "%s has %llu threads", name,
		     (unsigned long long)group->weight);
	cr_assert_eq(pm_report_tree_make(&tree, model, group->threads, group->count), 0);
	cr_assert_eq(tree.node_count, 2);
	cr_expect_eq(pm_path(&tree, 1)->visits.ended, visits, "%s has %llu visits", name,
		     (unsigned long long)pm_path(&tree, 1)->visits.ended);
	cr_expect_eq(pm_path(&tree, 1)->times.inclusive, 10 * visits);
	pm_report_tree_free(&tree);
}

/* Row: DC-05: regions roll up over the machine's levels; a thread that none of a level's
 * objects holds is in none of them. */
Test(region_levels, threads_go_where_they_might_run)
{
	struct profile_builder b;
	struct pm_snapshot *snapshot = of_a_server(&b);
	struct pm_report_groups groups;
	struct pm_report_model model;
	struct pm_diag diag = {0};

	cr_assert_eq(pm_report_model_make(&model, snapshot, false, NULL), 0);
	cr_assert_eq(pm_report_groups_make(&groups, snapshot, "numa", &diag), 0, "%s",
		     diag.text);
	cr_expect_eq(groups.count, 4);
	expect_group(&groups, &model, 0, "numa:0", "0-27", 2, 1 + 2);
	expect_group(&groups, &model, 1, "numa:1", "28-55", 4, 4 + 32);
	expect_group(&groups, &model, 2, "several", "", 1, 8);
	expect_group(&groups, &model, 3, "unknown", "", 1, 16);
	pm_report_groups_free(&groups);

	/* Objects without threads are left out; a level's other names are understood. */
	cr_assert_eq(pm_report_groups_make(&groups, snapshot, "core", &diag), 0);
	cr_expect_eq(groups.count, 4);
	expect_group(&groups, &model, 0, "core:3", "3", 1, 2);
	expect_group(&groups, &model, 1, "core:28", "28", 1, 4);
	expect_group(&groups, &model, 2, "several", "", 5, 1 + 8 + 32);
	expect_group(&groups, &model, 3, "unknown", "", 1, 16);
	pm_report_groups_free(&groups);
	cr_assert_eq(pm_report_groups_make(&groups, snapshot, "socket", &diag), 0);
	expect_group(&groups, &model, 1, "package:1", "28-55", 4, 4 + 32);
	pm_report_groups_free(&groups);
	cr_assert_eq(pm_report_groups_make(&groups, snapshot, "machine", &diag), 0);
	expect_group(&groups, &model, 0, "machine:0", "0-55", 7, 1 + 2 + 4 + 8 + 32);
	pm_report_groups_free(&groups);

	pm_report_model_free(&model);
	pm_snapshot_free(snapshot);
	builder_end(&b);
}

Test(region_levels, what_cannot_be_grouped_says_why)
{
	struct profile_builder b;
	struct pm_snapshot *snapshot = of_a_server(&b);
	struct pm_report_groups groups = {.count = 77};
	struct pm_diag diag = {0};

	cr_expect_eq(pm_report_groups_make(&groups, snapshot, "rack", &diag), -EINVAL);
	cr_expect(strstr(diag.text, "'rack' is not a level"), "%s", diag.text);
	cr_expect_eq(pm_report_groups_make(&groups, snapshot, "die", &diag), -ENOENT);
	cr_expect(strstr(diag.text, "no level 'die'"), "%s", diag.text);
	strcpy(snapshot->header.boot_id, "another");
	cr_expect_eq(pm_report_groups_make(&groups, snapshot, "numa", &diag), -ENOENT);
	cr_expect(strstr(diag.text, "another machine"), "%s", diag.text);
	cr_expect_eq(groups.count, 77, "untouched");
	pm_snapshot_free(snapshot);
	builder_end(&b);
}

/* --- on this machine ---------------------------------------------------------------- */

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void visit(int times)
{
	while (times--) {
		PERFMON_REGION_BEGIN("work");
		PERFMON_REGION_END("work");
	}
}

static pthread_barrier_t met, done;

static void *bound(void *cpu)
{
	bind_to((int)(intptr_t)cpu);
	visit(1 + (int)(intptr_t)cpu);
	return NULL;
}

static void *rebound(void *cpus)
{
	bind_to(((int *)cpus)[0]);
	visit(100);
	bind_to(((int *)cpus)[1]);
	return NULL;
}

static void *bound_and_alive(void *cpus)
{
	bind_to(((int *)cpus)[0]);
	visit(1000);
	bind_to(((int *)cpus)[1]);
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&done);
	return NULL;
}

/* The first two CPUs that this thread may run on. */
static bool two_cpus(int cpus[2])
{
	cpu_set_t set;
	int found = 0;

	cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus[found++] = cpu;
	}
	return found == 2;
}

static void run(void *(*work)(void *), void *argument)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, work, argument), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}

static const struct pm_report_group *find(const struct pm_report_groups *groups,
					  const char *cpus)
{
	for (uint32_t g = 0; g < groups->count; g++)
		if (!strcmp(groups->groups[g].cpus, cpus))
			return &groups->groups[g];
	return NULL;
}

static uint64_t visits_of(const struct pm_snapshot *snapshot,
			  const struct pm_report_group *group)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < group->count; i++) {
		const struct perfmon_profile_node *node = probe_node(
			snapshot, &snapshot->threads[group->threads[i]], "work");

		sum += node ? pm_node_visits(node) : 0;
	}
	return sum;
}

/* Row: DC-05: for real: bound threads that have ended, each CPU's summed apart; one that
 * was bound elsewhere meanwhile, ended or alive, is in none. */
Test(region_levels, ended_and_living_threads_of_this_machine)
{
	struct pm_report_groups groups;
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	char name[2][16];
	pthread_t thread;
	int cpus[2];

	if (!two_cpus(cpus))
		cr_skip("one CPU alone is allowed here");
	for (int i = 0; i < 2; i++)
		snprintf(name[i], sizeof(name[i]), "%d", cpus[i]);
	run(bound, (void *)(intptr_t)cpus[0]);
	run(bound, (void *)(intptr_t)cpus[1]);
	run(bound, (void *)(intptr_t)cpus[1]);
	run(rebound, cpus);
	pthread_barrier_init(&met, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	cr_assert_eq(pthread_create(&thread, NULL, bound_and_alive, cpus), 0);
	pthread_barrier_wait(&met);
	snapshot = probe_take();
	pthread_barrier_wait(&done);
	pthread_join(thread, NULL);
	cr_expect_eq(snapshot->thread_count, 4, "three sums and one thread: %u",
		     snapshot->thread_count);
	cr_assert_eq(pm_report_groups_make(&groups, snapshot, "pu", &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(groups.count, 3);
	cr_assert(find(&groups, name[0]) && find(&groups, name[1]));
	cr_expect_eq(find(&groups, name[0])->weight, 1);
	cr_expect_eq(find(&groups, name[1])->weight, 2);
	cr_expect_eq(visits_of(snapshot, find(&groups, name[0])), (uint64_t)cpus[0] + 1);
	cr_expect_eq(visits_of(snapshot, find(&groups, name[1])),
		     2 * ((uint64_t)cpus[1] + 1));
	cr_expect_str_eq(groups.groups[2].name, "several");
	cr_expect_eq(groups.groups[2].weight, 2);
	cr_expect_eq(visits_of(snapshot, &groups.groups[2]), 1100);
	pm_report_groups_free(&groups);
	pm_snapshot_free(snapshot);
}

/* What perfmon_report_write() says with LEVEL, in FORMAT. */
static char *report_of(const char *level, uint32_t format, int want)
{
	char message[200] = "old";
	struct perfmon_report_options options = {.size = sizeof(options),
						 .format = format,
						 .level = level,
						 .message = message,
						 .message_size = sizeof(message)};
	FILE *file = tmpfile();
	char *text = calloc(1, 1 << 17);

	cr_assert(file && text);
	cr_assert_eq(perfmon_report_write(fileno(file), &options), want);
	if (want)
		cr_assert_not_null(strstr(message, level), "%s", message);
	else
		cr_assert_str_empty(message);
	rewind(file);
	cr_assert_lt(fread(text, 1, 1 << 17, file), 1 << 17);
	fclose(file);
	return text;
}

Test(region_levels, each_format_has_the_groups)
{
	static const struct {
		uint32_t format;
		const char *says;
	} formats[] = {
		{PERFMON_REPORT_FORMAT_TEXT, "\nmachine:0 (CPU "},
		{PERFMON_REPORT_FORMAT_FLAT, "\nmachine:0 (CPU "},
		{PERFMON_REPORT_FORMAT_JSON, "\"level\":\"machine\",\"groups\":["},
		{PERFMON_REPORT_FORMAT_CSV, "\r\nmachine:0,"},
	};
	char *text;

	visit(3);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		text = report_of("machine", formats[i].format, 0);
		cr_expect(strstr(text, formats[i].says), "%s", text);
		free(text);
		text = report_of(NULL, formats[i].format, 0);
		cr_expect_null(strstr(text, "machine:0"), "%s", text);
		free(text);
	}
	text = report_of("rack", PERFMON_REPORT_FORMAT_TEXT, -EINVAL);
	cr_expect_str_empty(text);
	free(text);
}

/* From the environment a bad level costs nothing but a note. */
Test(region_levels, a_bad_level_of_the_environment_is_noted)
{
	char *text;

	setenv("PERFMON_LEVEL", "rack", 1);
	visit(3);
	text = report_of(NULL, PERFMON_REPORT_FORMAT_TEXT, 0);
	cr_expect(strstr(text, "note: 'rack' is not a level of the machine"), "%s", text);
	cr_expect(strstr(text, "work"), "%s", text);
	free(text);
}
