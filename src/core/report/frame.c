/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines around the table of a text report: the profile's origin, the cost of measuring,
 * notes, and missing visits. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/packages/packages.h"
#include "core/report/formats.h"
#include "core/report/model/times.h"
#include "core/report/model/value.h"
#include "core/report/output/escape.h"
#include "core/report/output/number.h"
#include "core/text/bytes.h"

/* Longer arguments are shown by their beginning and their end. */
#define ARGUMENTS_WIDTH 300

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

uint32_t pm_report_lost(const struct pm_snapshot *s, struct pm_lost lost[PM_LOST])
{
	static const struct pm_lost kinds[PM_LOST] = {
		{0, "first_in_handler",
		 "visits are missing: a signal handler was the first to use regions in "
		 "its thread"},
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

		lost[2].count = pm_plus(lost[2].count, record->lost_unnamed);
		lost[3].count = pm_plus(lost[3].count, record->lost_in_handler);
		lost[4].count = pm_plus(lost[4].count, record->lost_too_deep);
		lost[5].count = pm_plus(lost[5].count, record->lost_no_memory);
		lost[6].count = pm_plus(lost[6].count, record->lost_other);
		lost[7].count = pm_plus(lost[7].count, record->unmatched_ends);
	}
	return PM_LOST;
}

