/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program for a job of continuous integration that compares instructions: it sorts and
 * looks up numbers. Its work does not depend on time, random seeds or addresses.
 *
 * -DCHANGED makes a change that somebody may make one day: lookup() looks up one number
 * in a thousand more.
 */
#include <perfmon/region.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBERS 20000
#define LOOKUPS 40000

static uint32_t numbers[NUMBERS];

static uint32_t next_number(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static void fill(void)
{
	PERFMON_REGION_SCOPE("fill");
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = next_number();
}

static int compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort(void)
{
	PERFMON_REGION_SCOPE("sort");
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
}

static int find(uint32_t number)
{
	return bsearch(&number, numbers, NUMBERS, sizeof(numbers[0]), compare) != NULL;
}

static int lookup(void)
{
	int found = 0;

	PERFMON_REGION_SCOPE("lookup");
	for (int i = 0; i < LOOKUPS; i++)
		found += find(next_number());
#ifdef CHANGED
	for (int i = 0; i < LOOKUPS / 1000; i++)
		found += find(next_number());
#endif
	return found;
}

int main(void)
{
	fill();
	sort();
	printf("%d found\n", lookup());
	return 0;
}
