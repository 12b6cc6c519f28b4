/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory of the region hot path: one block per thread, reached by one initial-exec
 * TLS pointer. A forked child finds it wiped (MADV_WIPEONFORK).
 *
 * `top` points to the next free frame of the thread's stack of open visits. The stack is
 * closed (NULL) wherever the hot path must not go: before the thread is set up, in a
 * forked child, during a region call (a signal handler that interrupts it finds the stack
 * closed), and while visits are nested too deep. So one test in BEGIN and END stands for
 * all of these. The slow path finds which of them it is.
 */
#ifndef PM_FASTPATH_THREAD_H
#define PM_FASTPATH_THREAD_H

#include "fastpath/read.h"
#include "perfmon/profile_layout.h"
#include "perfmon/region.h"

#define NOINLINE    __attribute__((noinline))
#define INLINE	    static inline __attribute__((always_inline))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Unrolls the loops over a constant number of counters. clang peels the first
 * iteration off loops without an early exit, and would keep the other iterations of
 * four as a loop. */
#ifdef __clang__
/* With -Os, and with sanitizers, it keeps loops. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define UNROLL	     _Pragma("clang loop unroll_count(8)")
#define UNROLL_WHOLE _Pragma("clang loop unroll(enable)")
#else
#define UNROLL	     _Pragma("GCC unroll 8")
#define UNROLL_WHOLE UNROLL
#endif

/* Only the thread itself and its signal handlers use the stack: compiler order
 * suffices. */
#define SIGNAL_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/*
 * Keys. A region has the key id * PM_KEY, a node the path key (number << 32) * PM_KEY.
 * The key of a child is the sum of its parent's path key and its region's key, that is
 * (parent number << 32 | region id) * PM_KEY modulo 2^64. PM_KEY is odd, so different
 * pairs have different keys. Its high bits are a good hash (Fibonacci hashing: PM_KEY is
 * 2^64 / golden ratio), and the hot path needs no multiplication. No region has key 0.
 */
#define PM_KEY UINT64_C(0x9e3779b97f4a7c15)
#define PM_KEY_INVERSE                                                                   \
	UINT64_C(0xf1de83e19937733d) /* PM_KEY times this is 1: decodes keys */
#define PM_REGION_KEY(id)   ((uint64_t)(id)*PM_KEY)
#define PM_PATH_KEY(number) (((uint64_t)(number) << 32) * PM_KEY)
/* The path key of a node at the deepest level. It has no children, so that every BEGIN
 * below it fails to find its path and goes to the slow path, which checks the depth. */
#define PM_PATH_KEY_BARREN PM_PATH_KEY(UINT32_MAX)

_Static_assert(PM_KEY *PM_KEY_INVERSE == 1, "keys can be taken apart");

/* The highest id of a region. */
#define PM_REGIONS_MAX (1u << 24)

/*
 * A path that a thread has adopted (perfmon/team.h) has nodes of its own, in which no visit begins,
 * beside those that the thread visits: their keys have this bit in the region's id. The frame of an
 * adoption has one of these region keys, which no END has: PM_TASK_KEY where a task begins or goes on
 * (perfmon/task.h), and PM_KEY_APART more if visits further out have nothing of what follows. Then
 * `start` and the counters are those of the adoption. `cpu` has the
 * path's depth; its number, from the bit PM_ADOPTED_PATH on; and the number of the frame of the
 * innermost visit that contains what follows, from the bit PM_ADOPTED_OUTER on.
 */
#define PM_ADOPTED	 UINT32_C(0x80000000)
#define PM_ADOPTED_KEY	 PM_REGION_KEY(PM_ADOPTED)
#define PM_KEY_APART	 PM_REGION_KEY(1)
#define PM_TASK_KEY	 PM_REGION_KEY(PM_ADOPTED | 2)
#define PM_ADOPTED_DEPTH UINT32_C(0x3ff)
#define PM_ADOPTED_PATH	 16
#define PM_ADOPTED_OUTER 48

/*
 * A quantity (perfmon/quantity.h) has a node below that of its path, whose key has this bit in the id
 * of the region that is called as the quantity, and the bits of its kind.
 */
#define PM_QUANTITY	    UINT32_C(0x40000000)
#define PM_QUANTITY_MAXIMUM UINT32_C(0x20000000)
#define PM_QUANTITY_LAST    UINT32_C(0x10000000)
/* Likewise the node of visits that overlap (perfmon/overlap.h). */
#define PM_OVERLAPPING UINT32_C(0x08000000)
/* All bits that are none of an id. */
#define PM_REGION_BITS                                                                   \
	(PM_ADOPTED | PM_QUANTITY | PM_QUANTITY_MAXIMUM | PM_QUANTITY_LAST |             \
	 PM_OVERLAPPING)

