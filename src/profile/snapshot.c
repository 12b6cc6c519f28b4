/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arch/arch.h"
#include "os/os.h"
#include "profile/walk.h"

/* Whole walks before a snapshot goes out although threads were being added up. */
#define WALKS 12
/* Attempts at one node, and at all nodes of a snapshot, beyond their first: of a profile
 * whose writer is out of sight all may be odd for ever. */
#define NODE_TRIES 200
#define ALL_TRIES  100000

#if defined(__SANITIZE_THREAD__)
#define FENCE_ACQUIRE() ((void)0)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FENCE_ACQUIRE() ((void)0)
#endif
#endif
#ifndef FENCE_ACQUIRE
/* The sanitizer knows no fences, and misses none: all that is shared is atomic. */
#define FENCE_ACQUIRE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

static void relax(unsigned int attempt)
{
	unsigned int spins = attempt < 7 ? 1u << attempt : 128;

	while (spins--) {
#if defined(__x86_64__)
		__asm__ __volatile__("pause");
#elif defined(__aarch64__)
		__asm__ __volatile__("yield");
#else
		__asm__ __volatile__("" ::: "memory");
#endif
	}
}

/* Copies one node; false if it did not hold still within MOST more attempts, or *TRIES.
 * Counts all of them in *LOOKS. */
static bool take_node(const unsigned char *from, struct perfmon_profile_node *node,
		      size_t size, unsigned int most, unsigned int *tries,
		      uint64_t *looks)
{
	const uint64_t *sequence =
		&((const struct perfmon_profile_node *)(const void *)from)->sequence;
	unsigned int attempt;
	uint64_t before;

	for (attempt = 0;; attempt++) {
		++*looks;
		/* Partner: the writer's release store of the even sequence. */
		before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
		pm_walk_copy(node, from, size);
		node->sequence = before;
		/* Orders the copy before the second look; partner: the writer's
		 * store-store fence after the odd sequence. */
		FENCE_ACQUIRE();
		if (!(before & 1) &&
		    __atomic_load_n(sequence, __ATOMIC_RELAXED) == before)
			return true;
		if (attempt >= most || !*tries)
			return false;
		--*tries;
		relax(attempt);
	}
}

static bool read_whole(const struct pm_snapshot_file *file, void *to, size_t size,
		       uint64_t at)
{
	return file->read(file->argument, to, size, at) == (ssize_t)size;
}

/* The same of a node that stands AT in a file, with its copy FROM: that is what remains
 * of it where the file has become shorter. */
static bool read_node(const struct pm_snapshot_file *file, uint64_t at,
		      const unsigned char *from, struct perfmon_profile_node *node,
		      size_t size, unsigned int most, unsigned int *tries,
		      uint64_t *looks)
{
	const uint64_t place = at + offsetof(struct perfmon_profile_node, sequence);
	unsigned int attempt;
	uint64_t before, after;

	for (attempt = 0;; attempt++) {
		++*looks;
		if (!read_whole(file, &before, sizeof(before), place) ||
		    !read_whole(file, node, size, at) ||
		    !read_whole(file, &after, sizeof(after), place)) {
			pm_walk_copy(node, from, size);
			return false;
		}
		node->sequence = before;
		/* Each read is a call, which no other passes: as in take_node(). */
		if (!(before & 1) && before == after)
			return true;
		if (attempt >= most || !*tries)
			return false;
		--*tries;
		relax(attempt);
	}
}

/* What does not fit a tree of nodes, or NULL. DEPTHS has those of the nodes before it, from
 * the first one's, and gets its own. */
static const char *node_wrong(const struct perfmon_profile_node *node, uint32_t number,
			      uint16_t *depths)
{
	depths[number - 1] = 0;
	if (number == 1)
		return node->parent || node->region ? "its root" : NULL;
	if (!node->parent || node->parent >= number)
		return "a node's parent";
	if (!node->region)
		return "a node's region";
	/* Reports write paths in full: without a bound each node of a chain would add a
	 * line as long as the chain. */
	if (depths[node->parent - 1] >= PERFMON_PROFILE_DEPTH)
		return "a node's depth";
	depths[number - 1] = (uint16_t)(depths[node->parent - 1] + 1);
	return NULL;
}

