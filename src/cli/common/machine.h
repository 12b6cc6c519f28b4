/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine of a profile. */
#ifndef PM_CLI_COMMON_MACHINE_H
#define PM_CLI_COMMON_MACHINE_H

#include "core/profile/profile.h"
#include "core/topology/topology.h"

/*
 * Returns this machine if SNAPSHOT was made on it since its last start, else NULL.
 * Profiles of other machines name at most their kinds of CPU. The machine is read once,
 * and stays.
 */
const struct pm_machine *cli_machine_of(const struct pm_snapshot *snapshot);

#endif
