/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk over a profile's records, which makes a snapshot. For this room only.
 * Functions that return int return 0 or -ENOMEM; a failed check makes the snapshot
 * partial.
 */
#ifndef PM_PROFILE_WALK_H
#define PM_PROFILE_WALK_H

#include <string.h>

#include "core/kernel/files.h"
#include "core/profile/snapshot.h"
#include "fastpath/fastpath.h"

struct pm_walk_list {
	uint64_t *at; /* offsets, rising */
	size_t count;
};

/* Types of records are below this. */
#define PM_WALK_TYPES (PERFMON_PROFILE_TYPE_CODE + 1)

/* One walk over the records. */
struct pm_walk {
	const unsigned char *base;
	size_t size;
	unsigned int flags; /* PM_SNAPSHOT_STILL, PM_SNAPSHOT_FOREIGN */
	int fd; /* of the file of which BASE is a copy; -1: BASE is the profile itself */
	unsigned int *tries; /* attempts left at torn nodes */
	uint64_t next; /* the first byte not yet read; UINT64_MAX: no more can be found */
	struct pm_walk_list found[PM_WALK_TYPES]; /* records by their type */
	struct pm_walk_events *events;		  /* while plans are read */
	struct pm_walk_steps *steps;		  /* while steps are read */
	struct pm_snapshot *s;
};

/* Its callers name the writer's fence that it pairs with. ThreadSanitizer does not support fences, and
 * needs none: all shared data is atomic. */
#ifdef PM_TSAN
#define PM_WALK_FENCE() ((void)0)
#else
#define PM_WALK_FENCE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

/* Waits a little before the next ATTEMPT at a torn node. */
static inline void pm_walk_relax(unsigned int attempt)
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

static inline bool pm_walk_read_whole(int fd, void *to, size_t size, uint64_t at)
{
	return pm_file_read_at(fd, to, size, at) == (ssize_t)size;
}

static inline uint64_t pm_walk_word(const unsigned char *from)
{
	return __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);
}

/* Copies SIZE bytes, a multiple of 8, each word once, so that the word that is checked is
 * the word that is used. */
static inline void pm_walk_copy(void *to, const unsigned char *from, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = pm_walk_word(from + i);

		memcpy((unsigned char *)to + i, &word, 8);
	}
}

/* The same of a head or a plan: a cost's `known` is loaded before its values. The acquires pair
 * with the release in publish() of regions/slow/cost.c. */
static inline void pm_walk_copy_plan(void *to, const unsigned char *from, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = __atomic_load_n(
			(const uint64_t *)(const void *)(from + i), __ATOMIC_ACQUIRE);

		memcpy((unsigned char *)to + i, &word, 8);
	}
}

/* Finds the records from walk->next to the present end of the profile. */
int pm_walk_find(struct pm_walk *walk);

/* Returns the size of the record at AT, which pm_walk_find() has found, or 0 if it is now
 * wrong. */
uint64_t pm_walk_record_size(const struct pm_walk *walk, uint64_t at);

/* How the records of one type are taken. */
struct pm_walk_kind {
	uint32_t type;
	size_t head_size; /* bytes that each has */
	const char *what; /* one that is bad, for the message */
	/* Takes a record. LEFT bytes are at offset BEHIND, behind its HEAD. Returns 0, -EINVAL if
	 * the record is bad, or another error. */
	int (*take)(struct pm_walk *walk, void *head, uint64_t behind, uint64_t left);
};

/* Takes all records of KIND, up to an error. Bad ones are a problem of the snapshot. */
int pm_walk_each(struct pm_walk *walk, const struct pm_walk_kind *kind);

/* Each of these copies one kind of the records found so far into the snapshot. */
int pm_walk_regions(struct pm_walk *walk);
int pm_walk_plans(struct pm_walk *walk);
int pm_walk_threads(struct pm_walk *walk);
/* Needs the threads and the regions. */
int pm_walk_steps(struct pm_walk *walk);
/* Copies all others; needs the regions and the plans. */
int pm_walk_rest(struct pm_walk *walk);

/* Sets the plan of each thread, and of the steps, to the one of its generation. */
int pm_walk_thread_plans(struct pm_snapshot *s);

/* Sets how long a tick of S is, from its header. */
void pm_walk_rate(struct pm_snapshot *s);

#endif
