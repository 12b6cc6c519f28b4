/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of so many instructions, counted by translation in every way that the library has.
 * Says how many instructions each way adds, and ends with 1 if that is not one number.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/inline.h>
#include <perfmon/perfmon.h>
#include <perfmon/profile_layout.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define BLOCK_1000000                                                                    \
	__asm__ volatile("mov $499999, %%eax\n1: dec %%eax\n\tjnz 1b\n\tnop" ::          \
				 : "eax", "cc")
#elif defined(__aarch64__)
#define BLOCK_1000000                                                                    \
	__asm__ volatile("mov w0, #41247\n\tmovk w0, #7, lsl #16\n"                      \
			 "1: subs w0, w0, #1\n\tb.ne 1b" ::                              \
				 : "w0", "cc")
#endif
#define BLOCK_1	   __asm__ volatile("nop")
#define BLOCK_10   __asm__ volatile(".rept 10\n\tnop\n\t.endr")
#define BLOCK_1000 __asm__ volatile(".rept 1000\n\tnop\n\t.endr")

#define SIZES(X) X(1) X(10) X(1000) X(1000000)
#define REPEAT	 1000 /* of all blocks but the longest */
#define THREADS	 4
#define DEPTH	 6

static int failed;

/* VALUE of WHAT, which is to be the same each time. */
static void same(const char *what, uint64_t *known, uint64_t value)
{
	if (*known == UINT64_MAX) {
		*known = value;
	} else if (*known != value) {
		printf("%s: %llu, and before %llu\n", what, (unsigned long long)value,
		       (unsigned long long)*known);
		__atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
	}
}

/* --- regions --------------------------------------------------------------------------- */

/* The same regions at several places in the code. */
#define PLACE(place)                                                                     \
	static __attribute__((noinline)) void place##_1(void)                            \
	{                                                                                \
		PERFMON_REGION_BEGIN("block 1");                                         \
		BLOCK_1;                                                                 \
		PERFMON_REGION_END("block 1");                                           \
	}                                                                                \
	static __attribute__((noinline)) void place##_10(void)                           \
	{                                                                                \
		PERFMON_REGION_BEGIN("block 10");                                        \
		BLOCK_10;                                                                \
		PERFMON_REGION_END("block 10");                                          \
	}                                                                                \
	static __attribute__((noinline)) void place##_1000(void)                         \
	{                                                                                \
		PERFMON_REGION_BEGIN("block 1000");                                      \
		BLOCK_1000;                                                              \
		PERFMON_REGION_END("block 1000");                                        \
	}                                                                                \
	static __attribute__((noinline)) void place##_1000000(void)                      \
	{                                                                                \
		PERFMON_REGION_BEGIN("block 1000000");                                   \
		BLOCK_1000000;                                                           \
		PERFMON_REGION_END("block 1000000");                                     \
	}
PLACE(here)
PLACE(there)
PLACE(elsewhere)

static __attribute__((noinline)) void blocks(int repeat)
{
	for (int i = 0; i < repeat; i++) {
		here_1();
		there_1();
		elsewhere_1();
		here_10();
		there_10();
		elsewhere_10();
		here_1000();
		there_1000();
		elsewhere_1000();
	}
	here_1000000();
	there_1000000();
	elsewhere_1000000();
}

static __attribute__((noinline)) void nest(int depth, int repeat)
{
	PERFMON_REGION_BEGIN("level");
	blocks(repeat);
	if (depth > 1)
		nest(depth - 1, repeat);
	PERFMON_REGION_END("level");
}

/* What the region of blocks of N counts above N, in the calling thread. */
static void check_region(const char *name, uint64_t n, uint64_t *known)
{
	struct perfmon_region_summary values = {.size = sizeof(values)};
	struct perfmon_region_count count;
	int err = perfmon_region_read(name, &values, &count, 1, sizeof(count), 0);

	if (err || !(count.status & PERFMON_VALUE_COUNTED)) {
		printf("%s: error %d, status %u\n", name, err, count.status);
		__atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
		return;
	}
	/* Of a few visits on a few paths a stride may measure none. */
	if (!values.visits && getenv("PERFMON_STRIDE"))
		return;
	if (count.value % values.visits) {
		printf("%s: %llu in %llu visits\n", name, (unsigned long long)count.value,
		       (unsigned long long)values.visits);
		__atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
	}
	same(name, known, count.value / values.visits - n);
}

static void *in_thread(void *repeat)
{
	static uint64_t known = UINT64_MAX;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	blocks(*(int *)repeat);
	nest(DEPTH, *(int *)repeat / 10 + 1);
	pthread_mutex_lock(&lock);
#define CHECK(n) check_region("block " #n, n, &known);
	SIZES(CHECK)
#undef CHECK
	pthread_mutex_unlock(&lock);
	return &known;
}

