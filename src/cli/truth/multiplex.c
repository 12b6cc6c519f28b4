/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of the time, scaled, against the same event counted all the time: time slices of
 * event sets, and more events than counters, which the kernel multiplexes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/truth/checks.h"
#include "cli/truth/counter.h"
#include "core/kernel/kernel.h"
#include "perfmon/session.h"
#include "perfmon/set.h"

#define SETS	 3
#define SETS_MAX 20
#define SLICE_NS 1000000
#define WORK_NS	 60000000
/* An interval of 99 % is missed by 1 of 100, so that one miss means nothing. */
#define TRIES 4
/* An interval of more than this part of the truth tells nothing. */
#define TOO_WIDE 0.1
/* The kernel's slices have no interval. Beyond this they say nothing. */
#define ROUGH 0.25

struct trial {
	uint32_t sets;
	bool by_kernel;
	double truth;
	struct perfmon_estimate estimates[SETS_MAX];
	uint32_t missed, judged;
	double worst; /* part of the truth */
};

static int make_session(struct perfmon_session **session, const char *name,
			const struct trial *trial)
{
	const struct perfmon_session_options options = {
		.size = sizeof(options),
		.flags = trial->by_kernel ? PERFMON_SESSION_ROTATE : 0};
	struct perfmon_set set;
	int err = perfmon_session_create(session, &options, NULL, 0);

	for (uint32_t i = 0; i < trial->sets && err >= 0; i++) {
		set = (struct perfmon_set){.id = (uint16_t)i};
		if (!trial->by_kernel) {
			set.flags = PERFMON_SET_TIME_SWITCH;
			set.timeout_ns = SLICE_NS;
		}
		err = perfmon_set_create(*session, &set, 1, sizeof(set));
		if (err >= 0)
			err = perfmon_set_add_events(*session, set.id, name);
	}
	if (err >= 0)
		err = perfmon_session_attach(*session, PERFMON_TARGET_KIND_THREAD, 0);
	return err < 0 ? err : 0;
}

