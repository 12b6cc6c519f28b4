/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/report/merge/merge.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/merge/parts.h"
#include "core/report/model/times.h"
#include "core/text/grow.h"

int pm_merge_create(struct pm_merge **out, bool subtract_bias)
{
	struct pm_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return -ENOMEM;
	merge->subtract_bias = subtract_bias;
	merge->sum = calloc(1, sizeof(*merge->sum));
	if (merge->sum)
		merge->sum->regions = calloc(1, sizeof(*merge->sum->regions));
	if (merge->sum && merge->sum->regions)
		merge->sum->regions[0] = strdup("");
	if (!merge->sum || !merge->sum->regions || !merge->sum->regions[0]) {
		pm_merge_free(merge);
		return -ENOMEM;
	}
	*out = merge;
	return 0;
}

static void ranges_free(struct pm_merge_ranges *ranges)
{
	pm_pairs_free(&ranges->numbers);
	free(ranges->path);
	free(ranges->cells);
}

void pm_merge_free(struct pm_merge *merge)
{
	if (!merge)
		return;
	pm_snapshot_free(merge->sum);
	free(merge->node_room);
	tdestroy(merge->names, free);
	ranges_free(&merge->paths);
	ranges_free(&merge->regions);
	for (uint32_t i = 0; i < merge->event_count; i++)
		free(merge->events[i].open.at);
	free(merge->events);
	free(merge->everyone.at);
	free(merge->processes);
	for (uint32_t i = 0; i < merge->host_count; i++)
		free(merge->hosts[i]);
	free(merge->hosts);
	free(merge->boots);
	for (uint32_t i = 0; i < merge->note_count; i++)
		free(merge->notes[i].text);
	free(merge->notes);
	free(merge);
}

/* --- names -------------------------------------------------------------------------- */

