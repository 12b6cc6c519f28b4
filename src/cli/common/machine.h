/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine that a profile is of. */
#ifndef PM_CLI_COMMON_MACHINE_H
#define PM_CLI_COMMON_MACHINE_H

#include "core/profile/profile.h"
#include "core/topology/topology.h"

/* This machine, if SNAPSHOT is of it since it was last started; NULL if not: of theirs,
 * profiles tell the kinds of CPU alone, and old ones not even these. It is described
 * once, and stays. */
const struct pm_machine *cli_machine_of(const struct pm_snapshot *snapshot);

#endif
