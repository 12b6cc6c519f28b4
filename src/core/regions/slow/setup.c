/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/slow/setup.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/events/events.h"
#include "core/kernel/clock.h"
#include "core/kernel/locks.h"
#include "core/kernel/stack.h"
#include "core/kernel/owned.h"
#include "core/profile/profile.h"
#include "core/regions/threads/names.h"
#include "core/regions/threads/package.h"
#include "core/regions/slow/prepare.h"
#include "core/regions/threads/registry.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/thread.h"
#include "core/report/model/metric.h"
#include "core/report/report.h"
#include "core/topology/topology.h"
#include "fastpath/fastpath.h"

/* --- the first region, arming ------------------------------------------------------- */

/* Disarms that no arm has undone. */
static int disarms;

/* Publishes the calls of BEGIN and END, by the plan and the options. */
static void publish(void)
{
	bool plain = !pm_region_general.fence && !pm_region_general.monotonic &&
		     !pm_region_general.generation;

	PM_PUT(pm_region_general.special,
	       !plain || pm_region_general.stride || pm_region_general.filters);
	pm_regions.was_armed = pm_regions.was_armed || !disarms;
	if (pm_regions.phase != PM_REGIONS_READY)
		return;
	if (disarms)
		pm_package_disarm();
	if (disarms)
		pm_region_calls_disarm();
	else
		pm_region_calls_arm(pm_regions.plan.live, plain,
				    pm_region_general.stride);
	PM_PUT(pm_regions.published, pm_regions.published + 1);
}

int pm_regions_disarmed(int more)
{
	bool armed = !disarms;

	if (more > 0 ? disarms < INT_MAX : disarms > 0)
		disarms += more;
	if (armed == !disarms)
		return disarms;
	if (!disarms && pm_regions.was_armed) {
		/* Visits may still be open. The general form detects them by this. */
		__atomic_store_n(&pm_region_general.generation,
				 pm_region_general.generation + 1, __ATOMIC_RELAXED);
	}
	publish();
	/* Quantities of visits that a disarm drops are not added: see quantity.c. */
	if (disarms)
		pm_threads_drop_quantities();
	return disarms;
}

/* Prepares the parts of the report that need other libraries, at the begin of exit(3).
 * The destructors of preloaded libraries may run before ours. */
static void prepare_exit(void)
{
	struct pm_topology *topology;

	if (pm_regions_phase() != PM_REGIONS_READY || !pm_regions_is_ours())
		return;
	if (pm_clock_may_end())
		pm_profile_clock_renew();
	if (pm_regions_want_report() && pm_regions.options.level &&
	    !pm_topology_get(&topology, NULL))
		pm_topology_put(topology);
}

/* Makes regions ready. The caller holds PM_LOCK_REGIONS. A forked child calls this again,
 * with the options and the plan of its parent. */
static int make_ready_here(void)
{
	static bool configured;
	struct pm_diag diag = {0};
	uint32_t i;
	int err;

	if (!configured) {
		pm_standard_learn();
		pm_options_read(&pm_regions.options, &diag);
		pm_regions_groups(&pm_regions.options);
		pm_regions.metrics = pm_metrics_of(&pm_regions.options);
	}
	err = pm_registry_init();
	if (!err)
		err = pm_regions_make_ours();
	if (!err)
		err = pm_profile_open(&pm_regions.options, &diag);
	if (err) {
		pm_diag_set(&pm_regions.refused, err, "%s",
			    diag.error ? diag.text : strerror(-err));
		pm_regions_debug("perfmon: regions are not counted: %s",
				 pm_regions.refused.text);
		return err;
	}
	pm_profile_machine();
	if (pm_regions.options.arguments)
		pm_profile_arguments();
	pm_regions_run_notes(pm_regions.options.run_notes);
	for (i = 0; i < pm_regions.options.note_count; i++)
		pm_profile_note(pm_regions.options.notes[i]);
	if (pm_clock.why[0])
		pm_profile_note(pm_clock.why);
	pm_regions_debug("perfmon: time is taken from %s",
			 pm_clock.monotonic ? "CLOCK_MONOTONIC"
					    : "the timestamp counter");
	if (configured) {
		pm_region_plan_again(&pm_regions.plan);
		pm_registry_each_region(pm_region_record_name);
	} else {
		pm_region_plan_make(&pm_regions.plan, &pm_regions.options);
		pm_regions.exact =
			pm_regions.plan.live && pm_regions.plan.list->events[0].exact;
		pm_region_general.fence = pm_regions.options.fence;
		pm_region_general.monotonic = pm_clock.monotonic + pm_clock_may_end();
		pm_region_general.stride = pm_regions.options.stride_count > 0 ||
					   pm_regions.options.stride_auto > 0;
		pm_filter_begin();
		if (!pm_regions.options.arm)
			disarms = 1;
	}
	pm_filter_note();
	/* If this fails, the report is the same unless a library is preloaded. */
	if (!configured)
		atexit(prepare_exit);
	configured = true;
	return 0;
}

