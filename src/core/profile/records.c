/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the records that threads no longer write: names, plans, notes and others. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/profile/pairs.h"
#include "core/profile/walk.h"
#include "core/text/grow.h"
#include "core/text/hash.h"

/* IDs may have gaps of this many: a region is numbered before its record is visible. */
#define REGION_GAP 4096
/* A snapshot has at most this many different events. */
#define EVENTS_MOST 512

void pm_snapshot_problem(struct pm_snapshot *s, const char *format, ...)
{
	va_list args;

	if (s->partial)
		return;
	s->partial = true;
	va_start(args, format);
	vsnprintf(s->problem, sizeof(s->problem), format, args);
	va_end(args);
}

struct pm_snapshot_code *pm_snapshot_code_make(const struct pm_snapshot_code *code,
					       const char *path, size_t size)
{
	struct pm_snapshot_code *made = malloc(sizeof(*made) + size + 1);

	if (!made)
		return NULL;
	*made = *code;
	memcpy(made->path, path, size);
	made->path[size] = '\0';
	return made;
}

/* Returns whether only the first record of TYPE counts. */
static bool is_single(uint32_t type)
{
	return type == PERFMON_PROFILE_TYPE_MACHINE ||
	       type == PERFMON_PROFILE_TYPE_PACKAGES ||
	       type == PERFMON_PROFILE_TYPE_ARGUMENTS;
}

int pm_walk_find(struct pm_walk *walk)
{
	const struct perfmon_profile_header *header = (const void *)walk->base;
	/* Pairs with the release store of `used` in pm_profile_publish(). */
	uint64_t used = __atomic_load_n(&header->used, __ATOMIC_ACQUIRE);
	/* The writer stores private_from before any `used` beyond it. The file may be
	 * longer: an allocation that failed halfway may have lengthened it. */
	uint64_t own = pm_walk_word((const unsigned char *)&header->private_from);

	if (walk->flags & PM_SNAPSHOT_FOREIGN && own && used > own) {
		uint64_t left = own < walk->size ? own : walk->size;

		pm_snapshot_problem(
			walk->s,
			"the profile's file could not grow beyond %llu KiB (%s): later "
			"data stayed in the program's own memory and is missing",
			(unsigned long long)left >> 10,
			strerror((int)(header->private_error & INT32_MAX)));
		used = left;
	} else if (used > walk->size) {
		pm_snapshot_problem(
			walk->s, "the profile is cut off: %llu of %llu bytes are present",
			(unsigned long long)walk->size, (unsigned long long)used);
		used = walk->size;
	}
	while (walk->next < used) {
		uint64_t at = walk->next, lead[2];
		struct pm_walk_list *list;
		uint32_t type;

		walk->next = UINT64_MAX; /* unless this one is sound */
		if (used - at < sizeof(lead)) {
			pm_snapshot_problem(walk->s, "the profile ends inside a record");
			break;
		}
		pm_walk_copy(lead, walk->base + at, sizeof(lead));
		type = (uint32_t)lead[0];
		if (lead[1] < sizeof(lead) || lead[1] % 8 || lead[1] > used - at) {
			pm_snapshot_problem(walk->s,
					    "the profile has a bad record at byte %llu "
					    "(%llu bytes long): the rest is missing",
					    (unsigned long long)at,
					    (unsigned long long)lead[1]);
			break;
		}
		walk->next = at + lead[1];
		if (type >= PM_WALK_TYPES)
			continue;
		list = &walk->found[type];
		if (is_single(type) && list->count)
			continue;
		if (!PM_GROW(list->at, list->count))
			return -ENOMEM;
		list->at[list->count++] = at;
	}
	return 0;
}

uint64_t pm_walk_record_size(const struct pm_walk *walk, uint64_t at)
{
	uint64_t size = pm_walk_word(walk->base + at + 8);

	/* Checked again, since the file may have changed since. */
	return size > walk->size - at || size % 8 ? 0 : size;
}

