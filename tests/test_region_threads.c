/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that use regions come and go: registry, fold, destructors. */
#include "bounds.h"
#include "core/report/model/value.h"
#include "helpers.h"
#include "region_probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/regions/threads/paths.h"
#include "core/regions/threads/state.h"
#include "perfmon/report.h"

TestSuite(region_threads, .init = probe_quiet, .timeout = 240);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static size_t resident_kb(void)
{
	unsigned long size, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	cr_assert_eq(fscanf(file, "%lu %lu", &size, &resident), 2);
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

#define WAVE 100

static pthread_barrier_t barrier;

static void *come_and_go(void *argument)
{
	char name[32];

	PERFMON_REGION_BEGIN("thread");
	snprintf(name, sizeof(name), "number %d", (int)(intptr_t)argument % 10);
	for (int i = 0; i < 3; i++) {
		perfmon_region_begin_name(name);
		PERFMON_REGION_BEGIN("work");
		PERFMON_REGION_END("work");
		perfmon_region_end_name(name);
	}
	/* All of a wave are there at the same time. */
	pthread_barrier_wait(&barrier);
	PERFMON_REGION_END("thread");
	return NULL;
}

static void wave(int first)
{
	pthread_t threads[WAVE];

	for (int i = 0; i < WAVE; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, come_and_go,
					    (void *)(intptr_t)(first + i)),
			     0);
	for (int i = 0; i < WAVE; i++)
		pthread_join(threads[i], NULL);
}

/* Row: DC-06 DC-02 */
Test(region_threads, thousands_in_waves_of_a_hundred)
{
	/* All of them run natively. Sanitizers and the emulated machine are slower. */
	const int count = getenv("PERFMON_TEST_SHORT") ? 2000 : 10000;
	struct pm_snapshot *early, *late;
	int descriptors;
	size_t kb;

	pthread_barrier_init(&barrier, NULL, WAVE);
	for (int i = 0; i < 5; i++)
		wave(0);
	early = probe_take();
	descriptors = open_descriptors();
	kb = resident_kb();
	for (int i = 0; i < count; i += WAVE)
		wave(i);
	late = probe_take();
	cr_assert_eq(open_descriptors(), descriptors);
	cr_assert_eq(late->header.used, early->header.used,
		     "the profile grew from %llu to %llu bytes",
		     (unsigned long long)early->header.used,
		     (unsigned long long)late->header.used);
	/* A sanitizer keeps freed memory for a while. */
	cr_assert_leq(resident_kb(), kb + (SANITIZED ? 1 << 20 : 4096),
		      "memory grew from %zu to %zu KiB", kb, resident_kb());

	cr_assert_eq(late->thread_count, 1, "all are folded into one");
	cr_assert_eq(late->threads[0].record.aggregated, 500u + (unsigned int)count);
	cr_assert_eq(probe_visits(late, "thread"), 500u + (unsigned int)count);
	for (int i = 0; i < 10; i++) {
		char path[64];

		snprintf(path, sizeof(path), "thread/number %d/work", i);
		cr_assert_eq(probe_visits(late, path),
			     3u * (50u + (unsigned int)count / 10));
	}
	cr_assert_eq(probe_all_lost(late) + late->header.lost_threads, 0);
	pm_snapshot_free(early);
	pm_snapshot_free(late);
}

static atomic_uint_fast64_t truth;
static atomic_bool stop;

static void *short_lived(void *unused)
{
	PERFMON_REGION_BEGIN("short");
	for (int i = 0; i < 5; i++) {
		PERFMON_REGION_BEGIN("lived");
		PERFMON_REGION_END("lived");
		atomic_fetch_add(&truth, 1);
	}
	PERFMON_REGION_END("short");
	return unused;
}

static void *keep_creating(void *unused)
{
	while (!atomic_load(&stop)) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, short_lived, NULL))
			pthread_join(thread, NULL);
	}
	return unused;
}

