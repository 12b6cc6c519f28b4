/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packs a snapshot as the bytes of a profile, to be sent to another process. */
#include <errno.h>
#include <string.h>

#include "core/profile/snapshot.h"
#include "core/text/bytes.h"

/* Adds a record of TYPE: its HEAD, whose lead is set here, and two parts of a body. */
static void put_two(struct pm_bytes *pack, uint32_t type, void *head, size_t head_size,
		    const void *first, size_t first_size, const void *second,
		    size_t second_size)
{
	*(struct perfmon_profile_record *)head = (struct perfmon_profile_record){
		.type = type,
		.size = (head_size + first_size + second_size + 7) & ~(size_t)7};
	pm_bytes_add(pack, head, head_size);
	pm_bytes_add(pack, first, first_size);
	pm_bytes_add(pack, second, second_size);
	pm_bytes_align(pack);
}

static void put(struct pm_bytes *pack, uint32_t type, void *head, size_t head_size,
		const void *body, size_t size)
{
	put_two(pack, type, head, head_size, body, size, NULL, 0);
}

static void pack_note(struct pm_bytes *pack, const char *text)
{
	struct perfmon_profile_note note = {.length = (uint32_t)strlen(text)};

	put(pack, PERFMON_PROFILE_TYPE_NOTE, &note, sizeof(note), text, note.length + 1);
}

static void pack_names(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	for (uint32_t id = 1; id <= s->region_count; id++) {
		const char *name = s->regions[id];
		struct perfmon_profile_region region = {.id = id,
							.length = (uint32_t)strlen(name)};

		put(pack, PERFMON_PROFILE_TYPE_REGION, &region, sizeof(region), name,
		    region.length + 1);
	}
	for (uint32_t i = 0; i < s->note_count; i++)
		pack_note(pack, s->notes[i]);
	for (uint32_t i = 0; i < s->unmatched_count; i++) {
		const struct pm_snapshot_unmatched *from = &s->unmatched[i];
		struct perfmon_profile_unmatched kind = {
			.count = from->count,
			.name_length = (uint32_t)strlen(from->name),
			.place_length = (uint32_t)strlen(from->place)};

		put_two(pack, PERFMON_PROFILE_TYPE_UNMATCHED, &kind, sizeof(kind),
			from->name, kind.name_length, from->place, kind.place_length);
	}
	if (s->partial) {
		size_t at = pack->used;

		pack_note(pack, s->problem);
		if (!pack->failed)
			((struct perfmon_profile_header *)(void *)pack->data)->lacking =
				at;
	}
}

static void pack_codes(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	for (uint32_t id = 1; s->codes && id <= s->region_count; id++) {
		const struct pm_snapshot_code *from = s->codes[id];
		struct perfmon_profile_code code = {.region = id};

		if (!from)
			continue;
		code.offset = from->offset;
		code.build_length = (uint32_t)strlen(from->build_id);
		code.path_length = (uint32_t)strlen(from->path);
		put_two(pack, PERFMON_PROFILE_TYPE_CODE, &code, sizeof(code),
			from->build_id, code.build_length, from->path, code.path_length);
	}
}

void pm_pack_kinds(struct perfmon_profile_kind *to, const struct pm_cpu_kinds *kinds)
{
	for (uint32_t i = 0; i < kinds->count; i++)
		to[i] = (struct perfmon_profile_kind){.maker = kinds->kind[i].maker,
						      .family = kinds->kind[i].family,
						      .model = kinds->kind[i].model};
}

static void pack_machine(struct pm_bytes *pack, const struct pm_cpu_kinds *kinds)
{
	struct perfmon_profile_machine machine = {.kinds = kinds->count,
						  .slots = kinds->slots};
	struct perfmon_profile_kind kind[PM_CPU_KINDS];

	if (!kinds->count)
		return;
	pm_pack_kinds(kind, kinds);
	put(pack, PERFMON_PROFILE_TYPE_MACHINE, &machine, sizeof(machine), kind,
	    kinds->count * sizeof(kind[0]));
}

static void pack_run_notes(struct pm_bytes *pack, const struct pm_run_notes *notes)
{
	for (uint32_t i = 0; notes && i < notes->count; i++) {
		const struct pm_run_note *from = &notes->at[i];
		struct perfmon_profile_run_note note = {
			.key_length = (uint32_t)strlen(from->key),
			.value_length = (uint32_t)strlen(from->value)};

		put_two(pack, PERFMON_PROFILE_TYPE_RUN_NOTE, &note, sizeof(note),
			from->key, note.key_length, from->value, note.value_length);
	}
}

