/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/out.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/width.h"

static void flush(struct pm_out *out)
{
	if (!out->error && out->used)
		out->error = out->sink(out->argument, out->buffer, out->used);
	out->used = 0;
}

static void put(struct pm_out *out, const char *text, size_t size)
{
	if (size > sizeof(out->buffer) - out->used)
		flush(out);
	if (size > sizeof(out->buffer)) {
		if (!out->error)
			out->error = out->sink(out->argument, text, size);
		return;
	}
	memcpy(out->buffer + out->used, text, size);
	out->used += size;
}

static void put_blanks(struct pm_out *out, size_t count)
{
	while (count--)
		put(out, " ", 1);
}

/* The word of a passage that is broken between words. */
static void fold_word(struct pm_out *out)
{
	if (!out->fold.used)
		return;
	if (out->fold.at > out->fold.indent &&
	    out->fold.at + out->fold.blanks + out->fold.width > out->fold.limit) {
		put(out, "\n", 1);
		put_blanks(out, out->fold.indent);
		out->fold.at = out->fold.indent;
	} else {
		put_blanks(out, out->fold.blanks);
		out->fold.at += out->fold.blanks;
	}
	put(out, out->fold.word, out->fold.used);
	out->fold.at += out->fold.width;
	out->fold.blanks = out->fold.used = out->fold.width = 0;
}

static void fold_bytes(struct pm_out *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bool starts = ((unsigned char)text[i] & 0xc0) != 0x80;

		if (text[i] == ' ' || text[i] == '\n') {
			fold_word(out);
			out->fold.blanks++;
			if (text[i] == '\n') {
				put(out, "\n", 1);
				out->fold.at = out->fold.blanks = 0;
			}
			continue;
		}
		if (starts && out->fold.used > sizeof(out->fold.word) - 8)
			fold_word(out);
		if (starts) {
			size_t length;

			out->fold.width += pm_width(pm_utf8_next(text + i, &length));
		}
		out->fold.word[out->fold.used++] = text[i];
	}
}

void pm_out_bytes(struct pm_out *out, const char *text, size_t size)
{
	if (!out)
		return;
	if (out->fold.limit)
		fold_bytes(out, text, size);
	else
		put(out, text, size);
}

void pm_out_fold(struct pm_out *out, size_t limit, size_t indent)
{
	memset(&out->fold, 0, sizeof(out->fold));
	out->fold.limit = limit;
	out->fold.indent = indent;
}

void pm_out_fold_end(struct pm_out *out)
{
	if (out->fold.limit)
		fold_word(out);
	out->fold.limit = 0;
}

void pm_out_text(struct pm_out *out, const char *text)
{
	pm_out_bytes(out, text, strlen(text));
}

void pm_out_repeat(struct pm_out *out, char c, size_t count)
{
	while (count--)
		pm_out_bytes(out, &c, 1);
}

