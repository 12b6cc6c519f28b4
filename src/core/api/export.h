/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks a definition that the map file exports; everything else is hidden. */
#ifndef PM_API_EXPORT_H
#define PM_API_EXPORT_H

#define PM_EXPORT __attribute__((visibility("default")))

#endif
