/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What src/mpi/finalize.c needs of MPI, for whichever MPI the program has: found at run time. Handles
 * are integers in MPICH and its relatives, and pointers in Open MPI; a word holds both.
 */
#ifndef PERFMON_HOOKS_MPI_ANY_MPI_H
#define PERFMON_HOOKS_MPI_ANY_MPI_H

#include <stdint.h>

#include "hooks/common/original.h"

typedef intptr_t MPI_Comm;
typedef intptr_t MPI_Datatype;
typedef intptr_t MPI_Errhandler;
typedef intptr_t MPI_Request;
typedef int MPI_Fint;

/* The functions, behind PMPI_. */
#define MPI_ANY_FUNCTIONS(X)                                                             \
	X(Finalize, (void))                                                              \
	X(Finalized, (int *over))                                                        \
	X(Comm_idup, (MPI_Comm comm, MPI_Comm * copy, MPI_Request * request))            \
	X(Comm_rank, (MPI_Comm comm, int *rank))                                         \
	X(Comm_size, (MPI_Comm comm, int *size))                                         \
	X(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler))                  \
	X(Isend, (const void *buffer, int count, MPI_Datatype type, int to, int tag,     \
		  MPI_Comm comm, MPI_Request *request))                                  \
	X(Irecv, (void *buffer, int count, MPI_Datatype type, int from, int tag,         \
		  MPI_Comm comm, MPI_Request *request))                                  \
	X(Test, (MPI_Request * request, int *done, void *status))                        \
	X(Cancel, (MPI_Request * request))                                               \
	X(Request_free, (MPI_Request * request))

/* The constants: X(name, in Open MPI the object whose address it is, in MPICH the number). */
#define MPI_ANY_CONSTANTS(X)                                                             \
	X(COMM_WORLD, "ompi_mpi_comm_world", 0x44000000)                                 \
	X(BYTE, "ompi_mpi_byte", 0x4c00010d)                                             \
	X(ERRORS_RETURN, "ompi_mpi_errors_return", 0x54000001)

struct mpi_any {
#define FUNCTION(name, parameters) int(*name) parameters;
	MPI_ANY_FUNCTIONS(FUNCTION)
#undef FUNCTION
#define CONSTANT(name, object, number) intptr_t name;
	MPI_ANY_CONSTANTS(CONSTANT)
#undef CONSTANT
	intptr_t status_ignore;
	int any_source;
};

/* Finds MPI at the first call. Of a process without it, and of an MPI whose handles are not known,
 * only the call Finalized can be used: it says that MPI is not there yet, or over. */
const struct mpi_any *mpi_any(void);

#define MPI_COMM_WORLD	  (mpi_any()->COMM_WORLD)
#define MPI_BYTE	  (mpi_any()->BYTE)
#define MPI_ERRORS_RETURN (mpi_any()->ERRORS_RETURN)
#define MPI_ANY_SOURCE	  (mpi_any()->any_source)
#define MPI_STATUS_IGNORE ((void *)mpi_any()->status_ignore)

#define PMPI_Finalize		 mpi_any()->Finalize
#define PMPI_Finalized		 mpi_any()->Finalized
#define PMPI_Comm_idup		 mpi_any()->Comm_idup
#define PMPI_Comm_rank		 mpi_any()->Comm_rank
#define PMPI_Comm_size		 mpi_any()->Comm_size
#define PMPI_Comm_set_errhandler mpi_any()->Comm_set_errhandler
#define PMPI_Isend		 mpi_any()->Isend
#define PMPI_Irecv		 mpi_any()->Irecv
#define PMPI_Test		 mpi_any()->Test
#define PMPI_Cancel		 mpi_any()->Cancel
#define PMPI_Request_free	 mpi_any()->Request_free

/* What the file defines is what programs call. */
HOOK int MPI_Finalize(void);
HOOK void mpi_finalize(MPI_Fint *ierror);
HOOK void mpi_finalize_(MPI_Fint *ierror);
HOOK void mpi_finalize__(MPI_Fint *ierror);
HOOK void MPI_FINALIZE(MPI_Fint *ierror);
HOOK void mpi_finalize_f08(MPI_Fint *ierror);
HOOK void mpi_finalize_f08_(MPI_Fint *ierror);
HOOK void mpi_finalize_f08__(MPI_Fint *ierror);
HOOK void MPI_FINALIZE_F08(MPI_Fint *ierror);

#endif
