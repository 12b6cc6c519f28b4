/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The snapshot: of sound profiles and of any bytes at all. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/profile/profile.h"
#include "core/text/diag.h"
#include "core/text/grow.h"
#include "profile_builder.h"

/* Two threads and the sum of ended ones; three regions, two counters. */
static void sample(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread;
	uint32_t a, c;

	builder_begin(b, 1 << 17);
	builder_plan(b, 1, 2);
	a = builder_region(b, "alpha");
	builder_region(b, "beta");
	c = builder_region(b, "gamma");
	builder_note(b, "a note");
	for (uint32_t t = 1; t <= 3; t++) {
		thread = builder_thread(b, t, 1, 2);
		builder_nodes(b, thread, 2);
		builder_node(b, thread, 0, 0);
		builder_visit(builder_node(b, thread, 1, a), 100 * t);
		/* The second record of nodes stands after other records. */
		builder_note(b, "another");
		builder_nodes(b, thread, 4);
		builder_visit(builder_node(b, thread, 2, c), 50 * t);
		builder_node(b, thread, 3, c)->count[1].sum = 7;
		if (t == 3)
			thread->state = PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	}
	builder_thread(b, 9, 1, 2)->state = PERFMON_PROFILE_THREAD_STATE_UNUSED;
}

Test(snapshot, a_profile_is_copied_whole)
{
	struct profile_builder b;
	struct pm_diag diag = {0};
	struct pm_snapshot *s;

	sample(&b);
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(s->region_count, 3);
	cr_assert_str_eq(s->regions[0], "");
	cr_assert_str_eq(s->regions[3], "gamma");
	cr_assert_eq(s->note_count, 4);
	cr_assert_str_eq(s->notes[0], "a note");
	cr_assert_eq(s->counter_count, 2);
	cr_assert_str_eq(s->counters[1].name, "event1");
	cr_assert_eq(s->thread_count, 3);
	for (uint32_t t = 0; t < 3; t++) {
		struct pm_snapshot_thread *thread = &s->threads[t];
		const struct perfmon_profile_node *node;

		cr_assert_eq(thread->node_count, 4);
		cr_assert(thread->plan == &s->plans[0]);
		node = pm_snapshot_node(thread, 2);
		cr_assert_eq(node->time_ticks, 100 * (t + 1));
		cr_assert_eq(pm_node_visits(node), 1);
		node = pm_snapshot_node(thread, 3);
		cr_assert_eq(node->time_ticks, 50 * (t + 1));
		cr_assert_eq(pm_snapshot_node(thread, 4)->count[1].sum, 7);
		cr_assert_eq(thread->torn, 0);
	}
	cr_assert_eq(s->threads[2].record.state, PERFMON_PROFILE_THREAD_STATE_AGGREGATE);
	cr_assert_float_eq(pm_snapshot_ns(s, 12), 12.0, 1e-9);
	pm_snapshot_free(s);
	pm_snapshot_free(NULL);
	builder_end(&b);
}

/* Who pairs paths with events that have nothing to do with them gets no more of both than
 * a report can show; a program that counts what it has paths for does. */
