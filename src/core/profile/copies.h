/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Other copies of the library in this process, each with regions and a profile of its
 * own: in a plugin that the archive was linked into, or in a namespace of dlmopen(3). */
#ifndef PM_PROFILE_COPIES_H
#define PM_PROFILE_COPIES_H

struct pm_copies {
	unsigned int others; /* that have used a region */
	unsigned int before; /* of them, those whose profile is older than ours */
};

/* Finds the others by their profiles, in what the process has mapped. Allocates
 * nothing. */
void pm_copies_find(struct pm_copies *copies);

#endif
