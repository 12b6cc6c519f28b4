/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One unit for all numbers of a column. */
#include <stdio.h>
#include <string.h>

#include "core/report/table.h"

/* Counts are written in full below this. */
#define FULL 1e7
/* A time of a visit has no more digits before its point than this. */
#define VISIT_MOST 1e7

static const struct {
	double ns;
	const char *name;
} times[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
#define TIMES 4

/* So many that numbers of the size of VALUE have DIGITS digits. */
static int decimals_for(double value, int digits, int most)
{
	int decimals = digits - 1;

	for (; value >= 9.9995 && decimals > 0; value /= 10)
		decimals--;
	return decimals < most ? decimals : most;
}

static void scale_time(struct pm_scale *scale, double most)
{
	int unit = TIMES - 1;

	while (unit && most < times[unit].ns)
		unit--;
	scale->divisor = times[unit].ns;
	scale->decimals = unit ? decimals_for(most / scale->divisor, 6, 3) : 0;
	strcpy(scale->unit, times[unit].name);
}

static void scale_visit(struct pm_scale *scale, double least, double most)
{
	int unit = TIMES - 1, enough;

	while (unit && least < times[unit].ns && most / times[unit - 1].ns < VISIT_MOST)
		unit--;
	scale->divisor = times[unit].ns;
	scale->decimals = decimals_for(least / scale->divisor, 4, 3);
	/* Large numbers need no more digits than they have. */
	enough = decimals_for(most / scale->divisor, 7, 3);
	scale->fine = scale->decimals > enough;
	if (scale->fine)
		scale->decimals = enough;
	strcpy(scale->unit, times[unit].name);
}

static void scale_event(struct pm_scale *scale, const char *unit, double least,
			double most)
{
	static const char *const prefixes[] = {"n", "u", "m", "",  "k",
					       "M", "G", "T", "P", "E"};
	int prefix = 3;

	scale->divisor = 1;
	if (!strcmp(unit, "ns")) {
		scale_time(scale, most);
		return;
	}
	if (!*unit && most < FULL)
		return;
	if (*unit && !pm_unit_takes_prefix(unit)) {
		scale->each = least < 0.01;
		scale->decimals = decimals_for(least, 4, 3);
		snprintf(scale->unit, sizeof(scale->unit), "%s", unit);
		return;
	}
	for (; most / scale->divisor >= 1000 && prefix < 9; prefix++)
		scale->divisor *= 1000;
	for (; *unit && most > 0 && most / scale->divisor < 1 && prefix > 0; prefix--)
		scale->divisor /= 1000;
	scale->decimals = 3;
	snprintf(scale->unit, sizeof(scale->unit), "%s%s", prefixes[prefix], unit);
}

void pm_scale_choose(struct pm_scale *scale, enum pm_column_kind kind, const char *unit,
		     double least, double most)
{
	*scale = (struct pm_scale){.divisor = 1};
	switch (kind) {
	case PM_COLUMN_TIME:
		scale_time(scale, most);
		break;
	case PM_COLUMN_VISIT:
		scale_visit(scale, least, most);
		break;
	case PM_COLUMN_SHARE:
		scale->decimals = 1;
		strcpy(scale->unit, "%");
		break;
	case PM_COLUMN_EVENT:
		scale_event(scale, unit, least, most);
		break;
	case PM_COLUMN_RATIO:
		scale->decimals = 2;
		break;
	case PM_COLUMN_METRIC:
		if (!strcmp(unit, "ns") && most > 0) {
			scale_visit(scale, least, most);
			break;
		}
		if (*unit && strcmp(unit, "%") != 0) {
			scale_event(scale, unit, least, most);
			break;
		}
		strcpy(scale->unit, unit);
		scale->each = most >= FULL || least < 0.01;
		scale->decimals = decimals_for(least, 4, 3);
		break;
	case PM_COLUMN_EXACT:
	case PM_COLUMN_LABEL:
		break;
	}
}

void pm_scale_text(const struct pm_scale *scale, double value, char text[PM_CELL])
{
	static const char *const smallest[] = {"<1", "<0.1", "<0.01", "<0.001"};
	double scaled = value / scale->divisor;
	int decimals = scale->decimals;

	if (scale->each) {
		pm_cell_number(text, scaled);
		return;
	}
	if (scale->fine && decimals < decimals_for(scaled, 4, 3))
		decimals = decimals_for(scaled, 4, 3);
	pm_cell_fixed(text, scaled, decimals);
	if (value > 0 && !strpbrk(text, "123456789?"))
		strcpy(text, smallest[decimals]);
}
