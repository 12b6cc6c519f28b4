/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "cli/roofline/data.h"

/* Generated from page.html. */
static const char page[] =
#include "cli/roofline/page_text.h"
	;

static const char data_mark[] = "@DATA@";

static int put(struct pm_out *out, const char *text, size_t size)
{
	if (!out->error && size)
		out->error = out->sink(out->argument, text, size);
	return out->error;
}

/* Writes JSON into a script element, which would end at "</script" and change its rules at
 * "<!--". In JSON, "<" is only in strings, where it can be escaped. */
static int put_json(void *argument, const char *text, size_t size)
{
	static const char less[] = "\\u003c";
	struct pm_out *out = argument;

	while (size) {
		const char *found = memchr(text, '<', size);
		size_t plain = found ? (size_t)(found - text) : size;

		put(out, text, plain);
		if (found)
			put(out, less, sizeof(less) - 1);
		text += plain + (found != NULL);
		size -= plain + (found != NULL);
	}
	return out->error;
}

/* Writes past OUT's buffer, which is empty. */
int roof_html(const struct roof *roof, struct pm_out *out)
{
	const char *mark = strstr(page, data_mark), *rest = mark + sizeof(data_mark) - 1;
	struct pm_out data = {.sink = put_json, .argument = out};
	int err;

	put(out, page, (size_t)(mark - page));
	err = roof_json(roof, &data);
	err = pm_out_end(&data) ?: err;
	put(out, rest, strlen(rest));
	return err;
}
