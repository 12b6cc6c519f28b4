/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sum of nodes: of a thread that ends into its aggregate, of processes into a merge. */
#ifndef PM_PROFILE_NODE_H
#define PM_PROFILE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmon/profile_layout.h"

/* One node that is added to another. */
struct pm_node_part {
	const struct perfmon_profile_node *node;
	const struct perfmon_profile_stride *stride; /* the node's; NULL: it has none */
	uint32_t columns;			     /* counts of both nodes */
	bool aggregate; /* of several threads: the node says of how many */
	double ratio;	/* ticks of the sum in one of its own */
	int shift;	/* bins of the sum above its own */
};

/*
 * Both add PART to TO, which has a stride if PART has one. Sums and marks stop at their
 * type's maximum. Nobody else writes TO.
 *
 * pm_node_add() is for memory that nobody else reads. pm_node_add_shared() is for a node of
 * the own profile, which readers may look at: they see all of PART in it, or nothing.
 */
void pm_node_add(struct perfmon_profile_node *to, const struct pm_node_part *part);
void pm_node_add_shared(struct perfmon_profile_node *to, const struct pm_node_part *part);

static inline uint64_t pm_plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static inline uint64_t pm_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif
