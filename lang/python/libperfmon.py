# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts hardware and software events for regions of Python programs, by libperfmon.

    import libperfmon

    with libperfmon.region("solve"):
        ...

    @libperfmon.region("step")
    def step(): ...

    with libperfmon.Session("instructions,page-faults") as session:
        ...
    print(session.read()["page-faults"])

    for thread in libperfmon.read_profile("run.profile")["threads"]: ...

The report of regions is written when the process exits, and PERFMON_EVENTS, PERFMON_OUTPUT and the
other variables of perfmon-environment(7) apply. doc/python.md describes the module.
"""

import ctypes
import functools
import inspect
import operator
import os
import re
import sys
from collections import namedtuple

__all__ = [
    "Error", "Profile", "Session", "Token", "Value", "add", "adopt", "arm", "configure", "disarm",
    "frame", "quiet", "read_profile", "region", "report", "token",
]

_U32, _U64, _TEXT, _SIZE = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t

# --- the library ------------------------------------------------------------------------


def _candidates():
    """Where the library may be: in the process, where the user says, beside this file."""
    name = "libperfmon.so.0"
    yield name, os.RTLD_NOLOAD | os.RTLD_NOW
    if os.environ.get("LD_LIBRARY_PATH"):
        yield name, os.RTLD_NOW
    # PREFIX/share/perfmon/python or PREFIX/lib/python3.N/site-packages
    prefix = os.path.abspath(os.path.join(os.path.dirname(os.path.realpath(__file__)), *[".."] * 3))
    multiarch = getattr(sys.implementation, "_multiarch", "")
    for folder in ("lib", "lib64", os.path.join("lib", multiarch)):
        path = os.path.join(prefix, folder, name)
        if os.path.exists(path):
            yield path, os.RTLD_NOW
    yield name, os.RTLD_NOW


def _load():
    problem = ""
    for name, mode in _candidates():
        try:
            # Regions keep the interpreter's lock: they are shorter than giving it away.
            return ctypes.CDLL(name, mode), ctypes.PyDLL(name, mode)
        except OSError as error:
            problem = str(error)
    raise ImportError(
        f"libperfmon.so.0 cannot be loaded ({problem}): add its folder to LD_LIBRARY_PATH"
    )


_lib, _quick = _load()


def _call(name, result, *arguments, library=None):
    function = getattr(library or _lib, name)
    function.restype, function.argtypes = result, arguments
    return function


class Error(OSError):
    """A call that the library refused: errno, and in strerror the library's sentence."""


def _check(result, sentence=""):
    """Returns RESULT, or raises Error if it is a negative errno."""
    if result < 0:
        raise Error(-result, sentence or os.strerror(-result))
    return result


def _bytes(text, what):
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError(f"{what} has a NUL: {text!r}")
    return text.encode("utf-8", "surrogateescape")


def _text(raw):
    return raw.decode("utf-8", "backslashreplace") if raw else ""


class _Message:
    """Room for a sentence of the library, as two arguments."""

    def __init__(self):
        self.buffer = ctypes.create_string_buffer(1024)
        self.arguments = (self.buffer, len(self.buffer))

    def __str__(self):
        return _text(self.buffer.value)


class _Grows(ctypes.Structure):
    """A structure that begins with its size."""

    def __init__(self):
        super().__init__(ctypes.sizeof(self))


# --- regions ----------------------------------------------------------------------------


class _Region(ctypes.Structure):
    _fields_ = [("key", _U64), ("name", _TEXT)]


# Without argument types ctypes takes a reference as it is, which is quicker.
_begin = _quick.perfmon_region_begin
_end = _quick.perfmon_region_end
_begin.restype = _end.restype = None
_known = {}


class _Task(ctypes.Structure):
    _fields_ = [("id", _U64)]


# What these refuse is counted as lost, as in regions.
_task_begin = _quick.perfmon_task_begin
_task_suspend = _quick.perfmon_task_suspend
_task_resume = _quick.perfmon_task_resume
_task_end = _quick.perfmon_task_end


