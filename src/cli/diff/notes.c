/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notes about a comparison: what could not be decided or compared, and why. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/common/common.h"
#include "cli/diff/data.h"
#include "core/text/bytes.h"

static void note_too_few(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;

	if (!result->too_few)
		return;
	cli_note(to,
		 "too few runs to decide %u comparison%s: %u run%s of A and %u of B; "
		 "this alpha needs %u runs on each side, taken in turns, for any number "
		 "of comparisons",
		 result->too_few, result->too_few == 1 ? "" : "s", data->runs[0],
		 data->runs[0] == 1 ? "" : "s", data->runs[1],
		 diff_runs_needed(result->options->alpha));
}

static void note_taken(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;
	bool exact = false;

	for (uint32_t i = 0; i < result->row_count; i++)
		exact |= result->rows[i].without_p;
	if (!exact || (data->runs[0] > 1 && data->runs[1] > 1))
		return;
	cli_note(to, data->exact ? "exact counts are assumed to repeat: verify with a "
				   "second run on each side"
				 : "instructions and branches in user mode are assumed "
				   "to repeat: verify with a second run");
}

static void note_exact(const struct diff_result *result, const struct cli_notes *to)
{
	if (result->data->exact)
		cli_note(to, "both sides were counted exactly by translation: times are "
			     "not those of the machine, and were not compared");
}

/* At most this many disagreements are reported, on both sides together. */
#define DISAGREE_MOST 8
/* More runs than this are not listed one by one. */
#define RUNS_MOST 6

/* Returns whether the runs of SIDE differ in ROW. */
static bool do_differ(const struct diff_row *row, uint32_t side)
{
	return row->region != DIFF_TOTAL && row->sample[side].runs > 1 &&
	       row->sample[side].min < row->sample[side].max;
}

/* Lists the runs of SIDE in ROW with their values. */
static void note_runs(const struct diff_result *result, const struct cli_notes *to,
		      const struct diff_row *row, uint32_t side)
{
	const struct diff_data *data = result->data;
	const struct diff_run *runs = row->runs + (side ? data->runs[0] : 0);
	const char *region = diff_region(data, row->region);
	const char *quantity = diff_quantity(data, row->quantity);
	bool low = false, high = false;
	struct pm_diag text = {0};

	for (uint32_t r = 0; r < data->runs[side]; r++) {
		double value = runs[r].value;
		bool ends = (value <= row->sample[side].min && !low) ||
			    (value >= row->sample[side].max && !high);

		if (!runs[r].there || (data->runs[side] > RUNS_MOST && !ends))
			continue;
		low |= value <= row->sample[side].min;
		high |= value >= row->sample[side].max;
		pm_diag_add(&text, "%s%.*f in run %u", text.text[0] ? ", " : "",
			    value == floor(value) ? 0 : 3, value, r + 1);
	}
	cli_note(to, "runs of %c do not agree: %.*s, %.*s%s: %s", side ? 'B' : 'A',
		 pm_text_cut(region, 100), region, pm_text_cut(quantity, 60), quantity,
		 row->quantity == DIFF_VISITS ? "" : " a visit", text.text);
}

/*
 * Makes notes about runs of the Valgrind tool: those that disagree, or that all agree.
 */
static void note_agree(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;
	uint32_t all = 0;

	for (uint32_t side = 0; side < 2 && data->exact; side++) {
		uint32_t before = all;

		for (uint32_t r = 0; r < result->row_count; r++)
			if (do_differ(&result->rows[r], side) && all++ < DISAGREE_MOST)
				note_runs(result, to, &result->rows[r], side);
		if (all == before && data->runs[side] > 1)
			cli_note(to, "the %u runs of %c agree to the last count",
				 data->runs[side], side ? 'B' : 'A');
	}
	if (all > DISAGREE_MOST)
		cli_note(to, "runs do not agree: and %u more", all - DISAGREE_MOST);
}

