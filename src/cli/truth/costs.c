/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures what a read and the pair of a region cost in time, and in instructions if they are
 * counted. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/truth/checks.h"
#include "cli/truth/counter.h"
#include "core/kernel/clock.h"
#include "perfmon/region.h"

/* Each sample is the mean of a batch, so that the clock's own cost and ticks matter little. */
#define BATCH	20
#define SAMPLES 400

struct cost {
	double minimum, median; /* ns */
};

/* Calls OPERATION in batches. */
static struct cost cost_of(void (*operation)(void *argument), void *argument)
{
	static int64_t samples[SAMPLES]; /* in ticks */

	for (int i = 0; i < SAMPLES; i++) {
		uint64_t begin = pm_clock_ticks();

		for (int n = 0; n < BATCH; n++)
			operation(argument);
		samples[i] = (int64_t)(pm_clock_ticks() - begin);
	}
	truth_sort(samples, SAMPLES);
	return (struct cost){pm_clock_ticks_ns((double)samples[0]) / BATCH,
			     pm_clock_ticks_ns((double)samples[SAMPLES / 2]) / BATCH};
}

static void add_cost(struct truth_finding *finding, struct cost cost)
{
	truth_figure(finding, "minimum", "ns", cost.minimum);
	truth_figure(finding, "median", "ns", cost.median);
	truth_say(finding, TRUTH_PLAUSIBLE, "%s", "");
}

/* --- reads ---------------------------------------------------------------------------- */

static void read_by_syscall(void *counter)
{
	uint64_t value, off;

	truth_counter_read(counter, &value, &off);
}

static void read_by_instruction(void *view)
{
	uint64_t value;

	pm_view_read(view, &value);
}

/* Returns the least difference of two reads that follow each other. */
static uint64_t instructions_of_read(struct perfmon_counter_view *view)
{
	uint64_t least = UINT64_MAX, before, after;

	for (int i = 0; i < SAMPLES; i++)
		if (!pm_view_read(view, &before) && !pm_view_read(view, &after) &&
		    after - before < least)
			least = after - before;
	return least;
}

static void cost_of_user_read(struct truth_finding *finding,
			      struct truth_counter *counter, bool instructions)
{
	struct perfmon_counter_view view;
	uint64_t count;

	pm_instance_view(counter->instance, 0, 0, &view);
	read_by_instruction(&view);
	add_cost(finding, cost_of(read_by_instruction, &view));
	count = instructions ? instructions_of_read(&view) : UINT64_MAX;
	if (count < UINT64_MAX)
		truth_figure(finding, "instructions", "", (double)count);
}

static int cost_of_reads(struct truth_report *report, const struct pm_event *event)
{
	struct truth_counter counter;
	struct truth_finding *finding;
	bool user_read;

	if (truth_counter_open(&counter, event, 1, PM_OPEN_USER_READ, NULL))
		return 0;
	finding = truth_add(report, TRUTH_COST, "read by read(2)");
	if (finding)
		add_cost(finding, cost_of(read_by_syscall, &counter));
	user_read = counter.instance->counters[0].user_read && pm_instance_user_access();
	if (finding && user_read) {
		finding = truth_add(report, TRUTH_COST, "read in user space");
		if (finding)
			cost_of_user_read(finding, &counter,
					  !strncmp(event->label, "instructions", 12));
	}
	truth_counter_close(&counter);
	return finding ? 0 : -ENOMEM;
}

/* --- regions -------------------------------------------------------------------------- */

static void enter_and_leave(void *argument)
{
	(void)argument;
	PERFMON_REGION_BEGIN("truth");
	PERFMON_REGION_END("truth");
}

/* Unsets PERFMON_ONLY and the like, which a user has set for programs: they change what a region costs. */
static void forget_settings(void)
{
	char name[64];
	char **variable = environ;

	while (*variable) {
		size_t length = strcspn(*variable, "=");

		if (strncmp(*variable, "PERFMON_", 8) != 0 || length >= sizeof(name)) {
			variable++;
			continue;
		}
		memcpy(name, *variable, length);
		name[length] = '\0';
		/* The next one comes to this place. */
		unsetenv(name);
	}
}

/* In a process of its own: regions are set up once, and by the environment. */
static void measure_pair(const char *events, int fd)
{
	struct cost cost;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	forget_settings();
	setenv("PERFMON_OUTPUT", "none", 1);
	setenv("PERFMON_EVENTS", events, 1);
	enter_and_leave(NULL);
	cost = cost_of(enter_and_leave, NULL);
	_exit(write(fd, &cost, sizeof(cost)) != sizeof(cost));
}

static bool cost_of_pair(const char *events, struct cost *cost)
{
	int ends[2], status = 1;
	pid_t child;
	ssize_t size;

	if (pipe(ends))
		return false;
	child = fork();
	if (!child)
		measure_pair(events, ends[1]);
	close(ends[1]);
	size = read(ends[0], cost, sizeof(*cost));
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return size == sizeof(*cost) && !status;
}

static int cost_of_pairs(struct truth_report *report, const char *event)
{
	const char *const events[] = {"none", event};
	struct cost cost;

	for (size_t i = 0; i < 2 && events[i]; i++) {
		struct truth_finding *finding = truth_add(report, TRUTH_COST,
							  i ? "region with one counter"
							    : "region with time alone");

		if (!finding)
			return -ENOMEM;
		if (cost_of_pair(events[i], &cost))
			add_cost(finding, cost);
		else
			truth_say(finding, TRUTH_UNJUDGED, "the process for it failed");
	}
	return 0;
}

int truth_costs(struct truth_report *report)
{
	struct pm_event_list *list = NULL;
	int err;

	pm_clock_init();
	if (truth_pick(NULL, &list, NULL) && truth_pick("task-clock", &list, NULL))
		list = NULL;
	err = list ? cost_of_reads(report, list->events) : 0;
	if (!err)
		err = cost_of_pairs(report, list && list->events[0].hardware
						    ? list->events[0].name
						    : NULL);
	if (list)
		pm_events_free(list);
	return err;
}
