/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds a profile by hand, for tests of readers. The memory has a fixed size, so that
 * pointers into it stay valid. */
#ifndef PM_TESTS_PROFILE_BUILDER_H
#define PM_TESTS_PROFILE_BUILDER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmon/profile_layout.h"

struct profile_builder {
	unsigned char *base;
	size_t room;
	uint32_t regions;
};

static inline struct perfmon_profile_header *builder_header(struct profile_builder *b)
{
	return (void *)b->base;
}

static inline size_t builder_used(struct profile_builder *b)
{
	return builder_header(b)->used;
}

static inline void *builder_record(struct profile_builder *b, uint32_t type, size_t size)
{
	struct perfmon_profile_header *header = builder_header(b);
	struct perfmon_profile_record *record = (void *)(b->base + header->used);

	size = (size + 7) & ~(size_t)7;
	if (size > b->room - header->used)
		abort();
	record->type = type;
	record->size = size;
	__atomic_store_n(&header->used, header->used + size, __ATOMIC_RELEASE);
	return record;
}

/* Begins an ended profile by CLOCK_MONOTONIC: a tick is a nanosecond, and the report does
 * not depend on a clock. */
static inline void builder_begin(struct profile_builder *b, size_t room)
{
	struct perfmon_profile_header *header;

	b->base = calloc(1, room);
	b->room = room;
	b->regions = 0;
	header = builder_record(b, PERFMON_PROFILE_TYPE_HEADER, sizeof(*header));
	header->magic = PERFMON_PROFILE_MAGIC;
	header->version = PERFMON_PROFILE_VERSION;
	header->state = PERFMON_PROFILE_STATE_ENDED;
	header->pid = 4711;
	header->parent_pid = 4700;
	strcpy(header->host, "node7");
	strcpy(header->program, "/opt/solver");
	strcpy(header->boot_id, "00000000-0000-0000-0000-000000000000");
	header->rank = -1;
	header->clock = PERFMON_PROFILE_CLOCK_MONOTONIC;
	header->begin_ticks = header->begin_ns = 1000;
	header->end_ticks = header->end_ns = 1000 + 2000000000u;
	header->begin_realtime_ns = UINT64_C(1700000000) * 1000000000u;
}

static inline void builder_end(struct profile_builder *b)
{
	free(b->base);
	b->base = NULL;
}

static inline struct perfmon_profile_plan *
builder_plan(struct profile_builder *b, uint32_t generation, uint32_t counters)
{
	struct perfmon_profile_plan *plan =
		builder_record(b, PERFMON_PROFILE_TYPE_PLAN,
			       sizeof(*plan) + counters * sizeof(plan->counter[0]));

	plan->generation = generation;
	plan->counters = counters;
	for (uint32_t i = 0; i < counters; i++) {
		snprintf(plan->counter[i].name, sizeof(plan->counter[i].name), "event%u",
			 i);
		strcpy(plan->counter[i].pmu, "cpu");
		plan->counter[i].scale = 1;
		plan->counter[i].flags = PERFMON_PROFILE_COUNTER_HARDWARE;
		plan->counter[i].type = 4;
		plan->counter[i].config[0] = i;
		plan->counter[i].logical = i;
	}
	return plan;
}

/* Adds a plan of the Valgrind tool's events: exact::instructions, exact::loads, event2
 * and so on. */
static inline struct perfmon_profile_plan *
builder_exact_plan(struct profile_builder *b, uint32_t generation, uint32_t counters)
{
	static const char *const names[] = {"exact::instructions", "exact::loads"};
	struct perfmon_profile_plan *plan = builder_plan(b, generation, counters);

	for (uint32_t i = 0; i < counters; i++) {
		if (i < 2)
			strcpy(plan->counter[i].name, names[i]);
		strcpy(plan->counter[i].pmu, "exact");
		plan->counter[i].flags = PERFMON_PROFILE_COUNTER_EXACT;
	}
	return plan;
}

/* Adds the whole process's totals for the plan of GENERATION. */
static inline void builder_totals(struct profile_builder *b, uint32_t generation,
				  const uint64_t *total, uint32_t counters)
{
	struct perfmon_profile_totals *totals =
		builder_record(b, PERFMON_PROFILE_TYPE_TOTALS,
			       sizeof(*totals) + counters * sizeof(total[0]));

	totals->counters = counters;
	totals->generation = generation;
	memcpy(totals->total, total, counters * sizeof(total[0]));
}

static inline uint32_t builder_region(struct profile_builder *b, const char *name)
{
	size_t length = strlen(name);
	struct perfmon_profile_region *region = builder_record(
		b, PERFMON_PROFILE_TYPE_REGION, sizeof(*region) + length + 1);

	region->id = ++b->regions;
	region->length = (uint32_t)length;
	memcpy(region->name, name, length + 1);
	return region->id;
}

static inline void builder_note(struct profile_builder *b, const char *text)
{
	size_t length = strlen(text);
	struct perfmon_profile_note *note =
		builder_record(b, PERFMON_PROFILE_TYPE_NOTE, sizeof(*note) + length + 1);

	note->length = (uint32_t)length;
	memcpy(note->text, text, length + 1);
}