int pm_walk_each(struct pm_walk *walk, const struct pm_walk_kind *kind)
{
	const struct pm_walk_list *list = &walk->found[kind->type];
	uint64_t head[sizeof(struct perfmon_profile_steps) / 8]; /* the largest */
	int err = 0;

	for (size_t i = 0; !err && i < list->count; i++) {
		uint64_t at = list->at[i], size = pm_walk_record_size(walk, at);

		err = -EINVAL;
		if (size >= kind->head_size) {
			pm_walk_copy_plan(head, walk->base + at, kind->head_size);
			err = kind->take(walk, head, at + kind->head_size,
					 size - kind->head_size);
		}
		if (err != -EINVAL)
			continue;
		pm_snapshot_problem(walk->s, "the profile has %s at byte %llu",
				    kind->what, (unsigned long long)at);
		err = 0;
	}
	return err;
}

/* Returns a string of LENGTH bytes at offset AT, or NULL without memory. */
static char *text_copy(const struct pm_walk *walk, uint64_t at, size_t length)
{
	size_t rounded = (length + 7) & ~(size_t)7;
	char *text = malloc(rounded + 1);

	if (!text)
		return NULL;
	pm_walk_copy(text, walk->base + at, rounded);
	text[length] = '\0';
	return text;
}

static int take_region(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left)
{
	const struct perfmon_profile_region *region = head;
	struct pm_snapshot *s = walk->s;

	if (!region->id || region->id > s->region_count || s->regions[region->id] ||
	    region->length > PERFMON_PROFILE_NAME_MAX || region->length > left)
		return -EINVAL;
	s->regions[region->id] = text_copy(walk, behind, region->length);
	return s->regions[region->id] ? 0 : -ENOMEM;
}

int pm_walk_regions(struct pm_walk *walk)
{
	static const struct pm_walk_kind kind = {PERFMON_PROFILE_TYPE_REGION,
						 sizeof(struct perfmon_profile_region),
						 "a bad region", take_region};
	struct pm_snapshot *s = walk->s;
	uint32_t last =
		(uint32_t)walk->found[PERFMON_PROFILE_TYPE_REGION].count + REGION_GAP;
	char **names = calloc((size_t)last + 1, sizeof(*names));
	int err;

	if (!names)
		return -ENOMEM;
	s->regions = names;
	s->region_count = last;
	names[0] = strdup("");
	if (!names[0])
		return -ENOMEM;
	err = pm_walk_each(walk, &kind);
	while (!names[last])
		last--;
	for (uint32_t id = 1; !err && id <= last; id++) {
		if (!names[id] && asprintf(&names[id], "(region %u)", id) < 0) {
			names[id] = NULL;
			err = -ENOMEM;
		}
	}
	s->region_count = last;
	return err;
}

static int take_code(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left)
{
	const struct perfmon_profile_code *code = head;
	struct pm_snapshot_code made = {.offset = code->offset}, **to;
	struct pm_snapshot *s = walk->s;
	char *text;

	if (!s->codes)
		s->codes = calloc((size_t)s->region_count + 1, sizeof(*s->codes));
	if (!s->codes)
		return -ENOMEM;
	if (!code->region || code->region > s->region_count ||
	    code->build_length > PERFMON_PROFILE_BUILD_ID_MAX ||
	    code->path_length > PERFMON_PROFILE_PATH_MAX ||
	    (uint64_t)code->build_length + code->path_length > left)
		return -EINVAL;
	text = text_copy(walk, behind, code->build_length + code->path_length);
	if (!text)
		return -ENOMEM;
	memcpy(made.build_id, text, code->build_length);
	to = &s->codes[code->region];
	free(*to);
	*to = pm_snapshot_code_make(&made, text + code->build_length, code->path_length);
	free(text);
	return *to ? 0 : -ENOMEM;
}

/* Repairs fields on which reports rely. */
static void mend(struct pm_snapshot *s, struct perfmon_profile_counter *counter)
{
	if (!isfinite(counter->scale)) {
		counter->scale = 1;
		pm_snapshot_problem(s, "the profile has an event without a scale");
	}
	counter->name[sizeof(counter->name) - 1] = '\0';
	counter->pmu[sizeof(counter->pmu) - 1] = '\0';
	counter->unit[sizeof(counter->unit) - 1] = '\0';
}

