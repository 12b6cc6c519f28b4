/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PM_CLI_METRICS_MACHINE_H
#define PM_CLI_METRICS_MACHINE_H

#include <stdbool.h>

#include "core/text/diag.h"

/* Stores the value of a literal of perf's expressions, such as #num_cpus, on this machine.
 * CPUS: CPUs are counted, not threads. Returns 0, or a negative errno with a message. */
int metric_literal(const char *name, bool cpus, double *value, struct pm_diag *diag);

/* Returns whether ID, a MIDR of arm64 such as "0x410fd493", names this CPU or an earlier
 * revision of it. On other CPUs it never does. */
bool metric_cpu_is(const char *id);

#endif
