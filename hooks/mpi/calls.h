/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of MPI in which a program waits for other ranks: CALL(C name, Fortran name, number of
 * arguments in C, and of these the count and the datatype of what the rank gives). Fortran passes one
 * more, the error. The count and the datatype are 0 where the call gives nothing, or may say in
 * another way how much.
 *
 * Not here: calls that only begin something (MPI_Isend), or ask (MPI_Test): programs ask millions of
 * times. The time of what they begin is in the wait for it.
 */
#ifndef PERFMON_HOOKS_MPI_CALLS_H
#define PERFMON_HOOKS_MPI_CALLS_H

#define MPI_WAITS(CALL)                                                                  \
	CALL(Wait, wait, 2, 0, 0)                                                        \
	CALL(Waitall, waitall, 3, 0, 0)                                                  \
	CALL(Waitany, waitany, 4, 0, 0)                                                  \
	CALL(Waitsome, waitsome, 5, 0, 0)                                                \
	CALL(Probe, probe, 4, 0, 0)                                                      \
	CALL(Mprobe, mprobe, 5, 0, 0)

#define MPI_MESSAGES(CALL)                                                               \
	CALL(Send, send, 6, b, c)                                                        \
	CALL(Bsend, bsend, 6, b, c)                                                      \
	CALL(Ssend, ssend, 6, b, c)                                                      \
	CALL(Rsend, rsend, 6, b, c)                                                      \
	CALL(Recv, recv, 7, 0, 0)                                                        \
	CALL(Mrecv, mrecv, 5, 0, 0)                                                      \
	CALL(Sendrecv, sendrecv, 12, b, c)                                               \
	CALL(Sendrecv_replace, sendrecv_replace, 9, b, c)

#define MPI_COLLECTIVES(CALL)                                                            \
	CALL(Barrier, barrier, 1, 0, 0)                                                  \
	CALL(Bcast, bcast, 5, b, c)                                                      \
	CALL(Gather, gather, 8, 0, 0)                                                    \
	CALL(Gatherv, gatherv, 9, 0, 0)                                                  \
	CALL(Scatter, scatter, 8, 0, 0)                                                  \
	CALL(Scatterv, scatterv, 9, 0, 0)                                                \
	CALL(Allgather, allgather, 7, 0, 0)                                              \
	CALL(Allgatherv, allgatherv, 8, 0, 0)                                            \
	CALL(Alltoall, alltoall, 7, 0, 0)                                                \
	CALL(Alltoallv, alltoallv, 9, 0, 0)                                              \
	CALL(Alltoallw, alltoallw, 9, 0, 0)                                              \
	CALL(Reduce, reduce, 7, c, d)                                                    \
	CALL(Allreduce, allreduce, 6, c, d)                                              \
	CALL(Reduce_scatter, reduce_scatter, 6, 0, 0)                                    \
	CALL(Reduce_scatter_block, reduce_scatter_block, 6, 0, 0)                        \
	CALL(Scan, scan, 6, c, d)                                                        \
	CALL(Exscan, exscan, 6, c, d)                                                    \
	CALL(Neighbor_allgather, neighbor_allgather, 7, 0, 0)                            \
	CALL(Neighbor_allgatherv, neighbor_allgatherv, 8, 0, 0)                          \
	CALL(Neighbor_alltoall, neighbor_alltoall, 7, 0, 0)                              \
	CALL(Neighbor_alltoallv, neighbor_alltoallv, 9, 0, 0)                            \
	CALL(Neighbor_alltoallw, neighbor_alltoallw, 9, 0, 0)                            \
	CALL(Comm_dup, comm_dup, 2, 0, 0)                                                \
	CALL(Comm_create, comm_create, 3, 0, 0)                                          \
	CALL(Comm_split, comm_split, 4, 0, 0)

#define MPI_WINDOWS(CALL)                                                                \
	CALL(Win_fence, win_fence, 2, 0, 0)                                              \
	CALL(Win_start, win_start, 3, 0, 0)                                              \
	CALL(Win_complete, win_complete, 1, 0, 0)                                        \
	CALL(Win_wait, win_wait, 1, 0, 0)                                                \
	CALL(Win_lock, win_lock, 4, 0, 0)                                                \
	CALL(Win_unlock, win_unlock, 2, 0, 0)                                            \
	CALL(Win_lock_all, win_lock_all, 2, 0, 0)                                        \
	CALL(Win_unlock_all, win_unlock_all, 1, 0, 0)                                    \
	CALL(Win_flush, win_flush, 2, 0, 0)                                              \
	CALL(Win_flush_all, win_flush_all, 1, 0, 0)

#define MPI_FILES(CALL)                                                                  \
	CALL(File_read, file_read, 5, 0, 0)                                              \
	CALL(File_read_all, file_read_all, 5, 0, 0)                                      \
	CALL(File_read_at, file_read_at, 6, 0, 0)                                        \
	CALL(File_read_at_all, file_read_at_all, 6, 0, 0)                                \
	CALL(File_write, file_write, 5, c, d)                                            \
	CALL(File_write_all, file_write_all, 5, c, d)                                    \
	CALL(File_write_at, file_write_at, 6, d, e)                                      \
	CALL(File_write_at_all, file_write_at_all, 6, d, e)

#define MPI_CALLS(CALL)                                                                  \
	MPI_WAITS(CALL)                                                                  \
	MPI_MESSAGES(CALL)                                                               \
	MPI_COLLECTIVES(CALL)                                                            \
	MPI_WINDOWS(CALL)                                                                \
	MPI_FILES(CALL)

#endif
