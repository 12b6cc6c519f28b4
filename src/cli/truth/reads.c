/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads in user space against reads by system call; modes against each other. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/truth/checks.h"
#include "cli/truth/counter.h"
#include "core/kernel/kernel.h"

#define READS 1000
/* Two counts of the same work differ by this part at most. */
#define ALIKE 0.0025

struct reads {
	uint32_t inside, outside, by_syscall;
};

/* Reads in user space between two reads by system call. */
static int bracket(const struct truth_counter *counter, struct perfmon_counter_view *view,
		   struct reads *reads)
{
	uint64_t before, value = 0, after, off;
	int err = truth_counter_read(counter, &before, &off);
	int read = pm_view_read(view, &value);

	if (!err)
		err = truth_counter_read(counter, &after, &off);
	if (err)
		return err;
	if (read == -EAGAIN || read == -EBUSY)
		reads->by_syscall++;
	else if (read)
		return read;
	else if (before <= value && value <= after)
		reads->inside++;
	else
		reads->outside++;
	return 0;
}

static void check_reads(struct truth_finding *finding,
			const struct truth_counter *counter)
{
	struct pm_counter *event = &counter->instance->counters[0];
	struct perfmon_counter_view view;
	struct reads reads = {0};
	int err = 0;

	pm_instance_view(counter->instance, 0, 0, &view);
	for (int i = 0; i < READS && !err; i++) {
		truth_block_run(&truth_blocks[0], 1 + (uint64_t)i % 4);
		err = bracket(counter, &view, &reads);
	}
	truth_figure(finding, "reads between two others", "", reads.inside);
	truth_figure(finding, "reads not between them", "", reads.outside);
	truth_figure(finding, "times off the hardware", "", reads.by_syscall);
	truth_figure(finding, "counter width", "bits", event->page->pmc_width);
	if (err)
		truth_say(finding, TRUTH_WRONG, "a read failed: %s", strerror(-err));
	else if (reads.outside)
		truth_say(finding, TRUTH_WRONG,
			  "%u of %d reads are not between a read(2) before and one after",
			  reads.outside, READS);
	else if (!reads.inside)
		truth_say(finding, TRUTH_UNJUDGED,
			  "the counter was never on the hardware");
	else
		truth_say(finding, TRUTH_EXACT,
			  "%u reads, each between a read(2) before and one after",
			  reads.inside);
}

void truth_reads(struct truth_finding *finding, const struct pm_event *event)
{
	struct truth_counter counter;
	struct pm_diag diag = {0};

	if (truth_counter_open(&counter, event, 1, PM_OPEN_USER_READ, &diag)) {
		truth_say_absent(finding, diag.text);
	} else if (!counter.instance->counters[0].user_read ||
		   !pm_instance_user_access()) {
		if (!diag.text[0])
			pm_diagnosis_user_read(&diag, event);
		truth_say_absent(finding, diag.text);
	} else {
		check_reads(finding, &counter);
	}
	truth_counter_close(&counter);
}

/* --- modes ---------------------------------------------------------------------------- */

enum { USER, KERNEL, BOTH, MODES };

static int count_modes(const struct truth_counter *counter,
		       struct pm_reading readings[MODES])
{
	int err = 0;

	for (int i = 0; i < READS; i++) {
		truth_block_run(&truth_blocks[0], 2);
		pm_kernel_getppid();
	}
	err = pm_instance_disable(counter->instance);
	return err ? err : pm_instance_read(counter->instance, readings);
}

static void check_modes(struct truth_finding *finding,
			const struct truth_counter *counter)
{
	struct pm_reading readings[MODES] = {{0}};
	int err = count_modes(counter, readings);
	double user = (double)readings[USER].value,
	       kernel = (double)readings[KERNEL].value;
	double both = (double)readings[BOTH].value;
	struct truth_figure *figure;

	if (err || readings[BOTH].running_ns != readings[BOTH].enabled_ns) {
		truth_say(finding, TRUTH_UNJUDGED,
			  "the three events were not counted at once all the time");
		return;
	}
	truth_figure(finding, "user mode", "", user);
	truth_figure(finding, "kernel mode", "", kernel);
	figure = truth_figure(finding, "both", "", both);
	figure->least = figure->most = user + kernel;
	if (fabs(user + kernel - both) > ALIKE * both)
		truth_say(finding, TRUTH_WRONG,
			  "%.0f in user mode and %.0f in the kernel are not %.0f in both",
			  user, kernel, both);
	else if (user == 0 || kernel < READS)
		truth_say(finding, TRUTH_WRONG,
			  "%.0f in user mode and %.0f in the kernel, where %d system "
			  "calls were made",
			  user, kernel, READS);
	else
		truth_say(finding, TRUTH_EXACT,
			  "user and kernel mode add up to both, within %.2g %%",
			  100 * fabs(user + kernel - both) / both);
}

void truth_modes(struct truth_finding *finding, const struct pm_event *event)
{
	struct truth_counter counter = {0};
	struct pm_event_list *list = NULL;
	struct pm_diag diag = {0};
	char text[64];
	int err, length = (int)strcspn(event->label, ":");

	/* Without the modes of its own. */
	snprintf(text, sizeof(text), "{%1$.*2$s:u,%1$.*2$s:k,%1$.*2$s:uk}", event->label,
		 length);
	err = pm_events_parse(text, 0, &list, &diag);
	if (!err) {
		err = list->count == MODES ? truth_counter_open(&counter, list->events,
								MODES, 0, &diag)
					   : pm_diag_set(&diag, -ENOTUNIQ,
							 "the event stands for one of "
							 "each kind of core");
		if (!err && pm_event_mode_is_ignored(list->events))
			err = pm_diag_set(&diag, -EOPNOTSUPP,
					  "this machine does not count a mode alone");
	}
	if (err)
		truth_say_absent(finding, diag.text);
	else
		check_modes(finding, &counter);
	truth_counter_close(&counter);
	pm_events_free(list);
}