Test(snapshot, different_events_are_bounded)
{
	static const struct {
		uint32_t plans, paths;
		bool all;
	} rows[] = {
		{16, 10, true},	  {17, 10, false},   {16, 2000, false},
		{1, 20000, true}, {2, 20000, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perfmon_profile_thread *thread;
		struct profile_builder b;
		struct pm_snapshot *s;

		builder_begin(&b, 16 << 20);
		for (uint32_t g = 1; g <= rows[i].plans; g++) {
			struct perfmon_profile_plan *plan = builder_plan(&b, g, 32);

			for (uint32_t c = 0; c < 32; c++)
				snprintf(plan->counter[c].name,
					 sizeof(plan->counter[c].name), "e%u-%u", g, c);
		}
		for (uint32_t r = 1; r <= rows[i].paths; r++)
			builder_region(&b, "r");
		/* Two threads with the same paths, which count as one. */
		for (uint32_t t = 1; t <= 2; t++) {
			thread = builder_thread(&b, t, 1, 0);
			builder_nodes(&b, thread, rows[i].paths + 1);
			builder_node(&b, thread, 0, 0);
			for (uint32_t r = 1; r <= rows[i].paths; r++)
				builder_node(&b, thread, 1, r);
		}
		cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
		cr_assert_eq(s->partial, !rows[i].all, "row %zu: %s", i, s->problem);
		if (rows[i].all) {
			cr_assert_eq(s->plan_count, rows[i].plans);
		} else {
			cr_assert(strstr(s->problem, "different events"), "%s",
				  s->problem);
			cr_assert_lt(s->plan_count, rows[i].plans);
			cr_assert_geq(s->plan_count, 1);
		}
		pm_snapshot_free(s);
		builder_end(&b);
	}
}

Test(snapshot, ticks_follow_the_rate_or_the_two_moments)
{
	struct profile_builder b;
	struct pm_snapshot *s;

	sample(&b);
	builder_header(&b)->clock = PERFMON_PROFILE_CLOCK_TIMESTAMP;
	builder_header(&b)->begin_ticks = 0;
	builder_header(&b)->end_ticks = 6000000000u;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert_float_eq(pm_snapshot_ns(s, 3), 1.0, 1e-12);
	pm_snapshot_free(s);
	builder_header(&b)->ticks_hz = 500000000;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert_float_eq(pm_snapshot_ns(s, 3), 6.0, 1e-12);
	pm_snapshot_free(s);
	builder_header(&b)->ticks_hz = builder_header(&b)->end_ticks = 0;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(s->partial);
	cr_assert_float_eq(pm_snapshot_ns(s, 3), 3.0, 1e-12);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* Times have four digits, of which a rate that was measured too shortly knows less. */
Test(snapshot, a_rate_that_is_not_known_well_is_told)
{
	static const struct {
		uint64_t span_ns, error;
		const char *note;
	} rows[] = {
		{50000, 300,
		 "times may be wrong by 0.2 %: the tick rate was measured over only 50 "
		 "microseconds"},
		{1000000, 300, NULL},
		{50000, 10, NULL},
		{50000, 0, "by 0.5 %"}, /* an older profile */
		{2000000, 0, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct profile_builder b;
		struct pm_snapshot *s;
		uint32_t notes;

		sample(&b);
		builder_header(&b)->clock = PERFMON_PROFILE_CLOCK_TIMESTAMP;
		builder_header(&b)->end_ns = 1000 + rows[i].span_ns;
		builder_header(&b)->end_ticks = 1000 + 3 * rows[i].span_ns;
		builder_header(&b)->clock_error = rows[i].error;
		cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
		cr_assert_float_eq(pm_snapshot_ns(s, 3), 1.0, 1e-12);
		notes = s->note_count;
		pm_snapshot_tell_rate(s);
		cr_assert_eq(s->note_count, notes + !!rows[i].note, "row %zu", i);
		cr_assert(!rows[i].note || strstr(s->notes[notes], rows[i].note), "%s",
			  s->notes[notes]);
		/* Other notes, and this one, have room behind each other. */
		for (int more = 0; more < 9; more++) {
			cr_assert(PM_GROW(s->notes, s->note_count));
			s->notes[s->note_count++] = strdup("another");
			pm_snapshot_tell_rate(s);
		}
		cr_assert_eq(s->note_count, notes + 9 + (rows[i].note ? 10 : 0));
		pm_snapshot_free(s);
		builder_end(&b);
	}
}

/* A profile of one node, whose writer has made 41 visits and is in the middle of one. */
static void build_odd(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread;
	struct perfmon_profile_node *node;

	builder_begin(b, 1 << 16);
	builder_region(b, "r");
	thread = builder_tree(b, 1, 1, 0, 8);
	node = builder_node(b, thread, 1, 1);
	node->sequence = 2 * 41 + 1;
	node->entered = 42;
}

Test(snapshot, a_dead_writers_node_is_marked)
{
	struct profile_builder b;
	struct pm_snapshot *s;

	build_odd(&b);
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(!s->partial);
	cr_assert_eq(s->threads[0].torn, 1);
	cr_assert_eq(pm_node_visits(pm_snapshot_node(&s->threads[0], 2)), 41);
	cr_assert(pm_snapshot_node(&s->threads[0], 2)->flags & PM_SNAPSHOT_TORN);
	cr_assert_eq(pm_snapshot_node(&s->threads[0], 2)->entered, 42);
	pm_snapshot_free(s);
	builder_end(&b);
}

Test(snapshot, what_is_no_profile_is_refused_with_a_sentence)
{
	struct profile_builder b;
	struct pm_diag diag;
	struct pm_snapshot *s = NULL;

	sample(&b);
	cr_assert_eq(pm_snapshot_take(b.base, 100, &s, &diag), -EINVAL);
	cr_assert(strstr(diag.text, "100 bytes"));
	cr_assert_eq(pm_snapshot_take(b.base + 4, 1 << 16, &s, &diag), -EINVAL);
	builder_header(&b)->version = PERFMON_PROFILE_VERSION + 1;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), -EINVAL);
	cr_assert_str_eq(diag.text,
			 "this profile has version 4: this perfmon reads version 3");
	builder_header(&b)->magic = __builtin_bswap64(PERFMON_PROFILE_MAGIC);
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), -EINVAL);
	cr_assert(strstr(diag.text, "byte order"));
	builder_header(&b)->magic = 0;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), -EINVAL);
	cr_assert(strstr(diag.text, "not a profile"));
	cr_assert(s == NULL);
	builder_end(&b);
}

