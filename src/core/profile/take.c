/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes a snapshot of a profile while its threads run. */
#include <errno.h>
#include <stdlib.h>

#include "core/profile/node.h"
#include "core/profile/walk.h"

/* After this many walks a snapshot is returned although threads still end. */
#define WALKS 12
/* All nodes of a snapshot together are read again at most this often. If the writer
 * cannot be seen, all nodes may stay torn for ever. */
#define ALL_TRIES 100000

/* Cuts off each thread's nodes from the first one whose region has no name. Names are
 * read after nodes, so only a damaged profile has such a node. */
static void check_regions(struct pm_snapshot *s)
{
	struct pm_snapshot_thread *thread;

	for (uint32_t t = 0; (thread = pm_snapshot_thread_at(s, t)); t++) {
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

/*
 * Sets the extremes of times where events are counted by the Valgrind tool. Such nodes
 * keep none, since that would make some visits cost more than others. The edges of the
 * bins serve instead.
 */
static void tell_extremes(struct pm_snapshot *s)
{
	for (uint32_t t = 0; t < s->thread_count; t++) {
		struct pm_snapshot_thread *thread = &s->threads[t];
		const struct pm_snapshot_plan *plan = thread->plan;

		if (!plan || !plan->counter_count ||
		    !(plan->counters[0].flags & PERFMON_PROFILE_COUNTER_EXACT))
			continue;
		for (uint32_t n = 1; n <= thread->node_count; n++) {
			struct perfmon_profile_node *node = pm_snapshot_node(thread, n);

			node->time_min = UINT64_MAX;
			node->time_max = 0;
			for (uint32_t bin = 0; bin < PERFMON_PROFILE_BINS; bin++) {
				uint64_t low = bin ? UINT64_C(1) << bin : 0;

				if (!node->histogram[bin])
					continue;
				if (node->time_min == UINT64_MAX)
					node->time_min = low;
				node->time_max = (UINT64_C(2) << bin) - 1;
			}
		}
	}
}

static void take_header(struct pm_walk *walk)
{
	struct perfmon_profile_header *header = &walk->s->header;

	pm_walk_copy(header, walk->base, sizeof(*header));
	header->host[sizeof(header->host) - 1] = '\0';
	header->job[sizeof(header->job) - 1] = '\0';
	header->program[sizeof(header->program) - 1] = '\0';
	header->boot_id[sizeof(header->boot_id) - 1] = '\0';
	pm_walk_rate(walk->s);
	if (!walk->s->tick_ns)
		pm_snapshot_problem(walk->s, "the profile has no tick rate: times are in "
					     "ticks");
}

static int take_all(struct pm_walk *walk)
{
	/* Names and plans are older than the nodes that refer to them: they are found last. */
	int err = pm_walk_find(walk) ?: pm_walk_threads(walk) ?: pm_walk_find(walk)
		  ?: pm_walk_regions(walk) ?: pm_walk_steps(walk) ?: pm_walk_plans(walk)
		  ?: pm_walk_thread_plans(walk->s) ?: pm_walk_rest(walk);

	if (!err) {
		take_header(walk);
		check_regions(walk->s);
		tell_extremes(walk->s);
		pm_snapshot_set_writer(walk->s, PM_WRITER_UNKNOWN);
	}
	return err;
}

/* Makes one walk into a new snapshot. *CHANGED says that threads were added to aggregates
 * meanwhile, and *BEGUN is the aggregate sequence at the begin of the walk. */
static int walk_once(struct pm_walk *walk, bool *changed, uint64_t *begun)
{
	const struct perfmon_profile_header *header = (const void *)walk->base;
	uint64_t before, after;
	int err = -ENOMEM;

	/* Pairs with the release in pm_recycle_sequence_close(): the sums are whole. */
	before = __atomic_load_n(&header->aggregate_sequence, __ATOMIC_ACQUIRE);
	*begun = before;
	/* The size has been checked, but may have changed since. */
	walk->next = pm_walk_word(walk->base + 8) & ~UINT64_C(7);
	walk->s = calloc(1, sizeof(*walk->s));
	if (walk->s)
		err = take_all(walk);
	/* Orders the walk before the second load. Pairs with the fence after the store of
	 * the odd sequence in the writer. */
	PM_WALK_FENCE();
	after = __atomic_load_n(&header->aggregate_sequence, __ATOMIC_RELAXED);
	if (walk->fd >= 0 && !pm_walk_read_whole(walk->fd, &after, sizeof(after),
						 offsetof(struct perfmon_profile_header,
							  aggregate_sequence)))
		after = before + 1;
	*changed = before & 1 || after != before;
	for (size_t type = 0; type < PM_WALK_TYPES; type++)
		free(walk->found[type].at);
	return err;
}

int pm_snapshot_check(const void *base, size_t size, struct pm_diag *diag)
{
	struct perfmon_profile_header header;
	uint64_t used;

	if ((uintptr_t)base % 8)
		return pm_diag_set(diag, -EINVAL, "a profile must be aligned to 8 bytes");
	if (size < sizeof(header))
		return pm_diag_set(diag, -EINVAL,
				   "not a profile: %zu bytes are less than the header",
				   size);
	/* Pairs with the release store of `used` in pm_profile_publish(). */
	used = __atomic_load_n(&((const struct perfmon_profile_header *)base)->used,
			       __ATOMIC_ACQUIRE);
	pm_walk_copy(&header, base, sizeof(header));
	if (!used && (!header.magic || header.magic == PERFMON_PROFILE_MAGIC))
		return pm_diag_set(diag, -ENODATA,
				   "the profile is empty: the program is still at the "
				   "first region, or ended there");
	if (header.magic == __builtin_bswap64(PERFMON_PROFILE_MAGIC))
		return pm_diag_set(diag, -EINVAL,
				   "this profile has the wrong byte order: profiles are "
				   "little-endian");
	if (header.magic != PERFMON_PROFILE_MAGIC)
		return pm_diag_set(
			diag, -EINVAL,
			"not a profile: the data does not begin with \"PFMNPROF\"");
	if (header.version != PERFMON_PROFILE_VERSION)
		return pm_diag_set(
			diag, -EINVAL,
			"this profile has version %u: this perfmon reads version %d",
			header.version, PERFMON_PROFILE_VERSION);
	if (header.record.type != PERFMON_PROFILE_TYPE_HEADER ||
	    header.record.size < sizeof(header) || header.record.size % 8 ||
	    header.record.size > size || used < header.record.size)
		return pm_diag_set(diag, -EINVAL, "this profile's header is damaged");
	return 0;
}

static struct perfmon_profile_node *node_at(const void *thread, uint32_t number)
{
	return pm_snapshot_node(thread, number);
}

int pm_snapshot_take_as(const void *base, size_t size, unsigned int flags, int fd,
			struct pm_snapshot **out, struct pm_diag *diag)
{
	unsigned int walks = flags & PM_SNAPSHOT_STILL ? 1 : WALKS, tries = ALL_TRIES;
	struct pm_snapshot_thread *thread;
	struct pm_snapshot *s = NULL;
	uint64_t begun = 0, first = 0;
	uint32_t walked = 0;
	bool changed = true;
	int err = pm_snapshot_check(base, size, diag);

	while (!err && changed && walked < walks) {
		struct pm_walk walk = {.base = base,
				       .size = size,
				       .flags = flags,
				       .fd = fd,
				       .tries = &tries};

		for (uint32_t i = 0; i < walked; i++)
			pm_walk_relax(walked);
		if (walked && fd >= 0) {
			pm_file_read_at(fd, (void *)(uintptr_t)base, size, 0);
			err = pm_snapshot_check(base, size, diag);
			if (err)
				break;
		}
		pm_snapshot_free(s);
		err = walk_once(&walk, &changed, &begun);
		s = walk.s;
		if (!walked++)
			first = begun;
	}
	if (err)
		pm_snapshot_free(s);
	if (err == -ENOMEM)
		return pm_diag_set(diag, err, "no memory for a snapshot of the profile");
	if (err)
		return err;
	s->walks = walked;
	for (uint32_t t = 0; (thread = pm_snapshot_thread_at(s, t)); t++)
		pm_adopted_sum(node_at, thread, thread->node_count,
			       thread->record.counters,
			       thread->record.flags & PERFMON_PROFILE_THREAD_STRIDE);
	if (changed)
		pm_snapshot_problem(
			s, "%s: some may be missing or counted twice",
			begun == first
				? "the program stopped while adding the results of ended "
				  "threads"
				: "threads kept ending while the profile was read");
	if (s->partial)
		pm_diag_set(diag, 0, "%s", s->problem);
	*out = s;
	return 0;
}

int pm_snapshot_take(const void *base, size_t size, struct pm_snapshot **out,
		     struct pm_diag *diag)
{
	return pm_snapshot_take_as(base, size, 0, -1, out, diag);
}

void pm_snapshot_free(struct pm_snapshot *s)
{
	struct pm_snapshot_thread *thread;

	if (!s)
		return;
	for (uint32_t i = 0; s->regions && i <= s->region_count; i++)
		free(s->regions[i]);
	for (uint32_t i = 0; s->codes && i <= s->region_count; i++)
		free(s->codes[i]);
	for (uint32_t i = 0; i < s->note_count; i++)
		free(s->notes[i]);
	for (uint32_t i = 0; i < s->unmatched_count; i++) {
		free(s->unmatched[i].name);
		free(s->unmatched[i].place);
	}
	for (uint32_t i = 0; i < s->plan_count; i++)
		free(s->plans[i].counters);
	for (uint32_t t = 0; (thread = pm_snapshot_thread_at(s, t)); t++)
		free(thread->nodes);
	for (uint32_t i = 0; i < s->steps_count; i++) {
		free(s->steps[i].step);
		free(s->steps[i].path);
	}
	free(s->steps);
	free(s->arguments);
	free(s->run_notes);
	free(s->regions);
	free(s->codes);
	free(s->notes);
	free(s->unmatched);
	free(s->plans);
	free(s->threads);
	free(s->joined);
	free(s);
}

bool pm_snapshot_is_joined(const struct pm_snapshot *s,
			   const struct pm_snapshot_plan *plan)
{
	for (uint32_t t = 0; t < s->joined_count; t++)
		if (s->joined[t].plan == plan)
			return true;
	return false;
}
