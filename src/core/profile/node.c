/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/node.h"

#include <math.h>

#include "fastpath/fastpath.h"

/* Stores the whole value at once, for the readers of a shared node; it costs nothing
 * elsewhere. */
#define PLUS(field, value) PM_PUT(field, pm_plus(field, value))

/* UINT64_MAX stands for no time, and stays. */
static uint64_t in_ticks(const struct pm_node_part *part, uint64_t ticks)
{
	return ticks == UINT64_MAX ? ticks : pm_times(ticks, part->ratio);
}

static const struct {
	uint32_t flag, bit;
} kinds[] = {
	{PERFMON_PROFILE_NODE_ADOPTED, PM_ADOPTED},
	{PERFMON_PROFILE_NODE_QUANTITY, PM_QUANTITY},
	{PERFMON_PROFILE_NODE_MAXIMUM, PM_QUANTITY_MAXIMUM},
	{PERFMON_PROFILE_NODE_LAST, PM_QUANTITY_LAST},
	{PERFMON_PROFILE_NODE_OVERLAPPING, PM_OVERLAPPING},
};

_Static_assert(PM_NODE_REGION == ~PM_REGION_BITS, "ids and other bits are apart");

uint32_t pm_node_region_bits(uint32_t flags)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		bits |= flags & kinds[i].flag ? kinds[i].bit : 0;
	return bits;
}

uint32_t pm_node_flags_of(uint32_t bits)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		flags |= bits & kinds[i].bit ? kinds[i].flag : 0;
	return flags;
}

static void add_quantity(struct perfmon_profile_node *to, const struct pm_node_part *part)
{
	uint64_t value = part->node->time_ticks;

	if (!(part->node->flags &
	      (PERFMON_PROFILE_NODE_MAXIMUM | PERFMON_PROFILE_NODE_LAST)))
		PLUS(to->time_ticks, value);
	else if (value > to->time_ticks)
		PM_PUT(to->time_ticks, value);
	PM_PUT(to->flags, part->node->flags);
	PM_COUNT32(to->threads, part->aggregate ? part->node->threads : 1);
}

/* Adds the shortest and the longest time in one thread. */
static void add_threads(struct perfmon_profile_node *to, const struct pm_node_part *part,
			uint64_t ticks)
{
	const struct perfmon_profile_node *from = part->node;
	uint64_t least = ticks, most = ticks;

	if (!to->threads)
		PM_PUT(to->thread_min_ticks, UINT64_MAX);
	if (part->aggregate) {
		least = in_ticks(part, from->thread_min_ticks);
		most = in_ticks(part, from->thread_max_ticks);
	} else if (part->stride && part->stride->skipped && from->sequence < 2) {
		PM_PUT(to->flags, to->flags | PERFMON_PROFILE_NODE_UNMEASURED);
		least = UINT64_MAX;
		most = 0;
	}
	if (least < to->thread_min_ticks)
		PM_PUT(to->thread_min_ticks, least);
	if (most > to->thread_max_ticks)
		PM_PUT(to->thread_max_ticks, most);
	PM_COUNT32(to->threads, part->aggregate ? from->threads : 1);
}

static void add_bin(struct perfmon_profile_node *to, int bin, uint32_t visits)
{
	uint32_t sum;

	bin = bin < 0 ? 0 : bin >= PERFMON_PROFILE_BINS ? PERFMON_PROFILE_BINS - 1 : bin;
	if (__builtin_add_overflow(to->histogram[bin], visits, &sum)) {
		PM_COUNT32(to->spilled, UINT64_C(1) + sum);
		sum = UINT32_MAX;
	}
	PM_PUT(to->histogram[bin], sum);
}

static void add_stride(struct perfmon_profile_stride *to, const struct pm_node_part *part)
{
	const struct perfmon_profile_stride *from = part->stride;
	double ratio = part->ratio;

	PLUS(to->skipped, from->skipped);
	PM_PUT(to->stride, from->stride);
	PLUS(to->weight, from->weight);
	PLUS(to->whole, from->whole);
	PM_ADD(to->time_cubes, from->time_cubes * ratio * ratio * ratio);
	for (uint32_t i = 0; i < part->columns; i++)
		PM_ADD(to->cubes[i], from->cubes[i]);
}

/* Adds SQUARES of ticks. */
static void add_squares(struct perfmon_profile_node *to, double squares)
{
	unsigned __int128 sum =
		(unsigned __int128)to->time_squares_high << 64 | to->time_squares;

	if (__builtin_add_overflow(
		    sum, (unsigned __int128)(squares < 0x1p127 ? squares : 0x1p127),
		    &sum))
		sum = ~(unsigned __int128)0;
	PM_PUT(to->time_squares, (uint64_t)sum);
	PM_PUT(to->time_squares_high, (uint64_t)(sum >> 64));
}

