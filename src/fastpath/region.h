/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The slow path of regions that the hot path calls, and the choice of the hot path's
 * forms. */
#ifndef PM_FASTPATH_REGION_H
#define PM_FASTPATH_REGION_H

#include "arch/keep.h"
#include "fastpath/thread.h"

/* Programs use these names: see core/api/export.h. */
#ifdef PM_HIDDEN
#define PM_REGION_EXPORT __attribute__((visibility("hidden")))
#else
#define PM_REGION_EXPORT __attribute__((visibility("default")))
#endif

struct pm_region_calls {
	void (*begin)(struct perfmon_region *region);
	void (*end)(struct perfmon_region *region);
};

/* The part of pm_region_calls_arm() and _disarm() for the macros' asm statements, where these do not make
 * ordinary calls. FORM is a number of forms.h. */
void pm_region_kept_arm(uint32_t form);
void pm_region_kept_disarm(void);

/* The ordinary ones, also while regions are disarmed. */
extern struct pm_region_calls pm_region_ordinary __attribute__((visibility("hidden")));
/* The forms for the macros' asm statements, without the entries that these call. */
extern struct pm_region_calls pm_region_kept __attribute__((visibility("hidden")));
void pm_region_begin_ordinary(struct perfmon_region *region);
void pm_region_end_ordinary(struct perfmon_region *region);

/*
 * Lets programs call BEGIN and END for COUNTERS counters from now on. With PLAIN they are
 * specialised for the number. They assume the CPU's timestamp counter, no fence, and that
 * regions were armed once, at set-up. Otherwise one form serves every number and setting.
 * Another form serves all of them with a STRIDE, where only some visits are measured.
 */
void pm_region_calls_arm(uint32_t counters, int plain, int stride);

/* Lets BEGIN and END be these two from the next pm_region_calls_arm() on, which call *FORM: what it
 * would have chosen. They are not specialised, and not called where registers are kept but through
 * pm_kept_begin_ordinary(). Never reset. */
void pm_region_calls_surround(void (*begins)(struct perfmon_region *),
			      void (*ends)(struct perfmon_region *),
			      struct pm_region_calls *form);
extern int pm_region_is_surrounded __attribute__((visibility("hidden")));

/* Lets BEGIN and END do nothing from now on. */
void pm_region_calls_disarm(void);

int pm_region_calls_are_armed(void);

/* Settings of the general form, written before the calls are published. */
struct pm_region_general {
	int fence;     /* complete earlier instructions before each read */
	int stride;    /* nodes have strides; it is never reset */
	int monotonic; /* take the time from CLOCK_MONOTONIC; 2: which is replaced */
	int special;   /* any of these is set, or regions have been disarmed */
	/* counts arm and disarm; frames of an older generation are stale */
	uint64_t generation;
	int filters; /* visits are left out, or have steps; it is never reset */
	int looks;   /* those of paths that turn out too short, too */
};
extern struct pm_region_general pm_region_general __attribute__((visibility("hidden")));

/* The compiler adds calls to each access. */
#if defined(__SANITIZE_ADDRESS__) || defined(PM_TSAN)
#define PM_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define PM_SANITIZED 1
#endif
#endif

/*
 * --- the slow path (slow.c and stale.c in core/regions/slow/) -------------------------
 *
 * PM_SLOW(type, name, parameters) declares pm_region_NAME(), and pm_kept_NAME(), which is the
 * same with the registers kept (slow.S).
 */
#define PM_SLOW(type, name, ...)                                                         \
	type pm_region_##name(__VA_ARGS__);                                              \
	type pm_kept_##name(__VA_ARGS__) __attribute__((visibility("hidden")))

/* These four return REGION if the call can be made again, or NULL if it has ended. What keeps
 * the registers makes it again: by pm_region_kept, or by pm_region_ordinary. */