/* Row: DC-06: a reader walks them meanwhile, and sees each visit once. */
Test(region_threads, snapshots_while_threads_come_and_go)
{
	pthread_t creators[2];
	uint64_t last = 0;

	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_END("main");
	for (int i = 0; i < 2; i++)
		pthread_create(&creators[i], NULL, keep_creating, NULL);
	for (int i = 0; i < 300; i++) {
		uint64_t before = atomic_load(&truth), seen, after;
		struct pm_snapshot *s = probe_take();

		seen = probe_visits(s, "short/lived");
		after = atomic_load(&truth);
		/* Two threads may each be between a visit and its addition. */
		cr_assert_geq(seen, before, "%llu of %llu visits",
			      (unsigned long long)seen, (unsigned long long)before);
		cr_assert_leq(seen, after + 2);
		cr_assert_geq(seen, last);
		last = seen;
		pm_snapshot_free(s);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(creators[i], NULL);
	cr_assert_eq(probe_now("short/lived"), atomic_load(&truth));
}

static void *with_paths(void *argument)
{
	int number = (int)(intptr_t)argument;
	char name[32];

	PERFMON_REGION_BEGIN("common");
	snprintf(name, sizeof(name), "only in %d", number);
	for (int i = 0; i <= number; i++) {
		perfmon_region_begin_name(name);
		let_time_pass_us(200);
		perfmon_region_end_name(name);
	}
	PERFMON_REGION_END("common");
	PERFMON_REGION_END("nothing");
	PERFMON_REGION_BEGIN("left open");
	return NULL;
}

Test(region_threads, the_fold_is_the_sum)
{
	struct pm_snapshot *apart = NULL, *s;
	const struct perfmon_profile_node *common, *node;
	const struct pm_snapshot_thread *folded;
	uint64_t ticks = 0, binned = 0;

	for (int i = 0; i < 6; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, with_paths, (void *)(intptr_t)i);
		pthread_join(thread, NULL);
		if (i == 4)
			apart = probe_take();
	}
	s = probe_take();
	cr_assert_eq(s->thread_count, 1);
	folded = &s->threads[0];
	cr_assert_eq(folded->record.state, PERFMON_PROFILE_THREAD_STATE_AGGREGATE);
	cr_assert_eq(folded->record.aggregated, 6);
	cr_assert_eq(folded->record.unmatched_ends, 6);
	common = probe_node(s, folded, "common");
	cr_assert_eq(pm_node_visits(common), 6);
	cr_assert_eq(common->threads, 6);
	cr_assert_leq(common->thread_min_ticks, common->thread_max_ticks);
	cr_assert_eq(common->thread_min_ticks, common->time_min, "one visit a thread");
	cr_assert_eq(common->thread_max_ticks, common->time_max);
	for (int i = 0; i < 6; i++) {
		char path[64];

		snprintf(path, sizeof(path), "common/only in %d", i);
		node = probe_node(s, folded, path);
		cr_assert_eq(pm_node_visits(node), (unsigned int)i + 1);
		cr_assert_eq(node->threads, 1);
		cr_assert_leq(node->time_ticks, common->time_max);
		ticks += node->time_ticks;
	}
	cr_assert_leq(ticks, common->time_ticks);
	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		binned += common->histogram[i];
	cr_assert_eq(binned, 6);
	node = probe_node(s, folded, "left open");
	cr_assert_eq(node->entered, 6);
	cr_assert_eq(pm_node_visits(node), 0);
	/* What was there with five is there with six. */
	node = probe_node(apart, &apart->threads[0], "common");
	cr_assert_leq(node->time_ticks, common->time_ticks);
	cr_assert_geq(node->time_min, common->time_min);
	pm_snapshot_free(apart);
	pm_snapshot_free(s);
}

/* The nodes that the calling thread may write to. */
static struct perfmon_profile_node *own_node(uint32_t number)
{
	return pm_thread_node(pm_thread_block->thread->record, number);
}

