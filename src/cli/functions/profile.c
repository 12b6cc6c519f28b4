/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cli/functions/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/clock.h"
#include "core/kernel/machine_id.h"
#include "core/report/output/file.h"
#include "core/settings/job.h"
#include "core/settings/run_note.h"
#include "core/topology/topology.h"

#define PROGRAM_REGION 1u /* regions of functions follow */

/* --- the process --------------------------------------------------------------------- */

/* Writes the path of TREE's program, the end of it if it is longer. */
static void fill_program(const struct tree *tree, char *program, size_t size)
{
	const char *text = tree->main < tree->object_count ? tree->objects[tree->main]
							   : tree->program;
	size_t length = strlen(text);

	snprintf(program, size, "%s", text + (length < size ? 0 : length - size + 1));
}

static void fill_header(const struct profile_source *source, const struct tree *tree,
			struct perfmon_profile_header *header)
{
	uint64_t ticks, now;

	pm_clock_both(&ticks, &now);
	header->record.type = PERFMON_PROFILE_TYPE_HEADER;
	header->magic = PERFMON_PROFILE_MAGIC;
	header->version = PERFMON_PROFILE_VERSION;
	header->state = PERFMON_PROFILE_STATE_ENDED;
	header->pid = (uint32_t)tree->pid;
	/* The process has ended, and when it began is not known: that of the run. */
	header->start_time = pm_machine_start_time();
	header->pid_namespace = pm_machine_pid_namespace();
	pm_machine_boot_id(header->boot_id, sizeof(header->boot_id));
	pm_machine_host(header->host, sizeof(header->host));
	pm_job_id(header->job, sizeof(header->job));
	fill_program(tree, header->program, sizeof(header->program));
	if (tree->pid != source->run->pid) {
		header->parent_link = PERFMON_PROFILE_LINK_FORK;
		header->parent_pid = (uint32_t)tree->parent;
		header->parent_start_time = header->start_time;
	}
	header->rank = source->options->rank;
	header->ranks = source->options->ranks;
	header->clock = PERFMON_PROFILE_CLOCK_MONOTONIC;
	header->begin_ticks = header->begin_ns = source->functions->begin_ns;
	header->end_ticks = header->end_ns = now;
	header->begin_realtime_ns = source->functions->begin_realtime_ns;
}

static int fill_arguments(const struct profile_source *source, const struct tree *tree,
			  struct pm_snapshot *s)
{
	size_t size = 0, at = 0;

	if (!source->options->arguments || !tree->is_command)
		return 0;
	for (char **word = source->run->command; *word; word++)
		size += strlen(*word) + 1;
	s->arguments = malloc(size);
	if (!s->arguments)
		return -ENOMEM;
	for (char **word = source->run->command; *word; word++)
		at += (size_t)sprintf(s->arguments + at, "%s", *word) + 1;
	s->arguments_cut = size > PERFMON_PROFILE_ARGUMENTS_MAX;
	s->arguments_length =
		s->arguments_cut ? PERFMON_PROFILE_ARGUMENTS_MAX : (uint32_t)size;
	s->arguments[s->arguments_length - 1] = '\0';
	return 0;
}

static int fill_run_notes(const struct pm_options *options, struct pm_snapshot *s)
{
	struct pm_slice rest = pm_slice_of(options->run_notes ? options->run_notes : "");
	struct pm_slice item, key, value;

	s->run_notes = calloc(1, sizeof(*s->run_notes));
	if (!s->run_notes)
		return -ENOMEM;
	while (pm_run_note_next(&rest, &item, &key, &value))
		if (pm_run_note_is_good(key, value))
			pm_run_note_set(s->run_notes, key, value);
	return 0;
}

/* --- events and names ---------------------------------------------------------------- */

