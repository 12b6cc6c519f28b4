/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merging: one report of many processes, made by one of them. Each packs its profile; the
 * bytes go, by whatever way the program has, to the one that adds them up and prints.
 * Very many processes add up in a tree: each adds what a few others sent, and sends the sum.
 * With MPI libperfmon-mpi does all of this in MPI_Finalize().
 *
 * doc/report-formats.md describes a report of many processes.
 */
#ifndef PERFMON_MERGE_H
#define PERFMON_MERGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perfmon_merge;

/**
 * perfmon_merge_pack() - what this process has counted so far, as bytes in the layout of
 * perfmon/profile_layout.h, which any process on any host can add.
 *
 * Regions go on meanwhile, in all threads; each path is consistent in itself. Visits that
 * have not ended are in no value, and the report says which processes had any. *PROFILE is
 * the caller's, who frees it with free(3). FLAGS must be 0.
 *
 * Return: 0, or
 * -EINVAL: a NULL, or FLAGS that are not 0
 * -ENOENT: this process has not used a region yet
 * -ENOMEM
 *
 * Allocates and may enter the kernel; any thread, but no signal handler.
 */
int perfmon_merge_pack(void **profile, size_t *size, uint32_t flags);

/**
 * perfmon_merge_create() - begins a sum, which perfmon_merge_free() ends.
 *
 * Values are lessened by the bias if PERFMON_BIAS says so. A merge is used by one thread
 * at a time. MESSAGE gets one sentence that says what is wrong, or "" on success; it may
 * be NULL with MESSAGE_SIZE 0, and a longer sentence is cut. Allocates.
 *
 * Returns 0, -EINVAL for a NULL, or -ENOMEM.
 */
int perfmon_merge_create(struct perfmon_merge **merge, char *message,
			 size_t message_size);

/**
 * perfmon_merge_message() - copies the sentence about MERGE's last call that failed into
 * BUFFER of SIZE bytes; "" if the last one did not. BUFFER may be NULL with SIZE 0. No
 * system call, no allocation.
 *
 * Returns the length of the whole sentence, as snprintf(3) does, or -EINVAL.
 */
int perfmon_merge_message(const struct perfmon_merge *merge, char *buffer, size_t size);

/**
 * perfmon_merge_add() - adds the SIZE bytes at PROFILE (aligned to 8), of which nothing
 * is kept but sums. They are checked: what does not hold is left out, and the report says
 * so. The bytes are of perfmon_merge_pack(), of a file of PERFMON_PROFILE, or of
 * perfmon_merge_pack_sum() of the same version of the library.
 *
 * If several processes have the same least or largest value, the report names the one that was
 * added first.
 *
 * Return: 0, or
 * -EINVAL: a NULL, what is no profile, one of whose clock nothing is known, or a packed sum
 *	that is damaged or of another version, which changes nothing
 * -EBUSY: after perfmon_merge_print()
 * -ENOMEM: after it MERGE can only be freed
 *
 * Allocates.
 */
int perfmon_merge_add(struct perfmon_merge *merge, const void *profile, size_t size);

/**
 * perfmon_merge_pack_sum() - what MERGE has added so far, as bytes for perfmon_merge_add() of
 * another merge, whose report is then the same as if it had added each of the profiles. Adding
 * to MERGE goes on after it.
 *
 * The bytes are about as many as those of one profile that has all paths, and 32 to 40 more for
 * each process. Only the same version of the library reads them: they are to be sent, not kept.
 * *SUM is the caller's, who frees it with free(3). FLAGS must be 0.
 *
 * Return: 0, or
 * -EINVAL: a NULL, or FLAGS that are not 0
 * -ENOENT: nothing has been added
 * -EBUSY: after perfmon_merge_print()
 * -ENOMEM: MERGE is as before
 *
 * Allocates.
 */
int perfmon_merge_pack_sum(struct perfmon_merge *merge, void **sum, size_t *size,
			   uint32_t flags);

/**
 * perfmon_merge_print() - writes the report, once, to where PERFMON_OUTPUT of this
 * process says and as PERFMON_FORMAT says. Where that would be a file per rank by default
 * it is one file, perfmon.txt (.json, .csv) in the working directory.
 *
 * Return: 0, or
 * -EINVAL: a NULL
 * -ENOENT: nothing has been added
 * -EBUSY: the second time
 * -ENOMEM
 * - what write(2) refused with
 *
 * A file that cannot be written is not an error: the report goes to stderr and says
 * so. Allocates and enters the kernel.
 */
int perfmon_merge_print(struct perfmon_merge *merge);

void perfmon_merge_free(struct perfmon_merge *merge); /* NULL is accepted */

/**
 * perfmon_merge_done() - this process writes no report when it exits: another one has
 * printed what it did. A profile in a file stays.
 *
 * Returns 0, or -ENOENT if this process has not used a region yet. Any thread.
 */
int perfmon_merge_done(void);

#ifdef __cplusplus
}
#endif
#endif