/* A region of the sum. A tree that stays balanced has no worst case that a profile could choose. */
struct name {
	uint32_t id;
	const char *text; /* in the sum's regions */
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static bool same_code(const struct pm_snapshot_code *a, const struct pm_snapshot_code *b)
{
	return a->offset == b->offset && !strcmp(a->build_id, b->build_id) &&
	       !strcmp(a->path, b->path);
}

/* Keeps at TO what CODE, of another process, says of the same name. */
static int code_add(struct pm_snapshot_code **to, const struct pm_snapshot_code *code)
{
	if (*to && same_code(*to, code))
		return 0;
	if (*to) {
		(*to)->path[0] = '\0';
		return 0;
	}
	*to = pm_snapshot_code_make(code, code->path, strlen(code->path));
	return *to ? 0 : -ENOMEM;
}

static int name_get(struct pm_merge *merge, const char *text, uint32_t *id)
{
	struct name key = {.text = text}, *name, **found;
	struct pm_snapshot *sum = merge->sum;
	char *copy;

	found = tfind(&key, &merge->names, by_text);
	if (found) {
		*id = (*found)->id;
		return 0;
	}
	*id = sum->region_count + 1;
	if (!PM_GROW(sum->regions, *id) || (sum->codes && !PM_GROW(sum->codes, *id)))
		return -ENOMEM;
	name = malloc(sizeof(*name));
	copy = strdup(text);
	if (name)
		*name = (struct name){*id, copy};
	if (!name || !copy || !tsearch(name, &merge->names, by_text)) {
		free(copy);
		free(name);
		return -ENOMEM;
	}
	sum->regions[*id] = copy;
	if (sum->codes)
		sum->codes[*id] = NULL;
	sum->region_count++;
	return 0;
}

/* The sum's ids of SNAPSHOT's regions, in MAP (region_count + 1). */
static int regions_add(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		       uint32_t *map)
{
	struct pm_snapshot *sum = merge->sum;
	int err = 0;

	map[0] = 0;
	for (uint32_t id = 1; !err && id <= snapshot->region_count; id++)
		err = name_get(merge, snapshot->regions[id], &map[id]);
	if (err || !snapshot->codes)
		return err;
	/* At least as much as PM_GROW() would have made. */
	if (!sum->codes)
		sum->codes =
			calloc(2 * ((size_t)sum->region_count + 1), sizeof(*sum->codes));
	if (!sum->codes)
		return -ENOMEM;
	for (uint32_t id = 1; !err && id <= snapshot->region_count; id++)
		if (snapshot->codes[id])
			err = code_add(&sum->codes[map[id]], snapshot->codes[id]);
	return err;
}

/* --- what the processes have in common ---------------------------------------------- */

/* The boot ID, whose CLOCK is the same in all processes, or NULL. */
static struct pm_merge_boot *boot_find(const struct pm_merge *merge, const char *id,
				       uint32_t clock)
{
	/* Neighbours often have the same one. */
	for (uint32_t b = merge->boot_count; id[0] && b-- > 0;)
		if (merge->boots[b].clock == clock && !strcmp(merge->boots[b].id, id))
			return &merge->boots[b];
	return NULL;
}

/* Notes what CLOCK of the boot ID is. */
static int boot_get(struct pm_merge *merge, const char *id, uint32_t clock,
		    double tick_ns, double tick_error)
{
	struct pm_merge_boot *boot = boot_find(merge, id, clock);

	/* The clock of a boot is one: what tells it best holds for those that come. */
	if (boot && tick_ns > 0 && tick_error < boot->tick_error) {
		boot->tick_ns = tick_ns;
		boot->tick_error = tick_error;
	}
	/* One that has no name is never found. */
	if (boot || !id[0])
		return 0;
	if (!PM_GROW(merge->boots, merge->boot_count))
		return -ENOMEM;
	boot = &merge->boots[merge->boot_count++];
	memset(boot, 0, sizeof(*boot));
	snprintf(boot->id, sizeof(boot->id), "%s", id);
	boot->clock = clock;
	boot->tick_ns = tick_ns;
	boot->tick_error = tick_error;
	return 0;
}

/* VALUE, of an untrusted profile, as a whole number. */
static uint64_t whole(double value)
{
	return value >= 1 ? value < 1.8e19 ? (uint64_t)value : UINT64_MAX : 0;
}

/* Returns the least certain of the states A and B of two processes. */
static enum pm_snapshot_writer writer_of_both(enum pm_snapshot_writer a,
					      enum pm_snapshot_writer b)
{
	static const enum pm_snapshot_writer order[] = {PM_WRITER_RUNS, PM_WRITER_UNKNOWN,
							PM_WRITER_GONE, PM_WRITER_PACKED,
							PM_WRITER_ENDED};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a;
}

/* Without memory they are not shown. */
static void arguments_copy(struct pm_snapshot *to, const struct pm_snapshot *from)
{
	to->arguments = from->arguments ? malloc(from->arguments_length + 1) : NULL;
	if (!to->arguments)
		return;
	memcpy(to->arguments, from->arguments, from->arguments_length + 1);
	to->arguments_length = from->arguments_length;
	to->arguments_cut = from->arguments_cut;
}

/* Without memory they are not shown. */
static void run_notes_copy(struct pm_snapshot *to, const struct pm_snapshot *from)
{
	to->run_notes = calloc(1, sizeof(*to->run_notes));
	if (to->run_notes && from->run_notes)
		*to->run_notes = *from->run_notes;
}

static bool same_arguments(const struct pm_snapshot *a, const struct pm_snapshot *b)
{
	return a->arguments && b->arguments &&
	       a->arguments_length == b->arguments_length &&
	       a->arguments_cut == b->arguments_cut &&
	       !memcmp(a->arguments, b->arguments, a->arguments_length);
}

/* Keeps in the sum's header what all processes so far have in common. */
static void header_add(struct pm_merge *merge, const struct pm_snapshot *s,
		       uint64_t end_ns)
{
	struct perfmon_profile_header *to = &merge->sum->header;
	const struct perfmon_profile_header *from = &s->header;

	if (end_ns > merge->end_realtime_ns)
		merge->end_realtime_ns = end_ns;
	if (!merge->process_count) {
		*to = *from;
		to->pid = to->parent_pid = 0;
		to->start_time = to->parent_start_time = 0;
		to->rank = -1;
		merge->sum->writer = s->writer;
		merge->sum->tick_ns = s->tick_ns;
		merge->sum->tick_error = s->tick_error;
		merge->sum->kinds = s->kinds;
		arguments_copy(merge->sum, s);
		run_notes_copy(merge->sum, s);
		return;
	}
	if (merge->sum->run_notes)
		pm_run_notes_join(merge->sum->run_notes, s->run_notes);
	if (!same_arguments(merge->sum, s)) {
		free(merge->sum->arguments);
		merge->sum->arguments = NULL;
	}
	pm_cpu_kinds_join(&merge->sum->kinds, &s->kinds);
	merge->sum->writer = writer_of_both(merge->sum->writer, s->writer);
	merge->programs_differ |= strcmp(to->program, from->program) != 0;
	if (strcmp(to->host, from->host) != 0)
		to->host[0] = '\0';
	if (strcmp(to->job, from->job) != 0)
		to->job[0] = '\0';
	if (strcmp(to->boot_id, from->boot_id) != 0)
		to->boot_id[0] = '\0';
	if (from->ranks > to->ranks)
		to->ranks = from->ranks;
	if (from->begin_realtime_ns < to->begin_realtime_ns)
		to->begin_realtime_ns = from->begin_realtime_ns;
	pm_add(&to->unmatched_ends, from->unmatched_ends);
	pm_add(&to->lost_first_in_handler, from->lost_first_in_handler);
	pm_add(&to->lost_threads, from->lost_threads);
	/* Processes of one program leave the same regions out. */
	if (from->left_out_regions > to->left_out_regions)
		to->left_out_regions = from->left_out_regions;
}

/* Returns true if the sum's events are those of SNAPSHOT's newest plan, in their order. */
static bool same_events(const struct pm_snapshot *sum, const struct pm_snapshot *snapshot)
{
	const struct pm_snapshot_plan *plan = &sum->plans[0];

	if (!sum->plan_count || plan->counter_count != snapshot->counter_count)
		return false;
	for (uint32_t c = 0; c < plan->counter_count; c++)
		if (strcmp(plan->counters[c].name, snapshot->counters[c].name) != 0)
			return false;
	return true;
}

/* The sum has totals as long as each process has some, of the same events. */
static void totals_add(struct pm_merge *merge, const struct pm_snapshot *snapshot)
{
	struct pm_snapshot *sum = merge->sum;
	bool known = snapshot->has_totals && same_events(sum, snapshot);

	sum->has_totals = known && (!merge->process_count || sum->has_totals);
	for (uint32_t c = 0; sum->has_totals && c < snapshot->counter_count; c++)
		sum->totals[c] = pm_plus(merge->process_count ? sum->totals[c] : 0,
					 snapshot->totals[c]);
}

/* Holds what adding values of a snapshot needs. */
struct adding {
	uint32_t *regions; /* the sum's ids of its regions */
	double tick_ns;
	bool packages; /* also those of packages */
};

/*
 * Processes of one host count the same for its packages, so the sum has that of one process a host.
 * Returns whether MERGE has none of the boot ID so far, and with ENTER notes that it has.
 */
static bool packages_take(struct pm_merge *merge, const char *id, bool enter)
{
	/* Two of these may be one host or not: nothing tells. */
	if (!id[0])
		return !merge->sum->packages.record.size;
	for (uint32_t b = 0; b < merge->boot_count; b++) {
		struct pm_merge_boot *boot = &merge->boots[b];

		if (strcmp(boot->id, id) != 0)
			continue;
		if (boot->packages)
			return false;
		boot->packages = enter;
	}
	return true;
}

/*
 * Returns whether the sum takes the counts of packages that OTHER has: all of them or none, since OTHER has
 * one sum of all its hosts. Notes of which hosts it is.
 */
static bool packages_join(struct pm_merge *merge, const struct pm_merge *other)
{
	bool take = other->sum->packages.record.size != 0;

	for (uint32_t b = 0; b < other->boot_count; b++)
		if (other->boots[b].packages)
			take &= packages_take(merge, other->boots[b].id, false);
	for (uint32_t b = 0; b < other->boot_count; b++) {
		const struct pm_merge_boot *from = &other->boots[b];
		struct pm_merge_boot *to = boot_find(merge, from->id, from->clock);

		if (from->packages && take)
			packages_take(merge, from->id, true);
		else if (to && packages_take(merge, from->id, false))
			to->left_out |= from->packages | from->left_out;
	}
	return take;
}

/* Whose the counts are is known of one process alone. */
static void packages_add(struct perfmon_profile_packages *to,
			 const struct perfmon_profile_packages *from)
{
	bool first = !to->record.size;

	*to = *from;
	if (first)
		return;
	memset(to->place, 0, sizeof(to->place));
	to->own_ns = to->busy_ns = 0;
}

/* Returns how long a tick of SNAPSHOT is, in ns; 0: not known. */
static double tick_of(const struct pm_merge *merge, const struct pm_snapshot *snapshot)
{
	const struct pm_merge_boot *boot =
		boot_find(merge, snapshot->header.boot_id, snapshot->header.clock);
	bool by_boot = boot && (snapshot->tick_ns <= 0 ||
				boot->tick_error <= snapshot->tick_error);

	return by_boot ? boot->tick_ns : snapshot->tick_ns;
}

/* Returns 0 if SNAPSHOT can be added, or -EINVAL. */
static int check(const struct pm_merge *merge, const struct pm_snapshot *snapshot,
		 struct pm_diag *diag)
{
	bool exact = pm_report_is_exact(snapshot);

