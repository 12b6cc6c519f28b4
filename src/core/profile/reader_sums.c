/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/reader_sums.h"

#include <math.h>
#include <stdlib.h>

#include "core/profile/node.h"

/* Returns QUANTITY of NODE, and what measuring has ADDED to it. */
static double quantity_of(const struct pm_snapshot *snapshot,
			  const struct pm_snapshot_thread *thread,
			  const struct perfmon_profile_node *node, uint32_t quantity,
			  uint64_t skipped, struct pm_node_cost *added)
{
	uint64_t visits = pm_node_visits(node);
	uint32_t c = quantity - PM_READER_COUNTS;

	*added = (struct pm_node_cost){.inside = 0};
	if (quantity == PM_READER_OFF_CPU)
		return (double)node->off_cpu_ns;
	if (quantity >= PM_READER_COUNTS) {
		bool by_call = thread->record.status[c] ==
			       PERFMON_PROFILE_COUNTER_STATUS_SYSCALL;

		*added = pm_node_cost(&thread->plan->counters[c].cost, visits,
				      by_call ? visits : node->fallback_reads, skipped);
		return (double)node->count[c].sum;
	}
	if (thread->plan)
		*added = pm_node_cost(&thread->plan->time, visits, node->fallback_reads,
				      skipped);
	added->inside = pm_snapshot_ns(snapshot, added->inside);
	added->around = pm_snapshot_ns(snapshot, added->around);
	return pm_snapshot_ns(snapshot, (double)node->time_ticks);
}

static void add_node(const struct pm_snapshot *snapshot,
		     const struct pm_snapshot_thread *thread, uint32_t number,
		     struct pm_reader_sum *sums)
{
	const struct perfmon_profile_node *node = pm_snapshot_node(thread, number);
	const struct perfmon_profile_stride *stride = pm_snapshot_stride(thread, node);
	uint32_t width = PM_READER_COUNTS + pm_reader_counts(thread);
	struct pm_reader_sum *own = sums + (size_t)(number - 1) * width;
	struct pm_reader_sum *parent = sums + (size_t)(node->parent - 1) * width;
	bool is_below_adopted =
		pm_node_is_adopted(pm_snapshot_node(thread, node->parent));
	uint64_t skipped = stride ? stride->skipped : 0;
	uint32_t around = pm_snapshot_around(thread, node);
	/* Values of all visits are SHARE times those of the measured ones. */
	double share = pm_node_worth(node, stride);

	if (pm_node_is_quantity(node))
		return;
	for (uint32_t q = 0; q < width; q++, own++, parent++) {
		struct pm_node_cost added;
		double value = quantity_of(snapshot, thread, node, q, skipped, &added);

		if (pm_node_is_overlapping(node)) {
			own->below = value;
			continue;
		}
		if (around)
			sums[(size_t)(around - 1) * width + q].bias +=
				(added.around - added.inside) * share;
		parent->below += value * share;
		/* An adopted path has nothing of what is around the visits below it. */
		parent->bias += (is_below_adopted ? added.inside : added.around) * share +
				own->bias;
		/* So far these are of all visits; now they are of those that own values are of. */
		own->below /= share;
		own->bias = own->bias / share + added.inside;
	}
}

struct pm_reader_sum **pm_reader_sums_make(const struct pm_snapshot *snapshot)
{
	size_t count = (size_t)snapshot->thread_count + snapshot->joined_count +
		       snapshot->steps_count;
	struct pm_reader_sum **sums = calloc(count + 1, sizeof(*sums));

	for (uint32_t t = 0; sums && t < count; t++) {
		const struct pm_snapshot_thread *thread =
			pm_snapshot_thread_at(snapshot, t);
		size_t width = PM_READER_COUNTS + pm_reader_counts(thread);

		sums[t] =
			calloc((size_t)thread->node_count * width + 1, sizeof(*sums[t]));
		if (!sums[t]) {
			pm_reader_sums_free(sums);
			return NULL;
		}
		/* Parents have lower numbers, and number 1 is the thread itself. */
		for (uint32_t number = thread->node_count; number > 1; number--)
			add_node(snapshot, thread, number, sums[t]);
	}
	return sums;
}

void pm_reader_sums_free(struct pm_reader_sum **sums)
{
	for (size_t t = 0; sums && sums[t]; t++)
		free(sums[t]);
	free(sums);
}
