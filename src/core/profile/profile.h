/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory that regions write: its layout, the writer's side, files, and the reader.
 *
 * Uses os/, topology/ (kinds of CPU) and the fast path's record of a thread.
 *
 * Must hold: a reader believes nothing that a profile says before it has checked it, and
 * never sees half a node without knowing.
 */
#ifndef PM_PROFILE_PROFILE_H
#define PM_PROFILE_PROFILE_H

#include "core/profile/affinity.h"
#include "core/profile/copies.h"
#include "core/profile/file.h"
#include "core/profile/node.h"
#include "core/profile/pack.h"
#include "core/profile/snapshot.h"
#include "core/profile/take.h"
#include "core/profile/writer.h"

#endif
