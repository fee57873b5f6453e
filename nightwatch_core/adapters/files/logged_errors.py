"""Records of level error that name no exception: what was logged, and the place that logged it."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from nightwatch_core.adapters.files.limits import NAME_LIMIT
from nightwatch_core.adapters.files.record_levels import is_loud
from nightwatch_core.adapters.files.record_stacks import stack_text
from nightwatch_core.adapters.files.record_values import number_of

LOGGED = "logged error"  # stands for a class where a record names none; no class is called so

# Squeezed names of fields, best first, also of what surrounds the record.
_LOGGERS = ("logger", "loggername", "loglogger", "sourcecontext", "channel", "category", "name")
_ERRORS = ("error", "err", "errormessage", "exceptionmessage", "reason")
_FILES = ("sourcefile", "sourcelocationfile", "logoriginfilename", "codefilepath", "pathname",
          "callerfile", "sourcefilename", "filename", "file",
          "logginggoogleapiscomsourcelocationfile", "aroundsourcefile")  # fmt: skip
_LINES = ("sourceline", "sourcelocationline", "logoriginfileline", "codelineno", "codelinenumber",
          "lineno", "callerline", "sourcelinenumber", "linenumber", "line",
          "logginggoogleapiscomsourcelocationline", "aroundsourceline")  # fmt: skip
_FUNCTIONS = ("sourcefunction", "sourcelocationfunction", "logoriginfunction", "codefunction",
              "codefunctionname", "funcname", "function", "func", "aroundsourcefunction",
              "logginggoogleapiscomsourcelocationfunction")  # fmt: skip
_CALLERS = ("caller", "source", "callsite", "src")  # one text: cart.go:7
_CALLER = re.compile(r"(?P<file>\S{1,400}\.\w{1,5}):(?P<line>\d{1,7})(?::\d{1,5})?$")
# "Cart::Empty: no lines": a qualified name, or one that ends as names of exceptions do.
_NAMED = re.compile(
    r"(?P<name>[A-Z]\w{0,80}(?:(?:::|\.|\\)[A-Z]\w{0,80}){1,8}"
    r"|[A-Z]\w{0,80}(?:Error|Exception|Failure|Invalid|NotFound))(?:: (?P<message>.*))?$",
    re.DOTALL,
)


class Named(NamedTuple):
    """Class and message out of one text."""

    error_class: str
    message: str


def named_in(fields: Mapping[str, object]) -> Named | None:
    """Give the class that stands before the message of an error; None where none does.

    >>> named_in({"error": "Cart::Empty: no lines"})
    Named(error_class='Cart::Empty', message='no lines')
    >>> named_in({"error": "Dial failed: refused"}) is None
    True
    """
    for name in _ERRORS[:2]:
        text = fields.get(name)
        match = _NAMED.match(text) if isinstance(text, str) else None
        if match:
            return Named(match["name"], match["message"] or "")
    return None


def is_logged_error(fields: Mapping[str, object], level: object) -> bool:
    """Tell a record of level error that says where it comes from, or what the error was.

    >>> is_logged_error({"caller": "cart.go:7"}, "error"), is_logged_error({}, "error")
    (True, False)
    """
    if not is_loud(level):
        return False
    names = (*_ERRORS, *_LOGGERS, *_CALLERS, *_FILES)
    return any(isinstance(fields.get(name), str) for name in names)


def message_with_error(fields: Mapping[str, object], message: str) -> str:
    """Give what was logged, and the error it was logged with.

    >>> message_with_error({"err": "no lines"}, "cannot pay")
    'cannot pay: no lines'
    """
    errors = (value for name in _ERRORS if isinstance(value := fields.get(name), str))
    error = next((one.strip() for one in errors), "")
    if not message or not error or error in message:
        return message or error
    return f"{message}: {error}"


def place_of(fields: Mapping[str, object]) -> str:
    r"""Give the place that logged the record, as a stack trace of one frame; empty without one.

    >>> place_of({"caller": "billing/cart.go:7"})
    'unknown(...)\n\tbilling/cart.go:7'
    """
    callers = (value for name in (*_CALLERS, *_FILES) if isinstance(value := fields.get(name), str))
    match = next((m for one in callers if (m := _CALLER.match(one[:NAME_LIMIT]))), None)
    file = match["file"] if match else _first(fields, _FILES)
    line = number_of(match["line"] if match else _first(fields, _LINES))
    if not isinstance(file, str) or not line:
        return ""
    return stack_text([{"file": file, "line": line, "function": _first(fields, _FUNCTIONS)}])


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> object:
    values = (fields[name] for name in names if name in fields)
    return next((value for value in values if isinstance(value, str | int)), None)