static void *at_the_most(void *rounds)
{
	for (int i = 0; i < (int)(intptr_t)rounds; i++) {
		PERFMON_REGION_BEGIN("outer");
		PERFMON_REGION_BEGIN("inner");
		if (!i)
			own_node(3)->mismatched_ends = UINT32_MAX - 1;
		PERFMON_REGION_END("outer");
	}
	own_node(2)->fallback_reads = UINT32_MAX;
	own_node(2)->retries = UINT32_MAX;
	own_node(2)->migrations = UINT32_MAX;
	own_node(2)->dropped_counts = UINT32_MAX - 1;
	own_node(2)->defects = 1U << 31;
	own_node(2)->spilled = UINT32_MAX;
	own_node(2)->histogram[40] = 1U << 31;
	return NULL;
}

/* In a thread, and where threads are added up. */
Test(region_threads, marks_that_are_full_stay)
{
	const struct perfmon_profile_node *node;
	struct pm_snapshot *s;

	for (intptr_t i = 2; i <= 4; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, at_the_most, (void *)i);
		pthread_join(thread, NULL);
		s = probe_take();
		node = probe_node(s, &s->threads[0], "outer/inner");
		cr_assert_eq(node->mismatched_ends, UINT32_MAX, "with %d visits", (int)i);
		pm_snapshot_free(s);
	}
	s = probe_take();
	node = probe_node(s, &s->threads[0], "outer");
	cr_assert_eq(node->fallback_reads, UINT32_MAX);
	cr_assert_eq(node->retries, UINT32_MAX);
	cr_assert_eq(node->migrations, UINT32_MAX);
	cr_assert_eq(node->dropped_counts, UINT32_MAX);
	cr_assert_eq(node->defects, UINT32_MAX);
	cr_assert_eq(node->spilled, UINT32_MAX);
	cr_assert_eq(node->histogram[40], UINT32_MAX);
	pm_snapshot_free(s);
}

Test(region_threads, threads_are_kept_apart_on_request)
{
	struct pm_snapshot *s;
	uint32_t ended = 0;

	setenv("PERFMON_THREADS", "keep", 1);
	for (int i = 0; i < 4; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, with_paths, (void *)(intptr_t)i);
		pthread_join(thread, NULL);
	}
	s = probe_take();
	cr_assert_eq(s->thread_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct perfmon_profile_thread *record = &s->threads[i].record;

		ended += record->state == PERFMON_PROFILE_THREAD_STATE_ENDED;
		cr_assert_gt(record->end_ticks, record->begin_ticks);
		cr_assert_neq(record->tid, 0);
		cr_assert_eq(pm_node_visits(probe_node(s, &s->threads[i], "common")), 1);
	}
	cr_assert_eq(ended, 4);
	pm_snapshot_free(s);
}

static pthread_key_t keys[3];
static int rounds;

/* Of the program's, before and after the library's: each uses regions, twice. */
static void use_region(void *value)
{
	PERFMON_REGION_BEGIN("destructor");
	PERFMON_REGION_END("destructor");
	rounds++;
	if ((intptr_t)value < 3)
		pthread_setspecific(keys[0], (void *)((intptr_t)value + 1));
}

static void *with_destructors(void *unused)
{
	pthread_setspecific(keys[0], (void *)1);
	PERFMON_REGION_BEGIN("body");
	PERFMON_REGION_END("body");
	pthread_setspecific(keys[1], (void *)3);
	return unused;
}

Test(region_threads, destructors_that_run_after_the_thread_was_folded)
{
	int descriptors;
	pthread_t thread;

	/* Before the library's own key, and, behind its first region, after it. */
	pthread_key_create(&keys[0], use_region);
	PERFMON_REGION_BEGIN("main");
	PERFMON_REGION_END("main");
	pthread_key_create(&keys[1], use_region);
	descriptors = open_descriptors();
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, with_destructors, NULL);
		pthread_join(thread, NULL);
	}
	cr_assert_eq(rounds, 20 * 4);
	cr_assert_eq(probe_now("body"), 20);
	/* In the first round before and after the fold; in later ones at most one more
	 * set-up serves, and what comes after that is dropped. */
	cr_assert_geq(probe_now("destructor"), 20 * 2);
	cr_assert_leq(probe_now("destructor"), 20 * 4);
	cr_assert_eq(open_descriptors(), descriptors, "nothing leaks");
}