def _parts(region, inner):
    """Runs a coroutine or generator as a visit of REGION, which waits when INNER does, with all visits
    that INNER has open."""
    task = _Task()
    at = ctypes.byref(task)
    step, value = inner.send, None
    _task_begin(at)
    _begin(region)
    try:
        while True:
            try:
                wanted = step(value)
            except StopIteration as stop:
                return stop.value
            _task_suspend(at)
            try:
                value = yield wanted
                step = inner.send
            except GeneratorExit:
                # Nobody waits for it any more: it ends now.
                _task_resume(at)
                inner.close()
                raise
            except BaseException as error:
                step, value = inner.throw, error
            _task_resume(at)
    finally:
        _end(region)
        _task_end(at)


class _Awaitable:
    __slots__ = ("_parts",)

    def __init__(self, parts):
        self._parts = parts

    def __await__(self):
        return self._parts


def _go_on(at, inner):
    """Runs an awaitable of an asynchronous generator as a part of the task AT, which goes on before
    each step and waits after it."""
    inner = inner.__await__()
    step, value = inner.send, None
    while True:
        _task_resume(at)
        try:
            wanted = step(value)
        except StopIteration as stop:
            return stop.value
        finally:
            _task_suspend(at)
        try:
            value = yield wanted
            step = inner.send
        except BaseException as error:
            step, value = inner.throw, error


def _follow_async(region, function):
    """As _parts(), of an asynchronous generator."""

    async def counted(*arguments, **keywords):
        inner = function(*arguments, **keywords)
        task = _Task()
        at = ctypes.byref(task)
        _task_begin(at)
        _begin(region)
        _task_suspend(at)
        wanted = inner.asend(None)
        try:
            while True:
                try:
                    item = await _Awaitable(_go_on(at, wanted))
                except StopAsyncIteration:
                    return
                try:
                    wanted = inner.asend((yield item))
                except GeneratorExit:
                    await _Awaitable(_go_on(at, inner.aclose()))
                    raise
                except BaseException as error:
                    wanted = inner.athrow(error)
        finally:
            _task_resume(at)
            _end(region)
            _task_end(at)

    return counted


def _follow(region, function):
    """FUNCTION with its visits, if it makes coroutines or generators, or None."""
    if inspect.iscoroutinefunction(function):

        async def counted(*arguments, **keywords):
            return await _Awaitable(_parts(region, function(*arguments, **keywords)))

    elif inspect.isgeneratorfunction(function):

        def counted(*arguments, **keywords):
            return (yield from _parts(region, function(*arguments, **keywords)))

    elif inspect.isasyncgenfunction(function):
        counted = _follow_async(region, function)
    else:
        return None
    return functools.wraps(function)(counted)


class _Named:
    """A region: a context manager, and a decorator of functions. Any thread may use it, also inside
    of itself."""

    __slots__ = ("name", "_object", "_at")

    def __init__(self, name):
        self.name = name
        self._object = _Region(0, _bytes(name, "the name of a region"))
        self._at = ctypes.byref(self._object)

    def __enter__(self):
        _begin(self._at)

    def __exit__(self, kind, error, trace):
        _end(self._at)

    def __call__(self, function):
        if not callable(function):
            raise TypeError(f"region({self.name!r}) decorates functions, not {function!r}")
        follows = _follow(self._at, function)
        if follows:
            return follows
        at = self._at

        @functools.wraps(function)
        def counted(*arguments, **keywords):
            _begin(at)
            try:
                return function(*arguments, **keywords)
            finally:
                _end(at)

        return counted

    def __repr__(self):
        return f"libperfmon.region({self.name!r})"


_QUANTITY_KINDS = {0: "sum", 1: "maximum", 2: "last"}

_quantity_name = _call("perfmon_region_quantity_name", None, _TEXT, _TEXT, _U32, _U64)


def add(name, value, unit="", kind="sum"):
    """Says a quantity of the innermost region: add("bytes", array.nbytes, "B").

    VALUE is a whole number, which is added; with KIND "maximum" the largest counts, with "last" the
    last. Reports have a column for it: see perfmon_quantity(3).
    """
    for number, word in _QUANTITY_KINDS.items():
        if word == kind:
            break
    else:
        raise ValueError(f"'{kind}' is no kind of quantity: expects sum, maximum or last")
    value = operator.index(value)
    if not 0 <= value < 1 << 64:
        raise ValueError(f"{value} is no quantity: expects a whole number of 64 bits, from 0 on")
    _quantity_name(_bytes(name, "name"), _bytes(unit, "unit"), number, value)


