/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What src/mpi/finalize.c needs of MPI, for a test that stands in for the other ranks. */
#ifndef TESTS_FAKE_MPI_H
#define TESTS_FAKE_MPI_H

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Fint;

#define MPI_COMM_WORLD	  1
#define MPI_BYTE	  1
#define MPI_INT		  2
#define MPI_UINT64_T	  3
#define MPI_STATUS_IGNORE ((void *)0)

int MPI_Finalize(void);
int PMPI_Finalize(void);
int PMPI_Finalized(int *over);
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy);
int PMPI_Comm_free(MPI_Comm *comm);
int PMPI_Comm_rank(MPI_Comm comm, int *rank);
int PMPI_Comm_size(MPI_Comm comm, int *size);
int PMPI_Ssend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
	       MPI_Comm comm);
int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag,
	      MPI_Comm comm, void *status);
int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);

#endif
