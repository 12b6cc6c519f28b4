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
  case ('unread')
    call not_read()
  case ('copy')
    call closed_copy()
  case ('')
    call perfmon_region_configure('output', 'none')
    call perfmon_region_configure('events', 'none')
    call regions()
    call teams()
    call sessions()
    call sets()
    call samples()
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
    call perfmon_region_adopt(transfer(huge(0_int64) - 5, here), stat=stat, errmsg=message)
    call check(stat == 116 .and. index(message, 'or of none') > 0, 'a token that is none says so: ' // trim(message))
  end subroutine

  subroutine sessions()
    type(perfmon_session) :: session, copy, other
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
    copy = session
    call session%close()
    call session%start(stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, 'create') > 0, 'a closed session says so: ' // trim(message))
    call copy%start(stat=stat, errmsg=message)
    call check(stat == 22 .and. copy%counters() == 0, 'so does its copy: ' // trim(message))
    call other%create('page-faults')
    call copy%start(stat=stat)
    call copy%close()
    call check(stat == 22 .and. other%counters() == 1, 'also when another session has been created')
    call other%close()
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

  ! Event sets that the program switches, and one that time ends.
  subroutine sets()
    type(perfmon_session) :: session
    type(perfmon_value), allocatable :: values(:)
    type(perfmon_estimate), allocatable :: estimates(:)
    character(200) :: message
    integer :: stat, effective

    call session%create('page-faults:u;task-clock')
    call session%make_set(40000)
    call session%add_to_set(40000, 'page-faults:u  ')
    call session%attach()
    call session%start_set(40000)
    call touch()
    call session%stop()
    call session%read(values)
    call check(values(3)%register > 10 .and. values(1)%register == 0, 'the set counts that was started')
    call session%start_set(1)
    call touch()
    call session%stop()
    call session%estimates(estimates)
    call check(size(estimates) == 3 .and. estimates(3)%name == 'page-faults:u' .and. estimates(3)%value > 10 &
      .and. estimates(3)%coverage < 1 .and. estimates(3)%flags == perfmon_estimate_unknown, &
      'an estimate: ' // estimates(3)%text())
    call check(estimates(1)%flags == perfmon_estimate_none, 'a set without a turn: ' // estimates(1)%text())
    call session%start_set(9, stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, 'event set 9') > 0, 'no such set: ' // trim(message))
    call session%make_set(70000, stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, '65535') > 0, 'no such number of a set: ' // trim(message))
    call session%make_set(3, stat=stat, errmsg=message)
    call check(stat == 16, 'sets are made before attaching: ' // trim(message))
    call session%close()
    call session%create('page-faults:u')
    call session%make_set(1, timeout_us=20001, effective_us=effective)
    call check(effective >= 20001 .and. effective < 100000, 'the effective time-out')
    call session%make_set(2, timeout_us=0, stat=stat, errmsg=message)
    call check(stat == 22, 'a turn takes some time: ' // trim(message))
    call session%attach()
    call session%start()
    call touch()
    call session%stop()
    call session%close()
    call session%create('page-faults:u')
    call session%attach()
    call session%start()
    call touch()
    call session%stop()
    call session%estimates(estimates)
    call check(estimates(1)%flags == perfmon_estimate_exact .and. estimates(1)%value > 10, &
      'what was on all the time has no error: ' // estimates(1)%text())
    call session%close()
    call session%estimates(estimates, stat=stat, errmsg=message)
    call check(stat == 22 .and. size(estimates) == 0, 'a closed session has none: ' // trim(message))
  end subroutine

  ! Samples in a file.
  subroutine samples()
    type(perfmon_session) :: session
    character(200) :: message
    character(8) :: magic
    integer :: stat, unit
    integer(int64) :: taken, lost

    call session%create('task-clock,page-faults:u')
    call session%log('samples.data', stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, 'sample_every') > 0, 'no counter leaves samples: ' // trim(message))
    call session%sample_every(3, 1, stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, 'the session has 2') > 0, 'no such counter: ' // trim(message))
    call session%sample_every(2, 0, stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, 'period') > 0, 'no such period: ' // trim(message))
    call session%sample_every(2, 1)
    call session%log('no such folder/samples.data', stat=stat, errmsg=message)
    call check(stat == 2 .and. index(message, 'no such folder') > 0, 'no such folder: ' // trim(message))
    call session%log('samples.data  ', call_chains=.true.)
    call session%log('more.data', stat=stat, errmsg=message)
    call check(stat == 17 .and. index(message, 'close_log') > 0, 'one log at a time: ' // trim(message))
    call session%attach()
    call session%start()
    call touch_few()
    call session%close_log(stat=stat, errmsg=message)
    call check(stat == 16, 'a log is closed after a stop: ' // trim(message))
    call session%stop()
    call session%close_log(taken, lost)
    call check(taken > 10 .and. lost == 0, 'each fault leaves a sample')
    open (newunit=unit, file='samples.data', access='stream', form='unformatted', status='old')
    read (unit) magic
    close (unit)
    call check(magic == 'PERFILE2', 'the file is one of perf')
    call session%close()
    call session%close_log(stat=stat, errmsg=message)
    call check(stat == 22 .and. index(message, 'closed') > 0, 'a closed session has no log: ' // trim(message))
  end subroutine

  ! Some 100 faults, whose samples fit into a ring.
  subroutine touch_few()
    integer, allocatable, volatile :: memory(:)

    allocate (memory(100000))
    memory = 1
  end subroutine

  ! Faults in memory that is new.
  subroutine touch()
    integer, allocatable, volatile :: memory(:)

    allocate (memory(10000000))
    memory = 1
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

  subroutine not_read()
    type(perfmon_value) :: value

    print *, value%count()
  end subroutine

  subroutine closed_copy()
    type(perfmon_session) :: session, copy

    call session%create('page-faults')
    copy = session
    call session%close()
    call copy%attach()
  end subroutine
end program