static void plural(struct pm_out *out, uint64_t n, const char *what)
{
	pm_out_format(out, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

static void head_machine(const struct pm_machine *machine, struct pm_out *out)
{
	pm_out_text(out, "  machine  ");
	pm_out_plain(out,
		     machine->cpu_model[0] ? machine->cpu_model : machine->architecture,
		     0);
	if (machine->packages) {
		pm_out_text(out, ", ");
		plural(out, machine->packages, "package");
	}
	if (machine->cores) {
		pm_out_text(out, ", ");
		plural(out, machine->cores, "core");
	}
	if (machine->cpus) {
		pm_out_text(out, ", ");
		plural(out, machine->cpus, "CPU");
	}
	if (machine->kernel[0]) {
		pm_out_text(out, ", Linux ");
		pm_out_plain(out, machine->kernel, 0);
	}
	pm_out_text(out, "\n");
}

#define BOTH (PERFMON_PROFILE_COST_USER | PERFMON_PROFILE_COST_CALL)

static void head_bias(const struct pm_report_event *event, const char *between,
		      struct pm_out *out)
{
	unsigned long long user = event->cost.bias, call = event->cost.call_bias;

	if (event->cost.known & PERFMON_PROFILE_COST_USER)
		pm_out_format(out, "%san empty region counts %llu", between, user);
	else if (event->cost.known)
		pm_out_format(out, "%san empty region counts %llu", between, call);
	if ((event->cost.known & BOTH) == BOTH &&
	    !(event->first->flags & PERFMON_PROFILE_COUNTER_EXACT))
		pm_out_format(out, ", %llu if read by read(2)", call);
}

/* Whose the counts of EVENT are. */
static void head_package(const struct pm_report *report,
			 const struct pm_report_event *event, struct pm_out *out)
{
	const struct perfmon_profile_packages *packages = &report->snapshot->packages;
	bool machine = event->first->flags & PERFMON_PROFILE_COUNTER_MACHINE;
	char text[96];

	pm_out_text(out, ": ");
	pm_out_plain(out, event->first->unit[0] ? event->first->unit : "count", 0);
	pm_out_text(out, " of ");
	if (report->options->merge) {
		pm_out_text(out, "packages, by the first process of each host alone");
	} else {
		pm_packages_who_text(
			pm_packages_who(machine, packages->own_ns, packages->busy_ns),
			packages->own_ns, packages->busy_ns, text, sizeof(text));
		pm_out_plain(out,
			     machine		  ? "the machine"
			     : packages->place[0] ? packages->place
						  : "packages",
			     0);
		pm_out_format(out, " while a thread was in the region, %s", text);
	}
	if (event->is_energy)
		pm_out_text(out, "; moves about every 1 ms");
	pm_out_text(out, "\n");
}

static void head_event(const struct pm_report *report,
		       const struct pm_report_event *event, struct pm_out *out)
{
	const char *between = ": ";

	pm_out_text(out, "           ");
	pm_out_plain(out, event->name, 0);
	if (event->refused == event->parts && event->parts) {
		pm_out_format(out, ": refused");
		if (event->first->error)
			pm_out_format(out, " (%s)", strerror(-event->first->error));
		pm_out_text(out, "\n");
		return;
	}
	if (event->quantity) {
		pm_out_text(out, ": said by the program\n");
		return;
	}
	if (event->package) {
		head_package(report, event, out);
		return;
	}
	if (event->parts > 1) {
		pm_out_format(out, "%ssum over %u kinds of core", between, event->parts);
		between = ", ";
	}
	if (event->first->flags & PERFMON_PROFILE_COUNTER_EXACT) {
		pm_out_format(out, "%scounted by translation", between);
		between = ", ";
	} else if (event->user_read || event->syscall_read) {
		pm_out_format(out, "%sread %s", between,
			      !event->syscall_read ? "in user space"
			      : event->user_read
				      ? "in user space, in some threads by read(2)"
				      : "by read(2)");
		between = ", ";
	}
	if (event->kernel_only) {
		pm_out_format(out, "%shappens in the kernel alone", between);
		between = ", ";
	}
	head_bias(event, between, out);
	if (event->cost.known && report->options->subtract_bias)
		pm_out_text(out, " (subtracted)");
	pm_out_text(out, "\n");
}

/* Returns true if METRIC divides a quantity by the time, which is that of all threads. */
static bool is_rate(const struct pm_report_model *model,
		    const struct pm_report_metric *metric)
{
	bool quantity = false, time = false;

	for (uint32_t i = 0; i < metric->metric->input_count; i++) {
		quantity |= metric->events[i] != PM_NO_EVENT &&
			    model->events[metric->events[i]].quantity;
		time |= metric->metric->inputs[i].kind == PM_METRIC_TIME ||
			metric->metric->inputs[i].kind == PM_METRIC_ON_CPU;
	}
	return quantity && time;
}

static void head_rates(const struct pm_report *report, struct pm_out *out)
{
	const struct pm_report_model *model = report->model;
	const char *head = "  rates    ";

	for (uint32_t m = 0; report->all->threads > 1 && m < model->metric_count; m++) {
		if (!is_rate(model, &model->metrics[m]))
			continue;
		pm_out_text(out, head);
		head = ", ";
		pm_out_plain(out, pm_report_metric_heading(&model->metrics[m]), 0);
	}
	if (*head == ',')
		pm_out_text(out, ": of one thread, on average\n");
}

/* From this share on, which automatic strides have by default, it is said what to do. */
#define MUCH 0.05

/* Writes the cost of a visit: VALUE is a time or, of an exact profile, a count. */
static void head_visit(const struct pm_report_model *model, double value,
		       struct pm_out *out)
{
	char cell[PM_CELL];

	if (model->exact) {
		pm_cell_fixed(cell, value, 0);
		pm_out_format(out, "a visit takes about %s ", cell);
		pm_out_plain(out, model->events[0].name, 40);
	} else {
		pm_cell_time(cell, value);
		pm_out_format(out, "a visit takes about %s", cell);
	}
}

/* Writes the cost of measuring, and how to lower it. */
static void head_cost(const struct pm_report *report, struct pm_out *out)
{
	const char *weight = pm_report_weight_name(report->model);
	struct pm_report_cost cost;
	double least, most, passed;
	bool calls;

	if (pm_report_cost(report->all, &cost) || !cost.known ||
	    report->all->node_count < 2)
		return;
	calls = cost.calls && cost.call_pair_ns > 0;
	pm_out_text(out, "  cost     ");
	head_visit(report->model, calls ? cost.call_pair_ns : cost.pair_ns, out);
	if (calls)
		pm_out_text(out, " by read(2)");
	if (cost.part < 0.01) {
		pm_out_text(out, "; measuring took less than 1 % of ");
		pm_out_plain(out, weight, 0);
		pm_out_text(out, "\n");
		return;
	}
	least = floor(100 * cost.part_least);
	most = ceil(100 * cost.part);
	if (most - least <= 1)
		pm_out_format(out, "; measuring took about %.0f %% of ", 100 * cost.part);
	else
		pm_out_format(out, "; measuring took %.0f to %.0f %% of ", least, most);
	pm_out_plain(out, weight, 0);
	pm_out_text(out, ", most of it in ");
	pm_out_plain(out, report->snapshot->regions[cost.region], 48);
	pm_out_text(out, "\n");
	if (cost.part < MUCH || report->model->sampled)
		return;
	/* A stride would make estimates of exact counts. */
	if (report->model->exact) {
		if (!report->options->subtract_bias)
			pm_out_text(out,
				    "           PERFMON_BIAS=subtract takes it out\n");
		return;
	}
	/* A visit that is passed over costs a third of a measured one at most. */
	passed = cost.part / 3 / (1 - cost.part * 2 / 3);
	if (passed <= MUCH)
		pm_out_text(out, "           PERFMON_STRIDE=auto keeps it below 5 %");
	else
		pm_out_format(
			out,
			"           PERFMON_STRIDE=auto brings it to %.0f %% or less",
			fmin(100, 100 * passed + 1));
	pm_out_text(out, report->options->subtract_bias
				 ? "\n"
				 : ", PERFMON_BIAS=subtract takes it out\n");
}

static void head_threads(const struct pm_report *report, struct pm_out *out)
{
	const struct pm_snapshot *s = report->snapshot;
	uint64_t live = 0, ended = 0, summed = 0;

	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct perfmon_profile_thread *record = &s->threads[t].record;

		if (record->state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE)
			summed += record->aggregated;
		else if (record->state == PERFMON_PROFILE_THREAD_STATE_LIVE)
			live++;
		else
			ended++;
	}
	pm_out_format(out, "  threads  %llu",
		      (unsigned long long)(live + ended + summed));
	/* Those of a merge are summed, whether they have ended or not. */
	if (ended + summed && !report->options->merge)
		pm_out_format(out, " (%llu ended)", (unsigned long long)(ended + summed));
	if (live + ended + summed > 1)
		pm_out_text(out, report->model->exact
					 ? ", counts are summed over them"
					 : ", times and counts are summed over them");
	pm_out_text(out, "\n");
}

static void head_clock(const struct pm_snapshot *s, struct pm_out *out)
{
	char rate[PM_CELL];

	pm_out_text(out, "  clock    ");
	if (s->header.clock == PERFMON_PROFILE_CLOCK_MONOTONIC) {
		pm_out_text(out, "CLOCK_MONOTONIC\n");
	} else if (s->tick_ns > 0) {
		pm_cell_unit(rate, 1e9 / s->tick_ns, "Hz");
		pm_out_format(out, "timestamp counter, %s\n", rate);
	} else {
		pm_out_text(out,
			    "timestamp counter of unknown rate: times are in ticks\n");
	}
}

/* Whose profile it is. */
static void head_process(const struct perfmon_profile_header *header, struct pm_out *out)
{
	pm_out_format(out, ", pid %u", header->pid);
	if (header->host[0]) {
		pm_out_text(out, " on ");
		pm_out_plain(out, header->host, 0);
	}
	if (header->rank >= 0)
		pm_out_format(out, ", rank %d", header->rank);
	if (header->rank >= 0 && header->ranks > 0)
		pm_out_format(out, " of %d", header->ranks);
}

static void head_processes(const struct pm_merge *merge, struct pm_out *out)
{
	int32_t ranks = pm_merge_sum(merge)->header.ranks;
	uint32_t count = pm_merge_process_count(merge);

	pm_out_format(out, ", %u %s%s", count,
		      pm_merge_has_ranks(merge) ? "rank" : "process",
		      count == 1		  ? ""
		      : pm_merge_has_ranks(merge) ? "s"
						  : "es");
	if (pm_merge_has_ranks(merge) && ranks > 0)
		pm_out_format(out, " of %d", ranks);
	pm_out_text(out, " on ");
	if (pm_merge_host_count(merge) > 1)
		plural(out, pm_merge_host_count(merge), "host");
	else
		pm_out_plain(out, pm_merge_host(merge, 0), 0);
}

/* WORD as a shell takes it: in quotes where it must be. */
static void put_word(struct pm_bytes *line, const char *word)
{
	const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01234567"
			    "89_-+=:,./@%";
	bool quoted = !*word || word[strspn(word, plain)];

	pm_bytes_add(line, "'", quoted);
	for (; *word; word++) {
		if (*word == '\'')
			pm_bytes_add(line, "'\\''", 4);
		else
			pm_bytes_add(line, word, 1);
	}
	pm_bytes_add(line, "'", quoted);
}

/* How the program was called, if that says more than its name. */
static void head_arguments(const struct pm_snapshot *s, struct pm_out *out)
{
	const char *word = s->arguments, *end;
	struct pm_bytes line = {0};

	if (!word || strlen(word) + 1 >= s->arguments_length)
		return;
	end = word + s->arguments_length;
	for (; word < end; word += strlen(word) + 1) {
		pm_bytes_add(&line, " ", word != s->arguments);
		put_word(&line, word);
	}
	pm_bytes_add(&line, " ...", s->arguments_cut ? 4 : 0);
	pm_bytes_add(&line, "", 1);
	if (!line.failed) {
		pm_out_text(out, "\n  command  ");
		pm_out_plain(out, (const char *)line.data, ARGUMENTS_WIDTH);
	}
	pm_bytes_free(&line);
}

/* Writes what the program or its user has said of the run. */
static void head_run_notes(const struct pm_run_notes *notes, struct pm_out *out)
{
	for (uint32_t i = 0; notes && i < notes->count; i++) {
		const struct pm_run_note *note = &notes->at[i];

		pm_out_text(out, i ? ", " : "\n  noted    ");
		pm_out_plain(out, note->key, 0);
		pm_out_text(out, note->differs ? " differs" : "=");
		pm_out_plain(out, note->differs ? "" : note->value, 0);
	}
}

void pm_report_text_head(const struct pm_report *report, struct pm_out *out)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct perfmon_profile_header *header = &s->header;
	char date[40], time[PM_CELL];

	pm_out_fold(out, out->columns, 11);
	pm_out_text(out, "perfmon " PACKAGE_VERSION ": ");
	/* A path has no blanks to be broken at. */
	pm_out_plain(out, header->program, out->columns ? out->columns - 16 : 0);
	if (report->options->merge)
		head_processes(report->options->merge, out);
	else
		head_process(header, out);
	head_arguments(s, out);
	if (header->job[0]) {
		pm_out_text(out, "\n  job      ");
		pm_out_plain(out, header->job, 0);
	}
	head_run_notes(s->run_notes, out);
	pm_report_date(date, sizeof(date), header->begin_realtime_ns, false);
	pm_cell_time(time, pm_report_duration(s));
	if (report->model->exact)
		pm_out_format(out, "\n  began    %s\n  exact    " PM_REPORT_EXACT "\n",
			      date[0] ? date : "-");
	else
		pm_out_format(out, "\n  began    %s%s%s%s\n", date, date[0] ? ", " : "",
			      pm_report_time_is_known(s) ? "" : "at least ", time);
	if (report->options->machine)
		head_machine(report->options->machine, out);
	if (!report->model->exact)
		head_clock(s, out);
	head_threads(report, out);
	if (report->model->event_count)
		pm_out_text(out,
			    report->options->format == PM_FORMAT_FLAT
				    ? "  events   exclusive, without nested regions\n"
				    : "  events   inclusive, with nested regions\n");
	else
		pm_out_text(out, "  events   none\n");
	for (uint32_t e = 0; e < report->model->event_count; e++)
		head_event(report, &report->model->events[e], out);
	head_rates(report, out);
	head_cost(report, out);
	pm_out_text(out, "\n");
	pm_out_fold_end(out);
}