/* Adds the machine of the COUNT kinds at KINDS. */
static inline void builder_machine(struct profile_builder *b,
				   const struct perfmon_profile_kind *kinds,
				   uint32_t count, uint32_t slots)
{
	struct perfmon_profile_machine *machine =
		builder_record(b, PERFMON_PROFILE_TYPE_MACHINE,
			       sizeof(*machine) + count * sizeof(*kinds));

	machine->kinds = count;
	machine->slots = slots;
	memcpy(machine->kind, kinds, count * sizeof(*kinds));
}

/* Adds the LENGTH bytes of TEXT: arguments, each with a NUL behind it. */
static inline struct perfmon_profile_arguments *
builder_arguments(struct profile_builder *b, const char *text, size_t length)
{
	struct perfmon_profile_arguments *arguments = builder_record(
		b, PERFMON_PROFILE_TYPE_ARGUMENTS, sizeof(*arguments) + length);

	arguments->length = (uint32_t)length;
	memcpy(arguments->text, text, length);
	return arguments;
}

/* Adds a note of the run, whose lengths are what they are. */
static inline struct perfmon_profile_run_note *
builder_run_note(struct profile_builder *b, const char *key, const char *value)
{
	struct perfmon_profile_run_note *note =
		builder_record(b, PERFMON_PROFILE_TYPE_RUN_NOTE,
			       sizeof(*note) + strlen(key) + strlen(value));

	note->key_length = (uint32_t)strlen(key);
	note->value_length = (uint32_t)strlen(value);
	memcpy(note->text, key, note->key_length);
	memcpy(note->text + note->key_length, value, note->value_length);
	return note;
}

static inline struct perfmon_profile_thread *builder_thread(struct profile_builder *b,
							    uint32_t tid,
							    uint32_t generation,
							    uint32_t counters)
{
	struct perfmon_profile_thread *thread =
		builder_record(b, PERFMON_PROFILE_TYPE_THREAD, sizeof(*thread));

	thread->tid = tid;
	snprintf(thread->name, sizeof(thread->name), "thread%u", tid);
	thread->begin_ticks = builder_header(b)->begin_ticks;
	thread->node_size = (uint32_t)(sizeof(struct perfmon_profile_node) +
				       counters * sizeof(struct perfmon_profile_count));
	thread->generation = generation;
	thread->counters = counters;
	for (uint32_t i = 0; i < counters; i++)
		thread->status[i] = PERFMON_PROFILE_COUNTER_STATUS_USER;
	__atomic_store_n(&thread->state, PERFMON_PROFILE_THREAD_STATE_LIVE,
			 __ATOMIC_RELEASE);
	return thread;
}

/* Adds a record of CAPACITY nodes at the end of THREAD's chain. */
static inline void builder_nodes(struct profile_builder *b,
				 struct perfmon_profile_thread *thread, uint32_t capacity)
{
	struct perfmon_profile_nodes *nodes =
		builder_record(b, PERFMON_PROFILE_TYPE_NODES,
			       sizeof(*nodes) + (size_t)capacity * thread->node_size);
	uint64_t *link = &thread->nodes;

	nodes->thread = (uint64_t)((unsigned char *)thread - b->base);
	nodes->first = 1;
	nodes->capacity = capacity;
	nodes->node_size = thread->node_size;
	while (*link) {
		struct perfmon_profile_nodes *before = (void *)(b->base + *link);

		nodes->first = before->first + before->capacity;
		link = &before->next;
	}
	__atomic_store_n(link, (uint64_t)((unsigned char *)nodes - b->base),
			 __ATOMIC_RELEASE);
}

/* Adds the next node of THREAD to the record of builder_nodes(), without visits. The
 * first is the root: parent 0, region 0. */
static inline struct perfmon_profile_node *
builder_node(struct profile_builder *b, struct perfmon_profile_thread *thread,
	     uint32_t parent, uint32_t region)
{
	uint32_t number = thread->node_count + 1;
	struct perfmon_profile_nodes *nodes = (void *)(b->base + thread->nodes);
	struct perfmon_profile_node *node;

	while (number >= nodes->first + nodes->capacity) {
		if (!nodes->next)
			abort();
		nodes = (void *)(b->base + nodes->next);
	}
	node = (void *)((unsigned char *)nodes->node +
			(size_t)(number - nodes->first) * nodes->node_size);
	node->parent = parent;
	node->region = region;
	node->time_min = UINT64_MAX;
	__atomic_store_n(&thread->node_count, number, __ATOMIC_RELEASE);
	return node;
}

/* Adds a thread with a record of CAPACITY nodes, of which the first is the root. */
static inline struct perfmon_profile_thread *
builder_tree(struct profile_builder *b, uint32_t tid, uint32_t generation,
	     uint32_t counters, uint32_t capacity)
{
	struct perfmon_profile_thread *thread =
		builder_thread(b, tid, generation, counters);

	builder_nodes(b, thread, capacity);
	builder_node(b, thread, 0, 0);
	return thread;
}

/* Adds one visit of TICKS. No other thread may read the node meanwhile. */
static inline void builder_visit(struct perfmon_profile_node *node, uint64_t ticks)
{
	unsigned int bin = ticks ? 63u - (unsigned int)__builtin_clzll(ticks) : 0;

	node->sequence += 2;
	node->entered++;
	node->time_ticks += ticks;
	node->time_squares += ticks * ticks;
	if (ticks < node->time_min)
		node->time_min = ticks;
	if (ticks > node->time_max)
		node->time_max = ticks;
	node->histogram[bin < PERFMON_PROFILE_BINS ? bin : PERFMON_PROFILE_BINS - 1]++;
}

#endif
