/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/slow/prepare.h"

#include <string.h>

#include "core/kernel/clock.h"
#include "core/kernel/stack.h"
#include "core/regions/threads/exclude.h"
#include "core/regions/threads/state.h"
#include "core/regions/threads/thread.h"
#include "fastpath/fastpath.h"

#define MOST PERFMON_PROFILE_COUNTERS_MAX
#define TIME MOST /* the index of time, behind the counters */

#define ROUNDS	       8 /* with the counters' own way of reading */
#define ROUNDS_CALL    3 /* with read(2), if that is not their way */
#define ROUNDS_OVERLAP 8
#define ROUNDS_LEARN   4 /* an interrupt may come between */
#define PAIRS	       8 /* number of visits in a round */
/* Longer than the time slices of multiplexed events, which are 4 ms in the kernel. */
#define SLICES_NS 20000000

/* No region gets this id. */
static struct perfmon_region empty = {.key = PM_REGION_KEY(UINT32_MAX), .name = NULL};
/* The same id, at a place in the code that the library does not know. */
static struct perfmon_region again = {.key = 0, .name = NULL};

#if PERFMON_REGION_SITE_ == 1
/* A program has this in its own memory (copy relocation), where one instruction reads it. So it
 * is copied here. */
static struct perfmon_region_calls copied;

static void copy_calls(void)
{
	copied = perfmon_region_calls;
}

#define CALL(function, region) PERFMON_REGION_CALL_FROM_(copied, function, region)
#else
static void copy_calls(void)
{
}

#define CALL(function, region) PERFMON_REGION_CALL_(function, region)
#endif

#define PAIR                                                                             \
	CALL(begin, empty);                                                              \
	CALL(end, empty)

/* Forces a stack frame, as in a function that calls others. The program has its cost in
 * any case. */
#if defined(__aarch64__)
#define FRAME __asm__ __volatile__("" ::: "x30")
#elif defined(__x86_64__)
#define FRAME __asm__ __volatile__("" ::: "rbx")
#elif defined(__riscv)
#define FRAME __asm__ __volatile__("" ::: "ra")
#else
#define FRAME __asm__ __volatile__("")
#endif

/* They are functions of their own, so that no loop around them keeps addresses in
 * registers. */
static __attribute__((noinline)) void visit_empty(void)
{
	PAIR;
	FRAME; /* prevents a tail call of the END */
}

static __attribute__((noinline)) void visit_again(void)
{
	CALL(begin, empty);
	CALL(end, again);
	FRAME;
}

static __attribute__((noinline)) void visit_none(void)
{
	FRAME;
}

#define TWICE(statement)                                                                 \
	statement;                                                                       \
	statement
#define EIGHT_TIMES(statement) TWICE(TWICE(TWICE(statement)))

/* Makes PAIRS calls in a row, with nothing between, behind FIRST. */
#define ROW(name, first, call)                                                           \
	static __attribute__((noinline)) void name(void)                                 \
	{                                                                                \
		first;                                                                   \
		EIGHT_TIMES(call());                                                     \
		__asm__ __volatile__("");                                                \
	}
ROW(row_of_visits, (void)0, visit_empty)
ROW(row_of_none, (void)0, visit_none)

/* Work that waits: a multiplication takes some cycles and needs the last one's result. It takes
 * longer than a visit that is read in user space. */
static uint64_t chained = 3;

#define LINK(value)                                                                      \
	value *= PM_KEY;                                                                 \
	__asm__("" : "+r"(value)) /* one after the other */

static __attribute__((noinline)) void chain(void)
{
	uint64_t value = chained;

	for (int i = 0; i < 8; i++) {
		EIGHT_TIMES(LINK(value));
	}
	chained = value;
}

static __attribute__((noinline)) void visit_and_chain(void)
{
	visit_empty();
	chain();
}

static __attribute__((noinline)) void none_and_chain(void)
{
	visit_none();
	chain();
}
/* The first visit, too, has work before it that it overlaps with. */
ROW(row_of_chains, chain(), none_and_chain)
ROW(row_of_both, chain(), visit_and_chain)

/* The minimum of each counter and of time. */
struct least {
	uint64_t value[MOST + 1];
	uint64_t known; /* bit i: counter i */
};

