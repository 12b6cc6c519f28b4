/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/profile/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/bytes.h"

/* Adds a record of SIZE bytes at the end, zero except for its lead. The pointer is valid
 * until the next call. */
static void *record(struct pm_bytes *pack, uint32_t type, size_t size)
{
	struct perfmon_profile_record *lead;

	size = (size + 7) & ~(size_t)7;
	lead = pm_bytes_grow(pack, size);
	if (lead) {
		lead->type = type;
		lead->size = size;
	}
	return lead;
}

static int pack_note(struct pm_bytes *pack, const char *text)
{
	size_t length = strlen(text);
	struct perfmon_profile_note *note =
		record(pack, PERFMON_PROFILE_TYPE_NOTE, sizeof(*note) + length + 1);

	if (!note)
		return -ENOMEM;
	note->length = (uint32_t)length;
	memcpy(note->text, text, length);
	return 0;
}

static int pack_unmatched(struct pm_bytes *pack, const struct pm_snapshot_unmatched *from)
{
	size_t name = strlen(from->name), place = strlen(from->place);
	struct perfmon_profile_unmatched *kind = record(
		pack, PERFMON_PROFILE_TYPE_UNMATCHED, sizeof(*kind) + name + place);

	if (!kind)
		return -ENOMEM;
	kind->count = from->count;
	kind->name_length = (uint32_t)name;
	kind->place_length = (uint32_t)place;
	memcpy(kind->text, from->name, name);
	memcpy(kind->text + name, from->place, place);
	return 0;
}

static int pack_codes(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	for (uint32_t id = 1; s->codes && id <= s->region_count; id++) {
		const struct pm_snapshot_code *from = s->codes[id];
		size_t build = from ? strlen(from->build_id) : 0;
		size_t path = from ? strlen(from->path) : 0;
		struct perfmon_profile_code *to;

		if (!from)
			continue;
		to = record(pack, PERFMON_PROFILE_TYPE_CODE, sizeof(*to) + build + path);
		if (!to)
			return -ENOMEM;
		to->region = id;
		to->build_length = (uint32_t)build;
		to->offset = from->offset;
		to->path_length = (uint32_t)path;
		memcpy(to->text, from->build_id, build);
		memcpy(to->text + build, from->path, path);
	}
	return 0;
}

static int pack_names(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	for (uint32_t id = 1; id <= s->region_count; id++) {
		size_t length = strlen(s->regions[id]);
		struct perfmon_profile_region *region = record(
			pack, PERFMON_PROFILE_TYPE_REGION, sizeof(*region) + length + 1);

		if (!region)
			return -ENOMEM;
		region->id = id;
		region->length = (uint32_t)length;
		memcpy(region->name, s->regions[id], length);
	}
	for (uint32_t i = 0; i < s->note_count; i++)
		if (pack_note(pack, s->notes[i]))
			return -ENOMEM;
	for (uint32_t i = 0; i < s->unmatched_count; i++)
		if (pack_unmatched(pack, &s->unmatched[i]))
			return -ENOMEM;
	if (s->partial) {
		size_t at = pack->used;

		if (pack_note(pack, s->problem))
			return -ENOMEM;
		((struct perfmon_profile_header *)(void *)pack->data)->lacking = at;
	}
	return 0;
}

void pm_pack_kinds(struct perfmon_profile_machine *machine,
		   const struct pm_cpu_kinds *kinds)
{
	machine->kinds = kinds->count;
	machine->slots = kinds->slots;
	for (uint32_t i = 0; i < kinds->count; i++) {
		machine->kind[i].maker = kinds->kind[i].maker;
		machine->kind[i].family = kinds->kind[i].family;
		machine->kind[i].model = kinds->kind[i].model;
	}
}

static int pack_machine(struct pm_bytes *pack, const struct pm_cpu_kinds *kinds)
{
	struct perfmon_profile_machine *machine;

	if (!kinds->count)
		return 0;
	machine = record(pack, PERFMON_PROFILE_TYPE_MACHINE,
			 sizeof(*machine) + kinds->count * sizeof(machine->kind[0]));
	if (!machine)
		return -ENOMEM;
	pm_pack_kinds(machine, kinds);
	return 0;
}

size_t pm_pack_run_note_size(const struct pm_run_note *note)
{
	return sizeof(struct perfmon_profile_run_note) + strlen(note->key) +
	       strlen(note->value);
}

void pm_pack_run_note(struct perfmon_profile_run_note *to, const struct pm_run_note *note)
{
	to->key_length = (uint32_t)strlen(note->key);
	to->value_length = (uint32_t)strlen(note->value);
	memcpy(to->text, note->key, to->key_length);
	memcpy(to->text + to->key_length, note->value, to->value_length);
}

static int pack_run_notes(struct pm_bytes *pack, const struct pm_run_notes *notes)
{
	for (uint32_t i = 0; notes && i < notes->count; i++) {
		struct perfmon_profile_run_note *to =
			record(pack, PERFMON_PROFILE_TYPE_RUN_NOTE,
			       pm_pack_run_note_size(&notes->at[i]));

		if (!to)
			return -ENOMEM;
		pm_pack_run_note(to, &notes->at[i]);
	}
	return 0;
}