static void make_ready_at(void *err)
{
	*(int *)err = make_ready_here();
}

static void load_libraries(void *unused)
{
	(void)unused;
	pm_events_prepare(pm_options_events());
	/* A group has names that only libpfm4 may know. */
	if (pm_options_groups())
		pm_events_prepare("group");
}

int pm_regions_init(void)
{
	int err = 0;

	/* This comes before the lock: see pm_library_need(). */
	if (pm_regions_phase() == PM_REGIONS_NEW &&
	    (pm_options_events() || pm_options_groups()))
		pm_stack_run(load_libraries, NULL);
	pm_regions_acquire();
	if (pm_regions.phase == PM_REGIONS_NEW) {
		/* The set-up may call libpfm4, and reads files: too much for the stack of a small
		 * thread. */
		pm_stack_run(make_ready_at, &err);
		if (err) {
			pm_regions_make_inert();
		} else {
			pm_regions_set_phase(PM_REGIONS_READY);
			publish();
		}
	}
	if (pm_regions.phase == PM_REGIONS_INERT)
		err = -EPERM;
	pm_regions_release();
	return err;
}

/* These functions are missing in a static program and, before glibc 2.34, in a program
 * that is not linked with libdl. */
#pragma weak dladdr
#pragma weak dlopen

/*
 * The object with the library must never be unloaded: threads have a key whose destructor
 * is here, and open counters. The shared library is linked so. A plugin that contains the
 * archive is not.
 */
