/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notes about a comparison: what could not be decided or compared, and why. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/diff/data.h"
#include "core/text/bytes.h"

/* The notes are numbered as they come. Each of the functions below writes its note to TO, and returns
 * false if there is none. */
struct noting {
	const struct diff_data *data;
	const struct diff_result *result;
	const struct diff_options *options;
	uint32_t left; /* so many notes come before the one that is asked for */
};

/* Returns whether the note at hand comes before the one that is asked for. */
static bool is_before(struct noting *n)
{
	return n->left && n->left--;
}

static bool note_too_few(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	const struct diff_result *result = n->result;

	if (!result->too_few)
		return false;
	snprintf(to, DIFF_NOTE,
		 "too few runs to decide %u comparison%s: %u run%s of A and %u of B; "
		 "this alpha needs %u runs on each side, taken in turns, for any number "
		 "of comparisons",
		 result->too_few, result->too_few == 1 ? "" : "s", data->runs[0],
		 data->runs[0] == 1 ? "" : "s", data->runs[1],
		 diff_runs_needed(n->options->alpha));
	return true;
}

static bool note_taken(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	const struct diff_result *result = n->result;
	bool exact = false;

	for (uint32_t i = 0; i < result->row_count; i++)
		exact |= result->rows[i].without_p;
	if (!exact || (data->runs[0] > 1 && data->runs[1] > 1))
		return false;
	snprintf(to, DIFF_NOTE,
		 data->exact ? "exact counts are assumed to repeat: verify with a second "
			       "run on each side"
			     : "instructions and branches in user mode are assumed to "
			       "repeat: verify with a second run");
	return true;
}

static bool note_exact(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;

	if (data->exact)
		snprintf(to, DIFF_NOTE,
			 "both sides were counted exactly by translation: times are not "
			 "those of the machine, and were not compared");
	return data->exact;
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
static void put_runs(const struct diff_data *data, const struct diff_row *row,
		     uint32_t side, char *to)
{
	const struct diff_run *runs = row->runs + (side ? data->runs[0] : 0);
	const char *between = "";
	bool low = false, high = false;
	size_t used = (size_t)snprintf(
		to, DIFF_NOTE,
		"runs of %c do not agree: %.100s, %.60s%s: ", side ? 'B' : 'A',
		diff_region(data, row->region), diff_quantity(data, row->quantity),
		row->quantity == DIFF_VISITS ? "" : " a visit");

	for (uint32_t r = 0; r < data->runs[side] && used < DIFF_NOTE; r++) {
		double value = runs[r].value;
		bool ends = (value <= row->sample[side].min && !low) ||
			    (value >= row->sample[side].max && !high);

		if (!runs[r].there || (data->runs[side] > RUNS_MOST && !ends))
			continue;
		low |= value <= row->sample[side].min;
		high |= value >= row->sample[side].max;
		used += (size_t)snprintf(to + used, DIFF_NOTE - used, "%s%.*f in run %u",
					 between, value == floor(value) ? 0 : 3, value,
					 r + 1);
		between = ", ";
	}
}

/*
 * Makes notes about runs of the Valgrind tool: those that disagree, or that all agree.
 */
static bool note_agree(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	const struct diff_result *result = n->result;
	uint32_t all = 0;

	if (!data->exact)
		return false;
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t before = all;

		for (uint32_t r = 0; r < result->row_count; r++) {
			if (!do_differ(&result->rows[r], side) ||
			    all++ >= DISAGREE_MOST || is_before(n))
				continue;
			put_runs(data, &result->rows[r], side, to);
			return true;
		}
		if (all == before && data->runs[side] > 1 && !is_before(n)) {
			snprintf(to, DIFF_NOTE,
				 "the %u runs of %c agree to the last count",
				 data->runs[side], side ? 'B' : 'A');
			return true;
		}
	}
	if (all <= DISAGREE_MOST || is_before(n))
		return false;
	snprintf(to, DIFF_NOTE, "runs do not agree: and %u more", all - DISAGREE_MOST);
	return true;
}

