/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/output/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/report/output/utf8.h"

void pm_cell_fixed(char *buffer, double value, int decimals)
{
	static const double powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
	double scaled = value * powers[decimals];
	const char *sign = "";
	unsigned long long n;

	if (!isfinite(value)) {
		strcpy(buffer, "?");
		return;
	}
	if (scaled < 0) {
		sign = "-";
		scaled = -scaled;
	}
	if (scaled > 1e18)
		scaled = 1e18;
	n = (unsigned long long)(scaled + 0.5);
	if (!decimals)
		snprintf(buffer, PM_CELL, "%s%llu", sign, n);
	else
		snprintf(buffer, PM_CELL, "%s%llu.%0*llu", sign,
			 n / (unsigned long long)powers[decimals], decimals,
			 n % (unsigned long long)powers[decimals]);
}

/* VALUE below 1000 (but for rounding) with four significant digits. */
static void significant(char *buffer, double value)
{
	pm_cell_fixed(buffer, value,
		      value < 9.9995   ? 3
		      : value < 99.995 ? 2
		      : value < 999.95 ? 1
				       : 0);
}

/* Divides *VALUE by 1000 until it is below 1000, but MOST times at most. Returns how often. */
static unsigned int reduce(double *value, unsigned int most)
{
	unsigned int times = 0;

	for (; *value >= 999.95 && times < most; times++)
		*value /= 1000;
	return times;
}

static void suffix(char *buffer, const char *space, const char *prefix, const char *unit)
{
	size_t used = strlen(buffer), most, length;

	used += (size_t)snprintf(buffer + used, PM_CELL - used, "%s%s", space, prefix);
	/* A unit is a profile's: of a long one the whole characters that fit. */
	for (most = used + 10; *unit; unit += length) {
		int32_t c = pm_utf8_next(unit, &length);

		if (used + length > most || used + length >= PM_CELL)
			break;
		if (pm_utf8_is_control(c))
			buffer[used] = '?';
		else
			memcpy(buffer + used, unit, length);
		used += pm_utf8_is_control(c) ? 1 : length;
	}
	buffer[used] = '\0';
}

void pm_cell_time(char *buffer, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned int unit = reduce(&ns, 3);

	if (!unit && ns == floor(ns))
		pm_cell_fixed(buffer, ns, 0);
	else
		significant(buffer, ns);
	suffix(buffer, " ", "", units[unit]);
}

void pm_cell_count(char *buffer, double count)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
	unsigned int prefix;

	if (count < 99999.5) {
		pm_cell_fixed(buffer, count, 0);
		return;
	}
	prefix = reduce(&count, 6);
	significant(buffer, count);
	suffix(buffer, "", prefixes[prefix], "");
}

char *pm_cell_number(char *buffer, double value)
{
	double size = fabs(value);
	char *to = buffer;
	int exponent = 0;

	if (!isfinite(value)) {
		strcpy(buffer, "?");
		return buffer;
	}
	if (value < 0)
		*to++ = '-';
	if (size >= 99999.5) {
		pm_cell_count(to, size);
	} else if (size >= 0.09995 || size == 0) {
		significant(to, size);
	} else {
		for (; size < 0.99995 && exponent < 400; exponent++)
			size *= 10;
		significant(to, size);
		snprintf(to + strlen(to), 8, "e-%d", exponent);
	}
	return buffer;
}

/* A unit that may begin with a prefix takes none. One letter is no prefix. */
bool pm_unit_takes_prefix(const char *unit)
{
	size_t length = strcspn(unit, "/");

	if (unit[length] && strcmp(unit + length, "/s") != 0)
		return false;
	return !length || !strchr("numkKMGTPE", *unit) || !unit[1];
}

/* VALUE in a unit that takes no prefix. */
static void cell_plain_unit(char *buffer, double value, const char *unit)
{
	if (fabs(value) >= 99999.5)
		pm_cell_fixed(buffer, value, 0);
	else
		pm_cell_number(buffer, value);
	suffix(buffer, " ", "", unit);
}

void pm_cell_unit(char *buffer, double value, const char *unit)
{
	static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T"};
	unsigned int prefix = 3;

	if (!pm_unit_takes_prefix(unit)) {
		cell_plain_unit(buffer, value, unit);
		return;
	}
	if (value < 0) {
		*buffer++ = '-';
		value = -value;
	}
	if (value > 0) {
		prefix += reduce(&value, 4);
		while (value < 1 && prefix > 0) {
			value *= 1000;
			prefix--;
		}
		significant(buffer, value);
	} else {
		pm_cell_fixed(buffer, value, 0);
	}
	suffix(buffer, " ", prefixes[prefix], unit);
}
