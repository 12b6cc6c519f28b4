/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames of adopted paths on a thread's stack of open visits: what the calls of teams and those of
 * tasks share. */
#ifndef PM_REGIONS_ADOPT_H
#define PM_REGIONS_ADOPT_H

#include "fastpath/fastpath.h"
#include "perfmon/team.h"

/* The low half of a token is the path's number. */
#define PM_TOKEN_NUMBER(path) ((path)&UINT32_MAX)

/* Returns the block of the calling thread with its stack closed and its top in *TOP; NULL if the
 * call cannot be made, with the reason in *ERR. While regions are disarmed a thread that is set up
 * goes on: what it adopts and leaves then has to match what it does when they are armed again. */
struct pm_thread_block *pm_adopt_close(struct pm_frame **top, int *err);

/* Finds where the thread is below TOKEN's path, if it adopts it at FRAME, and adds the nodes that are
 * missing. Takes PM_LOCK_REGIONS. The stack is closed. Returns 0 or a negative errno. */
int pm_adopt_find(struct pm_thread_block *block, const struct pm_frame *frame,
		  const struct perfmon_token *token, struct pm_adopted *found);

/* Makes FRAME an adoption of what was found for it, and returns the next frame. KEY is
 * PM_ADOPTED_KEY or PM_TASK_KEY. */
struct pm_frame *pm_adopt_enter(struct pm_thread_block *block, struct pm_frame *frame,
				const struct pm_adopted *adopted, uint64_t key);

/* The last part of that. The frame counts from the store of its node on, in case a handler jumps
 * away. */
static inline struct pm_frame *pm_adopt_push(const struct pm_thread_block *block,
					     struct pm_frame *frame,
					     const struct pm_adopted *adopted)
{
	frame->path_key = adopted->path_key;
	frame->cpu = adopted->cpu;
	SIGNAL_FENCE();
	PM_PUT(frame->node, adopted->node);
	return pm_frame_at(frame, block->frame_size, 1);
}

/* Ends the adoption at FRAME for the visits of the thread that have nothing of it. */
void pm_adopt_leave_apart(struct pm_thread_block *block, struct pm_frame *frame);

/* Adopts TOKEN's path at the top of the calling thread's stack. */
int pm_adopt_token(const struct perfmon_token *token);

/* Has the same for a forked child, by the number of a path. */
extern const struct pm_region_adopter pm_adopter;

#endif
