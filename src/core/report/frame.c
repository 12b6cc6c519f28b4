/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines above the table of a text report: the profile's origin and the cost of measuring. */
#include "config.h"

#include <math.h>
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

static void head_machine(const struct pm_machine *machine, struct pm_out *out)
{
	const struct {
		uint64_t count;
		const char *noun;
	} parts[] = {{machine->packages, "package"},
		     {machine->cores, "core"},
		     {machine->cpus, "CPU"}};

	pm_out_text(out, "  machine  ");
	pm_out_plain(out,
		     machine->cpu_model[0] ? machine->cpu_model : machine->architecture,
		     0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].count)
			continue;
		pm_out_text(out, ", ");
		pm_out_plural(out, parts[i].count, parts[i].noun);
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
		pm_out_plural(out, pm_merge_host_count(merge), "host");
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
