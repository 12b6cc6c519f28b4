/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All of libperfmon's interface except the opt-in inline reads (perfmon/inline.h) and the
 * calls of perfmon2 (perfmon/perfmon2.h). */
#ifndef PERFMON_PERFMON_H
#define PERFMON_PERFMON_H

#include <perfmon/control.h>
#include <perfmon/event.h>
#include <perfmon/format.h>
#include <perfmon/info.h>
#include <perfmon/log.h>
#include <perfmon/merge.h>
#include <perfmon/placement.h>
#include <perfmon/overflow.h>
#include <perfmon/overlap.h>
#include <perfmon/profile.h>
#include <perfmon/quantity.h>
#include <perfmon/region.h>
#include <perfmon/report.h>
#include <perfmon/sample.h>
#include <perfmon/sampling.h>
#include <perfmon/session.h>
#include <perfmon/set.h>
#include <perfmon/cpuwide.h>
#include <perfmon/task.h>
#include <perfmon/team.h>
#include <perfmon/value.h>
#include <perfmon/version.h>

#endif
