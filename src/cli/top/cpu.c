/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU time of the watched process and its threads. The process's comes from its CPU
 * clock, which includes ended threads; a thread's comes from
 * /proc/PID/task/TID/schedstat, which may be a tick old for a running thread. (The CPU
 * clock of another process's thread cannot be read.)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/top/top.h"
#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

/* Returns the CPU clock of process PID, as clock_getcpuclockid(3) does. */
static clockid_t process_clock(pid_t pid)
{
	return (clockid_t)((~(unsigned int)pid << 3) | 2);
}

/*
 * Reads the CPU time of a thread. Returns false if it has ended or the time is unknown.
 */
static bool thread_ns(pid_t pid, uint32_t tid, uint64_t *ns)
{
	char path[64], *text = NULL;
	uint64_t waited, slices;
	bool known = false;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/schedstat", (int)pid, tid);
	/* A kernel without these statistics writes zeros. */
	if (pm_file_read(path, &text) > 0)
		known = sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, ns, &waited,
			       &slices) == 3 &&
			slices > 0;
	free(text);
	return known;
}

static int by_tid(const void *a, const void *b)
{
	const struct top_cpu_thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->begin_ticks < y->begin_ticks ? -1 : x->begin_ticks > y->begin_ticks;
}

static int threads_read(struct top_cpu *cpu, pid_t pid, const struct pm_snapshot *s)
{
	cpu->threads = calloc((size_t)s->thread_count + 1, sizeof(*cpu->threads));
	if (!cpu->threads)
		return -ENOMEM;
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct perfmon_profile_thread *record = &s->threads[t].record;
		struct top_cpu_thread *thread = &cpu->threads[cpu->count];

		if (record->state != PERFMON_PROFILE_THREAD_STATE_LIVE ||
		    !thread_ns(pid, record->tid, &thread->ns))
			continue;
		thread->tid = record->tid;
		thread->begin_ticks = record->begin_ticks;
		cpu->count++;
	}
	qsort(cpu->threads, cpu->count, sizeof(*cpu->threads), by_tid);
	return 0;
}

int top_cpu_read(struct top_cpu *cpu, pid_t pid, const struct pm_snapshot *s,
		 bool threads)
{
	/* Numbers from another PID namespace are useless here. */
	threads = threads && s->header.pid == (uint32_t)pid;
	if (pm_kernel_clock_ns(CLOCK_MONOTONIC, &cpu->at_ns) ||
	    pm_kernel_clock_ns(process_clock(pid), &cpu->process_ns)) {
		cpu->at_ns = 0;
		return 0;
	}
	return threads ? threads_read(cpu, pid, s) : 0;
}

static double percent(uint64_t now, uint64_t before, uint64_t ns)
{
	return now >= before && ns ? 100 * (double)(now - before) / (double)ns : -1;
}

void top_cpu_since(struct top_cpu *cpu, const struct top_cpu *before)
{
	bool known = cpu->at_ns && before && before->at_ns;
	uint64_t ns = known ? pm_less(cpu->at_ns, before->at_ns) : 0;

	cpu->percent = known ? percent(cpu->process_ns, before->process_ns, ns) : -1;
	for (uint32_t i = 0; i < cpu->count; i++) {
		struct top_cpu_thread *thread = &cpu->threads[i];
		const struct top_cpu_thread *old =
			known && before->count
				? bsearch(thread, before->threads, before->count,
					  sizeof(*before->threads), by_tid)
				: NULL;

		thread->percent = old ? percent(thread->ns, old->ns, ns) : -1;
	}
}

double top_cpu_percent(const struct top_look *look, const struct top_group *group)
{
	const struct top_cpu *cpu = &look->cpu;
	const struct top_cpu_thread *found;
	struct top_cpu_thread wanted;

	if (group->kind == TOP_ALL)
		return cpu->percent;
	if (group->kind != TOP_THREAD || !cpu->count)
		return -1;
	wanted.tid = group->thread->tid;
	wanted.begin_ticks = group->thread->begin_ticks;
	found = bsearch(&wanted, cpu->threads, cpu->count, sizeof(*cpu->threads), by_tid);
	return found ? found->percent : -1;
}
