/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The times of a snapshot: how long a tick is, and when the snapshot was taken, which
 * depends on the state of the writer. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "arch/arch.h"
#include "core/kernel/clock.h"
#include "core/kernel/kernel.h"
#include "core/profile/node.h"
#include "core/profile/walk.h"

/* The assumed error if the profile does not say how closely its clocks were read. */
#define CLOCK_ERROR_NS 250

/* Times are printed with four digits; the last one may be wrong by 5. */
#define RATE_ERROR_MOST 0.0005

/* Sets the rate between the profile's begin and the time TICKS and NS. ERROR is the
 * largest error of both readings, in ticks. */
static void set_rate(struct pm_snapshot *s, uint64_t ticks, uint64_t ns, uint64_t error)
{
	const struct perfmon_profile_header *header = &s->header;

	if (ticks <= header->begin_ticks || ns <= header->begin_ns)
		return;
	ticks -= header->begin_ticks;
	ns -= header->begin_ns;
	s->rate_span_ns = ns;
	s->tick_ns = (double)ns / (double)ticks;
	s->tick_error =
		error ? (double)error / (double)ticks : CLOCK_ERROR_NS / (double)ns;
}

void pm_walk_rate(struct pm_snapshot *s)
{
	const struct perfmon_profile_header *header = &s->header;

	if (header->clock == PERFMON_PROFILE_CLOCK_MONOTONIC)
		s->tick_ns = 1.0;
	else if (header->ticks_hz)
		s->tick_ns = 1e9 / (double)header->ticks_hz;
	else
		set_rate(s, header->end_ticks, header->end_ns, header->clock_error);
}

void pm_snapshot_measure_rate(struct pm_snapshot *s)
{
	uint64_t ticks, ns, error;

	pm_clock_init();
	if (s->header.clock == PERFMON_PROFILE_CLOCK_MONOTONIC || s->header.ticks_hz ||
	    pm_clock.monotonic)
		return;
	error = pm_clock_both(&ticks, &ns);
	/* The profile's error includes that of its begin. */
	if (ns && ticks > s->header.end_ticks)
		set_rate(s, ticks, ns,
			 s->header.clock_error ? error + s->header.clock_error : 0);
}

void pm_snapshot_tell_rate(struct pm_snapshot *s)
{
	if (s->rate_span_ns && s->tick_error > RATE_ERROR_MOST)
		PM_NOTE(s,
			"times may be wrong by %.1g %%: the tick rate was measured over "
			"only %.0f microseconds",
			100 * s->tick_error, (double)s->rate_span_ns / 1000);
}

/*
 * Returns the least time that THREAD has spent in regions. For each path this is the
 * longer of its ended visits and of the paths below, which may be longer while it is
 * open.
 */
static uint64_t busy_ticks(const struct pm_snapshot_thread *thread)
{
	uint64_t *below, busy = 0;

	if (!thread->node_count)
		return 0;
	below = calloc((size_t)thread->node_count + 1, sizeof(*below));
	if (!below)
		return 0;
	for (uint32_t n = thread->node_count; n > 1; n--) {
		const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
		uint64_t ticks =
			node->time_ticks > below[n] ? node->time_ticks : below[n];

		if (pm_node_is_quantity(node) || pm_node_is_overlapping(node))
			continue;
		below[node->parent] = pm_plus(below[node->parent], ticks);
	}
	busy = below[1];
	free(below);
	return busy;
}

/* Returns the last time of which the profile has a record. */
static uint64_t last_ticks(const struct pm_snapshot *s)
{
	uint64_t last = s->header.end_ticks;

	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct pm_snapshot_thread *thread = &s->threads[t];
		uint64_t end = thread->record.end_ticks;

		if (thread->record.state == PERFMON_PROFILE_THREAD_STATE_LIVE)
			end = pm_plus(thread->record.begin_ticks, busy_ticks(thread));
		if (end > last)
			last = end;
	}
	return last;
}

void pm_snapshot_set_writer(struct pm_snapshot *s, enum pm_snapshot_writer writer)
{
	uint64_t now = perfmon_arch_timestamp();

	if (s->header.state != PERFMON_PROFILE_STATE_RUNNING)
		writer = PM_WRITER_ENDED;
	s->writer = writer;
	s->taken_ticks = s->header.end_ticks;
	if (writer == PM_WRITER_RUNS) {
		if (s->header.clock == PERFMON_PROFILE_CLOCK_MONOTONIC)
			pm_kernel_clock_ns(CLOCK_MONOTONIC, &now);
		if (now > s->header.end_ticks)
			s->taken_ticks = now;
	} else if (writer != PM_WRITER_ENDED) {
		s->taken_ticks = last_ticks(s);
	}
}

double pm_snapshot_ns(const struct pm_snapshot *snapshot, double ticks)
{
	return snapshot->tick_ns ? ticks * snapshot->tick_ns : ticks;
}
