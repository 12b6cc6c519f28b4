/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sentences of a report: its notes, what may be wrong, and missing visits by name and place. */
#include <stdlib.h>
#include <string.h>

#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/output/escape.h"

/* So many sentences of a kind; the rest is counted. */
#define SENTENCES_MOST 8
/* A name takes so many columns. */
#define NAME_WIDTH 48

const char *pm_report_note(const struct pm_report *report, uint32_t i)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct pm_report_options *options = report->options;
	const struct pm_report_model *model = report->model;

	if (i < s->note_count)
		return s->notes[i];
	i -= s->note_count;
	if (i < model->note_count)
		return model->notes[i];
	i -= model->note_count;
	/* The notes of the options may stand in the profile, too. */
	for (uint32_t o = 0; o < options->note_count; o++) {
		bool known = false;

		for (uint32_t n = 0; n < s->note_count && !known; n++)
			known = !strcmp(s->notes[n], options->notes[o]);
		if (!known && !i--)
			return options->notes[o];
	}
	if (report->starved.error && !i--)
		return report->starved.text;
	return report->no_groups.error && !i ? report->no_groups.text : NULL;
}

void pm_report_lost(const struct pm_snapshot *s, struct pm_lost lost[PM_LOST])
{
	static const struct pm_lost kinds[PM_LOST] = {
		{0, "first_in_handler",
		 "visits are missing: a signal handler, or a function that libperfmon "
		 "called, was the first to use regions in its thread"},
		{0, "threads", "threads could not be set up: their visits are missing"},
		{0, "unnamed",
		 "visits are missing: their region could not be registered"},
		{0, "in_handler",
		 "visits are missing: a signal handler had interrupted a region call"},
		{0, "too_deep", "visits are missing: they were nested deeper than 256"},
		{0, "no_memory", "visits are missing: no memory for their path"},
		{0, "other",
		 "visits are missing: regions were disarmed while they were open, or a "
		 "signal handler jumped out of a region call"},
		{0, "unmatched_ends", NULL},
	};

	memcpy(lost, kinds, sizeof(kinds));
	lost[0].count = s->header.lost_first_in_handler;
	lost[1].count = s->header.lost_threads;
	lost[7].count = s->header.unmatched_ends;
	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct perfmon_profile_thread *record = &s->threads[t].record;

		pm_add(&lost[2].count, record->lost_unnamed);
		pm_add(&lost[3].count, record->lost_in_handler);
		pm_add(&lost[4].count, record->lost_too_deep);
		pm_add(&lost[5].count, record->lost_no_memory);
		pm_add(&lost[6].count, record->lost_other);
		pm_add(&lost[7].count, record->unmatched_ends);
	}
}

/* Returns how many regions have a path whose visits turned out too short. */
static uint64_t short_regions(const struct pm_snapshot *s)
{
	unsigned char *seen = calloc((size_t)s->region_count + 1, 1);
	uint64_t regions = 0;

	for (uint32_t t = 0; seen && t < s->thread_count; t++) {
		for (uint32_t n = 2; n <= s->threads[t].node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(&s->threads[t], n);

			if (!(node->flags & PERFMON_PROFILE_NODE_LEFT_OUT) ||
			    node->region > s->region_count)
				continue;
			regions += !seen[node->region];
			seen[node->region] = 1;
		}
	}
	free(seen);
	return regions;
}

void pm_report_left_out(const struct pm_snapshot *s, struct pm_left_out out[PM_LEFT_OUT])
{
	static const struct pm_left_out kinds[PM_LEFT_OUT] = {
		[PERFMON_PROFILE_LEFT_OUT_NAME] =
			{.key = "name", .by = "by PERFMON_ONLY or PERFMON_SKIP"},
		[PERFMON_PROFILE_LEFT_OUT_DEPTH] = {.key = "depth",
						    .by = "by PERFMON_DEPTH"},
		[PERFMON_PROFILE_LEFT_OUT_MEAN] = {.key = "min_mean",
						   .by = "by PERFMON_MIN_MEAN"},
	};

	for (int i = 0; i < PM_LEFT_OUT; i++) {
		out[i] = kinds[i];
		for (uint32_t t = 0; t < s->thread_count; t++)
			pm_add(&out[i].visits, s->threads[t].record.left_out[i]);
	}
	out[PERFMON_PROFILE_LEFT_OUT_NAME].regions = s->header.left_out_regions;
	out[PERFMON_PROFILE_LEFT_OUT_MEAN].regions = short_regions(s);
}

/* Begins a sentence of KIND. *HEAD stands before the first one. */
static void begin(struct pm_out *out, const char **head, const char *kind)
{
	pm_out_format(out, "%s  %s: ", *head, kind);
	*head = "";
}

static void quoted(struct pm_out *out, const char *name)
{
	pm_out_text(out, "'");
	pm_out_plain(out, name, NAME_WIDTH);
	pm_out_text(out, "'");
}

