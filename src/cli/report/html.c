/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/report/html.h"

#include <string.h>

/* Made of page.html. */
static const char page[] =
#include "cli/report/page_text.h"
	;

static const char data_mark[] = "@DATA@";

static int put(struct cli_html *html, const char *text, size_t size)
{
	if (!html->error && size)
		html->error = html->sink(html->argument, text, size);
	return html->error;
}

/* JSON on its way into a script element, which would end at "</script" and change its
 * rules at "<!--": in JSON a "<" stands in strings only, where it can be written so. */
static int put_json(void *argument, const char *text, size_t size)
{
	static const char less[] = "\\u003c";
	struct cli_html *html = argument;
	size_t from = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] != '<')
			continue;
		put(html, text + from, i - from);
		put(html, less, sizeof(less) - 1);
		from = i + 1;
	}
	return put(html, text + from, size - from);
}

int cli_html_begin(struct cli_html *html,
		   int (*sink)(void *argument, const char *text, size_t size),
		   void *argument)
{
	memset(html, 0, sizeof(*html));
	html->sink = sink;
	html->argument = argument;
	put(html, page, (size_t)(strstr(page, data_mark) - page));
	return put(html, "[", 1);
}

int cli_html_add(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options)
{
	struct pm_report_options how = *options;
	int err;

	if (html->any)
		put(html, ",", 1);
	html->any = true;
	how.format = PM_FORMAT_JSON;
	err = html->error ? 0 : pm_report_write(snapshot, &how, put_json, html);
	if (err && !html->error)
		html->error = err;
	return html->error;
}

int cli_html_end(struct cli_html *html)
{
	const char *rest = strstr(page, data_mark) + sizeof(data_mark) - 1;

	put(html, "]", 1);
	return put(html, rest, strlen(rest));
}
