/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overflows: as many as events and period say, counts that go on through them, and the place
 * where a sample is found. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/truth/checks.h"
#include "cli/truth/counter.h"
#include "core/kernel/kernel.h"
#include "core/samples/samples.h"

/* A prime number, so that overflows come everywhere in a turn. */
#define PERIOD	   100003
#define OVERFLOWS  40
#define RING_PAGES 8
#define ALIKE	   0.0025

struct sampled {
	uint64_t value, reference; /* events, by the sampled counter and another */
	uint64_t samples, lost, throttled;
	size_t count; /* of the places that were kept */
	int64_t places[2 * OVERFLOWS];
};

/* A sample that has nothing but its place. */
struct record {
	struct perf_event_header header;
	uint64_t ip;
};

static int drain(struct pm_ring *ring, struct sampled *sampled)
{
	const struct perf_event_header *header;
	int err;

	while ((err = pm_ring_next(ring, &header)) > 0) {
		const struct record *record = (const void *)header;

		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		sampled->samples++;
		if (sampled->count < sizeof(sampled->places) / sizeof(uint64_t))
			sampled->places[sampled->count++] = (int64_t)record->ip;
	}
	pm_ring_release(ring);
	sampled->lost = ring->lost;
	sampled->throttled = ring->throttled;
	return err;
}

static int read_value(int fd, uint64_t *value)
{
	ssize_t size = pm_kernel_read(fd, value, sizeof(*value));

	return size < 0 ? (int)size : size == sizeof(*value) ? 0 : -EIO;
}

/* Runs TURNS of the first block, counted by the event FD and by REFERENCE. */
static int run(int fd, const struct truth_counter *reference, uint64_t turns,
	       struct sampled *sampled)
{
	uint64_t before, after = 0, off;
	int err = truth_counter_read(reference, &before, &off);

	if (err)
		return err;
	truth_block_run(&truth_blocks[0], turns);
	pm_kernel_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	err = truth_counter_read(reference, &after, &off);
	sampled->reference = after - before;
	return err ? err : read_value(fd, &sampled->value);
}

