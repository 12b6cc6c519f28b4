/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/regions/threads/recycle.h"

#include <string.h>

#include "fastpath/fastpath.h"

/* Unused records of nodes, by the logarithm of their capacity. */
#define CLASSES 32

static struct {
	uint64_t threads; /* offset of the first unused record; linked by end_ticks */
	uint64_t nodes[CLASSES]; /* likewise; linked by next */
} unused;

/* The release orders everything before it before the sequence becomes even. The fence orders the
 * odd sequence before everything after it. Both pair with the reader's loads around its walk. */
static unsigned int sequence_depth; /* nesting: an aggregate may take recycled memory */

void pm_recycle_sequence_open(void)
{
	struct perfmon_profile_header *header = pm_profile_header();

	if (sequence_depth++)
		return;
	/* The fence pairs with a reader's before its second load, in take.c. */
	__atomic_store_n(&header->aggregate_sequence, header->aggregate_sequence + 1,
			 __ATOMIC_SEQ_CST);
#ifndef PM_TSAN
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

void pm_recycle_sequence_close(void)
{
	struct perfmon_profile_header *header = pm_profile_header();

	if (--sequence_depth)
		return;
	/* Pairs with a reader's first load, in take.c. */
	__atomic_store_n(&header->aggregate_sequence, header->aggregate_sequence + 1,
			 __ATOMIC_RELEASE);
}

static unsigned int class_of(uint32_t capacity)
{
	return 31 - (unsigned int)__builtin_clz(capacity);
}

void pm_recycle_thread(struct perfmon_profile_thread *record)
{
	uint64_t at = record->nodes;

	while (at) {
		struct perfmon_profile_nodes *nodes = pm_profile_at(at);
		uint64_t next = nodes->next;
		unsigned int class = class_of(nodes->capacity);

		PM_PUT(nodes->next, unused.nodes[class]);
		unused.nodes[class] = at;
		at = next;
	}
	PM_PUT(record->state, PERFMON_PROFILE_THREAD_STATE_UNUSED);
	PM_PUT(record->nodes, 0);
	PM_PUT(record->node_count, 0);
	PM_PUT(record->end_ticks, unused.threads);
	unused.threads = pm_profile_offset(record);
}

struct perfmon_profile_thread *pm_recycle_take_thread(void)
{
	struct perfmon_profile_thread *record;

	if (!unused.threads)
		return NULL;
	record = pm_profile_at(unused.threads);
	unused.threads = record->end_ticks;
	pm_recycle_sequence_open();
	pm_recycle_wipe(&record->record + 1, record + 1);
	PM_PUT(record->state, PERFMON_PROFILE_THREAD_STATE_UNUSED);
	pm_recycle_sequence_close();
	return record;
}

struct perfmon_profile_nodes *pm_recycle_take_nodes(uint32_t capacity, uint32_t node_size)
{
	uint64_t *link = &unused.nodes[class_of(capacity)];
	struct perfmon_profile_nodes *nodes;

	while (*link) {
		nodes = pm_profile_at(*link);
		if (nodes->capacity == capacity && nodes->node_size == node_size) {
			*link = nodes->next;
			return nodes;
		}
		link = &nodes->next;
	}
	return NULL;
}

void pm_recycle_wipe(void *from, void *to)
{
	uint64_t *word;

	for (word = from; (void *)word < to; word++)
		PM_PUT(*word, 0);
}

void pm_recycle_forget(void)
{
	memset(&unused, 0, sizeof(unused));
	sequence_depth = 0;
}