def region(name):
    """The region NAME, for `with` and as a decorator. As a decorator without a name,
    `@libperfmon.region` takes that of the function.

    A visit must end in the thread where it began, and in the order in which visits began. It must
    contain `yield` and `await` only inside of a coroutine or generator that is decorated: such a one
    waits with all of its visits, and what runs meanwhile is not in them.
    """
    try:
        return _known[name]
    except (KeyError, TypeError):
        pass
    if inspect.isroutine(name):
        return region(name.__qualname__)(name)
    made = _Named(name)
    # Of two threads both have the first one's.
    return _known.setdefault(name, made)


class Token(ctypes.Structure):
    """A path of this process, for adopt()."""

    _fields_ = [("path", _U64)]

    def __reduce__(self):
        raise TypeError("a token is of this process alone")


_region_token = _call("perfmon_region_token", ctypes.c_int, ctypes.POINTER(Token), library=_quick)
_region_adopt = _call("perfmon_region_adopt", ctypes.c_int, ctypes.POINTER(Token), library=_quick)
_region_leave = _call("perfmon_region_leave", ctypes.c_int, library=_quick)


def token():
    """The path of the calling thread, which other threads of this process may adopt."""
    made = Token()
    _check(_region_token(made))
    return made


class adopt:
    """Lets the calling thread continue below the path of TOKEN, inside of `with`."""

    def __init__(self, token):
        if not isinstance(token, Token):
            raise TypeError(f"adopt() takes what token() gave, not {token!r}")
        self.token = token

    def __enter__(self):
        _check(_region_adopt(self.token))

    def __exit__(self, kind, error, trace):
        _check(_region_leave())


arm = _call("perfmon_region_arm", None)
arm.__doc__ = "Undoes one disarm()."
disarm = _call("perfmon_region_disarm", None)
disarm.__doc__ = "Makes regions do nothing, in all threads."
quiet = _call("perfmon_report_quiet", None)
quiet.__doc__ = "No report at exit, unless the user asks for one by PERFMON_OUTPUT."

_configure = _call("perfmon_region_configure", ctypes.c_int, _TEXT, _TEXT, _U32, _TEXT, _SIZE)


def configure(**settings):
    """Sets what variables of the environment set, before the first region:
    configure(events="page-faults", output="report.txt"). The environment wins."""
    for name, value in settings.items():
        message = _Message()
        value = _bytes(value, name)
        _check(_configure(name.encode(), value, 0, *message.arguments), str(message))


class _ReportOptions(_Grows):
    _fields_ = [
        ("size", _SIZE), ("format", _U32), ("flags", _U32), ("level", _TEXT), ("message", _TEXT),
        ("message_size", _SIZE),
    ]


_REPORT_FORMATS = {"text": 1, "flat": 2, "json": 3, "csv": 4}
_REPORT_PER_THREAD = 1
_report_write = _call(
    "perfmon_report_write", ctypes.c_int, ctypes.c_int, ctypes.POINTER(_ReportOptions)
)


def report(format="text", per_thread=False):
    """The report of this process until now, as a str: "text", "flat", "json" or "csv"."""
    if format not in _REPORT_FORMATS:
        raise ValueError(f"no format {format!r}: one of {', '.join(_REPORT_FORMATS)}")
    message, options = _Message(), _ReportOptions()
    options.format = _REPORT_FORMATS[format]
    options.flags = _REPORT_PER_THREAD if per_thread else 0
    options.message, options.message_size = ctypes.addressof(message.buffer), 1024
    with open(os.memfd_create("perfmon report"), "rb") as file:
        _check(_report_write(file.fileno(), options), str(message))
        file.seek(0)
        return _text(file.read())


# --- values -----------------------------------------------------------------------------

# Bits of `status`, of perfmon/value.h.
COUNTED, MULTIPLEXED, NOT_COUNTED, NEVER_OPENED = 1, 2, 4, 8
SYSCALL, UNCERTAIN, PARTIAL, THROTTLED = 16, 32, 64, 128
_STATUS = {
    COUNTED: "counted", MULTIPLEXED: "multiplexed", NOT_COUNTED: "not counted",
    NEVER_OPENED: "never opened", SYSCALL: "syscall", UNCERTAIN: "uncertain", PARTIAL: "partial",
    THROTTLED: "throttled",
}


def _words(bits, names):
    return [name for bit, name in names.items() if bits & bit]


