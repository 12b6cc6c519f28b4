/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON. Integers are written in full: 64 bits, which some readers cannot hold. */
#include "config.h"

#include <string.h>

#include "core/packages/packages.h"
#include "core/report/cells.h"
#include "core/report/formats.h"
#include "core/report/model/times.h"

static void put_machine(struct pm_json *j, const struct pm_machine *machine)
{
	if (!pm_json_begin_known(j, "machine", machine))
		return;
	pm_json_string(j, "cpu_model", machine->cpu_model);
	pm_json_string(j, "architecture", machine->architecture);
	pm_json_string(j, "kernel", machine->kernel);
	pm_json_number(j, "packages", machine->packages);
	pm_json_number(j, "cores", machine->cores);
	pm_json_number(j, "cpus", machine->cpus);
	pm_json_close(j, "}");
}

static const char *state_name(enum pm_snapshot_writer writer)
{
	static const char *const names[] = {
		[PM_WRITER_UNKNOWN] = "unknown", [PM_WRITER_RUNS] = "running",
		[PM_WRITER_PACKED] = "running",	 [PM_WRITER_ENDED] = "ended",
		[PM_WRITER_GONE] = "died",
	};

	return names[writer];
}

/* Writes the part of the time that measuring took; null if the cost of a visit is unknown. */
static void put_cost(struct pm_json *j, const struct pm_report *report)
{
	struct pm_report_cost cost;
	bool known = !pm_report_cost(report->all, &cost) && cost.known;

	if (!pm_json_begin_known(j, "cost", known ? &cost : NULL))
		return;
	pm_json_real(j, "share", cost.part, report->all->node_count > 1);
	pm_json_real(j, "least_share", cost.part_least, report->all->node_count > 1);
	pm_json_text(j, "region", report->snapshot->regions[cost.region], cost.region);
	pm_json_real(j, "region_share", cost.region_part, cost.region);
	/* The costs of a visit in counts stand at its events. */
	pm_json_real(j, "visit_ns", cost.pair_ns,
		     cost.pair_ns > 0 && !report->model->exact);
	pm_json_real(j, "call_visit_ns", cost.call_pair_ns,
		     cost.call_pair_ns > 0 && !report->model->exact);
	pm_json_close(j, "}");
}

/* Writes the whole process's count of each event of an exact profile. */
static void put_totals(struct pm_json *j, const struct pm_report *report)
{
	const struct pm_report_model *model = report->model;

	pm_json_begin(j, "totals", "[");
	for (uint32_t e = 0; e < model->event_count; e++) {
		struct pm_report_rest rest = pm_report_rest(report->all, e);

		pm_json_begin_line(j);
		pm_json_string(j, "event", model->events[e].name);
		pm_json_known(j, "total", rest.total, rest.known);
		pm_json_known(j, "regions", rest.regions, rest.known);
		pm_json_known(j, "measuring", rest.measuring,
			      rest.known && model->subtract_bias);
		pm_json_known(j, "outside", rest.outside, rest.known);
		pm_json_bool(j, "open_visits", rest.open);
		pm_json_bool(j, "estimated", rest.about);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
}

static void put_arguments(struct pm_json *j, const struct pm_snapshot *s)
{
	const char *word = s->arguments, *end;

	if (!word) {
		pm_json_null(j, "arguments");
		return;
	}
	end = word + s->arguments_length;
	pm_json_begin(j, "arguments", "[");
	for (; word < end; word += strlen(word) + 1)
		pm_json_string(j, NULL, word);
	pm_json_close(j, "]");
	if (s->arguments_cut)
		pm_json_bool(j, "arguments_cut", true);
}

/* Keys have no character that JSON escapes. */
static void put_run_notes(struct pm_json *j, const struct pm_run_notes *notes)
{
	pm_json_begin(j, "run_notes", "{");
	for (uint32_t i = 0; notes && i < notes->count; i++)
		pm_json_text(j, notes->at[i].key, notes->at[i].value,
			     !notes->at[i].differs);
	pm_json_close(j, "}");
}

static void put_head(struct pm_json *j, const struct pm_report *report)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct perfmon_profile_header *header = &s->header;
	bool one = !report->options->merge, exact = report->model->exact;
	char date[40];

	pm_json_number(j, "format", 1);
	pm_json_string(j, "perfmon", PACKAGE_VERSION);
	pm_json_string(j, "program", header->program);
	put_arguments(j, s);
	pm_json_known(j, "pid", header->pid, one);
	pm_json_known(j, "start_time", header->start_time, one);
	pm_json_known(j, "parent_pid", header->parent_pid, one);
	pm_json_text(j, "host", header->host, one || header->host[0]);
	pm_json_text(j, "boot_id", header->boot_id, one || header->boot_id[0]);
	pm_json_text(j, "job", header->job, header->job[0]);
	pm_json_known(j, "rank", (uint64_t)header->rank, header->rank >= 0);
	pm_json_known(j, "ranks", (uint64_t)header->ranks, header->ranks > 0);
	put_run_notes(j, s->run_notes);
	pm_report_date(date, sizeof(date), header->begin_realtime_ns, true);
	pm_json_string(j, "began", date);
	pm_json_number(j, "began_realtime_ns", header->begin_realtime_ns);
	pm_json_real(j, "duration_ns", pm_report_duration(s), !exact);
	pm_json_string(j, "state", state_name(s->writer));
	pm_json_bool(j, "partial", s->partial);
	if (s->partial)
		pm_json_string(j, "problem", s->problem);
	put_machine(j, report->options->machine);
	pm_json_begin(j, "clock", "{");
	pm_json_string(j, "name",
		       header->clock == PERFMON_PROFILE_CLOCK_MONOTONIC ? "monotonic"
									: "timestamp");
	pm_json_real(j, "tick_ns", s->tick_ns, s->tick_ns > 0);
	pm_json_close(j, "}");
	pm_json_bool(j, "bias_subtracted", report->options->subtract_bias);
	if (exact) {
		pm_json_bool(j, "exact", true);
		put_totals(j, report);
	}
	put_cost(j, report);
}