static int fill_plan(const struct cli_exact_events *events, struct pm_snapshot *s)
{
	struct perfmon_profile_counter *counters;

	s->plans = calloc(1, sizeof(s->plans[0]));
	if (!s->plans)
		return -ENOMEM;
	s->plan_count = 1;
	counters = calloc(events->count, sizeof(counters[0]));
	if (!counters)
		return -ENOMEM;
	s->plans[0] = (struct pm_snapshot_plan){
		.generation = 1, .counter_count = events->count, .counters = counters};
	for (uint32_t i = 0; i < events->count; i++) {
		snprintf(counters[i].name, sizeof(counters[i].name), "%s",
			 cli_exact_label(events->event[i]));
		strcpy(counters[i].pmu, "exact");
		counters[i].scale = 1;
		counters[i].type = UINT32_MAX;
		counters[i].flags = PERFMON_PROFILE_COUNTER_EXACT;
		counters[i].config[0] = events->event[i];
		counters[i].logical = i;
	}
	s->generation = 1;
	s->counters = counters;
	s->counter_count = events->count;
	return 0;
}

/* Gives the functions of TREE's nodes the numbers of regions in REGION, and their names to S. */
static int fill_regions(const struct tree *tree, uint32_t *region, struct pm_snapshot *s)
{
	uint32_t count = PROGRAM_REGION;

	s->regions =
		calloc(tree->function_count + PROGRAM_REGION + 1, sizeof(s->regions[0]));
	if (!s->regions)
		return -ENOMEM;
	region[0] = PROGRAM_REGION;
	for (uint32_t n = 0; n < tree->node_count; n++) {
		uint32_t function = tree->nodes[n].function;

		if (function && !region[function])
			region[function] = ++count;
	}
	s->regions[0] = strdup("");
	s->regions[PROGRAM_REGION] = strdup(PROFILE_PROGRAM);
	for (uint32_t f = 1; f <= tree->function_count; f++)
		if (region[f])
			s->regions[region[f]] = strdup(tree->functions[f - 1].name);
	s->region_count = count;
	while (s->regions[count] && count)
		count--;
	return s->regions[count] ? 0 : -ENOMEM;
}

/* --- threads ------------------------------------------------------------------------- */

/* Where a node of the tree is in the profile. */
struct where {
	uint32_t thread; /* from 1; 0: that of a thread of another process */
	uint32_t number; /* in the thread */
};

static struct perfmon_profile_node *node_at(const struct pm_snapshot *s,
					    const struct where *where)
{
	const struct pm_snapshot_thread *thread = &s->threads[where->thread - 1];

	return (void *)(thread->nodes + (where->number - 1) * thread->node_size);
}

/* Numbers the nodes: the first of a thread is the thread itself. */
static struct where *number_nodes(const struct tree *tree, struct pm_snapshot *s)
{
	struct where *where = calloc(tree->node_count + 1, sizeof(where[0]));

	if (!where)
		return NULL;
	for (uint32_t i = 0; i < tree->thread_count; i++) {
		where[tree->threads[i].root].thread = i + 1;
		s->threads[i].node_count = 1;
	}
	for (uint32_t n = 1; n <= tree->node_count; n++) {
		if (tree->nodes[n - 1].parent)
			where[n].thread = where[tree->nodes[n - 1].parent].thread;
		if (where[n].thread)
			where[n].number = ++s->threads[where[n].thread - 1].node_count;
	}
	return where;
}

static int fill_thread(const struct tree_thread *from, uint32_t events,
		       struct pm_snapshot *s, struct pm_snapshot_thread *to)
{
	struct perfmon_profile_thread *record = &to->record;

	to->plan = &s->plans[0];
	to->node_size = sizeof(struct perfmon_profile_node) +
			events * sizeof(struct perfmon_profile_count);
	to->nodes = calloc(to->node_count, to->node_size);
	if (!to->nodes)
		return -ENOMEM;
	record->state = PERFMON_PROFILE_THREAD_STATE_ENDED;
	record->tid = from->lwp;
	memcpy(record->name, from->name, sizeof(record->name));
	record->begin_ticks = s->header.begin_ticks;
	record->end_ticks = s->header.end_ticks;
	record->node_count = to->node_count;
	record->node_size = (uint32_t)to->node_size;
	record->generation = 1;
	record->counters = events;
	for (uint32_t i = 0; i < events; i++)
		record->status[i] = PERFMON_PROFILE_COUNTER_STATUS_USER;
	return 0;
}

