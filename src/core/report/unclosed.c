/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ENDs without a BEGIN and BEGINs without an END, by name and place. */
#include <string.h>

#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/output/escape.h"

/* So many sentences of a kind; the rest is counted. */
#define SENTENCES_MOST 8
/* A name takes so many columns. */
#define NAME_WIDTH 48

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

		pm_out_format(out, "%s  lost: %llu END%s without a BEGIN: ", *head,
			      (unsigned long long)end->count, end->count == 1 ? "" : "s");
		*head = "";
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
	pm_out_format(out, "%s  lost: %llu%s END%s without a BEGIN\n", *head,
		      (unsigned long long)all, s->unmatched_count ? " more" : "",
		      all == 1 ? "" : "s");
	*head = "";
}

/* The visits of node N that have no END of their own: those that an outer END closed; and
 * if the program has ended, those that were open then. */
static uint64_t unclosed(const struct pm_report *report, uint32_t n, bool *closed)
{
	const struct pm_path_visits *visits = pm_path_visits(report->all, n);
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
		pm_out_format(out, "%s  lost: %llu visit%s without an END: ", *head,
			      (unsigned long long)visits, visits == 1 ? "" : "s");
		*head = "";
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

void pm_report_text_unclosed(const struct pm_report *report, uint64_t unmatched,
			     const char **head, struct pm_out *out)
{
	ends(report, unmatched, head, out);
	/* Regions that were disarmed while they were open have lost their ENDs by that. */
	for (uint32_t t = 0; t < report->snapshot->thread_count; t++)
		if (report->snapshot->threads[t].record.lost_other)
			return;
	begins(report, head, out);
}