#define PM_SLOW_THEN(name, ...)                                                          \
	struct perfmon_region *pm_region_##name(__VA_ARGS__);                            \
	void pm_kept_##name(__VA_ARGS__) __attribute__((visibility("hidden")));          \
	void pm_ordinary_##name(__VA_ARGS__) __attribute__((visibility("hidden")))
/* The stack was closed. */
PM_SLOW_THEN(begin_closed, struct perfmon_region *region);
PM_SLOW_THEN(end_closed, struct perfmon_region *region);

/* The stack was open at FRAME and is closed now. Each of these opens it again. */
/* There is no child with this key: a new path, an unregistered region, or too deep. */
PM_SLOW_THEN(begin_missing, struct pm_thread_block *block, struct pm_frame *frame,
	     struct perfmon_region *region);
/* FRAME is the innermost visit, and its key is not the key of REGION. This END is the
 * region's first call, or belongs to another visit. */
PM_SLOW_THEN(end_other, struct pm_thread_block *block, struct pm_frame *frame,
	     struct perfmon_region *region);
/* FRAME lacks only its start, its counters and its node NODE. Some view is stale. */
PM_SLOW(void, begin_stale, struct pm_thread_block *block, struct pm_frame *frame,
	struct perfmon_profile_node *node);
/* FRAME is the innermost open visit. Some page has changed since its BEGIN. */
PM_SLOW(void, end_stale, struct pm_thread_block *block, struct pm_frame *frame);
/* The stride of NODE is due for an adjustment. */
PM_SLOW(void, stride_look, struct pm_thread_block *block,
	const struct perfmon_profile_node *node);
/* The generation of arming has changed since this thread's last call. Drops the stale
 * frames below FRAME and returns the new top of the stack. */
PM_SLOW(struct pm_frame *, resync, struct pm_thread_block *block, struct pm_frame *frame);

/* The path of ENTRY, whose next visit will be at FRAME, is due for a mark of its steps, or for a look at
 * how long its visits are. Its node is NULL from then on if they are left out. */
PM_SLOW(void, path_look, struct pm_path_entry *entry, struct pm_frame *frame);

/* Adds to NODE what a stride makes of a visit of TICKS and the counters' DIFFERENCE. */
PM_SLOW(void, stride_add, const struct pm_thread_block *block,
	struct perfmon_profile_node *node, uint64_t ticks, const int64_t *difference);
/* Returns CLOCK_MONOTONIC. */
PM_SLOW(uint64_t, monotonic, void);
/* The same of a library that replaces it, which may use all registers. */
uint64_t pm_kept_replaced(void) __attribute__((visibility("hidden")));

/* Asm statements call these where no form keeps the registers. */
void pm_kept_begin_ordinary(struct perfmon_region *region)
	__attribute__((visibility("hidden")));
void pm_kept_end_ordinary(struct perfmon_region *region)
	__attribute__((visibility("hidden")));

/* Counts down after each measured visit of NODE. */
INLINE int pm_region_stride_is_due(const struct pm_thread_block *block,
				   const struct perfmon_profile_node *node)
{
	struct perfmon_profile_stride *stride = pm_node_stride(node, block->columns);

	PM_ADD(stride->until, UINT64_C(-1));
	return !stride->until;
}

/* After how many visits of a path with steps the next mark is due, by pm_path_entry.steps; only the thread
 * that has the path's marks writes it. The first belongs to paths without steps. */
extern uint64_t pm_region_step_due[PERFMON_PROFILE_STEPS_MAX + 1]
	__attribute__((visibility("hidden")));

INLINE int pm_region_step_is_due(const struct pm_path_entry *entry)
{
	return entry->node->entered >= pm_region_step_due[entry->steps];
}

/* So many visits of a path are measured before the first look, and between later ones. */
#define PM_FILTER_LOOK 1024u

INLINE int pm_region_filter_is_due(const struct pm_path_entry *entry)
{
	return pm_region_general.looks &&
	       (entry->node->entered & (PM_FILTER_LOOK - 1)) == PM_FILTER_LOOK - 1;
}

#endif