static void fill_node(const struct tree_node *from, const struct where *where, uint32_t n,
		      uint32_t region, struct pm_snapshot *s)
{
	struct perfmon_profile_node *node = node_at(s, &where[n]);
	uint64_t most = UINT32_MAX;

	node->parent = from->parent ? where[from->parent].number : 1;
	node->region = region;
	node->entered = from->visits;
	node->sequence = 2 * from->visits;
	node->time_guard = UINT64_MAX;
	node->histogram[0] = (uint32_t)(from->visits < most ? from->visits : most);
	for (uint32_t i = 0; i < s->counter_count; i++)
		node->count[i].sum = from->count[i];
}

/* Adds what each node has to the one around it. */
static void sum_up(const struct tree *tree, const struct where *where,
		   struct pm_snapshot *s)
{
	for (uint32_t n = tree->node_count; n; n--) {
		uint32_t parent = tree->nodes[n - 1].parent;
		const struct perfmon_profile_node *from;

		if (!where[n].thread || !parent)
			continue;
		from = node_at(s, &where[n]);
		for (uint32_t i = 0; i < s->counter_count; i++)
			node_at(s, &where[parent])->count[i].sum += from->count[i].sum;
	}
}

static int fill_threads(const struct tree *tree, const uint32_t *region,
			struct pm_snapshot *s)
{
	struct where *where = NULL;
	int err = -ENOMEM;

	s->threads = calloc(tree->thread_count, sizeof(s->threads[0]));
	if (s->threads)
		where = number_nodes(tree, s);
	if (!where)
		goto out;
	for (uint32_t i = 0; i < tree->thread_count; i++, s->thread_count++)
		if (fill_thread(&tree->threads[i], s->counter_count, s, &s->threads[i]))
			goto out;
	for (uint32_t n = 1; n <= tree->node_count; n++)
		if (where[n].thread)
			fill_node(&tree->nodes[n - 1], where, n,
				  region[tree->nodes[n - 1].function], s);
	sum_up(tree, where, s);
	err = 0;
out:
	free(where);
	return err;
}

/* --- all of it ------------------------------------------------------------------------ */

struct pm_snapshot *profile_make(const struct profile_source *source,
				 const struct tree *tree)
{
	const struct cli_exact_events *events = source->run->events;
	struct pm_snapshot *s = calloc(1, sizeof(*s));
	uint32_t *region = calloc(tree->function_count + 1, sizeof(region[0]));

	if (!s || !region) {
		free(s);
		free(region);
		return NULL;
	}
	fill_header(source, tree, &s->header);
	s->writer = PM_WRITER_ENDED;
	s->taken_ticks = s->header.end_ticks;
	s->tick_ns = 1;
	pm_cpu_kinds_here(&s->kinds);
	s->has_totals = true;
	memcpy(s->totals, tree->total, events->count * sizeof(s->totals[0]));
	if (fill_arguments(source, tree, s) || fill_run_notes(source->options, s) ||
	    fill_plan(events, s) || fill_regions(tree, region, s) ||
	    fill_threads(tree, region, s)) {
		pm_snapshot_free(s);
		s = NULL;
	}
	free(region);
	return s;
}

int profile_write(struct pm_snapshot *snapshot, const struct pm_options *options,
		  struct pm_diag *diag)
{
	struct pm_profile_place place;
	size_t size;
	void *data;
	int err = pm_profile_place_open(&place, options, &snapshot->header, NULL);

	if (err)
		return pm_diag_set(diag, err, "the profile cannot be written to '%s': %s",
				   options->profile_path, strerror(-err));
	err = pm_snapshot_pack(snapshot, &data, &size);
	if (!err) {
		err = pm_report_fd_write(&place.fd, data, size);
		free(data);
	}
	if (place.path[place.wanted] && !snapshot->header.parent_link)
		pm_diag_set(diag, 0,
			    "the profile is in '%s': there was a file '%.*s' before",
			    place.path, (int)place.wanted, place.path);
	if (close(place.fd) && !err)
		err = -errno;
	if (err) {
		unlink(place.path);
		pm_diag_set(diag, err, "the profile cannot be written to '%s': %s",
			    place.path, strerror(-err));
	}
	return err;
}
