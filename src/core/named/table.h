/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of families, line by line. */
#ifndef PM_NAMED_TABLE_H
#define PM_NAMED_TABLE_H

#include "core/text/text.h"
#include "core/topology/topology.h"

/* The lines of a family, from behind its "family" to the next one's. */
struct pm_named_table {
	struct pm_slice name, lines;
};

/* Finds the table of KINDS, or the one for all CPUs, or with EXACT the one of what is
 * counted by translation. */
struct pm_named_table pm_named_table_of(const struct pm_cpu_kinds *kinds, bool exact);

/* Cuts the next line off *LINES: its first WORD, and the REST behind it. Returns false at
 * the end. */
bool pm_named_line(struct pm_slice *lines, struct pm_slice *word, struct pm_slice *rest);

#endif