/* ARRAY with room for COUNT elements of SIZE bytes; false without memory. */
static bool make_room(void *array, size_t count, size_t size)
{
	void *old, *larger;

	memcpy(&old, array, sizeof(old));
	larger = reallocarray(old, count, size);
	if (!larger)
		return false;
	memcpy(array, &larger, sizeof(larger));
	return true;
}

/* Copies the nodes of THREAD, which stands at offset AT. */
static int take_nodes(struct pm_walk *walk, struct pm_snapshot_thread *thread,
		      uint64_t at)
{
	const struct perfmon_profile_thread *record = &thread->record;
	uint32_t counters = record->counters, count = 0;
	uint64_t chain = record->nodes;
	unsigned int node_tries = walk->flags & PM_SNAPSHOT_STILL ? 0 : NODE_TRIES;
	const char *wrong = NULL;
	uint16_t *depths = NULL;
	size_t room = 0;
	int err = 0;

	if (counters > PERFMON_PROFILE_COUNTERS) {
		wrong = "its number of counters";
		goto out;
	}
	thread->node_size = sizeof(struct perfmon_profile_node) +
			    counters * sizeof(struct perfmon_profile_count);
	if (record->flags & PERFMON_THREAD_STRIDE)
		thread->node_size +=
			sizeof(struct perfmon_profile_stride) + counters * sizeof(double);
	while (count < record->node_count) {
		struct perfmon_profile_nodes nodes;
		uint64_t size;
		uint32_t here;

		if (!pm_walk_has(&walk->nodes, chain)) {
			/* It may have come since. */
			err = pm_walk_find(walk);
			if (err)
				goto failed;
		}
		wrong = "the place of its nodes";
		if (!pm_walk_has(&walk->nodes, chain))
			break;
		size = pm_walk_record_size(walk, chain);
		if (size < sizeof(nodes))
			break;
		pm_walk_copy(&nodes, walk->base + chain, sizeof(nodes));
		if (nodes.thread != at || nodes.first != count + 1 || !nodes.capacity ||
		    nodes.node_size < thread->node_size || nodes.node_size % 8 ||
		    nodes.capacity > (size - sizeof(nodes)) / nodes.node_size)
			break;
		wrong = NULL;
		here = record->node_count - count;
		if (here > nodes.capacity)
			here = nodes.capacity;
		if (count + (size_t)here > room) {
			room = count + (size_t)here;
			err = -ENOMEM;
			if (!make_room(&thread->nodes, room, thread->node_size) ||
			    !make_room(&depths, room, sizeof(*depths)))
				goto failed;
			err = 0;
		}
		for (uint32_t i = 0; i < here && !wrong; i++) {
			const unsigned char *from = walk->base + chain + sizeof(nodes) +
						    (size_t)i * nodes.node_size;
			struct perfmon_profile_node *node =
				pm_snapshot_node(thread, count + 1);

			if (walk->file
				    ? read_node(walk->file, (uint64_t)(from - walk->base),
						from, node, thread->node_size, node_tries,
						walk->tries, &walk->s->looks)
				    : take_node(from, node, thread->node_size, node_tries,
						walk->tries, &walk->s->looks)) {
				node->flags &= ~PM_SNAPSHOT_TORN;
			} else {
				node->flags |= PM_SNAPSHOT_TORN;
				thread->torn++;
			}
			wrong = node_wrong(node, count + 1, depths);
			if (!wrong)
				count++;
		}
		if (wrong)
			break;
		chain = nodes.next;
	}
	thread->node_count = count;
out:
	if (wrong)
		pm_snapshot_problem(
			walk->s,
			"the profile's thread at byte %llu cannot be read in full: %s is "
			"wrong",
			(unsigned long long)at, wrong);
failed:
	free(depths);
	return err;
}

