/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/package.h"

#include <string.h>

#include "core/kernel/handler.h"
#include "core/kernel/kernel.h"
#include "core/packages/packages.h"
#include "core/profile/profile.h"
#include "core/regions/threads/paths.h"
#include "core/regions/threads/state.h"

#define NONE PM_SHARED_PATH_NONE /* of a frame that is no visit */

/* An open visit, as it was accounted. */
struct visit {
	const struct perfmon_profile_node *node;
	uint64_t region_key;
	uint32_t path; /* NONE: it opens none */
};

struct pm_package_stack {
	uint64_t epoch; /* of `open` */
	uint32_t depth, visits;
	uint32_t task; /* the depth below the first task; 0: there is none */
	struct visit at[PM_FRAMES];
};

/* Counts a path or the process since it was opened. */
struct path {
	uint64_t open;
	uint64_t begin_ns;
};
struct counted {
	uint64_t value, lost_ns;
};

/* By the numbers of paths that all threads share. 0 is the process: some visit of any region. */
static struct {
	uint64_t epoch; /* counts disarms */
	uint32_t room;
	struct path *paths;
	struct counted *begin; /* of each path, by event */
} open;

static struct pm_packages *packages;
static uint32_t events, first; /* the columns from FIRST on */

/* The latest reading, which never falls. An event that could not be read once, as where a CPU went
 * offline, is dead: its value stands, and all time from then on is lost. */
static struct pm_packages_reading latest;
static uint32_t dead; /* by event */

/* BEGIN and END are these without packages. */
static struct pm_region_calls form;

/* In BEGIN or END. A handler that jumps out of them leaves it set. */
static __thread bool reading __attribute__((tls_model("initial-exec")));

/* --- paths --------------------------------------------------------------------------------- */

/* Returns the size of all that is kept of ROOM paths: one mapping, the counts first. */
static size_t size_of(uint32_t room)
{
	return room * (events * sizeof(*open.begin) + sizeof(*open.paths));
}

static void free_paths(void)
{
	if (open.room)
		pm_kernel_munmap(open.begin, size_of(open.room));
}

/* Makes room for path NUMBER. No malloc: a signal handler may have interrupted it. */
static bool make_room(uint32_t number)
{
	uint32_t room = open.room ? open.room : 64;
	struct counted *begin;
	struct path *paths;
	void *memory;

	if (number < open.room)
		return true;
	while (room <= number)
		room *= 2;
	if (pm_kernel_map(&memory, size_of(room)))
		return false;
	begin = memory;
	paths = (struct path *)(void *)(begin + (size_t)room * events);
	if (open.room) {
		memcpy(paths, open.paths, open.room * sizeof(*paths));
		memcpy(begin, open.begin, (size_t)open.room * events * sizeof(*begin));
	}
	free_paths();
	open.paths = paths;
	open.begin = begin;
	open.room = room;
	return true;
}

/* --- visits that open and end ---------------------------------------------------------------- */

/* Lets the path count from the latest reading on. */
static void count_from_here(uint32_t number)
{
	open.paths[number].begin_ns = latest.ns;
	for (uint32_t i = 0; i < events; i++)
		open.begin[(size_t)number * events + i] =
			(struct counted){latest.event[i].value, latest.event[i].lost_ns};
}

static void open_path(uint32_t number)
{
	if (!open.paths[number].open++)
		count_from_here(number);
}

/* Adds to NODE what the path has counted. If other visits of it are open, they go on from here: where
 * there is always one, a reader of the profile finds more than what is added at the end. */
static void close_path(uint32_t number, struct perfmon_profile_node *node)
{
	struct path *path = &open.paths[number];

	path->open--;
	for (uint32_t i = 0; i < events; i++) {
		const struct counted *begin = &open.begin[(size_t)number * events + i];
		struct perfmon_profile_count *count = &node->count[first + i];

		PM_ADD(count->sum, latest.event[i].value - begin->value);
		PM_ADD(count->lost_ns, latest.event[i].lost_ns - begin->lost_ns);
		PM_ADD(count->squares, (double)(latest.ns - path->begin_ns));
	}
	count_from_here(number);
}