/* Works in phases that are shorter than slices. */
static void work(void)
{
	uint64_t begin, now;

	pm_kernel_clock_ns(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (size_t i = 0; i < truth_block_count; i++)
			if (!truth_blocks[i].is_there || truth_blocks[i].is_there())
				truth_block_run(&truth_blocks[i], 20);
		pm_kernel_clock_ns(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now - begin < WORK_NS);
}

static int try_once(struct perfmon_session *session, const struct truth_counter *counter,
		    struct trial *trial)
{
	uint64_t before, after = 0, off;
	int err = truth_counter_read(counter, &before, &off);

	for (uint32_t i = 0; i < trial->sets; i++)
		trial->estimates[i] = (struct perfmon_estimate){.index = i};
	if (!err)
		err = perfmon_session_start(session);
	if (err)
		return err;
	work();
	err = truth_counter_read(counter, &after, &off);
	perfmon_session_stop(session);
	if (!err)
		err = perfmon_set_estimate(session, trial->estimates, trial->sets,
					   sizeof(trial->estimates[0]));
	trial->truth = (double)(after - before);
	return err < 0 ? err : off ? -EAGAIN : 0;
}

static void compare(struct trial *trial)
{
	trial->missed = trial->judged = 0;
	trial->worst = 0;
	for (uint32_t i = 0; i < trial->sets; i++) {
		const struct perfmon_estimate *e = &trial->estimates[i];
		double miss = fabs(e->value - trial->truth);
		double error = trial->by_kernel ? ROUGH * trial->truth : e->error;

		if (e->flags & PERFMON_ESTIMATE_NONE ||
		    (!trial->by_kernel && e->error > TOO_WIDE * trial->truth))
			continue;
		trial->judged++;
		/* Start and stop themselves are not in both. */
		trial->missed += miss > error + 1e-3 * trial->truth;
		trial->worst = fmax(trial->worst, miss / trial->truth);
	}
}

static void add_figures(struct truth_finding *finding, const struct trial *trial)
{
	for (uint32_t i = 0; i < trial->sets; i++) {
		const struct perfmon_estimate *e = &trial->estimates[i];
		struct truth_figure *figure =
			truth_figure(finding, "estimate", "", e->value);

		figure->least = figure->most = trial->truth;
		if (trial->by_kernel || !isfinite(e->error))
			continue;
		figure->lower = e->value - e->error;
		figure->upper = e->value + e->error;
	}
}

static void conclude(struct truth_finding *finding, const struct trial *trial)
{
	const char *bound =
		trial->by_kernel ? "within 25 % of the truth" : "in their 99 % intervals";

	add_figures(finding, trial);
	if (!trial->judged)
		truth_say(finding, TRUTH_UNJUDGED,
			  "the slices were too few: no estimate has an interval below "
			  "10 %%");
	else if (trial->missed)
		truth_say(finding, trial->by_kernel ? TRUTH_UNJUDGED : TRUTH_WRONG,
			  "%u of %u estimates are not %s, in each of %d runs: off by up "
			  "to %.2g %%",
			  trial->missed, trial->judged, bound, TRIES, 100 * trial->worst);
	else
		truth_say(finding, trial->by_kernel ? TRUTH_PLAUSIBLE : TRUTH_EXACT,
			  "%u estimates of %u are %s, off by up to %.2g %%",
			  trial->judged, trial->sets, bound, 100 * trial->worst);
}

static void check(struct truth_finding *finding, const struct pm_event *event,
		  const struct truth_counter *counter, struct trial *trial)
{
	struct perfmon_session *session = NULL;
	int err = 0;

	trial->missed = 1;
	for (int i = 0; i < TRIES && trial->missed && !err; i++) {
		err = make_session(&session, event->name, trial);
		if (!err)
			err = try_once(session, counter, trial);
		if (!err)
			compare(trial);
		perfmon_session_close(session);
		session = NULL;
	}
	if (err == -EAGAIN || err == -ENODATA)
		truth_say(
			finding, TRUTH_UNJUDGED,
			"other events take the counter away: perf, or the NMI watchdog");
	else if (err)
		truth_say(finding, TRUTH_UNJUDGED, "the session failed: %s",
			  strerror(-err));
	else
		conclude(finding, trial);
}

static void check_with(struct truth_finding *finding, const struct pm_event *event,
		       struct trial trial)
{
	struct truth_counter counter;
	struct pm_diag diag = {0};
	struct pm_event always = *event;

	/* The reference is not multiplexed. */
	always.attr.pinned = 1;
	if (!truth_block_count || trial.sets > SETS_MAX)
		truth_say(finding, TRUTH_UNJUDGED,
			  truth_block_count ? "the PMU has more counters than this tries"
					    : "there are no blocks for this CPU");
	else if (truth_counter_open(&counter, &always, 1, 0, &diag))
		truth_say_absent(finding, diag.text);
	else {
		check(finding, event, &counter, &trial);
		truth_counter_close(&counter);
	}
}

void truth_slices(struct truth_finding *finding, const struct pm_event *event)
{
	check_with(finding, event, (struct trial){.sets = SETS});
}

/* Adds up the counters of a core PMU, as far as they are known. */
static int add_counters(const struct perfmon_pmu_info *pmu, void *argument)
{
	uint32_t *counters = argument;

	if (pmu->kind != PERFMON_PMU_KIND_CORE)
		return 0;
	*counters += pmu->programmable > 0 ? (uint32_t)pmu->programmable : 0;
	*counters += pmu->fixed > 0 ? (uint32_t)pmu->fixed : 0;
	return 0;
}

void truth_multiplexing(struct truth_finding *finding, const struct pm_event *event)
{
	uint32_t counters = 0;

	perfmon_info_pmus(add_counters, &counters);
	check_with(finding, event,
		   (struct trial){.sets = counters + 2, .by_kernel = true});
}