/* Adds all fields except the sequence. */
static void add_fields(struct perfmon_profile_node *to, const struct pm_node_part *part)
{
	const struct perfmon_profile_node *from = part->node;
	uint64_t ticks = in_ticks(part, from->time_ticks);

	if (pm_node_is_quantity(from)) {
		add_quantity(to, part);
		return;
	}
	PLUS(to->entered, from->entered);
	PLUS(to->time_ticks, ticks);
	add_squares(to, pm_node_squares(from) * part->ratio * part->ratio);
	if (from->sequence >= 2) {
		uint64_t low = in_ticks(part, from->time_min);
		uint64_t high = in_ticks(part, from->time_max);

		if (low < to->time_min)
			PM_PUT(to->time_min, low);
		if (high > to->time_max)
			PM_PUT(to->time_max, high);
	}
	PLUS(to->off_cpu_ns, from->off_cpu_ns);
	PM_PUT(to->flags, to->flags | from->flags);
	PM_COUNT32(to->fallback_reads, from->fallback_reads);
	PM_COUNT32(to->retries, from->retries);
	PM_COUNT32(to->migrations, from->migrations);
	PM_COUNT32(to->mismatched_ends, from->mismatched_ends);
	PM_COUNT32(to->dropped_counts, from->dropped_counts);
	PM_COUNT32(to->defects, from->defects);
	PM_COUNT32(to->spilled, from->spilled);
	PM_ADD(to->parts, from->parts);
	add_threads(to, part, ticks);
	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		if (from->histogram[i])
			add_bin(to, i + part->shift, from->histogram[i]);
	for (uint32_t i = 0; i < part->columns; i++) {
		PLUS(to->count[i].sum, from->count[i].sum);
		PLUS(to->count[i].lost_ns, from->count[i].lost_ns);
		PM_ADD(to->count[i].squares, from->count[i].squares);
	}
	if (part->stride)
		add_stride(pm_node_stride(to, part->columns), part);
}

struct pm_node_cost pm_node_cost(const struct perfmon_profile_cost *cost, uint64_t visits,
				 uint64_t by_call, uint64_t skipped)
{
	bool call = cost->known & PERFMON_PROFILE_COST_CALL;
	double calls = (double)(by_call < visits ? by_call : visits);
	double fast = (double)visits - calls;
	double bias = cost->bias, call_bias = call ? cost->call_bias : bias;
	/* A pair holds its bias. */
	double pair = fmax(cost->pair, bias);
	double call_pair = call ? fmax(cost->call_pair, call_bias) : pair;
	double passed = (double)skipped * cost->skipped;

	if (!cost->known)
		return (struct pm_node_cost){.inside = 0};
	return (struct pm_node_cost){
		.inside = fast * bias + calls * call_bias,
		.around = fast * pair + calls * call_pair + passed,
		.passed = passed,
	};
}

double pm_node_worth(const struct perfmon_profile_node *node,
		     const struct perfmon_profile_stride *stride)
{
	uint64_t measured = pm_node_visits(node);

	if (!stride || !measured)
		return 1;
	return (double)pm_plus(measured, stride->skipped) /
	       (double)(stride->weight ? stride->weight : measured);
}

static void add_below(struct perfmon_profile_node *to,
		      const struct perfmon_profile_node *node, uint32_t columns,
		      bool strided)
{
	double worth =
		pm_node_worth(node, strided ? pm_node_stride(node, columns) : NULL);

	PLUS(to->time_ticks, pm_times(node->time_ticks, worth));
	PLUS(to->off_cpu_ns, pm_times(node->off_cpu_ns, worth));
	for (uint32_t i = 0; i < columns; i++) {
		PLUS(to->count[i].sum, pm_times(node->count[i].sum, worth));
		PLUS(to->count[i].lost_ns, pm_times(node->count[i].lost_ns, worth));
	}
}

void pm_adopted_sum(struct perfmon_profile_node *(*at)(const void *thread,
						       uint32_t number),
		    const void *thread, uint32_t count, uint32_t columns, bool strided)
{
	for (uint32_t n = 2; n <= count; n++) {
		struct perfmon_profile_node *node = at(thread, n);

		if (!pm_node_is_adopted(node))
			continue;
		PM_PUT(node->time_ticks, 0);
		PM_PUT(node->off_cpu_ns, 0);
		for (uint32_t i = 0; i < columns; i++) {
			PM_PUT(node->count[i].sum, 0);
			PM_PUT(node->count[i].lost_ns, 0);
		}
	}
	/* Parents have lower numbers. */
	for (uint32_t n = count; n > 1; n--) {
		struct perfmon_profile_node *node = at(thread, n);
		struct perfmon_profile_node *parent = at(thread, node->parent);

		if (pm_node_is_adopted(parent) && !pm_node_is_quantity(node) &&
		    !pm_node_is_overlapping(node))
			add_below(parent, node, columns, strided);
	}
}

/* Returns the sequence of the sum: even, and twice the visits of both. */
static uint64_t sequence_of_both(uint64_t to, const struct pm_node_part *part)
{
	return pm_plus(to, part->node->sequence & ~UINT64_C(1)) & ~UINT64_C(1);
}

void pm_node_add(struct perfmon_profile_node *to, const struct pm_node_part *part)
{
	add_fields(to, part);
	to->sequence = sequence_of_both(to->sequence, part);
}

void pm_node_add_shared(struct perfmon_profile_node *to, const struct pm_node_part *part)
{
	uint64_t sequence = pm_node_open(to);

	add_fields(to, part);
	/* Ends the write as pm_node_close() does: the release pairs with the acquire load
	 * in take_node(). */
	__atomic_store_n(&to->sequence, sequence_of_both(sequence, part),
			 __ATOMIC_RELEASE);
}
