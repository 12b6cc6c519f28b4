/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions by names that are known only at run time, for the calls that end a visit without its name. */
#ifndef PERFMON_HOOKS_COMMON_NAMES_H
#define PERFMON_HOOKS_COMMON_NAMES_H

#include <perfmon/region.h>

/* Returns a better name for TEXT, for free(), or NULL if there is none. */
typedef char *readable_name(const char *text);

/* Returns the region of TEXT, which lives as long as the process: the same one for the same text. Its
 * name is what READABLE returns at the first call, or TEXT. READABLE may be NULL. Takes no lock, and
 * allocates for a new text alone. Returns NULL without memory. */
struct perfmon_region *region_of(const char *text, readable_name *readable);

#endif