static const char unreadable[] = "an event of packages cannot be read any more, as where "
				 "a CPU goes offline: what follows is "
				 "estimated from the time before";

/* Brings the latest reading up to NOW, which may be older than it. */
static void advance(const struct pm_packages_reading *now)
{
	uint64_t passed = now->ns > latest.ns ? now->ns - latest.ns : 0;

	latest.ns += passed;
	for (uint32_t i = 0; i < events; i++) {
		if (!(now->valid >> i & 1) && !(dead >> i & 1) &&
		    !pm_regions.plan.errors[first + i]) {
			dead |= UINT32_C(1) << i;
			pm_profile_note(unreadable);
		}
		if (dead >> i & 1) {
			latest.event[i].lost_ns += passed;
			continue;
		}
		if (now->event[i].value > latest.event[i].value)
			latest.event[i].value = now->event[i].value;
		if (now->event[i].lost_ns > latest.event[i].lost_ns)
			latest.event[i].lost_ns = now->event[i].lost_ns;
	}
}

/* Tasks are suspended and resumed without BEGIN and END. */
static const char in_task[] = "events of packages are not counted in tasks";

static void pop(const struct pm_thread *thread, struct pm_package_stack *stack)
{
	struct visit *visit = &stack->at[--stack->depth];

	if (stack->depth < stack->task)
		stack->task = 0;
	if (visit->path == NONE)
		return;
	close_path(visit->path, (struct perfmon_profile_node *)(uintptr_t)visit->node);
	if (!--stack->visits)
		close_path(0, pm_thread_node(thread->record, 1));
}

static void push(const struct pm_thread *thread, struct pm_package_stack *stack,
		 const struct pm_frame *frame)
{
	struct visit *visit = &stack->at[stack->depth++];
	uint32_t path;

	*visit = (struct visit){frame->node, frame->region_key, NONE};
	if (pm_key_is_task(frame->region_key))
		stack->task = stack->depth;
	if (!frame->node || pm_key_is_adopted(frame->region_key))
		return;
	if (stack->task) {
		pm_profile_note(in_task);
		return;
	}
	path = pm_shared_path_of(thread->record, frame->node);
	/* The visits by which costs are measured have no path. */
	if (!path)
		return;
	if (path == NONE || !make_room(path)) {
		PM_COUNT32(frame->node->dropped_counts, 1);
		return;
	}
	visit->path = path;
	open_path(path);
	if (!stack->visits++)
		open_path(0);
}

/* Returns THREAD's stack, or NULL without memory. */
static struct pm_package_stack *stack_of(struct pm_thread *thread)
{
	struct pm_package_stack *stack = thread->packages;
	void *memory;

	if (!stack) {
		if (pm_kernel_map(&memory, sizeof(*stack)))
			return NULL;
		thread->packages = stack = memory;
	}
	if (stack->epoch != open.epoch) {
		stack->epoch = open.epoch;
		stack->depth = stack->visits = stack->task = 0;
	}
	return stack;
}

/* Accounts for the visits that BLOCK's thread has open now, by LATEST. */
static void account(struct pm_thread_block *block)
{
	struct pm_package_stack *stack = stack_of(block->thread);
	const struct pm_frame *top = block->top, *frame = block->first;
	uint32_t same = 0;

	if (!top)
		top = block->overflow ? block->full_top : NULL;
	if (!stack || !top)
		return;
	for (;
	     frame != top && same < stack->depth && stack->at[same].node == frame->node &&
	     stack->at[same].region_key == frame->region_key;
	     same++)
		frame = pm_frame_at(frame, block->frame_size, 1);
	while (stack->depth > same)
		pop(block->thread, stack);
	for (; frame != top; frame = pm_frame_at(frame, block->frame_size, 1))
		push(block->thread, stack, frame);
}