	if (snapshot->joined_count)
		return pm_diag_set(
			diag, -EINVAL,
			"joined from several runs, and not summed with other profiles: "
			"report it alone, or join the sum (--counts)");
	if (merge->any_threads && snapshot->thread_count && exact != merge->exact)
		return pm_diag_set(
			diag, -EINVAL,
			exact ? "counted exactly by translation, and the profiles before "
				"it by the machine's counters: they are not summed"
			      : "counted by the machine's counters, and the profiles "
				"before it exactly by translation: they are not summed");
	if (tick_of(merge, snapshot) <= 0)
		return pm_diag_set(diag, -EINVAL,
				   "the profile has no tick rate, and no other profile "
				   "of that machine has one");
	return 0;
}

/* Adds what has no numbers of processes: the header, the regions and the nodes of SNAPSHOT, which
 * ended at END_NS. */
static int sum_add(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		   uint64_t end_ns, struct adding *adding)
{
	int err;

	adding->regions =
		malloc(((size_t)snapshot->region_count + 1) * sizeof(*adding->regions));
	if (!adding->regions)
		return -ENOMEM;
	header_add(merge, snapshot, end_ns);
	if (snapshot->thread_count) {
		merge->any_threads = true;
		merge->exact = pm_report_is_exact(snapshot);
	}
	if (adding->packages)
		packages_add(&merge->sum->packages, &snapshot->packages);
	err = regions_add(merge, snapshot, adding->regions)
		      ?: pm_merge_nodes(merge, snapshot, adding->regions,
					adding->tick_ns / merge->sum->tick_ns,
					adding->packages);
	if (!err)
		totals_add(merge, snapshot);
	return err;
}

static int added(int err, struct pm_diag *diag)
{
	return err ? pm_diag_set(diag, err,
				 "no memory to merge the profiles, or too much data for "
				 "one report: merge fewer profiles")
		   : 0;
}

int pm_merge_add(struct pm_merge *merge, const struct pm_snapshot *snapshot,
		 struct pm_diag *diag)
{
	uint64_t end_ns = pm_plus(snapshot->header.begin_realtime_ns,
				  whole(pm_report_duration(snapshot)));
	struct adding adding = {.tick_ns = tick_of(merge, snapshot)};
	uint32_t process = merge->process_count;
	int err = check(merge, snapshot, diag);