static int regions(int threads)
{
	pthread_t thread[THREADS];
	int repeat = REPEAT;
	void *known;

	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, in_thread, &repeat);
	known = in_thread(&repeat);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("regions add %llu\n", (unsigned long long)*(uint64_t *)known);
	return failed;
}

static __attribute__((noinline)) void around_one(void)
{
	PERFMON_REGION_BEGIN("around");
	here_1();
	PERFMON_REGION_END("around");
}

/* What visits of "around" have counted since this was last called. */
static uint64_t around_counted(void)
{
	static uint64_t before;
	struct perfmon_region_summary values = {.size = sizeof(values)};
	struct perfmon_region_count count = {.value = 0};
	uint64_t counted;

	perfmon_region_read("around", &values, &count, 1, sizeof(count), 0);
	counted = count.value - before;
	before = count.value;
	return counted;
}

/* At each level the first visit of a path counts as the next one does in the visit around it. */
static int deep(int levels)
{
	uint64_t known = UINT64_MAX;

	around_one(); /* the names, and the places in the code */
	around_counted();
	for (int level = 0; level < levels; level++) {
		PERFMON_REGION_BEGIN("level");
		PERFMON_REGION_BEGIN("around");
		PERFMON_REGION_END("around");
		around_counted();
		for (int visit = 0; visit < 2; visit++) {
			around_one();
			same("around a path's visit", &known, around_counted());
		}
	}
	while (levels--)
		PERFMON_REGION_END("level");
	printf("first visits add nothing to %llu\n", (unsigned long long)known);
	return failed || !known;
}

static int forks(void)
{
	int repeat = 10, status;
	pid_t child;

	PERFMON_REGION_BEGIN("around the fork");
	in_thread(&repeat);
	child = fork();
	if (!child)
		in_thread(&repeat);
	PERFMON_REGION_END("around the fork");
	if (!child)
		exit(failed);
	waitpid(child, &status, 0);
	in_thread(&repeat);
	return failed || !WIFEXITED(status) || WEXITSTATUS(status);
}

/* --- sessions -------------------------------------------------------------------------- */

static int must(struct perfmon_session *session, const char *what, int result)
{
	char message[300] = "";

	if (result >= 0)
		return result;
	if (session)
		perfmon_session_message(session, message, sizeof(message));
	printf("%s: error %d: %s\n", what, result, message);
	exit(1);
}

#define INLINE_READ(n)                                                                   \
	perfmon_reader_read(reader, 0, &before);                                         \
	BLOCK_##n;                                                                       \
	perfmon_reader_read(reader, 0, &after);                                          \
	same("inline reads", &inline_adds, after - before - (n));
#define CALL_READ(n)                                                                     \
	must(session, "read",                                                            \
	     perfmon_session_read(session, &first, 1, sizeof(first), 0));                \
	BLOCK_##n;                                                                       \
	must(session, "read", perfmon_session_read(session, &last, 1, sizeof(last), 0)); \
	same("session reads", &read_adds, last.value - first.value - (n));
#define STRETCH(n)                                                                       \
	first.value = stopped(session);                                                  \
	must(session, "start", perfmon_session_start(session));                          \
	BLOCK_##n;                                                                       \
	must(session, "stop", perfmon_session_stop(session));                            \
	same("stretches", &stretch_adds, stopped(session) - first.value - (n));

static uint64_t stopped(struct perfmon_session *session)
{
	struct perfmon_value value = {.index = 0};

	must(session, "read", perfmon_session_read(session, &value, 1, sizeof(value), 0));
	return value.value;
}

