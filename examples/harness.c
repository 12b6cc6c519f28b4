/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A harness for microbenchmarks. It reads counters right before and right after each run
 * of a kernel, with the inline reads of perfmon/inline.h. For each event it prints the
 * minimum and the median of many runs, minus the counts of an empty kernel.
 *
 *   cc -O2 harness.c -o harness $(pkg-config --cflags --libs perfmon)
 *   ./harness [events [runs]]
 *
 * Events that this machine does not count are left out, with a message that says why. Two
 * of the kernels have known counts: 1000 instructions, and 64 page faults.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <perfmon/inline.h>
#include <perfmon/perfmon.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define EVENTS_MOST 8
#define PAGES	    64
#define PAGE_SIZE   4096

static void empty(void)
{
}

static void nops(void)
{
	__asm__ volatile(".rept 1000\n\tnop\n\t.endr");
}

static double values[4096];

static void sum(void)
{
	double total = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		total += values[i];
	/* Keeps the compiler from removing the loop. */
	__asm__ volatile("" : : "r"(&total) : "memory");
}

static unsigned char *memory;

static void touch(void)
{
	/* The pages are given back first, so that each is a fault again. */
	madvise(memory, PAGES * PAGE_SIZE, MADV_DONTNEED);
	for (size_t i = 0; i < PAGES; i++)
		((volatile unsigned char *)memory)[i * PAGE_SIZE] = 1;
}

static const struct {
	const char *name;
	void (*run)(void);
} kernels[] = {
	{"empty", empty},
	{"nops", nops},
	{"sum", sum},
	{"touch", touch},
};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

struct events {
	const struct perfmon_reader *reader;
	uint32_t count;
	uint32_t index[EVENTS_MOST]; /* of the session */
	char name[EVENTS_MOST][64];
};

/* Finds the session's events that can be read. */
static int events_find(struct perfmon_session *session, struct events *events)
{
	int all = perfmon_session_counters(session);

	for (uint32_t i = 0; all > 0 && i < (uint32_t)all; i++) {
		struct perfmon_counter_info info = {.size = sizeof(info)};
		uint64_t value;

		if (perfmon_reader_read(events->reader, i, &value) ||
		    perfmon_session_get_counter(session, i, &info) ||
		    events->count == EVENTS_MOST)
			continue;
		events->index[events->count] = i;
		snprintf(events->name[events->count++], sizeof(events->name[0]), "%s",
			 info.name);
	}
	return events->count ? 0 : -1;
}

/* Runs a kernel once and stores its counts in COUNTS. */
static int measure(const struct events *events, void (*run)(void), uint64_t *counts)
{
	uint64_t before[EVENTS_MOST], after[EVENTS_MOST];
	int err = 0;

	for (uint32_t e = 0; e < events->count; e++)
		err |= perfmon_reader_read(events->reader, events->index[e], &before[e]);
	run();
	/* In reverse order, so that the last to begin is the first to end. */
	for (uint32_t e = events->count; e-- > 0;)
		err |= perfmon_reader_read(events->reader, events->index[e], &after[e]);
	for (uint32_t e = 0; !err && e < events->count; e++)
		counts[e] = after[e] - before[e];
	return err;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Runs every kernel RUNS times. SAMPLES has room for all runs, event by event. The first
 * kernel is the empty one. */
static int bench(const struct events *events, size_t runs, uint64_t *samples)
{
	uint64_t empty_least[EVENTS_MOST] = {0}, counts[EVENTS_MOST];

	printf("%-8s %-24s %12s %12s\n", "kernel", "event", "least", "middle");
	for (size_t k = 0; k < KERNELS; k++) {
		kernels[k].run();
		for (size_t r = 0; r < runs; r++) {
			if (measure(events, kernels[k].run, counts))
				return -1;
			for (uint32_t e = 0; e < events->count; e++)
				samples[e * runs + r] = counts[e];
		}
		for (uint32_t e = 0; e < events->count; e++) {
			uint64_t *of = samples + e * runs;

			qsort(of, runs, sizeof(*of), ascending);
			if (!k)
				empty_least[e] = of[0];
			/* Signed, since the empty kernel's count may vary, too. */
			printf("%-8s %-24s %12" PRId64 " %12" PRId64 "\n",
			       kernels[k].name, events->name[e],
			       (int64_t)(of[0] - empty_least[e]),
			       (int64_t)(of[runs / 2] - empty_least[e]));
		}
	}
	return 0;
}

/* Prints the session's message about its last call. */
static void complain(const char *what, const struct perfmon_session *session)
{
	char message[500] = "";

	perfmon_session_message(session, message, sizeof(message));
	fprintf(stderr, "%s%s\n", what, message);
}

int main(int argc, char **argv)
{
	const char *names = argc > 1 ? argv[1] : "instructions:u,cycles:u,page-faults:u";
	size_t runs = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	struct perfmon_session_options options = {.size = sizeof(options),
						  .flags = PERFMON_SESSION_PARTIAL};
	struct perfmon_session *session;
	struct events events = {0};
	uint64_t *samples = runs ? calloc(runs, EVENTS_MOST * sizeof(*samples)) : NULL;
	int refused = 0, status = 1;

	memory = mmap(NULL, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!samples || memory == MAP_FAILED) {
		fprintf(stderr, "usage: harness [events [runs]]\n");
		return 2;
	}
	madvise(memory, PAGES * PAGE_SIZE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		values[i] = (double)i;
	if (perfmon_session_create(&session, &options, NULL, 0))
		return 1;
	if (perfmon_session_add_events(session, names) < 0 ||
	    (refused = perfmon_session_attach(session, PERFMON_TARGET_KIND_THREAD, 0)) <
		    0) {
		complain("", session);
		goto out;
	}
	if (refused)
		complain("left out: ", session);
	if (perfmon_session_start(session) ||
	    perfmon_session_reader(session, &events.reader) ||
	    events_find(session, &events) || bench(&events, runs, samples)) {
		complain("", session);
		goto out;
	}
	status = 0;
out:
	perfmon_session_close(session);
	munmap(memory, PAGES * PAGE_SIZE);
	free(samples);
	return status;
}