static int pack_arguments(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	struct perfmon_profile_arguments *arguments;

	if (!s->arguments)
		return 0;
	arguments = record(pack, PERFMON_PROFILE_TYPE_ARGUMENTS,
			   sizeof(*arguments) + s->arguments_length);
	if (!arguments)
		return -ENOMEM;
	arguments->length = s->arguments_length;
	arguments->flags = s->arguments_cut ? PERFMON_PROFILE_ARGUMENTS_CUT : 0;
	memcpy(arguments->text, s->arguments, s->arguments_length);
	return 0;
}

static int pack_plans(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	for (uint32_t p = 0; p < s->plan_count; p++) {
		const struct pm_snapshot_plan *from = &s->plans[p];
		size_t bytes = from->counter_count * sizeof(*from->counters);
		struct perfmon_profile_plan *plan =
			record(pack, PERFMON_PROFILE_TYPE_PLAN, sizeof(*plan) + bytes);

		if (!plan)
			return -ENOMEM;
		plan->generation = from->generation;
		plan->counters = from->counter_count;
		plan->time = from->time;
		if (bytes)
			memcpy(plan->counter, from->counters, bytes);
	}
	return 0;
}

static int pack_totals(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	size_t bytes = s->counter_count * sizeof(s->totals[0]);
	struct perfmon_profile_totals *totals;

	if (!s->has_totals)
		return 0;
	totals = record(pack, PERFMON_PROFILE_TYPE_TOTALS, sizeof(*totals) + bytes);
	if (!totals)
		return -ENOMEM;
	totals->counters = s->counter_count;
	totals->generation = s->generation;
	memcpy(totals->total, s->totals, bytes);
	return 0;
}

static int pack_packages(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	struct perfmon_profile_packages *packages;

	if (!s->packages.record.size)
		return 0;
	packages = record(pack, PERFMON_PROFILE_TYPE_PACKAGES, sizeof(*packages));
	if (!packages)
		return -ENOMEM;
	packages->own_ns = s->packages.own_ns;
	packages->busy_ns = s->packages.busy_ns;
	memcpy(packages->place, s->packages.place, sizeof(packages->place));
	return 0;
}

static int pack_thread(struct pm_bytes *pack, const struct pm_snapshot_thread *from,
		       enum perfmon_profile_type type)
{
	size_t at = pack->used, bytes = from->node_count * from->node_size;
	struct perfmon_profile_thread *thread = record(pack, type, sizeof(*thread));
	struct perfmon_profile_record lead;
	struct perfmon_profile_nodes *nodes;

	if (!thread)
		return -ENOMEM;
	lead = thread->record;
	*thread = from->record;
	thread->record = lead;
	thread->node_count = from->node_count;
	thread->nodes = from->node_count ? pack->used : 0;
	thread->node_size = (uint32_t)from->node_size;
	if (!from->node_count)
		return 0;
	nodes = record(pack, PERFMON_PROFILE_TYPE_NODES, sizeof(*nodes) + bytes);
	if (!nodes)
		return -ENOMEM;
	nodes->thread = at;
	nodes->first = 1;
	nodes->capacity = from->node_count;
	nodes->node_size = (uint32_t)from->node_size;
	memcpy(nodes->node, from->nodes, bytes);
	for (uint32_t n = 0; n < from->node_count; n++) {
		struct perfmon_profile_node *node =
			(void *)((unsigned char *)nodes->node + n * from->node_size);

		/*
		 * A node with an odd sequence is read as torn, and has the same visits.
		 */
		if (node->flags & PM_SNAPSHOT_TORN)
			node->sequence |= 1;
	}
	return 0;
}

int pm_snapshot_pack(const struct pm_snapshot *s, void **out, size_t *size)
{
	struct pm_bytes pack = {0};
	struct perfmon_profile_header *header =
		record(&pack, PERFMON_PROFILE_TYPE_HEADER, sizeof(*header));
	struct perfmon_profile_record lead;
	int err = -ENOMEM;

	if (header) {
		lead = header->record;
		*header = s->header;
		header->record = lead;
		header->aggregate_sequence = 0;
		header->private_from = header->private_error = 0;
		header->lacking = 0;
		err = pack_plans(&pack, s) ?: pack_totals(&pack, s)
		      ?: pack_packages(&pack, s)
		      ?: pack_machine(&pack, &s->kinds) ?: pack_arguments(&pack, s)
		      ?: pack_run_notes(&pack, s->run_notes)
		      ?: pack_names(&pack, s)
		      ?: pack_codes(&pack, s);
	}
	for (uint32_t t = 0; !err && t < s->thread_count; t++)
		err = pack_thread(&pack, &s->threads[t], PERFMON_PROFILE_TYPE_THREAD);
	for (uint32_t t = 0; !err && t < s->joined_count; t++)
		err = pack_thread(&pack, &s->joined[t], PERFMON_PROFILE_TYPE_JOINED);
	if (err) {
		free(pack.data);
		return err;
	}
	header = (void *)pack.data;
	header->used = pack.used;
	*out = pack.data;
	*size = pack.used;
	return 0;
}