static int sessions(void)
{
	uint64_t inline_adds = UINT64_MAX, read_adds = UINT64_MAX,
		 stretch_adds = UINT64_MAX;
	struct perfmon_value first = {.index = 0}, last = {.index = 0};
	const struct perfmon_reader *reader;
	struct perfmon_session *session;
	uint64_t before = 0, after = 0;

	must(NULL, "create", perfmon_session_create(&session, NULL, NULL, 0));
	must(session, "events", perfmon_session_add_events(session, "instructions:u"));
	must(session, "attach",
	     perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	must(session, "reader", perfmon_session_reader(session, &reader));
	must(session, "start", perfmon_session_start(session));
	perfmon_reader_read(reader, 0, &before);
	stopped(session);
	for (int i = 0; i < 20; i++) {
		SIZES(INLINE_READ)
	}
	for (int i = 0; i < 20; i++) {
		SIZES(CALL_READ)
	}
	must(session, "stop", perfmon_session_stop(session));
	for (int i = 0; i < 20; i++) {
		SIZES(STRETCH)
	}
	if (last.status & PERFMON_VALUE_SYSCALL ||
	    !(last.status & PERFMON_VALUE_COUNTED) ||
	    last.enabled_ns != last.running_ns) {
		printf("a value has status 0x%x\n", last.status);
		failed = 1;
	}
	printf("inline reads add %llu, session reads %llu, stretches %llu\n",
	       (unsigned long long)inline_adds, (unsigned long long)read_adds,
	       (unsigned long long)stretch_adds);
	perfmon_session_close(session);
	return failed;
}

/* --- what cannot be had ---------------------------------------------------------------- */

static void *wait_for_end(void *tid)
{
	__atomic_store_n((int *)tid, gettid(), __ATOMIC_RELEASE);
	pause();
	return NULL;
}

static void refused(struct perfmon_session *session, const char *what, int result)
{
	char message[300] = "";

	perfmon_session_message(session, message, sizeof(message));
	printf("%s: %d: %s\n", what, result, message);
	failed |= result >= 0 || !message[0];
}

static int has_no_attr(const struct perfmon_event_encoding *event, void *argument)
{
	(void)argument;
	return event->attr ? 1 : 7;
}

static int refusals(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct perfmon_session *session;
	pthread_t thread;
	int tid = 0;

	pthread_create(&thread, NULL, wait_for_end, &tid);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		sched_yield();
	must(NULL, "create", perfmon_session_create(&session, NULL, NULL, 0));
	refused(session, "kernel event",
		perfmon_session_add_events(session, "page-faults"));
	refused(session, "modifier",
		perfmon_session_add_events(session, "instructions:k"));
	refused(session, "not counted",
		perfmon_session_add_events(session, "exact::dp-flops"));
	must(session, "events", perfmon_session_add_events(session, "instructions"));
	refused(session, "thread",
		perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, tid));
	refused(session, "process",
		perfmon_session_attach(session, PERFMON_TARGET_KIND_PROCESS, getpid()));
	must(session, "attach",
	     perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0));
	refused(session, "overflow", perfmon_overflow_period(session, 0, 1000, 0));
	perfmon_session_close(session);
	if (perfmon_event_expand("instructions", 0, has_no_attr, NULL, NULL, 0) != 7 ||
	    perfmon_event_encode("instructions", 0, &attr, NULL, 0) != -EOPNOTSUPP) {
		printf("an exact event has an attr\n");
		failed = 1;
	}
	return failed;
}

/* --- totals ---------------------------------------------------------------------------- */

/* Whether the profile at PATH has the totals of the process, of its one event, and more in
 * them than regions counted. */
static int totals(const char *path)
{
	static char profile[1 << 24];
	FILE *file = fopen(path, "rb");
	size_t size = file ? fread(profile, 1, sizeof(profile), file) : 0, at = 0;
	uint64_t total = 0, in_regions = 0;

	while (at + sizeof(struct perfmon_profile_record) <= size) {
		const void *record = profile + at;
		const struct perfmon_profile_record *lead = record;

		if (!lead->size)
			break;
		if (lead->type == PERFMON_PROFILE_TYPE_TOTALS)
			total = ((const struct perfmon_profile_totals *)record)->total[0];
		if (lead->type == PERFMON_PROFILE_TYPE_NODES) {
			const struct perfmon_profile_nodes *nodes = record;
			const struct perfmon_profile_thread *thread =
				(const void *)(profile + nodes->thread);
			/* Of an ended thread the sum is in another. */
			bool is_own =
				thread->state != PERFMON_PROFILE_THREAD_STATE_UNUSED;

			for (uint32_t n = 0; is_own && n < nodes->capacity; n++) {
				const struct perfmon_profile_node *node =
					(const void *)((const char *)nodes->node +
						       (size_t)n * nodes->node_size);

				if (node->parent == 1)
					in_regions += node->count[0].sum;
			}
		}
		at += lead->size;
	}
	printf("regions %llu of %llu\n", (unsigned long long)in_regions,
	       (unsigned long long)total);
	return !in_regions || total <= in_regions;
}

/* Visits of a tiny region: 1,000 in one region, and 9,000 more in another. */
static int tiny(void)
{
	const int trips[] = {1000, 10000};

	PERFMON_REGION_BEGIN("few");
	for (int i = 0; i < trips[0]; i++) {
		PERFMON_REGION_BEGIN("tiny");
		PERFMON_REGION_END("tiny");
	}
	PERFMON_REGION_END("few");
	PERFMON_REGION_BEGIN("many");
	for (int i = 0; i < trips[1]; i++) {
		PERFMON_REGION_BEGIN("tiny");
		PERFMON_REGION_END("tiny");
	}
	PERFMON_REGION_END("many");
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "regions"))
		return regions(THREADS);
	if (!strcmp(how, "one"))
		return regions(0);
	if (!strcmp(how, "deep"))
		return deep(50);
	if (!strcmp(how, "fork"))
		return forks();
	if (!strcmp(how, "tiny"))
		return tiny();
	if (!strcmp(how, "exec"))
		return execl(argv[0], argv[0], "one", (char *)NULL);
	if (!strcmp(how, "sessions"))
		return sessions();
	if (!strcmp(how, "refused"))
		return refusals();
	if (!strcmp(how, "totals"))
		return totals(argv[2]);
	return 2;
}