class Value(namedtuple("Value", "value status enabled_ns running_ns scale unit")):
    """A count: `value` as it was counted, and in `status` the words for how."""

    __slots__ = ()

    @property
    def estimate(self):
        """The value over all of the enabled time, in `unit`, or None where nothing is known."""
        if "counted" in self.status:
            return self.value * self.scale
        if "multiplexed" in self.status and self.running_ns:
            return self.value * self.scale * self.enabled_ns / self.running_ns
        return None

    @property
    def exact(self):
        """True if the value is the count, and no estimate or part of it."""
        return "counted" in self.status and not {"uncertain", "partial", "throttled"} & {*self.status}


# --- sessions ---------------------------------------------------------------------------


class _SessionOptions(_Grows):
    _fields_ = [("size", _SIZE), ("scope", _U32), ("flags", _U32)]


class _SessionValue(ctypes.Structure):
    _fields_ = [
        ("index", _U32), ("status", _U32), ("value", _U64), ("enabled_ns", _U64),
        ("running_ns", _U64), ("reserved", _U64),
    ]


class _Target(ctypes.Structure):
    _fields_ = [("kind", _U32), ("flags", _U32), ("id", ctypes.c_int32), ("reserved", _U32)]


class _CounterInfo(_Grows):
    _fields_ = [
        ("size", _SIZE), ("name", _TEXT), ("unit", _TEXT), ("scale", ctypes.c_double),
        ("type", _U32), ("events", _U32), ("config", _U64), ("config1", _U64), ("config2", _U64),
        ("hardware_counter", ctypes.c_int64), ("width_bits", _U32), ("user_read", _U32),
        ("leader", _U32), ("error", ctypes.c_int32), ("page_error", ctypes.c_int32),
        ("reserved", _U32),
    ]


_SCOPE_THREAD, _SCOPE_CPU = 0, 1
_SESSION_PARTIAL, _SESSION_ALL_MODES = 1, 4
_TARGET_THREAD, _TARGET_CPU, _TARGET_PROCESS = 0, 1, 2
_TARGET_CHILDREN = 1
_READ_ALL = 1

_POINTER = ctypes.c_void_p
_session_create = _call(
    "perfmon_session_create", ctypes.c_int, ctypes.POINTER(_POINTER),
    ctypes.POINTER(_SessionOptions), _TEXT, _SIZE,
)
_session_close = _call("perfmon_session_close", None, _POINTER)
_session_message = _call("perfmon_session_message", ctypes.c_int, _POINTER, _TEXT, _SIZE)
_session_add_events = _call("perfmon_session_add_events", ctypes.c_int, _POINTER, _TEXT)
_session_attach_targets = _call(
    "perfmon_session_attach_targets", ctypes.c_int, _POINTER, ctypes.POINTER(_Target), _SIZE,
    _SIZE, _U32,
)
_session_start = _call("perfmon_session_start", ctypes.c_int, _POINTER)
_session_stop = _call("perfmon_session_stop", ctypes.c_int, _POINTER)
_session_detach = _call("perfmon_session_detach", ctypes.c_int, _POINTER)
_session_counters = _call("perfmon_session_counters", ctypes.c_int, _POINTER)
_session_get_counter = _call(
    "perfmon_session_get_counter", ctypes.c_int, _POINTER, _U32, ctypes.POINTER(_CounterInfo)
)
_session_read = _call(
    "perfmon_session_read", ctypes.c_int, _POINTER, ctypes.POINTER(_SessionValue), _SIZE, _SIZE,
    _U32,
)


