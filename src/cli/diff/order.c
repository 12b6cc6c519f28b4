/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order in which the runs of both sides began. Strict turns, ABABAB, fall in step with
 * what alternates on the machine: with two CPUs, every second run may be on the same one.
 * If all runs of a side came first, all that changed since looks like a change of the
 * program. Turns in pairs, ABBAABBA, or by a coin, do neither.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/diff/data.h"

struct moment {
	uint64_t begin;
	uint32_t side;
};

bool diff_is_before(const struct diff_data *data, uint32_t side)
{
	uint64_t last = 0, first = UINT64_MAX;

	for (uint32_t i = 0; i < data->file_count; i++) {
		uint64_t begin = data->files[i].header.begin_realtime_ns;

		if (data->files[i].side == side && begin > last)
			last = begin;
		if (data->files[i].side != side && begin < first)
			first = begin;
	}
	return last < first;
}

static int by_begin(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return DIFF_ORDER(x->begin, y->begin);
}

/* Returns whether the sides of the COUNT RUNS, in the order of time, alternate. */
static bool alternate(const struct moment *runs, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (runs[i].side == runs[i - 1].side ||
		    runs[i].begin == runs[i - 1].begin)
			return false;
	return count > 2;
}

int diff_order_find(struct diff_data *data)
{
	uint32_t count = data->runs[0] + data->runs[1];
	struct moment *runs = calloc((size_t)count + 1, sizeof(*runs));

	if (!runs)
		return -ENOMEM;
	for (uint32_t i = 0; i < data->file_count; i++) {
		const struct diff_file *file = &data->files[i];
		struct moment *run = &runs[file->run + (file->side ? data->runs[0] : 0)];

		run->side = file->side;
		if (!run->begin || file->header.begin_realtime_ns < run->begin)
			run->begin = file->header.begin_realtime_ns;
	}
	qsort(runs, count, sizeof(*runs), by_begin);
	data->order = diff_is_before(data, 0) || diff_is_before(data, 1) ? DIFF_BLOCKS
		      : alternate(runs, count)				 ? DIFF_TURNS
									 : DIFF_MIXED;
	free(runs);
	return 0;
}

/* Returns how much more a difference must be in this order. Blocks of many runs are further
 * apart in time. With these factors equal programs differ as seldom as in turns of pairs. */
double diff_order_factor(const struct diff_data *data)
{
	uint32_t runs = data->runs[0] < data->runs[1] ? data->runs[0] : data->runs[1];

	if (data->order == DIFF_BLOCKS)
		return runs <= 8 ? 1.5 : 2;
	return data->order == DIFF_TURNS ? 1.25 : 1;
}