/* Touches all that a snapshot promises to be there. */
static uint64_t use(const struct pm_snapshot *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i <= s->region_count; i++)
		sum += strlen(s->regions[i]);
	for (uint32_t i = 0; i < s->note_count; i++)
		sum += strlen(s->notes[i]);
	for (uint32_t i = 0; i < s->plan_count; i++)
		for (uint32_t c = 0; c < s->plans[i].counter_count; c++)
			sum += strlen(s->plans[i].counters[c].name);
	sum += strlen(s->header.host) + strlen(s->header.program);
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct pm_snapshot_thread *thread = &s->threads[t];
		uint32_t counters = thread->plan ? thread->plan->counter_count : 0;

		cr_assert(counters <= PERFMON_PROFILE_COUNTERS_MAX);
		for (uint32_t n = 1; n <= thread->node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(thread, n);

			cr_assert(n == 1 ? !node->parent : node->parent < n);
			cr_assert(node->region <= s->region_count);
			for (uint32_t c = 0; c < counters; c++)
				sum += node->count[c].sum;
		}
	}
	return sum;
}

Test(snapshot, a_profile_cut_anywhere_is_partial)
{
	struct profile_builder b;
	size_t used, header = sizeof(struct perfmon_profile_header);

	sample(&b);
	used = builder_used(&b);
	for (size_t size = 0; size < used; size += 4) {
		/* Memory of its own, so that a sanitizer sees a byte too many. */
		unsigned char *cut = malloc(size + 1);
		struct pm_snapshot *s = NULL;
		struct pm_diag diag = {0};
		int err;

		memcpy(cut, b.base, size);
		err = pm_snapshot_take(cut, size, &s, &diag);
		cr_assert_eq(err, size < header ? -EINVAL : 0, "%zu of %zu: %d", size,
			     used, err);
		cr_assert(diag.text[0]);
		if (s) {
			cr_assert(s->partial);
			use(s);
		}
		pm_snapshot_free(s);
		free(cut);
	}
	builder_end(&b);
}

