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

static int list_add(struct pm_walk_list *list, uint64_t at)
{
	if (!PM_GROW(list->at, list->count))
		return -ENOMEM;
	list->at[list->count++] = at;
	return 0;
}

bool pm_walk_has(const struct pm_walk_list *list, uint64_t at)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->at[middle] == at)
			return true;
		if (list->at[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

int pm_walk_find(struct pm_walk *walk)
{
	const struct perfmon_profile_header *header = (const void *)walk->base;
	/* Pairs with the release store of `used` in pm_profile_publish(). */
	uint64_t used = __atomic_load_n(&header->used, __ATOMIC_ACQUIRE);
	/* The writer stores private_from before any `used` beyond it. The file may be
	 * longer: an allocation that failed halfway may have lengthened it. */
	uint64_t own = pm_walk_word((const unsigned char *)&header->private_from);
	int err = 0;

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
	while (!walk->blocked && !err && walk->next < used) {
		uint64_t at = walk->next, lead[2];
		uint32_t type;

		if (used - at < sizeof(lead)) {
			pm_snapshot_problem(walk->s, "the profile ends inside a record");
			walk->blocked = true;
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
			walk->blocked = true;
			break;
		}
		switch (type) {
		case PERFMON_PROFILE_TYPE_PLAN:
			err = list_add(&walk->plans, at);
			break;
		case PERFMON_PROFILE_TYPE_REGION:
			err = list_add(&walk->regions, at);
			break;
		case PERFMON_PROFILE_TYPE_THREAD:
			err = list_add(&walk->threads, at);
			break;
		case PERFMON_PROFILE_TYPE_JOINED:
			err = list_add(&walk->joined, at);
			break;
		case PERFMON_PROFILE_TYPE_NODES:
			err = list_add(&walk->nodes, at);
			break;
		case PERFMON_PROFILE_TYPE_NOTE:
			err = list_add(&walk->notes, at);
			break;
		case PERFMON_PROFILE_TYPE_UNMATCHED:
			err = list_add(&walk->unmatched, at);
			break;
		case PERFMON_PROFILE_TYPE_TOTALS:
			err = list_add(&walk->totals, at);
			break;
		case PERFMON_PROFILE_TYPE_RUN_NOTE:
			err = list_add(&walk->run_notes, at);
			break;
		case PERFMON_PROFILE_TYPE_CODE:
			err = list_add(&walk->codes, at);
			break;
		case PERFMON_PROFILE_TYPE_STEPS:
			err = list_add(&walk->steps, at);
			break;
		case PERFMON_PROFILE_TYPE_MACHINE:
			if (!walk->machine)
				walk->machine = at;
			break;
		case PERFMON_PROFILE_TYPE_PACKAGES:
			if (!walk->packages)
				walk->packages = at;
			break;
		case PERFMON_PROFILE_TYPE_ARGUMENTS:
			if (!walk->arguments)
				walk->arguments = at;
			break;
		}
		walk->next = at + lead[1];
	}
	return err;
}

uint64_t pm_walk_record_size(const struct pm_walk *walk, uint64_t at)
{
	uint64_t size = pm_walk_word(walk->base + at + 8);

	/* Checked again, since the file may have changed since. */
	return size > walk->size - at || size % 8 ? 0 : size;
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

int pm_walk_notes(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;

	uint64_t lacking = pm_walk_word(walk->base +
					offsetof(struct perfmon_profile_header, lacking));

	s->notes = calloc(walk->notes.count + 1, sizeof(*s->notes));
	if (!s->notes)
		return -ENOMEM;
	for (size_t i = 0; i < walk->notes.count; i++) {
		uint64_t at = walk->notes.at[i], size = pm_walk_record_size(walk, at);
		struct perfmon_profile_note note;

		if (size < sizeof(note))
			goto bad;
		pm_walk_copy(&note, walk->base + at, sizeof(note));
		if (note.length > size - sizeof(note))
			goto bad;
		s->notes[s->note_count] = text_copy(walk, at + sizeof(note), note.length);
		if (!s->notes[s->note_count])
			return -ENOMEM;
		if (lacking && at == lacking) {
			pm_snapshot_problem(s, "%s", s->notes[s->note_count]);
			free(s->notes[s->note_count]);
			s->notes[s->note_count] = NULL;
		} else {
			s->note_count++;
		}
		continue;
	bad:
		pm_snapshot_problem(s, "the profile has a bad note at byte %llu",
				    (unsigned long long)at);
	}
	return 0;
}

int pm_walk_unmatched(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;

	s->unmatched = calloc(walk->unmatched.count + 1, sizeof(*s->unmatched));
	if (!s->unmatched)
		return -ENOMEM;
	for (size_t i = 0; i < walk->unmatched.count; i++) {
		uint64_t at = walk->unmatched.at[i], size = pm_walk_record_size(walk, at);
		struct pm_snapshot_unmatched *to = &s->unmatched[s->unmatched_count];
		struct perfmon_profile_unmatched kind;
		char *text;

		if (size < sizeof(kind))
			goto bad;
		pm_walk_copy(&kind, walk->base + at, sizeof(kind));
		size -= sizeof(kind);
		if (kind.name_length > size ||
		    kind.place_length > size - kind.name_length)
			goto bad;
		text = text_copy(walk, at + sizeof(kind),
				 kind.name_length + kind.place_length);
		if (!text)
			return -ENOMEM;
		to->count = kind.count;
		to->name = strndup(text, kind.name_length);
		to->place = strdup(text + kind.name_length);
		free(text);
		/* pm_snapshot_free() frees the part that was copied. */
		s->unmatched_count++;
		if (!to->name || !to->place)
			return -ENOMEM;
		continue;
	bad:
		pm_snapshot_problem(s, "the profile has a bad END at byte %llu",
				    (unsigned long long)at);
	}
	return 0;
}

int pm_walk_regions(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;
	uint32_t limit = (uint32_t)walk->regions.count + REGION_GAP, last = 0;
	char **names = calloc((size_t)limit + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	s->regions = names;
	s->region_count = limit;
	names[0] = strdup("");
	if (!names[0])
		return -ENOMEM;
	for (size_t i = 0; i < walk->regions.count; i++) {
		uint64_t at = walk->regions.at[i], size = pm_walk_record_size(walk, at);
		struct perfmon_profile_region region;

		if (size < sizeof(region))
			goto bad;
		pm_walk_copy(&region, walk->base + at, sizeof(region));
		if (!region.id || region.id > limit || names[region.id] ||
		    region.length > PERFMON_PROFILE_NAME_MAX ||
		    region.length > size - sizeof(region))
			goto bad;
		names[region.id] = text_copy(walk, at + sizeof(region), region.length);
		if (!names[region.id])
			return -ENOMEM;
		if (region.id > last)
			last = region.id;
		continue;
	bad:
		pm_snapshot_problem(s, "the profile has a bad region at byte %llu",
				    (unsigned long long)at);
	}
	for (uint32_t id = 1; id <= last; id++) {
		if (!names[id] && asprintf(&names[id], "(region %u)", id) < 0) {
			names[id] = NULL;
			return -ENOMEM;
		}
	}
	s->region_count = last;
	return 0;
}

/* Takes the code of a region from the record at AT. Returns 0, -ENOMEM, or -EINVAL if the record is bad. */
static int take_code(const struct pm_walk *walk, uint64_t at)
{
	uint64_t size = pm_walk_record_size(walk, at);
	struct pm_snapshot_code made = {.offset = 0}, **to;
	struct perfmon_profile_code code;
	char *text;

	if (size < sizeof(code))
		return -EINVAL;
	pm_walk_copy(&code, walk->base + at, sizeof(code));
	size -= sizeof(code);
	if (!code.region || code.region > walk->s->region_count ||
	    code.build_length > PERFMON_PROFILE_BUILD_ID_MAX ||
	    code.path_length > PERFMON_PROFILE_PATH_MAX ||
	    (uint64_t)code.build_length + code.path_length > size)
		return -EINVAL;
	text = text_copy(walk, at + sizeof(code), code.build_length + code.path_length);
	if (!text)
		return -ENOMEM;
	made.offset = code.offset;
	memcpy(made.build_id, text, code.build_length);
	to = &walk->s->codes[code.region];
	free(*to);
	*to = pm_snapshot_code_make(&made, text + code.build_length, code.path_length);
	free(text);
	return *to ? 0 : -ENOMEM;
}

int pm_walk_codes(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;

	if (!walk->codes.count)
		return 0;
	s->codes = calloc((size_t)s->region_count + 1, sizeof(*s->codes));
	if (!s->codes)
		return -ENOMEM;
	for (size_t i = 0; i < walk->codes.count; i++) {
		int err = take_code(walk, walk->codes.at[i]);

		if (err == -ENOMEM)
			return err;
		if (err)
			pm_snapshot_problem(
				s, "the profile has a bad place of code at byte %llu",
				(unsigned long long)walk->codes.at[i]);
	}
	return 0;
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
struct events {
	const struct perfmon_profile_counter *entry[4 * PM_WALK_EVENTS];
	uint64_t seed; /* random: a profile cannot choose names that collide */
	uint32_t count, most;
	bool by_paths; /* MOST is computed from the number of paths, not of all threads' nodes */
};

static bool same_event(const struct perfmon_profile_counter *a,
		       const struct perfmon_profile_counter *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->unit, b->unit) &&
	       !memcmp(&a->scale, &b->scale, sizeof(a->scale));
}

/* Reports have values of steps as they have of paths. */
static uint64_t count_steps(const struct pm_snapshot *s)
{
	uint64_t steps = 0;

	for (uint32_t i = 0; i < s->steps_count; i++)
		steps += s->steps[i].count;
	return steps;
}

/* Adds the paths of the COUNT threads at THREADS to PAIRS. */
static int add_paths(struct pm_pairs *pairs, const struct pm_snapshot_thread *threads,
		     uint32_t count)
{
	uint32_t most = 0, *number;
	int err = 0;

	for (uint32_t t = 0; t < count; t++)
		if (threads[t].node_count > most)
			most = threads[t].node_count;
	number = calloc((size_t)most + 1, sizeof(*number));
	if (!number)
		return -ENOMEM;
	for (uint32_t t = 0; !err && t < count; t++) {
		for (uint32_t n = 2; !err && n <= threads[t].node_count; n++) {
			const struct perfmon_profile_node *node =
				pm_snapshot_node(&threads[t], n);

			err = pm_pairs_get(
				pairs, node->parent > 1 ? number[node->parent] : 0,
				node->region, (uint32_t)pairs->count + 1, &number[n]);
		}
	}
	free(number);
	return err;
}

/* Counts the different paths of all threads of S, and the steps. */
static int count_paths(const struct pm_snapshot *s, uint64_t *paths)
{
	struct pm_pairs pairs = {0};
	int err = add_paths(&pairs, s->threads, s->thread_count)
			  ?: add_paths(&pairs, s->joined, s->joined_count);

	*paths = pairs.count + count_steps(s);
	pm_pairs_free(&pairs);
	return err;
}

/* Adds the events of PLAN. Returns 0, -ENOMEM, or -E2BIG if there are too many. */
static int events_add(struct events *events, const struct pm_walk *walk,
		      const struct pm_snapshot_plan *plan)
{
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
			events->most = pm_walk_events_most(walk->size, paths);
		}
		if (events->count == events->most)
			return -E2BIG;
		events->entry[at] = counter;
		events->count++;
	}
	return 0;
}

static int take_plans(struct pm_walk *walk, struct events *events)
{
	struct pm_snapshot *s = walk->s;

	s->plans = calloc(walk->plans.count + 1, sizeof(*s->plans));
	if (!s->plans)
		return -ENOMEM;
	for (size_t i = 0; i < walk->plans.count; i++) {
		uint64_t at = walk->plans.at[i], size = pm_walk_record_size(walk, at);
		struct pm_snapshot_plan *plan = &s->plans[s->plan_count];
		struct perfmon_profile_plan head;
		size_t bytes;
		int err;

		if (size < sizeof(head))
			goto bad;
		pm_walk_copy_plan(&head, walk->base + at, sizeof(head));
		bytes = (size_t)head.counters * sizeof(*plan->counters);
		if (head.counters > PERFMON_PROFILE_COUNTERS_MAX ||
		    bytes > size - sizeof(head))
			goto bad;
		plan->counters = malloc(bytes + 1);
		if (!plan->counters)
			return -ENOMEM;
		pm_walk_copy_plan(plan->counters, walk->base + at + sizeof(head), bytes);
		for (uint32_t c = 0; c < head.counters; c++)
			mend(s, &plan->counters[c]);
		plan->generation = head.generation;
		plan->counter_count = head.counters;
		plan->time = head.time;
		err = events_add(events, walk, plan);
		if (err)
			free(plan->counters);
		if (err == -E2BIG) {
			pm_snapshot_problem(s,
					    "the profile counts more than %u different "
					    "events: events of later plans are missing",
					    events->most);
			break;
		}
		if (err)
			return err;
		s->plan_count++;
		if (s->plan_count == 1 || plan->generation >= s->generation) {
			s->generation = plan->generation;
			s->counters = plan->counters;
			s->counter_count = plan->counter_count;
		}
		continue;
	bad:
		pm_snapshot_problem(s,
				    "the profile has a bad plan of events at byte %llu",
				    (unsigned long long)at);
	}
	return 0;
}

int pm_walk_plans(struct pm_walk *walk)
{
	const struct pm_snapshot *s = walk->s;
	uint64_t nodes = count_steps(s);
	struct events *events = calloc(1, sizeof(*events));
	int err = events ? 0 : -ENOMEM;

	if (!err) {
		for (uint32_t t = 0; t < s->thread_count; t++)
			nodes += s->threads[t].node_count;
		for (uint32_t t = 0; t < s->joined_count; t++)
			nodes += s->joined[t].node_count;
		events->seed = pm_hash_seed();
		events->most = pm_walk_events_most(walk->size, nodes);
		err = take_plans(walk, events);
	}
	free(events);
	return err;
}

void pm_walk_machine(struct pm_walk *walk)
{
	struct pm_cpu_kinds *kinds = &walk->s->kinds;
	struct perfmon_profile_machine machine;
	uint64_t size;

	if (!walk->machine)
		return;
	size = pm_walk_record_size(walk, walk->machine);
	if (size >= sizeof(machine))
		pm_walk_copy(&machine, walk->base + walk->machine, sizeof(machine));
	if (size < sizeof(machine) ||
	    machine.kinds >
		    (size - sizeof(machine)) / sizeof(struct perfmon_profile_kind)) {
		pm_snapshot_problem(walk->s, "the profile has a bad machine at byte %llu",
				    (unsigned long long)walk->machine);
		return;
	}
	/* A machine with too many kinds of CPU counts as unknown. */
	if (machine.kinds > PM_CPU_KINDS)
		return;
	kinds->slots = machine.slots <= UINT8_MAX ? machine.slots : 0;
	for (uint32_t i = 0; i < machine.kinds; i++) {
		struct perfmon_profile_kind kind;

		pm_walk_copy(&kind,
			     walk->base + walk->machine + sizeof(machine) +
				     i * sizeof(kind),
			     sizeof(kind));
		kinds->kind[kinds->count++] = (struct pm_cpu_kind){
			.maker = kind.maker <= PM_CPU_ARM ? (enum pm_cpu_maker)kind.maker
							  : PM_CPU_UNKNOWN,
			.family = kind.family,
			.model = kind.model,
		};
	}
}

int pm_walk_arguments(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;
	struct perfmon_profile_arguments arguments;
	uint64_t size;

	if (!walk->arguments)
		return 0;
	size = pm_walk_record_size(walk, walk->arguments);
	if (size >= sizeof(arguments))
		pm_walk_copy(&arguments, walk->base + walk->arguments, sizeof(arguments));
	if (size < sizeof(arguments) || arguments.length > size - sizeof(arguments) ||
	    arguments.length > PERFMON_PROFILE_ARGUMENTS_MAX) {
		pm_snapshot_problem(s, "the profile has bad arguments at byte %llu",
				    (unsigned long long)walk->arguments);
		return 0;
	}
	s->arguments =
		text_copy(walk, walk->arguments + sizeof(arguments), arguments.length);
	s->arguments_length = arguments.length;
	s->arguments_cut = arguments.flags & PERFMON_PROFILE_ARGUMENTS_CUT;
	return s->arguments ? 0 : -ENOMEM;
}

/* Takes the note at AT. Returns false if it is not good. */
static bool take_run_note(const struct pm_walk *walk, uint64_t at)
{
	uint64_t size = pm_walk_record_size(walk, at);
	struct perfmon_profile_run_note note;
	char text[PM_RUN_NOTE_KEY + PM_RUN_NOTE_VALUE + 8];
	struct pm_slice key, value;

	if (size < sizeof(note))
		return false;
	pm_walk_copy(&note, walk->base + at, sizeof(note));
	if (note.key_length > PM_RUN_NOTE_KEY || note.value_length > PM_RUN_NOTE_VALUE ||
	    note.key_length + note.value_length > size - sizeof(note))
		return false;
	pm_walk_copy(text, walk->base + at + sizeof(note),
		     (note.key_length + note.value_length + 7) & ~(size_t)7);
	key = (struct pm_slice){text, note.key_length};
	value = (struct pm_slice){text + note.key_length, note.value_length};
	return pm_run_note_set(walk->s->run_notes, key, value);
}

int pm_walk_run_notes(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;

	if (!walk->run_notes.count)
		return 0;
	s->run_notes = calloc(1, sizeof(*s->run_notes));
	if (!s->run_notes)
		return -ENOMEM;
	for (size_t i = 0; i < walk->run_notes.count; i++)
		if (!take_run_note(walk, walk->run_notes.at[i]))
			pm_snapshot_problem(s,
					    "the profile has a bad note of the run at "
					    "byte %llu",
					    (unsigned long long)walk->run_notes.at[i]);
	return 0;
}

void pm_walk_totals(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;

	for (size_t i = 0; i < walk->totals.count; i++) {
		uint64_t at = walk->totals.at[i], size = pm_walk_record_size(walk, at);
		struct perfmon_profile_totals totals;

		if (size >= sizeof(totals))
			pm_walk_copy(&totals, walk->base + at, sizeof(totals));
		if (size < sizeof(totals) ||
		    totals.counters > (size - sizeof(totals)) / sizeof(s->totals[0])) {
			pm_snapshot_problem(s, "the profile has bad totals at byte %llu",
					    (unsigned long long)at);
			continue;
		}
		if (totals.generation != s->generation ||
		    totals.counters != s->counter_count)
			continue;
		pm_walk_copy((unsigned char *)s->totals, walk->base + at + sizeof(totals),
			     totals.counters * sizeof(s->totals[0]));
		s->has_totals = false;
		for (uint32_t c = 0; c < totals.counters; c++)
			s->has_totals |= s->totals[c] != 0;
	}
}

void pm_walk_packages(struct pm_walk *walk)
{
	struct perfmon_profile_packages *to = &walk->s->packages;

	if (!walk->packages)
		return;
	if (pm_walk_record_size(walk, walk->packages) < sizeof(*to)) {
		pm_snapshot_problem(walk->s, "the profile has bad packages at byte %llu",
				    (unsigned long long)walk->packages);
		return;
	}
	pm_walk_copy(to, walk->base + walk->packages, sizeof(*to));
	to->place[sizeof(to->place) - 1] = '\0';
}
