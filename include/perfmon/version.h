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
#define PERFMON_VERSION_NUMBER                                                           \
	(PERFMON_VERSION_MAJOR * 10000 + PERFMON_VERSION_MINOR * 100 +                   \
	 PERFMON_VERSION_PATCH)

/**
 * perfmon_version_number() - the version of the library that runs, as
 * major * 10000 + minor * 100 + patch. Compare it with the PERFMON_VERSION_ macros, which
 * are those the program was compiled with. Any thread; no system call, no allocation.
 */
int perfmon_version_number(void);

/**
 * perfmon_version_check() - whether a program can use the library that runs.
 * @compiled: PERFMON_VERSION_NUMBER, which is that of the headers it was compiled with
 *
 * Any thread; no system call, no allocation.
 *
 * Return: 0, or
 * -EOPNOTSUPP: the library has another major version, or is older (the patch level
 *	doesn't matter)
 * -EINVAL: @compiled is no version
 *
 * Source: hwpmc, pmc_init(3), which compares the versions of library and kernel.
 */
int perfmon_version_check(int compiled);

#ifdef __cplusplus
}
#endif
#endif
