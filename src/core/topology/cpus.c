/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/topology/cpus.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/files.h"
#include "core/kernel/kernel.h"

#define WORD_BITS (sizeof(unsigned long) * CHAR_BIT)

void pm_cpus_free(struct pm_cpus *set)
{
	free(set->bits);
	*set = (struct pm_cpus){0};
}

void pm_cpus_clear(struct pm_cpus *set)
{
	if (set->words)
		memset(set->bits, 0, set->words * sizeof(*set->bits));
}

static int make_room(struct pm_cpus *set, size_t words)
{
	unsigned long *bits;

	if (words <= set->words)
		return 0;
	bits = realloc(set->bits, words * sizeof(*bits));
	if (!bits)
		return -ENOMEM;
	memset(bits + set->words, 0, (words - set->words) * sizeof(*bits));
	set->bits = bits;
	set->words = words;
	return 0;
}

int pm_cpus_add_range(struct pm_cpus *set, unsigned int first, unsigned int last)
{
	int err;

	if (last > PM_CPUS_MAX)
		return -ERANGE;
	err = make_room(set, last / WORD_BITS + 1);
	for (unsigned int cpu = first; !err && cpu <= last; cpu++)
		set->bits[cpu / WORD_BITS] |= 1ul << cpu % WORD_BITS;
	return err;
}

int pm_cpus_add(struct pm_cpus *set, unsigned int cpu)
{
	return pm_cpus_add_range(set, cpu, cpu);
}

int pm_cpus_own(struct pm_cpus *set)
{
	/* As many as 65,536 CPUs: the kernel writes as many as it has. */
	int err = make_room(set, 65536 / WORD_BITS);

	if (!err)
		err = pm_kernel_affinity(0, set->bits, set->words * sizeof(*set->bits));
	return err < 0 ? err : 0;
}

int pm_cpus_copy(struct pm_cpus *to, const struct pm_cpus *from)
{
	int err = make_room(to, from->words);

	if (err)
		return err;
	pm_cpus_clear(to);
	return pm_cpus_or(to, from);
}

int pm_cpus_or(struct pm_cpus *set, const struct pm_cpus *other)
{
	int err = make_room(set, other->words);

	for (size_t i = 0; !err && i < other->words; i++)
		set->bits[i] |= other->bits[i];
	return err;
}

void pm_cpus_remove(struct pm_cpus *set, unsigned int cpu)
{
	if (pm_cpus_has(set, cpu))
		set->bits[cpu / WORD_BITS] &= ~(1ul << cpu % WORD_BITS);
}

static unsigned long word_of(const struct pm_cpus *set, size_t i)
{
	return i < set->words ? set->bits[i] : 0;
}

void pm_cpus_and(struct pm_cpus *set, const struct pm_cpus *other)
{
	for (size_t i = 0; i < set->words; i++)
		set->bits[i] &= word_of(other, i);
}

void pm_cpus_and_not(struct pm_cpus *set, const struct pm_cpus *other)
{
	for (size_t i = 0; i < set->words; i++)
		set->bits[i] &= ~word_of(other, i);
}

bool pm_cpus_has(const struct pm_cpus *set, unsigned int cpu)
{
	return word_of(set, cpu / WORD_BITS) >> cpu % WORD_BITS & 1;
}

bool pm_cpus_equal(const struct pm_cpus *a, const struct pm_cpus *b)
{
	return pm_cpus_within(a, b) && pm_cpus_within(b, a);
}

bool pm_cpus_intersect(const struct pm_cpus *a, const struct pm_cpus *b)
{
	for (size_t i = 0; i < a->words; i++)
		if (a->bits[i] & word_of(b, i))
			return true;
	return false;
}

bool pm_cpus_within(const struct pm_cpus *set, const struct pm_cpus *whole)
{
	for (size_t i = 0; i < set->words; i++)
		if (set->bits[i] & ~word_of(whole, i))
			return false;
	return true;
}

unsigned int pm_cpus_count(const struct pm_cpus *set)
{
	unsigned int count = 0;

	for (size_t i = 0; i < set->words; i++)
		count += (unsigned int)__builtin_popcountl(set->bits[i]);
	return count;
}

int pm_cpus_next(const struct pm_cpus *set, unsigned int from)
{
	size_t i = from / WORD_BITS;
	unsigned long word = word_of(set, i) & ~0ul << from % WORD_BITS;

	while (!word && ++i < set->words)
		word = set->bits[i];
	return word ? (int)(i * WORD_BITS + (size_t)__builtin_ctzl(word)) : -1;
}

static int parse_range(struct pm_cpus *set, struct pm_slice range)
{
	struct pm_slice rest, from = pm_slice_cut(range, '-', &rest);
	uint64_t first, last;
	int err = pm_slice_number(from, &first);

	if (err)
		return err;
	last = first;
	if (rest.at)
		err = pm_slice_number(rest, &last);
	if (err)
		return err;
	if (first > PM_CPUS_MAX || last > PM_CPUS_MAX)
		return -ERANGE;
	return last < first
		       ? -EINVAL
		       : pm_cpus_add_range(set, (unsigned int)first, (unsigned int)last);
}

int pm_cpus_parse_list(struct pm_cpus *set, struct pm_slice text, struct pm_slice *bad)
{
	struct pm_slice rest = pm_slice_trim(text);
	int err = 0;

	if (!rest.length)
		return 0;
	while (!err && rest.at) {
		struct pm_slice range = pm_slice_cut(rest, ',', &rest);

		err = parse_range(set, range);
		if (err && bad)
			*bad = range;
	}
	return err;
}

char *pm_cpus_print(const struct pm_cpus *set, char *buffer, size_t size)
{
	int first = pm_cpus_next(set, 0);
	size_t used = 0;

	snprintf(buffer, size, "%s", first < 0 ? "none" : "");
	while (first >= 0) {
		int last = first;
		char range[32];
		int length;

		while (pm_cpus_has(set, (unsigned int)last + 1))
			last++;
		length = last == first ? snprintf(range, sizeof(range), "%s%d",
						  used ? "," : "", first)
				       : snprintf(range, sizeof(range), "%s%d-%d",
						  used ? "," : "", first, last);
		first = pm_cpus_next(set, (unsigned int)last + 1);
		/* Keeps room for the dots, unless nothing follows. */
		if (used + (size_t)length + (first < 0 ? 1 : sizeof(",...")) > size) {
			snprintf(buffer + used, size - used, "%s...", used ? "," : "");
			break;
		}
		memcpy(buffer + used, range, (size_t)length + 1);
		used += (size_t)length;
	}
	return buffer;
}

int pm_cpus_export(const struct pm_cpus *set, void *mask, size_t *size)
{
	size_t words = set->words, needed, given = *size;

	while (words && !set->bits[words - 1])
		words--;
	needed = words * sizeof(*set->bits);
	*size = needed;
	if (given < needed || (given && !mask))
		return -EOVERFLOW;
	if (given)
		memset(mask, 0, given);
	if (needed)
		memcpy(mask, set->bits, needed);
	return (int)pm_cpus_count(set);
}

int pm_cpus_read(struct pm_cpus *set, const char *path)
{
	char *text;
	ssize_t n = pm_file_read(path, &text);
	int err;

	if (n < 0)
		return (int)n;
	err = pm_cpus_parse_list(set, pm_slice_of(text), NULL);
	free(text);
	return err;
}

int pm_cpus_online(struct pm_cpus *set)
{
	return pm_cpus_read(set, "/sys/devices/system/cpu/online");
}