__attribute__((constructor)) static void stay_loaded(void)
{
	Dl_info info;

	/* In the program itself, which always stays, this finds nothing. */
	if (dladdr && dlopen && dladdr(&pm_regions, &info) && info.dli_fname)
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* --- fork(2) ------------------------------------------------------------------------ */

/* The open visits of the forking thread, which its child begins again. */
static struct {
	uint32_t count;
	uint64_t key[PM_FRAMES + PM_OVERFLOW_KEYS];
	uint64_t adopted[PM_FRAMES]; /* the path's number, where that is an adoption */
} open_at_fork;

/*
 * False if a signal handler forked that interrupted our slow path, so that this thread's
 * memory may be inconsistent, or a reading of packages, which the child would free. Then
 * the child's regions do nothing. The same holds for a fork in a child that no handler
 * prepared: it has no profile to hand over.
 */
static bool fork_prepared;

static void before_fork(void)
{
	const struct pm_thread_block *block = pm_thread_block;
	const struct pm_frame *frame, *top;
	enum pm_regions_phase phase = pm_regions_phase();

	fork_prepared = !pm_thread_busy && !block->in_slow && !pm_package_is_read() &&
			phase != PM_REGIONS_INERT &&
			(phase != PM_REGIONS_READY || pm_regions_is_ours());
	if (!fork_prepared)
		return;
	if (phase == PM_REGIONS_READY)
		pm_profile_remember_parent();
	open_at_fork.count = 0;
	top = block->top;
	/* In a visit that is left out, too. */
	if (block->alive && block->overflow && block->left_out)
		top = block->full_top;
	if (!block->alive || !top)
		return;
	for (frame = pm_frame_at(block->frames, block->frame_size, 1); frame != top;
	     frame = pm_frame_at(frame, block->frame_size, 1)) {
		open_at_fork.adopted[open_at_fork.count] =
			frame->cpu >> PM_ADOPTED_PATH & UINT32_MAX;
		open_at_fork.key[open_at_fork.count++] = frame->region_key;
	}
	for (uint32_t i = 0; !block->top && i < block->overflow && i < PM_OVERFLOW_KEYS;
	     i++)
		open_at_fork.key[open_at_fork.count++] = block->overflow_key[i];
}

/*
 * Separates the child from its parent's measurement. Names keep their ids, since the
 * program's descriptors have them. The child's first region creates the rest again, or
 * this function does if regions are open.
 */
static void in_child(bool prepared)
{
	uint32_t i;

	pm_diag_clear(&pm_regions.refused);
	if (!prepared || !fork_prepared) {
		pm_thread_block = &pm_thread_block_none;
		pm_regions_make_inert();
		return;
	}
	pm_profile_forget();
	pm_threads_forget();
	pm_regions.plan.record = NULL;
	if (pm_regions.phase == PM_REGIONS_READY)
		pm_regions_set_phase(PM_REGIONS_NEW);
	pm_regions.tokens = 0;
	if (!open_at_fork.count || !perfmon_region_begin_armed)
		return;
	for (i = 0; i < open_at_fork.count; i++) {
		struct perfmon_region region = {.key = open_at_fork.key[i], .name = NULL};

		if (pm_key_is_adopted(region.key))
			pm_regions.adopter->adopt(open_at_fork.adopted[i]);
		else
			perfmon_region_begin_armed(&region);
	}
}

__attribute__((constructor)) static void handle_forks(void)
{
	static const struct pm_fork_hooks hooks = {before_fork, in_child};

	pm_locks_at_fork(PM_LOCK_REGIONS, &hooks);
}

/* --- the exit ------------------------------------------------------------------------ */

void pm_exit_report(void)
{
	struct pm_snapshot *snapshot;
	struct pm_diag diag = {0};
	int err;

	if (!pm_regions_want_report())
		return;
	if (pm_regions.refused.error) {
		pm_regions_print("perfmon: regions are not counted: %s",
				 pm_regions.refused.text);
		return;
	}
	err = pm_regions_snapshot(&snapshot, &diag);
	if (!err) {
		err = pm_report_at_exit(
			snapshot, &pm_regions.options, pm_regions.metrics,
			snapshot->header.parent_link == PERFMON_PROFILE_LINK_FORK, &diag);
		pm_snapshot_free(snapshot);
	}
	if (err)
		pm_regions_print("perfmon: no report: %s",
				 diag.error ? diag.text : strerror(-err));
}

static void report_on_stack(void *unused)
{
	(void)unused;
	pm_exit_report();
}

/*
 * Runs after main()'s atexit functions and the destructors of everything that links the
 * library. A child that no handler prepared has no profile mapped. It writes nothing.
 */
__attribute__((destructor)) static void finish(void)
{
	struct perfmon_profile_header *header;

	if (pm_regions_phase() == PM_REGIONS_READY && pm_regions_is_ours()) {
		header = pm_profile_header();
		__atomic_store_n(&header->state, PERFMON_PROFILE_STATE_ENDED,
				 __ATOMIC_RELAXED);
		if (pm_clock_may_end())
			pm_clock.end_ns = header->end_ns;
		pm_profile_clock_renew();
		pm_profile_totals_renew();
		if (pm_regions.renew)
			pm_regions.renew();
	} else if (!pm_regions.refused.error) {
		return;
	}
	pm_stack_run(report_on_stack, NULL);
}
