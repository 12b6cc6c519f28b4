/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/text/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUGGEST_MAX 63 /* longest name for which a neighbour is looked for */

char pm_char_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool pm_char_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool pm_char_is_hex(char c)
{
	c = pm_char_lower(c);
	return pm_char_is_digit(c) || (c >= 'a' && c <= 'f');
}

struct pm_slice pm_slice_of(const char *text)
{
	return (struct pm_slice){text, strlen(text)};
}

bool pm_char_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct pm_slice pm_slice_trim(struct pm_slice slice)
{
	while (slice.length && pm_char_is_blank(slice.at[0])) {
		slice.at++;
		slice.length--;
	}
	while (slice.length && pm_char_is_blank(slice.at[slice.length - 1]))
		slice.length--;
	return slice;
}

struct pm_slice pm_slice_cut(struct pm_slice slice, char separator, struct pm_slice *rest)
{
	const char *hit = slice.length ? memchr(slice.at, separator, slice.length) : NULL;
	struct pm_slice after = {NULL, 0};

	if (hit) {
		after.at = hit + 1;
		after.length = slice.length - (size_t)(hit - slice.at) - 1;
		slice.length = (size_t)(hit - slice.at);
	}
	if (rest)
		*rest = after;
	return slice;
}

bool pm_slice_starts(struct pm_slice slice, const char *prefix)
{
	size_t i;

	for (i = 0; prefix[i]; i++)
		if (i == slice.length ||
		    pm_char_lower(slice.at[i]) != pm_char_lower(prefix[i]))
			return false;
	return true;
}

bool pm_slice_is(struct pm_slice slice, const char *text)
{
	return strlen(text) == slice.length && pm_slice_starts(slice, text);
}

bool pm_slice_glob(struct pm_slice pattern, const char *text)
{
	const char *at = pattern.at, *end = at + pattern.length;
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (at < end && *at == '*') {
			star = ++at;
			from = text;
		} else if (at < end && (*at == '?' || *at == *text)) {
			at++;
			text++;
		} else if (star) {
			/* The last star takes one byte more. */
			at = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (at < end && *at == '*')
		at++;
	return at == end;
}

char *pm_slice_copy(struct pm_slice slice)
{
	char *copy = malloc(slice.length + 1);

	if (copy) {
		if (slice.length)
			memcpy(copy, slice.at, slice.length);
		copy[slice.length] = '\0';
	}
	return copy;
}

int pm_text_add(char **text, const char *between, const char *more)
{
	char *both;

	if (asprintf(&both, "%s%s%s", *text ?: "", *text ? between : "", more) < 0)
		return -ENOMEM;
	free(*text);
	*text = both;
	return 0;
}

int pm_text_cut(const char *text, size_t most)
{
	size_t length = strnlen(text, most);

	while (length && (text[length] & 0xc0) == 0x80)
		length--;
	return (int)length;
}

static int digits(struct pm_slice slice, unsigned int base, uint64_t *value)
{
	uint64_t sum = 0;

	if (!slice.length)
		return -EINVAL;
	for (size_t i = 0; i < slice.length; i++) {
		char c = pm_char_lower(slice.at[i]);
		unsigned int digit;

		if (!pm_char_is_hex(c))
			return -EINVAL;
		digit = (unsigned int)(pm_char_is_digit(c) ? c - '0' : c - 'a' + 10);
		if (digit >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)digit, &sum))
			return -ERANGE;
	}
	*value = sum;
	return 0;
}

int pm_slice_hex(struct pm_slice slice, uint64_t *value)
{
	return digits(slice, 16, value);
}

int pm_slice_number(struct pm_slice slice, uint64_t *value)
{
	if (pm_slice_starts(slice, "0x"))
		return digits((struct pm_slice){slice.at + 2, slice.length - 2}, 16,
			      value);
	return digits(slice, 10, value);
}

int pm_text_double(const char *text, double *value)
{
	/* glibc hands out its static C locale here: nothing is allocated or freed. */
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	int saved = errno;
	double number;
	char *end;

	if (!c)
		return -ENOMEM;
	number = strtod_l(text, &end, c);
	freelocale(c);
	errno = saved;
	if (end == text || *end || !isfinite(number))
		return -EINVAL;
	*value = number;
	return 0;
}

struct pm_quote pm_slice_quote(struct pm_slice slice)
{
	struct pm_quote quote;
	size_t n = slice.length < 60 ? slice.length : 60;

	for (size_t i = 0; i < n; i++) {
		char c = slice.at[i];

		quote.text[i] = (char)(c >= ' ' && c <= '~' ? c : '?');
	}
	strcpy(quote.text + n, slice.length > n ? "..." : "");
	return quote;
}

/* Edit distance with exchanged neighbours counted as one, cut off beyond LIMIT. */
static unsigned int distance(struct pm_slice a, const char *b, size_t b_length,
			     unsigned int limit)
{
	unsigned int rows[3][SUGGEST_MAX + 2];
	unsigned int *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= a.length; i++) {
		unsigned int least = row[0] = (unsigned int)i;
		char ai = pm_char_lower(a.at[i - 1]);

		for (size_t j = 1; j <= b_length; j++) {
			char bj = pm_char_lower(b[j - 1]);
			unsigned int best = last[j - 1] + (ai != bj);

			if (best > last[j] + 1)
				best = last[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && ai == pm_char_lower(b[j - 2]) &&
			    bj == pm_char_lower(a.at[i - 2]) && best > before[j - 2] + 1)
				best = before[j - 2] + 1;
			row[j] = best;
			if (best < least)
				least = best;
		}
		if (least > limit)
			return limit + 1;
		unsigned int *free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	return last[b_length];
}

void pm_suggestion_offer(struct pm_suggestion *suggestion, const char *candidate,
			 const char *spelling)
{
	struct pm_slice wanted = suggestion->wanted;
	unsigned int limit = 1 + (unsigned int)(wanted.length / 4);
	size_t length = strlen(candidate);
	unsigned int d;

	if (limit > 3)
		limit = 3;
	if (suggestion->best[0]) {
		if (!suggestion->distance)
			return;
		limit = suggestion->distance - 1;
	}
	if (wanted.length < 3 || wanted.length > SUGGEST_MAX || length > SUGGEST_MAX ||
	    length > wanted.length + limit || wanted.length > length + limit)
		return;
	d = distance(wanted, candidate, length, limit);
	if (d > limit)
		return;
	suggestion->distance = d;
	snprintf(suggestion->best, sizeof(suggestion->best), "%s",
		 spelling ? spelling : candidate);
}