static void lower(struct least *least, uint32_t i, uint64_t value)
{
	if (!(least->known >> i & 1) || value < least->value[i])
		least->value[i] = value;
	least->known |= UINT64_C(1) << i;
}

/* The measured costs: with reads in user space, and with read(2). */
struct costs {
	struct least bias[2]; /* of one visit, on itself */
	/* of PAIRS visits, on the visits around them; `none` included */
	struct least row[2];
	struct least none;	   /* of no visits, likewise: the cost of measuring */
	struct least skipped;	   /* as row, of visits that a stride skips */
	struct least chains, both; /* of work that waits, and of visits beside it */
};

/* Measures an empty visit, whose NODE is in no profile. A visit whose page changed is
 * ignored, and so is a counter that was not on the hardware. */
static void measure_bias(struct perfmon_profile_node *node, struct costs *costs)
{
	struct perfmon_profile_count before[MOST];
	uint32_t i, calls = node->fallback_reads, retries = node->retries;
	uint64_t ticks = node->time_ticks;
	struct least *least;

	for (i = 0; i < pm_thread_block->counters; i++)
		before[i] = node->count[i];
	visit_empty();
	if (node->retries != retries)
		return;
	least = &costs->bias[node->fallback_reads != calls];
	lower(least, TIME, node->time_ticks - ticks);
	for (i = 0; i < pm_thread_block->counters; i++)
		if (node->count[i].lost_ns == before[i].lost_ns)
			lower(least, i, node->count[i].sum - before[i].sum);
}

/* Measures how much a region around the visits of CALL counts. The result goes to *LEAST
 * or, if that is NULL, to the row of their way of reading. */
static void measure_around(struct perfmon_profile_node *node, void (*call)(void),
			   struct least *least, struct costs *costs)
{
	const struct pm_instance *instance = pm_thread_block->thread->instance;
	uint32_t i, calls = node->fallback_reads, retries = node->retries;
	struct pm_reading before[MOST], after[MOST];
	uint64_t ticks;
	bool counts;

	memset(before, 0, sizeof(before));
	memset(after, 0, sizeof(after));
	counts = pm_thread_block->counters && !pm_instance_read(instance, before);
	ticks = pm_clock_ticks();
	call();
	ticks = pm_clock_ticks() - ticks;
	counts = counts && !pm_instance_read(instance, after);
	calls = node->fallback_reads - calls;
	if (node->retries != retries || (calls && calls != PAIRS))
		return;
	if (!least)
		least = &costs->row[calls != 0];
	lower(least, TIME, ticks);
	for (i = 0; counts && i < pm_thread_block->counters; i++)
		if (pm_counter_is_open(&instance->counters[i]) &&
		    after[i].running_ns - before[i].running_ns ==
			    after[i].enabled_ns - before[i].enabled_ns)
			lower(least, i, after[i].value - before[i].value);
}

/* --- the slow path's additions around the excluded part
 * --------------------------------- */

/* The entry of the node that is in no profile, while it is measured. */
static struct pm_path_entry *own_entry;

bool pm_cost_resumes(struct perfmon_region *region)
{
	if (region == &again)
		again.key = empty.key;
	else if (region == &empty && own_entry)
		own_entry->key = PM_PATH_KEY(1) + empty.key;
	else
		return false;
	return true;
}

/* By counter, the counts of VISIT itself and of a region around it. */
struct counted {
	uint64_t own[MOST], outer[MOST];
};

static bool count_visit(struct perfmon_profile_node *node, void (*visit)(void),
			struct counted *to)
{
	const struct pm_instance *instance = pm_thread_block->thread->instance;
	struct pm_reading before[MOST], after[MOST];
	uint32_t i, counters = pm_thread_block->counters;

	for (i = 0; i < counters; i++)
		to->own[i] = node->count[i].sum;
	if (pm_instance_read(instance, before))
		return false;
	visit();
	if (pm_instance_read(instance, after))
		return false;
	for (i = 0; i < counters; i++) {
		to->own[i] = node->count[i].sum - to->own[i];
		to->outer[i] = after[i].value - before[i].value;
	}
	return true;
}

typedef void learn_call(enum pm_excluded kind, uint32_t i, uint64_t own, uint64_t outer);

