/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/output/out.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/output/utf8.h"

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
		put(out, out->fold.off, strlen(out->fold.off));
		put(out, "\n", 1);
		put_blanks(out, out->fold.indent);
		put(out, out->fold.on, strlen(out->fold.on));
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
	if (!out || !size)
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
	out->fold.on = out->fold.off = "";
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

void pm_out_plural(struct pm_out *out, uint64_t n, const char *noun)
{
	pm_out_format(out, "%llu %s%s", (unsigned long long)n, noun, n == 1 ? "" : "s");
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
	/* Any character but a digit, a sign and 'e' is the locale's decimal point. */
	for (from = to = text; *from; from++) {
		if ((*from >= '0' && *from <= '9') || *from == '-' || *from == '+' ||
		    *from == 'e')
			*to++ = *from;
		else if (to == text || to[-1] != '.')
			*to++ = '.';
	}
	pm_out_bytes(out, text, (size_t)(to - text));
}
