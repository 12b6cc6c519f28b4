/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of MPI in which a program waits for other ranks: CALL(C name, Fortran name, number of
 * arguments in C). Fortran passes one more, the error.
 *
 * Not here: calls that only begin something (MPI_Isend), or ask (MPI_Test): programs ask millions of
 * times. The time of what they begin is in the wait for it.
 */
#ifndef PERFMON_HOOKS_MPI_CALLS_H
#define PERFMON_HOOKS_MPI_CALLS_H

#define MPI_WAITS(CALL)                                                                  \
	CALL(Wait, wait, 2)                                                              \
	CALL(Waitall, waitall, 3)                                                        \
	CALL(Waitany, waitany, 4)                                                        \
	CALL(Waitsome, waitsome, 5)                                                      \
	CALL(Probe, probe, 4)                                                            \
	CALL(Mprobe, mprobe, 5)

#define MPI_MESSAGES(CALL)                                                               \
	CALL(Send, send, 6)                                                              \
	CALL(Bsend, bsend, 6)                                                            \
	CALL(Ssend, ssend, 6)                                                            \
	CALL(Rsend, rsend, 6)                                                            \
	CALL(Recv, recv, 7)                                                              \
	CALL(Mrecv, mrecv, 5)                                                            \
	CALL(Sendrecv, sendrecv, 12)                                                     \
	CALL(Sendrecv_replace, sendrecv_replace, 9)

#define MPI_COLLECTIVES(CALL)                                                            \
	CALL(Barrier, barrier, 1)                                                        \
	CALL(Bcast, bcast, 5)                                                            \
	CALL(Gather, gather, 8)                                                          \
	CALL(Gatherv, gatherv, 9)                                                        \
	CALL(Scatter, scatter, 8)                                                        \
	CALL(Scatterv, scatterv, 9)                                                      \
	CALL(Allgather, allgather, 7)                                                    \
	CALL(Allgatherv, allgatherv, 8)                                                  \
	CALL(Alltoall, alltoall, 7)                                                      \
	CALL(Alltoallv, alltoallv, 9)                                                    \
	CALL(Alltoallw, alltoallw, 9)                                                    \
	CALL(Reduce, reduce, 7)                                                          \
	CALL(Allreduce, allreduce, 6)                                                    \
	CALL(Reduce_scatter, reduce_scatter, 6)                                          \
	CALL(Reduce_scatter_block, reduce_scatter_block, 6)                              \
	CALL(Scan, scan, 6)                                                              \
	CALL(Exscan, exscan, 6)                                                          \
	CALL(Neighbor_allgather, neighbor_allgather, 7)                                  \
	CALL(Neighbor_allgatherv, neighbor_allgatherv, 8)                                \
	CALL(Neighbor_alltoall, neighbor_alltoall, 7)                                    \
	CALL(Neighbor_alltoallv, neighbor_alltoallv, 9)                                  \
	CALL(Neighbor_alltoallw, neighbor_alltoallw, 9)                                  \
	CALL(Comm_dup, comm_dup, 2)                                                      \
	CALL(Comm_create, comm_create, 3)                                                \
	CALL(Comm_split, comm_split, 4)

#define MPI_WINDOWS(CALL)                                                                \
	CALL(Win_fence, win_fence, 2)                                                    \
	CALL(Win_start, win_start, 3)                                                    \
	CALL(Win_complete, win_complete, 1)                                              \
	CALL(Win_wait, win_wait, 1)                                                      \
	CALL(Win_lock, win_lock, 4)                                                      \
	CALL(Win_unlock, win_unlock, 2)                                                  \
	CALL(Win_lock_all, win_lock_all, 2)                                              \
	CALL(Win_unlock_all, win_unlock_all, 1)                                          \
	CALL(Win_flush, win_flush, 2)                                                    \
	CALL(Win_flush_all, win_flush_all, 1)

#define MPI_FILES(CALL)                                                                  \
	CALL(File_read, file_read, 5)                                                    \
	CALL(File_read_all, file_read_all, 5)                                            \
	CALL(File_read_at, file_read_at, 6)                                              \
	CALL(File_read_at_all, file_read_at_all, 6)                                      \
	CALL(File_write, file_write, 5)                                                  \
	CALL(File_write_all, file_write_all, 5)                                          \
	CALL(File_write_at, file_write_at, 6)                                            \
	CALL(File_write_at_all, file_write_at_all, 6)

#define MPI_CALLS(CALL)                                                                  \
	MPI_WAITS(CALL)                                                                  \
	MPI_MESSAGES(CALL)                                                               \
	MPI_COLLECTIVES(CALL)                                                            \
	MPI_WINDOWS(CALL)                                                                \
	MPI_FILES(CALL)

#endif