/* The key of all regions that are left out by their names. */
#define PM_KEY_LEFT_OUT PM_REGION_KEY(UINT32_C(0x07ffffff))

/* The number of paths that a thread finds again at once when it adopts or hands them on. */
#define PM_ADOPTED_CACHE 16

/* For this many visits below the deepest level the keys of their regions are kept. Still
 * deeper visits are only counted. */
#define PM_OVERFLOW_KEYS 1024

/* The number of entries in the cache of names known only at run time. */
#define PM_NAME_CACHE 64

/* An entry of a thread's table of paths: open addressing, linear probing, at most half
 * full. */
struct pm_path_entry {
	uint64_t key;			   /* 0: empty */
	struct perfmon_profile_node *node; /* NULL: the path's visits are left out */
	uint64_t path_key;		   /* the node's, for its own children */
	uint32_t
		number; /* the node's; or why it is left out: enum perfmon_profile_left_out */
	uint32_t
		steps; /* where pm_region_step_due has the next mark of its steps; 0: none */
};

/* An adopted path, by its token, and one that was handed on. */
struct pm_adopted {
	uint64_t path;
	uint64_t path_key;
	uint64_t cpu; /* the frame's */
	struct perfmon_profile_node *node;
};
struct pm_handed_on {
	uint64_t path_key;
	uint64_t path;
};

/* Where a thread is below the path of a task that goes on at a frame, by the path key below. */
struct pm_task_place {
	const struct pm_frame *frame; /* NULL: unused */
	uint64_t below;
	struct pm_adopted adopted;
};

struct pm_frame_counter {
	/* the hardware counter at BEGIN, or the whole value if `whole` is set */
	uint64_t raw;
	/* the view's at BEGIN, written when the views are saved */
	int64_t offset;
	uint64_t lost_ns;
	/* likewise the view's enabled_base_ns; with `whole` the enabled time at BEGIN, or
	 * UINT64_MAX if it is not known */
	uint64_t enabled_ns;
};

/*
 * One open visit. The order of the fields lets the hot path load and store them in
 * pairs.
 *
 * BEGIN stores raw counters only. END may need more of the views: offset, lost and
 * enabled time. These stay in the views as long as no page changes, that is, as long as
 * the frame's epoch is the block's. Before a view is refreshed, the slow path *saves*
 * these values into all frames since the last refresh, and the epoch advances. They are
 * saved at most once for each frame, and the hot path need not save them.
 *
 * BEGIN writes the node last, and END clears it first. A call that a signal handler
 * leaves by siglongjmp(3) never opens the stack again, and the nodes show which visits
 * are open.
 */
struct pm_frame {
	struct perfmon_profile_node *node; /* NULL: no visit is open here */
	uint64_t region_key;
	uint64_t start; /* ticks */
	uint64_t cpu;	/* PM_FRAME_SKIPPED: the visit is not measured */
	uint64_t path_key;
	uint64_t epoch;	    /* the block's epoch at BEGIN */
	uint32_t whole : 1; /* saved: raw is the whole value, of all counters */
	/* With filters: visits that are open right inside of this one, and left out by their names.
	 * Both are written with the stack closed. */
	uint32_t left_out : 31;
	uint32_t unknown; /* saved: bit i set, counter i could not be read at BEGIN */
	struct pm_frame_counter counter[];
};

/* A path has at most PERFMON_PROFILE_DEPTH_MAX levels, also one that goes on from an adopted path. So
 * that many frames fit behind an adoption that is no deeper. */
#define PM_FRAMES (2 * PERFMON_PROFILE_DEPTH_MAX + 2)

static inline int pm_key_is_adopted(uint64_t region_key)
{
	return region_key * PM_KEY_INVERSE - PM_ADOPTED < 4;
}

static inline int pm_key_is_task(uint64_t region_key)
{
	return region_key * PM_KEY_INVERSE - PM_ADOPTED - 2 < 2;
}

/* Returns whether REGION_KEY, of an adoption, is of one that is apart. */
static inline int pm_key_is_apart(uint64_t region_key)
{
	return region_key * PM_KEY_INVERSE & 1;
}

/* Marks a visit that a stride skips, instead of a CPU number. */
#define PM_FRAME_SKIPPED UINT64_MAX