/* What does not depend on its nodes. False if there is nothing to take. */
static bool take_thread_record(struct pm_walk *walk, struct pm_snapshot_thread *thread,
			       uint64_t at)
{
	const struct perfmon_profile_thread *shared = (const void *)(walk->base + at);
	uint64_t size = pm_walk_record_size(walk, at);
	uint32_t state, node_count;

	/* The first profiles had no CPUs in it. */
	if (size < offsetof(struct perfmon_profile_thread, cpus)) {
		pm_snapshot_problem(walk->s, "the profile has a bad thread at byte %llu",
				    (unsigned long long)at);
		return false;
	}
	/* Partner: the release store of the state when a thread has filled its record in.
	 */
	state = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE);
	if (state == PERFMON_THREAD_UNUSED)
		return false;
	if (state < PERFMON_THREAD_LIVE || state > PERFMON_THREAD_UNUSED) {
		pm_snapshot_problem(
			walk->s, "the profile has a thread of unknown state %u", state);
		return false;
	}
	/* Partner: the release store of the count when a node has been filled in. */
	node_count = __atomic_load_n(&shared->node_count, __ATOMIC_ACQUIRE);
	pm_walk_copy(&thread->record, walk->base + at,
		     size < sizeof(*shared) ? size : sizeof(*shared));
	thread->record.state = state;
	thread->record.node_count = node_count;
	thread->record.name[sizeof(thread->record.name) - 1] = '\0';
	return true;
}

static int by_generation(const void *a, const void *b)
{
	const struct pm_snapshot_plan *x = *(const struct pm_snapshot_plan *const *)a;
	const struct pm_snapshot_plan *y = *(const struct pm_snapshot_plan *const *)b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->counter_count != y->counter_count)
		return x->counter_count < y->counter_count ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The first plan of RECORD's generation and number of counters; ORDER has all of them. */
static const struct pm_snapshot_plan *plan_of(struct pm_snapshot *s,
					      const struct pm_snapshot_plan *const *order,
					      const struct perfmon_profile_thread *record)
{
	uint32_t low = 0, high = s->plan_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (order[middle]->generation < record->generation ||
		    (order[middle]->generation == record->generation &&
		     order[middle]->counter_count < record->counters))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < s->plan_count && order[low]->generation == record->generation &&
	    order[low]->counter_count == record->counters)
		return order[low];
	if (record->counters)
		pm_snapshot_problem(
			s, "a thread of the profile counts events that no plan names");
	return NULL;
}

static int find_plans(struct pm_snapshot *s)
{
	const struct pm_snapshot_plan **order =
		malloc(((size_t)s->plan_count + 1) * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t p = 0; p < s->plan_count; p++)
		order[p] = &s->plans[p];
	qsort(order, s->plan_count, sizeof(*order), by_generation);
	for (uint32_t t = 0; t < s->thread_count; t++)
		s->threads[t].plan = plan_of(s, order, &s->threads[t].record);
	free(order);
	return 0;
}

static int take_threads(struct pm_walk *walk)
{
	struct pm_snapshot *s = walk->s;
	size_t room = 0;

	/* The list may grow while its threads are copied; the new ones come later. */
	for (size_t i = 0; i < walk->threads.count; i++) {
		struct pm_snapshot_thread *thread;
		int err;

		if (s->thread_count == room) {
			struct pm_snapshot_thread *larger;

			room = room ? 2 * room : 16;
			larger = realloc(s->threads, room * sizeof(*larger));
			if (!larger)
				return -ENOMEM;
			s->threads = larger;
		}
		thread = &s->threads[s->thread_count];
		memset(thread, 0, sizeof(*thread));
		if (!take_thread_record(walk, thread, walk->threads.at[i]))
			continue;
		s->thread_count++;
		err = take_nodes(walk, thread, walk->threads.at[i]);
		if (err)
			return err;
	}
	return 0;
}

/* Cuts each thread before its first node whose region has no name: names were taken
 * after the nodes, so that only a corrupt profile has one. */
static void check_regions(struct pm_snapshot *s)
{
	for (uint32_t t = 0; t < s->thread_count; t++) {
		struct pm_snapshot_thread *thread = &s->threads[t];

		for (uint32_t n = 1; n <= thread->node_count; n++) {
			if (pm_snapshot_node(thread, n)->region <= s->region_count)
				continue;
			pm_snapshot_problem(
				s, "the profile has a node of an unknown region %u",
				pm_snapshot_node(thread, n)->region);
			thread->node_count = n - 1;
		}
	}
}