/* The region that END may have meant, if there is none of its name. */
static void suggest(const struct pm_report *report,
		    const struct pm_snapshot_unmatched *end, struct pm_out *out)
{
	struct pm_suggestion suggestion = {.wanted = pm_slice_of(end->name)};
	const struct pm_report_tree *tree = report->all;

	for (uint32_t n = 1; n < tree->node_count; n++) {
		const char *name = pm_path_name(tree, n);

		if (!strcmp(name, end->name))
			return;
		pm_suggestion_offer(&suggestion, name, NULL);
	}
	if (!suggestion.best[0])
		return;
	pm_out_text(out, " (did you mean ");
	quoted(out, suggestion.best);
	pm_out_text(out, "?)");
}

static void ends(const struct pm_report *report, uint64_t all, const char **head,
		 struct pm_out *out)
{
	const struct pm_snapshot *s = report->snapshot;

	for (uint32_t i = 0; i < s->unmatched_count && i < SENTENCES_MOST; i++) {
		const struct pm_snapshot_unmatched *end = &s->unmatched[i];

		begin(out, head, "lost");
		pm_out_plural(out, end->count, "END");
		pm_out_text(out, " without a BEGIN: ");
		quoted(out, end->name);
		suggest(report, end, out);
		pm_out_text(out,
			    end->place[0] ? ", inside " : ", outside of all regions");
		pm_out_plain(out, end->place, 0);
		pm_out_text(out, "\n");
		all = pm_less(all, end->count);
	}
	if (!all)
		return;
	begin(out, head, "lost");
	pm_out_plural(out, all, s->unmatched_count ? "more END" : "END");
	pm_out_text(out, " without a BEGIN\n");
}

/* The visits of node N that have no END of their own: those that an outer END closed; and
 * if the program has ended, those that were open then. */
static uint64_t unclosed(const struct pm_report *report, uint32_t n, bool *closed)
{
	const struct pm_path_visits *visits = &pm_path(report->all, n)->visits;
	uint64_t open =
		pm_less(pm_less(visits->entered, visits->ended), visits->mismatched_ends);

	*closed = visits->mismatched_ends;
	if (visits->mismatched_ends)
		return visits->mismatched_ends;
	/* A sum's writer is the least certain of all. */
	return report->snapshot->header.state == PERFMON_PROFILE_STATE_ENDED ? open : 0;
}

static void begins(const struct pm_report *report, const char **head, struct pm_out *out)
{
	const struct pm_report_tree *tree = report->all;
	uint64_t said = 0;

	for (uint32_t n = 0; (n = pm_path_next(tree, n));) {
		uint32_t line[PM_PATH_NODES], depth;
		bool closed;
		uint64_t visits = unclosed(report, n, &closed);

		if (!visits || said++ >= SENTENCES_MOST)
			continue;
		begin(out, head, "lost");
		pm_out_plural(out, visits, "visit");
		pm_out_text(out, " without an END: ");
		quoted(out, pm_path_name(tree, n));
		depth = pm_report_path(tree, n, PM_PATH_BYTES, line);
		for (uint32_t i = 0; i + 1 < depth; i++) {
			pm_out_text(out, i ? " > " : ", inside ");
			pm_out_plain(out,
				     line[i] ? pm_path_name(tree, line[i]) : PM_PATH_LEFT,
				     NAME_WIDTH);
		}
		pm_out_text(out, closed ? "; closed by the END of an outer region\n"
					: "; open when the program ended\n");
	}
	if (said > SENTENCES_MOST)
		pm_out_format(out, "  lost: visits without an END of %llu more paths\n",
			      (unsigned long long)(said - SENTENCES_MOST));
}

/* Sentences on ENDs without a BEGIN, UNMATCHED of them, and on BEGINs without an END. */
static void unclosed_write(const struct pm_report *report, uint64_t unmatched,
			   const char **head, struct pm_out *out)
{
	ends(report, unmatched, head, out);
	/* Regions that were disarmed while they were open have lost their ENDs by that. */
	for (uint32_t t = 0; t < report->snapshot->thread_count; t++)
		if (report->snapshot->threads[t].record.lost_other)
			return;
	begins(report, head, out);
}

static void sanity_short(const struct pm_report *report, struct pm_out *out,
			 const char **head)
{
	const struct pm_report_tree *tree = report->all;
	char mean[PM_CELL], bias[PM_CELL], needed[PM_CELL], batch[PM_CELL];
	uint64_t said = 0;

	for (uint32_t n = 0; (n = pm_path_next(tree, n));) {
		for (uint32_t e = 0; e < report->model->event_count; e++) {
			struct pm_value value = pm_report_count(tree, n, e, false);
			struct pm_short s;

			if (value.state != PM_COUNTED ||
			    !pm_report_is_short(tree, n, e, false, &s))
				continue;
			if (said++ >= SENTENCES_MOST)
				continue;
			pm_cell_count(mean, s.mean);
			pm_cell_count(bias, s.bias);
			pm_cell_count(needed, s.needed);
			pm_cell_count(batch, s.batch);
			begin(out, head, "short");
			pm_out_plain(out, pm_path_name(tree, n), 48);
			pm_out_format(out, ": %s ", mean);
			pm_out_plain(out, report->model->events[e].name, 0);
			pm_out_format(
				out, " a visit against a bias of %s: measure at least %s",
				bias, needed);
			if (s.nested)
				pm_out_text(out, ", or have fewer visits inside");
			else if (s.batch > 0)
				pm_out_format(out, ", or the work of %s visits in one",
					      batch);
			pm_out_text(out, "\n");
		}
	}
	if (said > SENTENCES_MOST)
		pm_out_format(out, "  short: and %llu more\n",
			      (unsigned long long)(said - SENTENCES_MOST));
}