static void *end_by_exit(void *unused)
{
	PERFMON_REGION_BEGIN("exits");
	PERFMON_REGION_END("exits");
	pthread_exit(unused);
}

/* Whether the process's first thread has left, as the kernel tells it. */
static bool first_has_left(void)
{
	char path[64], text[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	file = fopen(path, "re");
	if (!file)
		return true;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strstr(text, ") Z ") != NULL;
}

static void *late_main(void *unused)
{
	struct pm_snapshot *s;
	int good;

	(void)unused;
	WAIT_UNTIL(first_has_left());
	PERFMON_REGION_BEGIN("after main");
	PERFMON_REGION_END("after main");
	if (pm_regions_snapshot(&s, NULL))
		_exit(2);
	good = probe_visits(s, "in main") == 1 && probe_visits(s, "after main") == 1;
	_exit(good ? 0 : 1);
}

static int main_that_leaves(void)
{
	pthread_t thread;

	PERFMON_REGION_BEGIN("in main");
	PERFMON_REGION_END("in main");
	pthread_create(&thread, NULL, late_main, NULL);
	pthread_exit(NULL);
}

Test(region_threads, the_first_thread_may_leave_before_the_others)
{
	pthread_t thread;

	pthread_create(&thread, NULL, end_by_exit, NULL);
	pthread_join(thread, NULL);
	cr_assert_eq(probe_now("exits"), 1);
#ifdef __SANITIZE_THREAD__
	cr_skip_test(
		"the thread sanitizer lets the first thread go before its destructors "
		"have run, and does not see their locks");
#endif
	cr_assert_eq(probe_child(main_that_leaves), 0);
}

static void *only_ends(void *unused)
{
	PERFMON_REGION_END("moved");
	perfmon_region_end_name("moved");
	return unused;
}

/* Whether the report doubts the tree's node of REGION. */
static bool doubted(const struct pm_snapshot *s, const char *region)
{
	struct pm_report_model model;
	struct pm_report_tree tree;
	bool found = false;

	cr_assert_eq(pm_report_model_make(&model, s, false, NULL), 0);
	cr_assert_eq(pm_report_tree_make(&tree, &model, NULL, 0), 0);
	for (uint32_t n = 1; n < tree.node_count; n++)
		if (!strcmp(pm_path_name(&tree, n), region))
			found = pm_report_time(&tree, n, false).marks &
				PM_MARK_MISMATCHED;
	pm_report_tree_free(&tree);
	pm_report_model_free(&model);
	return found;
}

/* As of a stack that another thread goes on with. */
Test(region_threads, ends_in_a_thread_that_has_begun_nothing_are_unmatched)
{
	struct pm_snapshot *s;
	pthread_t thread;

	PERFMON_REGION_BEGIN("moved");
	PERFMON_REGION_BEGIN("below");
	PERFMON_REGION_END("below");
	s = probe_take();
	cr_assert(!doubted(s, "below"));
	pm_snapshot_free(s);
	pthread_create(&thread, NULL, only_ends, NULL);
	pthread_join(thread, NULL);
	s = probe_take();
	cr_assert(doubted(s, "below"));
	cr_assert_eq(s->header.unmatched_ends, 2);
	cr_assert_eq(s->thread_count, 1, "it is not set up for that");
	cr_assert_eq(probe_entered(s, "moved"), 1);
	cr_assert_eq(probe_visits(s, "moved"), 0);
	pm_snapshot_free(s);
}

/* --- stacks ------------------------------------------------------------------------- */

/* What doc/regions.md promises: the first pass saves the vector registers. */
#if defined(__x86_64__)
extern uint32_t pm_arch_keep_bytes; /* src/arch/keep.c */
#define VECTORS pm_arch_keep_bytes
#else
#define VECTORS 512
#endif
#define STACK_MOST (((size_t)8 << 10) + VECTORS)
#define PAINT	   0xa5

/* Painted memory with a page below it that may not be touched. */
static unsigned char *paint(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *stack = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(stack, MAP_FAILED);
	cr_assert_eq(mprotect(stack, page, PROT_NONE), 0);
	return memset(stack + page, PAINT, size);
}

static size_t used(const unsigned char *stack, size_t size)
{
	size_t left = 0;

	while (left < size && stack[left] == PAINT)
		left++;
	return size - left;
}

/* What RUN takes of the stack of a thread as small as there may be. */
static size_t stack_of(void *(*run)(void *))
{
	size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN);
	unsigned char *stack = paint(size);
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	cr_assert_eq(pthread_attr_setstack(&attributes, stack, size), 0);
	cr_assert_eq(pthread_create(&thread, &attributes, run, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	return used(stack, size);
}

static void *nothing(void *unused)
{
	return unused;
}

static void *one_region(void *unused)
{
	PERFMON_REGION_BEGIN("one");
	PERFMON_REGION_END("one");
	return unused;
}

static void *many_regions(void *unused)
{
	char name[] = "name 00";

	for (int i = 0; i < 40; i++) {
		name[5] = (char)('0' + i / 10);
		name[6] = (char)('0' + i % 10);
		perfmon_region_begin_name(name);
		one_region(NULL);
		perfmon_region_end_name(name);
	}
	return unused;
}

static int report_to;

static void *one_report(void *unused)
{
	one_region(NULL);
	if (perfmon_report_write(report_to, NULL))
		report_to = -1;
	return unused;
}

Test(region_threads, regions_and_reports_fit_small_stacks)
{
	size_t bare, first, later, many, report;

#ifdef TESTS_SANITIZED
	cr_skip_test("sanitizers make all frames larger");
#endif
	report_to = open("/dev/null", O_WRONLY | O_CLOEXEC);
	bare = stack_of(nothing);
	first = stack_of(one_region) - bare;
	later = stack_of(one_region) - bare;
	many = stack_of(many_regions) - bare;
	report = stack_of(one_report) - bare;
	cr_log_info("first %zu, later %zu, many %zu, report %zu bytes", first, later,
		    many, report);
	cr_assert_neq(report_to, -1);
	cr_assert_leq(first, STACK_MOST, "%zu", first);
	cr_assert_leq(later, STACK_MOST, "%zu", later);
	cr_assert_leq(many, STACK_MOST, "%zu", many);
	cr_assert_leq(report, STACK_MOST, "%zu", report);
}

/* What reads counters, by read(2) too, needs more than what times alone. */
Test(region_threads, first_regions_with_counters_fit_small_stacks)
{
	size_t bare, first, later;

#ifdef TESTS_SANITIZED
	cr_skip_test("sanitizers make all frames larger");
#endif
	setenv("PERFMON_EVENTS", "{page-faults,context-switches,cpu-migrations},dummy",
	       1);
	bare = stack_of(nothing);
	first = stack_of(one_region) - bare;
	later = stack_of(one_region) - bare;
	cr_log_info("first %zu, later %zu bytes", first, later);
	cr_assert_leq(first, STACK_MOST, "%zu", first);
	cr_assert_leq(later, STACK_MOST, "%zu", later);
}

static void do_nothing(int signal)
{
	(void)signal;
}

static void use_regions(int signal)
{
	(void)signal;
	many_regions(NULL);
}

/* What HANDLER takes of an alternate stack. */
static size_t stack_of_handler(void (*handler)(int signal))
{
	size_t size = (size_t)64 << 10;
	unsigned char *memory = paint(size);
	stack_t stack = {.ss_sp = memory, .ss_size = size};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	cr_assert_eq(sigaltstack(&stack, NULL), 0);
	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	return used(memory, size);
}

Test(region_threads, a_region_in_a_handler_fits_a_small_stack)
{
	size_t bare, dropped, counted;

#ifdef TESTS_SANITIZED
	cr_skip_test("sanitizers make all frames larger");
#endif
	bare = stack_of_handler(do_nothing);
	dropped = stack_of_handler(use_regions) - bare;
	one_region(NULL);
	counted = stack_of_handler(use_regions) - bare;
	cr_log_info("dropped %zu, counted %zu bytes", dropped, counted);
	cr_assert_leq(dropped, STACK_MOST, "%zu", dropped);
	cr_assert_leq(counted, STACK_MOST, "%zu", counted);
}
