/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds other copies of the library in this process: in a plugin that is linked with the
 * archive, or in a namespace of dlmopen(3). Each has regions and a profile of its own. */
#ifndef PM_PROFILE_COPIES_H
#define PM_PROFILE_COPIES_H

struct pm_copies {
	unsigned int others; /* copies that have used a region */
	unsigned int before; /* copies whose profile is older than ours */
};

/* Finds the other copies by their profiles, among the process's mappings. Allocates
 * nothing. */
void pm_copies_find(struct pm_copies *copies);

#endif
