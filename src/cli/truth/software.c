/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's own events: page faults of known pages, switches, clocks. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/truth/checks.h"
#include "cli/truth/counter.h"
#include "core/kernel/kernel.h"

#define REPETITIONS 15

/* A repetition of a test gives events for each of TURNS, times SCALE. */
struct test {
	uint64_t config;
	const char *name;
	const char *what;
	double turns;
	/* Stores the difference of an event that counts right to be TURNS. Returns 0, or an
	 * error. */
	int (*once)(const struct truth_counter *counter, int64_t *difference);
};

/* --- page faults ---------------------------------------------------------------------- */

#define FEW_PAGES  16
#define MANY_PAGES 272

/* The sanitizer's own memory would have page faults, too. */
__attribute__((no_sanitize("address"))) static int
fault(const struct truth_counter *counter, size_t pages, uint64_t *counted)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = pages * page;
	uint64_t before, off;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (memory == MAP_FAILED)
		return -errno;
	/* One fault fills one page. */
	madvise(memory, size, MADV_NOHUGEPAGE);
	err = truth_counter_read(counter, &before, &off);
	for (size_t i = 0; i < size; i += page)
		((volatile char *)memory)[i] = 1;
	if (!err)
		err = truth_counter_read(counter, counted, &off);
	*counted -= before;
	munmap(memory, size);
	return err;
}

static int fault_once(const struct truth_counter *counter, int64_t *difference)
{
	uint64_t few = 0, many = 0;
	int err = fault(counter, FEW_PAGES, &few);

	if (!err)
		err = fault(counter, MANY_PAGES, &many);
	*difference = (int64_t)(many - few);
	return err;
}

/* --- context switches ----------------------------------------------------------------- */

#define SLEEPS 20

static int64_t switches_of_rusage(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw + usage.ru_nivcsw;
}

/* The kernel counts switches of a thread in another place, too. The two differ by none,
 * and each sleep is one. */
static int sleep_once(const struct truth_counter *counter, int64_t *difference)
{
	const struct timespec nap = {.tv_nsec = 20000};
	int64_t known = switches_of_rusage();
	uint64_t before, after = 0, off;
	int err = truth_counter_read(counter, &before, &off);

	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&nap, NULL);
	if (!err)
		err = truth_counter_read(counter, &after, &off);
	known = switches_of_rusage() - known;
	*difference = (int64_t)(after - before) - known + SLEEPS;
	return err;
}

/* --- migrations ----------------------------------------------------------------------- */

#define MOVES 10

static int move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* Moves the thread to and fro between two CPUs that it may use. */
static int move_once(const struct truth_counter *counter, int64_t *difference)
{
	uint64_t before = 0, after = 0, off;
	int cpus[2], found = 0, err;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed))
			cpus[found++] = cpu;
	if (found < 2)
		return -ENODEV;
	err = move_to(cpus[0]);
	if (!err)
		err = truth_counter_read(counter, &before, &off);
	for (int i = 1; i <= MOVES && !err; i++)
		err = move_to(cpus[i % 2]);
	if (!err)
		err = truth_counter_read(counter, &after, &off);
	sched_setaffinity(0, sizeof(allowed), &allowed);
	*difference = (int64_t)(after - before);
	return err;
}

/* --- clocks --------------------------------------------------------------------------- */

#define WORK_NS	 1000000
#define MILLIONS 1e6
/* The clock may differ by so much for other reasons. */
#define TOLERANCE 2500
/* The most that a switch of threads takes. */
#define SWITCH_NS 20000

struct moment {
	uint64_t cpu, wall;
};

static struct moment now(void)
{
	struct moment moment = {0, 0};

	pm_kernel_clock_ns(CLOCK_THREAD_CPUTIME_ID, &moment.cpu);
	pm_kernel_clock_ns(CLOCK_MONOTONIC, &moment.wall);
	return moment;
}

/*
 * Compares the event with two clocks, which are read before and after each read of it. The
 * thread's CPU time is the least: the kernel takes interrupts, and what a hypervisor has
 * stolen, off it, but not off the event. Only the switch itself is not in the event. The
 * wall time is the most. Stores what is outside of both as a part of MILLIONS.
 */
static int work_once(const struct truth_counter *counter, int64_t *difference)
{
	int64_t switches = switches_of_rusage();
	struct moment outer, inner, then, end;
	uint64_t before, after, off;
	double value, least, most;
	int err;

	outer = now();
	err = truth_counter_read(counter, &before, &off);
	if (err)
		return err;
	inner = now();
	do {
		for (volatile int i = 0; i < 1000; i++)
			;
		then = now();
	} while (then.cpu - inner.cpu < WORK_NS);
	err = truth_counter_read(counter, &after, &off);
	if (err)
		return err;
	end = now();
	switches = switches_of_rusage() - switches;
	value = (double)(after - before);
	least = (double)(then.cpu - inner.cpu) - SWITCH_NS * (double)switches;
	most = (double)(end.wall - outer.wall);
	*difference = (int64_t)(MILLIONS * (value < least  ? value / least
					    : value > most ? value / most
							   : 1));
	return 0;
}

