/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks a definition that the map file exports; everything else is hidden. With PM_HIDDEN
 * all is, so that copies of the archive in one process do not find each other. */
#ifndef PM_API_EXPORT_H
#define PM_API_EXPORT_H

#ifdef PM_HIDDEN
#define PM_EXPORT __attribute__((visibility("hidden")))
#else
#define PM_EXPORT __attribute__((visibility("default")))
#endif

#endif
