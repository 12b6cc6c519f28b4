! SPDX-License-Identifier: LGPL-2.1-or-later
!
! Regions and sessions in Fortran, from 2008 on. Compile this file with the compiler of the
! program, since compilers do not read each other's module files:
!
!   gfortran -O2 $(pkg-config --variable=fortran perfmon) heat.f90 $(pkg-config --libs perfmon)
!
! A region:
!
!   use perfmon
!   call perfmon_region_begin('solve')
!   ...
!   call perfmon_region_end('solve')
!
! A session:
!
!   type(perfmon_session) :: session
!   type(perfmon_value), allocatable :: values(:)
!   call session%create('page-faults,task-clock')
!   call session%attach()
!   call session%start()
!   ...
!   call session%stop()
!   call session%read(values)
!   print '(a)', (values(i)%text(), i = 1, size(values))
!   call session%close()
!
! Blanks at the end of a name or of a text do not count. Calls that can fail have the optional
! arguments of allocate: stat is 0 or a positive number of errno, and errmsg is the sentence that
! says what is wrong. Without stat a failure prints the sentence and stops the program with an error.
!
! The headers perfmon/region.h, perfmon/team.h and perfmon/session.h have the rules. All calls may be
! made by any thread, also of OpenMP.
module perfmon
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_int, &
    c_int16_t, c_int32_t, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  private

  public :: perfmon_region_begin, perfmon_region_end, perfmon_region_read
  public :: perfmon_region_arm, perfmon_region_disarm, perfmon_region_configure
  public :: perfmon_token, perfmon_region_token, perfmon_region_adopt, perfmon_region_leave
  public :: perfmon_session, perfmon_value, perfmon_estimate

  ! The bits of perfmon_value%status, as perfmon/value.h has them.
  integer, parameter, public :: perfmon_value_counted = 1, perfmon_value_multiplexed = 2, &
    perfmon_value_not_counted = 4, perfmon_value_never_opened = 8, perfmon_value_syscall = 16, &
    perfmon_value_uncertain = 32, perfmon_value_partial = 64, perfmon_value_throttled = 128

  ! The bits of perfmon_estimate%flags, as perfmon/set.h has them.
  integer, parameter, public :: perfmon_estimate_exact = 1, perfmon_estimate_none = 2, &
    perfmon_estimate_unknown = 4

  ! Names of regions are cut at this length.
  integer, parameter :: longest = 1000
  integer(c_int), parameter :: errno_enoent = 2, errno_ebusy = 16, errno_eexist = 17, &
    errno_einval = 22, errno_estale = 116

  ! A path of this process, which other threads can adopt. It needs no end.
  type, bind(C) :: perfmon_token
    private
    integer(c_int64_t) :: path = 0
  end type

  ! What a counter has counted. Use count(), estimate() or text(), which know the marks.
  type :: perfmon_value
    character(:), allocatable :: name ! of the event, as 'page-faults:u'
    character(:), allocatable :: unit ! of estimate() * scale, '' for a plain count
    real(real64) :: scale = 1
    integer :: status = 0             ! perfmon_value_ bits
    integer(int64) :: register = 0    ! the count, if status says so
    integer(int64) :: enabled_ns = 0, running_ns = 0
  contains
    procedure :: whole => value_whole
    procedure :: count => value_count
    procedure :: estimate => value_estimate
    procedure :: text => value_text
  end type

  ! What a counter would have counted in the whole time that its session ran, if it was on the
  ! hardware for the turns of its event set alone.
  type :: perfmon_estimate
    character(:), allocatable :: name ! of the event
    real(real64) :: value = 0
    real(real64) :: error = 0         ! half the 99 % interval around value; infinite if it is unknown
    real(real64) :: coverage = 0      ! the part of the time for which the counter was on, 0 to 1
    integer :: flags = 0              ! perfmon_estimate_ bits
  contains
    procedure :: text => estimate_text
  end type

  ! Where a session is, for all copies of its object. A slot is used again, and never given back, so
  ! that a copy can see that its session was closed: the serial number of the slot is another one then.
  type :: session_slot
    type(c_ptr) :: handle = c_null_ptr
    integer(int64) :: serial = 0
    type(session_slot), pointer :: next => null()
  end type
  type(session_slot), pointer, save :: free_slots => null()
  ! A pthread_mutex_t, which is at most so large, and zero before its first use.
  integer(c_int64_t), save, target :: free_lock(16) = 0

  ! A monitoring session. It counts from create() to close(); a copy is the same session.
  type :: perfmon_session
    private
    type(session_slot), pointer :: slot => null()
    integer(int64) :: serial = 0
  contains
    procedure :: create => session_create
    procedure :: add_events => session_add_events
    procedure :: attach => session_attach
    procedure :: attach_thread => session_attach_thread
    procedure :: attach_process => session_attach_process
    procedure :: attach_cpu => session_attach_cpu
    procedure :: detach => session_detach
    procedure :: start => session_start
    procedure :: stop => session_stop
    procedure :: read => session_read
    procedure :: make_set => session_make_set
    procedure :: add_to_set => session_add_to_set
    procedure :: start_set => session_start_set
    procedure :: estimates => session_estimates
    procedure :: sample_every => session_sample_every
    procedure :: log => session_log
    procedure :: close_log => session_close_log
    procedure :: counters => session_counters
    procedure :: message => session_message
    procedure :: close => session_close
  end type

  ! --- the structures and functions of the C interface ---

  type, bind(C) :: c_summary
    integer(c_size_t) :: size
    integer(c_int32_t) :: counters, reserved
    integer(c_int64_t) :: visits, entered, time_ns
  end type
  type, bind(C) :: c_options
    integer(c_size_t) :: size
    integer(c_int32_t) :: scope, flags
  end type
  type, bind(C) :: c_value
    integer(c_int32_t) :: index, status
    integer(c_int64_t) :: value, enabled_ns, running_ns, reserved
  end type
  type, bind(C) :: c_counter
    integer(c_size_t) :: size
    type(c_ptr) :: name, unit
    real(c_double) :: scale
    integer(c_int32_t) :: type, events
    integer(c_int64_t) :: config, config1, config2, hardware_counter
    integer(c_int32_t) :: width_bits, user_read, leader, error, page_error, reserved
  end type

  type, bind(C) :: c_set
    integer(c_int16_t) :: id, reserved
    integer(c_int32_t) :: flags
    integer(c_int64_t) :: timeout_ns, reserved2(2)
  end type
  type, bind(C) :: c_estimate
    integer(c_int32_t) :: index, flags
    real(c_double) :: value, error, coverage
    integer(c_int64_t) :: runs, reserved
  end type
  type, bind(C) :: c_sampling
    integer(c_size_t) :: size
    integer(c_int32_t) :: flags, call_depth, ring_pages, reserved
    integer(c_int64_t) :: fields
    type(c_ptr) :: format, data
    integer(c_size_t) :: data_size
  end type

  interface
    subroutine c_region_begin(name) bind(C, name='perfmon_region_begin_name')
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine c_region_end(name) bind(C, name='perfmon_region_end_name')
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    integer(c_int) function c_region_read(name, summary, counts, count, size, flags) &
        bind(C, name='perfmon_region_read')
      import :: c_char, c_int, c_int32_t, c_ptr, c_size_t, c_summary
      character(kind=c_char), intent(in) :: name(*)
      type(c_summary), intent(inout) :: summary
      type(c_ptr), value :: counts
      integer(c_size_t), value :: count, size
      integer(c_int32_t), value :: flags
    end function
    integer(c_int) function c_region_configure(name, value, flags, message, size) &
        bind(C, name='perfmon_region_configure')
      import :: c_char, c_int, c_int32_t, c_size_t
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int32_t), value :: flags
      character(kind=c_char), intent(out) :: message(*)
      integer(c_size_t), value :: size
    end function
    subroutine perfmon_region_arm() bind(C, name='perfmon_region_arm')
    end subroutine
    subroutine perfmon_region_disarm() bind(C, name='perfmon_region_disarm')
    end subroutine
    integer(c_int) function c_region_token(token) bind(C, name='perfmon_region_token')
      import :: c_int, perfmon_token
      type(perfmon_token), intent(out) :: token
    end function
    integer(c_int) function c_region_adopt(token) bind(C, name='perfmon_region_adopt')
      import :: c_int, perfmon_token
      type(perfmon_token), intent(in) :: token
    end function
    integer(c_int) function c_region_leave() bind(C, name='perfmon_region_leave')
      import :: c_int
    end function
    integer(c_int) function c_session_create(session, options, message, size) &
        bind(C, name='perfmon_session_create')
      import :: c_int, c_options, c_ptr, c_size_t
      type(c_ptr), intent(out) :: session
      type(c_options), intent(in) :: options
      type(c_ptr), value :: message
      integer(c_size_t), value :: size
    end function
    subroutine c_session_close(session) bind(C, name='perfmon_session_close')
      import :: c_ptr
      type(c_ptr), value :: session
    end subroutine
    integer(c_int) function c_session_add_events(session, text) &
        bind(C, name='perfmon_session_add_events')
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: text(*)
    end function
    integer(c_int) function c_session_attach(session, kind, id) &
        bind(C, name='perfmon_session_attach')
      import :: c_int, c_int32_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int32_t), value :: kind, id
    end function
    integer(c_int) function c_session_detach(session) bind(C, name='perfmon_session_detach')
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function c_session_start(session) bind(C, name='perfmon_session_start')
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function c_session_stop(session) bind(C, name='perfmon_session_stop')
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function c_session_read(session, values, count, size, flags) &
        bind(C, name='perfmon_session_read')
      import :: c_int, c_int32_t, c_ptr, c_size_t, c_value
      type(c_ptr), value :: session
      type(c_value), intent(inout) :: values(*)
      integer(c_size_t), value :: count, size
      integer(c_int32_t), value :: flags
    end function
    integer(c_int) function c_session_counters(session) bind(C, name='perfmon_session_counters')
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function c_session_get_counter(session, index, info) &
        bind(C, name='perfmon_session_get_counter')
      import :: c_counter, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int32_t), value :: index
      type(c_counter), intent(inout) :: info
    end function
    integer(c_int) function c_session_message(session, buffer, size) &
        bind(C, name='perfmon_session_message')
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: session
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: size
    end function
    integer(c_int) function c_set_create(session, sets, count, size) bind(C, name='perfmon_set_create')
      import :: c_int, c_ptr, c_set, c_size_t
      type(c_ptr), value :: session
      type(c_set), intent(inout) :: sets
      integer(c_size_t), value :: count, size
    end function
    integer(c_int) function c_set_add_events(session, id, text) bind(C, name='perfmon_set_add_events')
      import :: c_char, c_int, c_int16_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int16_t), value :: id
      character(kind=c_char), intent(in) :: text(*)
    end function
    integer(c_int) function c_set_start(session, id) bind(C, name='perfmon_set_start')
      import :: c_int, c_int16_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int16_t), value :: id
    end function
    integer(c_int) function c_set_estimate(session, estimates, count, size) &
        bind(C, name='perfmon_set_estimate')
      import :: c_estimate, c_int, c_ptr, c_size_t
      type(c_ptr), value :: session
      type(c_estimate), intent(inout) :: estimates(*)
      integer(c_size_t), value :: count, size
    end function
    integer(c_int) function c_overflow_period(session, index, period, flags) &
        bind(C, name='perfmon_overflow_period')
      import :: c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int32_t), value :: index, flags
      integer(c_int64_t), value :: period
    end function
    integer(c_int) function c_sampling_set_up(session, sampling) bind(C, name='perfmon_sampling_set_up')
      import :: c_int, c_ptr, c_sampling
      type(c_ptr), value :: session
      type(c_sampling), intent(in) :: sampling
    end function
    integer(c_int) function c_sampling_tear_down(session) bind(C, name='perfmon_sampling_tear_down')
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function c_sampling_counts(session, taken, lost) bind(C, name='perfmon_sampling_counts')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: session
      integer(c_int64_t), intent(out) :: taken, lost
    end function
    integer(c_int) function c_sampling_log(session, path, fd, flags) bind(C, name='perfmon_sampling_log')
      import :: c_char, c_int, c_int32_t, c_ptr
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: fd
      integer(c_int32_t), value :: flags
    end function
    integer(c_int) function c_sampling_log_close(session) bind(C, name='perfmon_sampling_log_close')
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function
    type(c_ptr) function c_strerror(code) bind(C, name='strerror')
      import :: c_int, c_ptr
      integer(c_int), value :: code
    end function
    integer(c_int) function c_lock(lock) bind(C, name='pthread_mutex_lock')
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: lock(*)
    end function
    integer(c_int) function c_unlock(lock) bind(C, name='pthread_mutex_unlock')
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(inout) :: lock(*)
    end function
  end interface

