/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of a profile: its name, which no two programs share; the earlier profile that
 * it continues; and its file system.
 *
 * The name is PERFMON_PROFILE with %p, %r, %h and %% replaced. If that file exists,
 * ".PID" is added, and then ".PID.2", ".PID.3" and so on. No file is ever overwritten.
 */
#ifndef PM_PROFILE_PLACE_H
#define PM_PROFILE_PLACE_H

#include "core/settings/options.h"
#include "core/text/diag.h"
#include "perfmon/profile_layout.h"

struct pm_profile_place {
	int fd;
	char path[4096]; /* the path of fd; "": there is none */
	size_t wanted;	 /* length of the name that was requested */
};

/*
 * pm_profile_place_open() - creates the file for the profile of SELF with mode 0600; the
 * name must not be a symbolic link. The caller has set SELF's pid, start_time and
 * boot_id; its image is set here. If SELF has no parent yet, it is linked to the profile
 * of an earlier program of this process (before exec) or of the parent process, if one of
 * the existing files has it. Allocates nothing. Returns 0; on failure puts a sentence
 * into DIAG and returns an error of open(2), -EEXIST if all names are taken, or
 * -ENAMETOOLONG.
 */
int pm_profile_place_open(struct pm_profile_place *place,
			  const struct pm_options *options,
			  struct perfmon_profile_header *self, struct pm_diag *diag);

/* Returns the name of the network file system that has FD, or NULL if the file system is
 * local or unknown. */
const char *pm_profile_place_network(int fd);

#endif
