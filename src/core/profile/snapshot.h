/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A snapshot: one consistent copy of a profile, taken while its threads run. Reports,
 * lookups and comparisons use snapshots. */
#ifndef PM_PROFILE_SNAPSHOT_H
#define PM_PROFILE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/profile/node.h"
#include "core/settings/run_note.h"
#include "core/text/diag.h"
#include "core/topology/topology.h"
#include "perfmon/profile_layout.h"

/* The events of one generation. */
struct pm_snapshot_plan {
	uint32_t generation;
	uint32_t counter_count;
	struct perfmon_profile_cost time; /* in ticks */
	struct perfmon_profile_counter *counters;
};

/* A flag of a copied node whose writer did not finish, or died while writing. The visits
 * are right; the other values may contain part of one more visit. */
#define PM_SNAPSHOT_TORN (UINT32_C(1) << 31)

struct pm_snapshot_thread {
	struct perfmon_profile_thread record;
	const struct pm_snapshot_plan *plan; /* NULL: no counter is known */
	uint32_t node_count;		     /* nodes copied */
	uint64_t at;			     /* offset of its record in the profile */
	size_t node_size;     /* in the snapshot; the profile's may be larger */
	unsigned char *nodes; /* node number n (from 1) at (n - 1) * node_size */
	uint32_t torn;	      /* nodes with PM_SNAPSHOT_TORN */
};

/* The state of the program that wrote the profile, when the snapshot was taken. */
enum pm_snapshot_writer {
	PM_WRITER_UNKNOWN, /* on another boot or not visible: may still run */
	PM_WRITER_RUNS,
	PM_WRITER_PACKED, /* it ran, and packed its profile: perfmon_merge_pack() */
	PM_WRITER_ENDED,  /* by exit(), or by return from main() */
	PM_WRITER_GONE	  /* killed, or ended by abort(), _exit(), exec() and the like */
};

/* A step of a path: one visit, or some in a row (PERFMON_STEPS). */
struct pm_snapshot_step {
	uint64_t first, last; /* which visits, from 1 */
	uint64_t begin_ticks;
	uint64_t
		longest; /* ticks of the longest, where it is longer than all before; 0: not known */
};

/* The steps of a path in one thread. */
struct pm_snapshot_steps {
	/* Its nodes from number 2 on are the steps: what these visits have. Extremes and histograms are not
	 * known of steps of several visits. */
	struct pm_snapshot_thread thread;
	uint32_t count;
	struct pm_snapshot_step *step; /* of the nodes from number 2 on */
	uint32_t depth;
	uint32_t *path; /* regions from the top */
};

/* Where the code of a region is whose name says less than could be known of it. */
struct pm_snapshot_code {
	uint64_t offset;
	char build_id[PERFMON_PROFILE_BUILD_ID_MAX + 1]; /* "": there is none */
	char path[]; /* "": the name is that of several places */
};

/* ENDs of a region without a BEGIN inside the regions of PLACE. */
struct pm_snapshot_unmatched {
	uint64_t count;
	char *name, *place; /* " > " between the names of PLACE */
};