/* The different events of a snapshot, in a hash table with open addressing. */
struct pm_walk_events {
	const struct perfmon_profile_counter *entry[4 * EVENTS_MOST];
	uint64_t seed; /* random: a profile cannot choose names that collide */
	uint32_t count, most;
	bool by_paths; /* MOST is computed; else it is what is always allowed */
};

static bool same_event(const struct perfmon_profile_counter *a,
		       const struct perfmon_profile_counter *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->unit, b->unit) &&
	       !memcmp(&a->scale, &b->scale, sizeof(a->scale));
}

/*
 * Returns how many different events a snapshot of SIZE bytes with PATHS and steps may have; the
 * events of one plan are always allowed. Reports have a value for each event in each
 * path. An event takes 24 bytes of a node, so a program that counts all events in all
 * paths stays below the limit. A forged profile may have many paths and unrelated events:
 * their product would be the square of the size.
 */
static uint32_t events_most(uint64_t size, uint64_t paths)
{
	uint64_t most = (size / 16 + (UINT64_C(128) << 10)) / (paths + 1);

	return most > EVENTS_MOST		     ? EVENTS_MOST
	       : most < PERFMON_PROFILE_COUNTERS_MAX ? PERFMON_PROFILE_COUNTERS_MAX
						     : (uint32_t)most;
}

/* Counts the different paths of all threads of S, and the steps. */
static int count_paths(const struct pm_snapshot *s, uint64_t *paths)
{
	struct pm_pairs pairs = {0};
	int err = 0;

	for (uint32_t t = 0; !err && t < s->thread_count + s->joined_count; t++) {
		const struct pm_snapshot_thread *thread = pm_snapshot_thread_at(s, t);
		uint32_t *number =
			calloc((size_t)thread->node_count + 1, sizeof(*number));

		err = number ? 0 : -ENOMEM;
		for (uint32_t n = 2; !err && n <= thread->node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(thread, n);

			err = pm_pairs_get(&pairs, number[node->parent], node->region,
					   (uint32_t)pairs.count + 1, &number[n]);
		}
		free(number);
	}
	*paths = pairs.count;
	for (uint32_t i = 0; i < s->steps_count; i++)
		*paths += s->steps[i].count;
	pm_pairs_free(&pairs);
	return err;
}

/* Adds the events of PLAN. Returns 0, -ENOMEM, or -E2BIG if there are too many. */
static int events_add(const struct pm_walk *walk, const struct pm_snapshot_plan *plan)
{
	struct pm_walk_events *events = walk->events;
	const size_t mask = sizeof(events->entry) / sizeof(events->entry[0]) - 1;

	for (uint32_t c = 0; c < plan->counter_count; c++) {
		const struct perfmon_profile_counter *counter = &plan->counters[c];
		size_t at = pm_hash_text(events->seed, counter->name) & mask;

		while (events->entry[at] && !same_event(events->entry[at], counter))
			at = (at + 1) & mask;
		if (events->entry[at])
			continue;
		if (events->count == events->most && !events->by_paths) {
			uint64_t paths;
			int err = count_paths(walk->s, &paths);

			if (err)
				return err;
			events->by_paths = true;
			events->most = events_most(walk->size, paths);
		}
		if (events->count == events->most)
			return -E2BIG;
		events->entry[at] = counter;
		events->count++;
	}
	return 0;
}

