/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The version of the library, at compile time and at run time. */
#ifndef PERFMON_VERSION_H
#define PERFMON_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define PERFMON_VERSION_MAJOR 0
#define PERFMON_VERSION_MINOR 1
#define PERFMON_VERSION_PATCH 0

/**
 * perfmon_version_number() - the version of the library that runs, as
 * major * 10000 + minor * 100 + patch. Compare it with the PERFMON_VERSION_ macros, which
 * are those the program was compiled with. Any thread; no system call, no allocation.
 */
int perfmon_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
