/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"
#include "report/report.h"
#include "regions/aggregate.h"
#include "regions/plan.h"
#include "profile/profile.h"
#include "regions/registry.h"
#include "regions/calls.h"
#include "regions/thread.h"
#include "fastpath/fastpath.h"

struct pm_process pm_process;

/* Until the first region has shown how many counters there are, both calls end at the
 * closed gate of a thread that is not set up. */
PM_EXPORT void (*perfmon_region_begin_armed)(struct perfmon_region *) =
	pm_region_begin_closed;
PM_EXPORT void (*perfmon_region_end_armed)(struct perfmon_region *) =
	pm_region_end_closed;

/* A page with MADV_WIPEONFORK: 1 in the process that made it, 0 in any child. */
static uint32_t *life;

static bool armed = true;

/* What the forking thread had open, for its child to begin again. */
static struct {
	uint32_t count;
	uint64_t key[PERFMON_PROFILE_DEPTH];
} open_at_fork;

__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args)
{
	char text[1200];
	int length;

	if (pm_standard_descriptor(STDERR_FILENO) < 0)
		return;
	length = vsnprintf(text, sizeof(text) - 1, format, args);
	if (length < 0)
		return;
	if ((size_t)length > sizeof(text) - 2)
		length = sizeof(text) - 2;
	text[length] = '\n';
	pm_kernel_write_quietly(STDERR_FILENO, text, (size_t)length + 1);
}