/* Where the profile does not tell how exactly its clocks were read at the same time. */
#define CLOCK_ERROR_NS 250

/* Times have four digits: the last one is wrong by 5 at most. */
#define RATE_ERROR_MOST 0.0005

/* Whether how long a tick is has to be measured. */
static bool is_measured(const struct perfmon_profile_header *header)
{
	return header->clock != PERFMON_CLOCK_MONOTONIC && !header->ticks_hz;
}

/* The rate from the first moment to the one at TICKS and NS, which are read apart by ERROR
 * ticks at most, with those of the first. */
static void set_rate(struct pm_snapshot *s, uint64_t ticks, uint64_t ns, uint64_t error)
{
	const struct perfmon_profile_header *header = &s->header;

	if (ticks <= header->begin_ticks || ns <= header->begin_ns)
		return;
	ticks -= header->begin_ticks;
	ns -= header->begin_ns;
	s->rate_span_ns = ns;
	s->tick_ns = (double)ns / (double)ticks;
	s->tick_error =
		error ? (double)error / (double)ticks : CLOCK_ERROR_NS / (double)ns;
}

static void take_rate(struct pm_snapshot *s)
{
	const struct perfmon_profile_header *header = &s->header;

	if (header->clock == PERFMON_CLOCK_MONOTONIC)
		s->tick_ns = 1.0;
	else if (header->ticks_hz)
		s->tick_ns = 1e9 / (double)header->ticks_hz;
	else
		set_rate(s, header->end_ticks, header->end_ns, header->clock_error);
}

void pm_snapshot_measure_rate(struct pm_snapshot *s)
{
	uint64_t ticks, ns, error;

	pm_clock_init();
	if (!is_measured(&s->header) || pm_clock.monotonic)
		return;
	error = pm_clock_both(&ticks, &ns);
	/* Of the error that the profile tells one part is of its first moment. */
	if (ns && ticks > s->header.end_ticks)
		set_rate(s, ticks, ns,
			 s->header.clock_error ? error + s->header.clock_error : 0);
}

void pm_snapshot_tell_rate(struct pm_snapshot *s)
{
	char **notes;

	if (!s->rate_span_ns || s->tick_error <= RATE_ERROR_MOST)
		return;
	notes = realloc(s->notes, (s->note_count + 1) * sizeof(*notes));
	if (!notes)
		return;
	s->notes = notes;
	if (asprintf(&notes[s->note_count],
		     "times may be wrong by %.1g %%: how long a tick is was measured "
		     "over %.0f "
		     "microseconds only",
		     100 * s->tick_error, (double)s->rate_span_ns / 1000) > 0)
		s->note_count++;
}