/* Returns false if something came between. */
static bool learn_slow_path(struct pm_path_entry *entry, learn_call *learn)
{
	struct counted warm, first;
	uint64_t begin[MOST], key = entry->key;
	bool whole = false;
	uint32_t i;

	if (!count_visit(entry->node, visit_empty, &warm))
		return false;
	again.key = 0;
	if (count_visit(entry->node, visit_again, &first))
		for (i = 0; i < pm_thread_block->counters; i++)
			learn(PM_EXCLUDED_END, i, first.own[i] - warm.own[i],
			      first.outer[i] - warm.outer[i] - pm_exclude_last(i));
	own_entry = entry;
	entry->key = 0;
	if (!count_visit(entry->node, visit_empty, &first))
		goto out;
	for (i = 0; i < pm_thread_block->counters; i++) {
		begin[i] = first.outer[i] - warm.outer[i] - pm_exclude_last(i);
		learn(PM_EXCLUDED_BEGIN, i, 0, begin[i]);
	}
	whole = true;
	if (!pm_regions.exact)
		goto out;
	/* The entry has another path, and no other follows. */
	entry->key = PM_PATH_KEY(1);
	if (!count_visit(entry->node, visit_empty, &first))
		goto out;
	for (i = 0; i < pm_thread_block->counters; i++)
		learn(PM_EXCLUDED_STEP, i, 0,
		      first.outer[i] - warm.outer[i] - begin[i] - pm_exclude_last(i));
out:
	own_entry = NULL;
	entry->key = key;
	return whole;
}

/* The first time, some of it is done for the first time. */
static void learn_slow_paths(struct pm_path_entry *entry)
{
	learn_slow_path(entry, pm_exclude_learn);
	pm_exclude_drop();
	for (int round = 0; round < ROUNDS_LEARN; round++) {
		if (!learn_slow_path(entry, pm_exclude_learn))
			continue;
		if (pm_regions.exact ||
		    (learn_slow_path(entry, pm_exclude_confirm) && !pm_exclude_missed()))
			return;
	}
	pm_exclude_drop();
}

/* How much of a visit the CPU executes while the work around it waits. */
static void measure_overlap(struct perfmon_profile_node *node, struct costs *costs)
{
	/* System calls do not overlap. */
	if (!(costs->bias[0].known >> TIME & 1))
		return;
	for (int i = 0; i < ROUNDS_OVERLAP; i++) {
		measure_around(node, row_of_chains, &costs->chains, costs);
		measure_around(node, row_of_both, &costs->both, costs);
	}
}

static void measure(struct perfmon_profile_node *node, int rounds, struct costs *costs)
{
	while (rounds--) {
		for (int i = 0; i < PAIRS / 2; i++)
			measure_bias(node, costs);
		measure_around(node, row_of_none, &costs->none, costs);
		measure_around(node, row_of_visits, NULL, costs);
	}
}

/* Shows all pages again, or hides them: no counter can be read in user space, and no page has a clock. */
static void show_pages(struct pm_thread_block *block, bool shown, uint32_t time_view)
{
	for (uint32_t i = 0; i < block->counters; i++) {
		if (shown) {
			pm_instance_view(block->thread->instance, i, 0, &block->view[i]);
			pm_view_refresh(&block->view[i]);
		} else {
			pm_view_init_none(&block->view[i]);
		}
	}
	block->time_view = shown ? time_view : block->counters;
	block->epoch++;
}