class Session:
    """Counters of the events that EVENTS names (perfmon_event(3)), on one target.

    The target is the calling thread, or a thread, a process or a CPU by its number; process=0 is
    this process. With children=True what the target creates is counted, too. With partial=True
    events that are refused are left out, and their values are "never opened". With all_modes=True
    events without u, k or h count the kernel, too.

    `with` starts the session and stops it; values stay until close().
    """

    def __init__(
        self, events, *, thread=None, process=None, cpu=None, children=False, partial=False,
        all_modes=False,
    ):
        self._at = _POINTER()
        given = [
            (kind, number)
            for kind, number in (
                (_TARGET_THREAD, thread), (_TARGET_PROCESS, process), (_TARGET_CPU, cpu),
            )
            if number is not None
        ]
        if len(given) > 1:
            raise TypeError("a session has one target: thread, process or cpu")
        if cpu is not None and children:
            raise TypeError("a CPU has no children")
        kind, number = given[0] if given else (_TARGET_THREAD, 0)
        events = _bytes(events, "events")
        self._target = _Target(kind, _TARGET_CHILDREN if children else 0, number, 0)
        options, message = _SessionOptions(), _Message()
        options.scope = _SCOPE_CPU if kind == _TARGET_CPU else _SCOPE_THREAD
        options.flags = (_SESSION_PARTIAL if partial else 0) | (
            _SESSION_ALL_MODES if all_modes else 0
        )
        _check(_session_create(self._at, options, *message.arguments), str(message))
        try:
            self._do(_session_add_events, events)
            self._do(_session_attach_targets, self._target, 1, ctypes.sizeof(_Target), 0)
        except BaseException:
            self.close()
            raise

    def _do(self, function, *arguments):
        if not self._at:
            raise ValueError("the session is closed")
        result = function(self._at, *arguments)
        if result < 0:
            message = _Message()
            _session_message(self._at, *message.arguments)
            _check(result, str(message))
        return result

    def start(self):
        """Starts counting, from where the values are."""
        self._do(_session_start)

    def stop(self):
        """Stops counting."""
        self._do(_session_stop)

    def read(self):
        """The values: a dict of Value by the names of the events. A second event of one name has
        "#2" behind it."""
        count = self._do(_session_counters)
        values = (_SessionValue * count)()
        self._do(_session_read, values, count, ctypes.sizeof(_SessionValue), _READ_ALL)
        result = {}
        for value in values:
            info = _CounterInfo()
            self._do(_session_get_counter, value.index, info)
            name, twins = _text(info.name), 1
            while name in result:
                twins += 1
                name = f"{_text(info.name)}#{twins}"
            result[name] = Value(
                value.value, tuple(_words(value.status, _STATUS)), value.enabled_ns,
                value.running_ns, info.scale, _text(info.unit),
            )
        return result

    def close(self):
        """Ends the session. A second call does nothing."""
        at, self._at = self._at, _POINTER()
        if at:
            _session_close(at)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, trace):
        self.stop()

    def __del__(self):
        if getattr(self, "_at", None):
            self.close()


# --- profiles ---------------------------------------------------------------------------


class _ProfileInfo(_Grows):
    _fields_ = [
        ("size", _SIZE), ("host", _TEXT), ("program", _TEXT), ("pid", ctypes.c_int32),
        ("parent_pid", ctypes.c_int32), ("rank", ctypes.c_int32), ("ranks", ctypes.c_int32),
        ("writer", _U32), ("partial", _U32), ("events", _U32), ("threads", _U32), ("notes", _U32),
        ("reserved", _U32), ("begin_realtime_ns", _U64), ("elapsed_ns", _U64),
        ("lost_visits", _U64), ("lost_threads", _U64), ("unmatched_ends", _U64),
        ("arguments", _POINTER), ("arguments_size", _SIZE), ("run_notes", _U32),
        ("reserved2", _U32), ("left_out_regions", _U64),
    ]


class _ProfileEvent(_Grows):
    _fields_ = [
        ("size", _SIZE), ("name", _TEXT), ("pmu", _TEXT), ("unit", _TEXT),
        ("scale", ctypes.c_double), ("logical", _U32), ("properties", _U32),
        ("error", ctypes.c_int32), ("type", _U32), ("config", _U64), ("config1", _U64),
        ("config2", _U64), ("kind", _U32), ("reserved", _U32),
    ]


class _ProfileThread(_Grows):
    _fields_ = [
        ("size", _SIZE), ("name", _TEXT), ("tid", ctypes.c_int32), ("live", _U32),
        ("threads", _U32), ("nodes", _U32), ("first_event", _U32), ("events", _U32),
        ("lost_visits", _U64), ("unmatched_ends", _U64), ("kind", _U32), ("reserved", _U32),
        ("left_out_by_name", _U64), ("left_out_by_depth", _U64), ("left_out_by_mean", _U64),
    ]