/* Takes the lock, accounts by NOW, and with LEAVES ends all visits of that thread. */
static void account_now(const struct pm_packages_reading *now, struct pm_thread *leaves)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_still still;

	if (!leaves && (!block->alive || block->in_slow))
		return;
	if (!pm_regions_try_lock(&still))
		return;
	pm_thread_busy++;
	advance(now);
	if (!leaves)
		account(block);
	while (leaves && stack_of(leaves) && leaves->packages->depth)
		pop(leaves, leaves->packages);
	pm_thread_busy--;
	pm_regions_unlock(&still);
}

/* --- BEGIN and END ---------------------------------------------------------------------------- */

/*
 * The reading of a BEGIN comes before its visit, and that of an END behind it: neither is in the
 * visit's time. A call inside of another one, of a signal handler or by the slow path, which makes calls
 * again, accounts for the visits that it finds: what the outer call has read may be older then.
 *
 * A forked child has no packages until its regions are ready.
 */
static void begin(struct perfmon_region *region)
{
	struct pm_packages_reading now;

	if (!packages) {
		PM_GET(form.begin)(region);
		return;
	}
	reading = true;
	pm_packages_read(packages, &now);
	PM_GET(form.begin)(region);
	account_now(&now, NULL);
	reading = false;
}

static void end(struct perfmon_region *region)
{
	struct pm_packages_reading now;

	if (!packages) {
		PM_GET(form.end)(region);
		return;
	}
	reading = true;
	PM_GET(form.end)(region);
	pm_packages_read(packages, &now);
	account_now(&now, NULL);
	reading = false;
}

void pm_package_leave(struct pm_thread *thread)
{
	struct pm_packages_reading now;

	if (!packages || !thread->packages)
		return;
	pm_packages_read(packages, &now);
	account_now(&now, thread);
	pm_package_forget_thread(thread);
}

bool pm_package_is_read(void)
{
	return reading && !pm_outside_signal_handlers();
}

/* --- set-up ----------------------------------------------------------------------------------- */

void pm_package_open(int *errors, struct pm_diag *diag)
{
	const struct pm_region_plan *plan = &pm_regions.plan;
	int n;

	first = plan->live;
	events = plan->packages;
	n = pm_packages_open(&packages, &plan->list->events[first], events, errors, diag);
	for (uint32_t i = 0; n < 0 && i < events; i++)
		errors[i] = n;
	if (n > 0)
		return;
	if (!n)
		pm_packages_close(packages);
	packages = NULL;
}

bool pm_package_is_machine(uint32_t i)
{
	return packages && pm_packages_covers_machine(packages, i - first);
}

/* Writes to the profile what else ran on the packages. */
static void renew(void)
{
	struct pm_packages_use use;

	if (!packages)
		return;
	pm_packages_use(packages, &use);
	pm_profile_packages_time(use.own_ns, use.busy_ns);
}

void pm_package_begin(void)
{
	char place[64] = "";

	if (!packages)
		return;
	pm_packages_place(packages, place, sizeof(place));
	pm_profile_packages(place);
	pm_packages_read(packages, &latest);
	pm_regions.renew = renew;
	pm_region_calls_surround(begin, end, &form);
}

void pm_package_disarm(void)
{
	open.epoch++;
	for (uint32_t i = 0; i < open.room; i++)
		open.paths[i].open = 0;
}

void pm_package_forget(void)
{
	pm_packages_forget(packages);
	packages = NULL;
	free_paths();
	memset(&open, 0, sizeof(open));
	memset(&latest, 0, sizeof(latest));
	dead = 0;
	reading = false;
}

void pm_package_forget_thread(struct pm_thread *thread)
{
	if (thread->packages)
		pm_kernel_munmap(thread->packages, sizeof(*thread->packages));
	thread->packages = NULL;
}
