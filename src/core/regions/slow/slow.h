/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of the slow path that the public calls share. */
#ifndef PM_REGIONS_SLOW_H
#define PM_REGIONS_SLOW_H

#include <stdbool.h>

#include "fastpath/fastpath.h"

/* Makes the call that *CALL points to, unless regions are disarmed. */
static inline void pm_region_call(void (**call)(struct perfmon_region *),
				  struct perfmon_region *region)
{
	void (*function)(struct perfmon_region *) =
		__atomic_load_n(call, __ATOMIC_RELAXED);

	if (function)
		function(region);
}

/* Return whether a BEGIN, or an END, of the calling thread can be counted. The thread is
 * set up if needed. Otherwise the call is counted as lost. */
bool pm_slow_begins(void);
bool pm_slow_ends(const char *name);

/* Returns the number of FRAME, counted from the root's. */
static inline uint64_t pm_frame_number(const struct pm_thread_block *block,
				       const struct pm_frame *frame)
{
	return (uint64_t)((const char *)frame - (const char *)block->frames) /
	       block->frame_size;
}

/* Returns the innermost adoption below TOP, or the root's frame if there is none. */
static inline struct pm_frame *pm_slow_adoption(const struct pm_thread_block *block,
						const struct pm_frame *top)
{
	struct pm_frame *frame = pm_frame_at(top, block->frame_size, -1);

	while (frame != block->frames && !pm_key_is_adopted(frame->region_key))
		frame = pm_frame_at(frame, block->frame_size, -1);
	return frame;
}

/* Returns whether a call may go on: the stack of BLOCK is open, or visits that are too deep or left out
 * close it. It is opened again if the call that closed it never will: a signal handler has left that by
 * siglongjmp(3). */
bool pm_slow_reopen(struct pm_thread_block *block);

/* Closes the open stack of BLOCK for this call and returns its top. Drops visits that are
 * open since before regions were disarmed. */
struct pm_frame *pm_slow_close(struct pm_thread_block *block);

/* Opens it again at TOP. */
static inline void pm_slow_open(struct pm_thread_block *block, struct pm_frame *top)
{
	SIGNAL_FENCE();
	block->in_slow = 0;
	SIGNAL_FENCE();
	block->top = top;
}

/* Adds the path of REGION_KEY below the path PARENT, at DEPTH, to the tree of the calling thread, whose stack is
 * closed. Returns NULL, or the count of lost visits if it failed. */
uint64_t *pm_slow_add_path(struct pm_thread_block *block, uint64_t parent,
			   uint64_t region_key, uint32_t depth);

/* Returns the node of KEY below the path of PATH_KEY, for what is no path with nodes below it: a
 * quantity, or visits that overlap. It is added if it is new. NULL without memory, below the deepest
 * level, and while the thread is in set-up. The stack is closed. */
struct perfmon_profile_node *pm_slow_node_below(struct pm_thread_block *block,
						uint64_t path_key, uint64_t key);

#endif