static void sanity_ratios(const struct pm_report *report, struct pm_out *out,
			  const char **head)
{
	const struct pm_report_tree *tree = report->all;
	uint64_t said = 0;

	for (uint32_t n = 0; (n = pm_path_next(tree, n));) {
		for (uint32_t m = 0; m < report->model->metric_count; m++) {
			struct pm_value value = pm_report_metric(tree, n, m, false);
			char ratio[PM_CELL];

			if (!(value.marks & PM_MARK_IMPLAUSIBLE) ||
			    said++ >= SENTENCES_MOST)
				continue;
			pm_cell_fixed(ratio, value.value, 2);
			begin(out, head, "implausible");
			pm_out_plain(out, pm_path_name(tree, n), 48);
			pm_out_text(out, ": ");
			pm_out_plain(out,
				     pm_report_metric_heading(&report->model->metrics[m]),
				     0);
			pm_out_format(out,
				      " of %s instructions a cycle is more than the %u "
				      "that this CPU can issue\n",
				      ratio, report->model->issue_width);
		}
	}
	if (said > SENTENCES_MOST)
		pm_out_format(out, "  implausible: and %llu more\n",
			      (unsigned long long)(said - SENTENCES_MOST));
}

/* Sentences on what is too short, more than the machine can do, or known to be wrong. */
static void sanity_write(const struct pm_report *report, struct pm_out *out)
{
	const char *head = "\n";

	pm_out_fold(out, out->columns, 4);
	sanity_short(report, out, &head);
	sanity_ratios(report, out, &head);
	for (uint32_t e = 0; e < report->model->event_count; e++) {
		const struct pm_report_event *event = &report->model->events[e];

		if (!event->erratum)
			continue;
		begin(out, &head, "erratum");
		pm_out_plain(out, event->name, 0);
		pm_out_format(out, " %s (%s, %s)\n", event->erratum->effect,
			      event->erratum->number, event->erratum->document);
	}
	pm_out_fold_end(out);
}

static void left_out(const struct pm_snapshot *s, const char **head, struct pm_out *out)
{
	struct pm_left_out kinds[PM_LEFT_OUT];

	pm_report_left_out(s, kinds);
	for (int i = 0; i < PM_LEFT_OUT; i++) {
		if (!kinds[i].visits)
			continue;
		begin(out, head, "left out");
		pm_out_plural(out, kinds[i].visits, "visit");
		if (kinds[i].regions) {
			pm_out_text(out, " of ");
			pm_out_plural(out, kinds[i].regions, "region");
		}
		pm_out_format(out, ", %s\n", kinds[i].by);
	}
}

void pm_report_text_notes(const struct pm_report *report, struct pm_out *out)
{
	const struct pm_snapshot *s = report->snapshot;
	struct pm_lost lost[PM_LOST];
	const char *text, *head = "\n";
	bool known_cost = false;

	sanity_write(report, out);
	pm_out_fold(out, out->columns, 4);
	for (uint32_t i = 0; (text = pm_report_note(report, i)); i++) {
		begin(out, &head, "note");
		pm_out_plain(out, text, 0);
		pm_out_text(out, "\n");
	}
	for (uint32_t p = 0; p < s->plan_count; p++) {
		known_cost |= s->plans[p].time.known;
		for (uint32_t c = 0; c < s->plans[p].counter_count; c++)
			known_cost |= s->plans[p].counters[c].cost.known;
	}
	if (report->options->subtract_bias) {
		begin(out, &head, "note");
		pm_out_text(out,
			    known_cost && report->model->exact
				    ? "counts exclude what measuring added, by the least "
				      "cost of a visit at start-up\n"
			    : known_cost
				    ? "times and counts exclude what measuring added, by "
				      "the least cost of a visit at start-up\n"
				    : "cannot subtract what measuring added: it was not "
				      "measured\n");
	}
	pm_report_lost(s, lost);
	for (uint32_t i = 0; i < PM_LOST; i++) {
		if (!lost[i].count || !lost[i].text)
			continue;
		begin(out, &head, "lost");
		pm_out_format(out, "%llu %s\n", (unsigned long long)lost[i].count,
			      lost[i].text);
	}
	unclosed_write(report, lost[PM_LOST - 1].count, &head, out);
	left_out(s, &head, out);
	if (s->partial) {
		begin(out, &head, "partial");
		pm_out_plain(out, s->problem, 0);
		pm_out_text(out, "\n");
	}
	pm_out_fold_end(out);
}