static void put_unmatched(struct pm_json *j, const struct pm_snapshot *s)
{
	pm_json_begin(j, "unmatched", "[");
	for (uint32_t i = 0; i < s->unmatched_count; i++) {
		pm_json_begin_line(j);
		pm_json_string(j, "region", s->unmatched[i].name);
		pm_json_string(j, "inside", s->unmatched[i].place);
		pm_json_number(j, "count", s->unmatched[i].count);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
}

/* The processes of a merge, to which its ranges refer by number. */
static void put_processes(struct pm_json *j, const struct pm_merge *merge, bool exact)
{
	pm_json_begin(j, "processes", "[");
	for (uint32_t p = 0; p < pm_merge_process_count(merge); p++) {
		const struct pm_merge_process *process = pm_merge_process(merge, p);

		pm_json_begin_line(j);
		pm_json_known(j, "rank", (uint64_t)process->rank, process->rank >= 0);
		pm_json_number(j, "pid", process->pid);
		pm_json_string(j, "host", pm_merge_host(merge, process->host));
		pm_json_string(j, "state", state_name(process->writer));
		pm_json_bool(j, "partial", process->partial);
		pm_json_number(j, "threads", process->threads);
		pm_json_real(j, "duration_ns", process->duration_ns, !exact);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
}

/* Writes the cost of a visit, in counts. */
static void put_visit_cost(struct pm_json *j, const struct perfmon_profile_cost *cost)
{
	bool user = cost->known & PERFMON_PROFILE_COST_USER;
	bool call = cost->known & PERFMON_PROFILE_COST_CALL;

	pm_json_known(j, "bias", cost->bias, user);
	pm_json_known(j, "visit_cost", cost->pair, user);
	pm_json_known(j, "call_visit_cost", cost->call_pair, call);
	pm_json_known(j, "call_bias", cost->call_bias, call);
}

static void put_counter(struct pm_json *j, const struct perfmon_profile_counter *counter)
{
	pm_json_begin(j, NULL, "{");
	pm_json_string(j, "name", counter->name);
	pm_json_string(j, "pmu", counter->pmu);
	pm_json_number(j, "type", counter->type);
	pm_json_begin(j, "config", "[");
	for (int i = 0; i < 3; i++)
		pm_json_number(j, NULL, counter->config[i]);
	pm_json_close(j, "]");
	pm_json_bool(j, "hardware", counter->flags & PERFMON_PROFILE_COUNTER_HARDWARE);
	pm_json_signed(j, "error", counter->error);
	put_visit_cost(j, &counter->cost);
	pm_json_close(j, "}");
}

static void put_erratum(struct pm_json *j, const struct pm_erratum *erratum)
{
	if (!pm_json_begin_known(j, "erratum", erratum))
		return;
	pm_json_string(j, "number", erratum->number);
	pm_json_string(j, "document", erratum->document);
	pm_json_string(j, "effect", erratum->effect);
	pm_json_close(j, "}");
}

/* Whom the counts of a package belong to. */
static void put_package(struct pm_json *j, const struct pm_report *report,
			const struct pm_report_event *event)
{
	const struct perfmon_profile_packages *packages = &report->snapshot->packages;
	bool machine = event->first->flags & PERFMON_PROFILE_COUNTER_MACHINE;
	bool one = !report->options->merge;
	enum pm_packages_who who =
		pm_packages_who(machine, packages->own_ns, packages->busy_ns);

	if (!pm_json_begin_known(j, "package", event->package ? event : NULL))
		return;
	pm_json_text(j, "place", packages->place, one && packages->place[0]);
	pm_json_string(j, "attribution",
		       one ? pm_packages_who_name(who) : "one process a host");
	pm_json_known(j, "own_cpu_ns", packages->own_ns, one && packages->busy_ns);
	pm_json_known(j, "busy_cpu_ns", packages->busy_ns, one && packages->busy_ns);
	pm_json_known(j, "resolution_ns", PM_PACKAGES_ENERGY_NS, event->is_energy);
	pm_json_close(j, "}");
}

static void put_events(struct pm_json *j, const struct pm_report *report)
{
	const struct pm_report_model *model = report->model;
	const struct pm_snapshot *s = report->snapshot;

	pm_json_begin(j, "events", "[");
	for (uint32_t e = 0; e < model->event_count; e++) {
		const struct pm_report_event *event = &model->events[e];
		bool done = false;

		pm_json_begin(j, NULL, "{");
		pm_json_string(j, "name", event->name);
		pm_json_string(j, "unit", event->first->unit);
		pm_json_real(j, "scale", event->first->scale, true);
		pm_json_text(j, "quantity",
			     !pm_report_is_largest(event) ? "sum"
			     : event->quantity_flags & PERFMON_PROFILE_NODE_MAXIMUM
				     ? "maximum"
				     : "last",
			     event->quantity);
		pm_json_bool(j, "kernel_only", event->kernel_only);
		put_package(j, report, event);
		pm_json_bool(j, "refused", event->refused == event->parts);
		pm_json_string(j, "read",
			       event->user_read && event->syscall_read ? "both"
			       : event->user_read		       ? "user"
			       : event->syscall_read		       ? "syscall"
								       : "none");
		pm_json_bool(j, "joined", event->joined);
		put_visit_cost(j, &event->cost);
		put_erratum(j, event->erratum);
		pm_json_begin(j, "counters", "[");
		/* Those of the first plan that has the event. */
		for (uint32_t p = 0; p < s->plan_count && !done; p++) {
			for (uint32_t c = 0; c < s->plans[p].counter_count; c++) {
				if (model->event_of[p][c] != e)
					continue;
				put_counter(j, &s->plans[p].counters[c]);
				done = true;
			}
		}
		pm_json_close(j, "]");
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
	pm_json_begin(j, "ratios", "[");
	for (uint32_t m = 0; m < model->metric_count; m++) {
		const struct pm_metric *metric = model->metrics[m].metric;

		pm_json_begin(j, NULL, "{");
		pm_json_string(j, "name", metric->name);
		pm_json_string(j, "meaning",
			       metric->meaning ? metric->meaning : metric->formula);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
	pm_json_begin(j, "metrics", "[");
	for (uint32_t m = 0; m < model->metric_count; m++) {
		const struct pm_metric *metric = model->metrics[m].metric;

		pm_json_begin(j, NULL, "{");
		pm_json_string(j, "name", metric->name);
		pm_json_string(j, "formula", metric->formula);
		pm_json_string(j, "unit", metric->unit);
		pm_json_bool(j, "built_in", metric->heading != NULL);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
}

/* From the top down. */
static void put_hottest(struct pm_json *j, const struct pm_report_tree *tree)
{
	uint32_t line[PM_PATH_NODES];
	uint32_t count = pm_report_path(tree, pm_report_hottest(tree), SIZE_MAX, line);

	pm_json_begin(j, "hottest_path", "[");
	for (uint32_t i = 0; i < count; i++)
		pm_json_number(j, NULL, line[i]);
	pm_json_close(j, "]");
}

static int put_groups(struct pm_json *j, const struct pm_report *report)
{
	const struct pm_report_groups *groups = &report->groups;
	int err;

	if (!groups->count)
		return 0;
	pm_json_string(j, "level", pm_level_name(groups->level));
	pm_json_begin(j, "groups", "[");
	for (uint32_t g = 0; g < groups->count; g++) {
		const struct pm_report_group *group = &groups->groups[g];
		struct pm_report_tree tree;

		err = pm_report_tree_make(&tree, report->model, group->threads,
					  group->count);
		if (err)
			return err;
		pm_json_begin_line(j);
		pm_json_string(j, "name", group->name);
		pm_json_string(j, "cpus", group->cpus);
		pm_json_number(j, "threads", group->weight);
		pm_json_nodes(j, report, &tree);
		pm_json_close(j, "}");
		pm_report_tree_free(&tree);
	}
	pm_json_close(j, "]");
	return 0;
}

static void put_thread(struct pm_json *j, const struct pm_report *report, uint32_t t)
{
	const struct pm_snapshot *s = report->snapshot;
	const struct pm_snapshot_thread *thread = &s->threads[t];
	const struct perfmon_profile_thread *record = &thread->record;
	bool aggregate = record->state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE;
	bool timed = !aggregate && !report->model->exact;
	char cpus[8 * PERFMON_PROFILE_CPUS_MAX];

	pm_json_known(j, "tid", record->tid, !aggregate);
	pm_json_string(j, "name", record->name);
	pm_json_string(j, "state", pm_report_thread_state(thread));
	pm_json_string(j, "cpus", pm_report_cpus(record, cpus, sizeof(cpus)));
	pm_json_number(j, "threads", aggregate ? record->aggregated : 1);
	pm_json_real(j, "begin_ns",
		     pm_snapshot_ns(s, (double)pm_less(record->begin_ticks,
						       s->header.begin_ticks)),
		     timed);
	pm_json_real(j, "lifetime_ns", pm_report_lifetime(s, thread), timed);
	pm_json_number(j, "torn", thread->torn);
	pm_json_begin(j, "status", "[");
	for (uint32_t c = 0; thread->plan && c < thread->plan->counter_count; c++) {
		pm_json_signed(j, NULL, record->status[c]);
	}
	pm_json_close(j, "]");
}

static int put_threads(struct pm_json *j, const struct pm_report *report)
{
	int err;

	pm_json_begin(j, "threads", "[");
	for (uint32_t t = 0; t < report->snapshot->thread_count; t++) {
		pm_json_begin_line(j);
		put_thread(j, report, t);
		if (report->options->per_thread) {
			struct pm_report_tree tree;

			err = pm_report_tree_make(&tree, report->model, &t, 1);
			if (err)
				return err;
			pm_json_nodes(j, report, &tree);
			pm_report_tree_free(&tree);
		}
		pm_json_close(j, "}");
	}
	pm_json_close(j, "]");
	return 0;
}

static void put_left_out(struct pm_json *j, const struct pm_snapshot *s)
{
	struct pm_left_out kinds[PM_LEFT_OUT];

	pm_report_left_out(s, kinds);
	pm_json_begin(j, "left_out", "{");
	for (int i = 0; i < PM_LEFT_OUT; i++) {
		pm_json_begin(j, kinds[i].key, "{");
		pm_json_number(j, "visits", kinds[i].visits);
		pm_json_known(j, "regions", kinds[i].regions, kinds[i].regions);
		pm_json_close(j, "}");
	}
	pm_json_close(j, "}");
}

int pm_report_json(const struct pm_report *report, struct pm_out *out)
{
	struct pm_json j = {.out = out, .first = true};
	struct pm_lost lost[PM_LOST];
	const char *note;
	int err;

	pm_json_begin(&j, NULL, "{");
	put_head(&j, report);
	if (report->options->merge)
		put_processes(&j, report->options->merge, report->model->exact);
	put_events(&j, report);
	pm_json_nodes(&j, report, report->all);
	put_hottest(&j, report->all);
	err = put_groups(&j, report) ?: put_threads(&j, report) ?: pm_json_steps(&j, report);
	if (err)
		return err;
	pm_json_begin(&j, "lost", "{");
	pm_report_lost(report->snapshot, lost);
	for (uint32_t i = 0; i < PM_LOST; i++)
		pm_json_number(&j, lost[i].key, lost[i].count);
	put_unmatched(&j, report->snapshot);
	pm_json_close(&j, "}");
	put_left_out(&j, report->snapshot);
	pm_json_begin(&j, "notes", "[");
	if (report->model->exact)
		pm_json_string(&j, NULL, PM_REPORT_EXACT);
	for (uint32_t i = 0; (note = pm_report_note(report, i)); i++) {
		pm_json_string(&j, NULL, note);
	}
	pm_json_close(&j, "]");
	pm_json_close(&j, "}");
	pm_out_text(out, "\n");
	return 0;
}