static void note_order(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;
	uint32_t side = diff_is_before(data, 1);

	if (!result->tests)
		return;
	if (data->order == DIFF_TURNS)
		cli_note(to, "the runs took strict turns, ABAB, which may fall in step "
			     "with the CPUs: times need larger changes, and regions "
			     "below 10 visits stay open; run ABBA ABBA");
	else if (data->order == DIFF_BLOCKS)
		cli_note(to,
			 "all runs of %c came before those of %c: differences may come "
			 "from changes of the machine, and times need larger ones; run "
			 "the two in turns, ABBA ABBA",
			 side ? 'B' : 'A', side ? 'A' : 'B');
}

/* Explains what is shown of times besides their means. */
static void note_columns(const struct diff_result *result, const struct cli_notes *to)
{
	bool nested = false, adjusted = false, other = false;

	for (uint32_t i = 0; i < result->row_count; i++) {
		const struct diff_row *row = &result->rows[i];

		if (row->verdict != DIFF_MORE && row->verdict != DIFF_LESS)
			continue;
		other |= row->shown->of != DIFF_MEAN;
		nested |= row->shown->of != DIFF_MEAN && row->nested;
		adjusted |= row->shown->raw != NULL;
	}
	if (!other && !adjusted)
		return;
	cli_note(to, "%s%s%s%s", other ? "fastest and median are of single visits" : "",
		 nested ? ", with nested regions" : "", other && adjusted ? "; " : "",
		 adjusted ? "an adjusted change leaves out how much slower or faster all "
			    "other regions were in the same runs"
			  : "");
}

/* Returns whether ROW needs more runs than OTHER, of which 0 is more than any. */
static bool needs_more(const struct diff_row *row, const struct diff_row *other)
{
	if (!other || !other->wanted)
		return !other;
	return !row->wanted || row->wanted > other->wanted;
}

/* Says how many runs would decide what is open. */
static void note_wanted(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_row *most = NULL;
	struct pm_diag text;
	double seen = 0;

	for (uint32_t i = 0; i < result->row_count; i++) {
		const struct diff_row *row = &result->rows[i];

		if (!diff_row_has_weight(row) || row->turns || !row->tested ||
		    (row->verdict != DIFF_OPEN && row->verdict != DIFF_TYPICAL))
			continue;
		most = needs_more(row, most) ? row : most;
		seen = fmax(seen, row->seen);
	}
	if (!most || (!most->wanted && !(seen > 0)))
		return;
	pm_diag_set(&text, 0,
		    "to see a change of %g %% in each open region of 5 %% of the time, "
		    "take %s%u runs on each side",
		    100 * result->wanted, most->wanted ? "about " : "more than ",
		    most->wanted ? most->wanted : DIFF_RUNS_MOST);
	if (seen > 0)
		pm_diag_add(&text, "; these runs could have seen %.0f %%",
			    ceil(100 * seen));
	cli_note(to, "%s", text.text);
}

/* Names regions whose time has no fastest visit and no median. */
static void note_once(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;
	uint32_t once = 0;
	const char *name = "";

	for (uint32_t e = 0; e < data->event_count; e++)
		if (!strcmp(data->events[e].name, "task-clock"))
			return;
	for (uint32_t i = 0; i < result->row_count; i++) {
		const struct diff_row *row = &result->rows[i];

		if (row->quantity != DIFF_TIME || row->region == DIFF_TOTAL ||
		    row->verdict != DIFF_OPEN || !row->tested || row->visits > 1)
			continue;
		if (!once++)
			name = diff_region(data, row->region);
	}
	if (once)
		cli_note(to,
			 "one visit in a run: %.*s%s: its time includes that of other "
			 "programs; count task-clock, too",
			 pm_text_cut(name, 100), name, once > 1 ? " and others" : "");
}

static void note_machine(const struct diff_result *result, const struct cli_notes *to)
{
	const char *a = diff_first_file(result->data, 0)->header.host,
		   *b = diff_first_file(result->data, 1)->header.host;

	if (strcmp(a, b) != 0)
		cli_note(to,
			 "A ran on %.63s and B on %.63s: all differences include those "
			 "of the machines",
			 a, b);
}

/* Returns how many visits SIDE left out for reason WHY. */
static uint64_t left_out(const struct diff_data *data, uint32_t side, uint32_t why)
{
	uint64_t visits = 0;

	for (uint32_t i = 0; i < data->file_count; i++)
		if (data->files[i].side == side)
			visits = pm_plus(visits, data->files[i].left_out[why]);
	return visits;
}