	if (err)
		return err;
	err = boot_get(merge, snapshot->header.boot_id, snapshot->header.clock,
		       snapshot->tick_ns, snapshot->tick_error);
	adding.packages = snapshot->packages.record.size &&
			  packages_take(merge, snapshot->header.boot_id, true);
	err = err ?: sum_add(merge, snapshot, end_ns, &adding)
		      ?: pm_merge_values(merge, snapshot, adding.regions, process,
					 adding.tick_ns)
		      ?: pm_merge_notes(merge, snapshot, process)
		      ?: pm_merge_process_add(merge, snapshot);
	free(adding.regions);
	return added(err, diag);
}

int pm_merge_join(struct pm_merge *merge, const struct pm_merge *other,
		  struct pm_diag *diag)
{
	struct adding adding = {.tick_ns = tick_of(merge, other->sum)};
	int err = check(merge, other->sum, diag);

	if (err)
		return err;
	for (uint32_t b = 0; !err && b < other->boot_count; b++)
		err = boot_get(merge, other->boots[b].id, other->boots[b].clock,
			       other->boots[b].tick_ns, other->boots[b].tick_error);
	adding.packages = packages_join(merge, other);
	err = err ?: sum_add(merge, other->sum, other->end_realtime_ns, &adding)
		  ?: pm_merge_values_join(merge, other, adding.regions)
		  ?: pm_merge_notes_join(merge, other)
		  ?: pm_merge_processes_join(merge, other);
	merge->programs_differ |= other->programs_differ;
	merge->clocks_differ |= other->clocks_differ;
	free(adding.regions);
	return added(err, diag);
}

int pm_merge_end(struct pm_merge *merge)
{
	struct pm_snapshot *sum = merge->sum;
	struct perfmon_profile_header *header = &sum->header;
	uint64_t duration_ns = pm_less(merge->end_realtime_ns, header->begin_realtime_ns);
	int err = pm_merge_nodes_fill(merge);

	if (!err) {
		pm_merge_nodes_end(merge);
		err = pm_merge_notes_end(merge);
	}
	header->begin_ticks = header->begin_ns = 0;
	header->end_ns = duration_ns;
	if (sum->tick_ns > 0)
		header->end_ticks = whole((double)duration_ns / sum->tick_ns);
	sum->taken_ticks = header->end_ticks;
	return err;
}

struct pm_snapshot *pm_merge_sum(const struct pm_merge *merge)
{
	return merge->sum;
}