static bool note_order(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	const struct diff_result *result = n->result;
	uint32_t side = diff_is_before(data, 1);

	if (!result->tests || (data->order != DIFF_BLOCKS && data->order != DIFF_TURNS))
		return false;
	if (data->order == DIFF_TURNS)
		snprintf(to, DIFF_NOTE,
			 "the runs took strict turns, ABAB, which may fall in step with "
			 "the CPUs: times need larger changes, and regions below 10 "
			 "visits stay open; run ABBA ABBA");
	else
		snprintf(to, DIFF_NOTE,
			 "all runs of %c came before those of %c: differences may come "
			 "from changes of the machine, and times need larger ones; run "
			 "the two in turns, ABBA ABBA",
			 side ? 'B' : 'A', side ? 'A' : 'B');
	return true;
}

/* Explains what is shown of times besides their means. */
static bool note_columns(struct noting *n, char *to)
{
	const struct diff_result *result = n->result;
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
		return false;
	snprintf(to, DIFF_NOTE, "%s%s%s%s",
		 other ? "fastest and median are of single visits" : "",
		 nested ? ", with nested regions" : "", other && adjusted ? "; " : "",
		 adjusted ? "an adjusted change leaves out how much slower or faster all "
			    "other regions were in the same runs"
			  : "");
	return true;
}

/* Returns whether ROW needs more runs than OTHER, of which 0 is more than any. */
static bool needs_more(const struct diff_row *row, const struct diff_row *other)
{
	if (!other || !other->wanted)
		return !other;
	return !row->wanted || row->wanted > other->wanted;
}

/* Says how many runs would decide what is open. */
static bool note_wanted(struct noting *n, char *to)
{
	const struct diff_result *result = n->result;
	const struct diff_row *most = NULL;
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
		return false;
	to += snprintf(
		to, DIFF_NOTE / 2,
		"to see a change of %g %% in each open region of 5 %% of the time, "
		"take %s%u runs on each side",
		100 * result->wanted, most->wanted ? "about " : "more than ",
		most->wanted ? most->wanted : DIFF_RUNS_MOST);
	if (seen > 0)
		snprintf(to, DIFF_NOTE / 2, "; these runs could have seen %.0f %%",
			 ceil(100 * seen));
	return true;
}

/* Names regions whose time has no fastest visit and no median. */
static bool note_once(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	const struct diff_result *result = n->result;
	uint32_t once = 0;
	const char *name = "";

	for (uint32_t e = 0; e < data->event_count; e++)
		if (!strcmp(data->events[e].name, "task-clock"))
			return false;
	for (uint32_t i = 0; i < result->row_count; i++) {
		const struct diff_row *row = &result->rows[i];

		if (row->quantity != DIFF_TIME || row->region == DIFF_TOTAL ||
		    row->verdict != DIFF_OPEN || !row->tested || row->visits > 1)
			continue;
		if (!once++)
			name = diff_region(data, row->region);
	}
	if (once)
		snprintf(to, DIFF_NOTE,
			 "one visit in a run: %.100s%s: its time includes that of other "
			 "programs; count task-clock, too",
			 name, once > 1 ? " and others" : "");
	return once;
}

static const struct diff_file *first_of(const struct diff_data *data, uint32_t side)
{
	for (uint32_t i = 0; i < data->file_count; i++)
		if (data->files[i].side == side)
			return &data->files[i];
	return NULL;
}