class _ProfileNode(_Grows):
    _fields_ = [
        ("size", _SIZE), ("name", _TEXT), ("parent", _U32), ("depth", _U32), ("marks", _U32),
        ("threads", _U32), ("kind", _U32), ("reserved", _U32), ("visits", _U64), ("entered", _U64),
        ("measured", _U64), ("time_ns", _U64), ("min_time_ns", _U64), ("max_time_ns", _U64),
        ("off_cpu_ns", _U64), ("weight", _U64), ("exclusive_time_ns", _U64),
        ("exclusive_off_cpu_ns", _U64), ("bias_ns", _U64), ("quantity", _U64),
        ("quantity_kind", _U32), ("reserved2", _U32), ("first_visit", _U64),
        ("last_visit", _U64), ("begin_ns", _U64),
    ]


class _ProfileValue(ctypes.Structure):
    _fields_ = [
        ("event", _U32), ("status", _U32), ("value", _U64), ("exclusive", _U64), ("bias", _U64),
        ("enabled_ns", _U64), ("running_ns", _U64),
    ]


_NODE_MARKS = {
    0x001: "in flight", 0x002: "torn", 0x004: "sampled", 0x008: "mismatched", 0x010: "dropped",
    0x020: "retried", 0x040: "fallback", 0x080: "migrated", 0x100: "defect",
    0x200: "first", 0x400: "runs differ", 0x800: "some threads",
}
_NODE_KINDS = {1: "region", 2: "adopted", 3: "quantity", 4: "overlapping"}
_THREAD_KINDS = {0: "thread", 1: "sum"}
_OTHER_RUN, _STEPS, _STEP = 2, 3, 5
_EVENT_KINDS = {0: "kernel", 1: "exact", 2: "package"}
_WRITERS = {0: "unknown", 1: "runs", 2: "ended", 3: "gone"}

_profile_open = _call(
    "perfmon_profile_open", ctypes.c_int, ctypes.POINTER(_POINTER), _TEXT, _U32, _TEXT, _SIZE
)
_profile_open_process = _call(
    "perfmon_profile_open_process", ctypes.c_int, ctypes.POINTER(_POINTER), ctypes.c_int32, _U32,
    _TEXT, _SIZE,
)
_profile_close = _call("perfmon_profile_close", None, _POINTER)
_profile_message = _call("perfmon_profile_message", ctypes.c_int, _POINTER, _TEXT, _SIZE)
_profile_get_info = _call(
    "perfmon_profile_get_info", ctypes.c_int, _POINTER, ctypes.POINTER(_ProfileInfo)
)
_profile_get_note = _call(
    "perfmon_profile_get_note", ctypes.c_int, _POINTER, _U32, _TEXT, _SIZE
)
_profile_get_event = _call(
    "perfmon_profile_get_event", ctypes.c_int, _POINTER, _U32, ctypes.POINTER(_ProfileEvent)
)
_profile_get_thread = _call(
    "perfmon_profile_get_thread", ctypes.c_int, _POINTER, _U32, ctypes.POINTER(_ProfileThread)
)
_profile_get_node = _call(
    "perfmon_profile_get_node", ctypes.c_int, _POINTER, _U32, _U32, ctypes.POINTER(_ProfileNode)
)
_profile_get_path = _call(
    "perfmon_profile_get_path", ctypes.c_int, _POINTER, _U32, _U32, _TEXT, _SIZE
)
_profile_get_values = _call(
    "perfmon_profile_get_values", ctypes.c_int, _POINTER, _U32, _U32,
    ctypes.POINTER(_ProfileValue), _SIZE, _SIZE,
)


class _Open:
    """An open profile, for the time of `with`."""

    def __init__(self, source):
        self.at = _POINTER()
        message = _Message()
        if isinstance(source, int):
            result = _profile_open_process(self.at, source, 0, *message.arguments)
        else:
            result = _profile_open(self.at, os.fsencode(source), 0, *message.arguments)
        _check(result, str(message))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        _profile_close(self.at)

    def fill(self, function, kind, *indices):
        made = kind()
        _check(function(self.at, *indices, made))
        return made

    def sentence(self, function, *indices):
        message = _Message()
        _check(function(self.at, *indices, *message.arguments))
        return str(message)


def _fields(structure, *names):
    values = ((name, getattr(structure, name)) for name in names)
    return {name: _text(v) if isinstance(v, bytes) or v is None else v for name, v in values}


def _event(opened, index):
    event = opened.fill(_profile_get_event, _ProfileEvent, index)
    made = _fields(event, "name", "pmu", "unit", "scale", "logical")
    made["kind"] = _EVENT_KINDS.get(event.kind)
    made["error"] = os.strerror(-event.error) if event.error else ""
    return made


