/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The libraries of MPI. */
#ifndef PERFMON_HOOKS_MPI_LIBRARIES_H
#define PERFMON_HOOKS_MPI_LIBRARIES_H

/* By their names as files, with NULL at the end: those of Open MPI, then those of MPICH and its
 * relatives. A program may have loaded them for a module alone. */
extern const char *const mpi_libraries[];

#endif
