! SPDX-License-Identifier: LGPL-2.1-or-later
!
! Fortran: heat spreads over a plate, computed by OpenMP. Each thread's part of the work is a
! region below the region of the thread that began the team. A session counts page faults.
!
!   gfortran -O2 -fopenmp $(pkg-config --variable=fortran perfmon) plate.f90 -o plate \
!     $(pkg-config --libs perfmon)
!   ./plate
program plate
  use, intrinsic :: iso_fortran_env, only: real64
  use perfmon
  implicit none
  integer, parameter :: n = 512, steps = 100
  real(real64), allocatable :: grid(:, :), next(:, :)
  type(perfmon_session) :: session
  type(perfmon_value), allocatable :: values(:)
  character(80) :: message
  integer :: i, step, stat

  ! Events that this machine does not count are left out.
  call session%create('page-faults,task-clock', partial=.true., stat=stat, errmsg=message)
  if (stat == 0) call session%attach(stat=stat, errmsg=message)
  if (stat == 0) call session%start(stat=stat, errmsg=message)
  if (stat /= 0) print '(2a)', 'plate: nothing is counted: ', trim(message)

  call perfmon_region_begin('set up')
  allocate (grid(0:n, 0:n), next(0:n, 0:n))
  grid = 0
  grid(:, 0) = 100
  next = grid
  call perfmon_region_end('set up')

  call perfmon_region_begin('solve')
  do step = 1, steps
    call sweep(grid, next)
    call sweep(next, grid)
  end do
  call perfmon_region_end('solve')
  print '(a, f8.4)', 'in the middle ', grid(n / 2, 8)

  if (stat /= 0) stop
  call session%stop()
  call session%read(values)
  print '(2a)', ('this thread: ', values(i)%text(), i = 1, size(values))
  call session%close()

contains

  subroutine sweep(from, to)
    real(real64), intent(in) :: from(0:, 0:)
    real(real64), intent(inout) :: to(0:, 0:)
    type(perfmon_token) :: here
    integer :: column

    call perfmon_region_token(here)
    !$omp parallel
    call perfmon_region_adopt(here)
    call perfmon_region_begin('sweep')
    !$omp do
    do column = 1, n - 1
      to(1:n - 1, column) = 0.25_real64 * (from(0:n - 2, column) + from(2:n, column) + &
        from(1:n - 1, column - 1) + from(1:n - 1, column + 1))
    end do
    !$omp end do nowait
    call perfmon_region_end('sweep')
    call perfmon_region_leave()
    !$omp end parallel
  end subroutine
end program