def _values(opened, t, n, thread, events):
    values = (_ProfileValue * max(thread.events, 1))()
    size = ctypes.sizeof(_ProfileValue)
    count = _check(_profile_get_values(opened.at, t, n, values, thread.events, size))
    made = {}
    for value in values[:count]:
        event = events[value.event]
        # Of one event on several kinds of cores each has a value of its own.
        name, twins = event["name"], 1
        while name in made:
            twins += 1
            name = f"{event['name']}#{twins}"
        made[name] = _fields(value, "value", "exclusive", "bias", "enabled_ns", "running_ns")
        made[name]["status"] = _words(value.status, _STATUS)
    return made


def _regions(opened, t, thread, events):
    paths, made = [()], []
    skipped, numbers = set(), {}
    for n in range(1, thread.nodes):
        node = opened.fill(_profile_get_node, _ProfileNode, t, n)
        paths.append(paths[node.parent] + (_text(node.name),))
        if node.parent in skipped or node.kind not in _NODE_KINDS:
            skipped.add(n)
            continue
        if _NODE_KINDS[node.kind] == "quantity":
            if node.parent in numbers:
                numbers[node.parent]["quantities"][_text(node.name)] = node.quantity
            continue
        numbers[n] = {
            "path": paths[n],
            "kind": _NODE_KINDS[node.kind],
            "marks": _words(node.marks, _NODE_MARKS),
            **_fields(
                node, "name", "threads", "visits", "entered", "measured", "weight", "time_ns",
                "exclusive_time_ns", "min_time_ns", "max_time_ns", "off_cpu_ns",
                "exclusive_off_cpu_ns", "bias_ns",
            ),
            "values": _values(opened, t, n, thread, events),
            "quantities": {},
        }
        made.append(numbers[n])
    return made


def _steps(opened, t, thread, events):
    made = []
    for n in range(1, thread.nodes):
        node = opened.fill(_profile_get_node, _ProfileNode, t, n)
        if node.kind == _STEP:
            made.append({
                **_fields(
                    node, "first_visit", "last_visit", "begin_ns", "visits", "measured",
                    "weight", "time_ns", "off_cpu_ns",
                ),
                "marks": _words(node.marks, _NODE_MARKS),
                "values": _values(opened, t, n, thread, events),
            })
    return made


def _path(opened, t, n):
    """The names of the regions from the top down to node N."""
    buffer = ctypes.create_string_buffer(_check(_profile_get_path(opened.at, t, n, None, 0)) + 1)
    _check(_profile_get_path(opened.at, t, n, buffer, len(buffer)))
    names = re.findall(r"(?:[^\\;]|\\.)+", _text(buffer.value), re.DOTALL)
    return tuple(re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL) for name in names)


def _threads(opened, count, events):
    """The threads, those of other runs, and the steps of paths."""
    threads, others, steps = [], [], []
    for t in range(count):
        thread = opened.fill(_profile_get_thread, _ProfileThread, t)
        if thread.kind in _THREAD_KINDS:
            threads.append({
                **_fields(
                    thread, "name", "tid", "threads", "lost_visits", "unmatched_ends",
                    "left_out_by_name", "left_out_by_depth", "left_out_by_mean",
                ),
                "kind": _THREAD_KINDS[thread.kind],
                "live": bool(thread.live),
                "regions": _regions(opened, t, thread, events),
            })
        elif thread.kind == _OTHER_RUN:
            regions = _regions(opened, t, thread, events)
            others.append({**_fields(thread, "threads"), "regions": regions})
        elif thread.kind == _STEPS:
            path = _path(opened, t, 1) if thread.nodes > 1 else ()
            made = _steps(opened, t, thread, events)
            steps.append({**_fields(thread, "name", "tid"), "path": path, "steps": made})
    return {"threads": threads, "other_runs": others, "steps": steps}


