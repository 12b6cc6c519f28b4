/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A CPU with topdown metrics, and the kernel's rules for it, behind the library's system calls. No
 * bed has such a CPU. The linker leads the calls here (--wrap). Slots and metrics are dummy events of
 * the real kernel, so that descriptors, groups and times are real. Their counts are computed as Linux
 * does it in arch/x86/events/intel/core.c: from two registers, which a read(2) resets and a switch of
 * threads keeps.
 */
#ifndef PM_TESTS_FAKE_TOPDOWN_H
#define PM_TESTS_FAKE_TOPDOWN_H

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/kernel/kernel.h"

#define FAKE_LEVEL1  4
#define FAKE_METRICS 8
#define FAKE_EVENTS  64

/* How the CPU rounds a fraction of level 1. No manual says so. */
enum fake_rounding { FAKE_NEAREST, FAKE_DOWN };

struct fake_event {
	int fd;		/* 0: none */
	int kind;	/* -1: slots, else the metric */
	uint64_t id;	/* the kernel's, of the dummy event */
	uint64_t count; /* as the kernel adds it up */
};

static struct {
	int metrics; /* 4 or 8 */
	enum fake_rounding rounding;
	struct fake_event events[FAKE_EVENTS];
	/* What happened since the registers were reset, and ever since. */
	uint64_t slots, part[FAKE_METRICS];
	uint64_t all_slots, all[FAKE_METRICS];
	/* The registers at the last switch of threads. */
	uint64_t saved_slots, saved_fractions;
	unsigned int reads; /* read(2) of a group of slots */
} fake = {.metrics = FAKE_LEVEL1};

int __real_pm_kernel_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
				     int group_fd, unsigned long flags);
int __wrap_pm_kernel_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
				     int group_fd, unsigned long flags);
ssize_t __real_pm_kernel_read(int fd, void *buffer, size_t size);
ssize_t __wrap_pm_kernel_read(int fd, void *buffer, size_t size);
int __real_pm_kernel_close(int fd);
int __wrap_pm_kernel_close(int fd);

/* Returns IA32_PERF_METRICS: eight fractions, of which those of level 1 add up to 255. */
static uint64_t fake_fractions(void)
{
	uint64_t word = 0, left = 255;
	double rest[FAKE_METRICS] = {0};
	uint64_t fraction[FAKE_METRICS] = {0};

	for (int k = 0; k < FAKE_METRICS && fake.slots; k++) {
		double exact = 255.0 * (double)fake.part[k] / (double)fake.slots;

		fraction[k] = (uint64_t)(k < FAKE_LEVEL1 || fake.rounding == FAKE_DOWN
						 ? exact
						 : exact + 0.5);
		rest[k] = exact - (double)fraction[k];
		left -= k < FAKE_LEVEL1 ? fraction[k] : 0;
	}
	for (; left && fake.slots; left--) {
		int most = 0;

		for (int k = 1; k < FAKE_LEVEL1; k++)
			if (rest[k] > rest[most])
				most = k;
		fraction[most]++;
		rest[most] = -1;
	}
	for (int k = 0; k < FAKE_METRICS; k++)
		word |= fraction[k] << 8 * k;
	return word;
}

static uint64_t fake_value(int kind, uint64_t slots, uint64_t fractions)
{
	return kind < 0 ? slots : slots * (fractions >> 8 * kind & 0xff) / 255;
}

/* What the kernel does at a read, and at a switch of threads, which resets nothing. */
static void fake_update(bool is_switch)
{
	uint64_t fractions = fake_fractions();

	if (!fake.slots)
		return;
	for (int i = 0; i < FAKE_EVENTS; i++) {
		struct fake_event *event = &fake.events[i];
		uint64_t now, last;

		if (!event->fd)
			continue;
		now = fake_value(event->kind, fake.slots, fractions);
		last = fake_value(event->kind, fake.saved_slots, fake.saved_fractions);
		if (now > last)
			event->count += now - last;
	}
	fake.saved_slots = is_switch ? fake.slots : 0;
	fake.saved_fractions = is_switch ? fractions : 0;
	if (is_switch)
		return;
	fake.slots = 0;
	memset(fake.part, 0, sizeof(fake.part));
}

/* Runs for SLOTS, of which PART are those of each metric. */
static void fake_run(uint64_t slots, const uint64_t part[FAKE_METRICS])
{
	fake.slots += slots;
	fake.all_slots += slots;
	for (int k = 0; k < FAKE_METRICS; k++) {
		fake.part[k] += part[k];
		fake.all[k] += part[k];
	}
}

static struct fake_event *fake_find(int fd)
{
	for (int i = 0; i < FAKE_EVENTS; i++)
		if (fake.events[i].fd == fd)
			return &fake.events[i];
	return NULL;
}

/* Returns -1 for slots, the number of a metric, or -2. */
static int fake_kind(const struct perf_event_attr *attr)
{
	uint64_t metric = attr->config >> 8 & 0x7f;

	if (attr->type != PERF_TYPE_RAW)
		return -2;
	if (attr->config == 0x400)
		return -1;
	return (attr->config & ~UINT64_C(0x700)) == 0x8000 ? (int)metric : -2;
}

int __wrap_pm_kernel_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
				     int group_fd, unsigned long flags)
{
	struct perf_event_attr dummy = *attr;
	const struct fake_event *leader = group_fd > 0 ? fake_find(group_fd) : NULL;
	struct fake_event *event;
	int kind = fake_kind(attr), fd;

	if (kind < -1)
		return __real_pm_kernel_perf_event_open(attr, pid, cpu, group_fd, flags);
	if (attr->sample_period || attr->config1 || attr->config2)
		return -EINVAL;
	/* A metric has slots for its leader, and there is one counter of slots. */
	if (kind >= 0 ? kind >= fake.metrics || !leader || leader->kind >= 0
		      : leader && leader->kind < 0)
		return -EINVAL;
	dummy.type = PERF_TYPE_SOFTWARE;
	dummy.config = PERF_COUNT_SW_DUMMY;
	fd = __real_pm_kernel_perf_event_open(&dummy, pid, cpu, group_fd, flags);
	event = fake_find(0);
	if (fd < 0 || !event)
		return fd < 0 ? fd : -EMFILE;
	*event = (struct fake_event){.fd = fd, .kind = kind};
	pm_kernel_ioctl_ptr(fd, PERF_EVENT_IOC_ID, &event->id);
	return fd;
}

int __wrap_pm_kernel_close(int fd)
{
	struct fake_event *event = fd > 0 ? fake_find(fd) : NULL;

	if (event)
		memset(event, 0, sizeof(*event));
	return __real_pm_kernel_close(fd);
}

ssize_t __wrap_pm_kernel_read(int fd, void *buffer, size_t size)
{
	struct {
		uint64_t members, enabled_ns, running_ns;
		struct {
			uint64_t value, id;
		} of[];
	} *group = buffer;
	const struct fake_event *leader = fd > 0 ? fake_find(fd) : NULL;
	ssize_t n = __real_pm_kernel_read(fd, buffer, size);

	if (!leader || n <= 0)
		return n;
	fake.reads++;
	fake_update(false);
	for (uint64_t m = 0; m < group->members; m++)
		for (int i = 0; i < FAKE_EVENTS; i++)
			if (fake.events[i].fd && fake.events[i].id == group->of[m].id)
				group->of[m].value = fake.events[i].count;
	return n;
}

#endif
