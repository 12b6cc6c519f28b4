/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/report/html.h"

#include <math.h>
#include <string.h>

#include "core/report/model/groups.h"
#include "core/report/model/times.h"
#include "core/report/model/value.h"
#include "core/report/output/escape.h"

/* Generated from page.html. */
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

/* Writes JSON into a script element, which would end at "</script" and change its rules
 * at "<!--". In JSON, "<" is only in strings, where it can be escaped. */
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
	static const char parts[] = "{\"parts\":[";

	memset(html, 0, sizeof(*html));
	html->sink = sink;
	html->argument = argument;
	put(html, page, (size_t)(strstr(page, data_mark) - page));
	return put(html, parts, sizeof(parts) - 1);
}

/*
 * Writes the counts of NODE in a thread: its visits, and a value or null for each event.
 */
static void put_values(struct pm_out *out, const struct pm_report_tree *tree,
		       uint32_t node)
{
	pm_out_format(out, ",%llu,[",
		      (unsigned long long)pm_path_visits(tree, node)->ended);
	for (uint32_t e = 0; e < tree->model->event_count; e++) {
		struct pm_value value = pm_report_count(tree, node, e, false);

		pm_out_text(out, e ? "," : "");
		pm_out_double(out, value.state == PM_COUNTED ? value.value : NAN);
	}
	pm_out_text(out, "]");
}

/* Writes the paths of TREE: parent, region, inclusive time; with VALUES, those of
 * put_values(), too. Parents come before children. */
static void put_tree(struct pm_out *out, const struct pm_report_tree *tree, bool values)
{
	pm_out_text(out, ",\"nodes\":[");
	for (uint32_t n = 1; n < tree->node_count; n++) {
		const struct pm_path_times *times = pm_path_times(tree, n);

		pm_out_format(out, "%s[%u,%u,", n > 1 ? "," : "", pm_path_parent(tree, n),
			      pm_path_region(tree, n));
		/* Under the Valgrind tool these are counts of the first event. */
		if (!pm_path_has_values(tree, n))
			pm_out_text(out, "null");
		else if (tree->model->exact)
			pm_out_double(out, (double)times->inclusive);
		else
			pm_out_double(out, pm_snapshot_ns(tree->model->snapshot,
							  (double)times->inclusive));
		if (values)
			put_values(out, tree, n);
		pm_out_text(out, "]");
	}
	pm_out_text(out, "]");
}

static void put_thread_head(struct pm_out *out, const struct pm_report_model *model,
			    const struct pm_snapshot_thread *thread)
{
	const struct perfmon_profile_thread *record = &thread->record;
	bool ended = record->state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	bool timed = !ended && !model->exact;
	char cpus[8 * PERFMON_PROFILE_CPUS_MAX];

	if (ended)
		pm_out_format(out, "{\"tid\":null,\"threads\":%u", record->aggregated);
	else
		pm_out_format(out, "{\"tid\":%u,\"threads\":1", record->tid);
	pm_out_text(out, ",\"name\":");
	pm_out_json(out, record->name);
	pm_out_text(out, ",\"state\":");
	pm_out_json(out, pm_report_thread_state(thread));
	pm_out_text(out, ",\"cpus\":");
	pm_out_json(out, pm_report_cpus(record, cpus, sizeof(cpus)));
	pm_out_text(out, ",\"lifetime_ns\":");
	pm_out_double(out, timed ? pm_report_lifetime(model->snapshot, thread) : NAN);
}

static int put_threads(struct pm_out *out, const struct pm_report_model *model)
{
	const struct pm_snapshot *s = model->snapshot;

	pm_out_text(out, ",\"threads\":[");
	for (uint32_t t = 0; t < s->thread_count; t++) {
		struct pm_report_tree tree;
		int err = pm_report_tree_make(&tree, model, t);

		if (err)
			return err;
		pm_out_text(out, t ? ",\n" : "\n");
		put_thread_head(out, model, &s->threads[t]);
		put_tree(out, &tree, true);
		pm_out_text(out, "}");
		pm_report_tree_free(&tree);
	}
	pm_out_text(out, "]");
	return 0;
}

static int put_part(struct pm_out *out, const struct pm_report_model *model, bool threads)
{
	const struct pm_snapshot *s = model->snapshot;
	struct pm_report_tree tree;
	int err = pm_report_tree_make(&tree, model, -1);

	if (err)
		return err;
	pm_out_format(out, "{\"pid\":%u,\"rank\":", s->header.pid);
	if (s->header.rank >= 0)
		pm_out_format(out, "%d", s->header.rank);
	else
		pm_out_text(out, "null");
	pm_out_text(out, ",\"host\":");
	pm_out_json(out, s->header.host);
	pm_out_text(out, ",\"tick_ns\":");
	if (s->tick_ns > 0)
		pm_out_double(out, s->tick_ns);
	else
		pm_out_text(out, "null");
	/* By number, from 0, which is none. */
	pm_out_text(out, ",\"regions\":[\"\"");
	for (uint32_t r = 1; r <= s->region_count; r++) {
		pm_out_text(out, ",");
		pm_out_json(out, s->regions[r]);
	}
	pm_out_text(out, "]");
	put_tree(out, &tree, false);
	pm_report_tree_free(&tree);
	if (threads)
		err = put_threads(out, model);
	pm_out_text(out, "}");
	return err;
}

int cli_html_add(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options, bool threads)
{
	struct pm_out out = {.sink = put_json, .argument = html};
	struct pm_report_model model;
	int err = html->error;

	if (!err)
		err = pm_report_model_make(&model, snapshot, options->subtract_bias,
					   NULL);
	if (err)
		return html->error = err;
	pm_out_text(&out, html->any ? ",\n" : "\n");
	html->any = true;
	err = put_part(&out, &model, threads);
	pm_report_model_free(&model);
	err = pm_out_end(&out) ?: err;
	if (err && !html->error)
		html->error = err;
	return html->error;
}

int cli_html_end(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options)
{
	static const char report[] = "],\n\"report\":";
	const char *rest = strstr(page, data_mark) + sizeof(data_mark) - 1;
	struct pm_report_options how = *options;
	int err;

	how.format = PM_FORMAT_JSON;
	/* The threads' times are in the parts. */
	how.per_thread = false;
	put(html, report, sizeof(report) - 1);
	err = html->error ? 0 : pm_report_write(snapshot, &how, put_json, html);
	if (err && !html->error)
		html->error = err;
	put(html, "}", 1);
	return put(html, rest, strlen(rest));
}