/* Marks a visit of a task that was resumed, in place of a CPU number, which no END finds: the rest is
 * the address of the ticks of its earlier parts. */
#define PM_FRAME_RESUMED (UINT64_C(1) << 62)

static inline int pm_frame_is_resumed(const struct pm_frame *frame)
{
	return frame->cpu >> 62 == 1;
}

/* Returns the ticks of the parts of FRAME's visit that have ended. */
static inline uint64_t pm_frame_earlier(const struct pm_frame *frame)
{
	if (!pm_frame_is_resumed(frame))
		return 0;
	return *(const uint64_t *)(uintptr_t)(frame->cpu & ~PM_FRAME_RESUMED);
}

/* Give the first epoch of a plan's generation, and the generation of an epoch. */
#define PM_EPOCH(generation)	   ((uint64_t)(generation) << 48)
#define PM_EPOCH_GENERATION(epoch) ((epoch) >> 48)

/* Returns whether a region has KEY for good: it is registered, or left out by its name. */
static inline int pm_key_is_settled(uint64_t region_key)
{
	uint32_t id = (uint32_t)(region_key * PM_KEY_INVERSE);

	return (id && id <= PM_REGIONS_MAX) || region_key == PM_KEY_LEFT_OUT;
}

struct pm_thread;
struct pm_task;
struct pm_task_way;

struct pm_thread_block {
	struct pm_frame *top;
	const uint32_t *cpu; /* the CPU the thread runs on now (rseq), or a constant 0 */
	/* Advances whenever a view is refreshed or the plan changes. If an END finds the
	 * epoch of its BEGIN, no page has changed between. It starts at PM_EPOCH() of the
	 * plan's generation, plus one. */
	uint64_t epoch;
	struct pm_path_entry *entries;
	uint64_t entry_shift; /* 64 - log2(entries) */
	uint32_t counters;
	/* counts of a node: the counters, and those that no thread could open */
	uint32_t columns;
	uint32_t frame_size;
	uint32_t entries_used;
	/* visits open below the deepest level, or in one that is left out; the stack is closed */
	uint32_t overflow;
	uint32_t in_slow;  /* the slow path is under way */
	uint32_t alive;	   /* 0 in a wiped block */
	uint32_t has_ways; /* some of `ways` were kept */
	struct pm_thread *thread;
	struct pm_frame *frames;   /* frames[0] is the thread's root, never popped */
	struct pm_frame *full_top; /* the top before an overflow */
	uint64_t arm_generation;
	/* a view whose page has a clock; equal to counters if none has */
	uint32_t time_view;
	/* pm_frame_innermost(); pm_frame_nowhere() from a disarm until the thread knows of it. */
	int32_t innermost;
	struct perfmon_region **name_cache; /* PM_NAME_CACHE of them */
	uint64_t *overflow_key;		    /* PM_OVERFLOW_KEYS of them */
	struct pm_frame *first;		    /* the one behind the root's */
	uint64_t adopted_key;		    /* PM_ADOPTED_KEY */
	struct pm_adopted *adopted;	    /* PM_ADOPTED_CACHE of them, */
	struct pm_handed_on
		*handed_on;  /* and of these; behind them as many places of tasks */
	uint64_t *left_outs; /* the record's counts of visits that are left out */
	uint64_t *
		left_out; /* that of `overflow`; NULL: these visits are too deep, and lost */
	/* The frame of the innermost task's visit, if that is its only one and the task can be
	 * suspended at once; else NULL. */
	struct pm_frame *task_frame;
	struct pm_task *task;	  /* the innermost that runs on the thread, or NULL */
	struct pm_task_way *ways; /* on which the thread has resumed tasks */
	struct perfmon_counter_view view[];
};

/* The calling thread's block, never NULL. Before set-up its stack is closed. */
extern __thread struct pm_thread_block *pm_thread_block
	__attribute__((visibility("hidden"), tls_model("initial-exec")));
extern struct pm_thread_block pm_thread_block_none __attribute__((visibility("hidden")));

static inline struct pm_frame *pm_frame_at(const struct pm_frame *frame,
					   size_t frame_size, ptrdiff_t steps)
{
	return (struct pm_frame *)(uintptr_t)((const char *)frame +
					      steps * (ptrdiff_t)frame_size);
}

static inline size_t pm_frame_size(uint32_t counters)
{
	return sizeof(struct pm_frame) + counters * sizeof(struct pm_frame_counter);
}

