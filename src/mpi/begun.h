/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MPI_Init() leaves these for MPI_Finalize(). */
#ifndef PM_MPI_BEGUN_H
#define PM_MPI_BEGUN_H

#include <mpi.h>
#include <stdbool.h>

/* A communicator of all ranks, made when all of them were there. */
extern struct pm_mpi_begun {
	bool begun;
	MPI_Comm comm;
} pm_mpi_begun;

#endif
