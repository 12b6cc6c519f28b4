/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles as somebody would make them who wishes the reader ill:
 *
 *   profile_hostile KIND FILE [MIB]
 *   profile_hostile check [csv] <OUTPUT
 *
 * KIND "text" has strings in all its fields that terminals obey and spreadsheets compute;
 * "partial" has one in the sentence on what it lacks; "exact" has counts by translation.
 * The others are MIB large and have
 * as much as fits of what a reader might look at once for each of something else.
 *
 * "check" fails if its input has anything but lines of plain text in UTF-8 (a tab is
 * one), or, with csv, if a cell begins as a formula does.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../profile_builder.h"
#include "core/report/output/utf8.h"

/* A title, a colour by one byte, no UTF-8, ends of lines, a change of direction. */
#define EVIL                                                                             \
	"=1+\"\x1b]0;x\x07\xc2\x9b"                                                      \
	"31m\x9b\xff\xc3\r\n\t,;\\<\xe2\x80\xae"

static size_t left;

static void region(struct profile_builder *b, const char *before, uint32_t number,
		   const char *behind)
{
	char name[1024];

	snprintf(name, sizeof(name), "%s%u%s", before, number, behind);
	builder_region(b, name);
}

/* Whether there is room for SIZE bytes more. */
static bool take(size_t size)
{
	if (size > left)
		return false;
	left -= size;
	return true;
}

/* FIELD, of SIZE bytes, is full. */
static void fill(char *field, size_t size)
{
	for (size_t i = 0; i < size; i++)
		field[i] = EVIL[i % strlen(EVIL)];
}

static struct perfmon_profile_node *visited(struct profile_builder *b,
					    struct perfmon_profile_thread *thread,
					    uint32_t parent, uint32_t number)
{
	struct perfmon_profile_node *node = builder_node(b, thread, parent, number);

	builder_visit(node, 1000);
	for (uint32_t c = 0; c < thread->counters; c++)
		node->count[c].sum = 1000000;
	return node;
}

static void text(struct profile_builder *b, bool partial, bool exact)
{
	struct perfmon_profile_header *header = builder_header(b);
	struct perfmon_profile_plan *plan = builder_plan(b, 1, 3);
	struct perfmon_profile_thread *thread;

	fill(header->host, sizeof(header->host));
	fill(header->program, sizeof(header->program));
	fill(header->boot_id, sizeof(header->boot_id));
	for (uint32_t c = 0; c < plan->counters; c++) {
		struct perfmon_profile_counter *counter = &plan->counter[c];

		fill(counter->name, sizeof(counter->name));
		fill(counter->pmu, sizeof(counter->pmu));
		counter->name[1] = (char)('0' + c);
		/* Parts of one event, with another's name. */
		counter->logical = c / 2;
		counter->cost.known = 1;
		counter->cost.bias = 100000;
		if (exact) {
			counter->flags |= PERFMON_PROFILE_COUNTER_EXACT;
			counter->cost.pair = 1000;
		}
	}
	fill(plan->counter[0].unit, sizeof(plan->counter[0].unit));
	strcpy(plan->counter[2].unit, "\x1b[31m");
	for (uint32_t i = 0; i < 3; i++)
		region(b, i ? "@" : "+", i, EVIL);
	builder_region(b, "'plain");
	for (uint32_t t = 0; t < 2; t++) {
		thread = builder_thread(b, 1 + t, 1, 3);
		fill(thread->name, sizeof(thread->name));
		thread->state = t ? PERFMON_PROFILE_THREAD_STATE_LIVE
				  : PERFMON_PROFILE_THREAD_STATE_ENDED;
		builder_nodes(b, thread, 5);
		builder_node(b, thread, 0, 0);
		for (uint32_t n = 1; n <= 4; n++)
			visited(b, thread, n, n);
	}
	if (partial)
		header->lacking = header->used;
	builder_note(b, EVIL);
}

/* As many different events as fit, one or all that a plan can have at a time. */
static void events(struct profile_builder *b, uint32_t each)
{
	size_t size = sizeof(struct perfmon_profile_plan) +
		      each * sizeof(struct perfmon_profile_counter);
	uint32_t number = 0;

	for (uint32_t g = 1; take(size); g++) {
		struct perfmon_profile_plan *plan = builder_plan(b, g, each);

		for (uint32_t c = 0; c < each; c++)
			snprintf(plan->counter[c].name, sizeof(plan->counter[c].name),
				 "cycles:u%u", number++);
	}
}

/* COUNT paths below the one of node PARENT, each of a region of its own. */
static void leaves(struct profile_builder *b, struct perfmon_profile_thread *thread,
		   uint32_t count, uint32_t parent)
{
	uint32_t first = b->regions;

	for (uint32_t i = 0; i < count; i++)
		region(b, "leaf", i, "");
	for (uint32_t i = 1; i <= count; i++)
		visited(b, thread, parent, first + i);
}

static uint32_t leaves_that_fit(void)
{
	return (uint32_t)(left / (sizeof(struct perfmon_profile_node) +
				  sizeof(struct perfmon_profile_count) + 40));
}