struct pm_snapshot {
	struct perfmon_profile_header header;
	enum pm_snapshot_writer writer;
	/* The time in the profile's clock: now if the program runs, else the last time at
	 * which the profile is known to have changed. */
	uint64_t taken_ticks;
	struct pm_cpu_kinds kinds; /* of the machine; empty: unknown */
	double tick_ns;		   /* nanoseconds in a tick; 0: unknown */
	double tick_error;	   /* largest relative error of tick_ns */
	uint64_t rate_span_ns;	   /* measured over this time; 0: not measured */
	/* The program's arguments, each of which ends in a NUL, or NULL if unknown. The
	 * last one always ends in a NUL. */
	char *arguments;
	uint32_t arguments_length;
	bool arguments_cut;		/* there were more */
	struct pm_run_notes *run_notes; /* NULL: none */
	uint32_t region_count;		/* highest id */
	char **regions; /* names by id, from regions[0], which is ""; never NULL */
	struct pm_snapshot_code *
		*codes; /* by id, as `regions`; NULL, as each may be: not known */
	uint32_t note_count;
	char **notes;
	uint32_t unmatched_count; /* kinds; the threads' numbers count the others */
	struct pm_snapshot_unmatched *unmatched;
	uint32_t counter_count; /* of the newest plan */
	const struct perfmon_profile_counter *counters;
	uint32_t generation;
	bool has_totals; /* the totals are the whole process's, by the newest plan */
	uint64_t totals[PERFMON_PROFILE_COUNTERS_MAX];
	struct perfmon_profile_packages packages; /* all 0: none is counted */
	uint32_t plan_count;
	struct pm_snapshot_plan *plans;
	uint32_t thread_count;
	struct pm_snapshot_thread *threads; /* live, ended and aggregated ones */
	/* Sums of threads of other runs, whose counts stand beside the values of THREADS. */
	uint32_t joined_count;
	struct pm_snapshot_thread *joined;
	uint32_t steps_count; /* paths that have steps */
	struct pm_snapshot_steps *steps;
	uint32_t walks;	   /* over all of it, until no thread ended meanwhile */
	uint64_t looks;	   /* reads of nodes, in the last walk */
	bool partial;	   /* data is missing, or a node is torn */
	char problem[200]; /* why it is partial: a sentence, about the first problem */
};

/* Flags that describe the memory at BASE. */
#define PM_SNAPSHOT_STILL   1u /* no process writes it: a torn node stays torn */
#define PM_SNAPSHOT_FOREIGN 2u /* from private_from on it is not the profile's */

/*
 * Copies the profile at BASE (aligned to 8 bytes), of which SIZE bytes can be read, while
 * its threads write. The contents are not trusted: offsets, sizes, counts and names are
 * checked, and each word is read once. If a check fails, DIAG gets a sentence, and the
 * result is -EINVAL (not a profile, or a newer version) or a partial snapshot.
 *
 * A snapshot guarantees:
 *
 * - Each node is complete or marked PM_SNAPSHOT_TORN.
 * - No thread is counted twice (itself and in an aggregate), unless the snapshot is
 *   partial.
 * - A node's parent has a lower number, and its region has a name.
 * - SIZE bounds every number of nodes, counters and regions. Memory is at most
 *   proportional to SIZE.
 *
 * Returns 0, -EINVAL, -ENODATA (see pm_snapshot_check()) or -ENOMEM; *OUT is untouched on
 * failure. Free the snapshot with pm_snapshot_free(). Allocates; takes no lock; any
 * thread.
 */
int pm_snapshot_take(const void *base, size_t size, struct pm_snapshot **out,
		     struct pm_diag *diag);

/* Does the same from memory that FLAGS (PM_SNAPSHOT_) describe; without flags it is this process's. If FD
 * is not -1, it is a copy of that file in writable memory. A copy is not made of whole words at one time,
 * so nodes are read again, each until it is unchanged. */
int pm_snapshot_take_as(const void *base, size_t size, unsigned int flags, int fd,
			struct pm_snapshot **out, struct pm_diag *diag);

void pm_snapshot_free(struct pm_snapshot *snapshot); /* NULL is accepted */

/* Checks that the SIZE bytes at BASE begin as a profile does. The header is readable if
 * SIZE includes it. Returns 0, -ENODATA for an empty profile, or -EINVAL. */
int pm_snapshot_check(const void *base, size_t size, struct pm_diag *diag);

/*
 * pm_snapshot_pack() - writes S as a profile (perfmon/profile_layout.h). From this,
 * pm_snapshot_take() makes the same snapshot, its problem included, except for the state
 * of the writer and the steps. The caller frees the *SIZE bytes at *OUT with free(). Returns 0 or
 * -ENOMEM.
 */
int pm_snapshot_pack(const struct pm_snapshot *s, void **out, size_t *size);