/* Returns where a quantity finds the path key of the innermost frame, from `top`. */
static inline int32_t pm_frame_innermost(uint32_t frame_size)
{
	return (int32_t)offsetof(struct pm_frame, path_key) - (int32_t)frame_size;
}

/* Returns where it finds the frame's region key instead: with the key of a quantity that is the key of
 * nothing, since no path has number 0. */
static inline int32_t pm_frame_nowhere(uint32_t frame_size)
{
	return (int32_t)offsetof(struct pm_frame, region_key) - (int32_t)frame_size;
}

/* Returns the stride of NODE, which stands behind its COLUMNS counts if strides are
 * on. */
static inline struct perfmon_profile_stride *
pm_node_stride(const struct perfmon_profile_node *node, uint32_t columns)
{
	return (struct perfmon_profile_stride *)(uintptr_t)&node->count[columns];
}

/* --- the writer's side of a node ---------------------------------------------------- */

/*
 * Read or write one aligned word whole, once, in program order. volatile compiles to
 * fewer instructions than a relaxed atomic, which has no addressing mode with an offset
 * on aarch64. ThreadSanitizer needs an atomic.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PM_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define PM_TSAN 1
#endif

#ifdef PM_TSAN
#define PM_GET(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define PM_PUT(field, value)                                                             \
	do {                                                                             \
		__typeof__(field) put_ = (value);                                        \
		__atomic_store(&(field), &put_, __ATOMIC_RELAXED);                       \
	} while (0)
#else
#define PM_GET(field)	     (*(volatile __typeof__(field) *)&(field))
#define PM_PUT(field, value) ((void)(*(volatile __typeof__(field) *)&(field) = (value)))
#endif
/* Adds to a field that only the calling thread writes. Its own read may be plain. */
#define PM_ADD(field, value) PM_PUT(field, (field) + (value))
/* PM_ADD() for 64-bit integers on the warm path. volatile would prevent gcc from adding
 * in memory. */
#if defined(__x86_64__) && !defined(PM_TSAN)
#define PM_ADD_64(field, value)                                                          \
	__asm__ __volatile__("addq %1, %0"                                               \
			     : "+m"(field)                                               \
			     : "er"((uint64_t)(value))                                   \
			     : "c"                                                       \
			       "c")
#else
#define PM_ADD_64(field, value) PM_ADD(field, value)
#endif
/* Adds to a 32-bit count, which stops at UINT32_MAX and never becomes 0 again. */
#define PM_COUNT32(field, value)                                                         \
	do {                                                                             \
		uint32_t mark_;                                                          \
		if (__builtin_add_overflow(field, value, &mark_))                        \
			mark_ = UINT32_MAX;                                              \
		PM_PUT(field, mark_);                                                    \
	} while (0)

/*
 * Opens a node for writing and returns its even sequence. The fence orders the odd
 * sequence before the fields. It pairs with the reader's acquire fence before its second
 * load of the sequence. Without it a reader on a weakly ordered CPU could see new fields
 * between two equal, old, even sequences.
 */
static inline uint64_t pm_node_open(struct perfmon_profile_node *node)
{
	uint64_t sequence = node->sequence;

	PM_PUT(node->sequence, sequence + 1);
#if defined(__aarch64__)
	__asm__ __volatile__("dmb ishst" ::: "memory");
#elif defined(PM_TSAN)
	/* ThreadSanitizer supports no fences. All accesses are atomic for it. */
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
	return sequence;
}

/* Publishes the node. The release orders the fields before the even sequence. It pairs
 * with the reader's acquire load of the sequence. This store is the end of a visit. */
static inline void pm_node_close(struct perfmon_profile_node *node, uint64_t sequence)
{
	__atomic_store_n(&node->sequence, sequence + 2, __ATOMIC_RELEASE);
}

/* Ends a write that ends no visit, but a part of one. `parts` is what a reader sees of it. The release
 * pairs with the reader's acquire loads of the sequence and of `parts`. */
static inline void pm_node_close_part(struct perfmon_profile_node *node,
				      uint64_t sequence)
{
	PM_PUT(node->parts, node->parts + 1);
	__atomic_store_n(&node->sequence, sequence, __ATOMIC_RELEASE);
}

/* Adds WORTH times the square of TICKS to an open node. Integers leave the vector registers
 * alone. */