static void take_header(struct pm_walk *walk)
{
	struct perfmon_profile_header *header = &walk->s->header;

	pm_walk_copy(header, walk->base, sizeof(*header));
	header->host[sizeof(header->host) - 1] = '\0';
	header->program[sizeof(header->program) - 1] = '\0';
	header->boot_id[sizeof(header->boot_id) - 1] = '\0';
	take_rate(walk->s);
	if (!walk->s->tick_ns)
		pm_snapshot_problem(
			walk->s,
			"the profile does not tell how long a tick is: times are in "
			"ticks");
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The time that THREAD has spent in regions at least: of each path the longer of what its
 * visits took and what those below it did, which may be more while it is open. */
static uint64_t busy_ticks(const struct pm_snapshot_thread *thread)
{
	uint64_t *below, busy = 0;

	if (!thread->node_count)
		return 0;
	below = calloc((size_t)thread->node_count + 1, sizeof(*below));
	if (!below)
		return 0;
	for (uint32_t n = thread->node_count; n > 1; n--) {
		const struct perfmon_profile_node *node = pm_snapshot_node(thread, n);
		uint64_t ticks =
			node->time_ticks > below[n] ? node->time_ticks : below[n];

		below[node->parent] = plus(below[node->parent], ticks);
	}
	busy = below[1];
	free(below);
	return busy;
}

/* The last moment of which the profile tells. */
static uint64_t last_ticks(const struct pm_snapshot *s)
{
	uint64_t last = s->header.end_ticks;

	for (uint32_t t = 0; t < s->thread_count; t++) {
		const struct pm_snapshot_thread *thread = &s->threads[t];
		uint64_t end = thread->record.end_ticks;

		if (thread->record.state == PERFMON_THREAD_LIVE)
			end = plus(thread->record.begin_ticks, busy_ticks(thread));
		if (end > last)
			last = end;
	}
	return last;
}

void pm_snapshot_set_writer(struct pm_snapshot *s, enum pm_snapshot_writer writer)
{
	uint64_t now = perfmon_arch_timestamp();

	if (s->header.state != PERFMON_STATE_RUNNING)
		writer = PM_WRITER_ENDED;
	s->writer = writer;
	s->taken_ticks = s->header.end_ticks;
	if (writer == PM_WRITER_RUNS) {
		if (s->header.clock == PERFMON_CLOCK_MONOTONIC)
			pm_kernel_clock_ns(CLOCK_MONOTONIC, &now);
		if (now > s->header.end_ticks)
			s->taken_ticks = now;
	} else if (writer != PM_WRITER_ENDED) {
		s->taken_ticks = last_ticks(s);
	}
}

static int take_all(struct pm_walk *walk)
{
	int err = pm_walk_find(walk);

	if (!err)
		err = take_threads(walk);
	/* Names and plans that nodes refer to are older than these nodes. */
	if (!err)
		err = pm_walk_find(walk);
	if (!err)
		err = pm_walk_regions(walk);
	if (!err)
		err = pm_walk_plans(walk);
	if (!err)
		err = find_plans(walk->s);
	if (!err)
		err = pm_walk_notes(walk);
	if (!err) {
		take_header(walk);
		pm_walk_machine(walk);
		check_regions(walk->s);
		pm_snapshot_set_writer(walk->s, PM_WRITER_UNKNOWN);
	}
	return err;
}

/* One walk into a new *OUT. *CHANGED: threads were being added up meanwhile; *BEGUN: how
 * often that had begun and ended when the walk began. */
static int walk_once(const void *base, size_t size, unsigned int flags,
		     const struct pm_snapshot_file *file, unsigned int *tries,
		     struct pm_snapshot **out, bool *changed, uint64_t *begun)
{
	const struct perfmon_profile_header *header = base;
	struct pm_walk walk = {
		.base = base, .size = size, .flags = flags, .file = file, .tries = tries};
	uint64_t before, after;
	int err = -ENOMEM;

	before = __atomic_load_n(&header->fold_sequence, __ATOMIC_ACQUIRE);
	*begun = before;
	/* It was checked, and somebody may have changed it since. */
	walk.next = pm_walk_word((const unsigned char *)base + 8) & ~UINT64_C(7);
	walk.s = calloc(1, sizeof(*walk.s));
	if (walk.s)
		err = take_all(&walk);
	/* Orders the walk before the second look; partner: the fence after the odd value.
	 */
	FENCE_ACQUIRE();
	after = __atomic_load_n(&header->fold_sequence, __ATOMIC_RELAXED);
	if (file && !read_whole(file, &after, sizeof(after),
				offsetof(struct perfmon_profile_header, fold_sequence)))
		after = before + 1;
	*changed = before & 1 || after != before;
	free(walk.regions.at);
	free(walk.notes.at);
	free(walk.plans.at);
	free(walk.threads.at);
	free(walk.nodes.at);
	if (err)
		pm_snapshot_free(walk.s);
	else
		*out = walk.s;
	return err;
}

int pm_snapshot_check(const void *base, size_t size, struct pm_diag *diag)
{
	struct perfmon_profile_header header;
	uint64_t used;

	if ((uintptr_t)base % 8)
		return pm_diag_set(diag, -EINVAL, "a profile must be aligned to 8 bytes");
	if (size < sizeof(header))
		return pm_diag_set(
			diag, -EINVAL,
			"this is no profile: %zu bytes are less than its header", size);
	/* Partner: the release store of `used` after the header is filled in. */
	used = __atomic_load_n(&((const struct perfmon_profile_header *)base)->used,
			       __ATOMIC_ACQUIRE);
	pm_walk_copy(&header, base, sizeof(header));
	if (!used && (!header.magic || header.magic == PERFMON_PROFILE_MAGIC))
		return pm_diag_set(
			diag, -ENODATA,
			"this profile holds nothing yet: its program is at its "
			"first region, or ended there");
	if (header.magic == __builtin_bswap64(PERFMON_PROFILE_MAGIC))
		return pm_diag_set(diag, -EINVAL,
				   "this profile has the wrong byte order: profiles are "
				   "little-endian");
	if (header.magic != PERFMON_PROFILE_MAGIC)
		return pm_diag_set(
			diag, -EINVAL,
			"this is no profile: it does not begin with \"PFMNPROF\"");
	if (header.version != PERFMON_PROFILE_VERSION)
		return pm_diag_set(
			diag, -EINVAL,
			"this profile has version %u: this perfmon reads version %d",
			header.version, PERFMON_PROFILE_VERSION);
	if (header.record.type != PERFMON_PROFILE_HEADER ||
	    header.record.size < sizeof(header) || header.record.size % 8 ||
	    header.record.size > size || used < header.record.size)
		return pm_diag_set(diag, -EINVAL, "this profile's header is damaged");
	return 0;
}

int pm_snapshot_take(const void *base, size_t size, struct pm_snapshot **out,
		     struct pm_diag *diag)
{
	return pm_snapshot_take_as(base, size, 0, out, diag);
}

static int take(const void *base, size_t size, unsigned int flags,
		const struct pm_snapshot_file *file, struct pm_snapshot **out,
		struct pm_diag *diag)
{
	unsigned int walks = flags & PM_SNAPSHOT_STILL ? 1 : WALKS, tries = ALL_TRIES;
	struct pm_snapshot *s = NULL;
	uint64_t begun = 0, first = 0;
	uint32_t walked = 0;
	bool changed = true;
	int err = pm_snapshot_check(base, size, diag);

	while (!err && changed && walked < walks) {
		if (walked) {
			pm_snapshot_free(s);
			s = NULL;
			for (uint32_t i = 0; i < walked; i++)
				relax(walked);
			if (file)
				file->read(file->argument, (void *)(uintptr_t)base, size,
					   0);
			err = file ? pm_snapshot_check(base, size, diag) : 0;
			if (err)
				break;
		}
		err = walk_once(base, size, flags, file, &tries, &s, &changed, &begun);
		if (!walked++)
			first = begun;
	}
	if (err == -ENOMEM)
		return pm_diag_set(diag, err, "no memory for a snapshot of the profile");
	if (err)
		return err;
	s->walks = walked;
	if (changed)
		pm_snapshot_problem(
			s, "%s: some may be missing or counted twice",
			begun == first
				? "the program stopped, or was stopped, while it added "
				  "the "
				  "results of threads that had ended"
				: "threads kept ending while the profile was read");
	if (s->partial)
		pm_diag_set(diag, 0, "%s", s->problem);
	*out = s;
	return 0;
}

int pm_snapshot_take_as(const void *base, size_t size, unsigned int flags,
			struct pm_snapshot **out, struct pm_diag *diag)
{
	return take(base, size, flags, NULL, out, diag);
}

int pm_snapshot_take_file(void *base, size_t size, const struct pm_snapshot_file *file,
			  struct pm_snapshot **out, struct pm_diag *diag)
{
	return take(base, size, PM_SNAPSHOT_FOREIGN, file, out, diag);
}

void pm_snapshot_free(struct pm_snapshot *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->regions && i <= s->region_count; i++)
		free(s->regions[i]);
	for (uint32_t i = 0; i < s->note_count; i++)
		free(s->notes[i]);
	for (uint32_t i = 0; i < s->plan_count; i++)
		free(s->plans[i].counters);
	for (uint32_t i = 0; i < s->thread_count; i++)
		free(s->threads[i].nodes);
	free(s->regions);
	free(s->notes);
	free(s->plans);
	free(s->threads);
	free(s);
}

double pm_snapshot_ns(const struct pm_snapshot *snapshot, double ticks)
{
	return snapshot->tick_ns ? ticks * snapshot->tick_ns : ticks;
}
