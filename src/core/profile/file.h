/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile of another process, or of one that has ended: opened by the file it is kept
 * in or by the process that writes it, and read as often as one likes while it grows.
 *
 * While its writer lives, a profile is read where the writer writes it, through a
 * mapping, if that is safe. A mapping whose file shrinks is SIGBUS, and a library
 * installs no handlers. So a mapping is only made of memory that cannot shrink (the
 * library seals its memfds) and of files that the calling user alone can write, and never
 * by root of a file. Others are copied, and while their writer lives their nodes are read
 * again until each held still.
 */
#ifndef PM_PROFILE_FILE_H
#define PM_PROFILE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/profile/snapshot.h"

struct pm_profile_file;

/*
 * pm_profile_file_open() - opens the file at PATH, which symbolic links may lead to. 0,
 * or with a sentence in DIAG: -EISDIR or -EINVAL for what is no regular file (none of
 * which is opened) or no profile, -ENODATA for the profile of a program that has not got
 * so far, -ENOMEM, or what open(2) gave. *OUT is untouched on failure.
 */
int pm_profile_file_open(const char *path, struct pm_profile_file **out,
			 struct pm_diag *diag);

/*
 * pm_profile_file_open_pid() - opens the profile of the running process PID, wherever it
 * is kept. 0, or with a sentence: -ESRCH if there is no such process, -EACCES if the
 * caller may not look into it (see ptrace(2), PTRACE_MODE_READ_FSCREDS), -ENOENT if it
 * has no profile (yet) or one in private memory, or as above.
 */
int pm_profile_file_open_pid(pid_t pid, struct pm_profile_file **out,
			     struct pm_diag *diag);

/*
 * pm_profile_file_snapshot() - as pm_snapshot_take(), of what the profile holds now. 0 (a
 * partial snapshot's problem stands in DIAG, too), -ENOMEM, -EINVAL if it is no profile
 * any more, or what fstat(2), mmap(2) or pread(2) gave. One thread at a time per FILE.
 */
int pm_profile_file_snapshot(struct pm_profile_file *file, struct pm_snapshot **out,
			     struct pm_diag *diag);

/*
 * pm_profile_file_is_alive() - whether the process that writes the profile still runs the
 * program that began it: boot id, pid and start time agree, and the process has the
 * profile mapped, as far as the caller may look.
 */
bool pm_profile_file_is_alive(const struct pm_profile_file *file);

/* What the profile's header says, as it was when the file was opened. */
const struct perfmon_profile_header *
pm_profile_file_header(const struct pm_profile_file *file);

void pm_profile_file_close(struct pm_profile_file *file); /* NULL is accepted */

#endif
