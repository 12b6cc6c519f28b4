/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/diff/visits.h"

#include <math.h>

void diff_visits_add(struct diff_visits *to, const struct diff_visits *from)
{
	double ratio;
	int shift;

	if (!(from->tick_ns > 0))
		return;
	if (!(to->tick_ns > 0)) {
		*to = *from;
		return;
	}
	ratio = from->tick_ns / to->tick_ns;
	shift = (int)lround(log2(ratio));
	to->fastest = fmin(to->fastest, from->fastest * ratio);
	to->slowest = fmax(to->slowest, from->slowest * ratio);
	for (int i = 0; i < PERFMON_PROFILE_BINS; i++) {
		int bin = i + shift;

		bin = bin < 0 ? 0 : bin;
		bin = bin < PERFMON_PROFILE_BINS ? bin : PERFMON_PROFILE_BINS - 1;
		to->bins[bin] += from->bins[i];
	}
}

double diff_visits_count(const struct diff_visits *visits)
{
	double count = 0;

	for (int i = 0; i < PERFMON_PROFILE_BINS; i++)
		count += visits->bins[i];
	return count;
}

double diff_visits_fastest(const struct diff_visits *visits)
{
	return visits->fastest * visits->tick_ns;
}

double diff_visits_median(const struct diff_visits *visits)
{
	double half = diff_visits_count(visits) / 2, before = 0, low, high;
	int i = 0;

	while (i + 1 < PERFMON_PROFILE_BINS && before + visits->bins[i] < half)
		before += visits->bins[i++];
	/* Nothing in the bin is faster than the fastest visit, or slower than the slowest. */
	low = fmax(fmax(visits->fastest, 1), ldexp(1, i));
	high = fmax(low, fmin(visits->slowest + 1, ldexp(1, i + 1)));
	if (!(visits->bins[i] > 0))
		return low * visits->tick_ns;
	return low * pow(high / low, (half - before) / visits->bins[i]) * visits->tick_ns;
}
