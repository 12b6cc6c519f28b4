/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot: one consistent copy of a profile, taken while its threads run on (take.h).
 * What reports, lookups and comparisons work on.
 */
#ifndef PM_PROFILE_SNAPSHOT_H
#define PM_PROFILE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/topology/topology.h"
#include "perfmon/profile_layout.h"

/* The events of one generation. */
struct pm_snapshot_plan {
	uint32_t generation;
	uint32_t counter_count;
	struct perfmon_profile_cost time; /* in ticks */
	struct perfmon_profile_counter *counters;
};

/* Set in the flags of a copied node whose writer did not hold still, or died inside:
 * the visits stand, the other values may hold part of one more visit. */
#define PM_SNAPSHOT_TORN (UINT32_C(1) << 31)

struct pm_snapshot_thread {
	struct perfmon_profile_thread record;
	const struct pm_snapshot_plan *plan; /* NULL: no counter is known */
	uint32_t node_count;		     /* nodes copied */
	size_t node_size;		     /* here, not in the profile */
	unsigned char *nodes; /* node number n (from 1) at (n - 1) * node_size */
	uint32_t torn;	      /* nodes with PM_SNAPSHOT_TORN */
};

/* What had become of the program that wrote a profile when the snapshot was taken. */
enum pm_snapshot_writer {
	PM_WRITER_UNKNOWN, /* it ran on another boot, or out of sight, and may run still */
	PM_WRITER_RUNS,
	PM_WRITER_PACKED, /* it ran, and gave what it had counted: perfmon_merge_pack() */
	PM_WRITER_ENDED,  /* by exit(), or by the end of main() */
	PM_WRITER_GONE	  /* killed, or by abort(), _exit(), exec() and the like */
};

/* ENDs of a region that came without a BEGIN inside the regions of PLACE. */
struct pm_snapshot_unmatched {
	uint64_t count;
	char *name, *place; /* " > " between the names of PLACE */
};

struct pm_snapshot {
	struct perfmon_profile_header header;
	enum pm_snapshot_writer writer;
	/* When, in the profile's clock: now for one that runs; of others the last moment
	 * that something in the profile is known to have happened. */
	uint64_t taken_ticks;
	struct pm_cpu_kinds kinds; /* of the machine, if the profile tells */
	double tick_ns;	       /* nanoseconds in a tick; 0 if the profile does not tell */
	double tick_error;     /* by what part of it that may be wrong, at most */
	uint64_t rate_span_ns; /* over which it was measured, 0 if it was told */
	/* Of the program; NULL: the profile does not tell. Each ends in a NUL, the last one in
	 * any case. */
	char *arguments;
	uint32_t arguments_length;
	bool arguments_cut;    /* there were more */
	uint32_t region_count; /* highest id */
	char **regions;	       /* names by id, from regions[0], which is ""; never NULL */
	uint32_t note_count;
	char **notes;
	uint32_t
		unmatched_count; /* kinds; other ENDs are in the threads' numbers alone */
	struct pm_snapshot_unmatched *unmatched;
	uint32_t counter_count; /* of the newest plan */
	const struct perfmon_profile_counter *counters;
	uint32_t generation;
	bool has_totals; /* of the newest plan: what the whole process has counted */
	uint64_t totals[PERFMON_PROFILE_COUNTERS_MAX];
	uint32_t plan_count;
	struct pm_snapshot_plan *plans;
	uint32_t thread_count;
	struct pm_snapshot_thread
		*threads;  /* live ones, ended ones and aggregates; not unused ones */
	uint32_t walks;	   /* over all of it, until nothing was being added up */
	uint64_t looks;	   /* at nodes, in the last one */
	bool partial;	   /* something was missing or did not hold still */
	char problem[200]; /* what, a sentence, if partial; the first one */
};

/* What is known of the memory at BASE. */
#define PM_SNAPSHOT_STILL   1u /* nobody writes it: what is odd in it stays so */
#define PM_SNAPSHOT_FOREIGN 2u /* from its private_from on it is not the profile's */

/*
 * A file that is still written, of which BASE has a copy: a copy is not made of whole
 * words at one moment, and nodes are read again, each until it held still. READ gives how
 * many of SIZE bytes there are at AT, or a negative errno.
 */
struct pm_snapshot_file {
	ssize_t (*read)(void *argument, void *to, size_t size, uint64_t at);
	void *argument;
};

/* Sets what has become of the writer, and when the snapshot was taken by that. */
void pm_snapshot_set_writer(struct pm_snapshot *snapshot, enum pm_snapshot_writer writer);

/* Takes the rate of ticks over the longest time that is known, for a profile whose writer
 * still runs on this machine, of whose clocks now is the latest moment. */
void pm_snapshot_measure_rate(struct pm_snapshot *snapshot);

/* Adds a note if the rate is not known as exactly as times are shown. Once. */
void pm_snapshot_tell_rate(struct pm_snapshot *snapshot);

/* Makes SNAPSHOT partial; of several problems the first is the one that is told. */
__attribute__((format(printf, 2, 3))) void
pm_snapshot_problem(struct pm_snapshot *snapshot, const char *format, ...);

/* What NODE of THREAD has besides where a stride is on, or NULL. */
static inline const struct perfmon_profile_stride *
pm_snapshot_stride(const struct pm_snapshot_thread *thread,
		   const struct perfmon_profile_node *node)
{
	if (!(thread->record.flags & PERFMON_PROFILE_THREAD_STRIDE))
		return NULL;
	return (const void *)&node->count[thread->record.counters];
}

/* Visits that have ended with all their values. */
static inline uint64_t pm_snapshot_visits(const struct perfmon_profile_node *node)
{
	return node->sequence / 2;
}

static inline struct perfmon_profile_node *
pm_snapshot_node(const struct pm_snapshot_thread *thread, uint32_t number)
{
	return (struct perfmon_profile_node *)(thread->nodes +
					       (size_t)(number - 1) * thread->node_size);
}

/* Nanoseconds that TICKS of the profile's clock are. */
double pm_snapshot_ns(const struct pm_snapshot *snapshot, double ticks);

#endif