/* Repetitions outside of the bounds that decide. Those inside say less: their bounds are
 * wide if the thread was switched away. */
#define OUTSIDE 3

/* Moves the repetitions of a clock that are outside of its bounds to the front, and returns
 * their number if they decide, else COUNT. */
static size_t keep_outside(int64_t *differences, size_t count)
{
	size_t outside = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t difference = differences[i];

		if (fabs((double)difference - MILLIONS) < TOLERANCE)
			continue;
		differences[i] = differences[outside];
		differences[outside++] = difference;
	}
	return outside < OUTSIDE ? count : outside;
}

/* --- all ------------------------------------------------------------------------------ */

static const struct test tests[] = {
	{PERF_COUNT_SW_TASK_CLOCK, "task-clock", "CPU time of the thread", MILLIONS,
	 work_once},
	{PERF_COUNT_SW_CPU_CLOCK, "cpu-clock", "CPU time of the thread", MILLIONS,
	 work_once},
	{PERF_COUNT_SW_PAGE_FAULTS, "page-faults", "new pages", MANY_PAGES - FEW_PAGES,
	 fault_once},
	{PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor-faults", "new pages",
	 MANY_PAGES - FEW_PAGES, fault_once},
	{PERF_COUNT_SW_CONTEXT_SWITCHES, "context-switches", "sleeps", SLEEPS,
	 sleep_once},
	{PERF_COUNT_SW_CPU_MIGRATIONS, "cpu-migrations", "moves to another CPU", MOVES,
	 move_once},
};
#define TESTS (sizeof(tests) / sizeof(tests[0]))

static void decide(struct truth_finding *finding, const struct test *test,
		   struct truth_row *row)
{
	struct truth_judgement judgement = truth_decide(row, 1);

	truth_figure_row(finding, row, true);
	truth_conclude(finding, &judgement);
	if (judgement.worst)
		truth_say(finding, judgement.verdict, "%.4g for each of the %s",
			  row->median, test->what);
}

static void judge(struct truth_finding *finding, const struct test *test,
		  const struct truth_counter *counter)
{
	struct truth_row row = {
		.block = test->what, .least = 1, .most = 1, .instructions = 1};
	int64_t differences[REPETITIONS], warm;
	size_t count = REPETITIONS;
	int err = test->once(counter, &warm);

	for (size_t i = 0; i < REPETITIONS && !err; i++)
		err = test->once(counter, &differences[i]);
	if (err == -ENODEV) {
		truth_say(finding, TRUTH_UNJUDGED,
			  "this needs two CPUs that the process may use");
		return;
	}
	if (err) {
		truth_say(finding, TRUTH_UNJUDGED, "the test failed: %s", strerror(-err));
		return;
	}
	if (test->once == work_once)
		count = keep_outside(differences, count);
	truth_row_fill(&row, differences, count, test->turns);
	/* A value outside of the bounds may be anywhere there. */
	if (test->once == work_once)
		row.lower = row.upper = row.median;
	decide(finding, test, &row);
}

static int judge_event(struct truth_report *report, const struct pm_event *event)
{
	struct truth_finding *finding = truth_add(report, TRUTH_SOFTWARE, event->label);
	const struct test *test = NULL;
	struct truth_counter counter;
	struct pm_diag diag = {0};

	if (!finding)
		return -ENOMEM;
	for (size_t i = 0; i < TESTS; i++)
		if (tests[i].config == event->attr.config)
			test = &tests[i];
	if (event->attr.type != PERF_TYPE_SOFTWARE || !test) {
		truth_say(finding, TRUTH_UNJUDGED,
			  "nothing here makes a known number of this event");
		return 0;
	}
	if (truth_counter_open(&counter, event, 1, 0, &diag)) {
		truth_say_absent(finding, diag.text);
		return 0;
	}
	judge(finding, test, &counter);
	truth_counter_close(&counter);
	return 0;
}

static int judge_list(struct truth_report *report, const struct pm_event_list *list)
{
	int err = 0;

	for (size_t i = 0; i < list->count && !err; i++)
		if (!list->events[i].hardware && !list->events[i].exact)
			err = judge_event(report, &list->events[i]);
	return err;
}

int truth_software(struct truth_report *report, const struct pm_event_list *list)
{
	int err = 0;

	if (list)
		return judge_list(report, list);
	for (size_t i = 0; i < TESTS && err != -ENOMEM; i++) {
		struct pm_event_list *one;

		err = pm_events_parse(tests[i].name, PM_EVENTS_USER_ONLY, &one, NULL);
		if (err)
			continue;
		err = judge_list(report, one);
		pm_events_free(one);
	}
	return err == -ENOMEM ? err : 0;
}
