/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/output/escape.h"

#include <stdbool.h>
#include <string.h>

#include "core/report/output/utf8.h"

/* Writes the bytes from TEXT on that are the same in all formats. Returns how many these are. */
static size_t plain_bytes(struct pm_out *out, const char *text)
{
	const char *c = text;

	while (*c >= ' ' && *c < 0x7f && *c != '"' && *c != '\\')
		c++;
	pm_out_bytes(out, text, (size_t)(c - text));
	return (size_t)(c - text);
}

void pm_out_json(struct pm_out *out, const char *text)
{
	size_t length;

	pm_out_text(out, "\"");
	for (; *text; text += length) {
		int32_t c;

		length = plain_bytes(out, text);
		if (length)
			continue;
		c = pm_utf8_next(text, &length);
		if (c < 0)
			pm_out_text(out, "\\ufffd");
		else if (c == '"' || c == '\\')
			pm_out_format(out, "\\%c", c);
		else if (pm_utf8_is_control(c))
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

	if (pm_utf8_is_control(c)) {
		for (size_t i = 0; i < *length; i++)
			pm_out_format(out, "\\x%02x", (unsigned char)text[i]);
		return 4 * *length;
	}
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

		length = plain_bytes(out, text);
		if (length)
			continue;
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

/* All of TEXT; its width. */
static size_t plain_all(struct pm_out *out, const char *text)
{
	size_t total = 0, length;

	for (; *text; text += length) {
		length = plain_bytes(out, text);
		total += length ? length : plain_one(out, text, &length);
	}
	return total;
}

size_t pm_out_plain(struct pm_out *out, const char *text, size_t width)
{
	size_t total = plain_all(NULL, text), at = 0, taken = 0, first, last, length, w;
	bool dots = false;

	/* Dots would leave nothing of a name in so few columns. */
	if (width <= 8 || total <= width)
		return out ? plain_all(out, text) : total;
	last = width / 3;
	first = width - 3 - last;
	for (; *text; text += length, at += w) {
		w = plain_one(NULL, text, &length);
		if (at + w > first && !dots) {
			pm_out_text(out, "...");
			taken += 3;
			dots = true;
		}
		if (at + w <= first || at >= total - last)
			taken += plain_one(out, text, &length);
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
