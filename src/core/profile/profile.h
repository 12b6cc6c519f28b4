/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory that regions write: its layout, its writer, its files and its reader.
 *
 * A reader checks everything that a profile says before using it, and marks a node that
 * may be half written.
 */
#ifndef PM_PROFILE_PROFILE_H
#define PM_PROFILE_PROFILE_H

#include "core/profile/file.h"
#include "core/profile/node.h"
#include "core/profile/snapshot.h"
#include "core/profile/writer.h"

#endif