static int take_plan(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left)
{
	const struct perfmon_profile_plan *from = head;
	struct pm_snapshot *s = walk->s;
	size_t bytes = (size_t)from->counters * sizeof(struct perfmon_profile_counter);
	struct pm_snapshot_plan plan = {.generation = from->generation,
					.counter_count = from->counters,
					.time = from->time};
	int err;

	if (from->counters > PERFMON_PROFILE_COUNTERS_MAX || bytes > left)
		return -EINVAL;
	plan.counters = malloc(bytes + 1);
	if (!plan.counters)
		return -ENOMEM;
	pm_walk_copy_plan(plan.counters, walk->base + behind, bytes);
	for (uint32_t c = 0; c < plan.counter_count; c++)
		mend(s, &plan.counters[c]);
	err = PM_GROW(s->plans, s->plan_count) ? events_add(walk, &plan) : -ENOMEM;
	if (err) {
		free(plan.counters);
		return err;
	}
	s->plans[s->plan_count++] = plan;
	if (s->plan_count == 1 || plan.generation >= s->generation) {
		s->generation = plan.generation;
		s->counters = plan.counters;
		s->counter_count = plan.counter_count;
	}
	return 0;
}

int pm_walk_plans(struct pm_walk *walk)
{
	static const struct pm_walk_kind kind = {PERFMON_PROFILE_TYPE_PLAN,
						 sizeof(struct perfmon_profile_plan),
						 "a bad plan of events", take_plan};
	struct pm_walk_events *events = calloc(1, sizeof(*events));
	int err;

	if (!events)
		return -ENOMEM;
	events->seed = pm_hash_seed();
	events->most = PERFMON_PROFILE_COUNTERS_MAX;
	walk->events = events;
	err = pm_walk_each(walk, &kind);
	if (err == -E2BIG) {
		pm_snapshot_problem(walk->s,
				    "the profile counts more than %u different events: "
				    "events of later plans are missing",
				    events->most);
		err = 0;
	}
	free(events);
	return err;
}

static int take_note(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left)
{
	const struct perfmon_profile_note *note = head;
	uint64_t lacking = pm_walk_word(walk->base +
					offsetof(struct perfmon_profile_header, lacking));
	struct pm_snapshot *s = walk->s;
	char *text;

	if (note->length > left)
		return -EINVAL;
	if (!PM_GROW(s->notes, s->note_count))
		return -ENOMEM;
	text = text_copy(walk, behind, note->length);
	if (!text)
		return -ENOMEM;
	if (lacking && behind == lacking + sizeof(*note)) {
		pm_snapshot_problem(s, "%s", text);
		free(text);
	} else {
		s->notes[s->note_count++] = text;
	}
	return 0;
}

static int take_unmatched(struct pm_walk *walk, void *head, uint64_t behind,
			  uint64_t left)
{
	const struct perfmon_profile_unmatched *kind = head;
	struct pm_snapshot *s = walk->s;
	struct pm_snapshot_unmatched *to;
	char *text;

	if (kind->name_length > left || kind->place_length > left - kind->name_length)
		return -EINVAL;
	if (!PM_GROW(s->unmatched, s->unmatched_count))
		return -ENOMEM;
	text = text_copy(walk, behind, (size_t)kind->name_length + kind->place_length);
	if (!text)
		return -ENOMEM;
	/* pm_snapshot_free() frees the part that was copied. */
	to = &s->unmatched[s->unmatched_count++];
	to->count = kind->count;
	to->name = strndup(text, kind->name_length);
	to->place = strdup(text + kind->name_length);
	free(text);
	return to->name && to->place ? 0 : -ENOMEM;
}

static int take_machine(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left)
{
	const struct perfmon_profile_machine *machine = head;
	struct pm_cpu_kinds *kinds = &walk->s->kinds;

	if (machine->kinds > left / sizeof(struct perfmon_profile_kind))
		return -EINVAL;
	/* A machine with too many kinds of CPU counts as unknown. */
	if (machine->kinds > PM_CPU_KINDS)
		return 0;
	kinds->slots = machine->slots <= UINT8_MAX ? machine->slots : 0;
	for (; kinds->count < machine->kinds; kinds->count++) {
		struct perfmon_profile_kind kind;

		pm_walk_copy(&kind, walk->base + behind + kinds->count * sizeof(kind),
			     sizeof(kind));
		kinds->kind[kinds->count] = (struct pm_cpu_kind){
			.maker = kind.maker <= PM_CPU_ARM ? (enum pm_cpu_maker)kind.maker
							  : PM_CPU_UNKNOWN,
			.family = kind.family,
			.model = kind.model,
		};
	}
	return 0;
}

