/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program of bench/diff_study: 11 regions of different kinds.
 *
 *     diff_program [THREADS [REGION PERCENT|tail]]
 *
 * Each of THREADS threads does the whole work. REGION takes PERCENT more work, or a
 * hundredth of its visits takes twenty times as much.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/region.h>

#define STEPS 30
#define WORDS (1u << 17)

enum kind { COUNT, UNLIKE, MEMORY, ALLOCATE };

static struct region {
	const char *name;
	unsigned int visits; /* in each step; 0: one in the whole run */
	unsigned int amount; /* of work in a visit */
	enum kind kind;
	unsigned int percent;
	int tail;
} regions[] = {
	{"setup", 0, 600000, COUNT, 100, 0},  {"once", 0, 3000000, COUNT, 100, 0},
	{"step5", 1, 60000, COUNT, 100, 0}, /* about 5 % of the time */
	{"step10", 1, 110000, COUNT, 100, 0}, {"step15", 1, 160000, COUNT, 100, 0},
	{"half", 2, 50000, COUNT, 100, 0},    {"fine", 100, 1000, COUNT, 100, 0},
	{"many", 700, 100, COUNT, 100, 0},    {"unlike", 10, 11000, UNLIKE, 100, 0},
	{"memory", 1, 8000, MEMORY, 100, 0},  {"allocate", 4, 60000, ALLOCATE, 100, 0},
};

#define REGIONS (sizeof(regions) / sizeof(regions[0]))

struct thread {
	uint64_t number;
	uint64_t choice; /* of amounts: the same in each run */
	uint64_t tail;	 /* of the visits that take longer */
	uint32_t *words;
};

static void count(struct thread *t, unsigned int amount)
{
	for (unsigned int i = 0; i < amount; i++) {
		t->number = t->number * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(t->number));
	}
}

static unsigned int choose(uint64_t *choice, unsigned int limit)
{
	*choice = *choice * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)((*choice >> 33) % limit);
}

/* Follows words to places that depend on the last one. */
static void walk(struct thread *t, unsigned int amount)
{
	uint32_t at = 1;

	for (unsigned int i = 0; i < amount; i++)
		at = t->words[at % WORDS] + i * 2654435761u;
	t->number += at;
}

static void allocate(struct thread *t, unsigned int amount)
{
	char *memory = malloc(amount);

	if (!memory)
		return;
	for (unsigned int i = 0; i < amount; i += 64)
		memory[i] = (char)t->number;
	__asm__ volatile("" : : "r"(memory) : "memory");
	free(memory);
}

static void visit(struct thread *t, const struct region *r)
{
	unsigned int amount = r->amount / 100 * r->percent;

	if (r->tail && !choose(&t->tail, 100))
		amount *= 20;
	perfmon_region_begin_name(r->name);
	switch (r->kind) {
	case COUNT:
		count(t, amount);
		break;
	case UNLIKE:
		count(t, amount / 10 + choose(&t->choice, amount * 9 / 5));
		break;
	case MEMORY:
		walk(t, amount);
		break;
	case ALLOCATE:
		allocate(t, amount);
		break;
	}
	perfmon_region_end_name(r->name);
}

static void *run(void *argument)
{
	struct thread t = {1, 2, 3, calloc(WORDS, sizeof(uint32_t))};

	for (uint32_t i = 0; t.words && i < WORDS; i++)
		t.words[i] = i * 2246822519u;
	for (size_t r = 0; t.words && r < REGIONS; r++)
		if (!regions[r].visits)
			visit(&t, &regions[r]);
	for (int step = 0; t.words && step < STEPS; step++)
		for (size_t r = 0; r < REGIONS; r++)
			for (unsigned int v = 0; v < regions[r].visits; v++)
				visit(&t, &regions[r]);
	free(t.words);
	return argument;
}

static int plant(const char *name, const char *what)
{
	for (size_t r = 0; r < REGIONS; r++) {
		if (strcmp(regions[r].name, name) != 0)
			continue;
		regions[r].tail = !strcmp(what, "tail");
		regions[r].percent += (unsigned int)strtoul(what, NULL, 10);
		return 0;
	}
	fprintf(stderr, "diff_program: no region '%s'\n", name);
	return 1;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	pthread_t others[16];

	if (threads < 1 || threads > 16 || (argc > 3 && plant(argv[2], argv[3])))
		return 1;
	for (unsigned long t = 1; t < threads; t++)
		if (pthread_create(&others[t], NULL, run, NULL))
			return 1;
	run(NULL);
	for (unsigned long t = 1; t < threads; t++)
		pthread_join(others[t], NULL);
	return 0;
}
