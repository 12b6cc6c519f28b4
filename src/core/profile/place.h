/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file that a profile is kept in: its name, which no two programs share; whose
 * profile it goes on from; and what its file system makes of it.
 *
 * The name is PERFMON_PROFILE with %p, %r, %h and %% replaced; if there is such a file,
 * that with ".PID" at its end; if there is that, too, with ".PID.2", ".PID.3" and so on.
 * No file is ever written over.
 */
#ifndef PM_PROFILE_PLACE_H
#define PM_PROFILE_PLACE_H

#include "core/settings/options.h"
#include "core/text/diag.h"
#include "perfmon/profile_layout.h"

struct pm_profile_place {
	int fd;
	char path[4096]; /* which fd is the file of */
	size_t wanted;	 /* so much of it is the name that was asked for */
};

/*
 * pm_profile_place_open() - creates the file for the profile of SELF, of which pid,
 * start_time and boot_id are set, with mode 0600 and through no symbolic link. If SELF
 * has no parent yet and one is found among the files that are in the way, an earlier
 * program of this process (before exec) or the parent process's, SELF is linked to it;
 * its image is set. 0, or with a sentence what open(2) gave, -EEXIST if all names are
 * taken, -ENAMETOOLONG. Allocates nothing.
 */
int pm_profile_place_open(struct pm_profile_place *place,
			  const struct pm_options *options,
			  struct perfmon_profile_header *self, struct pm_diag *diag);

/* Opens the file of PLACE again, for a program that has closed fd; the caller sees to it
 * that it is the same. A descriptor, or what open(2) gave. */
int pm_profile_place_again(const struct pm_profile_place *place);

/* What the network file system is called that FD lies on; NULL for a local one, or where
 * it is not known. */
const char *pm_profile_place_network(int fd);

#endif