void pm_process_say(const char *format, ...)
{
	va_list args;

	if (pm_process.options.output == PM_OUTPUT_NONE)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void pm_process_debug(const char *format, ...)
{
	va_list args;

	if (!pm_process.options.debug)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void pm_process_acquire(void)
{
	pm_locks_take(PM_LOCK_REGIONS);
}

void pm_process_release(void)
{
	pm_locks_release(PM_LOCK_REGIONS);
}

bool pm_process_try_lock(void)
{
	return pm_locks_try(PM_LOCK_REGIONS);
}

/* Partner: the acquire in pm_process_phase(), for those who do not hold the lock. */
static void set_phase(enum pm_process_phase phase)
{
	__atomic_store_n(&pm_process.phase, phase, __ATOMIC_RELEASE);
}

static void publish(struct pm_region_calls calls)
{
	__atomic_store_n(&perfmon_region_begin_armed, calls.begin, __ATOMIC_RELEASE);
	__atomic_store_n(&perfmon_region_end_armed, calls.end, __ATOMIC_RELEASE);
}

void pm_process_arm(bool on)
{
	struct pm_region_calls none = {NULL, NULL};
	bool plain = !pm_region_general.fence && !pm_region_general.monotonic;
	static bool was_armed;

	if (on && !armed && was_armed) {
		/* Visits may be open since before: the general form notices by this. */
		__atomic_store_n(&pm_region_general.generation,
				 pm_region_general.generation + 1, __ATOMIC_RELAXED);
	}
	armed = on;
	was_armed = was_armed || on;
	if (pm_process.phase != PM_PROCESS_READY)
		return;
	plain = plain && !pm_region_general.generation;
	publish(on ? pm_region_calls_for(pm_process.plan.live, plain,
					 pm_region_general.stride)
		   : none);
}

/*
 * A fork by a signal handler that interrupted our slow path may find this thread's memory
 * in pieces: then the child's regions do nothing. The same holds for a fork in a child
 * that no handler prepared: it has no profile to leave behind.
 */
static bool fork_prepared;

static void before_fork(void)
{
	const struct pm_thread_block *block = pm_thread_block;
	const struct pm_frame *frame;
	enum pm_process_phase phase = pm_process_phase();

	fork_prepared = !pm_thread_busy && !block->in_cold && phase != PM_PROCESS_INERT &&
			(phase != PM_PROCESS_READY || pm_process_is_ours());
	if (!fork_prepared)
		return;
	if (phase == PM_PROCESS_READY)
		pm_profile_remember_parent();
	open_at_fork.count = 0;
	if (!block->alive || !block->gate)
		return;
	for (frame = pm_frame_at(block->frames, block->frame_size, 1);
	     frame != block->gate;
	     frame = pm_frame_at((struct pm_frame *)(uintptr_t)frame, block->frame_size,
				 1))
		open_at_fork.key[open_at_fork.count++] = frame->region_key;
}

static void forget_thread(struct pm_registry_thread *thread)
{
	pm_thread_forget((struct pm_thread *)(void *)thread);
}

/*
 * The child: nothing of the parent's measuring may reach it, and nothing it does the
 * parent's. Names keep their ids, since the program's descriptors hold them. The rest is
 * made anew by the child's first region, or here if regions are open.
 */
static void in_child(bool prepared)
{
	uint32_t i;

	pm_diag_clear(&pm_process.refused);
	if (!prepared || !fork_prepared) {
		pm_thread_block = &pm_thread_block_none;
		pm_process_make_inert();
		return;
	}
	pm_profile_forget();
	pm_aggregate_forget();
	pm_process.plan.record = NULL;
	if (pm_process.phase == PM_PROCESS_READY)
		set_phase(PM_PROCESS_NEW);
	pm_registry_forget(forget_thread);
	if (!open_at_fork.count || !perfmon_region_begin_armed)
		return;
	for (i = 0; i < open_at_fork.count; i++) {
		struct perfmon_region region = {.key = open_at_fork.key[i], .name = NULL};

		perfmon_region_begin_armed(&region);
	}
}

__attribute__((constructor)) static void handle_forks(void)
{
	static const struct pm_fork_hooks hooks = {before_fork, in_child};

	pm_locks_at_fork(PM_LOCK_REGIONS, &hooks);
}

bool pm_process_is_ours(void)
{
	return life && __atomic_load_n(life, __ATOMIC_RELAXED);
}

static int make_life(void)
{
	size_t size = pm_kernel_page_size();
	void *page = life;
	int err = 0;

	if (!page)
		err = pm_kernel_mmap(&page, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (err)
		return err;
	life = NULL;
	err = pm_kernel_madvise(page, size, MADV_WIPEONFORK);
	if (err) {
		pm_kernel_munmap(page, size);
		return err;
	}
	life = page;
	__atomic_store_n(life, 1, __ATOMIC_RELAXED);
	return 0;
}

void pm_process_make_inert(void)
{
	struct pm_region_calls none = {NULL, NULL};

	set_phase(PM_PROCESS_INERT);
	publish(none);
}

/* Under pm_process_lock. A forked child comes here again, with options and plan that its
 * parent has made. */
static int make_ready_here(void)
{
	static bool configured;
	struct pm_diag diag = {0};
	uint32_t i;
	int err;

	if (!configured) {
		pm_standard_learn();
		pm_options_read(&pm_process.options, &diag);
		pm_process.metrics = pm_metrics_of(&pm_process.options);
	}
	err = pm_registry_init();
	if (!err)
		err = make_life();
	if (!err)
		err = pm_profile_open(&pm_process.options, &diag);
	if (err) {
		pm_diag_set(&pm_process.refused, err, "%s",
			    diag.error ? diag.text : strerror(-err));
		pm_process_debug("perfmon: regions are not counted: %s",
				 pm_process.refused.text);
		return err;
	}
	pm_profile_machine();
	for (i = 0; i < pm_process.options.note_count; i++)
		pm_profile_note(pm_process.options.notes[i]);
	if (pm_clock.why[0])
		pm_profile_note(pm_clock.why);
	pm_process_debug("perfmon: time is taken from %s",
			 pm_clock.monotonic ? "CLOCK_MONOTONIC"
					    : "the timestamp counter");
	if (configured) {
		pm_plan_record(&pm_process.plan);
		pm_registry_each_region(pm_region_record_name);
	} else {
		pm_plan_make(&pm_process.plan, &pm_process.options);
		pm_region_general.fence = pm_process.options.fence;
		pm_region_general.monotonic = pm_clock.monotonic;
		pm_region_general.stride = pm_process.options.stride_count > 0;
		if (!pm_process.options.arm)
			armed = false;
	}
	/* Without it the report is the same, where nothing is preloaded. */
	if (!configured)
		atexit(pm_process_prepare_report);
	configured = true;
	return 0;
}

int pm_process_snapshot(struct pm_snapshot **out, struct pm_diag *diag)
{
	struct pm_snapshot *quiet;
	int err;

	/* A profile that is being begun is nobody's to read. */
	if (pm_process_phase() != PM_PROCESS_READY || !pm_process_is_ours())
		return pm_diag_set(diag, -ENOENT,
				   "no region has been used in this process yet");
	err = pm_profile_snapshot(out, diag);
	/* Where threads end all the time no walk may find a quiet moment: make one. */
	if (!err && (*out)->partial && pm_process_try_lock()) {
		int again = pm_profile_snapshot(&quiet, diag);

		pm_process_release();
		if (!again) {
			pm_snapshot_free(*out);
			*out = quiet;
		}
	}
	return err;
}

static void make_ready_at(void *err)
{
	*(int *)err = make_ready_here();
}

/* It calls libpfm4 and reads files: too much for the stack of a small thread. */
static int make_ready(void)
{
	int err = 0;

	pm_stack_run(make_ready_at, &err);
	return err;
}

int pm_process_init(void)
{
	int err = 0;

	pm_process_acquire();
	if (pm_process.phase == PM_PROCESS_NEW) {
		err = make_ready();
		if (err) {
			pm_process_make_inert();
		} else {
			set_phase(PM_PROCESS_READY);
			pm_process_arm(armed);
		}
	}
	if (pm_process.phase == PM_PROCESS_INERT)
		err = -EPERM;
	pm_process_release();
	return err;
}

/* Not there in a program that is wholly static, nor, before glibc 2.34, in one that is
 * not linked with libdl. */
#pragma weak dladdr
#pragma weak dlopen

/*
 * What the library is in is never unloaded: threads have a key whose destructor is here,
 * and open counters. The shared library is linked so; a plugin that the archive was
 * linked into is not.
 */
__attribute__((constructor)) static void stay_loaded(void)
{
	Dl_info info;

	/* In the program itself, which stays in any case, this finds nothing. */
	if (dladdr && dlopen && dladdr(&pm_process, &info) && info.dli_fname)
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void report(void *unused)
{
	(void)unused;
	pm_process_report();
}

/*
 * After main()'s atexit functions and the destructors of everything that links the
 * library. A child that no handler prepared has no profile mapped; it writes nothing.
 */
__attribute__((destructor)) static void finish(void)
{
	struct perfmon_profile_header *header;

	if (pm_process_phase() == PM_PROCESS_READY && pm_process_is_ours()) {
		header = pm_profile_header();
		__atomic_store_n(&header->state, PERFMON_STATE_ENDED, __ATOMIC_RELAXED);
		pm_profile_clock_renew();
		pm_stack_run(report, NULL);
	} else if (pm_process.refused.error) {
		pm_stack_run(report, NULL);
	}
}
