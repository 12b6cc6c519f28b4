/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "cli/roofline/data.h"

/* Generated from page.html. */
static const char page[] =
#include "cli/roofline/page_text.h"
	;

static const char data_mark[] = "@DATA@";

/* Writes JSON into a script element, which would end at "</script" and change its rules at
 * "<!--". In JSON, "<" is only in strings, where it can be escaped. */
static int put_json(void *argument, const char *text, size_t size)
{
	struct pm_out *out = argument;

	while (size) {
		const char *less = memchr(text, '<', size);
		size_t plain = less ? (size_t)(less - text) : size;

		pm_out_bytes(out, text, plain);
		if (less)
			pm_out_text(out, "\\u003c");
		text += plain + (less != NULL);
		size -= plain + (less != NULL);
	}
	return out->error;
}

int roof_html(const struct roof *roof, struct pm_out *out)
{
	const char *mark = strstr(page, data_mark);
	struct pm_out data = {.sink = put_json, .argument = out};
	int err;

	pm_out_bytes(out, page, (size_t)(mark - page));
	err = roof_json(roof, &data);
	err = pm_out_end(&data) ?: err;
	pm_out_text(out, mark + sizeof(data_mark) - 1);
	return err;
}
