! SPDX-License-Identifier: LGPL-2.1-or-later
!
! The Fortran module as a program uses it: prints a result for each test. With an argument it makes
! the mistake of that name, without stat.
program languages
  use, intrinsic :: iso_fortran_env, only: int64
  use perfmon
  implicit none
  integer :: number = 0
  character(40) :: mistake

  call get_command_argument(1, mistake)
  select case (mistake)
  case ('event')
    call unknown_event()
  case ('closed')
    call closed_session()
  case ('count')
    call not_counted()
  case ('')
    call perfmon_region_configure('output', 'none')
    call perfmon_region_configure('events', 'none')
    call regions()
    call teams()
    call sessions()
    print '(a, i0)', '1..', number
  end select

contains

  subroutine check(right, name)
    logical, intent(in) :: right
    character(*), intent(in) :: name

    number = number + 1
    if (right) print '(2a)', 'ok - ', name
    if (.not. right) print '(2a)', 'not ok - ', name
  end subroutine

  integer(int64) function visits(name)
    character(*), intent(in) :: name
    integer :: stat

    call perfmon_region_read(name, visits, stat=stat)
    if (stat /= 0) visits = -1
  end function

  subroutine regions()
    character(30) :: padded
    character(200) :: message
    character(1200) :: long
    integer(int64) :: ones, time_ns, zeros
    integer :: i, stat

    do i = 1, 4
      write (padded, '(a, i0)') 'step ', mod(i, 2)
      call perfmon_region_begin(padded)
      call perfmon_region_end(trim(padded))
    end do
    call perfmon_region_begin('step 1')
    call perfmon_region_end('step 1    ')
    ones = visits('step 1')
    zeros = visits(padded)
    call check(ones == 3 .and. zeros == 2, &
      'a name padded with blanks is the same region')
    call perfmon_region_begin(' step 1')
    call perfmon_region_end(' step 1')
    call check(visits(' step 1') == 1, 'a blank at the beginning is a part of the name')
    long = repeat('x', 1200)
    call perfmon_region_begin(long)
    call perfmon_region_end(long)
    call check(visits(repeat('x', 1000)) == 1, 'a long name is cut')
    call perfmon_region_read('step 1', time_ns=time_ns)
    call check(time_ns > 0, 'a region has a time')
    message = ''
    call perfmon_region_read('step 7', stat=stat, errmsg=message)
    call check(stat == 2 .and. index(message, "'step 7'") > 0, 'a region without visits sets stat: ' // trim(message))
    call perfmon_region_disarm()
    call perfmon_region_begin('disarmed')
    call perfmon_region_end('disarmed')
    call perfmon_region_arm()
    call check(visits('disarmed') == -1, 'disarmed regions count nothing')
    call perfmon_region_configure('output', 'none', stat=stat)
    call check(stat == 16, 'it is too late to configure')
    call perfmon_region_configure('no such variable', '1', stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, 'no such variable') > 0, 'an unknown variable is quoted: ' // trim(message))
  end subroutine

  subroutine teams()
    type(perfmon_token) :: here
    character(100) :: message
    integer :: stat
    integer(int64) :: seen, threads

    seen = 0
    threads = 1
    !$ threads = 3
    call perfmon_region_begin('team')
    call perfmon_region_token(here)
    !$omp parallel num_threads(3) reduction(+:seen)
    call perfmon_region_adopt(here)
    call perfmon_region_begin('part')
    call perfmon_region_end('part ')
    call perfmon_region_leave()
    seen = seen + visits('part')
    !$omp end parallel
    call perfmon_region_end('team')
    call check(seen == threads, 'threads adopt the path of another')
    call perfmon_region_leave(stat=stat, errmsg=message)
    call check(stat == 2, 'a leave without an adoption sets stat: ' // trim(message))
  end subroutine

  subroutine sessions()
    type(perfmon_session) :: session
    type(perfmon_value), allocatable :: values(:)
    character(200) :: message
    integer, allocatable :: memory(:)
    integer :: stat, refused

    call session%create('page-faults:u,task-clock   ')
    call check(session%counters() == 2, 'a session has counters')
    call session%attach()
    call session%read(values)
    call check(.not. values(1)%whole() .and. index(values(1)%text(), 'was not started') > 0, &
      'a value that was not started says so: ' // values(1)%text())
    call session%start()
    allocate (memory(10000000))
    memory = 1
    call session%stop()
    call session%read(values)
    call check(size(values) == 2 .and. values(1)%name == 'page-faults:u', 'values have names')
    call check(values(1)%count() > 10, 'touched memory faults: ' // values(1)%text())
    call check(values(1)%estimate() > 10, 'and so says the estimate')
    call check(values(2)%count() > 0, 'a clock counts: ' // values(2)%text())
    call check(values(2)%unit == 'ns', 'it has a unit')
    call session%create('page-faults', stat=stat, errmsg=message)
    call check(stat == 16, 'a session is created once: ' // trim(message))
    message = 'unchanged'
    call session%detach(stat=stat, errmsg=message)
    call check(stat == 0 .and. message == 'unchanged', 'success leaves errmsg as it is')
    call session%add_events('page-fautls', stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, "'page-fautls'") > 0, 'an unknown event is quoted: ' // trim(message))
    call session%close()
    call session%start(stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, 'create') > 0, 'a closed session says so: ' // trim(message))
    call session%create('page-faults', cpus=.true.)
    call session%attach(stat=stat)
    call check(stat == 22, 'a session of CPUs attaches to no thread')
    call session%close()
    call session%create(partial=.true.)
    call session%add_events('page-faults,cycles')
    call session%attach(refused=refused, stat=stat)
    call session%read(values)
    call check(stat == 0 .and. refused == count(iand(values%status, perfmon_value_never_opened) /= 0), &
      'attaches in part: ' // values(2)%text())
    call session%close()
    call session%create('page-faults')
    call session%attach_process(0)
    call session%close()
    call session%create('page-faults')
    call session%attach_thread(2147483647, stat=stat, errmsg=message)
    call check(stat == 3, 'there is no such thread: ' // trim(message))
    call session%close()
  end subroutine

  subroutine unknown_event()
    type(perfmon_session) :: session

    call session%create('page-fautls')
  end subroutine

  subroutine closed_session()
    type(perfmon_session) :: session

    call session%attach()
  end subroutine

  subroutine not_counted()
    type(perfmon_session) :: session
    type(perfmon_value), allocatable :: values(:)

    call session%create('page-faults')
    call session%attach()
    call session%read(values)
    print *, values(1)%count()
  end subroutine
end program