static inline void pm_node_add_squares(struct perfmon_profile_node *node, uint64_t ticks,
				       uint64_t worth)
{
	unsigned __int128 sum = (unsigned __int128)ticks * ticks * worth;

	sum += (unsigned __int128)node->time_squares_high << 64 | node->time_squares;
	PM_PUT(node->time_squares, (uint64_t)sum);
	PM_PUT(node->time_squares_high, (uint64_t)(sum >> 64));
}

/* Adds the square of TICKS. gcc would align the stack for a product of its own. */
INLINE void pm_node_add_square(struct perfmon_profile_node *node, uint64_t ticks)
{
#if defined(__x86_64__) && !defined(PM_TSAN)
	uint64_t low = ticks;

	__asm__ __volatile__("mulq %3\n\taddq %%rax, %0\n\tadcq %%rdx, %1"
			     : "+m"(node->time_squares), "+m"(node->time_squares_high),
			       "+a"(low)
			     : "r"(ticks)
			     : "rdx", "cc");
#else
	pm_node_add_squares(node, ticks, 1);
#endif
}

/* Adds one visit of TICKS to the time fields of an open node. */
INLINE void pm_node_add_time(struct perfmon_profile_node *node, uint64_t ticks)
{
	uint64_t shortest = node->time_min, guard = node->time_guard;
	uint64_t binned = ticks;
	uint32_t *bin, filled;
#if !defined(__x86_64__)
	char *base;

	__asm__("" : "+r"(shortest), "+r"(guard)); /* loaded as a pair */
#endif

	PM_ADD_64(node->time_ticks, ticks);
	pm_node_add_square(node, ticks);
	if (__builtin_expect(ticks < shortest, 0))
		PM_PUT(node->time_min, ticks);
	/* time_guard is time_max as far as the bins reach, so that one comparison finds a
	 * new maximum and a visit too long for a bin. */
	if (__builtin_expect(ticks > guard, 0)) {
		uint64_t last = (UINT64_C(1) << PERFMON_PROFILE_BINS) - 1;

		if (ticks > node->time_max)
			PM_PUT(node->time_max, ticks);
		if (binned > last)
			binned = last;
		PM_PUT(node->time_guard, binned);
	}
#if defined(__x86_64__)
	bin = &node->histogram[63 ^ __builtin_clzll(binned | 1)]; /* one bsr */
#else
	/* The subtraction from the node lets the load compute the rest of the address. */
	base = (char *)node - 4 * __builtin_clzll(binned | 1);
	__asm__("" : "+r"(base));
	bin = (uint32_t *)(void *)(base +
				   offsetof(struct perfmon_profile_node, histogram) +
				   4 * 63);
#endif
	filled = *bin + 1;
	if (__builtin_expect(filled != 0, 1))
		PM_PUT(*bin, filled);
	else
		PM_COUNT32(node->spilled, 1);
}

/*
 * Draws the next measured visit. A node's visits are grouped in runs of `stride`. One
 * visit of each run is measured, at a random place (xorshift64). So no pattern of the
 * program can follow the measured visits, and the share of measured visits is right for
 * any number of visits.
 */
static inline void pm_stride_draw(struct perfmon_profile_stride *s)
{
	uint64_t x = s->random, stride = s->stride, place;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	/* The high half of a product with a 32-bit number: below stride. */
	place = (x >> 32) * stride >> 32;
	PM_PUT(s->random, x);
	PM_PUT(s->gap, s->left + place);
	PM_PUT(s->left, stride - 1 - place);
}

/* Adds the weight of a measured visit of TICKS, which the node's sums hold once
 * already. */
static inline void pm_stride_add_time(struct perfmon_profile_node *node,
				      struct perfmon_profile_stride *s, uint64_t ticks)
{
	double real = (double)(int64_t)ticks, worth = (double)(int64_t)s->worth;

	PM_ADD(s->weight, s->worth);
	PM_ADD_64(node->time_ticks, (s->worth - 1) * ticks);
	pm_node_add_squares(node, ticks, s->worth - 1);
	PM_ADD(s->time_cubes, worth * real * real * real);
}

/* Adds the weight of the count of counter I in one measured visit. */
static inline void pm_stride_add_count(struct perfmon_profile_node *node,
				       struct perfmon_profile_stride *s, uint32_t i,
				       int64_t difference)
{
	double real = (double)difference, worth = (double)(int64_t)s->worth;

	PM_ADD_64(node->count[i].sum, (s->worth - 1) * (uint64_t)difference);
	PM_ADD(node->count[i].squares, worth * real * real);
	PM_ADD(s->cubes[i], worth * real * real * real);
}

#endif