Test(snapshot, loops_and_loans_among_nodes_are_refused)
{
	struct profile_builder b;
	struct perfmon_profile_thread *one, *two;
	struct perfmon_profile_nodes *nodes;
	struct pm_snapshot *s;

	builder_begin(&b, 1 << 16);
	builder_region(&b, "r");
	one = builder_tree(&b, 1, 1, 0, 4);
	nodes = (void *)(b.base + one->nodes);
	nodes->next = one->nodes;
	one->node_count = 1000000;
	two = builder_thread(&b, 2, 1, 0);
	two->nodes = one->nodes;
	two->node_count = 1;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(s->partial);
	cr_assert_lt(s->threads[0].node_count, 5);
	cr_assert_eq(s->threads[1].node_count, 0);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* --- files made to harm
 * ----------------------------------------------------------------- */

static void *first_of(struct profile_builder *b, uint32_t type)
{
	struct perfmon_profile_record *record = (void *)b->base;

	while (record->type != type)
		record = (void *)((unsigned char *)record + record->size);
	return record;
}

static struct perfmon_profile_thread *a_thread(struct profile_builder *b)
{
	return first_of(b, PERFMON_PROFILE_TYPE_THREAD);
}

static struct perfmon_profile_nodes *some_nodes(struct profile_builder *b)
{
	return first_of(b, PERFMON_PROFILE_TYPE_NODES);
}

static struct perfmon_profile_node *a_node(struct profile_builder *b, uint32_t number)
{
	struct perfmon_profile_nodes *nodes = some_nodes(b);

	return (void *)((unsigned char *)nodes->node + (number - 1) * nodes->node_size);
}

#define HARM(name, statement)                                                            \
	static void name(struct profile_builder *b)                                      \
	{                                                                                \
		statement;                                                               \
	}
#define THE(type, kind)                                                                  \
	((struct perfmon_profile_##kind *)first_of(b, PERFMON_PROFILE_TYPE_##type))

HARM(newer, builder_header(b)->version = PERFMON_PROFILE_VERSION + 1)
HARM(other_order, builder_header(b)->magic = __builtin_bswap64(PERFMON_PROFILE_MAGIC))
HARM(unused, builder_header(b)->used = 0)
HARM(used_too_little, builder_header(b)->used = 8)
HARM(header_too_long, builder_header(b)->record.size = UINT64_MAX - 7)
HARM(header_uneven, builder_header(b)->record.size += 4)
HARM(used_too_much, builder_header(b)->used = UINT64_MAX - 7)
HARM(empty_record, THE(NOTE, record)->size = 0)
HARM(record_of_a_half, THE(NOTE, record)->size = 12)
HARM(endless_record, THE(NOTE, record)->size = UINT64_MAX - 7)
HARM(region_zero, THE(REGION, region)->id = 0)
HARM(region_far_away, THE(REGION, region)->id = UINT32_MAX)
HARM(region_twice, THE(REGION, region)->id = 2)
HARM(long_name, THE(REGION, region)->length = UINT32_MAX)
HARM(long_note, THE(NOTE, note)->length = 4096)
HARM(too_many_counters, THE(PLAN, plan)->counters = 33)
HARM(counters_beyond_the_plan, THE(PLAN, plan)->counters = 32)
HARM(thread_of_many_counters, a_thread(b)->counters = 33)
HARM(thread_without_a_plan, a_thread(b)->generation = 7)
HARM(thread_in_no_state, a_thread(b)->state = 9)
HARM(nodes_nowhere, a_thread(b)->nodes = UINT64_MAX - 7)
HARM(nodes_in_the_header, a_thread(b)->nodes = 8)
HARM(nodes_in_a_note,
     a_thread(b)->nodes = (uint64_t)((unsigned char *)THE(NOTE, note) - b->base))
HARM(more_nodes_than_room, a_thread(b)->node_count = UINT32_MAX)
HARM(nodes_of_nobody, some_nodes(b)->thread = 0)
HARM(nodes_out_of_turn, some_nodes(b)->first = 2)
HARM(small_nodes, some_nodes(b)->node_size = 8)
HARM(uneven_nodes, some_nodes(b)->node_size += 4)
HARM(no_capacity, some_nodes(b)->capacity = 0)
HARM(much_capacity, some_nodes(b)->capacity = UINT32_MAX)
HARM(its_own_parent, a_node(b, 2)->parent = 2)
HARM(a_childs_child, a_node(b, 2)->parent = 3)
HARM(no_parent, a_node(b, 2)->parent = 0)
HARM(root_with_a_parent, a_node(b, 1)->parent = 1)
HARM(no_region, a_node(b, 2)->region = 0)
HARM(unknown_region, a_node(b, 2)->region = 77)

static void name_of_a_novel(struct profile_builder *b)
{
	char name[PERFMON_PROFILE_NAME_MAX + 2];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	builder_region(b, name);
}

static void arguments_that_overflow(struct profile_builder *b)
{
	builder_arguments(b, "a", 1)->length = 64;
}

static void arguments_without_end(struct profile_builder *b)
{
	char text[PERFMON_PROFILE_ARGUMENTS_MAX + 1] = "";

	builder_arguments(b, text, sizeof(text));
}

static const struct {
	void (*harm)(struct profile_builder *b);
	int error; /* 0: a partial snapshot */
	const char *says;
} harms[] = {
	{newer, -EINVAL, "version 4: this perfmon reads version 3"},
	{other_order, -EINVAL, "byte order"},
	{unused, -ENODATA, "the profile is empty"},
	{used_too_little, -EINVAL, "header is damaged"},
	{header_too_long, -EINVAL, "header is damaged"},
	{header_uneven, -EINVAL, "header is damaged"},
	{used_too_much, 0, "cut off"},
	{empty_record, 0, "bad record"},
	{record_of_a_half, 0, "bad record"},
	{endless_record, 0, "bad record"},
	{region_zero, 0, "bad region"},
	{region_far_away, 0, "bad region"},
	{region_twice, 0, "bad region"},
	{long_name, 0, "bad region"},
	{long_note, 0, "bad note"},
	{too_many_counters, 0, "bad plan"},
	{counters_beyond_the_plan, 0, "bad plan"},
	{thread_of_many_counters, 0, "number of counters is wrong"},
	{thread_without_a_plan, 0, "no plan names"},
	{thread_in_no_state, 0, "unknown state 9"},
	{nodes_nowhere, 0, "place of its nodes"},
	{nodes_in_the_header, 0, "place of its nodes"},
	{nodes_in_a_note, 0, "place of its nodes"},
	{more_nodes_than_room, 0, "cannot be read in full"},
	{nodes_of_nobody, 0, "place of its nodes"},
	{nodes_out_of_turn, 0, "place of its nodes"},
	{small_nodes, 0, "place of its nodes"},
	{uneven_nodes, 0, "place of its nodes"},
	{no_capacity, 0, "place of its nodes"},
	{much_capacity, 0, "place of its nodes"},
	{its_own_parent, 0, "parent is wrong"},
	{a_childs_child, 0, "parent is wrong"},
	{no_parent, 0, "parent is wrong"},
	{root_with_a_parent, 0, "root is wrong"},
	{no_region, 0, "region is wrong"},
	{unknown_region, 0, "unknown region 77"},
	{name_of_a_novel, 0, "bad region"},
	{arguments_that_overflow, 0, "bad arguments"},
	{arguments_without_end, 0, "bad arguments"},
};

/* Each says what is wrong; what does not hang on it is there. Row: DC-02 */
Test(snapshot, harm_is_said_and_kept_apart)
{
	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		struct pm_snapshot *s = NULL;
		struct pm_diag diag = {0};
		struct profile_builder b;
		size_t used, before;

		sample(&b);
		before = builder_used(&b);
		harms[i].harm(&b);
		used = builder_used(&b);
		if (used < before || used > b.room)
			used = before;
		cr_assert_eq(pm_snapshot_take(b.base, used, &s, &diag), harms[i].error,
			     "%zu: %s", i, diag.text);
		cr_assert(strstr(diag.text, harms[i].says), "%zu: %s", i, diag.text);
		cr_assert_eq(s != NULL, !harms[i].error);
		if (s) {
			cr_assert(s->partial);
			use(s);
		}
		pm_snapshot_free(s);
		builder_end(&b);
	}
}

/* A path may be as deep as regions are nested, and no deeper: what is written in full would
 * grow with the square of a chain's length. Row: DC-02 */
Test(snapshot, a_chain_ends_where_nesting_does)
{
	struct perfmon_profile_thread *thread;
	struct profile_builder b;
	struct pm_snapshot *s;

	builder_begin(&b, 1 << 19);
	builder_region(&b, "recursive");
	thread = builder_thread(&b, 1, 1, 0);
	builder_nodes(&b, thread, 1000);
	for (uint32_t n = 0; n <= PERFMON_PROFILE_DEPTH_MAX; n++)
		builder_node(&b, thread, n, n ? 1 : 0);
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(s->threads[0].node_count, PERFMON_PROFILE_DEPTH_MAX + 1);
	pm_snapshot_free(s);
	builder_node(&b, thread, PERFMON_PROFILE_DEPTH_MAX + 1, 1);
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(s->partial && strstr(s->problem, "depth is wrong"), "%s", s->problem);
	cr_assert_eq(s->threads[0].node_count, PERFMON_PROFILE_DEPTH_MAX + 1);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* What is known to be still is looked at once. */
Test(snapshot, still_memory_is_read_once)
{
	static const unsigned int flags[] = {0, PM_SNAPSHOT_STILL};
	struct profile_builder b;

	build_odd(&b);
	for (int i = 0; i < 2; i++) {
		struct pm_snapshot *s;

		builder_header(&b)->aggregate_sequence = 7;
		cr_assert_eq(pm_snapshot_take_as(b.base, builder_used(&b), flags[i], -1,
						 &s, NULL),
			     0);
		cr_assert(s->partial && strstr(s->problem, "adding the results"), "%s",
			  s->problem);
		cr_assert_eq(s->threads[0].torn, 1);
		if (flags[i]) {
			cr_assert_eq(s->walks, 1);
			cr_assert_eq(s->looks, 2, "one at each node");
		} else {
			cr_assert_gt(s->walks, 1);
			cr_assert_gt(s->looks, 2);
		}
		pm_snapshot_free(s);
	}
	builder_end(&b);
}

/* Where a writer may still be at work odd nodes are tried again, but not for ever. */
Test(snapshot, odd_nodes_are_not_waited_for_one_by_one)
{
	struct profile_builder b;
	struct pm_snapshot *s;

	builder_begin(&b, 4 << 20);
	builder_region(&b, "r");
	for (uint32_t t = 1; t <= 1000; t++) {
		struct perfmon_profile_thread *thread = builder_thread(&b, t, 1, 0);

		builder_nodes(&b, thread, 2);
		builder_node(&b, thread, 0, 0);
		builder_node(&b, thread, 1, 1)->sequence = 2 * 41 + 1;
	}
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, NULL), 0);
	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(s->thread_count, 1000);
	for (uint32_t t = 0; t < 1000; t++)
		cr_assert_eq(s->threads[t].torn, 1);
	cr_assert_leq(s->looks, 2000 + 100000);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* The memory from private_from on is another process's own; a file may have bytes there
 * all the same, and they are zeros. */
Test(snapshot, what_stands_in_private_memory_is_not_read)
{
	struct profile_builder b;
	struct perfmon_profile_nodes *nodes;
	struct perfmon_profile_thread *thread;
	struct pm_snapshot *s;
	struct pm_diag diag = {0};

	sample(&b);
	thread = (void *)(b.base + builder_used(&b));
	builder_thread(&b, 10, 1, 2);
	builder_nodes(&b, thread, 2);
	nodes = (void *)(b.base + thread->nodes);
	builder_node(&b, thread, 0, 0);
	builder_visit(builder_node(&b, thread, 1, 1), 100);
	builder_header(&b)->private_error = ENOSPC;
	/* In the middle of the last node. */
	builder_header(&b)->private_from =
		thread->nodes + sizeof(*nodes) + thread->node_size + sizeof(uint64_t) * 4;
	cr_assert_eq(pm_snapshot_take(b.base, builder_used(&b), &s, &diag), 0);
	cr_assert(!s->partial, "the own memory is all there: %s", s->problem);
	cr_assert_eq(s->thread_count, 4);
	cr_assert_eq(s->threads[3].node_count, 2);
	pm_snapshot_free(s);
	cr_assert_eq(pm_snapshot_take_as(b.base, builder_used(&b), PM_SNAPSHOT_FOREIGN,
					 -1, &s, &diag),
		     0);
	cr_assert(s->partial && strstr(s->problem, "could not grow beyond"), "%s",
		  s->problem);
	cr_assert(strstr(s->problem, "No space left"), "%s", s->problem);
	cr_assert_eq(s->thread_count, 4);
	cr_assert_eq(s->threads[3].node_count, 0);
	cr_assert_eq(s->threads[0].node_count, 4);
	pm_snapshot_free(s);
	builder_end(&b);
}

/* Records that are longer than this reader knows, and of types that it does not. */
Test(snapshot, what_is_added_later_is_passed_over)
{
	struct perfmon_profile_record *longer;
	struct profile_builder added;
	struct pm_snapshot *s;
	size_t header = sizeof(struct perfmon_profile_header);

	builder_begin(&added, 1 << 17);
	/* A header of 64 more bytes, and a record of type 99. */
	builder_header(&added)->record.size = header + 64;
	builder_header(&added)->used = header + 64;
	builder_region(&added, "alpha");
	longer = builder_record(&added, 99, 48);
	memset(longer + 1, 0xff, 48 - sizeof(*longer));
	builder_region(&added, "beta");
	cr_assert_eq(pm_snapshot_take(added.base, builder_used(&added), &s, NULL), 0);
	cr_assert(!s->partial, "%s", s->problem);
	cr_assert_eq(s->region_count, 2);
	cr_assert_str_eq(s->regions[2], "beta");
	pm_snapshot_free(s);
	builder_end(&added);
}

/* A sum stops at the maximum of its type, also that of squares, which has two parts. */
Test(snapshot, sums_of_nodes_stop_at_the_maximum)
{
	const struct perfmon_profile_node from = {.sequence = 2,
						  .entered = 1,
						  .time_ticks = UINT64_MAX,
						  .time_squares_high = UINT64_MAX};
	const struct pm_node_part part = {.node = &from, .ratio = 1};
	struct perfmon_profile_node to = from;

	pm_node_add(&to, &part);
	cr_expect_eq(to.sequence, 4);
	cr_expect_eq(to.time_ticks, UINT64_MAX);
	cr_expect_eq(to.time_squares_high, UINT64_MAX);
	cr_expect_eq(to.time_squares, UINT64_MAX);
}
