/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What src/mpi needs of MPI, for a test that stands in for the other ranks. */
#ifndef TESTS_FAKE_MPI_H
#define TESTS_FAKE_MPI_H

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Errhandler;
typedef int MPI_Fint;
typedef int MPI_Request;

#define MPI_COMM_WORLD	  1
#define MPI_BYTE	  1
#define MPI_ANY_SOURCE	  (-1)
#define MPI_ERRORS_RETURN 1
#define MPI_STATUS_IGNORE ((void *)0)

int MPI_Finalize(void);
int MPI_Init(int *argc, char ***argv);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int PMPI_Init(int *argc, char ***argv);
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int PMPI_Finalize(void);
int PMPI_Finalized(int *over);
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy);
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *copy, MPI_Request *request);
int PMPI_Comm_rank(MPI_Comm comm, int *rank);
int PMPI_Comm_size(MPI_Comm comm, int *size);
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
	       MPI_Comm comm, MPI_Request *request);
int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag,
	       MPI_Comm comm, MPI_Request *request);
int PMPI_Test(MPI_Request *request, int *done, void *status);
int PMPI_Cancel(MPI_Request *request);
int PMPI_Request_free(MPI_Request *request);

#endif