/* A chain of long names, and so many paths below all of it. The first has what a roofline needs. */
static void deep(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread;
	char name[PERFMON_PROFILE_NAME_MAX - 8];
	uint32_t count = leaves_that_fit();

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	builder_plan(b, 1, 1);
	for (uint32_t i = 1; i < PERFMON_PROFILE_DEPTH_MAX; i++)
		region(b, "", i, name);
	thread = builder_thread(b, 1, 1, 1);
	builder_nodes(b, thread, PERFMON_PROFILE_DEPTH_MAX + count + 2);
	builder_node(b, thread, 0, 0);
	for (uint32_t n = 1; n < PERFMON_PROFILE_DEPTH_MAX; n++)
		visited(b, thread, n, n);
	leaves(b, thread, count, PERFMON_PROFILE_DEPTH_MAX);
	visited(b, thread, 2, builder_region(b, "flops []"))->flags =
		PERFMON_PROFILE_NODE_QUANTITY;
	visited(b, thread, 2, builder_region(b, "bytes [B]"))->flags =
		PERFMON_PROFILE_NODE_QUANTITY;
}

/* Many paths that count one event, and many events that nothing counts. */
static void dense(struct profile_builder *b)
{
	struct perfmon_profile_thread *thread;
	uint32_t count;

	for (uint32_t g = 1; g <= 32; g++) {
		struct perfmon_profile_plan *plan =
			builder_plan(b, g, g > 1 ? PERFMON_PROFILE_COUNTERS_MAX : 1);

		for (uint32_t c = 0; c < plan->counters; c++)
			snprintf(plan->counter[c].name, sizeof(plan->counter[c].name),
				 "event%u-%u", g, c);
	}
	count = leaves_that_fit();
	thread = builder_thread(b, 1, 1, 1);
	builder_nodes(b, thread, 1 + count);
	builder_node(b, thread, 0, 0);
	leaves(b, thread, count, 1);
}

/* Threads without number, each of a generation and of flags of its own. */
static void threads(struct profile_builder *b)
{
	const size_t size = sizeof(struct perfmon_profile_thread) +
			    sizeof(struct perfmon_profile_plan) +
			    sizeof(struct perfmon_profile_counter) +
			    2 * (sizeof(struct perfmon_profile_node) +
				 sizeof(struct perfmon_profile_count)) +
			    sizeof(struct perfmon_profile_nodes);
	uint32_t name = builder_region(b, "region");

	for (uint32_t t = 1; take(size); t++) {
		struct perfmon_profile_thread *thread;

		builder_plan(b, t, 1);
		thread = builder_thread(b, t, t, 1);
		thread->flags = t << 8;
		builder_nodes(b, thread, 2);
		builder_node(b, thread, 0, 0);
		visited(b, thread, 1, name);
	}
}

static void make(const char *kind, const char *path, size_t mib)
{
	struct profile_builder b;
	FILE *file;

	left = mib << 20;
	builder_begin(&b, left + (2 << 20));
	if (!strcmp(kind, "text") || !strcmp(kind, "partial") || !strcmp(kind, "exact"))
		text(&b, !strcmp(kind, "partial"), !strcmp(kind, "exact"));
	else if (!strcmp(kind, "events"))
		events(&b, 1);
	else if (!strcmp(kind, "plans"))
		events(&b, PERFMON_PROFILE_COUNTERS_MAX);
	else if (!strcmp(kind, "deep"))
		deep(&b);
	else if (!strcmp(kind, "dense"))
		dense(&b);
	else if (!strcmp(kind, "threads"))
		threads(&b);
	else
		exit(2);
	file = fopen(path, "we");
	if (!file || fwrite(b.base, builder_used(&b), 1, file) != 1 || fclose(file)) {
		perror(path);
		exit(1);
	}
	builder_end(&b);
}

static bool starts_formula(const char *cell)
{
	return *cell && (strchr("=+@\t\r", *cell) ||
			 (*cell == '-' && !strchr("0123456789", cell[1])));
}

static int wrong(const char *what, size_t at)
{
	printf("%s at byte %zu\n", what, at);
	return 1;
}

static int check(bool csv)
{
	size_t room = 1 << 20, used = 0, n, length;
	char *input = malloc(room + 1);
	bool quoted = false, begins = true;

	while ((n = fread(input + used, 1, room - used, stdin))) {
		used += n;
		if (used == room)
			input = realloc(input, (room *= 2) + 1);
	}
	input[used] = '\0';
	for (size_t at = 0; at < used; at += length) {
		int32_t c = pm_utf8_next(input + at, &length);

		if (c < 0)
			return wrong("no UTF-8", at);
		if (csv && c == '\r' && !quoted && input[at + 1] == '\n')
			continue;
		if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) ||
		    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
			return wrong("a control character", at);
		if (!csv)
			continue;
		if (begins && starts_formula(input + at + (c == '"')))
			return wrong("a formula", at);
		if (c == '"')
			quoted = !quoted;
		begins = !quoted && (c == ',' || c == '\n');
	}
	free(input);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "check"))
		return check(argc > 2);
	if (argc < 3)
		return 2;
	make(argv[1], argv[2], argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
	return 0;
}