static bool note_machine(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	const char *a = first_of(data, 0)->header.host,
		   *b = first_of(data, 1)->header.host;

	if (!strcmp(a, b))
		return false;
	snprintf(to, DIFF_NOTE,
		 "A ran on %.63s and B on %.63s: all differences include those of the "
		 "machines",
		 a, b);
	return true;
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
static bool note_filters(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	static const char *const by[PERFMON_PROFILE_LEFT_OUT_KINDS] = {
		[PERFMON_PROFILE_LEFT_OUT_NAME] = "PERFMON_ONLY or PERFMON_SKIP",
		[PERFMON_PROFILE_LEFT_OUT_DEPTH] = "PERFMON_DEPTH",
		[PERFMON_PROFILE_LEFT_OUT_MEAN] = "PERFMON_MIN_MEAN",
	};
	size_t used = (size_t)snprintf(to, DIFF_NOTE, "the sides had different filters:");
	bool any = false;

	for (uint32_t why = 0; why < PERFMON_PROFILE_LEFT_OUT_KINDS; why++) {
		uint64_t a = left_out(data, 0, why), b = left_out(data, 1, why);

		if (!a == !b)
			continue;
		used += (size_t)snprintf(to + used, DIFF_NOTE - used,
					 "%s only %c left out visits by %s (%" PRIu64 ")",
					 any ? "," : "", a ? 'A' : 'B', by[why],
					 a ? a : b);
		any = true;
	}
	snprintf(to + used, DIFF_NOTE - used,
		 ": their values are in the regions around them");
	return any;
}

static bool note_events(const struct diff_data *data, uint32_t side, char *to)
{
	size_t used =
		(size_t)snprintf(to, DIFF_NOTE, "only %c counted", side ? 'B' : 'A');
	bool any = false;

	for (uint32_t e = 0; e < data->event_count; e++) {
		if (!data->events[e].there[side] || data->events[e].there[!side])
			continue;
		if (used < DIFF_NOTE)
			used += (size_t)snprintf(to + used, DIFF_NOTE - used, "%s %s",
						 any ? "," : "", data->events[e].name);
		any = true;
	}
	if (used < DIFF_NOTE)
		snprintf(to + used, DIFF_NOTE - used,
			 ": the other side did not, or counted another event of the same "
			 "name");
	return any;
}

static bool note_clock(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	bool ticks = false;

	for (uint32_t i = 0; i < data->file_count; i++)
		ticks |= data->files[i].ticks && !data->exact;
	if (ticks)
		snprintf(to, DIFF_NOTE,
			 "times were not compared: a profile has ticks of a clock of "
			 "unknown rate");
	return ticks;
}

static bool note_files(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	uint32_t running = 0, partial = 0;
	const char *one = "";

	for (uint32_t i = 0; i < data->file_count; i++) {
		running += !data->files[i].ended;
		partial += data->files[i].partial;
		if (!data->files[i].ended || data->files[i].partial)
			one = data->files[i].path;
	}
	if (!running && !partial)
		return false;
	snprintf(to, DIFF_NOTE,
		 "programs without a normal end: %u; incomplete profiles: %u: %.200s%s",
		 running, partial, one, running + partial > 1 ? " and others" : "");
	return true;
}

/* No note is needed about built-in metrics, which depend on the available events. */
static bool note_metrics(struct noting *n, char *to)
{
	const struct diff_data *data = n->data;
	const struct diff_result *result = n->result;
	size_t used = (size_t)snprintf(to, DIFF_NOTE,
				       "not all of their events were counted: no metric");
	bool any = false;

	for (uint32_t m = 0; data->metrics && m < data->metrics->count; m++) {
		bool there = data->metrics->metrics[m].heading;

		for (uint32_t i = 0; i < result->metric_count && !there; i++)
			there = result->metrics[i].metric == m;
		if (there)
			continue;
		if (used < DIFF_NOTE)
			used += (size_t)snprintf(to + used, DIFF_NOTE - used, "%s %s",
						 any ? "," : "",
						 data->metrics->metrics[m].name);
		any = true;
	}
	return any;
}

static bool note_common(struct noting *n, char *to)
{
	const struct diff_result *result = n->result;

	if (result->row_count != result->by[DIFF_ONE_SIDE])
		return false;
	snprintf(to, DIFF_NOTE, "A and B have nothing in common");
	return true;
}

static bool note_events_a(struct noting *n, char *to)
{
	return note_events(n->data, 0, to);
}

static bool note_events_b(struct noting *n, char *to)
{
	return note_events(n->data, 1, to);
}

const char *diff_note(const struct diff_data *data, const struct diff_result *result,
		      const struct diff_options *options, uint32_t i,
		      char buffer[DIFF_NOTE])
{
	static bool (*const notes[])(struct noting * n, char *to) = {
		note_common,  note_too_few,  note_taken,    note_order,
		note_machine, note_events_a, note_events_b, note_clock,
		note_files,   note_exact,    note_agree,    note_metrics,
		note_columns, note_wanted,   note_once,	    note_filters,
	};
	struct noting n = {data, result, options, i};

	for (size_t kind = 0; kind < sizeof(notes) / sizeof(notes[0]); kind++)
		if (notes[kind](&n, buffer) && !is_before(&n))
			return buffer;
	return NULL;
}