static int take_arguments(struct pm_walk *walk, void *head, uint64_t behind,
			  uint64_t left)
{
	const struct perfmon_profile_arguments *arguments = head;
	struct pm_snapshot *s = walk->s;

	if (arguments->length > left || arguments->length > PERFMON_PROFILE_ARGUMENTS_MAX)
		return -EINVAL;
	s->arguments = text_copy(walk, behind, arguments->length);
	s->arguments_length = arguments->length;
	s->arguments_cut = arguments->flags & PERFMON_PROFILE_ARGUMENTS_CUT;
	return s->arguments ? 0 : -ENOMEM;
}

static int take_run_note(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left)
{
	const struct perfmon_profile_run_note *note = head;
	char text[PM_RUN_NOTE_KEY + PM_RUN_NOTE_VALUE + 8];
	struct pm_snapshot *s = walk->s;
	struct pm_slice key, value;

	if (!s->run_notes)
		s->run_notes = calloc(1, sizeof(*s->run_notes));
	if (!s->run_notes)
		return -ENOMEM;
	if (note->key_length > PM_RUN_NOTE_KEY ||
	    note->value_length > PM_RUN_NOTE_VALUE ||
	    note->key_length + note->value_length > left)
		return -EINVAL;
	pm_walk_copy(text, walk->base + behind,
		     (note->key_length + note->value_length + 7) & ~(size_t)7);
	key = (struct pm_slice){text, note->key_length};
	value = (struct pm_slice){text + note->key_length, note->value_length};
	return pm_run_note_set(s->run_notes, key, value) ? 0 : -EINVAL;
}

static int take_totals(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left)
{
	const struct perfmon_profile_totals *totals = head;
	struct pm_snapshot *s = walk->s;

	if (totals->counters > left / sizeof(s->totals[0]))
		return -EINVAL;
	if (totals->generation != s->generation || totals->counters != s->counter_count)
		return 0;
	pm_walk_copy(s->totals, walk->base + behind,
		     totals->counters * sizeof(s->totals[0]));
	s->has_totals = false;
	for (uint32_t c = 0; c < totals->counters; c++)
		s->has_totals |= s->totals[c] != 0;
	return 0;
}

static int take_packages(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left)
{
	struct perfmon_profile_packages *to = &walk->s->packages;

	(void)behind;
	(void)left;
	*to = *(const struct perfmon_profile_packages *)head;
	to->place[sizeof(to->place) - 1] = '\0';
	return 0;
}

int pm_walk_rest(struct pm_walk *walk)
{
	static const struct pm_walk_kind kinds[] = {
		{PERFMON_PROFILE_TYPE_CODE, sizeof(struct perfmon_profile_code),
		 "a bad place of code", take_code},
		{PERFMON_PROFILE_TYPE_NOTE, sizeof(struct perfmon_profile_note),
		 "a bad note", take_note},
		{PERFMON_PROFILE_TYPE_UNMATCHED, sizeof(struct perfmon_profile_unmatched),
		 "a bad END", take_unmatched},
		{PERFMON_PROFILE_TYPE_ARGUMENTS, sizeof(struct perfmon_profile_arguments),
		 "bad arguments", take_arguments},
		{PERFMON_PROFILE_TYPE_RUN_NOTE, sizeof(struct perfmon_profile_run_note),
		 "a bad note of the run", take_run_note},
		{PERFMON_PROFILE_TYPE_MACHINE, sizeof(struct perfmon_profile_machine),
		 "a bad machine", take_machine},
		{PERFMON_PROFILE_TYPE_TOTALS, sizeof(struct perfmon_profile_totals),
		 "bad totals", take_totals},
		{PERFMON_PROFILE_TYPE_PACKAGES, sizeof(struct perfmon_profile_packages),
		 "bad packages", take_packages},
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		err = pm_walk_each(walk, &kinds[i]);
	return err;
}