class Profile(dict):
    """What read_profile() returns: a dict, and frame() of it."""

    def frame(self):
        """This profile as a frame of pandas: see libperfmon.frame()."""
        return frame([self])

    def steps_frame(self):
        """The steps of this profile as a frame of pandas: a row for each. Values are as in frame(),
        and inclusive."""
        import pandas

        scales = {event["name"]: event["scale"] for event in self["events"]}
        rows = []
        for of in self["steps"]:
            for step in of["steps"]:
                factor = _factor(step)
                row = {
                    "tid": of["tid"], "thread": of["name"], "path": ";".join(of["path"]),
                    "first_visit": step["first_visit"], "last_visit": step["last_visit"],
                    "begin_s": step["begin_ns"] / 1e9, "visits": step["visits"],
                    "time_s": step["time_ns"] * factor / 1e9,
                }
                for name, value in step["values"].items():
                    row[name] = _estimate(value, "value", _scale(scales, name), factor)
                rows.append(row)
        return pandas.DataFrame(rows)


def read_profile(source):
    """Reads a profile, from a file by its path or from a running process by its PID, as a dict.

    "threads" is a list of threads, each with its "regions": a dict for each path, with its visits,
    its times in ns, its "marks", in "values" a dict for each event, and in "quantities" what the
    program said of it, by "NAME [UNIT]". Values are those of
    perfmon/profile.h: as counted, of the measured visits, not scaled, and no bias is subtracted.

    "steps" has the paths of PERFMON_STEPS, each with its "steps": a dict for each, with its visits
    and values. "other_runs" has what other runs counted beside the times (perfmon report --counts):
    the "regions" of each.
    """
    with _Open(source) as opened:
        info = opened.fill(_profile_get_info, _ProfileInfo)
        arguments = ctypes.string_at(info.arguments, info.arguments_size) if info.arguments else b""
        if arguments.endswith(b"\0"):
            arguments = arguments[:-1]
        events = [_event(opened, i) for i in range(info.events)]
        return Profile(
            _fields(
                info, "program", "host", "pid", "parent_pid", "rank", "ranks", "begin_realtime_ns",
                "elapsed_ns", "lost_visits", "lost_threads", "unmatched_ends", "left_out_regions",
            ),
            arguments=[_text(a) for a in arguments.split(b"\0")] if arguments else [],
            writer=_WRITERS.get(info.writer, "unknown"),
            partial=opened.sentence(_profile_message) if info.partial else "",
            notes=[opened.sentence(_profile_get_note, i) for i in range(info.notes)],
            events=events,
            **_threads(opened, info.threads, events),
        )


def _estimate(value, key, scale, factor):
    """The count over all visits and all of the enabled time, or NaN where nothing is known."""
    if "counted" in value["status"]:
        return value[key] * scale * factor
    if "multiplexed" in value["status"] and value["running_ns"]:
        return value[key] * scale * factor * value["enabled_ns"] / value["running_ns"]
    return float("nan")


def _factor(region):
    # A stride measures some of the visits, which stand for all.
    return region["visits"] / region["weight"] if region["weight"] else 1


def _scale(scales, name):
    return scales.get(name.partition("#")[0], 1)


def _row(profile, thread, region, scales):
    factor = _factor(region)
    row = {
        "pid": profile["pid"], "rank": profile["rank"], "tid": thread["tid"],
        "thread": thread["name"], "path": ";".join(region["path"]), "region": region["name"],
        "depth": len(region["path"]), "kind": region["kind"], "visits": region["visits"],
        "time_s": region["time_ns"] * factor / 1e9,
        "exclusive_time_s": region["exclusive_time_ns"] * factor / 1e9,
    }
    marks = set(region["marks"])
    for name, value in region["values"].items():
        scale = _scale(scales, name)
        row[name] = _estimate(value, "value", scale, factor)
        row[f"{name} exclusive"] = _estimate(value, "exclusive", scale, factor)
        marks |= {word for word in value["status"] if word not in ("counted", "syscall")}
    row["marks"] = " ".join(sorted(mark.replace(" ", "_") for mark in marks))
    return row


def frame(profiles):
    """Profiles of read_profile() as a frame of pandas: a row for each path of each thread.

    Times are in seconds. Times and counts are estimates for all visits where a part was measured or
    an event had to share its counter, which "marks" tells, and NaN where nothing was counted.
    Raises ImportError where pandas is missing.
    """
    import pandas

    rows = []
    for profile in profiles:
        scales = {event["name"]: event["scale"] for event in profile["events"]}
        for thread in profile["threads"]:
            rows += [_row(profile, thread, region, scales) for region in thread["regions"]]
    return pandas.DataFrame(rows)