/* Names what one side alone left out: filters that were not the same. */
static void note_filters(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;
	static const char *const by[PERFMON_PROFILE_LEFT_OUT_KINDS] = {
		[PERFMON_PROFILE_LEFT_OUT_NAME] = "PERFMON_ONLY or PERFMON_SKIP",
		[PERFMON_PROFILE_LEFT_OUT_DEPTH] = "PERFMON_DEPTH",
		[PERFMON_PROFILE_LEFT_OUT_MEAN] = "PERFMON_MIN_MEAN",
	};
	struct pm_diag text = {0};

	for (uint32_t why = 0; why < PERFMON_PROFILE_LEFT_OUT_KINDS; why++) {
		uint64_t a = left_out(data, 0, why), b = left_out(data, 1, why);

		if (!a == !b)
			continue;
		pm_diag_add(&text, "%s only %c left out visits by %s (%" PRIu64 ")",
			    text.text[0] ? "," : "", a ? 'A' : 'B', by[why], a ? a : b);
	}
	if (text.text[0])
		cli_note(to,
			 "the sides had different filters:%s: their values are in the "
			 "regions around them",
			 text.text);
}

/* Names the events that one side alone counted. */
static void note_events(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;

	for (uint32_t side = 0; side < 2; side++) {
		struct pm_diag names = {0};

		for (uint32_t e = 0; e < data->event_count; e++)
			if (data->events[e].there[side] && !data->events[e].there[!side])
				pm_diag_add(&names, "%s %s", names.text[0] ? "," : "",
					    data->events[e].name);
		if (names.text[0])
			cli_note(to,
				 "only %c counted%s: the other side did not, or counted "
				 "another event of the same name",
				 side ? 'B' : 'A', names.text);
	}
}

static void note_clock(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;
	bool ticks = false;

	for (uint32_t i = 0; i < data->file_count; i++)
		ticks |= data->files[i].ticks && !data->exact;
	if (ticks)
		cli_note(to, "times were not compared: a profile has ticks of a clock of "
			     "unknown rate");
}

static void note_files(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;
	uint32_t running = 0, partial = 0;
	const char *one = "";

	for (uint32_t i = 0; i < data->file_count; i++) {
		running += !data->files[i].ended;
		partial += data->files[i].partial;
		if (!data->files[i].ended || data->files[i].partial)
			one = data->files[i].path;
	}
	if (running || partial)
		cli_note(to,
			 "programs without a normal end: %u; incomplete profiles: %u: "
			 "%.*s%s",
			 running, partial, pm_text_cut(one, 200), one,
			 running + partial > 1 ? " and others" : "");
}

/* No note is needed about built-in metrics, which depend on the available events. */
static void note_metrics(const struct diff_result *result, const struct cli_notes *to)
{
	const struct diff_data *data = result->data;
	struct pm_diag names = {0};

	for (uint32_t m = 0; data->metrics && m < data->metrics->count; m++) {
		bool there = data->metrics->metrics[m].heading;

		for (uint32_t i = 0; i < result->metric_count && !there; i++)
			there = result->metrics[i].metric == m;
		if (!there)
			pm_diag_add(&names, "%s %s", names.text[0] ? "," : "",
				    data->metrics->metrics[m].name);
	}
	if (names.text[0])
		cli_note(to, "not all of their events were counted: no metric%s",
			 names.text);
}

static void note_common(const struct diff_result *result, const struct cli_notes *to)
{
	if (result->row_count == result->by[DIFF_ONE_SIDE])
		cli_note(to, "A and B have nothing in common");
}

void diff_notes(const struct diff_result *result, const struct cli_notes *to)
{
	static void (*const notes[])(const struct diff_result *result,
				     const struct cli_notes *to) = {
		note_common,  note_too_few, note_taken,	 note_order, note_machine,
		note_events,  note_clock,   note_files,	 note_exact, note_agree,
		note_metrics, note_columns, note_wanted, note_once,  note_filters,
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		notes[i](result, to);
}
