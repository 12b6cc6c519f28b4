! SPDX-License-Identifier: LGPL-2.1-or-later
!
! Fortran with MPI: heat spreads over a plate in strips, one a rank. MPI comes as its module
! mpi_f08, as mpi with -DWITH_MPI, or as mpif.h with -DWITH_MPIF_H.
!
!   mpifort -O2 $(pkg-config --variable=fortran perfmon) strips.F90 -o strips \
!     $(pkg-config --libs perfmon)
!   mkdir run
!   PERFMON_PROFILE=run/ mpirun -n 4 ./strips
!   perfmon report run
!
! With the package perfmon-mpi instead of perfmon, MPI_Finalize writes one report of all ranks.
program strips
#if defined(WITH_MPI)
  use mpi
#elif !defined(WITH_MPIF_H)
  use mpi_f08
#endif
  use perfmon
  implicit none
#ifdef WITH_MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: rows = 512, steps = 100, real64 = selected_real_kind(15)
  real(real64), allocatable :: grid(:, :), next(:, :)
  real(real64) :: part, whole
  integer :: columns, ierror, left, right, rank, ranks, step

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
  columns = 64 + 32 * rank ! later ranks have more, so that the report shows an imbalance

  allocate (grid(rows, 0:columns + 1), next(rows, 0:columns + 1))
  grid = 0
  grid(1, :) = 100
  next = grid
  call perfmon_region_begin('solve')
  do step = 1, steps
    call exchange()
    call sweep()
  end do
  part = sum(grid(:, 1:columns))
  call MPI_Reduce(part, whole, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  call perfmon_region_end('solve')
  if (rank == 0) print '(a, es14.6)', 'heat ', whole
  call MPI_Finalize(ierror)

contains

  ! Sends the outer columns of this strip to the neighbours, and receives theirs.
  subroutine exchange()
    call perfmon_region_begin('exchange')
    call MPI_Sendrecv(grid(1, 1), rows, MPI_DOUBLE_PRECISION, left, 0, grid(1, columns + 1), rows, &
      MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Sendrecv(grid(1, columns), rows, MPI_DOUBLE_PRECISION, right, 0, grid(1, 0), rows, &
      MPI_DOUBLE_PRECISION, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call perfmon_region_end('exchange')
  end subroutine

  subroutine sweep()
    integer :: column

    call perfmon_region_begin('sweep')
    do column = 1, columns
      next(2:rows - 1, column) = 0.25_real64 * (grid(1:rows - 2, column) + &
        grid(3:rows, column) + grid(2:rows - 1, column - 1) + grid(2:rows - 1, column + 1))
    end do
    grid(2:rows - 1, 1:columns) = next(2:rows - 1, 1:columns)
    call perfmon_region_end('sweep')
  end subroutine
end program