static void pack_arguments(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	struct perfmon_profile_arguments arguments = {
		.length = s->arguments_length,
		.flags = s->arguments_cut ? PERFMON_PROFILE_ARGUMENTS_CUT : 0};

	if (s->arguments)
		put(pack, PERFMON_PROFILE_TYPE_ARGUMENTS, &arguments, sizeof(arguments),
		    s->arguments, s->arguments_length);
}

static void pack_plans(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	for (uint32_t p = 0; p < s->plan_count; p++) {
		const struct pm_snapshot_plan *from = &s->plans[p];
		struct perfmon_profile_plan plan = {.generation = from->generation,
						    .counters = from->counter_count,
						    .time = from->time};

		put(pack, PERFMON_PROFILE_TYPE_PLAN, &plan, sizeof(plan), from->counters,
		    from->counter_count * sizeof(*from->counters));
	}
}

static void pack_totals(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	struct perfmon_profile_totals totals = {.counters = s->counter_count,
						.generation = s->generation};

	if (s->has_totals)
		put(pack, PERFMON_PROFILE_TYPE_TOTALS, &totals, sizeof(totals), s->totals,
		    s->counter_count * sizeof(s->totals[0]));
}

static void pack_packages(struct pm_bytes *pack, const struct pm_snapshot *s)
{
	struct perfmon_profile_packages packages = s->packages;

	if (packages.record.size)
		put(pack, PERFMON_PROFILE_TYPE_PACKAGES, &packages, sizeof(packages),
		    NULL, 0);
}

static void pack_thread(struct pm_bytes *pack, const struct pm_snapshot_thread *from,
			uint32_t type)
{
	struct perfmon_profile_thread thread = from->record;
	struct perfmon_profile_nodes nodes = {.thread = pack->used,
					      .first = 1,
					      .capacity = from->node_count,
					      .node_size = (uint32_t)from->node_size};
	size_t at = pack->used + sizeof(thread);

	thread.node_count = from->node_count;
	thread.nodes = from->node_count ? at : 0;
	thread.node_size = (uint32_t)from->node_size;
	put(pack, type, &thread, sizeof(thread), NULL, 0);
	if (!from->node_count)
		return;
	put(pack, PERFMON_PROFILE_TYPE_NODES, &nodes, sizeof(nodes), from->nodes,
	    from->node_count * from->node_size);
	for (uint32_t n = 0; !pack->failed && n < from->node_count; n++) {
		struct perfmon_profile_node *node =
			(void *)(pack->data + at + sizeof(nodes) + n * from->node_size);

		/* A node with an odd sequence is read as torn, and has the same visits. */
		if (node->flags & PM_SNAPSHOT_TORN)
			node->sequence |= 1;
	}
}

int pm_snapshot_pack(const struct pm_snapshot *s, void **out, size_t *size)
{
	struct pm_bytes pack = {0};
	struct perfmon_profile_header header = s->header;

	header.aggregate_sequence = 0;
	header.private_from = header.private_error = 0;
	header.lacking = 0;
	put(&pack, PERFMON_PROFILE_TYPE_HEADER, &header, sizeof(header), NULL, 0);
	pack_plans(&pack, s);
	pack_totals(&pack, s);
	pack_packages(&pack, s);
	pack_machine(&pack, &s->kinds);
	pack_arguments(&pack, s);
	pack_run_notes(&pack, s->run_notes);
	pack_names(&pack, s);
	pack_codes(&pack, s);
	for (uint32_t t = 0; t < s->thread_count; t++)
		pack_thread(&pack, &s->threads[t], PERFMON_PROFILE_TYPE_THREAD);
	for (uint32_t t = 0; t < s->joined_count; t++)
		pack_thread(&pack, &s->joined[t], PERFMON_PROFILE_TYPE_JOINED);
	if (pack.failed) {
		pm_bytes_free(&pack);
		return -ENOMEM;
	}
	((struct perfmon_profile_header *)(void *)pack.data)->used = pack.used;
	*out = pack.data;
	*size = pack.used;
	return 0;
}