/* Opens EVENT, to leave its place at each overflow. Returns its descriptor, or an error. */
static int open_sampled(const struct pm_event *event, uint32_t period,
			unsigned int precise)
{
	struct perf_event_attr attr = event->attr;

	attr.size = sizeof(attr);
	attr.disabled = 1;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.precise_ip = precise & 3;
	return pm_kernel_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Samples EVENT, which happens EACH times a turn, with precise_ip PRECISE. It is started
 * before the reference, and so has the better counter if they differ. */
static int sample(const struct pm_event *event, uint32_t period, double each,
		  unsigned int precise, struct sampled *sampled)
{
	struct truth_counter reference = {0};
	struct pm_ring ring = {0};
	int fd = open_sampled(event, period, precise);
	int err = fd < 0 ? fd : pm_ring_map(&ring, fd, RING_PAGES);

	*sampled = (struct sampled){0};
	if (!err)
		err = pm_kernel_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	if (!err)
		err = truth_counter_open(&reference, event, 1, 0, NULL);
	if (!err)
		err = run(fd, &reference, (uint64_t)(OVERFLOWS * period / each), sampled);
	if (!err)
		err = drain(&ring, sampled);
	pm_ring_unmap(&ring);
	if (fd >= 0)
		pm_kernel_close(fd);
	truth_counter_close(&reference);
	return err;
}

/* --- overflows against events and period ---------------------------------------------- */

static void compare(struct truth_finding *finding, const struct sampled *s)
{
	double expected = (double)s->value / PERIOD,
	       found = (double)(s->samples + s->lost);
	double apart = fabs((double)s->value - (double)s->reference);
	struct truth_figure *figure = truth_figure(finding, "overflows", "", found);

	figure->least = floor(expected);
	figure->most = ceil(expected);
	figure = truth_figure(finding, "events while sampled", "", (double)s->value);
	figure->least = figure->most = (double)s->reference;
	if (s->throttled)
		truth_say(finding, TRUTH_UNJUDGED,
			  "the kernel throttled the event: see "
			  "kernel.perf_event_max_sample_rate");
	else if (fabs(found - expected) > 1.5)
		truth_say(finding, TRUTH_WRONG,
			  "%.0f overflows of %.0f: samples and notifications are missing",
			  found, expected);
	else if (apart > ALIKE * (double)s->reference + 2000)
		truth_say(finding, TRUTH_WRONG,
			  "%.0f events while sampled, and %.0f by another counter: "
			  "overflows lose counts",
			  (double)s->value, (double)s->reference);
	else
		truth_say(finding, TRUTH_EXACT,
			  "%.0f overflows in %.0f events, each %d; the count goes on "
			  "through each",
			  found, (double)s->value, PERIOD);
}

void truth_overflows(struct truth_finding *finding, const struct pm_event *event)
{
	struct sampled sampled;
	int err = truth_block_count
			  ? sample(event, PERIOD, truth_blocks[0].chain, 0, &sampled)
			  : -EOPNOTSUPP;

	if (err)
		truth_say(finding, TRUTH_ABSENT, "the event does not sample: %s",
			  strerror(-err));
	else
		compare(finding, &sampled);
}

/* --- skid ------------------------------------------------------------------------------ */

#define SKID_PERIOD 97

/*
 * The block has one branch, at its end. A sample without skid is at the first instruction,
 * which is next, or at the branch itself if it is precise. Turns places into instructions
 * from there, and returns how many are in the block.
 */
static size_t skids(struct sampled *s)
{
	const struct truth_block *block = &truth_blocks[0];
	int64_t begin = (int64_t)block->chain_ends[0],
		end = (int64_t)block->chain_ends[1];
	int64_t bytes = (end - begin) / block->instructions;
	size_t inside = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->places[i] < begin || s->places[i] >= end)
			continue;
		s->places[inside] = (s->places[i] - begin) / bytes;
		/* The branch and the subtraction before it. */
		if (s->places[inside] >= block->chain)
			s->places[inside] = 0;
		inside++;
	}
	truth_sort(s->places, inside);
	return inside;
}

static size_t add_skid(struct truth_finding *finding, unsigned int precise,
		       struct sampled *s)
{
	size_t count = skids(s);
	struct truth_figure *figure;
	char name[64];

	if (!count)
		return 0;
	snprintf(name, sizeof(name), "skid with precise_ip %u", precise);
	figure =
		truth_figure(finding, name, "instructions", (double)s->places[count / 2]);
	figure->lower = (double)s->places[0];
	figure->upper = (double)s->places[count - 1];
	snprintf(name, sizeof(name), "samples elsewhere, precise_ip %u", precise);
	truth_figure(finding, name, "", (double)(s->samples - count));
	return count;
}

void truth_skid(struct truth_finding *finding, const struct pm_event *event)
{
	struct sampled sampled;
	size_t count = 0;
	int err = 0;

	if (!truth_block_count) {
		truth_say(finding, TRUTH_UNJUDGED, "there are no blocks for this CPU");
		return;
	}
	for (unsigned int precise = 0; precise <= 3; precise++) {
		int result = sample(event, SKID_PERIOD, 1, precise, &sampled);

		if (!result)
			count += add_skid(finding, precise, &sampled);
		else if (!precise)
			err = result;
	}
	if (err || !count)
		truth_say(finding, TRUTH_ABSENT,
			  "the event 'branches' does not sample: %s",
			  err ? strerror(-err) : "no sample is in the block");
	else
		truth_say(finding, TRUTH_PLAUSIBLE,
			  "a sample of branches is %.0f instructions behind the branch, "
			  "%.0f to %.0f",
			  finding->figures[0].value, finding->figures[0].lower,
			  finding->figures[0].upper);
}
