/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/report/html.h"

#include "core/report/model/groups.h"
#include "core/report/model/times.h"
#include "core/report/model/value.h"
#include "core/report/output/json.h"

/* Generated from page.html. */
static const char page[] =
#include "cli/report/page_text.h"
	;

static bool begin(struct cli_html *html)
{
	html->failed = cli_output_begin(&html->output, "report", html->path, "html");
	html->begun = !html->failed;
	if (html->failed)
		return false;
	html->out = (struct pm_out){.sink = cli_output_print, .argument = &html->output};
	cli_page_put(&html->out, page, false);
	pm_out_text(&html->out, "{\"parts\":[");
	return true;
}

/*
 * Writes the counts of NODE in a thread: its visits, and a value or null for each event.
 */
static void put_values(struct pm_json *j, const struct pm_report_tree *tree,
		       uint32_t node)
{
	pm_json_number(j, NULL, pm_path(tree, node)->visits.ended);
	pm_json_begin(j, NULL, "[");
	for (uint32_t e = 0; e < tree->model->event_count; e++) {
		struct pm_value value = pm_report_count(tree, node, e, false);

		pm_json_real(j, NULL, value.value, value.state == PM_COUNTED);
	}
	pm_json_close(j, "]");
}

/* Writes the paths of TREE: parent, region, inclusive time; with VALUES, those of
 * put_values(), too. Parents come before children. */
static void put_tree(struct pm_json *j, const struct pm_report_tree *tree, bool values)
{
	pm_json_begin(j, "nodes", "[");
	for (uint32_t n = 1; n < tree->node_count; n++) {
		double time = (double)pm_path(tree, n)->times.inclusive;

		/* Under the Valgrind tool these are counts of the first event. */
		if (!tree->model->exact)
			time = pm_snapshot_ns(tree->model->snapshot, time);
		pm_json_begin(j, NULL, "[");
		pm_json_number(j, NULL, pm_path(tree, n)->parent);
		pm_json_number(j, NULL, pm_path(tree, n)->region);
		pm_json_real(j, NULL, time, pm_path_has_values(tree, n));
		if (values)
			put_values(j, tree, n);
		pm_json_close(j, "]");
	}
	pm_json_close(j, "]");
}

static void put_thread_head(struct pm_json *j, const struct pm_report_model *model,
			    const struct pm_snapshot_thread *thread)
{
	const struct perfmon_profile_thread *record = &thread->record;
	bool ended = record->state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	char cpus[8 * PERFMON_PROFILE_CPUS_MAX];

	pm_json_begin_line(j);
	pm_json_known(j, "tid", record->tid, !ended);
	pm_json_number(j, "threads", pm_snapshot_threads(thread));
	pm_json_string(j, "name", record->name);
	pm_json_string(j, "state", pm_report_thread_state(thread));
	pm_json_string(j, "cpus", pm_report_cpus(record, cpus, sizeof(cpus)));
	pm_json_real(j, "lifetime_ns", pm_report_lifetime(model->snapshot, thread),
		     !ended && !model->exact);
}

static int put_threads(struct pm_json *j, const struct pm_report_model *model)
{
	const struct pm_snapshot *s = model->snapshot;

	pm_json_begin(j, "threads", "[");
	for (uint32_t t = 0; t < s->thread_count; t++) {
		struct pm_report_tree tree;
		int err = pm_report_tree_make(&tree, model, &t, 1);

		if (err)
			return err;
		put_thread_head(j, model, &s->threads[t]);
		put_tree(j, &tree, true);
		pm_json_close(j, "}");
		pm_report_tree_free(&tree);
	}
	pm_json_close(j, "]");
	return 0;
}

static int put_part(struct pm_json *j, const struct pm_report_model *model, bool threads)
{
	const struct pm_snapshot *s = model->snapshot;
	struct pm_report_tree tree;
	int err = pm_report_tree_make(&tree, model, NULL, 0);

	if (err)
		return err;
	pm_json_begin_line(j);
	pm_json_number(j, "pid", s->header.pid);
	pm_json_known(j, "rank", (uint64_t)s->header.rank, s->header.rank >= 0);
	pm_json_string(j, "host", s->header.host);
	pm_json_real(j, "tick_ns", s->tick_ns, s->tick_ns > 0);
	/* By number, from 0, which is none. */
	pm_json_begin(j, "regions", "[");
	for (uint32_t r = 0; r <= s->region_count; r++)
		pm_json_string(j, NULL, s->regions[r]);
	pm_json_close(j, "]");
	put_tree(j, &tree, false);
	pm_report_tree_free(&tree);
	if (threads)
		err = put_threads(j, model);
	pm_json_close(j, "}");
	return err;
}

bool cli_html_add(struct cli_html *html, const struct pm_snapshot *snapshot,
		  const struct pm_report_options *options)
{
	struct pm_out out = {.sink = cli_page_print, .argument = &html->out};
	struct pm_json j = {.out = &out, .first = !html->begun};
	struct pm_report_model model;
	int err;

	if (!html->begun && !begin(html))
		return false;
	err = html->out.error
		      ?: pm_report_model_make(&model, snapshot, options->subtract_bias,
					      NULL);
	if (!err) {
		err = put_part(&j, &model, html->threads);
		pm_report_model_free(&model);
		err = pm_out_end(&out) ?: err;
	}
	html->out.error = html->out.error ?: err;
	return true;
}

int cli_html_end(struct cli_html *html, const struct pm_snapshot *snapshot,
		 const struct pm_report_options *options, int err)
{
	struct pm_report_options how;

	if (!html->begun)
		return html->failed ? CLI_FAILED : 0;
	if (err)
		return cli_output_end(&html->output, err);
	how = *options;
	how.format = PM_FORMAT_JSON;
	/* The threads' times are in the parts. */
	how.per_thread = false;
	pm_out_text(&html->out, "],\n\"report\":");
	if (!html->out.error)
		err = pm_report_write(snapshot, &how, cli_page_print, &html->out);
	html->out.error = html->out.error ?: err;
	pm_out_text(&html->out, "}");
	cli_page_put(&html->out, page, true);
	return cli_output_end(&html->output, pm_out_end(&html->out));
}
