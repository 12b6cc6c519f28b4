/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfmon-mpi: one report of all ranks, made in MPI_Finalize(). This library's
 * MPI_Finalize() comes before MPI's, in C and Fortran (MPI's profiling interface: PMPI_
 * names are MPI's own). Link a program with it before MPI, or start it with the library
 * in LD_PRELOAD.
 *
 * Rank 0 receives one profile after the other and keeps only sums. The report has nothing
 * that a rank does after MPI_Finalize().
 */
#include <errno.h>
#include <mpi.h>
#include <perfmon/merge.h>
#include <perfmon/profile_layout.h>
#include <perfmon/report.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TAG  1
#define PART ((size_t)1 << 20) /* of a message: there is always memory for one */

static void send_to(int rank, MPI_Comm comm, const unsigned char *bytes, uint64_t size)
{
	/* Synchronous, so that rank 0 holds one profile at a time. */
	PMPI_Ssend(&size, 1, MPI_UINT64_T, rank, TAG, comm);
	for (uint64_t at = 0; at < size; at += PART)
		PMPI_Ssend(bytes + at, (int)(size - at < PART ? size - at : PART),
			   MPI_BYTE, rank, TAG, comm);
}

/* Receives the profile of RANK, of *SIZE bytes; 0 if it has none. Returns NULL without
 * memory. */
static unsigned char *receive_from(int rank, MPI_Comm comm, uint64_t *size)
{
	static unsigned char dropped[PART];
	unsigned char *bytes;

	PMPI_Recv(size, 1, MPI_UINT64_T, rank, TAG, comm, MPI_STATUS_IGNORE);
	bytes = malloc(*size + 1);
	/* Received even without memory, since its sender waits. */
	for (uint64_t at = 0; at < *size; at += PART)
		PMPI_Recv(bytes ? bytes + at : dropped,
			  (int)(*size - at < PART ? *size - at : PART), MPI_BYTE, rank,
			  TAG, comm, MPI_STATUS_IGNORE);
	return bytes;
}

/* Merges all profiles in rank 0. Returns 0 or a negative errno. */
static int merge_all(MPI_Comm comm, int ranks, const void *own, size_t own_size)
{
	struct perfmon_merge *merge;
	int err = perfmon_merge_create(&merge, NULL, 0);
	int created = !err;

	if (!err && own)
		err = perfmon_merge_add(merge, own, own_size);
	for (int rank = 1; rank < ranks; rank++) {
		uint64_t size;
		unsigned char *bytes = receive_from(rank, comm, &size);

		if (!err && bytes && size)
			err = perfmon_merge_add(merge, bytes, size);
		else if (!err && !bytes)
			err = -ENOMEM;
		free(bytes);
	}
	if (!err)
		err = perfmon_merge_print(merge);
	if (created)
		perfmon_merge_free(merge);
	return err;
}

static void reduce(void)
{
	void *own = NULL;
	size_t size = 0;
	int rank, ranks, err = 0;
	MPI_Comm comm;

	PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
	PMPI_Comm_rank(comm, &rank);
	PMPI_Comm_size(comm, &ranks);
	/* A rank without a report of its own is not in the merged one. */
	if (!perfmon_report_wanted() || perfmon_merge_pack(&own, &size, 0)) {
		own = NULL;
		size = 0;
	}
	if (rank)
		send_to(0, comm, own, size);
	else
		err = merge_all(comm, ranks, own, size);
	PMPI_Bcast(&err, 1, MPI_INT, 0, comm);
	/* After a failure each rank writes its own report. */
	if (!err)
		perfmon_merge_done();
	PMPI_Comm_free(&comm);
	free(own);
}

/* MPI_Finalize() was called here, in any language. */
static bool seen;

static void reduce_once(void)
{
	int over = 0;

	PMPI_Finalized(&over);
	if (!over && !seen)
		reduce();
	seen = true;
}

int MPI_Finalize(void)
{
	reduce_once();
	return PMPI_Finalize();
}

/* Fortran 2008 may leave IERROR out, which is NULL then. */
static void finalize_fortran(MPI_Fint *ierror)
{
	int err;

	reduce_once();
	err = MPI_Finalize();
	if (ierror)
		*ierror = err;
}

/*
 * Fortran's MPI_FINALIZE(): its own code calls PMPI_Finalize() and would not come here.
 * These are the names by mpif.h and the module mpi, and by the module mpi_f08, as
 * compilers write them.
 */
#define FORTRAN(name)                                                                    \
	void name(MPI_Fint *ierror) __attribute__((alias("finalize_fortran")))
FORTRAN(mpi_finalize);
FORTRAN(mpi_finalize_);
FORTRAN(mpi_finalize__);
FORTRAN(MPI_FINALIZE);
FORTRAN(mpi_finalize_f08);
FORTRAN(mpi_finalize_f08_);
FORTRAN(mpi_finalize_f08__);
FORTRAN(MPI_FINALIZE_F08);

/* Returns the rank of this process in its report, or -1 without a launcher. */
static int own_rank(void)
{
	void *profile;
	size_t size;
	int rank = -1;

	if (!perfmon_merge_pack(&profile, &size, 0)) {
		rank = ((const struct perfmon_profile_header *)profile)->rank;
		free(profile);
	}
	return rank;
}

/* Notes that MPI has ended by a call that this library did not see. Runs before the
 * reports. */
__attribute__((destructor)) static void tell_missed(void)
{
	int over = 0;

	PMPI_Finalized(&over);
	if (over && !seen && perfmon_report_wanted() && own_rank() <= 0)
		fputs("perfmon: libperfmon-mpi did not see MPI_Finalize(), so that each "
		      "rank reports itself: link it before MPI, or name it in "
		      "LD_PRELOAD\n",
		      stderr);
}