/* So many sentences of a kind; the rest is counted. */
#define SENTENCES_MOST 8

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
			pm_out_format(out, "%s  short: ", *head);
			*head = "";
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
			pm_out_format(out, "%s  implausible: ", *head);
			*head = "";
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

void pm_report_text_sanity(const struct pm_report *report, struct pm_out *out)
{
	const char *head = "\n";

	pm_out_fold(out, out->columns, 4);
	sanity_short(report, out, &head);
	sanity_ratios(report, out, &head);
	for (uint32_t e = 0; e < report->model->event_count; e++) {
		const struct pm_report_event *event = &report->model->events[e];

		if (!event->erratum)
			continue;
		pm_out_format(out, "%s  erratum: ", head);
		head = "";
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
		pm_out_format(out, "%s  left out: ", *head);
		*head = "";
		plural(out, kinds[i].visits, "visit");
		if (kinds[i].regions) {
			pm_out_text(out, " of ");
			plural(out, kinds[i].regions, "region");
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

	pm_out_fold(out, out->columns, 4);
	for (uint32_t i = 0; (text = pm_report_note(report, i)); i++) {
		pm_out_format(out, "%s  note: ", head);
		pm_out_plain(out, text, 0);
		pm_out_text(out, "\n");
		head = "";
	}
	for (uint32_t p = 0; p < s->plan_count; p++) {
		known_cost |= s->plans[p].time.known;
		for (uint32_t c = 0; c < s->plans[p].counter_count; c++)
			known_cost |= s->plans[p].counters[c].cost.known;
	}
	if (report->options->subtract_bias) {
		pm_out_format(out, "%s  note: %s\n", head,
			      known_cost && report->model->exact
				      ? "counts exclude what measuring added, by the "
					"least cost of a visit at start-up"
			      : known_cost
				      ? "times and counts exclude what measuring added, "
					"by the least cost of a visit at start-up"
				      : "cannot subtract what measuring added: it was "
					"not measured");
		head = "";
	}
	for (uint32_t i = 0; i < pm_report_lost(s, lost); i++) {
		if (!lost[i].count || !lost[i].text)
			continue;
		pm_out_format(out, "%s  lost: %llu %s\n", head,
			      (unsigned long long)lost[i].count, lost[i].text);
		head = "";
	}
	pm_report_text_unclosed(report, lost[PM_LOST - 1].count, &head, out);
	left_out(s, &head, out);
	if (s->partial) {
		pm_out_format(out, "%s  partial: ", head);
		pm_out_plain(out, s->problem, 0);
		pm_out_text(out, "\n");
	}
	pm_out_fold_end(out);
}