/* Stores all of KINDS at TO. */
void pm_pack_kinds(struct perfmon_profile_kind *to, const struct pm_cpu_kinds *kinds);

/* Sets the state of the writer, and from it the time of the snapshot. */
void pm_snapshot_set_writer(struct pm_snapshot *snapshot, enum pm_snapshot_writer writer);

/* Measures the tick rate over the longest known time, from the profile's begin to now.
 * Its writer must run on this machine and share its clocks. */
void pm_snapshot_measure_rate(struct pm_snapshot *snapshot);

/* Adds a note if the tick rate is less exact than the times that are printed. Call it
 * once. */
void pm_snapshot_tell_rate(struct pm_snapshot *snapshot);

/* Makes SNAPSHOT partial and records the problem. The first problem is kept. */
__attribute__((format(printf, 2, 3))) void
pm_snapshot_problem(struct pm_snapshot *snapshot, const char *format, ...);

/* Returns the additional fields of NODE of THREAD if it has a stride, or NULL. */
static inline const struct perfmon_profile_stride *
pm_snapshot_stride(const struct pm_snapshot_thread *thread,
		   const struct perfmon_profile_node *node)
{
	if (!(thread->record.flags & PERFMON_PROFILE_THREAD_STRIDE))
		return NULL;
	return (const void *)&node->count[thread->record.counters];
}

/* Returns how many threads THREAD stands for. */
static inline uint64_t pm_snapshot_threads(const struct pm_snapshot_thread *thread)
{
	return thread->record.state == PERFMON_PROFILE_THREAD_STATE_AGGREGATE
		       ? thread->record.aggregated
		       : 1;
}

static inline struct perfmon_profile_node *
pm_snapshot_node(const struct pm_snapshot_thread *thread, uint32_t number)
{
	return (struct perfmon_profile_node *)(thread->nodes +
					       (size_t)(number - 1) * thread->node_size);
}

/* Returns the number of the node of visits that contain NODE's adopted parent; 0: there is none. */
static inline uint32_t pm_snapshot_around(const struct pm_snapshot_thread *thread,
					  const struct perfmon_profile_node *node)
{
	uint32_t number = node->parent;

	while (number > 1 && pm_node_is_adopted(pm_snapshot_node(thread, number)))
		number = pm_snapshot_node(thread, number)->parent;
	return number > 1 && number != node->parent ? number : 0;
}

/* Returns the steps that number INDEX of pm_snapshot_thread_at() has, or NULL. */
static inline struct pm_snapshot_steps *
pm_snapshot_steps_at(const struct pm_snapshot *snapshot, uint32_t index)
{
	uint32_t first = snapshot->thread_count + snapshot->joined_count;

	return index >= first && index - first < snapshot->steps_count
		       ? &snapshot->steps[index - first]
		       : NULL;
}

/* Returns number INDEX of the threads of SNAPSHOT, then the sums of other runs, then the steps of
 * each path. NULL: there are no more. */
static inline struct pm_snapshot_thread *
pm_snapshot_thread_at(const struct pm_snapshot *snapshot, uint32_t index)
{
	struct pm_snapshot_steps *steps = pm_snapshot_steps_at(snapshot, index);

	if (index < snapshot->thread_count)
		return &snapshot->threads[index];
	if (index - snapshot->thread_count < snapshot->joined_count)
		return &snapshot->joined[index - snapshot->thread_count];
	return steps ? &steps->thread : NULL;
}

/* Returns true if PLAN, of SNAPSHOT, has the events of other runs. */
bool pm_snapshot_is_joined(const struct pm_snapshot *snapshot,
			   const struct pm_snapshot_plan *plan);

/* Returns CODE as a copy with the SIZE bytes at PATH, or NULL without memory. */
struct pm_snapshot_code *pm_snapshot_code_make(const struct pm_snapshot_code *code,
					       const char *path, size_t size);

/* Converts TICKS of the profile's clock to nanoseconds. */
double pm_snapshot_ns(const struct pm_snapshot *snapshot, double ticks);

#endif