static uint32_t narrow(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Stores the cost of one visit in ROW, which is LESS without visits. Returns false if it is not
 * known. */
static bool one_of(const struct least *row, const struct least *less, uint32_t i,
		   uint32_t *cost)
{
	uint64_t value;

	if (!((row->known & less->known) >> i & 1))
		return false;
	value = row->value[i] > less->value[i] ? row->value[i] - less->value[i] : 0;
	*cost = narrow((value + PAIRS / 2) / PAIRS);
	return true;
}

/* Returns the parts of measure I. If only its bias is known, that is the least cost of a
 * pair. */
static struct perfmon_profile_cost cost_of(const struct costs *costs, uint32_t i)
{
	struct perfmon_profile_cost cost = {.known = 0};

	if (costs->bias[0].known >> i & 1) {
		cost.known |= PERFMON_PROFILE_COST_USER;
		cost.pair = cost.bias = narrow(costs->bias[0].value[i]);
		one_of(&costs->row[0], &costs->none, i, &cost.pair);
	}
	if (costs->bias[1].known >> i & 1) {
		cost.known |= PERFMON_PROFILE_COST_CALL;
		cost.call_pair = cost.call_bias = narrow(costs->bias[1].value[i]);
		one_of(&costs->row[1], &costs->none, i, &cost.call_pair);
	}
	if (one_of(&costs->skipped, &costs->none, i, &cost.skipped))
		cost.known |= PERFMON_PROFILE_COST_SKIPPED;
	if (i == TIME && one_of(&costs->both, &costs->chains, i, &cost.overlapped))
		cost.known |= PERFMON_PROFILE_COST_OVERLAP;
	return cost;
}

/* The release orders the values before `known`. It pairs with the acquires in
 * pm_walk_copy_plan(). */
static void publish(struct perfmon_profile_cost *to,
		    const struct perfmon_profile_cost *cost)
{
	PM_PUT(to->bias, cost->bias);
	PM_PUT(to->call_bias, cost->call_bias);
	PM_PUT(to->pair, cost->pair);
	PM_PUT(to->call_pair, cost->call_pair);
	PM_PUT(to->skipped, cost->skipped);
	PM_PUT(to->overlapped, cost->overlapped);
	__atomic_store_n(&to->known, cost->known, __ATOMIC_RELEASE);
}

static void measure_all(void *unused)
{
	struct pm_thread_block *block = pm_thread_block;
	struct pm_region_plan *plan = &pm_regions.plan;
	const struct pm_instance *instance;
	struct perfmon_profile_cost cost;
	struct costs costs;
	uint32_t i;
	uint64_t begin, open = 0;
	union {
		struct perfmon_profile_node node;
		char room[sizeof(struct perfmon_profile_node) +
			  MOST * (sizeof(struct perfmon_profile_count) + sizeof(double)) +
			  sizeof(struct perfmon_profile_stride)];
	} scratch;
	uint64_t key = PM_PATH_KEY(1) + empty.key;
	struct pm_path_entry *entry = &block->entries[key >> block->entry_shift];
	struct perfmon_profile_stride *stride = NULL;

	(void)unused;
	if (entry->key)
		return;
	memset(&costs, 0, sizeof(costs));
	memset(&scratch, 0, sizeof(scratch));
	scratch.node.time_min = pm_regions.exact ? 0 : UINT64_MAX;
	scratch.node.time_guard = pm_regions.exact ? UINT64_MAX : 0;
	if (pm_region_general.stride) {
		stride = pm_node_stride(&scratch.node, block->columns);
		stride->stride = stride->worth = 1;
		stride->until = UINT64_MAX;
	}
	entry->node = &scratch.node;
	entry->path_key = PM_PATH_KEY_BARREN;
	entry->key = key;
	instance = block->thread->instance;
	for (i = 0; i < block->counters; i++)
		open |= (uint64_t)(pm_counter_is_open(&instance->counters[i])) << i;
	copy_calls();
	begin = pm_clock_ticks();
	do
		measure(&scratch.node, ROUNDS, &costs);
	while (open & ~(costs.bias[0].known | costs.bias[1].known) &&
	       pm_clock_ticks_ns((double)(pm_clock_ticks() - begin)) < SLICES_NS);
	if (!pm_regions.exact)
		measure_overlap(&scratch.node, &costs);
	for (int round = 0; stride && round < ROUNDS; round++) {
		stride->gap = PAIRS;
		measure_around(&scratch.node, row_of_visits, &costs.skipped, &costs);
		stride->gap = 0;
	}
	if (open && !(open & ~costs.bias[0].known))
		learn_slow_paths(entry);
	if (block->counters && !(costs.bias[1].known & ~(UINT64_C(1) << TIME))) {
		uint32_t time_view = block->time_view;

		show_pages(block, false, time_view);
		measure(&scratch.node, ROUNDS_CALL, &costs);
		show_pages(block, true, time_view);
	}
	entry->key = 0;
	cost = cost_of(&costs, TIME);
	publish(&plan->time, &cost);
	publish(&plan->record->time, &cost);
	for (i = 0; i < block->counters; i++) {
		plan->cost[i] = cost_of(&costs, i);
		publish(&plan->record->counter[i].cost, &plan->cost[i]);
	}
}

/* Its arrays and those of its callees would not fit the stack of a small thread. */
void pm_cost_measure(void)
{
	pm_stack_run(measure_all, NULL);
}