void pm_out_format(struct pm_out *out, const char *format, ...)
{
	char text[2048];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n > 0)
		pm_out_bytes(out, text,
			     (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

int pm_out_end(struct pm_out *out)
{
	flush(out);
	return out->error;
}

void pm_out_double(struct pm_out *out, double value)
{
	char text[64], *from, *to;
	int digits;

	if (!isfinite(value)) {
		pm_out_text(out, "null");
		return;
	}
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	/* What is no digit, sign or exponent is the locale's decimal point. */
	for (from = to = text; *from; from++) {
		if ((*from >= '0' && *from <= '9') || *from == '-' || *from == '+' ||
		    *from == 'e')
			*to++ = *from;
		else if (to == text || to[-1] != '.')
			*to++ = '.';
	}
	pm_out_bytes(out, text, (size_t)(to - text));
}

int32_t pm_utf8_next(const char *text, size_t *length)
{
	static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)text;
	size_t n = *s < 0x80	   ? 1
		   : *s >> 5 == 6  ? 2
		   : *s >> 4 == 14 ? 3
		   : *s >> 3 == 30 ? 4
				   : 0;
	int32_t c;

	*length = 1;
	if (n <= 1)
		return n ? *s : -1;
	c = *s & (0xff >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return -1;
	*length = n;
	return c;
}

/* What terminals obey and what makes text look like other text: control characters, ends
 * of lines, marks of direction. */
static bool is_control(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e ||
	       c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/* Bytes from TEXT on that are the same in all formats. */
static size_t plain_bytes(const char *text)
{
	const char *c = text;

	while (*c >= ' ' && *c < 0x7f && *c != '"' && *c != '\\')
		c++;
	return (size_t)(c - text);
}

void pm_out_json(struct pm_out *out, const char *text)
{
	size_t length;

	pm_out_text(out, "\"");
	for (; *text; text += length) {
		int32_t c;

		length = plain_bytes(text);
		if (length) {
			pm_out_bytes(out, text, length);
			continue;
		}
		c = pm_utf8_next(text, &length);
		if (c < 0)
			pm_out_text(out, "\\ufffd");
		else if (c == '"' || c == '\\')
			pm_out_format(out, "\\%c", c);
		else if (is_control(c))
			pm_out_format(out, "\\u%04x", (unsigned int)c);
		else
			pm_out_bytes(out, text, length);
	}
	pm_out_text(out, "\"");
}

/* One character of plain text; its width. */
static size_t plain_one(struct pm_out *out, const char *text, size_t *length)
{
	int32_t c = pm_utf8_next(text, length);

	if (is_control(c)) {
		for (size_t i = 0; out && i < *length; i++)
			pm_out_format(out, "\\x%02x", (unsigned char)text[i]);
		return 4 * *length;
	}
	if (out)
		pm_out_bytes(out, text, *length);
	return c < 0x80 ? 1 : pm_width(c);
}

void pm_out_csv(struct pm_out *out, const char *text)
{
	bool quoted = strpbrk(text, "\",") != NULL;
	size_t length;

	if (quoted)
		pm_out_text(out, "\"");
	/* Spreadsheets take what begins so for a formula, quoted or not. */
	if (*text && strchr("=+-@'", *text))
		pm_out_text(out, "'");
	for (; *text; text += length) {
		int32_t c;

		length = plain_bytes(text);
		if (length) {
			pm_out_bytes(out, text, length);
			continue;
		}
		c = pm_utf8_next(text, &length);
		if (c < 0)
			pm_out_text(out, "\xef\xbf\xbd");
		else if (c == '"')
			pm_out_text(out, "\"\"");
		else
			plain_one(out, text, &length);
	}
	if (quoted)
		pm_out_text(out, "\"");
}

size_t pm_out_plain(struct pm_out *out, const char *text, size_t width)
{
	size_t total = 0, at = 0, taken = 0, last = 0, length, w, first;
	bool dots = false;
	const char *c;

	for (c = text; *c; c += length) {
		length = plain_bytes(c);
		total += length ? length : plain_one(NULL, c, &length);
	}
	if (!width || total <= width) {
		for (c = text; *c && out; c += length) {
			length = plain_bytes(c);
			if (length)
				pm_out_bytes(out, c, length);
			else
				plain_one(out, c, &length);
		}
		return total;
	}
	first = total;
	if (width > 8 && total > width) {
		last = width / 3;
		first = width - 3 - last;
	}
	for (c = text; *c; c += length, at += w) {
		bool shown = false;

		w = plain_one(NULL, c, &length);
		if (at + w <= first) {
			shown = true;
		} else {
			if (!dots) {
				pm_out_text(out, "...");
				taken += 3;
				dots = true;
			}
			shown = at >= total - last;
		}
		if (shown)
			taken += plain_one(out, c, &length);
	}
	return taken;
}

/* Blanks of any kind, which nobody sees at an end of a name. */
static bool is_blank(int32_t c)
{
	return c == ' ' || c == 0xa0 || (c >= 0x2000 && c <= 0x200b) || c == 0x202f ||
	       c == 0x205f || c == 0x3000 || c == 0xfeff;
}

size_t pm_out_name(struct pm_out *out, const char *name, size_t width, bool quote)
{
	int32_t first = 0, last = 0;
	size_t length;

	for (const char *c = name; *c; c += length) {
		last = pm_utf8_next(c, &length);
		if (c == name)
			first = last;
	}
	if (!quote && *name && !is_blank(first) && !is_blank(last))
		return pm_out_plain(out, name, width);
	pm_out_bytes(out, "\"", 1);
	width = 2 + pm_out_plain(out, name, width > 2 ? width - 2 : width);
	pm_out_bytes(out, "\"", 1);
	return width;
}

void pm_cell_fixed(char *buffer, double value, int decimals)
{
	static const double powers[] = {1, 10, 100, 1000, 10000};
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

static void suffix(char *buffer, const char *space, const char *prefix, const char *unit)
{
	size_t used = strlen(buffer), most, length;

	used += (size_t)snprintf(buffer + used, PM_CELL - used, "%s%s", space, prefix);
	/* A unit is a profile's: of a long one the whole characters that fit. */
	for (most = used + 10; *unit; unit += length) {
		int32_t c = pm_utf8_next(unit, &length);

		if (used + length > most || used + length >= PM_CELL)
			break;
		if (is_control(c))
			buffer[used] = '?';
		else
			memcpy(buffer + used, unit, length);
		used += is_control(c) ? 1 : length;
	}
	buffer[used] = '\0';
}

void pm_cell_time(char *buffer, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned int unit = 0;
	double value = ns;

	while (value >= 999.95 && unit < 3) {
		value /= 1000;
		unit++;
	}
	if (!unit && value == floor(value))
		pm_cell_fixed(buffer, value, 0);
	else
		significant(buffer, value);
	suffix(buffer, " ", "", units[unit]);
}

void pm_cell_count(char *buffer, double count)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
	unsigned int prefix = 0;

	if (count < 99999.5) {
		pm_cell_fixed(buffer, count, 0);
		return;
	}
	while (count >= 999.95 && prefix < 6) {
		count /= 1000;
		prefix++;
	}
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

bool pm_unit_takes_prefix(const char *unit)
{
	static const char *const bases[] = {
		"",	  "B",	   "iB",    "b",     "bit", "bits", "byte",
		"bytes",  "Byte",  "Bytes", "op",    "ops", "flop", "flops",
		"Flop",	  "Flops", "FLOP",  "FLOPS", "s",   "J",    "Joule",
		"Joules", "W",	   "Watt",  "Watts", "Hz",  "V",    "A"};
	size_t base = strcspn(unit, "/"), length;

	if (unit[base] && strcmp(unit + base, "/s") != 0)
		return false;
	if (!base || !strchr("numkKMGTPE", *unit))
		return true;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		length = strlen(bases[i]);
		if (base == length + 1 && !strncmp(unit + 1, bases[i], length))
			return !length && !unit[base];
	}
	return true;
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
		while (value >= 999.95 && prefix < 7) {
			value /= 1000;
			prefix++;
		}
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
