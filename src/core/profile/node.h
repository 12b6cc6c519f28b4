/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds nodes: those of an ended thread to its aggregate, and those of processes to a
 * merge. */
#ifndef PM_PROFILE_NODE_H
#define PM_PROFILE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmon/profile_layout.h"

/* A node that is added to another. */
struct pm_node_part {
	const struct perfmon_profile_node *node;
	const struct perfmon_profile_stride *stride; /* the node's, or NULL */
	uint32_t columns;			     /* counts of both nodes */
	bool aggregate; /* the node is of several threads, and counts them */
	double ratio;	/* ticks of the sum in one tick of the node */
	int shift;	/* bin of the sum minus bin of the node */
};

/*
 * Both functions add PART to TO. TO must have a stride if PART has one. Sums and marks
 * stop at the maximum of their type. No other thread may write TO.
 *
 * pm_node_add() is for memory that no other thread reads. pm_node_add_shared() is for a
 * node of the own profile: its readers see all of PART in it, or nothing.
 */
void pm_node_add(struct perfmon_profile_node *to, const struct pm_node_part *part);
void pm_node_add_shared(struct perfmon_profile_node *to, const struct pm_node_part *part);

/* Returns how many visits have ended with all their values. */
static inline uint64_t pm_node_visits(const struct perfmon_profile_node *node)
{
	return node->sequence / 2;
}

/* Returns the sum of the squares of NODE's visits. */
static inline double pm_node_squares(const struct perfmon_profile_node *node)
{
	return (double)node->time_squares_high * 0x1p64 + (double)node->time_squares;
}

/* Returns true if NODE is a quantity of its parent, and no path. */
static inline bool pm_node_is_quantity(const struct perfmon_profile_node *node)
{
	return node->flags & PERFMON_PROFILE_NODE_QUANTITY;
}

/* Returns true if threads adopted NODE's path: it has the sums of the nodes below it. */
static inline bool pm_node_is_adopted(const struct perfmon_profile_node *node)
{
	return node->flags & PERFMON_PROFILE_NODE_ADOPTED;
}

/* Returns true if NODE's visits overlap others, so that no sum has them. */
static inline bool pm_node_is_overlapping(const struct perfmon_profile_node *node)
{
	return node->flags & PERFMON_PROFILE_NODE_OVERLAPPING;
}

/* Returns how many visits each of those that the sums of NODE hold stands for. STRIDE is the node's, or
 * NULL. */
double pm_node_worth(const struct perfmon_profile_node *node,
		     const struct perfmon_profile_stride *stride);

/* The cost of measuring: in the values of a node's visits, and in those of the visits around them. The
 * latter has that of visits that a stride passed over. */
struct pm_node_cost {
	double inside, around, passed;
};

/* Returns what VISITS cost, of which BY_CALL were measured by read(2) and SKIPPED more passed over. If one
 * way of reading was not tried at start-up, the other stands for it. */
struct pm_node_cost pm_node_cost(const struct perfmon_profile_cost *cost, uint64_t visits,
				 uint64_t by_call, uint64_t skipped);

/* The bits of a region's id that the next two leave to it. */
#define PM_NODE_REGION UINT32_C(0x07ffffff)
/* Convert the flags that tell a node from others of the same parent and region to bits of the region's
 * id, and back. */
uint32_t pm_node_region_bits(uint32_t flags);
uint32_t pm_node_flags_of(uint32_t bits);

/*
 * Sets the times and counts of adopted nodes to the sums of the nodes below them. AT returns node
 * NUMBER, from 1 to COUNT, of THREAD, whose nodes have COLUMNS counts and, if STRIDED, strides.
 */
void pm_adopted_sum(struct perfmon_profile_node *(*at)(const void *thread,
						       uint32_t number),
		    const void *thread, uint32_t count, uint32_t columns, bool strided);

static inline uint64_t pm_plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static inline void pm_add(uint64_t *to, uint64_t value)
{
	*to = pm_plus(*to, value);
}

static inline uint64_t pm_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t pm_times(uint64_t value, double factor)
{
	double product = (double)value * factor + 0.5;

	if (factor == 1)
		return value;
	return product < 0x1p64 ? (uint64_t)product : UINT64_MAX;
}

/* Copies the sums of a node into a mark, or those of a mark into a node: their fields have the same
 * names. */
#define PM_MARK_COPY(to, from, counters)                                                 \
	do {                                                                             \
		(to)->sequence = (from)->sequence;                                       \
		(to)->entered = (from)->entered;                                         \
		(to)->time_ticks = (from)->time_ticks;                                   \
		(to)->time_squares = (from)->time_squares;                               \
		(to)->time_squares_high = (from)->time_squares_high;                     \
		(to)->time_max = (from)->time_max;                                       \
		(to)->off_cpu_ns = (from)->off_cpu_ns;                                   \
		(to)->fallback_reads = (from)->fallback_reads;                           \
		(to)->retries = (from)->retries;                                         \
		(to)->migrations = (from)->migrations;                                   \
		(to)->mismatched_ends = (from)->mismatched_ends;                         \
		(to)->dropped_counts = (from)->dropped_counts;                           \
		(to)->defects = (from)->defects;                                         \
		for (uint32_t i_ = 0; i_ < (counters); i_++) {                           \
			(to)->count[i_].sum = (from)->count[i_].sum;                     \
			(to)->count[i_].lost_ns = (from)->count[i_].lost_ns;             \
		}                                                                        \
	} while (0)

#endif