contains

  ! --- regions ---
  ! The procedures are recursive so that each thread has variables of its own.

  ! Begins a visit of the region NAME. A region of a name that is known at run time is the same as
  ! one of a constant. It cannot fail: what is not counted is lost, and the report says so.
  recursive subroutine perfmon_region_begin(name)
    character(*), intent(in) :: name
    character(kind=c_char, len=longest + 1) :: text

    call terminated(name, text)
    call c_region_begin(text)
  end subroutine

  ! Ends the visit.
  recursive subroutine perfmon_region_end(name)
    character(*), intent(in) :: name
    character(kind=c_char, len=longest + 1) :: text

    call terminated(name, text)
    call c_region_end(text)
  end subroutine

  ! What the calling thread has measured in the region NAME: visits that have ended, and their wall
  ! time. It fails with ENOENT (2) if the thread has visited no region of this name.
  recursive subroutine perfmon_region_read(name, visits, time_ns, stat, errmsg)
    character(*), intent(in) :: name
    integer(int64), intent(out), optional :: visits, time_ns
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_summary) :: summary
    character(kind=c_char, len=longest + 1) :: text
    integer(c_int) :: code

    call terminated(name, text)
    summary = c_summary(c_sizeof(summary), 0, 0, 0, 0, 0)
    code = c_region_read(text, summary, c_null_ptr, 0_c_size_t, 0_c_size_t, 0_c_int32_t)
    if (present(visits)) visits = summary%visits
    if (present(time_ns)) time_ns = summary%time_ns
    if (code == -errno_enoent) then
      call finish(code, "this thread has not visited the region '" // trim(name) // "'", stat, errmsg)
    else
      call finish(code, "region '" // trim(name) // "': " // description(code), stat, errmsg)
    end if
  end subroutine

  ! Sets what the variable PERFMON_NAME of the environment sets, before the first region.
  recursive subroutine perfmon_region_configure(name, value, stat, errmsg)
    character(*), intent(in) :: name, value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char, len=500) :: sentence
    integer(c_int) :: code

    code = c_region_configure(trim(name) // c_null_char, trim(value) // c_null_char, &
      0_c_int32_t, sentence, len(sentence, kind=c_size_t))
    call finish(code, sentence(:index(sentence, c_null_char) - 1), stat, errmsg)
  end subroutine

  ! --- teams ---

  ! The path of the calling thread, for other threads.
  recursive subroutine perfmon_region_token(token, stat, errmsg)
    type(perfmon_token), intent(out) :: token
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code

    code = c_region_token(token)
    call finish(code, 'no token of the path: ' // description(code), stat, errmsg)
  end subroutine

  ! What the calling thread does from now on stands below the path of TOKEN.
  recursive subroutine perfmon_region_adopt(token, stat, errmsg)
    type(perfmon_token), intent(in) :: token
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code

    code = c_region_adopt(token)
    if (code == -errno_estale) then
      call finish(code, 'the token is of another process, or of none', stat, errmsg)
    else
      call finish(code, 'the path of a token cannot be adopted: ' // description(code), stat, errmsg)
    end if
  end subroutine

  ! Ends the innermost adoption.
  recursive subroutine perfmon_region_leave(stat, errmsg)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code

    code = c_region_leave()
    if (code == -errno_enoent) then
      call finish(code, 'this thread has adopted no path', stat, errmsg)
    else
      call finish(code, 'the adopted path cannot be left: ' // description(code), stat, errmsg)
    end if
  end subroutine

  ! --- sessions ---

  ! Creates a session of the EVENTS (perfmon/event.h). PARTIAL: attach without events that are
  ! refused. ALL_MODES: count the kernel, too. CPUS: count CPUs instead of threads.
  recursive subroutine session_create(this, events, partial, all_modes, cpus, stat, errmsg)
    class(perfmon_session), intent(inout) :: this
    character(*), intent(in), optional :: events
    logical, intent(in), optional :: partial, all_modes, cpus
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_options) :: options
    type(c_ptr) :: handle
    character(:), allocatable :: sentence
    integer(c_int) :: code

    if (c_associated(handle_of(this))) then
      call finish(-errno_ebusy, 'the session is created already; close it first', stat, errmsg)
      return
    end if
    options = c_options(c_sizeof(options), 0, 0)
    if (is(cpus)) options%scope = 1
    if (is(partial)) options%flags = options%flags + 1
    if (is(all_modes)) options%flags = options%flags + 4
    code = c_session_create(handle, options, c_null_ptr, 0_c_size_t)
    if (code < 0) then
      call finish(code, 'no session: ' // description(code), stat, errmsg)
      return
    end if
    call open_slot(this, handle)
    if (present(events)) code = c_session_add_events(handle, trim(events) // c_null_char)
    sentence = this%message()
    if (code < 0) call this%close()
    call finish(code, sentence, stat, errmsg)
  end subroutine

  ! Adds events to a session that is not running.
  recursive subroutine session_add_events(this, events, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    character(*), intent(in) :: events
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(this, c_session_add_events(handle_of(this), trim(events) // c_null_char), stat, errmsg)
  end subroutine

  ! Attaches to the calling thread. REFUSED: how many events were left out (PARTIAL).
  recursive subroutine session_attach(this, refused, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(out), optional :: refused, stat
    character(*), intent(inout), optional :: errmsg

    call attach(this, 0_c_int32_t, 0, refused, stat, errmsg)
  end subroutine

  ! Attaches to the thread TID, as gettid(2) has it.
  recursive subroutine session_attach_thread(this, tid, refused, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(in) :: tid
    integer, intent(out), optional :: refused, stat
    character(*), intent(inout), optional :: errmsg

    call attach(this, 0_c_int32_t, tid, refused, stat, errmsg)
  end subroutine

  ! Attaches to all threads of the process PID; 0: this process.
  recursive subroutine session_attach_process(this, pid, refused, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(in) :: pid
    integer, intent(out), optional :: refused, stat
    character(*), intent(inout), optional :: errmsg

    call attach(this, 2_c_int32_t, pid, refused, stat, errmsg)
  end subroutine

  ! Attaches a session that was created with CPUS to a CPU, by the kernel's number.
  recursive subroutine session_attach_cpu(this, cpu, refused, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(in) :: cpu
    integer, intent(out), optional :: refused, stat
    character(*), intent(inout), optional :: errmsg

    call attach(this, 1_c_int32_t, cpu, refused, stat, errmsg)
  end subroutine

  ! Stops, keeps the values, and lets go of the target.
  recursive subroutine session_detach(this, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(this, c_session_detach(handle_of(this)), stat, errmsg)
  end subroutine

  recursive subroutine session_start(this, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(this, c_session_start(handle_of(this)), stat, errmsg)
  end subroutine

  recursive subroutine session_stop(this, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call conclude(this, c_session_stop(handle_of(this)), stat, errmsg)
  end subroutine

  ! Reads all counters, in the order of adding, running or not.
  recursive subroutine session_read(this, values, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    type(perfmon_value), allocatable, intent(out) :: values(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_value), allocatable :: raw(:)
    type(c_counter) :: info
    integer(c_int) :: code
    integer :: i, count

    count = this%counters()
    allocate (raw(count), values(count))
    code = 0
    if (count > 0 .or. .not. c_associated(handle_of(this))) code = c_session_read(handle_of(this), raw, &
      int(count, c_size_t), int(storage_size(raw) / 8, c_size_t), 1_c_int32_t)
    do i = 1, merge(count, 0, code >= 0)
      info%size = c_sizeof(info)
      code = c_session_get_counter(handle_of(this), raw(i)%index, info)
      if (code < 0) exit
      values(i)%name = fortran_text(info%name)
      values(i)%unit = fortran_text(info%unit)
      values(i)%scale = info%scale
      values(i)%status = raw(i)%status
      values(i)%register = raw(i)%value
      values(i)%enabled_ns = raw(i)%enabled_ns
      values(i)%running_ns = raw(i)%running_ns
    end do
    call conclude(this, code, stat, errmsg)
  end subroutine

  ! --- event sets (perfmon/set.h), which a text of events also makes by ';' ---

  ! Makes the set ID, 0 to 65535. Its turn ends after TIMEOUT_US microseconds, which the clock of the
  ! kernel rounds up to EFFECTIVE_US; without it the program switches by start_set().
  recursive subroutine session_make_set(this, id, timeout_us, effective_us, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(in) :: id
    integer, intent(in), optional :: timeout_us
    integer, intent(out), optional :: effective_us, stat
    character(*), intent(inout), optional :: errmsg
    type(c_set) :: set

    if (.not. is_set(id, stat, errmsg)) return
    set = c_set(as_uint16(id), 0, 0, 0, 0)
    if (present(timeout_us)) then
      if (timeout_us < 1) then
        call finish(-errno_einval, 'the turn of an event set has 1 microsecond or more', stat, errmsg)
        return
      end if
      set%flags = 2
      set%timeout_ns = 1000_c_int64_t * timeout_us
    end if
    call conclude(this, c_set_create(handle_of(this), set, 1_c_size_t, c_sizeof(set)), stat, errmsg)
    if (present(effective_us)) effective_us = int(set%timeout_ns / 1000)
  end subroutine

  ! Adds events to the set ID.
  recursive subroutine session_add_to_set(this, id, events, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(in) :: id
    character(*), intent(in) :: events
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (is_set(id, stat, errmsg)) call conclude(this, &
      c_set_add_events(handle_of(this), as_uint16(id), trim(events) // c_null_char), stat, errmsg)
  end subroutine

  ! Starts an attached session with the set ID, or switches a running one to it.
  recursive subroutine session_start_set(this, id, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(in) :: id
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (is_set(id, stat, errmsg)) call conclude(this, c_set_start(handle_of(this), as_uint16(id)), stat, errmsg)
  end subroutine

  ! What each counter would have counted in the whole time, in the order of adding.
  recursive subroutine session_estimates(this, estimates, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    type(perfmon_estimate), allocatable, intent(out) :: estimates(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_estimate), allocatable :: raw(:)
    type(c_counter) :: info
    integer(c_int) :: code
    integer :: i, count

    count = this%counters()
    allocate (raw(count), estimates(count))
    raw = [(c_estimate(i - 1, 0, 0, 0, 0, 0, 0), i = 1, count)]
    code = 0
    if (count > 0) code = c_set_estimate(handle_of(this), raw, int(count, c_size_t), &
      int(storage_size(raw) / 8, c_size_t))
    do i = 1, merge(count, 0, code >= 0)
      info%size = c_sizeof(info)
      code = c_session_get_counter(handle_of(this), raw(i)%index, info)
      if (code < 0) exit
      estimates(i)%name = fortran_text(info%name)
      estimates(i)%value = raw(i)%value
      estimates(i)%error = raw(i)%error
      estimates(i)%coverage = raw(i)%coverage
      estimates(i)%flags = raw(i)%flags
    end do
    call conclude(this, code, stat, errmsg)
  end subroutine

  ! --- samples (perfmon/sampling.h) ---

  ! Has a counter, numbered from 1 in the order of adding, leave a sample after each PERIOD events.
  recursive subroutine session_sample_every(this, counter, period, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer, intent(in) :: counter, period
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(100) :: sentence

    if (c_associated(handle_of(this)) .and. (counter < 1 .or. counter > this%counters())) then
      write (sentence, '(2(a, i0))') 'there is no counter ', counter, ': the session has ', this%counters()
      call finish(-errno_einval, trim(sentence), stat, errmsg)
      return
    end if
    call conclude(this, c_overflow_period(handle_of(this), int(counter - 1, c_int32_t), &
      int(period, c_int64_t), 8_c_int32_t), stat, errmsg)
  end subroutine

  ! Writes the samples to the file PATH, from the next start on, in the format that perf(1) reads.
  ! CALL_CHAINS: with the callers of the place.
  recursive subroutine session_log(this, path, call_chains, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    character(*), intent(in) :: path
    logical, intent(in), optional :: call_chains
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_sampling) :: sampling
    character(:), allocatable :: sentence
    integer(c_int) :: code, ignored

    sampling = c_sampling(c_sizeof(sampling), 0, 0, 0, 0, 0, c_null_ptr, c_null_ptr, 0)
    if (is(call_chains)) sampling%fields = 8192
    code = c_sampling_set_up(handle_of(this), sampling)
    if (code == -errno_eexist) then
      call finish(code, 'the session has a log already: call close_log first', stat, errmsg)
      return
    else if (code < 0) then
      call conclude(this, code, stat, errmsg)
      return
    end if
    code = c_sampling_log(handle_of(this), trim(path) // c_null_char, -1_c_int, 0_c_int32_t)
    sentence = this%message()
    if (code == -errno_einval) sentence = 'no counter leaves samples: call sample_every first'
    if (code < 0) ignored = c_sampling_tear_down(handle_of(this))
    call finish(code, sentence, stat, errmsg)
  end subroutine

  ! Completes the file of a session that is stopped. TAKEN: the samples that were taken. LOST: those that are
  ! missing, in the file or before it.
  recursive subroutine session_close_log(this, taken, lost, stat, errmsg)
    class(perfmon_session), intent(in) :: this
    integer(int64), intent(out), optional :: taken, lost
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: counts(2)
    character(:), allocatable :: sentence
    integer(c_int) :: code, ignored

    counts = 0
    code = c_sampling_log_close(handle_of(this))
    sentence = this%message()
    ignored = c_sampling_counts(handle_of(this), counts(1), counts(2))
    if (code /= -errno_ebusy) ignored = c_sampling_tear_down(handle_of(this))
    if (present(taken)) taken = counts(1)
    if (present(lost)) lost = counts(2)
    if (c_associated(handle_of(this))) then
      call finish(code, sentence, stat, errmsg)
    else
      call conclude(this, code, stat, errmsg)
    end if
  end subroutine

  ! --- the session itself ---

  ! How many counters there are; 0 of a session that was not created.
  recursive integer function session_counters(this) result(count)
    class(perfmon_session), intent(in) :: this

    count = max(0, int(c_session_counters(handle_of(this))))
  end function

  ! The sentence about the last call, if that failed or went on with less, else ''.
  recursive function session_message(this) result(sentence)
    class(perfmon_session), intent(in) :: this
    character(:), allocatable :: sentence
    character(kind=c_char, len=2000) :: buffer
    integer(c_int) :: length

    length = 0
    if (c_associated(handle_of(this))) &
      length = c_session_message(handle_of(this), buffer, len(buffer, kind=c_size_t))
    sentence = buffer(:max(0, min(int(length), len(buffer) - 1)))
  end function

  ! Ends the session. It can be created anew.
  recursive subroutine session_close(this)
    class(perfmon_session), intent(inout) :: this

    call c_session_close(handle_of(this))
    call close_slot(this)
  end subroutine

  ! --- values ---

  ! Whether the event was counted all the time, and everywhere.
  pure recursive logical function value_whole(this)
    class(perfmon_value), intent(in) :: this

    value_whole = iand(this%status, perfmon_value_counted) /= 0 .and. &
      iand(this%status, perfmon_value_uncertain + perfmon_value_partial + perfmon_value_throttled) == 0
  end function

  ! The count. A value that is not whole stops the program with an error.
  recursive integer(int64) function value_count(this)
    class(perfmon_value), intent(in) :: this

    if (.not. this%whole()) call fatal(lack(this))
    value_count = this%register
  end function

  ! The count, or what it would be if the event had been on the hardware all the time. A value that
  ! was not on it at all stops the program with an error.
  recursive real(real64) function value_estimate(this)
    class(perfmon_value), intent(in) :: this

    if (iand(this%status, perfmon_value_counted + perfmon_value_multiplexed) == 0) &
      call fatal(lack(this))
    value_estimate = scaled(this)
  end function

  ! The value as text: a number and the event, with its mark, or why there is no number.
  pure recursive function value_text(this) result(text)
    class(perfmon_value), intent(in) :: this
    character(:), allocatable :: text
    character(40) :: number

    if (.not. allocated(this%name)) then
      text = lack(this)
      return
    end if
    if (iand(this%status, perfmon_value_counted + perfmon_value_multiplexed) == 0) then
      text = this%name // ' ' // mark(this)
      return
    end if
    if (iand(this%status, perfmon_value_counted) /= 0 .and. &
        .not. (this%scale < 1 .or. this%scale > 1)) then
      write (number, '(i0)') this%register
    else
      write (number, '(g0.6)') scaled(this) * this%scale
    end if
    text = trim(adjustl(number)) // ' '
    if (len(this%unit) > 0) text = text // this%unit // ' '
    text = text // this%name
    if (iand(this%status, perfmon_value_multiplexed) /= 0) text = '~' // text
    if (mark(this) /= '') text = text // ' (' // mark(this) // ')'
  end function

  ! The estimate as text: a number with its error, or why there is none.
  pure recursive function estimate_text(this) result(text)
    class(perfmon_estimate), intent(in) :: this
    character(:), allocatable :: text
    character(40) :: number, error

    write (number, '(i0)') nint(this%value, int64)
    if (iand(this%flags, perfmon_estimate_none) /= 0) then
      text = this%name // ' was not counted: its set had no turn, or no counter was free'
    else if (iand(this%flags, perfmon_estimate_exact) /= 0) then
      text = trim(number) // ' ' // this%name
    else if (iand(this%flags, perfmon_estimate_unknown) /= 0) then
      text = '~' // trim(number) // ' ' // this%name // ' (too few turns to know the error)'
    else
      write (error, '(i0)') nint(this%error, int64)
      text = '~' // trim(number) // ' ' // this%name // ' (+- ' // trim(error) // ')'
    end if
  end function

  ! The value of an event that was on the hardware, all the time or for a part of it.
  pure recursive real(real64) function scaled(this)
    class(perfmon_value), intent(in) :: this

    scaled = real(this%register, real64)
    if (iand(this%status, perfmon_value_counted) == 0 .and. this%running_ns > 0) &
      scaled = scaled * real(this%enabled_ns, real64) / real(this%running_ns, real64)
  end function

  ! Why there is no count of a value, as a sentence.
  pure recursive function lack(this)
    class(perfmon_value), intent(in) :: this
    character(:), allocatable :: lack

    lack = 'the value was not read from a session'
    if (allocated(this%name)) lack = "event '" // this%name // "' " // mark(this)
  end function

  ! Why a value is not whole, or ''.
  pure recursive function mark(this)
    class(perfmon_value), intent(in) :: this
    character(:), allocatable :: mark

    if (iand(this%status, perfmon_value_never_opened) /= 0) then
      mark = 'was never opened'
    else if (iand(this%status, perfmon_value_not_counted) /= 0) then
      mark = 'was not counted: no counter was free'
    else if (iand(this%status, perfmon_value_multiplexed) /= 0) then
      mark = 'is an estimate: it was multiplexed'
    else if (iand(this%status, perfmon_value_counted) == 0) then
      mark = 'was not counted: the session was not started'
    else if (iand(this%status, perfmon_value_partial) /= 0) then
      mark = 'lacks targets that refused it'
    else if (iand(this%status, perfmon_value_throttled) /= 0) then
      mark = 'lacks what happened while the kernel held it back'
    else if (iand(this%status, perfmon_value_uncertain) /= 0) then
      mark = 'may lack threads'
    else
      mark = ''
    end if
  end function

  ! --- what the procedures above share ---

  ! The session of THIS, or NULL if it is not created, or was closed by this object or a copy.
  recursive type(c_ptr) function handle_of(this) result(handle)
    class(perfmon_session), intent(in) :: this

    handle = c_null_ptr
    if (.not. associated(this%slot)) return
    if (this%slot%serial == this%serial) handle = this%slot%handle
  end function

  ! Gives HANDLE a slot. The two functions of the lock are in the C library also where others of
  ! pthreads are in one of their own (glibc before 2.34), which the program need not link.
  recursive subroutine open_slot(this, handle)
    class(perfmon_session), intent(inout) :: this
    type(c_ptr), intent(in) :: handle
    integer(c_int) :: ignored

    ignored = c_lock(free_lock)
    this%slot => free_slots
    if (associated(free_slots)) free_slots => free_slots%next
    ignored = c_unlock(free_lock)
    if (.not. associated(this%slot)) allocate (this%slot)
    this%slot%handle = handle
    this%serial = this%slot%serial
  end subroutine

  recursive subroutine close_slot(this)
    class(perfmon_session), intent(inout) :: this
    integer(c_int) :: ignored

    if (.not. c_associated(handle_of(this))) return
    this%slot%handle = c_null_ptr
    this%slot%serial = this%slot%serial + 1
    ignored = c_lock(free_lock)
    this%slot%next => free_slots
    free_slots => this%slot
    ignored = c_unlock(free_lock)
  end subroutine

  recursive subroutine attach(this, kind, id, refused, stat, errmsg)
    type(perfmon_session), intent(in) :: this
    integer(c_int32_t), intent(in) :: kind
    integer, intent(in) :: id
    integer, intent(out), optional :: refused, stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: code

    code = c_session_attach(handle_of(this), kind, int(id, c_int32_t))
    if (present(refused)) refused = max(0, int(code))
    call conclude(this, code, stat, errmsg)
  end subroutine

  ! Returns whether ID can be the number of a set, else ends the call with an error.
  recursive logical function is_set(id, stat, errmsg)
    integer, intent(in) :: id
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    is_set = id >= 0 .and. id <= 65535
    if (.not. is_set) call finish(-errno_einval, 'an event set has a number from 0 to 65535', stat, errmsg)
  end function

  ! ID as C's uint16_t has its bits.
  pure recursive integer(c_int16_t) function as_uint16(id)
    integer, intent(in) :: id

    as_uint16 = int(merge(id - 65536, id, id > 32767), c_int16_t)
  end function

  ! Ends a call on a session with the session's own sentence.
  recursive subroutine conclude(this, code, stat, errmsg)
    type(perfmon_session), intent(in) :: this
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (c_associated(handle_of(this))) then
      call finish(code, this%message(), stat, errmsg)
    else
      call finish(-errno_einval, 'the session is not created, or closed: call create first', stat, errmsg)
    end if
  end subroutine

  ! Ends a call as allocate does: a negative CODE sets STAT and ERRMSG, or stops the program.
  recursive subroutine finish(code, sentence, stat, errmsg)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: sentence
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    if (present(stat)) stat = max(0, -int(code))
    if (code >= 0) return
    if (present(errmsg)) errmsg = sentence
    if (.not. present(stat)) call fatal(sentence)
  end subroutine

  recursive subroutine fatal(sentence)
    character(*), intent(in) :: sentence

    write (error_unit, '(2a)') 'perfmon: ', sentence
    error stop 1
  end subroutine

  recursive logical function is(flag)
    logical, intent(in), optional :: flag

    is = .false.
    if (present(flag)) is = flag
  end function

  ! NAME without blanks at its end, as C has it.
  recursive subroutine terminated(name, text)
    character(*), intent(in) :: name
    character(kind=c_char, len=longest + 1), intent(out) :: text
    integer :: length

    length = min(len_trim(name), longest)
    text(:length) = name(:length)
    text(length + 1:length + 1) = c_null_char
  end subroutine

  recursive function fortran_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: bytes(:)
    integer :: i

    call c_f_pointer(text, bytes, [c_strlen(text)])
    allocate (character(size(bytes)) :: copy)
    do i = 1, size(bytes)
      copy(i:i) = bytes(i)
    end do
  end function

  ! What the operating system calls the errno of a negative CODE.
  recursive function description(code)
    integer(c_int), intent(in) :: code
    character(:), allocatable :: description

    description = ''
    if (code < 0) description = fortran_text(c_strerror(-code))
  end function
end module
