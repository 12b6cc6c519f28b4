/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile of another process, or of one that has ended. It is opened by its file or
 * by its process, and can be read any number of times while it grows.
 *
 * While the writer lives, the profile is read through a mapping, if that is safe: access
 * to a mapping whose file has shrunk raises SIGBUS, and a library installs no handlers.
 * So only two kinds of memory are mapped: memory that cannot shrink (the library seals
 * its memfds), and files that only the calling user can write, unless that is root. Other
 * profiles are copied; while the writer lives, their nodes are read again until each is
 * unchanged.
 */
#ifndef PM_PROFILE_FILE_H
#define PM_PROFILE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/profile/snapshot.h"

struct pm_profile_file;

/*
 * pm_profile_file_open() - opens the file at PATH and follows symbolic links. Opens no
 * FIFO and no device. Returns 0; on failure leaves *OUT untouched, puts a sentence into
 * DIAG and returns one of
 *
 * - -EISDIR or -EINVAL: not a regular file, or not a profile
 * - -ENODATA: the program has not written anything yet
 * - -ENOMEM
 * - an error of open(2)
 */
int pm_profile_file_open(const char *path, struct pm_profile_file **out,
			 struct pm_diag *diag);

/*
 * pm_profile_file_open_pid() - opens the profile of the running process PID, wherever it
 * is. Returns as above, and
 *
 * - -ESRCH: there is no such process
 * - -EACCES: the caller may not inspect it (ptrace(2), PTRACE_MODE_READ_FSCREDS)
 * - -ENOENT: it has no profile yet, or one in private memory
 */
int pm_profile_file_open_pid(pid_t pid, struct pm_profile_file **out,
			     struct pm_diag *diag);

/*
 * pm_profile_file_snapshot() - takes a snapshot of the profile as it is now. Returns 0,
 * -ENOMEM, -EINVAL if it is no longer a profile, or an error of fstat(2), mmap(2) or
 * pread(2). DIAG also says why a snapshot is partial. One thread at a time may use FILE.
 */
int pm_profile_file_snapshot(struct pm_profile_file *file, struct pm_snapshot **out,
			     struct pm_diag *diag);

/*
 * pm_profile_file_is_alive() - says whether the process that writes the profile still
 * runs the program that began it: boot ID, PID and start time agree, and the process has
 * the profile mapped, as far as the caller may see.
 */
bool pm_profile_file_is_alive(const struct pm_profile_file *file);

/* Returns the profile's header as it was when the file was opened. */
const struct perfmon_profile_header *
pm_profile_file_header(const struct pm_profile_file *file);

void pm_profile_file_close(struct pm_profile_file *file); /* NULL is accepted */

/* Other copies of the library in this process: in a plugin that is linked with the archive, or in a
 * namespace of dlmopen(3). Each has regions and a profile of its own. */
struct pm_copies {
	unsigned int others; /* copies that have used a region */
	unsigned int before; /* copies whose profile is older than ours */
};

/* Finds the other copies by their profiles, among the process's mappings. Allocates
 * nothing. */
void pm_copies_find(struct pm_copies *copies);

#endif
