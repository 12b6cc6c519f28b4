/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The communicator for the reports. All ranks take part in making one, and a rank that has died by
 * MPI_Finalize() would not. A program that begins MPI behind this library gets one later. */
#include <mpi.h>

#include "begun.h"

static int begin(int err)
{
	if (!err && !pm_mpi_begun.begun)
		pm_mpi_begun.begun = !PMPI_Comm_dup(MPI_COMM_WORLD, &pm_mpi_begun.comm);
	return err;
}

int MPI_Init(int *argc, char ***argv)
{
	return begin(PMPI_Init(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	return begin(PMPI_Init_thread(argc, argv, required, provided));
}
