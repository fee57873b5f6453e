"""Record what an application raises; loaded before a test runs in the sandbox."""

import atexit
import dis
import itertools
import json
import os
import sys
import threading

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_log = []
_WANTED = os.environ.get("NIGHTWATCH_RAISES", "")
_WATCHED = {}  # lines of changed files
for _row in filter(None, os.environ.get("NIGHTWATCH_WATCHED", "").split("\n")):
    _WATCHED[_row.rpartition(":")[0]] = frozenset(map(int, _row.rpartition(":")[2].split(",")))
_ran, _watched, _MOST = set(), {}, 2000  # lines that are written down
_ENDS = [dis.opmap[item] for item in ("RETURN_VALUE", "YIELD_VALUE", "RETURN_CONST",
                                    "RETURN_GENERATOR") if item in dis.opmap]
_QUIET = ("StopIteration", "StopAsyncIteration", "GeneratorExit")
_own, _open, _left = {}, [], {True: 30, False: 20}
_numbers, _process = itertools.count(1), os.getpid()


def _is_own(path):
    if path not in _own:
        whole = os.path.abspath(path)
        _own[path] = whole.startswith("/work/") and not path.startswith("<") and not any(
            part in whole for part in ("/site-packages/", "/node_modules/", "/.venv/"))
    return _own[path]


def _watches(frame, event, arg):
    path = frame.f_code.co_filename
    if path not in _watched:
        _watched[path] = _WATCHED.get(os.path.abspath(path))
    return _executes if _watched[path] else None


def _executes(frame, event, arg):
    path, line = frame.f_code.co_filename, frame.f_lineno
    if event == "line" and line in _watched[path] and len(_ran) < _MOST:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0] or _test_around(frame)
        if (path, line, test) not in _ran:
            _ran.add((path, line, test))
            _write({"ran": os.path.abspath(path), "line": line, "test": test})
    return _executes


def _test_around(frame):
    while frame is not None:
        name, case = frame.f_code.co_name, frame.f_locals.get("self")
        if name.startswith("test") and name == getattr(case, "_testMethodName", None):
            whole = type(case).__module__ + "." + type(case).__qualname__
            return "%s (%s%s)" % (name, whole, "." + name if sys.version_info >= (3, 11) else "")
        frame = frame.f_back
    return ""


def _calls(frame, event, arg):
    if _is_own is not None and _is_own(frame.f_code.co_filename):
        if not frame.f_code.co_flags & 0x2A0:  # what may be resumed is not begun anew
            _open[:] = [item for item in _open if id(frame) not in item[1]]
        frame.f_trace_lines = False
        return _inside


def _inside(frame, event, arg):
    try:
        if event == "exception":
            _raised(frame, arg[1], arg[2])
        elif event == "return" and arg is None:
            for number, frames in _open:
                if id(frame) in frames and frame.f_code.co_code[frame.f_lasti] not in _ENDS:
                    _write({"id": number, "left": frames.index(id(frame))})
    except Exception:
        pass  # what watches a test must not change it
    return _inside


def _raised(frame, error, trace):
    name, deeper = type(error).__name__, trace.tb_next if trace else None
    while deeper is not None and not _is_own(deeper.tb_frame.f_code.co_filename):
        deeper = deeper.tb_next
    is_known = any(id(frame) in item for _, item in _open)
    if name in _QUIET or (deeper is not None and is_known):
        return  # on its way out; from one thread to another it is seen anew
    is_wanted = name == _WANTED
    if _left[is_wanted] <= 0:
        return
    _left[is_wanted] -= 1
    inner, outer, first = [] if trace else [(frame, frame.f_lineno)], [], frame
    while trace is not None and len(inner) < 60:
        inner.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    while frame.f_back is not None and len(outer) < 120:
        frame = frame.f_back
        outer.append((frame, frame.f_lineno))
    both = (inner[::-1] + outer) if is_wanted else inner[::-1][:8]
    number = "%d-%d" % (_process, next(_numbers))
    shown = [[os.path.abspath(item.f_code.co_filename), line, item.f_code.co_name]
             for item, line in both]
    kept = [(at, own) for at, (own, _) in enumerate(both) if _is_own(own.f_code.co_filename)]
    values = [[at, key, _told(value)] for at, item in kept[:6] for key, value in _locals(item)]
    module = type(error).__module__
    whole = name if module == "builtins" else module + "." + type(error).__qualname__
    _write({"id": number, "class": whole, "message": _text(error), "frames": shown,
            "locals": values if is_wanted else []})
    for at in [at for at, (own, _) in enumerate(inner[::-1]) if own is not first]:
        _write({"id": number, "left": at})
    _open.append((number, [id(item) for item, _ in both]))
    del _open[:-8]


def _full(error):
    places, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append([os.path.abspath(code.co_filename), trace.tb_lineno, code.co_name])
        trace = trace.tb_next
    if len(places) > 40 and _left[True] > 0:
        _left[True] -= 1
        number = "%d-%d" % (_process, next(_numbers))
        shown = places[:-41:-1] + places[:-40][:60][::-1]
        _write({"id": number, "class": type(error).__name__, "message": _text(error),
                "frames": shown, "locals": []})
        _write({"id": number, "left": next(
            (at for at, (path, _, _) in enumerate(shown) if _is_own(path)), 0)})


def _watch_reports():
    import traceback
    made, known = traceback.TracebackException.__init__, []

    def init(self, kind, error, *rest, **named):
        if type(error) is RecursionError and not any(item is error for item in known):
            known.append(error)
            _full(error)
        return made(self, kind, error, *rest, **named)

    traceback.TracebackException.__init__ = init
    sys.excepthook = lambda kind, error, trace: traceback.print_exception(kind, error, trace)


def _locals(frame):
    if frame.f_code.co_name[0] == "<":
        return []
    names = [local for local in frame.f_locals if not local.startswith("__")]
    return [(name, frame.f_locals[name]) for name in names[:12]]


def _text(error):
    try:
        return str(error)[:500]
    except Exception:  # of the project's own __str__
        return ""


def _told(value, deep=True):
    kind = type(value)
    if value is None or kind in (bool, int, float):
        return repr(value)[:80]
    if kind in (str, bytes):
        return repr(value[:120])
    if not deep:
        return "<%s>" % kind.__name__
    if kind in (list, tuple, set, frozenset):
        return "%s of %d: %s" % (kind.__name__, len(value), ", ".join(
            _told(item, False) for item in itertools.islice(value, 5)))
    pairs = value if kind is dict else getattr(value, "__dict__", None)
    if type(pairs) is not dict:
        return "<%s>" % kind.__name__
    inner = ["%s=%s" % (str(key)[:30] if type(key) in (str, int) else "?", _told(item, False))
             for key, item in itertools.islice(pairs.items(), 8)]
    return "<%s %s>" % (kind.__name__, ", ".join(inner))


def _write(record):
    try:
        if not _log:
            _log.append(os.open(os.path.join(_FOLDER, "raised"), _FLAGS, 0o600))
        os.write(_log[0], (json.dumps(record) + "\n").encode("ascii", "replace"))
    except Exception:  # a test that fills the disk is the test's own affair
        pass


def _start():
    if _WANTED == "RecursionError":
        return  # a tracer is the first to have no room
    atexit.register(sys.settrace, None)
    watcher = _watches if _WATCHED else _calls
    threading.settrace(watcher)
    sys.settrace(watcher)


def pytest_runtest_setup(item):
    _start()


if _WANTED or _WATCHED:
    _start()
if _WANTED == "RecursionError":
    _watch_reports()
